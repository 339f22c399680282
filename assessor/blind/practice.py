"""Practice as an assessor sees it at the desk: items without their known labels, which come only after their own.

Labels stand in the browser and nowhere else, but for the first one of each item.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from pydantic import ValidationError

from accounts.models import User
from assessor.blind.cited import cited_passage
from assessor.blind.desk import DeskPage, task_head
from assessor.blind.judging import (
    FirstView,
    Reading,
    ShownAnswer,
    ShownSentence,
    first_view,
)
from assessor.blind.tasks import own_task
from assessor.desk.apply_op import OpReceipt
from assessor.desk.battle_labels import reasons_of
from assessor.desk.task_labels import SEPARATOR
from assessor.models import PracticeAnswer, PracticeItem
from assessor.practice.items import answer_practice, practice_of
from assessor.practice.rules import word_of
from assessor.rules.citation_marks import Piece
from assessor.rules.op_schemas import GiveLabel, Op
from evaluation.errors import NoSuchTask, Refused
from evaluation.models import Task
from evaluation.rules.sentences import split
from evaluation.stages import ASSIGN, BATTLE, GRADE, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from evaluation.terms import PracticeKind, TaskState

WHOLE: Final = {PracticeKind.GRADE: GRADE, PracticeKind.BATTLE: BATTLE}
"""Stages of the items that ask one question about what is read as a whole."""


@dataclass(frozen=True, slots=True)
class PracticeProgress:
    """How many items come before a task, how many are left, and how many first answers are the known labels."""

    of: int
    left: int
    right: int


def practice_progress(task: str, user: User) -> PracticeProgress:
    """Return the practice before one of the user's own tasks; of no items where none is set. Raises `NoSuchTask`."""
    _, items, answers = _practice(task, user)
    right = sum(answers.get(item.pk) == item.label for item in items)
    return PracticeProgress(len(items), len(items) - len(answers), right)


def practice_desk(task: str, user: User, *, again: bool) -> tuple[DeskPage, FirstView] | None:
    """Return the desk of a practice, None where there are no items. `again`: as if none was answered yet."""
    state = practice_state(task, user, again=again)
    first = first_view(state, partial(practice_answer, task, user))
    if first is None:
        return None
    head = replace(
        task_head(task, user),
        stage=state["stage"],
        state=TaskState.IN_PROGRESS,
        # The script puts that of another answer there.
        topic=state["answers"][first.answer.number - 1]["question"],
        language="",
        texts=(),
        reopened_reason="",
        is_sample=False,
    )
    kind = own_task(task, user).stage.practice or ""
    return DeskPage(head, (), 0, state, practice=kind, practises_again=again), first


def practice_state(task: str, user: User, *, again: bool) -> dict[str, Any]:
    """Return the state of a practice in the shape of `judging_state`, with what is known of answered items alone."""
    own, items, answers = _practice(task, user)
    readings, stage = _readings(items), _desk_of(items)
    keys = {item.pk: f"{reading}{SEPARATOR}{item.public_id}" for reading in readings for item in readings[reading]}
    rows = [_row(item, keys[item.pk], answers[item.pk]) for item in items if item.pk in answers]
    state: dict[str, Any] = {
        # Not the task's own name: under it the browser keeps what is unsent.
        "task": f"practice-{own.public_id}",
        "stage": stage,
        "version": 1,
        "seq": 0,
        "readonly": False,
        "holder": None,
        "known": [],
        "place": {},
        "undo": [],
        "redo": [],
        "rows": [] if again else rows,
        "answers": [_answer(number, together) for number, together in enumerate(readings.values(), start=1)],
    }
    if stage.by_list:
        nuggets = [{"key": item.public_id, "text": item.statement, "importance": ""} for item in items]
        return state | {"nuggets": nuggets, "sweep": False}
    if stage in WHOLE.values():
        asked = {"text": stage.question, "importance": "", "name": stage.item.capitalize()}
        sides = {"sides": True, "reasons": reasons_of(own)} if stage.dealt else {}
        return state | sides | {"nuggets": [{"key": item.public_id} | asked for item in items], "sweep": False}
    return state | {"pairs": [_pair(item, keys[item.pk]) for item in items]}


