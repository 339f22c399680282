"""Stages of the pipeline as Today shows them: counts, a bar, and one act each, by a fixed rule."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from django.db.models import Count
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from accounts.models import User
from assessor.progress.pipeline import (
    AnyStep,
    Pipeline,
    PipelineTopic,
    Step,
    StepState,
    graded_to_read,
    pipeline_for,
    words_of_step,
)
from evaluation.campaigns.access import may_organize
from evaluation.campaigns.contents import holdings_for
from evaluation.campaigns.create import PresetName, preset_of
from evaluation.errors import Refused
from evaluation.models import Campaign, Membership, Remark, Task
from evaluation.rules.tasks import ACTIVE
from evaluation.stages import Stage
from evaluation.tasks.plan import plan_hand_out
from evaluation.tasks.remarks import reminded_today
from evaluation.tasks.units import Order
from evaluation.terms import Origin, RemarkKind, TaskState
from exchange.models import Snapshot
from llmjobs.client import default_endpoint
from llmjobs.job_service import Work
from llmjobs.job_status import callable_judges_for
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from organizer.navigation import page_in
from web.text import plural

JOBS = {Step.NUGGETS: Work.NUGGETS, Step.CITATIONS: Work.SUPPORT}
HAND_OUT_INPUTS = ("qrels", "drafts", "judge")
"""Fields of a hand-out that name the grades, the drafts or the LLM whose labels are shown."""
LABELLED = ((Work.AA, Origin.AUTO), (Work.EA, Origin.EDITED), (Work.MA, Origin.MANUAL))
"""Labelling jobs and the lists that they label; where several fit equally many topics, the first is offered."""
JOB_WORDS = {Step.NUGGETS: "Make nuggets", Step.LABELS: "Label answers", Step.CITATIONS: "Judge citations"}


@dataclass(frozen=True, slots=True)
class NextAct:
    """Next act of a stage. Without a link nobody has anything to do: the caption says whom it waits for."""

    caption: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class StageShare:
    """Part of a stage's topics: its count, where its rows are, and its place in the bar in percent."""

    state: str
    count: int
    link: str
    start: float = 0.0
    width: float = 0.0


@dataclass(frozen=True, slots=True)
class StageCard:
    """One stage. `head` is in words where it does not count topics."""

    name: str
    act: NextAct
    done: StageShare | None = None
    others: tuple[StageShare, ...] = ()
    topics: int = 0
    head: str = ""
    note: str = ""
    primary: bool = False

    @property
    def drawn(self) -> list[StageShare]:
        states = (StepState.DONE, StepState.IN_PROGRESS, StepState.BLOCKED)
        return [share for share in (self.done, *self.others) if share and share.state in states and share.count]


def cards_of(
    campaign: Campaign,
    pipeline: Pipeline,
    flags: Sequence[Remark],
    running: Iterable[str],
    *,
    acts: bool,
    primary: bool,
) -> list[StageCard]:
    """Cards of the stages; with `primary` the first that can move has the primary button."""
    titles = set(running)
    cards = [_card(campaign, pipeline, step, flags, titles) for step in pipeline.states]
    labelled = bool(pipeline.topics_at(Step.LABELS, StepState.DONE, StepState.IN_PROGRESS))
    cards.append(_publish(campaign, labelled=labelled))
    if not acts:
        return [replace(card, act=NextAct("" if card.act.link else card.act.caption)) for card in cards]
    first = next((place for place, card in enumerate(cards) if card.act.link), None)
    return [replace(card, primary=primary and place == first) for place, card in enumerate(cards)]


def _card(
    campaign: Campaign, pipeline: Pipeline, step: AnyStep, flags: Sequence[Remark], titles: set[str]
) -> StageCard:
    shares, start = [], 0.0
    for state in StepState:
        count = len(pipeline.topics_at(step, state))
        width = 100 * count / max(len(pipeline.topics), 1)
        link = page_in(campaign, "work", step=f"{step}:{state}")
        shares.append(StageShare(state, count, link, round(start, 2), round(width, 2)))
        start += width
    done, *others = shares
    return StageCard(
        name=words_of_step(step),
        act=_act(campaign, pipeline, step, flags, titles),
        done=done,
        others=tuple(share for share in others if share.count),
        topics=len(pipeline.topics),
    )


