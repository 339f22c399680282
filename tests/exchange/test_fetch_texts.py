"""Texts of passages are fetched once each, from the sources of the setting and from nowhere else (check X9)."""

import gzip
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Event as Signal
from typing import Any

import pytest
from django.conf import settings as django_settings
from pytest_django.fixtures import Settings

from evaluation.errors import Refused
from evaluation.models import Campaign, Event, Finding, Segment
from evaluation.terms import FindingCode
from exchange import fetching
from exchange.deletion import delete_campaign
from exchange.fetching import MOST_TRIES, Wanted, fetch_rows, plan_fetch, start_fetch
from exchange.text_sources import MOST_BYTES
from jobs import queue
from jobs.models import Job, WorkItem
from organizer.management.commands.fetch_segments import Command as FetchSegments
from tests.exchange.text_server import KEY, KEY_NAME, Reply, TextServer, passage, running_text_server, text_of
from tests.reports.surfaces import admin
from tests.worlds.imported import answer, load, load_world, run, segment, sentence, write
from tests.worlds.installation import new_database
from tests.worlds.llm import wait_until

CITED = ("w1", "w2", "w3", "w4", "w5")


@pytest.fixture
def server(settings: Settings) -> Iterator[TextServer]:
    with running_text_server() as server:
        settings.TEXT_SOURCES = (server.source(),)
        yield server


@pytest.fixture
def corpus(db: None, tmp_path: Path) -> Path:
    """The campaign `river`, with a run that cites five passages without a text, and a grade of a sixth."""
    load_world(tmp_path, parts=1)
    lines = [answer("web", "t1", *(sentence("So.", docid) for docid in CITED), references=list(CITED))]
    load("import_run", write(tmp_path, "web", lines))
    load("import_qrels", "--source", "LLM", write(tmp_path, "q", "t1 0 w6 1\n"))
    return tmp_path


def fetch(*options: str) -> Job:
    load("fetch_segments", "--source", "Lab", *options)
    return Job.objects.latest("pk")


def work(times: int = 1) -> None:
    """Let a worker do all that is due, and again after what it waits for."""
    for _ in range(times):
        WorkItem.objects.filter(state="queued").update(not_before=None)
        fetching.run("w", Signal())


def texts() -> dict[str, str]:
    return dict(Segment.objects.filter(docid__startswith="w", has_text=True).values_list("docid", "text"))


def failures(job: Job) -> dict[str, str]:
    return dict(job.items.filter(state="failed").values_list("key", "reason"))


def state(job: Job) -> tuple[str, str]:
    job.refresh_from_db()
    return job.state, job.waiting_for


def test_every_missing_text_is_asked_for_once_and_loaded(corpus: Path, server: TextServer) -> None:
    job = fetch()
    work()
    assert texts() == {docid: f"What {docid} says." for docid in (*CITED, "w6")}
    assert Counter(server.asked) == Counter([*CITED, "w6"])
    assert state(job) == ("done", "")
    assert not Finding.objects.filter(code=FindingCode.SEGMENT_WITHOUT_TEXT).exists()
    [event] = Event.objects.filter(kind="import.segments").order_by("-pk")[:1]
    assert (event.payload["added"], event.payload["files"][0]["name"]) == (6, "Lab")
    assert list(job.items.values_list("state", "payload")) == [("done", {})] * 6


@pytest.mark.parametrize(
    ("option", "docids"), [("--cited", CITED), ("--qrels", ("w6",)), ("--all", (*CITED, "w6"))]
)
def test_only_what_is_wanted_is_asked_for(
    corpus: Path, server: TextServer, option: str, docids: tuple[str, ...]
) -> None:
    assert f"{len(docids)}" in load("fetch_segments", "--source", "Lab", option, "--dry-run").out.split("\n")[0]
    assert not Job.objects.exists()
    fetch(option)
    work()
    assert sorted(server.asked) == sorted(docids)