def practice_answer(task: str, user: User, answer: str) -> Reading:
    """Return what is read before the items of an answer are labelled. Raises `NoSuchTask`, also for no such answer."""
    _, items, _ = _practice(task, user)
    readings = _readings(items)
    if answer not in readings:
        raise NoSuchTask
    item = readings[answer][0]
    number, of = list(readings).index(answer) + 1, len(readings)
    if item.kind == PracticeKind.BATTLE:
        sides = (_as_read(item.text), _as_read(item.statement))
        return ShownAnswer(answer, number, of, (), BATTLE.reads, sides=sides), ()
    is_cited, is_graded = item.kind == PracticeKind.SUPPORT, item.kind == PracticeKind.GRADE
    text = tuple(sentence.strip() for sentence in split(item.text.strip()))
    sentences = (item.statement,) if is_cited else text or (item.question,)
    citations = (1,) if is_cited else ()
    shown = ShownAnswer(
        public_id=answer,
        number=number,
        of=of,
        sentences=tuple(
            ShownSentence(index, (Piece(sentence),), citations) for index, sentence in enumerate(sentences)
        ),
        noun=GRADE.reads if is_graded else ASSIGN.reads,
        title=item.statement if is_graded else "",
    )
    passage = cited_passage(item.public_id, item.text)
    return shown, (passage,) if is_cited else ()


def _as_read(text: str) -> tuple[ShownSentence, ...]:
    """Return the lines of an answer, as its Markdown reads."""
    lines = [line for line in text.splitlines() if line.strip()]
    return tuple(ShownSentence(index, (Piece(line),), (), markdown=True) for index, line in enumerate(lines))


def practise(*, task: str, user: User, op: Op) -> OpReceipt:
    """Answer an operation at the desk of a practice. Raises `NoSuchTask`.

    Only a label is looked at: the first one of an item is kept, and each has the known label in its receipt. What else
    one does there is the browser's alone, so that it has no rows to tell.
    """
    own_task(task, user)
    try:
        payload = op.checked(judging=True)
        if not isinstance(payload, GiveLabel) or payload.label is None:
            return OpReceipt(str(op.op_id), "applied")
        name = payload.key.rpartition(SEPARATOR)[2]
        item = answer_practice(task=task, user=user, item=name, label=payload.label)
    except Refused as refused:
        return OpReceipt(str(op.op_id), "refused", code=refused.code, message=refused.message)
    except (ValidationError, KeyError):
        message = "This operation is not one that a desk knows."
        return OpReceipt(str(op.op_id), "refused", code="bad_operation", message=message)
    fields = {"key", "label", "reason", "sentence", "accepted", "shown_ms", "extras"}
    row = _known(item) | payload.model_dump(include=fields)
    version = op.base.get(payload.key, 0) + 1
    return OpReceipt(str(op.op_id), "applied", rows={payload.key: row | {"version": version}})


def _practice(task: str, user: User) -> tuple[Task, list[PracticeItem], dict[int, int]]:
    own = own_task(task, user)
    pks = practice_of(user, [own.campaign_id]).items_before(own)
    items = {item.pk: item for item in PracticeItem.objects.filter(pk__in=pks)}
    answers = PracticeAnswer.objects.filter(user=user, item__in=pks)
    return own, [items[pk] for pk in pks], dict(answers.values_list("item", "label"))


def _desk_of(items: Sequence[PracticeItem]) -> Stage:
    """Return the stage whose panes the items need: importance is told of rows beside a question."""
    if items and items[0].kind in WHOLE:
        return WHOLE[PracticeKind(items[0].kind)]
    if not items or items[0].kind != PracticeKind.SUPPORT:
        return ASSIGN
    shows = any(item.shown_label is not None for item in items)
    return SUPPORT_POST_EDIT if shows else SUPPORT_SCRATCH


def _readings(items: Iterable[PracticeItem]) -> dict[str, list[PracticeItem]]:
    """Return the items of each text that is read, by the public id of the first."""
    readings: dict[object, list[PracticeItem]] = {}
    for item in items:
        is_own = item.kind == PracticeKind.SUPPORT or item.kind in WHOLE
        own = item.pk if is_own else (item.question, item.text)
        readings.setdefault(own, []).append(item)
    return {together[0].public_id: together for together in readings.values()}


def _answer(number: int, together: Sequence[PracticeItem]) -> dict[str, Any]:
    first = together[0]
    return {
        "id": first.public_id,
        "number": number,
        "seen": True,
        "question": first.question,
        "nuggets": [item.public_id for item in together],
    }


def _pair(item: PracticeItem, key: str) -> dict[str, Any]:
    pair = {
        "key": key,
        "answer": item.public_id,
        "sentence": 0,
        "citation": 1,
        "passage": item.public_id,
        "judgeable": True,
    }
    if item.shown_label is None:
        return pair
    return pair | {"machine": word_of(PracticeKind.SUPPORT, item.shown_label), "quoted": None, "quote": ""}


def _row(item: PracticeItem, key: str, label: int) -> dict[str, Any]:
    row = {"key": key, "version": 1, "label": word_of(PracticeKind(item.kind), label), "reason": ""}
    return _known(item) | row | {"sentence": None}


def _known(item: PracticeItem) -> dict[str, str]:
    return {"known": word_of(PracticeKind(item.kind), item.label), "explanation": item.explanation}
