"""How much there is to read in a topic, and how far a task is: counts for hand-out, dashboard and home alike."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Length

from evaluation.models import ListedNugget, MarkedPassage, NuggetList, NuggetSet, Qrel, Task, WorkingNugget
from evaluation.terms import Decision, Making


@dataclass(frozen=True, slots=True)
class Reading:
    """The passages of a topic that have a text and a grade high enough."""

    passages: int = 0
    characters: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a task is. `proposed` and `undecided` are drafts; `listed` stand in the list as it is."""

    passages: int
    read: int
    proposed: int
    undecided: int
    listed: int

    @property
    def share(self) -> float:
        """Done, from 0 to 1: decisions where drafts are decided on, passages where one writes by hand."""
        done, all_ = self.proposed - self.undecided, self.proposed
        if not self.proposed:
            done, all_ = self.read, self.passages
        return done / all_ if all_ else 0.0


def readable(source: int, threshold: int) -> QuerySet[Qrel]:
    """Return the grades by one source that make a passage one to read."""
    return Qrel.objects.filter(source=source, grade__gte=threshold, segment__has_text=True).order_by()


def to_read(source: int, threshold: int, topics: Collection[int]) -> dict[int, Reading]:
    """Return what there is to read by topic, without reading it; topics with nothing are left out."""
    rows = readable(source, threshold).filter(topic__in=topics).values_list("topic")
    counted = rows.annotate(n=Count("pk"), characters=Sum(Length("segment__text")))
    return {topic: Reading(passages, characters or 0) for topic, passages, characters in counted}


def newest_drafts(nugget_set: NuggetSet, topics: Collection[int]) -> dict[int, tuple[int, int]]:
    """Return the newest submitted list by topic with its length; empty lists are left out."""
    lists = NuggetList.objects.filter(nugget_set=nugget_set, topic__in=topics, submitted=True)
    newest = dict(lists.order_by("version").values_list("topic__pk", "pk"))
    sizes = dict(_counted(ListedNugget.objects.filter(nugget_list__in=newest.values()), "nugget_list"))
    return {topic: (pk, sizes[pk]) for topic, pk in newest.items() if pk in sizes}


def progress_of(tasks: Sequence[Task]) -> dict[int, Progress]:
    """Return the progress of tasks that come with their protocol: a few queries, however many."""
    pks = [task.pk for task in tasks]
    passages = _passages_of(tasks)
    read = dict(_counted(MarkedPassage.objects.filter(task__in=pks), "task"))
    rows: dict[int, dict[tuple[str, bool], int]] = defaultdict(lambda: defaultdict(int))
    working = WorkingNugget.objects.filter(task__in=pks).order_by()
    for pk, decision, making, count in working.values_list("task", "decision", "making").annotate(Count("pk")):
        rows[pk][decision, making == Making.PROPOSED] += count
    unopened = {task.drafts_id for task in tasks if task.pk not in rows and task.drafts_id}
    drafts = dict(_counted(ListedNugget.objects.filter(nugget_list__in=unopened), "nugget_list"))
    return {
        task.pk: _progress(
            passages[task.pk], read.get(task.pk, 0), rows[task.pk], drafts.get(task.drafts_id or 0, 0)
        )
        for task in tasks
    }


def _progress(passages: int, read: int, rows: dict[tuple[str, bool], int], drafts: int) -> Progress:
    proposed = sum(count for (_, is_draft), count in rows.items() if is_draft) or drafts
    undecided = rows.get((Decision.UNDECIDED, True), 0) if rows else drafts
    listed = sum(count for (decision, _), count in rows.items() if decision in (Decision.KEPT, Decision.UNDECIDED))
    return Progress(passages, min(read, passages), proposed, undecided, listed)


def _passages_of(tasks: Sequence[Task]) -> dict[int, int]:
    """Count the passages to read of each task: a query for each way of choosing them."""
    ways: dict[tuple[int, int], set[int]] = defaultdict(set)
    for task in tasks:
        ways[_way(task)].add(task.topic_id)
    counts = {
        way: dict(_counted(readable(*way).filter(topic__in=topics), "topic")) for way, topics in ways.items()
    }
    return {task.pk: counts[_way(task)].get(task.topic_id, 0) for task in tasks}


def _way(task: Task) -> tuple[int, int]:
    return task.qrels_id, task.protocol.grade_threshold


def _counted(rows: QuerySet[Any], by: str) -> list[tuple[int, int]]:
    return list(rows.order_by().values_list(by).annotate(Count("pk")))
