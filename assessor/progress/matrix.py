"""Handed-out work for organizers: tasks by topic and stage, their progress, remarks on them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any

from django.db.models import Count, Max, Q, QuerySet
from django.db.models.fields.json import KT
from django.utils import timezone

from accounts.models import User
from assessor.blind.tasks import OwnTask, own_tasks
from assessor.desk.context import OPEN_STATES, pairs_without_llm_label
from assessor.desk.task_progress import Progress, progress_of
from assessor.models import Desk
from assessor.progress.labelled import labels_of
from evaluation.campaigns.access import unblinded, within
from evaluation.corpus.topics import topics_for
from evaluation.models import Campaign, Event, Membership, Remark, Submission, Task, Topic
from evaluation.models.querysets import TaskQuerySet
from evaluation.rows.base import Reader, Row, Values
from evaluation.rules.tasks import ACTIVE, Act, can_act
from evaluation.rules.text import matcher
from evaluation.stages import STAGES, Stage
from evaluation.terms import TASK_EVENTS, DrawKind, RemarkKind, TaskState
from web.words import word_of


class TopicState(StrEnum):
    """Progress of a topic over all of its tasks. Each topic has exactly one of these."""

    BLOCKED = "topics blocked"
    IN_PROGRESS = "topics in progress"
    NOT_STARTED = "topics not started"
    DONE = "topics done"


def counted(tasks: TaskQuerySet[Task]) -> TaskQuerySet[Task]:
    # A study labels a few drawn pairs: it says nothing of how far a topic is.
    return tasks.not_withdrawn().filter(study=None).order_by()


def topic_states(campaign: Campaign, topics: QuerySet[Topic], tasks: TaskQuerySet[Task]) -> dict[int, TopicState]:
    """Return topics' states by key: blocked where a task is, done where all are submitted.

    A topic without a task is done where all its labels are there: they were imported, or an LLM gave them. A study's
    task begins no topic, and one with an open one is not done.
    """
    states: dict[Any, set[str]] = defaultdict(set)
    of_studies: dict[Any, set[str]] = defaultdict(set)
    rows = tasks.not_withdrawn().order_by().values_list("topic", "state", "study")
    for topic, state, study in rows.distinct():
        (of_studies if study else states)[topic].add(state)
    labelled = {pk for pk, (labels, asked) in labels_of(campaign).items() if labels >= asked}
    return {
        pk: _with_studies(
            TopicState.DONE if pk in labelled - states.keys() else _state_of(states.get(pk, set())),
            of_studies.get(pk, set()),
        )
        for pk in topics.order_by().values_list("pk", flat=True)
    }


def _with_studies(state: TopicState, of_studies: set[str]) -> TopicState:
    if TaskState.BLOCKED in of_studies:
        return TopicState.BLOCKED
    is_open = not of_studies <= {TaskState.SUBMITTED}
    return TopicState.IN_PROGRESS if is_open and state is TopicState.DONE else state


def _state_of(states: set[str]) -> TopicState:
    if states <= {TaskState.NOT_STARTED}:
        return TopicState.NOT_STARTED
    if TaskState.BLOCKED in states:
        return TopicState.BLOCKED
    return TopicState.DONE if states == {TaskState.SUBMITTED} else TopicState.IN_PROGRESS


def topic_numbers_for(viewer: User, campaign: Campaign) -> dict[TopicState, int]:
    states = topic_states(campaign, topics_for(viewer, campaign), tasks_for(viewer, campaign))
    numbers = Counter(states.values())
    return {state: numbers[state] for state in TopicState if numbers[state]}


UNASSIGNED = "not handed out"
LATE, IDLE = "late", "idle"
UNTOUCHED = timedelta(hours=24)
ASKING = [kind for kind in RemarkKind if kind is not RemarkKind.INTERRUPTION]
"""Remarks that wait for an answer; an interruption is only noted."""


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One task in the matrix. `since`: when its assessor was last at it, else when it was handed out.

    `waiting`: how many of the labels that it shows the machine has not given yet; `asking`: its open remarks.
    """

    task: Task
    waiting: int
    since: datetime
    progress: Progress
    asking: int

    @property
    def of(self) -> str:
        """The nugget set that is assigned, or the machine whose labels are shown; and the study that drew the pairs."""
        of = self.task.nugget_set if self.task.stage.by_list else self.task.judge
        study = self.task.study
        drawn = study and f"{'random check' if study.draw == DrawKind.RANDOM else 'second look'} {study}"
        return ", ".join(str(part) for part in (of, drawn) if part)

    @property
    def acts(self) -> tuple[str, ...]:
        """Changes that an organizer may make now, by code; any task can be given to somebody else."""
        state = TaskState(self.task.state)
        changes = [act for act in (Act.REOPEN, Act.BLOCK, Act.UNBLOCK, Act.WITHDRAW) if can_act(act, state)]
        return ("reassign", *(["reschedule"] if state is not TaskState.SUBMITTED else []), *changes)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A topic's tasks by stage. `proposed`: those of makers of its nuggets who do not label them yet."""

    topic: Topic
    cells: list[tuple[Stage, list[MatrixCell]]]
    proposed: list[Task]