def test_what_a_source_does_not_have_is_not_asked_for_again(corpus: Path, server: TextServer) -> None:
    server.replies["w1"] = [Reply(status=404)]
    job = fetch("--cited")
    work()
    assert failures(job) == {"w1": "Not there."}
    plan = plan_fetch(Campaign.objects.get(), server.source(), Wanted.CITED)
    assert (plan.docids, plan.not_there, plan.under_way) == ((), 1, 0)
    with pytest.raises(Refused, match="There is no text to ask Lab for"):
        start_fetch(campaign=Campaign.objects.get(), source=server.source(), wanted=Wanted.CITED, actor=None)
    # Another source may have it, and whoever asks for what failed means it.
    assert plan_fetch(Campaign.objects.get(), server.source("Other"), Wanted.CITED).docids == ("w1",)
    queue.retry_failed(job)
    work()
    assert "w1" in texts()


def test_what_is_under_way_is_not_ordered_twice(corpus: Path, server: TextServer) -> None:
    fetch("--cited")
    plan = plan_fetch(Campaign.objects.get(), server.source(), Wanted.ALL)
    assert (plan.docids, plan.under_way) == (("w6",), 5)


def test_a_source_that_wants_rest_gets_it(corpus: Path, server: TextServer) -> None:
    server.replies["w1"] = [Reply(status=429, headers={"Retry-After": "900"})] * (MOST_TRIES + 1)
    job = fetch()
    work()
    asked = list(server.asked)
    assert sorted(asked) == ["w1", "w2"]
    assert state(job) == ("running", "Lab is asked again in 900 s.")
    fetching.run("w", Signal())
    assert server.asked == asked
    work(MOST_TRIES + 2)
    assert state(job) == ("done", "")
    assert Counter(server.asked) == Counter(dict.fromkeys((*CITED[1:], "w6"), 1) | {"w1": MOST_TRIES + 2})
    assert len(texts()) == 6


def test_a_rest_of_no_time_is_a_try_and_the_job_waits_for_somebody_in_the_end(
    corpus: Path, server: TextServer
) -> None:
    server.replies["w1"] = [Reply(status=503, headers={"Retry-After": "0"})] * (MOST_TRIES + 1)
    job = fetch("--cited")
    work(MOST_TRIES)
    assert server.asked.count("w1") == MOST_TRIES
    assert state(job) == ("paused", "Lab: Not available now (status 503).")


def test_an_error_of_the_server_is_tried_again_and_in_the_end_named(corpus: Path, server: TextServer) -> None:
    server.replies |= {"w1": [Reply(status=500)], "w2": [Reply(status=500)] * MOST_TRIES}
    job = fetch()
    work(MOST_TRIES)
    assert failures(job) == {"w2": "Status 500."}
    assert (server.asked.count("w1"), server.asked.count("w2"), server.asked.count("w3")) == (2, MOST_TRIES, 1)
    assert state(job) == ("done", "")
    [row] = fetch_rows([job])
    assert [(failure.reason, failure.count, failure.example) for failure in row.failures] == [
        ("Status 500.", 1, "w2")
    ]


