"""Which runs are judged."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Submission:
    """What the judging pool asks of a run. `priority` 1 is judged first, None last."""

    run_id: str
    group: str
    task: str
    priority: int | None
    named: bool


def judging_pool(runs: Iterable[Submission], depth: int | None) -> frozenset[str]:
    """Return the run ids to judge: the first `depth` of each group and task, and those named. None means all.

    Equal priorities go by run id, so that the pool does not depend on the order of loading.
    """
    by_group: dict[Hashable, list[Submission]] = defaultdict(list)
    for run in runs:
        by_group[run.group, run.task].append(run)
    chosen = (run for group in by_group.values() for run in _first(group, depth))
    return frozenset(run.run_id for run in chosen)


def _first(group: list[Submission], depth: int | None) -> list[Submission]:
    ordered = sorted(group, key=lambda run: (run.priority is None, run.priority or 0, run.run_id))
    return ordered[:depth] + [run for run in ordered[len(ordered[:depth]) :] if run.named]
