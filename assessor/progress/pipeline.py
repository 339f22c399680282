"""Topics of a campaign by stage of the pipeline: the counts of Today, and the rows that they open in Work."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Final

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from accounts.models import User
from assessor.progress.matrix import counted, tasks_for
from evaluation.corpus.topics import topics_for
from evaluation.domain.counted_pairs import counted_citations
from evaluation.models import Answer, Assignment, Campaign, ListedNugget, NuggetList, Qrel, SupportJudgment
from evaluation.terms import AssignmentLabel, Origin, Stage, SupportLabel, TaskState


class Step(StrEnum):
    """Stage of the pipeline that is counted in topics."""

    PASSAGES = "passages"
    NUGGETS = "nuggets"
    LABELS = "labels"
    CITATIONS = "citations"

    @property
    def stages(self) -> tuple[Stage, ...]:
        return {
            Step.NUGGETS: (Stage.POST_EDIT, Stage.MANUAL),
            Step.LABELS: (Stage.ASSIGN,),
            Step.CITATIONS: (Stage.SUPPORT_SCRATCH, Stage.SUPPORT_POST_EDIT),
        }.get(self, ())


class StepState(StrEnum):
    """State of a topic at a step. Ready: it could be handed out or judged; waiting: the step before is not done."""

    DONE = "done"
    IN_PROGRESS = "in progress"
    BLOCKED = "blocked"
    NOT_BEGUN = "not begun"
    READY = "ready"
    WAITING = "waiting"


STEP_STATES: Final = [(f"{step}:{state}", f"{step.capitalize()}: {state}") for step in Step for state in StepState]
"""Choices of the search in Work: the topics behind one count of Today."""
Labelled = Mapping[int, tuple[int, int]]
"""By topic: how many labels the fullest judge gave, and how many there are to give; 0 where no answer has words."""


@dataclass(frozen=True, slots=True)
class PipelineTopic:
    pk: int
    public_id: str
    topic_id: str


@dataclass(frozen=True, slots=True)
class PipelineTask:
    topic: int
    public_id: str
    stage: Stage
    state: str
    assessor: User
    due: date | None


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Every topic's state at every step; `lists`: the origins of the lists that each topic has."""

    topics: tuple[PipelineTopic, ...]
    states: Mapping[Step, Mapping[int, StepState]]
    tasks: tuple[PipelineTask, ...]
    lists: frozenset[tuple[int, str]]

    def topics_at(self, step: Step, *states: StepState) -> list[PipelineTopic]:
        return [topic for topic in self.topics if self.states[step][topic.pk] in states]

    def has_list(self, topic: PipelineTopic, origin: Origin) -> bool:
        return (topic.pk, origin) in self.lists

    def tasks_of(self, step: Step, *states: TaskState) -> list[PipelineTask]:
        stages = step.stages
        return [task for task in self.tasks if task.stage in stages and (not states or task.state in states)]


def pipeline_for(viewer: User, campaign: Campaign) -> Pipeline:
    """Return the states of all topics: a dozen queries at most, however many topics."""
    seen = topics_for(viewer, campaign)
    topics = tuple(PipelineTopic(*row) for row in seen.values_list("pk", "public_id", "topic_id"))
    rows = counted(tasks_for(viewer, campaign)).filter(second_opinion=False).order_by("topic__position", "pk")
    found = list(rows.values_list("topic_id", "public_id", "stage", "state", "assessor_id", "due"))
    # A few people have hundreds of tasks: each of them is read once.
    people = User.objects.in_bulk({assessor for *_, assessor, _ in found})
    tasks = tuple(
        PipelineTask(topic, public_id, Stage(stage), state, people[assessor], due)
        for topic, public_id, stage, state, assessor, due in found
    )
    graded = set(Qrel.objects.filter(source__campaign=campaign).values_list("topic__pk", flat=True).distinct())
    lists = frozenset(_lists(campaign).values_list("topic__pk", "nugget_set__origin"))
    listed = {topic for topic, origin in lists if origin != Origin.DRAFT}
    keys = [topic.pk for topic in topics]
    to_read = graded_to_read(campaign).filter(topic=OuterRef("pk"))
    readable = set(seen.filter(Exists(to_read)).values_list("pk", flat=True))
    passages = {pk: StepState.DONE if pk in graded else StepState.READY for pk in keys}
    of_tasks = {step: _of_tasks(step, tasks, keys) for step in Step}
    nuggets = {
        pk: of_tasks[Step.NUGGETS].get(pk) or _without_task(done=pk in listed, begins=pk in readable)
        for pk in keys
    }
    final = {pk for pk, state in nuggets.items() if state is StepState.DONE}
    first = campaign.protocol.first_citations
    labels = _labels(campaign, *campaign.revision_key)
    citations = _citations(campaign, first, *campaign.revision_key)
    states = {
        Step.PASSAGES: passages,
        Step.NUGGETS: nuggets,
        Step.LABELS: _judged(keys, of_tasks[Step.LABELS], labels, final),
        Step.CITATIONS: _judged(keys, of_tasks[Step.CITATIONS], citations, None),
    }
    return Pipeline(topics, states, tasks, lists)