def tasks_for(viewer: User, campaign: Campaign) -> TaskQuerySet[Task]:
    return Task.objects.filter(campaign__in=within(viewer, campaign))


def task_for(viewer: User, campaign: Campaign, public_id: str) -> Task:
    relations = ("qrels", "nugget_set", "drafts__nugget_set", "judge", "study")
    related = tasks_for(viewer, campaign).select_related("topic", "assessor", "protocol", "campaign", *relations)
    return related.get(public_id=public_id)


def any_task_for(viewer: User, public_id: str) -> Task:
    """Return one task of any campaign that the viewer may see unblinded, or raise `Task.DoesNotExist`."""
    seen = Task.objects.filter(campaign__in=unblinded(viewer))
    return seen.select_related("campaign").get(public_id=public_id)


def assessors_for(viewer: User, campaign: Campaign) -> list[User]:
    members = Membership.objects.of_assessors().filter(campaign__in=within(viewer, campaign))
    return sorted(User.objects.filter(pk__in=members.values("user")), key=lambda user: (user.name, user.username))


def work_topics(
    viewer: User,
    campaign: Campaign,
    *,
    words: str = "",
    pattern: str = "",
    state: str = "",
    assessor: str = "",
    stage: str = "",
    due: str = "",
) -> QuerySet[Topic]:
    """Raises `Refused` for a pattern that is none. `state`: a `TopicState`, `UNASSIGNED`, or the state of a task."""
    topics = topics_for(viewer, campaign, words)
    if pattern:
        fits = matcher(pattern)
        rows = topics.order_by().values_list("pk", "topic_id", "text")
        topics = topics.filter(pk__in=[pk for pk, *texts in rows if any(fits(text) for text in texts)])
    tasks = tasks_for(viewer, campaign).filter(**({"stage": stage} if stage else {}))
    if due:
        tasks = tasks.filter(late() if due == LATE else untouched())
        topics = topics.filter(pk__in=tasks.values("topic"))
    if state == UNASSIGNED:
        return topics.exclude(pk__in=counted(tasks).values("topic"))
    if state in list(TopicState):
        states = topic_states(campaign, topics, tasks)
        topics, state = (
            topics.filter(pk__in=[pk for pk, topic_state in states.items() if topic_state == state]),
            "",
        )
    if assessor or state:
        tasks = tasks.filter(state=state) if state else tasks.not_withdrawn()
        tasks = tasks.filter(assessor__username=assessor) if assessor else tasks
        return topics.filter(pk__in=tasks.values("topic"))
    return topics


def late() -> Q:
    return Q(state__in=ACTIVE, due__lt=timezone.localdate())


def untouched() -> Q:
    """Return the condition of a task that was begun, and at whose desk nobody was for a day."""
    before = timezone.now() - UNTOUCHED
    idle = Desk.objects.filter(Q(held_at__lt=before) | Q(held_at=None), task__opened_at__lt=before)
    return Q(state__in=OPEN_STATES, pk__in=idle.values("task"))


def stages_by_topic(viewer: User, campaign: Campaign) -> dict[str, frozenset[Stage]]:
    stages: dict[str, set[Stage]] = {
        public_id: set() for public_id in topics_for(viewer, campaign).values_list("public_id", flat=True)
    }
    for public_id, stage in counted(tasks_for(viewer, campaign)).values_list("topic__public_id", "stage"):
        stages[public_id].add(stage)
    return {public_id: frozenset(own) for public_id, own in stages.items()}