@pytest.mark.parametrize("body", [b"no gzip", gzip.compress(b"Salt. " * 99)[:-9]], ids=["no gzip", "cut short"])
def test_a_reply_that_cannot_be_unpacked_stops_no_other_text(
    corpus: Path, server: TextServer, body: bytes
) -> None:
    server.replies["w1"] = [Reply(body, headers={"Content-Encoding": "gzip"})] * MOST_TRIES
    job = fetch("--cited")
    work(MOST_TRIES)
    assert failures(job) == {"w1": "A reply that cannot be unpacked."}
    assert sorted(texts()) == ["w2", "w3", "w4", "w5"]
    assert state(job) == ("done", "")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(b"x" * 6_000_000), "A text of over 5 MB."),
        (Reply(b"x" * (2 * MOST_BYTES + 1)), "A text of over 5 MB."),
        (
            Reply(status=302, headers={"Location": "http://127.0.0.1:9/elsewhere"}),
            "A redirect, which is not followed",
        ),
        (Reply(status=400), "Status 400."),
        (
            Reply(b"<p>Salt.</p>", headers={"Content-Type": "text/html; charset=utf-8"}),
            "A page of HTML, and no text.",
        ),
        (Reply(b"caf\xe9"), "No UTF-8."),
        (Reply(b""), "text: "),
        (passage(docid="w9", text="Salt."), "docid: w1, found w9"),
        (passage(title="Salt"), "segment: a text"),
        (passage(text="a\0b"), "line: text without NUL"),
        (Reply(b"{", headers={"Content-Type": "application/json"}), "segment: a text"),
        (Reply(b'["Salt."]', headers={"Content-Type": "application/json"}), "segment: a text"),
        (Reply(b"null", headers={"Content-Type": "application/json"}), "segment: a text"),
        (Reply(b'{"text": "Salt.", "score": NaN}'), "line: valid JSON"),
        (Reply(b'{"text": "Salt.", "score": 1e999}'), "line: "),
        (passage(text=7), "text: a string, found an integer"),
        (passage(text=["Salt."]), "text: a string, found a list"),
        (passage(doc=["Salt."]), "doc: a text or an object, found a list"),
        (passage(text="Salt.", start_char=-1), "start_char: a number of at least 0"),
        (Reply(b" \n"), "text: a text that is not empty"),
        (Reply("Salt.".encode("utf-16")), "No UTF-8."),
        (Reply(b"Salt.", headers={"Content-Type": "text/plain; charset=nonsense"}), "No UTF-8."),
        (Reply(b"{" + b'"x":[' * 100_000, headers={"Content-Type": "application/json"}), "segment: a text"),
        (Reply(b"Salt.", headers={"Content-Type": "text/plain; charset=undefined"}), "No UTF-8."),
        (Reply(b"\n<!DOCTYPE html><p>Sign in</p>"), "A page of HTML, and no text."),
        (Reply(b"<HTML>Sign in", headers={"Content-Type": "text/plain"}), "A page of HTML, and no text."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_reply_without_a_usable_text_fails_and_says_why(
    corpus: Path, server: TextServer, reply: Reply, reason: str
) -> None:
    server.replies["w1"] = [reply]
    job = fetch("--cited")
    work()
    assert failures(job)["w1"].startswith(reason)
    assert sorted(texts()) == ["w2", "w3", "w4", "w5"]
    assert state(job) == ("done", "")


UTF_8 = {"Content-Type": "text/plain; charset=utf-8"}


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"\xef\xbb\xbfSalt. Sand.", headers=UTF_8),
        Reply(b'\xef\xbb\xbf{"text": "Salt. Sand."}', headers={"Content-Type": "application/json; charset=utf-8"}),
        Reply(b'\n {"text": "Salt. Sand."}', headers=UTF_8),
        Reply(gzip.compress(b"Salt. ") + gzip.compress(b"Sand."), headers={"Content-Encoding": "gzip"}),
        Reply(gzip.compress(b"Salt. Sand.") + b"\0" * 9, headers={"Content-Encoding": "gzip"}),
    ],
)
def test_a_reply_is_read_whole_and_without_what_is_around_its_text(
    corpus: Path, server: TextServer, reply: Reply
) -> None:
    server.replies["w1"] = [reply]
    fetch("--cited")
    work()
    assert texts()["w1"] == "Salt. Sand."


@pytest.mark.parametrize(
    "reply",
    [
        passage(id=7, docid="w1", doc="Salt.", title="On salt"),
        passage(doc={"contents": "Salt.", "title": "On salt"}),
        passage(text="Salt.", title="On salt"),
    ],
)
def test_a_reply_has_the_forms_of_a_passage(corpus: Path, server: TextServer, reply: Reply) -> None:
    server.replies["w1"] = [reply]
    fetch()
    work()
    text = Segment.objects.get(docid="w1")
    assert (text.text, text.title) == ("Salt.", "On salt")