def graded_to_read(campaign: Campaign) -> QuerySet[Qrel]:
    """Grades that put a passage among those to read: of others nobody can make a list."""
    threshold = campaign.protocol.grade_threshold
    graded = Qrel.objects.filter(source__campaign=campaign, grade__gte=threshold, segment__has_text=True)
    return graded.order_by()


def topics_at_step(viewer: User, campaign: Campaign, choice: str) -> list[int]:
    """Keys of the topics that one of `STEP_STATES` means."""
    step, _, state = choice.partition(":")
    return [topic.pk for topic in pipeline_for(viewer, campaign).topics_at(Step(step), StepState(state))]


def _of_tasks(step: Step, tasks: Iterable[PipelineTask], keys: Iterable[int]) -> dict[int, StepState]:
    by_topic: dict[int, set[str]] = defaultdict(set)
    stages = step.stages
    for task in tasks:
        if task.stage in stages:
            by_topic[task.topic].add(task.state)
    return {pk: _of_states(by_topic[pk]) for pk in keys if pk in by_topic}


def _of_states(states: set[str]) -> StepState:
    if TaskState.BLOCKED in states:
        return StepState.BLOCKED
    if states == {TaskState.SUBMITTED}:
        return StepState.DONE
    return StepState.NOT_BEGUN if states == {TaskState.NOT_STARTED} else StepState.IN_PROGRESS


def _without_task(*, done: bool, begins: bool) -> StepState:
    if done:
        return StepState.DONE
    return StepState.READY if begins else StepState.WAITING


def _judged(
    keys: Iterable[int], of_tasks: dict[int, StepState], labelled: Labelled, final: set[int] | None
) -> dict[int, StepState]:
    """States by people's tasks where there are any, else by the labels of the fullest judge."""
    found = {}
    for pk in keys:
        given, wanted = labelled.get(pk, (0, 0))
        begins = bool(wanted) and (final is None or pk in final)
        if of_tasks:
            found[pk] = of_tasks.get(pk) or _without_task(done=False, begins=begins)
        elif given and given < wanted:
            found[pk] = StepState.IN_PROGRESS
        else:
            found[pk] = _without_task(done=pk in labelled and given >= wanted, begins=begins)
    return found


def _lists(campaign: Campaign) -> QuerySet[NuggetList]:
    return NuggetList.objects.newest_submitted().filter(nugget_set__campaign=campaign).order_by()


@lru_cache(maxsize=16)
def _labels(campaign: Campaign, _made: datetime, _revision: int) -> Labelled:
    lists = _lists(campaign).exclude(nugget_set__origin=Origin.DRAFT)
    listed = ListedNugget.objects.filter(nugget_list__in=lists).order_by()
    rows = Answer.objects.filter(topic__campaign=campaign).order_by().values_list("topic")
    # An answer without words is labelled by rule: neither a job nor a desk has it.
    answers = dict(rows.annotate(number=Count("pk", filter=Q(words__gt=0))))
    sizes = listed.values_list("nugget_list__nugget_set", "nugget_list__topic").annotate(Count("pk"))
    wanted = {(made, topic): number * answers[topic] for made, topic, number in sizes if topic in answers}
    given = Assignment.objects.current().filter(nugget_version__in=listed.values("nugget_version"))
    given = given.filter(judge__aside=False, answer__words__gt=0)
    given = given.exclude(label=AssignmentLabel.FAILED).order_by()
    nugget = "nugget_version__nugget"
    by_judge = given.values_list(f"{nugget}__nugget_set", f"{nugget}__topic", "judge")
    labels: dict[tuple[int, int], int] = defaultdict(int)
    for made, topic, _judge, number in by_judge.annotate(Count("pk")):
        labels[made, topic] = max(labels[made, topic], number)
    found: dict[int, tuple[int, int]] = {}
    for (made, topic), number in wanted.items():
        now = labels[made, topic], number
        # Of several lists of a topic the one that is labelled furthest.
        found[topic] = max(found.get(topic, now), now, key=lambda pair: pair[0] / (pair[1] or 1))
    return found


@lru_cache(maxsize=16)
def _citations(campaign: Campaign, first: int | None, _made: datetime, _revision: int) -> Labelled:
    pairs = counted_citations(first).filter(sentence__answer__topic__campaign=campaign)
    topic = "sentence__answer__topic"
    wanted = dict(pairs.values_list(topic).annotate(Count("pk")))
    counts = pairs.filter(sentence=OuterRef("sentence"), segment=OuterRef("segment"))
    given = SupportJudgment.objects.current().filter(Exists(counts), judge__aside=False)
    given = given.filter(sentence__answer__topic__campaign=campaign).exclude(label=SupportLabel.FAILED)
    rows = given.order_by().values_list(topic, "judge", "condition")
    labels: dict[int, int] = defaultdict(int)
    for key, _judge, _condition, number in rows.annotate(Count("pk")):
        labels[key] = max(labels[key], number)
    return {key: (labels[key], number) for key, number in wanted.items()}
