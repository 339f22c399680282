"""Exports as jobs: asked for, written in the background, with checksum and state; who may have which file."""

import re
from hashlib import sha256
from pathlib import Path
from threading import Event as Signal
from typing import Any

import pytest
from django.db.models import F
from django.test import Client

from evaluation.models import Campaign, ListedNugget, Topic
from evaluation.terms import Role
from exchange import background
from exchange.models import Export, Snapshot
from exchange.snapshots.pack import schema_of
from exchange.snapshots.service import load_campaign
from tests.exchange.test_snapshot_round_trip import elsewhere
from tests.worlds.campaign import World, make_world
from tests.worlds.cast import make_user

pytestmark = pytest.mark.postgresql

DATA = "/campaigns/river/data/"


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    settings.FILES_DIR = tmp_path / "files"


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def exported(client: Client, what: str, **fields: object) -> Export:
    response = client.post(f"{DATA}exports/new/", {"what": what, "texts": "on", **fields})
    assert response.status_code == 302, response.content.decode()
    background.run("w", Signal())
    return Export.objects.latest("pk")


def file_of(client: Client, export: Export) -> bytes:
    response = client.get(f"{DATA}exports/{export.pk}/file/")
    assert response.status_code == 200
    return b"".join(response)


def test_an_export_waits_for_its_worker_and_has_its_checksum(world: World) -> None:
    olga = world.client("olga")
    olga.post(f"{DATA}exports/new/", {"what": "nuggets"})
    page = olga.get(DATA).content.decode()
    assert all(text in page for text in ("No worker runs", "Progress of Nuggets", 'hx-trigger="every 1s"'))
    export = Export.objects.get()
    assert olga.get(f"{DATA}exports/{export.pk}/file/").status_code == 422
    background.run("w", Signal())
    export.refresh_from_db()
    content = file_of(olga, export)
    assert (export.state, sha256(content).hexdigest(), len(content)) == ("done", export.sha256, export.size)
    assert b'"text": "sand moves"' in content
    page = olga.get(DATA).content.decode()
    assert all(text in page for text in (export.sha256[:12], "revision", "Download"))
    assert schema_of()["evaluation"] not in page


def test_the_same_snapshot_is_the_same_file_on_a_later_day(world: World) -> None:
    """Check 30 of docs/acceptance-checks.md."""
    olga = world.client("olga")
    whole = exported(olga, "campaign", name="day-one")
    first = exported(olga, "nuggets", snapshot=str(Snapshot.objects.get().pk))
    Topic.objects.filter(topic_id="t1").update(text="judged on")
    kept = Snapshot.objects.get(name="day-one")
    later = exported(olga, "campaign", snapshot=str(kept.pk))
    assert (later.snapshot, later.sha256, whole.sha256) == (kept, kept.sha256, kept.sha256)
    assert file_of(olga, later) == file_of(olga, whole)
    second = exported(olga, "nuggets", snapshot=str(kept.pk))
    assert (second.sha256, file_of(olga, second)) == (first.sha256, file_of(olga, first))
    assert "same as on" in olga.get(DATA).content.decode()


def test_what_was_exported_wiped_and_imported_is_exported_the_same(db: None, tmp_path: Path) -> None:
    """Check 31 of docs/acceptance-checks.md; tests/exchange does the same with work at desks in it."""
    path, lines = tmp_path / "river.zip", {"what": "assignments", "condition": "A/A"}
    with elsewhere():
        world = make_world(tmp_path)
        olga = world.client("olga")
        whole, labels = exported(olga, "campaign", name="before"), exported(olga, **lines)
        label_file = file_of(olga, labels)
        assert whole.snapshot
        content = whole.snapshot.manifest["content"]
        path.write_bytes(file_of(olga, whole))
    assert not Campaign.objects.exists()
    load_campaign(path, members=frozenset(Role))
    root = Client()
    root.force_login(make_user("root", is_superuser=True, is_staff=True))
    reloaded = exported(root, "campaign", name="before").snapshot
    assert reloaded
    assert reloaded.manifest["content"] == content
    assert file_of(root, exported(root, **lines)) == label_file


def test_nuggets_leave_as_a_bank_of_argue(world: World) -> None:
    olga = world.client("olga")
    export = exported(olga, "nuggets", form="argue")
    assert b'"nugget_bank": [{"question": "sand moves"' in file_of(olga, export)
    assert export.name == "river-nuggets.jsonl"


def test_what_is_not_clear_is_said_at_the_form(world: World) -> None:
    olga = world.client("olga")
    for fields, reason in (
        ({"what": "assignments"}, "Say which condition"),
        ({"what": "assignments", "condition": "E/M"}, "There are no labels under E/M"),
        ({"what": "campaign", "name": "no name"}, "1 to 60 letters"),
    ):
        response = olga.post(f"{DATA}exports/new/", fields)
        assert (response.status_code, reason in response.content.decode()) == (422, True), fields
    assert not Export.objects.exists()


