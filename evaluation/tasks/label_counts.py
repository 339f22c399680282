"""Labels that judging tasks ask for, and labels that were submitted, in counts by task and answer."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Count, QuerySet

from evaluation.domain.counted_pairs import counted_citations
from evaluation.models import Assignment, ListedNugget, NuggetList, Submission, SupportJudgment, Task, TaskAnswer
from evaluation.terms import Stage

Answers = Mapping[int, Sequence[int]]
"""Answers to judge by task; those whose labels another answer gives are left out."""

Pairs = dict[tuple[int, int], int]
"""Counts by task and answer."""


def judged_answers(tasks: Iterable[Task]) -> dict[int, list[int]]:
    rows = TaskAnswer.objects.filter(task__in=tasks, same_as=None).order_by().values_list("task", "answer")
    answers: dict[int, list[int]] = defaultdict(list)
    for task, answer in rows:
        answers[task].append(answer)
    return answers


def nuggets_asked(tasks: Sequence[Task], answers: Answers) -> Pairs:
    lists = _newest_lists(tasks)
    rows = ListedNugget.objects.filter(nugget_list__in=lists.values()).order_by()
    sizes = dict(rows.values_list("nugget_list").annotate(Count("pk")))
    asked = {task.pk: sizes.get(lists.get((task.nugget_set_id or 0, task.topic_id), 0), 0) for task in tasks}
    return {(task.pk, answer): asked[task.pk] for task in tasks for answer in answers[task.pk]}


def listed_now(tasks: Sequence[Task]) -> QuerySet[Any, Any]:
    """Return the wordings of the newest submitted lists that tasks assign."""
    return ListedNugget.objects.filter(nugget_list__in=_newest_lists(tasks).values()).values("nugget_version")


def _newest_lists(tasks: Sequence[Task]) -> dict[tuple[int, int], int]:
    """Return the newest submitted list by nugget set and topic."""
    lists = NuggetList.objects.newest_submitted().filter(
        nugget_set__in={task.nugget_set_id for task in tasks}, topic__in={task.topic_id for task in tasks}
    )
    rows = lists.values_list("nugget_set", "topic__pk", "pk")
    return {(nugget_set, topic): pk for nugget_set, topic, pk in rows}


def pairs_asked(tasks: Sequence[Task], answers: Answers) -> Pairs:
    """Count the citations to judge in each answer: a query for each number of citations that protocols judge."""
    asked: Pairs = {}
    for first in {task.protocol.first_citations for task in tasks}:
        mine = [task.pk for task in tasks if task.protocol.first_citations == first]
        judged = TaskAnswer.objects.filter(task__in=mine, same_as=None).values("answer")
        pairs = counted_citations(first).filter(sentence__answer__in=judged).order_by()
        counts = dict(pairs.values_list("sentence__answer").annotate(Count("pk")))
        asked |= {(pk, answer): counts.get(answer, 0) for pk in mine for answer in answers[pk]}
    return asked


def missing_labels(tasks: Sequence[Task]) -> dict[int, int]:
    """Count the labels that tasks ask for by now and that were not in their newest submission, by task.

    For tasks that come with their protocol and belong to no study, which keeps to what was drawn.
    """
    answers = judged_answers(tasks)
    assigns = [task for task in tasks if task.stage == Stage.ASSIGN]
    supports = [task for task in tasks if task.stage != Stage.ASSIGN]
    asked = nuggets_asked(assigns, answers) | pairs_asked(supports, answers)
    given = _assignments_submitted(assigns) | _support_submitted(supports)
    missing = {pair: count - given.get(pair, 0) for pair, count in asked.items()}
    return {task.pk: sum(max(0, missing[task.pk, answer]) for answer in answers[task.pk]) for task in tasks}


def _assignments_submitted(tasks: Sequence[Task]) -> Pairs:
    rows = Assignment.objects.current().filter(nugget_version__in=listed_now(tasks))
    return _submitted(rows, tasks, "answer")


def _support_submitted(tasks: Sequence[Task]) -> Pairs:
    return _submitted(SupportJudgment.objects.current(), tasks, "sentence__answer")


def _submitted(labels: QuerySet[Any], tasks: Sequence[Task], answer: str) -> Pairs:
    """Count labels by the task whose submission gave them."""
    task_of = dict(Submission.objects.filter(task__in=tasks).values_list("event", "task"))
    # Labels have no index on their event: the answers find the rows.
    judged = TaskAnswer.objects.filter(task__in=tasks, same_as=None).values("answer")
    found = labels.filter(event__in=list(task_of), **{f"{answer}__in": judged}).order_by()
    counted = found.values_list("event", answer).annotate(Count("pk"))
    return {(task_of[event], answer_id): count for event, answer_id, count in counted}
