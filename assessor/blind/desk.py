"""Desk of a nugget list as its assessor sees it: topic, passages, and the list in the making for the page's script."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from assessor.blind.judging import judging_state
from assessor.blind.passages import Passage, TopicText, reading_of, topic_head
from assessor.blind.tasks import own_task
from assessor.desk.context import OPEN_STATES, free_in, holder_age, log_of, newest_operations, seq_of
from assessor.desk.desks import desk_of
from assessor.desk.nugget_ops import row_json, row_of, stored_rows
from assessor.desk.submit import limit_of
from assessor.desk.task_labels import JudgingDesk
from assessor.models import Desk, MarkedPassage
from assessor.rules.undo import KEPT_STEPS, Undoable, stacks
from evaluation.errors import NoSuchTask
from evaluation.labels import LabelSet
from evaluation.models import Task
from evaluation.rules.protocol import searches_nuggets
from evaluation.stages import Stage
from evaluation.terms import PracticeKind, RemarkKind, TaskState

READS = 5
_WAITS_FOR_REOPENING = Q(kind=RemarkKind.REOPEN, answered_at__isnull=True)


@dataclass(frozen=True, slots=True)
class TaskHead:
    """A task as its own assessor sees it, opened or not. `is_sample`: not everything of each answer is asked."""

    public_id: str
    campaign: str
    topic: str
    language: str
    texts: tuple[TopicText, ...]
    stage: Stage
    labels: LabelSet
    state: str
    version: int
    due: date | None
    blocked_reason: str
    reopened_reason: str
    asked_to_reopen: bool
    show_importance: bool
    is_sample: bool
    searches_nuggets: bool
    copies_words: bool
    helps_places: bool

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES

    @property
    def by_hand(self) -> bool:
        return self.stage.by_hand

    @property
    def judges(self) -> bool:
        return self.stage.judges

    @property
    def opened(self) -> bool:
        return self.state not in (TaskState.NOT_STARTED, TaskState.BLOCKED)


@dataclass(frozen=True, slots=True)
class DeskPage:
    """Everything on one desk. `state` is plain JSON, as the page's script reads it; `practice`: kind of its items."""

    head: TaskHead
    passages: tuple[Passage, ...]
    without_text: int
    state: dict[str, Any]
    practice: str = ""
    practises_again: bool = False

    @property
    def unit(self) -> str:
        """Noun of the texts on the left of a judging desk, which shows one at a time."""
        return "question" if self.practice == PracticeKind.IMPORTANCE else self.head.stage.reads

    @property
    def asks_whole(self) -> bool:
        return self.practice in ("", PracticeKind.GRADE, PracticeKind.BATTLE) and not self.head.stage.by_list

    @property
    def is_rubric(self) -> bool:
        return any("unit" in nugget for nugget in self.state.get("nuggets", ()))

    @property
    def question(self) -> str:
        return self.head.stage.rubric_question if self.is_rubric else self.head.stage.question

    @property
    def row_noun(self) -> str:
        return "criterion" if self.is_rubric else "nugget"

    @property
    def parts(self) -> JudgingDesk:
        return desk_of(self.head.stage)


def task_head(task: str, user: User) -> TaskHead:
    """Return the head of one of the user's own tasks. Raises `NoSuchTask`."""
    return _head(own_task(task, user))


def desk_page(task: str, user: User) -> DeskPage:
    """Return a whole desk. Raises `NoSuchTask` for a task that is not the user's or was not opened yet."""
    own = own_task(task, user)
    if own.stage.judges:
        return DeskPage(_head(own), (), 0, _state(own))
    reading = reading_of(own)
    return DeskPage(_head(own), reading.passages, reading.without_text, _state(own))


def desk_state(task: str, user: User) -> dict[str, Any]:
    """Return the part of the desk that changes while the assessor works. Raises `NoSuchTask`."""
    return _state(own_task(task, user))


def _head(task: Task) -> TaskHead:
    head = topic_head(task.campaign, task.topic)
    return TaskHead(
        public_id=task.public_id,
        campaign=task.campaign.name,
        topic=task.topic.text,
        language=head.language,
        texts=head.texts,
        stage=task.stage,
        labels=task.protocol.labels_of(task.stage),
        state=task.state,
        version=task.version,
        due=task.due,
        blocked_reason=task.blocked_reason,
        reopened_reason=task.reopened_reason,
        asked_to_reopen=task.state == TaskState.SUBMITTED and task.remarks.filter(_WAITS_FOR_REOPENING).exists(),
        show_importance=task.protocol.show_importance,
        is_sample=task.study_id is not None,
        searches_nuggets=searches_nuggets(task.protocol.nugget_search, task.stage),
        copies_words=task.protocol.copy_words,
        helps_places=task.protocol.place_help,
    )


def _state(task: Task) -> dict[str, Any]:
    """Return a state in which rows and undo stacks belong together: read again where an operation came between."""
    # Without a lock: a desk that only reads must not hold up the window that writes.
    for _ in range(READS - 1):
        state = _read_state(task)
        if seq_of(task) == state["seq"]:
            return state
    return _read_state(task)


def _read_state(task: Task) -> dict[str, Any]:
    desk = Desk.objects.filter(task=task).first()
    # A task without a desk was never opened.
    if desk is None:
        raise NoSuchTask
    # Undo is told from the log, so that it survives a reload and another machine.
    undo, redo = stacks(log_of(task.pk, task.version))
    return {
        "task": task.public_id,
        "stage": task.stage,
        "version": task.version,
        "state": task.state,
        "seq": seq_of(task),
        "readonly": task.state not in OPEN_STATES,
        "holder": _holder(desk) if desk.holder else None,
        "known": [str(op_id) for op_id in newest_operations(task)],
        "server_time": timezone.now().isoformat(),
        "composer": desk.composer,
        "place": desk.place,
        "undo": [_step(step) for step in undo[-KEPT_STEPS:]],
        "redo": [_step(step) for step in redo[-KEPT_STEPS:]],
        **(judging_state(task) if task.stage.judges else _list_state(task)),
    }


def _holder(desk: Desk) -> dict[str, Any]:
    return {
        "window": desk.holder,
        "age_s": holder_age(desk.held_at),
        "free_in_s": free_in(desk),
        "page": desk.holder_page,
    }


def _list_state(task: Task) -> dict[str, Any]:
    marks = MarkedPassage.objects.filter(task=task).values_list("segment__public_id", "mark")
    return {
        "limit": limit_of(task),
        "rows": [row_json(row_of(stored)) for stored in stored_rows(task).values()],
        "marks": dict(marks),
    }


def _step(step: Undoable) -> dict[str, Any]:
    return {"step": step.step, "label": step.label, "before": step.before, "after": step.after}