def test_what_cannot_be_written_says_why(world: World) -> None:
    olga = world.client("olga")
    kept = exported(olga, "campaign", name="one").snapshot
    failed = exported(olga, "support", condition="scratch", judge="Nobody", snapshot=str(kept.pk if kept else 0))
    assert failed.state == "failed"
    page = olga.get(DATA).content.decode()
    assert "failed:" in page
    assert failed.reason.split(":")[0] in page


def test_files_with_names_are_for_organizers(world: World) -> None:
    olga, rita = world.client("olga"), world.client("rita")
    named, plain = exported(olga, "nuggets"), exported(olga, "qrels", source="NIST")
    nameless = exported(olga, "campaign", name="anonymous", pseudonyms="on")
    assert rita.get(f"{DATA}exports/{named.pk}/file/").status_code == 403
    assert file_of(rita, plain) == b"t1 0 d1 3\nt1 0 d2 0\nt2 0 d1 1\n"
    assert file_of(rita, nameless)[:2] == b"PK"
    page = rita.get(DATA).content.decode()
    assert page.count("Download<") == 2
    assert f"exports/{named.pk}/" not in page
    assert "Load files" not in page
    assert rita.post(f"{DATA}exports/new/", {"what": "qrels"}).status_code == 403
    assert world.client("ann").get(DATA).status_code == 404


NEW = f"{DATA}exports/new/"


def form_at(world: World, query: str) -> str:
    response = world.client("olga").get(f"{NEW}?{query}")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("assignments", {"condition", "pseudonyms", "snapshot"}),
        ("support", {"condition", "pseudonyms", "snapshot"}),
        ("scores", {"condition", "pseudonyms", "snapshot"}),
        ("time", {"segments", "pseudonyms", "snapshot"}),
        ("campaign", {"snapshot", "name", "pseudonyms", "texts"}),
        ("nuggets", {"nuggets", "form", "pseudonyms", "snapshot"}),
        ("qrels", {"source", "snapshot"}),
        ("events", {"pseudonyms", "snapshot"}),
    ],
)
def test_check_73_a_kind_of_export_shows_at_most_four_fields(world: World, kind: str, fields: set[str]) -> None:
    form = form_at(world, f"what={kind}").partition('id="export-form"')[2].partition("</form>")[0]
    shown = form.partition("<details")[0]
    named = set(re.findall(r'<(?:select|input)[^>]* name="(\w+)"', shown)) - {"what"}
    assert named == fields
    assert len(named) <= 4
    assert form.count('name="what"') == 8


def test_the_button_of_a_new_export_says_what_it_writes_and_writes_it(world: World) -> None:
    page = form_at(world, "what=assignments")
    assert re.search(r"Export: \d+ nugget labels <kbd>", page)
    assert 'value="A/A" selected' in page
    answer = world.client("olga").post(f"{NEW}?what=assignments&pseudonyms=on", {"start": "1"})
    assert answer["Location"] == f"{DATA}#h-exports"
    export = Export.objects.get()
    assert (export.what, export.options["condition"], export.names) == ("assignments", "A/A", False)


def test_a_refusal_of_a_new_export_stands_beside_its_field(world: World) -> None:
    page = form_at(world, "what=campaign&name=no+name")
    row = page.partition('name="name"')[2].partition("</div>")[0]
    assert 'value="no name"' in row
    assert "1 to 60 letters" in row
    assert "disabled aria-describedby" in page
    page = form_at(world, "what=assignments&condition=E/M")
    assert "There are no labels under E/M" in page.partition('name="condition"')[2].partition("</div>")[0]


def test_lines_under_pseudonyms_name_nobody(world: World) -> None:
    """A person's name is in no line, and whoever reads the campaign may take the file."""
    olga = world.client("olga")
    for what in ("assignments", "nuggets", "scores", "events", "time"):
        condition = {"condition": "A/A"} if what in ("assignments", "scores") else {}
        named = file_of(olga, exported(olga, what, **condition))
        export = exported(olga, what, pseudonyms="on", **condition)
        text = file_of(world.client("rita"), export).decode()
        people = "|".join(map(re.escape, world.people))
        assert not re.search(rf'"({people})"|,({people}),', text), what
        assert len(text.splitlines()) == len(named.splitlines()), what
    events = file_of(olga, exported(olga, "events", pseudonyms="on")).decode()
    assert '"user": "person-' in events
    assert not re.search(r'"user": \d', events)


def test_scores_of_a_rubric_are_exported_where_there_is_one(world: World) -> None:
    assert 'name="profile"' not in form_at(world, "what=scores")
    ListedNugget.objects.update(weight=2)
    Campaign.objects.update(revision=F("revision") + 1)
    page = form_at(world, "what=scores&condition=A/A&profile=rubric")
    assert "Rubric" in page.partition('name="profile"')[2].partition("</select>")[0]
    olga = world.client("olga")
    by = {
        profile: file_of(olga, exported(olga, "scores", condition="A/A", profile=profile))
        for profile in ("trec-rag", "rubric")
    }
    assert b'"rubric_strict"' in by["rubric"]
    assert b'"rubric_strict"' not in by["trec-rag"]