def test_a_text_that_was_loaded_meanwhile_is_not_asked_for(corpus: Path, server: TextServer) -> None:
    job = fetch()
    load("import_segments", write(corpus, "s", [segment("w1", "Ours.")]))
    work()
    assert ("w1" not in server.asked, texts()["w1"], state(job)[0]) == (True, "Ours.", "done")


def test_a_paused_job_asks_for_nothing_and_goes_on_where_it_was(corpus: Path, server: TextServer) -> None:
    job = fetch()
    queue.pause(job.pk)
    work()
    assert server.asked == []
    queue.resume(job.pk)
    work()
    assert (len(server.asked), state(job)[0]) == (6, "done")


def test_a_pause_while_it_runs_keeps_what_came(corpus: Path, server: TextServer, monkeypatch: Any) -> None:
    job, text = fetch(), server.reply_to

    def reply(docid: str) -> Reply:
        pausing.wait(10)
        return text(docid)

    pausing = Signal()
    monkeypatch.setattr(TextServer, "reply_to", lambda self, docid: reply(docid))
    monkeypatch.setattr(queue, "RENEW_EVERY", 0.05)
    renew = queue.renew

    def pause_now(worker: str) -> None:
        queue.pause(job.pk)
        pausing.set()
        renew(worker)

    monkeypatch.setattr(queue, "renew", pause_now)
    work()
    assert (len(server.asked), len(texts()), state(job)[0]) == (2, 2, "paused")


def test_a_refused_key_pauses_the_job(
    corpus: Path, server: TextServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_NAME, KEY)
    settings.TEXT_SOURCES = (server.source(key=KEY_NAME, at_once=1),)
    server.replies["w1"] = [Reply(status=401)]
    job = fetch()
    work()
    assert state(job) == ("paused", "Lab: access refused (status 401).")
    assert server.asked == ["w1"]
    queue.resume(job.pk)
    work()
    assert (state(job)[0], server.keys, len(texts())) == ("done", {f"Bearer {KEY}"}, 6)


def test_a_source_that_does_not_answer_pauses_the_job(corpus: Path, settings: Settings) -> None:
    with running_text_server() as gone:
        settings.TEXT_SOURCES = (gone.source(),)
    job = fetch()
    work(MOST_TRIES)
    assert (state(job)[0], state(job)[1].startswith("Lab: No connection")) == ("paused", True)
    assert queue.progress_of(job).queued == 6


def test_a_source_that_is_no_longer_listed_is_not_asked(
    corpus: Path, server: TextServer, settings: Settings
) -> None:
    job = fetch()
    settings.TEXT_SOURCES = (server.source("Other"),)
    work()
    assert (state(job), server.asked) == (
        ("paused", "There is no source Lab in TEXT_SOURCES; there are: Other."),
        [],
    )


def test_another_source_than_those_of_the_setting_is_refused(corpus: Path, server: TextServer) -> None:
    outcome = run("fetch_segments", "--campaign", "river", "--source", "http://127.0.0.1:9/{docid}")
    assert outcome.code == 1
    assert "there are: Lab" in outcome.err
    assert (server.asked, Job.objects.count()) == ([], 0)


def test_a_docid_is_one_part_of_the_address(corpus: Path, server: TextServer) -> None:
    odd = ["..", "a/../b", "a?b#c", "é%41"]
    lines = [answer("odd", "t1", *(sentence("So.", docid) for docid in odd), references=odd)]
    load("import_run", write(corpus, "odd", lines))
    fetch()
    work()
    assert set(odd) <= set(server.asked)


def test_what_a_dead_worker_fetched_is_not_asked_for_again(corpus: Path, server: TextServer) -> None:
    job = fetch()
    [item] = queue.claim("dead/texts", 1, kind=fetching.JOB_KIND)
    line = '{"docid": "w1", "text": "Kept."}'
    WorkItem.objects.filter(pk=item.pk).update(payload={"line": line}, lease_until="2026-01-01T00:00Z")
    work()
    assert (texts()[item.key], item.key in server.asked, state(job)[0]) == ("Kept.", False, "done")


