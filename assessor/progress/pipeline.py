"""Topics of a campaign by stage of the pipeline: the counts of Today, and the rows that they open in Work."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TypeAlias

from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import User
from assessor.progress.labelled import Labelled, citations_of, labels_of, standing_lists
from assessor.progress.matrix import tasks_for
from evaluation.corpus.topics import topics_for
from evaluation.models import Battle, Campaign, Judgment, Qrel, Verdict
from evaluation.stages import STAGES, Stage, stage_of
from evaluation.terms import Origin, TaskState


class Step(StrEnum):
    """Stage of the pipeline that is counted in topics."""

    PASSAGES = "passages"
    NUGGETS = "nuggets"
    LABELS = "labels"
    CITATIONS = "citations"

    @property
    def stages(self) -> tuple[Stage, ...]:
        belongs = {
            Step.PASSAGES: lambda stage: stage.gives_grades,
            Step.NUGGETS: lambda stage: not stage.judges,
            Step.LABELS: lambda stage: stage.by_list,
            Step.CITATIONS: lambda stage: stage.condition,
        }[self]
        return tuple(filter(belongs, STAGES.values()))


AnyStep: TypeAlias = Step | Stage
"""A judging stage without a step among the four is one of its own."""


def own_steps() -> list[Stage]:
    stepped = {stage for step in Step for stage in step.stages}
    return [stage for stage in STAGES.values() if stage not in stepped]


def words_of_step(step: AnyStep) -> str:
    return step.words if isinstance(step, Stage) else step.capitalize()


def step_named(name: str) -> AnyStep:
    return stage_of(name) if name in STAGES else Step(name)


class StepState(StrEnum):
    """State of a topic at a step. Ready: it could be handed out or judged; waiting: the step before is not done."""

    DONE = "done"
    IN_PROGRESS = "in progress"
    BLOCKED = "blocked"
    NOT_BEGUN = "not begun"
    READY = "ready"
    WAITING = "waiting"


def step_states() -> list[tuple[str, str]]:
    steps = (*Step, *own_steps())
    return [(f"{step}:{state}", f"{words_of_step(step)}: {state}") for step in steps for state in StepState]


@dataclass(frozen=True, slots=True)
class PipelineTopic:
    pk: int
    public_id: str
    topic_id: str


@dataclass(frozen=True, slots=True)
class PipelineTask:
    """A task. `counts`: its labels count, which those of second opinions and of studies do not."""

    topic: int
    public_id: str
    stage: Stage
    state: str
    assessor: User
    due: date | None
    counts: bool


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Every topic's state at every step; `lists`: the origins of the lists that each topic has.

    `complete`: by step, the topics that lack nothing that counts, whatever is still looked at again. A stage that is a
    step of its own is here from its first task or label on.
    """

    topics: tuple[PipelineTopic, ...]
    states: Mapping[AnyStep, Mapping[int, StepState]]
    complete: Mapping[AnyStep, frozenset[int]]
    tasks: tuple[PipelineTask, ...]
    lists: frozenset[tuple[int, str]]

    def topics_at(self, step: AnyStep, *states: StepState) -> list[PipelineTopic]:
        return [topic for topic in self.topics if self.states[step][topic.pk] in states]

    def has_list(self, topic: PipelineTopic, origin: Origin) -> bool:
        return (topic.pk, origin) in self.lists

    def tasks_of(self, step: AnyStep, *states: TaskState) -> list[PipelineTask]:
        stages = _stages_of(step)
        return [task for task in self.tasks if task.stage in stages and (not states or task.state in states)]

    def counting_tasks_of(self, step: AnyStep) -> list[PipelineTask]:
        return [task for task in self.tasks_of(step) if task.counts]


def pipeline_for(viewer: User, campaign: Campaign) -> Pipeline:
    """Return the states of all topics: a dozen queries at most, however many topics."""
    seen = topics_for(viewer, campaign)
    topics = tuple(PipelineTopic(*row) for row in seen.values_list("pk", "public_id", "topic_id"))
    tasks = _tasks_for(viewer, campaign)
    graded = set(Qrel.objects.filter(source__campaign=campaign).values_list("topic__pk", flat=True).distinct())
    lists = frozenset(standing_lists(campaign).values_list("topic__pk", "nugget_set__origin"))
    listed = {topic for topic, origin in lists if origin != Origin.DRAFT}
    keys = [topic.pk for topic in topics]
    to_read = graded_to_read(campaign).filter(topic=OuterRef("pk"))
    readable = set(seen.filter(Exists(to_read)).values_list("pk", flat=True))
    counting = [task for task in tasks if task.counts]
    of_tasks = {step: _of_tasks(step, counting, keys) for step in Step}
    passages = {
        pk: of_tasks[Step.PASSAGES].get(pk) or _without_task(done=pk in graded, begins=True) for pk in keys
    }
    nuggets = {
        pk: of_tasks[Step.NUGGETS].get(pk) or _without_task(done=pk in listed, begins=pk in readable)
        for pk in keys
    }
    final = {pk for pk, state in nuggets.items() if state is StepState.DONE}
    labels, citations = labels_of(campaign), citations_of(campaign)
    states: dict[AnyStep, Mapping[int, StepState]] = {
        Step.PASSAGES: passages,
        Step.NUGGETS: nuggets,
        Step.LABELS: _judged(keys, of_tasks[Step.LABELS], labels, final),
        Step.CITATIONS: _judged(keys, of_tasks[Step.CITATIONS], citations, None),
    }
    states |= _of_stages(campaign, counting, keys)
    complete = {
        step: frozenset(pk for pk, state in of_step.items() if state is StepState.DONE)
        for step, of_step in states.items()
    }
    seconds = [task for task in tasks if not task.counts]
    looked_at = {
        step: _looked_at_again(of_step, _of_tasks(step, seconds, keys)) for step, of_step in states.items()
    }
    return Pipeline(topics, looked_at, complete, tasks, lists)


