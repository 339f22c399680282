"""Whoever tries a file out keeps nobody from saving, and whoever waits for a writer in vain is refused to come back."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from evaluation.imports import topics
from evaluation.imports.base import trying_out
from evaluation.models import Judge, NuggetSet
from evaluation.terms import JudgeKind, Origin, SupportCondition
from exchange.imports.kinds import IMPORT_KINDS, ImportLoad, ImportOptions
from tests.worlds.campaign import ALPHA, LABELS, NUGGETS, SUPPORT, World, make_world
from tests.worlds.cast import write_source

NEW_RUN = ALPHA.replace("alpha", "gamma")
FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "topics": ("t3\thow deep\n", {}),
    "segments": ('{"docid": "d9", "url": "", "title": "", "headings": "", "segment": "Deep."}\n', {}),
    "qrels": ("t1 0 d5 2\n", {"source": "UMBRELA"}),
    "runs": (NEW_RUN, {}),
    "nuggets": (NUGGETS, {"origin": Origin.AUTO, "judge": "newcomer", "by": JudgeKind.LLM}),
    "assignments": (LABELS, {"origin": Origin.AUTO, "judge": "newcomer", "by": JudgeKind.HUMAN}),
    "support": (SUPPORT, {"judge": "new", "by": JudgeKind.HUMAN, "condition": SupportCondition.SCRATCH}),
    "battles": (
        '{"topic_id": "t1", "left": "alpha", "right": "beta", "verdict": "left", "judge": "Eve"}\n',
        {"by": JudgeKind.HUMAN},
    ),
    "scores": ("run_id,vital_strict\nalpha,0.5\n", {"table": "published"}),
    "practice": (
        '{"kind": "assign", "question": "why", "text": "Sand moves.", "statement": "sand moves", '
        '"label": "support", "explanation": "It says so."}\n',
        {},
    ),
    "traces": (
        '{"user_input": "Why?", "response": "So [1].", "retrieved_contexts": ["Water."]}\n',
        {"run": "bot"},
    ),
}


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


@contextmanager
def somebody_writes() -> Iterator[None]:
    """Another connection holds the only write lock, and nobody here waits for it."""
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 0")
    try:
        yield
    finally:
        other.rollback()
        other.close()
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout = 20000")


needs_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="the only write lock is SQLite's")


def load_of(world: World, folder: Path, kind: str) -> ImportLoad:
    text, options = FILES[kind]
    source = write_source(folder, f"{kind}.txt", text)
    return ImportLoad(world.campaign, [source], ImportOptions(**options), None)


def test_every_kind_of_file_is_tried_here() -> None:
    assert FILES.keys() == IMPORT_KINDS.keys()


@needs_sqlite
@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_tried_out_while_somebody_writes(world: World, tmp_path: Path, kind: str) -> None:
    with somebody_writes(), trying_out():
        receipt = IMPORT_KINDS[kind].load(load_of(world, tmp_path, kind))
    assert receipt.added == 1 if kind != "assignments" else 4
    assert receipt.event is None


@pytest.mark.parametrize("kind", FILES)
def test_what_is_tried_out_is_what_is_loaded(world: World, tmp_path: Path, kind: str) -> None:
    load = load_of(world, tmp_path, kind)
    before = (Judge.objects.count(), NuggetSet.objects.count())
    with trying_out():
        tried = IMPORT_KINDS[kind].load(load)
    assert (Judge.objects.count(), NuggetSet.objects.count()) == before
    loaded = IMPORT_KINDS[kind].load(load)
    assert str(tried) == str(loaded)
    assert loaded.event is not None
    assert IMPORT_KINDS[kind].load(load).nothing_changed


@needs_sqlite
@pytest.mark.parametrize("kind", FILES)
def test_the_same_file_is_compared_while_somebody_writes(world: World, tmp_path: Path, kind: str) -> None:
    load = load_of(world, tmp_path, kind)
    IMPORT_KINDS[kind].load(load)
    with somebody_writes(), trying_out():
        assert IMPORT_KINDS[kind].load(load).nothing_changed


def test_a_plan_that_was_overtaken_is_made_again(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., Any] = topics._plan
    plans: list[Any] = []

    def load_other() -> None:
        topics.import_topics(campaign=world.campaign, source=write_source(tmp_path, "o.tsv", "t3\thow deep\n"))
        connection.close()

    def overtaken(campaign: Any, *rest: Any) -> Any:
        plan = real(campaign, *rest)
        if not plans:
            plans.append(plan)
            overtaker = Thread(target=load_other)
            overtaker.start()
            overtaker.join()
        return plan

    monkeypatch.setattr(topics, "_plan", overtaken)
    receipt = topics.import_topics(
        campaign=world.campaign, source=write_source(tmp_path, "two.tsv", "t3\thow deep\nt4\thow wide\n")
    )
    assert (receipt.added, receipt.unchanged) == (1, 1)


@pytest.fixture
def olga(world: World) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(world.people["olga"])
    return client


@needs_sqlite
def test_a_save_while_somebody_writes_too_long_may_come_back(world: World, olga: Client) -> None:
    with somebody_writes():
        page = olga.post("/campaigns/river/people/language/", {"language": "en"})
        refused = olga.post(
            "/api/v1/campaigns/river/imports/topics/",
            data="t3\thow deep\n",
            content_type="application/octet-stream",
        )
    assert (page.status_code, page["Retry-After"]) == (503, "5")
    assert "nothing was saved" in page.content.decode()
    assert (refused.status_code, refused["Retry-After"]) == (503, "5"), refused.content
    assert refused["Content-Type"] == "application/problem+json"
    assert json.loads(refused.content)["code"] == "busy"


@needs_sqlite
def test_a_sign_in_while_somebody_writes_too_long_may_come_back(world: World) -> None:
    user = User.objects.get(username="olga")
    user.set_password("river-study-demo")
    user.save()
    client = Client(raise_request_exception=False)
    with somebody_writes():
        answer = client.post("/accounts/login/", {"login": "olga", "password": "river-study-demo"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")


def big(kind: str, size: int) -> str:
    """Return a file of one run, one list or one source with so many rows."""
    if kind == "runs":
        sentences = [{"text": f"Sand moves {number}.", "citations": [number]} for number in range(size)]
        docids = [f"new{number}" for number in range(size)]
        return (
            json.dumps({"run_id": f"r{size}", "topic_id": "t1", "references": docids, "answer": sentences}) + "\n"
        )
    if kind == "nuggets":
        nuggets = [{"text": f"fact {number}", "importance": "vital"} for number in range(size)]
        return json.dumps({"qid": "t1", "query": "q", "nuggets": nuggets}) + "\n"
    return "".join(f"t1 0 other{size}_{number} 1\n" for number in range(size))


@needs_sqlite
@pytest.mark.parametrize("kind", ["runs", "nuggets", "qrels"])
def test_a_large_file_is_written_in_as_many_statements_as_a_small_one(
    world: World, tmp_path: Path, kind: str
) -> None:
    taken = []
    for size in (3, 1800):
        options = FILES[kind][1] | ({"judge": f"newcomer{size}"} if kind == "nuggets" else {})
        source = write_source(tmp_path, f"{kind}{size}.txt", big(kind, size))
        world.campaign.refresh_from_db()
        chosen = ImportOptions(**options)
        with CaptureQueriesContext(connection) as context:
            IMPORT_KINDS[kind].load(ImportLoad(world.campaign, [source], chosen, None))
        inserts = [query["sql"] for query in context if "INSERT INTO" in query["sql"]]
        # A source of grades is made once, and findings are as many as a file has.
        taken.append(sum("finding" not in sql and "qrelsource" not in sql for sql in inserts))
    assert taken[0] == taken[1]
