"""Units that judging stages ask about: nuggets in answers, citations, or, by default, each answer as a whole."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, QuerySet
from django.db.models.functions import Coalesce

from evaluation.corpus.runs import pool_of
from evaluation.domain.counted_pairs import counted_citations
from evaluation.labelling import give_grades
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Candidate,
    Citation,
    Judge,
    Judgment,
    ListedNugget,
    NuggetList,
    Qrel,
    SupportJudgment,
    Task,
    TaskAnswer,
    Verdict,
)
from evaluation.models.judges import source_of
from evaluation.models.querysets import CurrentQuerySet
from evaluation.stages import ASSIGN, BATTLE, GRADE, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from evaluation.stages.grade import HIGHEST
from evaluation.tasks.reading_load import sizes_of

Answers = Mapping[int, Sequence[int]]
"""Answers, passages or battles to judge by task; those whose labels another answer gives are left out."""

Units = dict[tuple[int, int], int]
"""Counts by task, and answer, passage or battle."""

KEY: Final = Coalesce("answer", "segment", "battle")
"""Of what a row of `TaskAnswer` stands for."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """An answer or a passage that can be judged. `units`: that it has to judge, for each nugget of a list."""

    pk: int
    public_id: str
    units: int


class Asking:
    """Each answer is one unit. `answer`: way from a submitted label to its answer; `without`: why a topic has no unit.

    `column`: of `TaskAnswer`, in which its tasks have what they judge. `later`: why a submitted task is reopened where
    there are more units in its answers by now. `reopens`: whether it is for more of them.
    """

    column: str = "answer"
    answer: str = "answer"
    without: str = "no answer of the judging pool has a word"
    later: str = ""
    reopens: bool = True
    with_citations: bool = False
    """Whether answers with the same text and other citations are two."""

    def labels_of(self, task: Task) -> CurrentQuerySet[Any]:
        """Return all labels that were ever submitted on what a task asks, by whomever."""
        return Judgment.objects.filter(stage=task.stage, topic=task.topic_id)

    def pool(self, campaign: Campaign, topics: Collection[int], first: int | None) -> dict[int, list[Pooled]]:
        """Return what can be judged by topic, as far as there is something to judge in it.

        An answer without a word has its labels by rule. `first`: how many citations of a sentence are judged.
        """
        provenance = AnswerProvenance.objects.filter(run__campaign=campaign, run__run_id__in=pool_of(campaign))
        # An empty answer supports no nugget by rule, so nobody judges it.
        provenance = provenance.filter(topic__in=topics, answer__words__gt=0)
        units = self.by_answer(provenance.values("answer"), first)
        by_topic: dict[int, list[Pooled]] = defaultdict(list)
        rows = provenance.order_by("pk").values_list("topic__pk", "answer", "answer__public_id")
        for topic, pk, public_id in rows:
            if units is None or pk in units:
                by_topic[topic].append(Pooled(pk, public_id, 1 if units is None else units[pk]))
        return by_topic

    def by_answer(self, answers: QuerySet[Any, Any], first: int | None) -> Mapping[int, int] | None:
        """Return how many units each of some answers has; None: one each. `first`: citations judged of a sentence."""
        return None

    def count(self, tasks: Sequence[Task], answers: Answers) -> Units:
        return {(task.pk, answer): 1 for task in tasks for answer in answers[task.pk]}

    def current(self, tasks: Sequence[Task]) -> QuerySet[Any, Any]:
        """Return the labels that stand and are on what tasks ask by now."""
        return Judgment.objects.current().filter(stage__in={task.stage for task in tasks})

    def settle(self, task: Task, judges: Iterable[Judge]) -> None:
        """Write what else follows from the labels that stand by now. Inside the transaction that changed them."""


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


class AskingPassages(Asking):
    """Passages that any source grades, that were found for the topic, or that the runs of the judging pool cite.

    No grade of others says which.
    """

    column = answer = "segment"
    without = "no passage with a text is graded or found for it or cited by the judging pool"
    # Grades of any LLM come one after the other, and each would reopen what people have finished.
    reopens = False

    def pool(self, campaign: Campaign, topics: Collection[int], first: int | None) -> dict[int, list[Pooled]]:
        graded = Qrel.objects.filter(source__campaign=campaign, topic__in=topics, segment__has_text=True)
        candidates = Candidate.objects.filter(topic__in=topics, segment__has_text=True)
        answers = super().pool(campaign, topics, first)
        cited = Citation.objects.filter(
            sentence__answer__in=[answer.pk for pool in answers.values() for answer in pool],
            segment__has_text=True,
        )
        rows = {
            *graded.values_list("topic__pk", "segment", "segment__public_id"),
            *candidates.values_list("topic__pk", "segment", "segment__public_id"),
            *cited.values_list("sentence__answer__topic__pk", "segment", "segment__public_id"),
        }
        by_topic: dict[int, list[Pooled]] = defaultdict(list)
        for topic, pk, public_id in sorted(rows):
            by_topic[topic].append(Pooled(pk, public_id, 1))
        return by_topic

    def settle(self, task: Task, judges: Iterable[Judge]) -> None:
        """Keep the grades of each judge on the task's topic as qrels, and nothing else under the judge's name."""
        for judge in judges:
            labels = self.labels_of(task).current().filter(judge=judge, label__lte=HIGHEST)
            grades = [
                Qrel(
                    topic_id=task.topic_id, segment_id=label.segment_id, grade=label.label, event_id=label.event_id
                )
                for label in labels
            ]
            give_grades(task.campaign, source_of(judge), grades)
            others = Qrel.objects.filter(
                source__campaign=task.campaign, source__name=source_of(judge), topic=task.topic_id
            )
            others.exclude(segment__in=labels.values("segment")).delete()


class AskingBattles(Asking):
    """Battles of a set, which a hand-out deals: no task gets others later. See `evaluation.tasks.battles`."""

    column = answer = "battle"
    without = "no battle of it is left to hand out"

    def labels_of(self, task: Task) -> CurrentQuerySet[Any]:
        return Verdict.objects.filter(battle__in=TaskAnswer.objects.filter(task=task).values("battle"))

    def pool(self, campaign: Campaign, topics: Collection[int], first: int | None) -> dict[int, list[Pooled]]:
        return {}

    def current(self, tasks: Sequence[Task]) -> QuerySet[Any, Any]:
        return Verdict.objects.current()


ANSWERS: Final = Asking()
CITATIONS: Final = AskingCitations()
ASKING: Final[dict[Stage, Asking]] = {
    ASSIGN: AskingNuggets(),
    SUPPORT_SCRATCH: CITATIONS,
    SUPPORT_POST_EDIT: CITATIONS,
    GRADE: AskingPassages(),
    BATTLE: AskingBattles(),
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