def _tasks_for(viewer: User, campaign: Campaign) -> tuple[PipelineTask, ...]:
    rows = tasks_for(viewer, campaign).not_withdrawn().order_by("topic__position", "pk")
    fields = ("topic_id", "public_id", "stage", "state", "assessor_id", "due", "second_opinion", "study_id")
    task_rows = list(rows.values_list(*fields))
    # A few people have hundreds of tasks: each of them is read once.
    people = User.objects.in_bulk({assessor for *_, assessor, _, _, _ in task_rows})
    return tuple(
        PipelineTask(topic, public_id, stage, state, people[assessor], due, not (second or study))
        for topic, public_id, stage, state, assessor, due, second, study in task_rows
    )


def _looked_at_again(states: Mapping[int, StepState], seconds: Mapping[int, StepState]) -> Mapping[int, StepState]:
    """States with the tasks of second opinions and studies, which begin nothing: what has an open one is not done."""
    open_ones = {pk: state for pk, state in seconds.items() if state is not StepState.DONE}
    blocked = {pk: state for pk, state in open_ones.items() if state is StepState.BLOCKED}
    done = {pk: StepState.IN_PROGRESS for pk in open_ones if states[pk] is StepState.DONE}
    return {**states, **done, **blocked}


def _of_stages(
    campaign: Campaign, tasks: Sequence[PipelineTask], keys: Iterable[int]
) -> dict[AnyStep, Mapping[int, StepState]]:
    judgments = Judgment.objects.current().filter(topic__campaign=campaign, judge__aside=False).order_by()
    labelled = defaultdict[str, set[int]](set)
    for name, topic in judgments.values_list("stage", "topic__pk").distinct():
        labelled[name].add(topic)
    battles = _of_battles(campaign)
    states: dict[AnyStep, Mapping[int, StepState]] = {}
    for stage in own_steps():
        of_tasks = _of_tasks(stage, tasks, keys)
        if stage.dealt:
            of_labels = dict.fromkeys(keys, StepState.WAITING) | battles
        else:
            of_labels = dict.fromkeys(keys, StepState.READY) | dict.fromkeys(
                labelled[stage], StepState.IN_PROGRESS
            )
        of_stage = of_labels | of_tasks
        if set(of_stage.values()) - {StepState.READY, StepState.WAITING}:
            states[stage] = of_stage
    return states


def _of_battles(campaign: Campaign) -> dict[int, StepState]:
    """States of the topics with battles, by whether anybody has judged each of them."""
    verdicts = Verdict.objects.current().filter(battle=OuterRef("pk"), judge__aside=False)
    battles = Battle.objects.filter(battle_set__campaign=campaign).order_by()
    judged = defaultdict[int, set[bool]](set)
    for topic, is_judged in battles.values_list("topic__pk", Exists(verdicts)).distinct():
        judged[topic].add(is_judged)
    by_judged = {frozenset([True]): StepState.DONE, frozenset([False]): StepState.READY}
    return {topic: by_judged.get(frozenset(each), StepState.IN_PROGRESS) for topic, each in judged.items()}


def graded_to_read(campaign: Campaign) -> QuerySet[Qrel]:
    """Grades that put a passage among those to read: of others nobody can make a list."""
    threshold = campaign.protocol.grade_threshold
    graded = Qrel.objects.filter(source__campaign=campaign, grade__gte=threshold, segment__has_text=True)
    return graded.order_by()


def topics_at_step(viewer: User, campaign: Campaign, choice: str) -> list[int]:
    name, _, state = choice.partition(":")
    pipeline, step = pipeline_for(viewer, campaign), step_named(name)
    # Nobody has begun a stage that has no states.
    return [topic.pk for topic in pipeline.topics_at(step, StepState(state))] if step in pipeline.states else []


def _stages_of(step: AnyStep) -> tuple[Stage, ...]:
    return (step,) if isinstance(step, Stage) else step.stages


def _of_tasks(step: AnyStep, tasks: Iterable[PipelineTask], keys: Iterable[int]) -> dict[int, StepState]:
    by_topic: dict[int, set[str]] = defaultdict(set)
    stages = _stages_of(step)
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
    """States by people's tasks of a topic where it has any, else by the labels of the fullest judge."""
    states = {}
    for pk in keys:
        labels, asked = labelled.get(pk, (0, 0))
        begins = bool(asked) and (final is None or pk in final)
        if pk in of_tasks:
            states[pk] = of_tasks[pk]
        elif labels and labels < asked:
            states[pk] = StepState.IN_PROGRESS
        else:
            states[pk] = _without_task(done=pk in labelled and labels >= asked, begins=begins)
    return states
