"""Which runs people judge: the first of each group and task, and those named."""

from hypothesis import given
from hypothesis import strategies as st

from evaluation.corpus.runs import judging_pool
from evaluation.models import Run

SUBMISSIONS = st.lists(
    st.builds(
        Run,
        run_id=st.uuids().map(str),
        group=st.sampled_from(["otter", "heron"]),
        task=st.sampled_from(["AG", "RAG"]),
        priority=st.none() | st.integers(1, 5),
        pool=st.booleans(),
    ),
    max_size=12,
)


def run(run_id: str, priority: int | None, *, task: str = "AG", always: bool = False) -> Run:
    return Run(run_id=run_id, group="otter", task=task, priority=priority, pool=always)


def test_the_pool_takes_the_first_runs_of_each_group_and_task() -> None:
    runs = [run("a", 3), run("b", 1), run("c", 2), run("d", 1, task="RAG")]
    assert judging_pool(runs, 2) == {"b", "c", "d"}


def test_a_named_run_is_judged_whatever_its_priority() -> None:
    assert judging_pool([run("a", 1), run("b", 2), run("c", None, always=True)], 1) == {"a", "c"}


def test_without_a_depth_every_run_is_judged() -> None:
    assert judging_pool([run("a", 1), run("b", None)], None) == {"a", "b"}


@given(SUBMISSIONS, st.integers(1, 4))
def test_the_pool_does_not_depend_on_the_order_of_loading(runs: list[Run], depth: int) -> None:
    assert judging_pool(runs, depth) == judging_pool(reversed(runs), depth)


@given(SUBMISSIONS, st.integers(1, 4))
def test_a_deeper_pool_holds_the_shallower_one(runs: list[Run], depth: int) -> None:
    assert judging_pool(runs, depth) <= judging_pool(runs, depth + 1)