def _act(
    campaign: Campaign, pipeline: Pipeline, step: AnyStep, flags: Sequence[Remark], titles: set[str]
) -> NextAct:
    """The first act of the rule that applies."""
    return (
        _unblocking(campaign, pipeline, step, flags)
        or _handing_out(campaign, pipeline, step)
        or _job(campaign, pipeline, step, titles)
        or _reminding(campaign, pipeline, step)
        or _waiting(pipeline, step)
    )


def _unblocking(campaign: Campaign, pipeline: Pipeline, step: AnyStep, flags: Sequence[Remark]) -> NextAct | None:
    blocked = {task.public_id: task for task in pipeline.tasks_of(step, TaskState.BLOCKED)}
    for flag in flags:
        if flag.kind == RemarkKind.FLAG and flag.task.public_id in blocked:
            name, page = flag.task.assessor.name.split()[0], page_in(campaign, "today", answer=flag.public_id)
            return NextAct(f"Answer {name}'s flag", f"{page}#remark-{flag.public_id}")
    for task in blocked.values():
        topic = next(topic.topic_id for topic in pipeline.topics if topic.pk == task.topic)
        return NextAct(f"Unblock {topic}", page_in(campaign, "task", task.public_id))
    return None


def _handing_out(campaign: Campaign, pipeline: Pipeline, step: AnyStep) -> NextAct | None:
    ready = pipeline.topics_at(step, StepState.READY)
    used = Counter(task.stage for task in pipeline.counting_tasks_of(step))
    # Work that nobody was handed so far is for an LLM, until an organizer hands out the first of it.
    if not ready or not used:
        return None
    stage = used.most_common(1)[0][0]
    ground = _inputs_of_last_task(campaign, stage)
    try:
        qrels, drafts, llm = (ground.get(field, "") for field in HAND_OUT_INPUTS)
        ids = tuple(topic.public_id for topic in ready)
        plan = plan_hand_out(campaign, Order(stage, ids, qrels=qrels, drafts=drafts, judge=llm))
    except Refused:
        return None
    # A topic that nobody may have, or that has nothing to read, would open an empty form.
    planned_topics = {piece.topic.pk for piece in plan.given}
    ready = [topic for topic in ready if topic.pk in planned_topics]
    if not ready:
        return None
    query = {"stage": stage, "choose": "ticked", **ground, "topics": [topic.public_id for topic in ready]}
    return NextAct(f"Hand out {_named(ready)}", page_in(campaign, "hand_out", **query))


def _inputs_of_last_task(campaign: Campaign, stage: Stage) -> dict[str, str]:
    """Grades, drafts or LLM of a stage's last task, by name, so that the next tasks have the same."""
    tasks = Task.objects.filter(campaign=campaign, stage=stage, study=None)
    names = tasks.order_by("-pk").values_list("qrels__name", "drafts__nugget_set__name", "judge__name")[0]
    return {field: name for field, name in zip(HAND_OUT_INPUTS, names, strict=True) if name}


def _job(campaign: Campaign, pipeline: Pipeline, step: AnyStep, titles: set[str]) -> NextAct | None:
    tasks = pipeline.counting_tasks_of(step)
    states = [StepState.READY] if tasks else [StepState.READY, StepState.IN_PROGRESS]
    complete = pipeline.complete[step]
    ready = [topic for topic in pipeline.topics_at(step, *states) if topic.pk not in complete]
    if not ready or isinstance(step, Stage):
        return None
    if step is Step.PASSAGES:
        return NextAct("Load passages", page_in(campaign, "new_import", "qrels"))
    work, ready = _missing_work(pipeline, step, ready)
    if not ready:
        return None
    words = "Make drafts" if work is Work.DRAFTS else JOB_WORDS[step]
    if work.job_title in titles:
        return NextAct("Waiting for a job")
    grades = _grades_to_read(campaign, ready) if step is Step.NUGGETS else {}
    query = {"what": work, **grades, "topics": [topic.topic_id for topic in ready]}
    return NextAct(f"{words}: {_named(ready)}", page_in(campaign, "new_job", **query))


