"""The two ways of docs/architecture.md, walked for real: no file that decides something runs without being named.

Counted are files whose functions run while the request, submit or job is served, without pure modules and models (whose
number does not make a way longer to understand), and without what every page runs.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver

from evaluation.judges import add_judge
from evaluation.terms import JudgeKind
from llmjobs.job_service import JobOrder, Work, plan_job, start_job
from llmjobs.simulator.answering import MODEL
from llmjobs.simulator.server import Simulator
from tests.architecture.figures import ROOMS, ROOT
from tests.assessor.desk_client import Window
from tests.llmjobs.conftest import PointAt, point_at, simulator
from tests.worlds.judging_desk import MACHINE, JudgeWorld, make_judge_world
from tests.worlds.llm import work_on

__all__ = ["PointAt", "point_at", "simulator"]

PURE = (
    *(
        "/models",
        "/rules/",
        "/formats/",
        "/metrics/",
        "/steps/",
        "/prompts/",
        "/stages/",
        "/simulator/",
        "/templatetags/",
    ),
    "/migrations/",
    "/labels.py",
    "/terms.py",
    "/errors.py",
    "/urls.py",
    "/apps.py",
    "/admin.py",
)
EVERY_PAGE = {
    "assessor/progress/matrix.py",
    "evaluation/campaigns/access.py",
    "organizer/navigation.py",
    "organizer/access.py",
    "reports/registry.py",
}
"""Second factor, rights, and the menu with its reports and counts."""


class Walked:
    def __init__(self) -> None:
        self.files: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            self.files.add(frame.f_code.co_filename)

    def in_rooms(self) -> set[str]:
        """Paths below the root, of the rooms a way leads through, without pure modules."""
        rooms = set(ROOMS) - {"config", "web", "accounts"}
        inside = [Path(file) for file in self.files if file.startswith(f"{ROOT}/")]
        names = {path.relative_to(ROOT).as_posix() for path in inside}
        return {
            name for name in names if name.split("/")[0] in rooms and not any(part in f"/{name}" for part in PURE)
        }


@contextmanager
def walking() -> Iterator[Walked]:
    """Note every call of every thread; coverage uses `settrace`, so the profiler is free."""
    walked = Walked()
    before = sys.getprofile()
    threading.setprofile(walked)
    sys.setprofile(walked)
    try:
        yield walked
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def walk(act: Callable[[], Any]) -> set[str]:
    with walking() as walked:
        answer = act()
        assert getattr(answer, "status_code", 200) in {200, 302}, answer.content
    return walked.in_rooms()


LABEL_WAY = {
    "assessor/access.py",
    "assessor/desk/apply_op.py",
    "assessor/desk/citation_labels.py",
    "assessor/desk/context.py",
    "assessor/desk/desks.py",
    "assessor/desk/label_ops.py",
    "assessor/desk/submit.py",
    "assessor/desk/task_labels.py",
    "assessor/views/desk.py",
    "evaluation/campaigns/contents.py",
    "evaluation/corpus/topics.py",
    "evaluation/domain/conditions.py",
    "evaluation/domain/shares.py",
    "evaluation/domain/stage_labels.py",
    "evaluation/domain/counted_pairs.py",
    "evaluation/judges.py",
    "evaluation/labelling.py",
    "evaluation/tasks/asking.py",
    "reports/agreement/figures.py",
    "reports/agreement/page.py",
    "reports/cache.py",
    "reports/confusion/paired_labels.py",
    "reports/forms.py",
    "reports/frames.py",
    "reports/profiles.py",
    "reports/report.py",
    "reports/views.py",
}

JOB_WAY = {
    "evaluation/campaigns/contents.py",
    "evaluation/domain/conditions.py",
    "evaluation/domain/shares.py",
    "evaluation/domain/stage_labels.py",
    "evaluation/domain/counted_pairs.py",
    "evaluation/judges.py",
    "evaluation/labelling.py",
    "jobs/queue.py",
    "llmjobs/budget.py",
    "llmjobs/client.py",
    "llmjobs/engine/calls.py",
    "llmjobs/engine/limits.py",
    "llmjobs/engine/loop.py",
    "llmjobs/engine/outcomes.py",
    "llmjobs/engine/send.py",
    "llmjobs/job_plan.py",
    "llmjobs/job_service.py",
    "llmjobs/kinds.py",
    "llmjobs/prompt_store.py",
    "reports/cache.py",
    "reports/confusion/page.py",
    "reports/confusion/paired_labels.py",
    "reports/confusion/verdicts.py",
    "reports/forms.py",
    "reports/frames.py",
    "reports/report.py",
    "reports/sides.py",
    "reports/views.py",
}
"""A file leaves a way by being merged, and joins it by being named here."""

MOST_FILES = {"label": 27, "job": 28}


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> JudgeWorld:
    get_resolver().reverse_dict  # noqa: B018  (the first request imports every page, and importing runs its file)
    return make_judge_world(tmp_path)


def judged(client: Client) -> Callable[[], Any]:
    """The page that compares ben's labels with the machine's."""
    query = {"x": "scratch", "y": "llm", "score": "weighted_precision"}
    return lambda: client.get("/campaigns/river/agreement/", query)


def compared(client: Client) -> Callable[[], Any]:
    query = {"rows": "llm", "columns": "llm", "rows_judge": MACHINE, "columns_judge": "overlap"}
    return lambda: client.get("/campaigns/river/confusion/", query)


@pytest.mark.django_db(transaction=True, databases=["default", "snapshot"])
class TestWays:
    def test_a_label_from_a_key_to_the_agreement_page(self, world: JudgeWorld) -> None:
        window = Window(world.client("ben"), world.scratch).open()
        keys = [pair["key"] for pair in window.state()["pairs"] if pair["judgeable"]]
        first = window.op("label", {keys[0]: 0}, key=keys[0], label="full_support")
        body = {"window": window.window, "ops": [first]}
        saved = walk(lambda: window.post("ops/", body))
        for key in keys[1:]:
            window.do("label", {key: 0}, key=key, label="full_support")
        seq = window.state()["seq"]
        submitted = walk(lambda: window.submit(seq))
        shown = walk(judged(world.client("olga")))
        assert (saved | submitted | shown) - EVERY_PAGE == LABEL_WAY

    def test_a_job_from_its_start_to_the_matrix(self, world: JudgeWorld, simulator: Simulator) -> None:
        judge = add_judge(name="overlap", kind=JudgeKind.LLM, model=MODEL)[0]
        started = walk(
            lambda: start_job(plan_job(world.campaign, JobOrder(Work.SUPPORT, judge.name)), world.people["olga"])
        )
        worked = walk(work_on)
        shown = walk(compared(world.client("olga")))
        assert (started | worked | shown) - EVERY_PAGE == JOB_WAY

    def test_no_way_gets_longer(self) -> None:
        assert len(LABEL_WAY) <= MOST_FILES["label"]
        assert len(JOB_WAY) <= MOST_FILES["job"]
