"""An import whose process was killed says so on its page, and is taken up or put aside from there."""

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.utils.timezone import now

from evaluation.models import Topic
from exchange.imports.service import load
from exchange.models import ImportAttempt
from jobs.models import Job, WorkItem
from tests.organizer.data.test_import_wizard import loaded, page_of, sent
from tests.worlds.campaign import World, make_world

GONE = "Nobody works on it any more."
MORE = ("more.tsv", "t1\twhy rivers bend\nt3\thow deep\n")

DIES = """
import os, signal, sys
import django
django.setup()
from django.conf import settings
settings.FILES_DIR = {folder!r}
settings.DATABASES["default"]["NAME"] = {database!r}
from exchange.imports import service
from exchange.models import ImportAttempt
if {state!r} == "loading":
    service._counts = lambda *given: (print("writing", flush=True), signal.pause())
else:
    service._sources = lambda attempt: (print("writing", flush=True), signal.pause())
attempt = ImportAttempt.objects.get(pk={pk})
service.carry_on(attempt)
"""


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    settings.FILES_DIR = tmp_path / "files"


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    """The small campaign with its cast, committed, so that another process sees it."""
    return make_world(tmp_path)


def killed_while(attempt: ImportAttempt, state: str) -> None:
    ImportAttempt.objects.filter(pk=attempt.pk).update(state=state)
    database = str(connection.settings_dict["NAME"])
    program = DIES.format(folder=str(django_settings.FILES_DIR), database=database, state=state, pk=attempt.pk)
    url = f"sqlite:///{database}" if connection.vendor == "sqlite" else os.environ["DATABASE_URL"]
    own = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "DATABASE_URL": url}
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=django_settings.BASE_DIR, env=own, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "writing"
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    process.stdout.close()


def minutes_later(attempt: ImportAttempt, minutes: int = 3) -> ImportAttempt:
    ImportAttempt.objects.filter(pk=attempt.pk).update(begun_at=now() - timedelta(minutes=minutes))
    attempt.refresh_from_db()
    return attempt


@pytest.mark.parametrize("state", ["checking", "loading"])
def test_an_import_whose_process_was_killed_is_taken_up(world: World, state: str) -> None:
    olga = world.client("olga")
    attempt = sent(olga, "topics", MORE)
    killed_while(attempt, state)
    assert not Topic.objects.filter(topic_id="t3").exists()
    assert GONE not in page_of(olga, attempt)
    minutes_later(attempt)
    page = page_of(olga, attempt)
    assert GONE in page
    assert "Take it up again" in page
    done = olga.post(f"/campaigns/river/data/imports/{attempt.pk}/take-up/", follow=True).content.decode()
    if state == "checking":
        assert "Tried out." in done
        done = loaded(olga, attempt)
    assert "1 topic added, 1 already loaded." in done
    assert Topic.objects.filter(topic_id="t3").count() == 1


def test_an_import_whose_process_was_killed_is_put_aside(world: World) -> None:
    olga = world.client("olga")
    attempt = sent(olga, "topics", MORE)
    killed_while(attempt, "loading")
    minutes_later(attempt)
    olga.post(f"/campaigns/river/data/imports/{attempt.pk}/discard/")
    assert "Discarded." in page_of(olga, attempt)
    attempt.refresh_from_db()
    load(attempt)  # whoever comes late does nothing
    assert not Topic.objects.filter(topic_id="t3").exists()


def test_an_import_under_way_is_neither_taken_up_nor_put_aside(world: World) -> None:
    olga = world.client("olga")
    attempt = sent(olga, "topics", MORE)
    ImportAttempt.objects.filter(pk=attempt.pk).update(state="loading", begun_at=now())
    for act in ("take-up", "discard"):
        page = olga.post(f"/campaigns/river/data/imports/{attempt.pk}/{act}/").content.decode()
        assert "This import is under way" in page
    attempt.refresh_from_db()
    assert attempt.state == "loading"


def test_an_import_that_waits_for_a_worker_is_put_aside_with_its_job(world: World, settings: Any) -> None:
    settings.IMPORT_AT_ONCE_BYTES = 1
    olga = world.client("olga")
    attempt = sent(olga, "topics", MORE)
    page = page_of(olga, attempt)
    assert "No worker runs" in page
    assert "Discard" in page
    olga.post(f"/campaigns/river/data/imports/{attempt.pk}/discard/")
    attempt.refresh_from_db()
    assert (attempt.state, Job.objects.get().state, WorkItem.objects.get().state) == (
        "discarded",
        "cancelled",
        "cancelled",
    )


def test_the_second_process_to_load_an_import_changes_nothing(world: World) -> None:
    olga = world.client("olga")
    attempt = sent(olga, "topics", MORE)
    ImportAttempt.objects.filter(pk=attempt.pk).update(state="loading")
    first, second = (ImportAttempt.objects.get(pk=attempt.pk) for _ in range(2))
    load(first)
    load(second)
    attempt.refresh_from_db()
    assert attempt.state == "loaded"