def _grades_to_read(campaign: Campaign, topics: Sequence[PipelineTopic]) -> dict[str, str]:
    """Source of grades by which most of the topics have something to read, where there are several sources."""
    if campaign.qrel_sources.count() < 2:
        return {}
    read = graded_to_read(campaign).filter(topic__in=[topic.pk for topic in topics]).values("source__name")
    counted = read.annotate(topics=Count("topic", distinct=True)).order_by("-topics", "source__name")
    return {"qrels": counted[0]["source__name"]}


def _missing_work(pipeline: Pipeline, step: Step, ready: list[PipelineTopic]) -> tuple[Work, list[PipelineTopic]]:
    if step is Step.LABELS:
        listed = [
            (work, [topic for topic in ready if pipeline.has_list(topic, origin)]) for work, origin in LABELLED
        ]
        return max(listed, key=lambda found: len(found[1]))
    if step is Step.NUGGETS and pipeline.counting_tasks_of(step):
        return Work.DRAFTS, [topic for topic in ready if not pipeline.has_list(topic, Origin.DRAFT)]
    return JOBS[step], ready


def _reminding(campaign: Campaign, pipeline: Pipeline, step: AnyStep) -> NextAct | None:
    today = timezone.localdate()
    late = {task.assessor for task in pipeline.tasks_of(step, *ACTIVE) if task.due and task.due < today}
    # Whoever was reminded today is waited for.
    done = reminded_today(campaign) if late else ()
    people = sorted((person for person in late if person.pk not in done), key=lambda person: person.name)
    if not people:
        return None
    whom = people[0].name.split()[0] if len(people) == 1 else f"{len(people)} people"
    return NextAct(f"Remind {whom}", page_in(campaign, "remind", people=[person.username for person in people]))


def _waiting(pipeline: Pipeline, step: AnyStep) -> NextAct:
    if pipeline.topics and len(pipeline.topics_at(step, StepState.DONE)) == len(pipeline.topics):
        return NextAct("Done")
    people = Counter(task.assessor.name.split()[0] for task in pipeline.tasks_of(step, *ACTIVE))
    if people:
        return NextAct("Waiting for " + ", ".join(f"{name} ({number})" for name, number in people.most_common(3)))
    earlier = Step.NUGGETS if step is Step.LABELS and pipeline.topics_at(step, StepState.WAITING) else None
    if pipeline.topics_at(step, StepState.READY):
        return NextAct("Waiting for somebody who may do it")
    if isinstance(step, Stage):
        return NextAct(f"Waiting for {step.labelled.lower()}")
    return NextAct(f"Waiting for {earlier or ('passages to read' if step is Step.NUGGETS else 'answers')}")


def _publish(campaign: Campaign, *, labelled: bool) -> StageCard:
    snapshot = Snapshot.objects.filter(campaign=campaign).values_list("manifest__revision", "made_at").first()
    current = snapshot is not None and snapshot[0] == campaign.revision
    note = (
        f"last snapshot {date_format(timezone.localtime(snapshot[1]), 'j M Y, H:i')}"
        if snapshot
        else "no snapshot yet"
    )
    act = NextAct("Take a snapshot", page_in(campaign, "snapshots")) if labelled else NextAct("Waiting for labels")
    if current:
        act = NextAct("Methods for the paper", reverse("reports:methods", args=[campaign.slug]))
    head = "current" if current else "out of date" if snapshot else "not published"
    return StageCard("Publish", act, head=head, note=note)


def _named(topics: Sequence[PipelineTopic]) -> str:
    return topics[0].topic_id if len(topics) == 1 else f"{len(topics)} {plural(len(topics), 'topic')}"


