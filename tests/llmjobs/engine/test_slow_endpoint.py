"""An endpoint that keeps calls waiting holds nobody up but its own jobs."""

from dataclasses import replace
from threading import Event as Signal

import pytest
from pytest_django.fixtures import Settings

from evaluation.judges import add_judge
from evaluation.terms import Condition, JudgeKind
from jobs.models import Job
from llmjobs.engine.loop import Engine
from llmjobs.job_service import plan_evaluation, start
from llmjobs.simulator.answering import MODEL
from tests.llmjobs.conftest import PointAt
from tests.worlds.llm import in_thread, make_world, scripted_endpoint, states_of, wait_until

pytestmark = pytest.mark.usefixtures("transactional_db")
LABELS = '["support", "support", "support"]'


@pytest.mark.parametrize("slow_jobs", [1, 2])
def test_jobs_at_other_endpoints_go_on(point_at: PointAt, settings: Settings, slow_jobs: int) -> None:
    may_answer, stopping = Signal(), Signal()

    def late(_texts: list[str]) -> str:
        may_answer.wait(20)
        return LABELS

    with scripted_endpoint(late) as slow, scripted_endpoint(lambda _texts: LABELS) as quick:
        point_at(quick.base_url)
        settings.LLM_ALLOWED_HOSTS = [f"127.0.0.1:{slow.server_address[1]}"]
        world = make_world(runs=80)

        def started(name: str, base_url: str) -> Job:
            judge = add_judge(name=name, kind=JudgeKind.LLM, model=f"{MODEL}-{name}", base_url=base_url)[0]
            request = replace(world.request, judge=judge)
            return start(request, "A/A", plan_evaluation(request, Condition.AA))

        for number in range(slow_jobs):
            started(f"slow{number}", slow.base_url)
        engine = Engine("tester", 2)

        def answered() -> None:
            try:
                wait_until(lambda: len(slow.calls) >= 2)
                job = started("quick", "")
                wait_until(lambda: states_of(job) == {"done": 80})
            finally:
                stopping.set()
                may_answer.set()

        with in_thread(answered):
            engine.work(stopping)
        engine.close()
        assert len(quick.calls) == 80
