"""Writing by hand: nothing that a machine made is in any answer of the desk, by difference against the database."""

import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.http.response import HttpResponseBase
from django.test.utils import CaptureQueriesContext

from evaluation.models import (
    Assignment,
    Judge,
    ListedNugget,
    NuggetSet,
    NuggetVersion,
    Run,
    Sentence,
    SupportJudgment,
    Task,
)
from evaluation.terms import JudgeKind, Origin
from jobs.models import Job
from llmjobs.models import Call, Text
from reports.models import ExternalScore
from tests.crawl.canaries import Canaries, whole_response
from tests.crawl.walking import DESK, STATES, Walk, known_to
from tests.worlds.blind import SECRET, make_blind_world
from tests.worlds.desk import DeskWorld

MACHINES = (Origin.AUTO, Origin.DRAFT)
TABLE = re.compile(r'(?:FROM|JOIN) "(\w+)"')
OF_LISTS = {"evaluation_nuggetset", "evaluation_nuggetlist", "evaluation_listednugget", "evaluation_nugget"}
"""Where a submitted list goes, and is read back from in the history."""

ORDERING = {"evaluation_qrelsource"}
"""Comes along with a task, which names whose grades choose its passages. No field of it goes further."""


@pytest.fixture
def world(db: None, tmp_path: Path) -> DeskWorld:
    """Natural texts, no canaries: what is looked for is what the database holds."""
    made = make_blind_world(tmp_path, with_canaries=False)[0]
    NuggetSet.objects.filter(name="drafts").update(name="drafts-of-may")  # pages say "drafts" anyway
    return made


def machine_made() -> set[str]:
    sets = NuggetSet.objects.filter(origin__in=MACHINES)
    machines = Judge.objects.filter(kind=JudgeKind.LLM)
    rows: list[Iterable[tuple[str, ...]]] = [
        NuggetVersion.objects.filter(nugget__nugget_set__in=sets).values_list("text"),
        ListedNugget.objects.filter(nugget_list__nugget_set__in=sets).values_list("group"),
        sets.values_list("name"),
        machines.values_list("name", "model", "base_url"),
        Assignment.objects.filter(judge__in=machines).values_list("raw"),
        SupportJudgment.objects.filter(judge__in=machines).values_list("raw"),
        Call.objects.values_list("reply", "model", "model_answered", "base_url", "sha256"),
        Text.objects.values_list("content", "sha256"),
        Job.objects.values_list("title"),
        Run.objects.values_list("run_id", "group", "sha256"),
        Sentence.objects.values_list("text"),
        ExternalScore.objects.values_list("run_id", "group"),
    ]
    return {text for found in rows for row in found for text in row if text}


class Difference(Canaries):
    """Finds texts of the database as they are, in HTML and in JSON."""

    def __init__(self, texts: set[str]) -> None:
        super().__init__()
        self.texts = {text: {text, escape(text), json.dumps(text)[1:-1]} for text in texts}

    def leaks(self, response: HttpResponseBase, person: str, address: str) -> list[str]:
        body = whole_response(response).decode(errors="replace")
        return sorted(text for text, forms in self.texts.items() if any(form in body for form in forms))


def leaked_texts(
    world: DeskWorld, task: Task, texts: set[str], states: Sequence[dict[str, Any]] = STATES
) -> set[str]:
    own = {"public_id": [task.public_id]}
    walk = Walk(Difference(texts), "ann")
    for fields in [{}, *states]:
        if fields:
            Task.objects.filter(pk=task.pk).update(**fields)
        walk.everywhere(own, known_to(world, "ann"), under=f"{DESK}{task.public_id}/")
    assert walk.answers["assessor:submit"] >= {200}
    assert not [problem for problem in walk.problems if " tells " not in problem]
    return {problem.partition(" tells ")[2] for problem in walk.problems}


@pytest.mark.slow
def test_nothing_that_a_machine_made_is_told_at_a_desk_by_hand(world: DeskWorld) -> None:
    texts = machine_made()
    assert {"auto of t2", "draft of t2", "machine-draft", "drafting-machine", "heron", "It bends."} <= texts
    assert leaked_texts(world, world.manual, texts) == set()


@pytest.mark.slow
def test_the_same_difference_finds_proposals_where_edited_only(world: DeskWorld) -> None:
    offered = set(world.drafts().items.values_list("nugget_version__text", flat=True))
    assert leaked_texts(world, world.post_edit, machine_made()) == offered


def test_no_draft_is_in_the_state_of_a_list_by_hand(world: DeskWorld) -> None:
    state = world.client().get(f"{DESK}{world.manual.public_id}/state/").json()
    assert state["rows"]
    assert {row["draft"] for row in state["rows"]} == {None}
    steps = [*state["undo"], *state["redo"]]
    assert {row["draft"] for step in steps for row in step["after"].values() if row} == {None}


ENDINGS = "'task.withdrawn', 'task.reassigned'"
"""Whose task was taken back reads by whom and why: the only events that a desk asks for."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["manual", "post_edit"])
def test_no_desk_asks_the_database_for_what_it_may_not_show(world: DeskWorld, name: str) -> None:
    """What is not queried cannot leak."""
    with CaptureQueriesContext(connection) as context:
        leaked_texts(world, getattr(world, name), set(), STATES[:1])
    statements = [query["sql"] for query in context.captured_queries if ENDINGS not in query["sql"]]
    queried = {table for statement in statements for table in TABLE.findall(statement)}
    secret = {model._meta.db_table for model in SECRET} | {"evaluation_event"}
    assert {"evaluation_task", "assessor_workingnugget", "evaluation_segment"} <= queried
    assert queried & secret - OF_LISTS - ORDERING == set()
