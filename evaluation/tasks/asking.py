"""Units that judging stages ask about: nuggets in answers, citations, or, by default, each answer as a whole."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from django.db.models import Count, QuerySet

from evaluation.domain.counted_pairs import counted_citations
from evaluation.models import Assignment, Judgment, ListedNugget, NuggetList, SupportJudgment, Task, TaskAnswer
from evaluation.models.querysets import CurrentQuerySet
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from evaluation.tasks.reading_load import sizes_of

Answers = Mapping[int, Sequence[int]]
"""Answers to judge by task; those whose labels another answer gives are left out."""

Units = dict[tuple[int, int], int]
"""Counts by task and answer."""


class Asking:
    """Each answer is one unit. `answer`: way from a submitted label to its answer; `without`: why a topic has no unit.

    `later`: why a submitted task is reopened where there are more units in its answers by now.
    """

    answer: str = "answer"
    without: str = "no answer of the judging pool has a word"
    later: str = ""
    with_citations: bool = False
    """Whether answers with the same text and other citations are two."""

    def labels_of(self, task: Task) -> CurrentQuerySet[Any]:
        """Return all labels that were ever submitted on what a task asks, by whomever."""
        return Judgment.objects.filter(stage=task.stage, topic=task.topic_id)

    def by_answer(self, answers: QuerySet[Any, Any], first: int | None) -> Mapping[int, int] | None:
        """Return how many units each of some answers has; None: one each. `first`: citations judged of a sentence."""
        return None

    def count(self, tasks: Sequence[Task], answers: Answers) -> Units:
        return {(task.pk, answer): 1 for task in tasks for answer in answers[task.pk]}

    def current(self, tasks: Sequence[Task]) -> QuerySet[Any, Any]:
        """Return the labels that stand and are on what tasks ask by now."""
        return Judgment.objects.current().filter(stage__in={task.stage for task in tasks})


class AskingNuggets(Asking):
    def labels_of(self, task: Task) -> CurrentQuerySet[Any]:
        return Assignment.objects.filter(
            answer__topic=task.topic_id, nugget_version__nugget__nugget_set=task.nugget_set_id
        )

    def count(self, tasks: Sequence[Task], answers: Answers) -> Units:
        lists = _newest_lists(tasks)
        sizes = sizes_of(lists.values())
        listed = {task.pk: sizes.get(lists.get((task.nugget_set_id or 0, task.topic_id), 0), 0) for task in tasks}
        return {(task.pk, answer): listed[task.pk] for task in tasks for answer in answers[task.pk]}

    def current(self, tasks: Sequence[Task]) -> QuerySet[Any, Any]:
        return Assignment.objects.current().filter(nugget_version__in=listed_now(tasks))


class AskingCitations(Asking):
    answer = "sentence__answer"
    without = "no answer of the judging pool cites a passage whose text is loaded"
    later = "Citations to judge whose text came later"
    with_citations = True

    def labels_of(self, task: Task) -> CurrentQuerySet[Any]:
        return SupportJudgment.objects.filter(
            sentence__answer__topic=task.topic_id, condition=task.stage.condition
        )

    def by_answer(self, answers: QuerySet[Any, Any], first: int | None) -> Mapping[int, int]:
        cited = counted_citations(first).filter(sentence__answer__in=answers).order_by()
        return dict(cited.values_list("sentence__answer").annotate(Count("pk")))

    def count(self, tasks: Sequence[Task], answers: Answers) -> Units:
        """A query for each number of citations that protocols judge."""
        numbers: Units = {}
        for first in {task.protocol.first_citations for task in tasks}:
            mine = [task.pk for task in tasks if task.protocol.first_citations == first]
            counts = self.by_answer(TaskAnswer.objects.filter(task__in=mine, same_as=None).values("answer"), first)
            numbers |= {(pk, answer): counts.get(answer, 0) for pk in mine for answer in answers[pk]}
        return numbers

    def current(self, tasks: Sequence[Task]) -> QuerySet[Any, Any]:
        return SupportJudgment.objects.current()


ANSWERS: Final = Asking()
CITATIONS: Final = AskingCitations()
ASKING: Final[dict[Stage, Asking]] = {
    ASSIGN: AskingNuggets(),
    SUPPORT_SCRATCH: CITATIONS,
    SUPPORT_POST_EDIT: CITATIONS,
}
"""Of the stages whose units are not whole answers."""


def asking_of(stage: Stage) -> Asking:
    return ASKING.get(stage, ANSWERS)


def by_asking(tasks: Iterable[Task]) -> Iterator[tuple[Asking, list[Task]]]:
    groups: dict[Asking, list[Task]] = defaultdict(list)
    for task in tasks:
        groups[asking_of(task.stage)].append(task)
    yield from groups.items()


def listed_now(tasks: Sequence[Task]) -> QuerySet[Any, Any]:
    """Return the wordings of the newest submitted lists that tasks assign."""
    return ListedNugget.objects.filter(nugget_list__in=_newest_lists(tasks).values()).values("nugget_version")


def _newest_lists(tasks: Sequence[Task]) -> dict[tuple[int, int], int]:
    lists = NuggetList.objects.newest_submitted().filter(
        nugget_set__in={task.nugget_set_id for task in tasks}, topic__in={task.topic_id for task in tasks}
    )
    rows = lists.values_list("nugget_set", "topic__pk", "pk")
    return {(nugget_set, topic): pk for nugget_set, topic, pk in rows}