def stages_shown(viewer: User, campaign: Campaign, extra: str = "") -> tuple[Stage, ...]:
    used = set(tasks_for(viewer, campaign).not_withdrawn().values_list("stage", flat=True))
    used = used or {stage for stage in STAGES.values() if not stage.judges}
    # Lists lead to labels: whoever makes one is proposed there.
    return tuple(stage for stage in STAGES.values() if stage in used or stage == extra or stage.by_list)


def matrix_rows(
    viewer: User, campaign: Campaign, topics: Iterable[Topic], stages: Sequence[Stage]
) -> list[MatrixRow]:
    """Return the rows of one page of topics: a dozen queries, however many."""
    page = list(topics)
    tasks = tasks_for(viewer, campaign).filter(topic__in=page).not_withdrawn()
    page_tasks = list(tasks.select_related("topic", "assessor", "protocol", "nugget_set", "judge", "study"))
    # A chip of submitted work shows no progress, which takes long to count.
    progress = progress_of([task for task in page_tasks if task.state != TaskState.SUBMITTED])
    cells = dict(zip([task.pk for task in page_tasks], task_cells(page_tasks, progress), strict=True))
    by_topic: dict[int, dict[Stage, list[Task]]] = defaultdict(lambda: defaultdict(list))
    for task in page_tasks:
        by_topic[task.topic_id][task.stage].append(task)
    return [
        MatrixRow(
            topic,
            [(stage, [cells[task.pk] for task in by_topic[topic.pk][stage]]) for stage in stages],
            _proposed(by_topic[topic.pk]),
        )
        for topic in page
    ]


def task_cells(tasks: Sequence[Task], progress: Mapping[int, Progress] | None = None) -> list[MatrixCell]:
    progress = progress_of(tasks) if progress is None else progress
    waiting = pairs_without_llm_label(tasks)
    seen = dict(Desk.objects.filter(task__in=tasks).values_list("task_id", "held_at"))
    asking = dict(_asking().filter(task__in=tasks).order_by().values_list("task").annotate(Count("pk")))
    return [
        MatrixCell(
            task,
            waiting=waiting.get(task.pk, 0),
            since=seen.get(task.pk) or task.opened_at or task.created_at,
            progress=progress.get(task.pk, Progress()),
            asking=asking.get(task.pk, 0),
        )
        for task in tasks
    ]


def _proposed(tasks: dict[Stage, list[Task]]) -> list[Task]:
    of_stages = [(stage, tasks.get(stage, [])) for stage in STAGES.values()]
    makers = [task for stage, own in of_stages if not stage.judges for task in own]
    by_list = [task for stage, own in of_stages if stage.by_list for task in own]
    assigned = {task.nugget_set_id for task in by_list if task.study_id is None}
    return [task for task in makers if task.nugget_set_id not in assigned and not task.second_opinion]


def remarks_for(viewer: User, campaign: Campaign, *, answered: bool = False, kind: str = "") -> QuerySet[Remark]:
    """Return remarks: open ones, the oldest first, or answered ones, the newest first."""
    remarks = _asking() if not answered else Remark.objects.filter(answered_at__isnull=False)
    remarks = remarks.filter(task__campaign__in=within(viewer, campaign))
    remarks = remarks.filter(kind=kind) if kind else remarks
    ordered = remarks.order_by("-answered_at" if answered else "at")
    return ordered.select_related("task__topic", "task__assessor", "answered_by")


def remark_for(viewer: User, campaign: Campaign, public_id: str) -> Remark:
    return Remark.objects.get(task__campaign__in=within(viewer, campaign), public_id=public_id)


def open_remarks_for(viewer: User, campaign: Campaign) -> int:
    return _asking().filter(task__campaign__in=within(viewer, campaign)).count()


def submissions_of(task: Task) -> list[Submission]:
    rows = task.submissions.annotate(nuggets=Count("nugget_list__items")).select_related("nugget_list")
    return list(rows.order_by("-version"))


