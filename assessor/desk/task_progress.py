"""Progress of tasks, in counts: for dashboard and home."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from assessor.desk.desks import desk_of
from assessor.models import MarkedPassage, WorkingNugget
from evaluation.models import ListedNugget, StudyPair, Task
from evaluation.tasks.asking import Units, by_asking
from evaluation.tasks.pooling import judged_answers
from evaluation.tasks.reading_load import readable
from evaluation.terms import Decision, Making


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a task in counts. `proposed` and `undecided` are drafts; `listed` are in the list as it is.

    The others are of judging tasks: `labels` wanted and `judged`, `answers`, and those `finished`. An answer whose
    labels serve for another one counts once.
    """

    passages: int = 0
    read: int = 0
    proposed: int = 0
    undecided: int = 0
    listed: int = 0
    labels: int = 0
    judged: int = 0
    answers: int = 0
    finished: int = 0

    @property
    def done_of_all(self) -> tuple[int, int]:
        """Labels; decisions where drafts are decided on, passages where one writes by hand."""
        if self.labels:
            return self.judged, self.labels
        if self.proposed:
            return self.proposed - self.undecided, self.proposed
        return self.read, self.passages

    @property
    def share(self) -> float:
        done, all_ = self.done_of_all
        return done / all_ if all_ else 0.0


def progress_of(tasks: Sequence[Task]) -> dict[int, Progress]:
    """Return the progress of tasks that come with their protocol: a few queries, however many."""
    making = [task for task in tasks if not task.stage.judges]
    judged = [task for task in tasks if task.stage.judges]
    return (_making_progress(making) if making else {}) | (_judging_progress(judged) if judged else {})


def _making_progress(tasks: Sequence[Task]) -> dict[int, Progress]:
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
    by_way: dict[tuple[int, int], set[int]] = defaultdict(set)
    for task in tasks:
        by_way[_way(task)].add(task.topic_id)
    counts = {
        way: dict(_counted(readable(*way).filter(topic__in=topics), "topic")) for way, topics in by_way.items()
    }
    return {task.pk: counts[_way(task)].get(task.topic_id, 0) for task in tasks}


def _way(task: Task) -> tuple[int, int]:
    return task.qrels_id or 0, task.protocol.grade_threshold


def _judging_progress(tasks: Sequence[Task]) -> dict[int, Progress]:
    answers = judged_answers(tasks)
    asked: Units = {}
    judged: Units = {}
    for asking, of_kind in by_asking(tasks):
        whole = [task for task in of_kind if task.study_id is None]
        drawn = [task for task in of_kind if task.study_id is not None]
        asked |= asking.count(whole, answers) | _count_drawn(drawn)
        judged |= _judged(whole, asking.answer) | _judged(drawn, asking.answer)
    return {task.pk: _judged_so_far(task.pk, answers[task.pk], asked, judged) for task in tasks}


def _judged(tasks: Sequence[Task], answer: str) -> Units:
    """Count the labels of tasks that ask the same, all of studies or none."""
    if not tasks:
        return {}
    desk = desk_of(tasks[0].stage)
    rows = desk.working.objects.filter(task__in=tasks, label__isnull=False)
    # A study asks what it drew, whatever the lists say since.
    rows = rows if tasks[0].study_id else desk.asked_now(rows, tasks)
    counted = rows.order_by().values_list("task", answer).annotate(Count("pk"))
    return {(pk, answer_id): count for pk, answer_id, count in counted}


def _judged_so_far(task: int, answers: list[int], asked: Units, judged: Units) -> Progress:
    # A label of a pair that is not asked any more, such as one of a segment whose text went, is not counted.
    each = [(asked.get((task, answer), 0), judged.get((task, answer), 0)) for answer in answers]
    return Progress(
        labels=sum(all_ for all_, _ in each),
        judged=sum(min(done, all_) for all_, done in each),
        answers=len(answers),
        finished=sum(0 < all_ <= done for all_, done in each),
    )


def _count_drawn(tasks: Sequence[Task]) -> Units:
    """Count the pairs of studies: those that were drawn, whatever the lists and the protocol say since."""
    if not tasks:
        return {}
    rows = StudyPair.objects.filter(study__in={task.study_id for task in tasks}).order_by()
    counted = {
        (study, topic, answer): count
        for study, topic, answer, count in rows.values_list("study", "topic", "answer").annotate(Count("pk"))
    }
    return {
        (task.pk, answer): count
        for task in tasks
        for (study, topic, answer), count in counted.items()
        if (study, topic) == (task.study_id, task.topic_id)
    }


def _counted(rows: QuerySet[Any], by: str) -> list[tuple[int, int]]:
    return list(rows.order_by().values_list(by).annotate(Count("pk")))