def test_a_deleted_campaign_fetches_nothing(corpus: Path, server: TextServer) -> None:
    job = fetch()
    delete_campaign(campaign=Campaign.objects.get(), typed="river", actor=None)
    work()
    assert (state(job)[0], server.asked) == ("cancelled", [])


def test_a_cancelled_job_has_fetched_what_came_and_nothing_else(
    corpus: Path, server: TextServer, capsys: pytest.CaptureFixture[str]
) -> None:
    job = fetch()
    [first] = queue.claim("other/texts", 1, kind=fetching.JOB_KIND)
    queue.end_all([(first, "")])
    queue.cancel(job)
    [row] = fetch_rows([job])
    assert (row.progress.ended, row.progress.cancelled, row.progress.total) == (1, 5, 6)
    assert '<progress max="6" value="1"' in admin().get("/campaigns/river/data/").content.decode()
    with pytest.raises(SystemExit) as ended:
        FetchSegments().wait(job)
    assert ended.value.code == 4
    assert f"Job {job.pk} was cancelled: 5 items will not be done." in capsys.readouterr().err


def test_the_setting_is_what_a_text_server_says(server: TextServer) -> None:
    assert text_of("w1").status == 200
    assert server.source().address_of("a b") == f"http://127.0.0.1:{server.port}/texts/a%20b"


MAKE_WORLD = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
from pathlib import Path
from tests.exchange.test_fetch_texts import CITED
from tests.worlds.imported import answer, load, load_world, sentence, write
folder = Path({folder!r})
load_world(folder, parts=1)
line = answer("web", "t1", *(sentence("So.", docid) for docid in CITED), references=list(CITED))
load("import_run", write(folder, "web", [line]))
"""
WAIT = """
from jobs.models import Job
from organizer.management.llm import wait_for
wait_for(Job.objects.get(), print)
"""
CHECK = """
from evaluation.models import Segment
print(Segment.objects.filter(docid__startswith="w", has_text=True).count())
"""


@pytest.mark.slow
def test_a_killed_worker_costs_no_text_a_second_time(tmp_path: Path, django_db_setup: None) -> None:
    """One text at a time: the request under way at the death is asked for again, and nothing else."""
    with running_text_server() as server:
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": new_database(tmp_path / "assay.sqlite3"),
            "CELERY_BROKER_URL": "memory://",
            "JOB_LEASE_SECONDS": "2",
            "TEXT_SOURCES": f"Lab = {server.address} 1",
        }

        def shell(code: str) -> str:
            command = [sys.executable, "-c", f"import django\ndjango.setup()\n{code}"]
            return subprocess.run(
                command, env=environment, cwd=django_settings.BASE_DIR, capture_output=True, text=True, check=True
            ).stdout

        shell(MAKE_WORLD.format(folder=str(tmp_path)))
        fetching_texts = [
            sys.executable,
            "manage.py",
            "fetch_segments",
            "--campaign",
            "river",
            "--source",
            "Lab",
            "--wait",
        ]
        asked = server.reply_to

        def reply(docid: str) -> Reply:
            if len(server.asked) == 2:
                server.open.clear()  # the third waits until the worker is dead
            return asked(docid)

        server.reply_to = reply  # type: ignore[method-assign]
        with subprocess.Popen(fetching_texts, env=environment, cwd=django_settings.BASE_DIR) as command:
            wait_until(lambda: len(server.asked) == 3, 60)
            command.send_signal(signal.SIGKILL)
        server.open.set()
        shell(WAIT)
        assert shell(CHECK).strip() == "5"
        times = Counter(server.asked)
        assert sorted(times) == list(CITED)
        assert sorted(times.values()) == [1, 1, 1, 1, 2]