@dataclass(frozen=True, slots=True)
class FirstStep:
    """A step of a new campaign. `is_optional`: it can wait, because the built-in judge stands in for a model."""

    title: str
    fact: str
    done: bool
    button: str
    link: str
    primary: bool = False
    is_optional: bool = False


def checklist_of(viewer: User, campaign: Campaign) -> list[FirstStep]:
    if not may_organize(viewer, campaign):
        return []
    return checklist_for(viewer, campaign, pipeline_for(viewer, campaign))


def next_step_of(viewer: User, campaign: Campaign) -> FirstStep | None:
    return next((step for step in checklist_of(viewer, campaign) if step.primary), None)


def checklist_for(viewer: User, campaign: Campaign, pipeline: Pipeline) -> list[FirstStep]:
    """Steps of a campaign that has no people's work yet; empty where it is past them."""
    if pipeline.tasks:
        return []
    steps = _steps(viewer, campaign, pipeline)
    if all(step.done for step in steps):
        return []
    first = next(place for place, step in enumerate(steps) if not (step.done or step.is_optional))
    return [replace(step, primary=place == first) for place, step in enumerate(steps)]


def _model_step(viewer: User, campaign: Campaign) -> FirstStep:
    own = default_endpoint().model
    models = [judge.name for judge in callable_judges_for(viewer, campaign) if judge.model != SIMULATED_MODEL]
    if not models and own != SIMULATED_MODEL:
        models = [own]
    fact = ", ".join(models[:3]) or "Built-in word-overlap judge: not a model"
    return FirstStep("Add a model", fact, bool(models), "Judges", page_in(campaign, "judges"), is_optional=True)


def _steps(viewer: User, campaign: Campaign, pipeline: Pipeline) -> list[FirstStep]:
    held = holdings_for(viewer, campaign)
    graded = len(pipeline.topics_at(Step.PASSAGES, StepState.DONE))
    listed = len(pipeline.topics_at(Step.NUGGETS, StepState.DONE))
    labelled = len(pipeline.topics_at(Step.LABELS, StepState.DONE, StepState.IN_PROGRESS))
    loaded = bool(held.topics and held.runs and graded)
    model, version = _model_step(viewer, campaign), campaign.protocol.version
    rules = f"the rules of {preset_of(cast(PresetName, like)).name}" if (like := campaign.like) else "the defaults"
    # This job makes nuggets first where there are none, so both steps are one.
    labelling = page_in(campaign, "new_job")
    others = Membership.objects.filter(campaign=campaign).exclude(user=viewer).count()
    # Traces bring passages, and no grade of any.
    to_grade = held.topics and held.runs and held.segments_with_text and not loaded
    return [
        FirstStep(
            "Load topics, runs and passages",
            f"{held.topics:,} {plural(held.topics, 'topic')}, {held.runs:,} {plural(held.runs, 'run')}, "
            f"{graded:,} {plural(graded, 'topic')} with graded passages",
            loaded,
            "Grade passages" if to_grade else "Load data",
            page_in(campaign, "new_job", what=Work.RELEVANCE) if to_grade else page_in(campaign, "data"),
        ),
        FirstStep(
            "Choose the protocol",
            f"Protocol {version}; {rules} stand until you change them",
            loaded,
            "Read the protocol",
            page_in(campaign, "protocol"),
        ),
        # Labels that were loaded need none.
        *([model] if model.done or not labelled else []),
        FirstStep(
            "Make nuggets",
            f"{listed:,} of {held.topics:,} topics",
            bool(listed),
            "Make nuggets and labels",
            labelling,
        ),
        FirstStep(
            "Label answers", f"{labelled:,} of {held.topics:,} topics", bool(labelled), "Label answers", labelling
        ),
        FirstStep(
            "See the first leaderboard",
            "Ready" if labelled else "After the first labels",
            bool(labelled),
            "Leaderboard",
            reverse("reports:scores", args=[campaign.slug]),
        ),
        FirstStep(
            "Invite people",
            f"{others:,} {plural(others, 'role')} given to others",
            bool(others),
            "Invite people",
            page_in(campaign, "people"),
        ),
    ]
