"""What fails for a moment is tried again; what was done is not done twice; what is refused is not asked again."""

import json
import re
from pathlib import Path

import pytest

from assay_client import Assay, AssayError, Busy, Campaign, Conflict, Refused, ServerError, Unreachable, connection
from evaluation.models import Event, Topic
from jobs.models import Job
from tests.client.conftest import Library
from tests.client.servers import hands_on, loses, says, serving
from tests.client.test_imports import NUGGETS, RUN, TOPICS
from tests.client.test_streams import CAMPAIGN

pytestmark = pytest.mark.django_db(transaction=True)
TOKEN = "assay_of_a_test"


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_WAIT", 0.01)


def test_a_server_that_is_down_then_busy_loads_a_file_once(library: Library) -> None:
    waits = says(503), says(429, Retry_After="1")
    with serving(*waits, rest=hands_on(library.url)) as proxy:
        lib = Assay(proxy.url, token=library.tokens["olga"])
        loaded = lib.campaign("library").imports.topics(TOPICS, name="topics.tsv")
    assert (loaded.rows, loaded.changed) == (2, True)
    assert Event.objects.filter(kind="import.topics").count() == 1


def test_an_import_whose_answer_is_lost_is_answered_again(library: Library) -> None:
    real = hands_on(library.url)
    with serving(real, loses(real), rest=real) as proxy:
        Assay(proxy.url, token=library.tokens["olga"]).campaign("library").imports.topics(TOPICS)
        keys = {request.headers.get("Idempotency-Key") for request in proxy.requests[1:]}
    assert len(keys) == 1
    assert Topic.objects.count() == 2
    assert Event.objects.filter(kind="import.topics").count() == 1


def test_several_files_are_sent_whole_at_each_try(library: Library, lib: Campaign, tmp_path: Path) -> None:
    lib.imports.topics(TOPICS)
    path = tmp_path / "heron.jsonl"
    path.write_bytes(RUN)
    real = hands_on(library.url)
    with serving(real, says(503), loses(real), rest=real) as proxy:
        imports = Assay(proxy.url, token=library.tokens["olga"]).campaign("library").imports
        loaded = imports.run(path, RUN.replace(b"heron", b"egret"))
    assert (loaded.rows, loaded.changed) == (4, True)
    assert Event.objects.filter(kind="import.run").count() == 1


@pytest.mark.usefixtures("simulator")
def test_a_job_whose_answer_is_lost_is_started_once(library: Library, lib: Campaign) -> None:
    lib.imports.topics(TOPICS)
    lib.imports.run(RUN)
    lib.imports.nuggets(NUGGETS, origin="manual", judge="mara", by="human")
    real = hands_on(library.url)
    with serving(real, loses(real), rest=real) as proxy:
        job = Assay(proxy.url, token=library.tokens["olga"]).campaign("library").jobs.start("M/A")
    assert job.id == Job.objects.get().pk


def test_a_refusal_is_not_asked_again(library: Library) -> None:
    with serving(rest=hands_on(library.url)) as proxy:
        lib = Assay(proxy.url, token=library.tokens["olga"]).campaign("library")
        with pytest.raises(Refused) as refusal:
            lib.imports.topics(b"t1\n\tno id\n", name="topics.tsv")
        assert len(proxy.requests) == 2
    [first, second] = refusal.value.problems
    assert (first.file, first.line, second.line) == ("topics.tsv", 1, 2)
    assert str(first) == f"topics.tsv:1: {first.field}: {first.expected}"
    assert refusal.value.status == 422
    assert re.fullmatch(r"[0-9a-f-]{36}", refusal.value.request_id)


@pytest.mark.parametrize(("status", "error"), [(429, Busy), (503, ServerError)])
def test_after_four_tries_it_is_said(status: int, error: type[AssayError]) -> None:
    with serving(rest=says(status)) as server, pytest.raises(error) as said:
        Assay(server.url, token=TOKEN).campaign("library")
    assert len(server.requests) == 4
    assert said.value.status == status


def test_a_write_that_takes_long_is_waited_for() -> None:
    at_work = says(409, b'{"code": "idempotency_key_in_use", "detail": "It is being worked on."}', Retry_After="0")
    made = says(201, json.dumps(CAMPAIGN).encode())
    with serving(says(504), *[at_work] * 6, made) as server:
        assert Assay(server.url, token=TOKEN).create_campaign("library").slug == "library"
        assert len({request.headers["Idempotency-Key"] for request in server.requests}) == 1
    with serving(rest=says(409)) as server, pytest.raises(Conflict):
        Assay(server.url, token=TOKEN).create_campaign("library")
    assert len(server.requests) == 1


def test_nobody_waits_for_an_hour() -> None:
    with serving(rest=says(429, Retry_After="3600")) as server, pytest.raises(Busy):
        Assay(server.url, token=TOKEN).campaign("library")
    assert len(server.requests) == 1


def test_a_server_that_is_off_is_unreachable() -> None:
    with serving() as server:
        url = server.url
    with pytest.raises(Unreachable, match=f"{url} did not answer"):
        Assay(url, token=TOKEN).campaign("library")