def history_of(task: Task) -> list[dict[str, Any]]:
    """Return moment, act, person and reason of each event, the newest first."""
    about = Event.objects.filter(campaign=task.campaign, kind__in=TASK_EVENTS, payload__task=task.public_id)
    came = Event.objects.filter(campaign=task.campaign, kind="task.reassigned", payload__new=task.public_id)
    return [
        {
            "at": event.at,
            "what": word_of(event.kind.removeprefix("task.")),
            "who": event.actor.name if event.actor else "",
            "reason": event.payload.get("reason", ""),
        }
        for event in (about | came).select_related("actor").order_by("-id")
    ]


def _asking() -> QuerySet[Remark]:
    return Remark.objects.filter(answered_at=None, kind__in=ASKING)


NAMED_OR_WRITTEN = ("blocked_reason", "reopened_reason", "qrels", "study")
"""Columns that somebody wrote or named, in which a person may be named."""

BLINDED = (
    "topic_id",
    "assessor",
    "nugget_set",
    "drafts",
    "qrels",
    "judge",
    "study",
    "second_opinion",
    "priority",
    "expected_minutes",
    "created_at",
    "opened_at",
    "submitted_at",
)
"""Null in an assessor's own tasks: the type that they come in has no field for these."""


class Tasks(Reader):
    """Reader of tasks. The viewer's own are read through the assessors' door, whatever else their roles are."""

    paths = {"topics": "topic", "stage": "stage"}
    values = (
        "public_id",
        "campaign",
        "topic__text",
        "stage",
        "state",
        "version",
        "due",
        "blocked_reason",
        "reopened_reason",
        "topic__topic_id",
        "assessor",
        "nugget_set",
        "drafts__nugget_set",
        "qrels__name",
        "judge",
        "study__name",
        "second_opinion",
        "priority",
        "expected_minutes",
        "created_at",
        "opened_at",
    )
    renamed = {
        "public_id": "id",
        "topic__text": "topic",
        "topic__topic_id": "topic_id",
        "drafts__nugget_set": "drafts",
        "qrels__name": "qrels",
        "study__name": "study",
    }
    row_path = "public_id"

    @cached_property
    def own(self) -> dict[str, OwnTask]:
        return {task.public_id: task for task in own_tasks(self.viewer)}

    @cached_property
    def addressable(self) -> list[Campaign]:
        slugs = {task.campaign for task in self.own.values()}
        return [*self.campaigns, *(Campaign.objects.using(self.alias).filter(slug__in=slugs) if slugs else ())]

    def rows(self) -> QuerySet[Task]:
        own = [task.public_id for task in self.own.values() if self.scope in (None, task.campaign)]
        return Task.objects.using(self.alias).filter(Q(campaign__in=self.seen) | Q(public_id__in=own))

    def of_people(self, rows: QuerySet[Any], users: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(assessor__in=users, campaign__in=self.seen)

    def since(self, rows: QuerySet[Any], start: datetime) -> QuerySet[Any]:
        log = Event.objects.filter(kind__in=TASK_EVENTS, at__gte=start).values_list(KT("payload__task"))
        return rows.filter(public_id__in=log)

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        """Yield tasks; of the viewer's own only what the assessors' door gives."""
        submissions = Submission.objects.using(self.alias).filter(task__in=[row[0] for row in chunk]).order_by()
        submitted = dict(submissions.values_list("task").annotate(Max("at")))
        for row in chunk:
            own = self.own.get(row[1])
            yield self._own_row(own) if own else self._row(row, submitted.get(row[0]))

    def _own_row(self, own: OwnTask) -> Row:
        row = asdict(own)
        return {"id": row.pop("public_id"), **row, **dict.fromkeys(BLINDED)}

    def _row(self, values: Values, submitted: datetime | None) -> Row:
        row, campaign, names = self.plain(values), values[2], self.names
        return row | {
            **{name: names.clean(campaign, row[name]) for name in NAMED_OR_WRITTEN},
            "assessor": names.person(campaign, row["assessor"]),
            "nugget_set": names.nugget_set(row["nugget_set"]),
            "drafts": names.nugget_set(row["drafts"]),
            "judge": names.judge(campaign, row["judge"]),
            "submitted_at": submitted,
        }
