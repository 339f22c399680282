"""Check 69: the key's value is in no response, log, audit row or export, whatever an endpoint repeats."""

import json
import logging
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.apps import apps
from pytest_django.fixtures import Settings

from llmjobs.models import Connection
from tests.organizer.judges.conftest import JUDGES, KEY, NEW, Answering, List, fields
from tests.worlds.campaign import World
from tests.worlds.imported import run
from tests.worlds.llm import work_on

PAGES = (
    "judges/",
    "judges/new/",
    "judges/connections/new/?endpoint=lab",
    "jobs/",
    "jobs/new/",
    "prompts/",
    "audit/",
)
API = ("judges", "events", "jobs", "support-judgments")


EXPORTED = (
    ("events",),
    ("time",),
    ("qrels", "--source", "NIST"),
    ("nuggets", "--nuggets", "auto-robot"),
    ("assignments", "--condition", "A/A", "--judge", "robot"),
    ("scores", "--condition", "A/A", "--judge", "robot"),
    ("support", "--condition", "llm", "--judge", "lab judge"),
)


def exports(folder: Path) -> list[str]:
    found = []
    for what in EXPORTED:
        done = run("export", *what, "--campaign", "river")
        assert done.code == 0, done
        found.append(done.out)
    packed = folder / "river.zip"
    assert run("export", "campaign", "--campaign", "river", "--output", str(packed)).code == 0
    with ZipFile(packed) as files:
        return found + [files.read(name).decode("utf-8", "replace") for name in files.namelist()]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db")
def test_the_key_is_sent_to_its_endpoint_and_shown_nowhere(
    world: World,
    answering: Answering,
    list_endpoints: List,
    settings: Settings,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    settings.AUDIT_LOG = str(tmp_path / "audit.jsonl")
    list_endpoints(lab=answering.base_url)
    olga = world.client("olga")
    shown = []
    for status in (401, 500, 404, 400, 200):
        answering.status = status
        answering.body = json.dumps({"error": {"message": f"You sent {KEY}", "code": KEY}})
        shown.append(olga.post(NEW, fields() | {"test": "1"}).content.decode())
    answering.reply(f'{{"labels": ["{KEY}"]}}', KEY)
    shown.append(olga.post(NEW, fields() | {"test": "1"}).content.decode())
    shown.append(olga.post(NEW, fields() | {"save": "1"}, follow=True).content.decode())
    way = f"connection-{Connection.objects.get().pk}"
    olga.post(f"{JUDGES}new/", {"name": "lab judge", "connection": way})
    olga.post("/campaigns/river/jobs/new/", {"what": "support", "judge": "lab judge", "start": "1"})
    work_on(seconds=20)
    shown += [olga.get(f"/campaigns/river/{name}").content.decode() for name in PAGES]
    for name in API:
        response = olga.get(f"/api/v1/{name}/?format=jsonl&campaign=river")
        assert response.status_code == 200
        shown.append(response.getvalue().decode())
    stored = [str(row) for model in apps.get_models() for row in model._default_manager.values_list()]
    exported = [*exports(tmp_path), olga.get("/campaigns/river/audit/entries.csv").getvalue().decode()]
    streams = capfd.readouterr()
    places = [*shown, *stored, *exported, caplog.text, Path(settings.AUDIT_LOG).read_text(), *streams]
    assert [place[:200] for place in places if KEY in place] == []
    assert len(answering.heard) > 6
    assert all(f"Bearer {KEY}" in headers for headers in answering.heard)
