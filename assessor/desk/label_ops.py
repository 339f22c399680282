"""Operations at a judging desk: giving labels, saying where, and what is only noted."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from assessor.desk.context import Acted, DeskContext, Stale, wanted_rows
from assessor.desk.label_rows import SEPARATOR, labels_of, row_from_json, row_json
from assessor.desk.op_schemas import Op
from assessor.desk.task_pairs import nuggets_by_answer, nuggets_of, pairs_of
from assessor.rules.label_ops import LabelRow, back_to, give_label, locate
from assessor.rules.undo import UNTOLD
from evaluation.domain.labels import labels_of_stage
from evaluation.errors import Refused
from evaluation.models import TaskAnswer
from evaluation.terms import Stage
from web.text import plural


def asked_keys(place: DeskContext) -> list[str]:
    if place.stage != Stage.ASSIGN:
        return [pair.key for pair in pairs_of(place) if pair.judgeable]
    answers = TaskAnswer.objects.filter(task=place.task, same_as=None).order_by("position")
    asked, nuggets = nuggets_by_answer(place), [nugget.key for nugget in nuggets_of(place)]
    return [
        f"{answer}{SEPARATOR}{nugget}"
        for answer in answers.values_list("answer__public_id", flat=True)
        for nugget in (nuggets if asked is None else asked[answer])
    ]


def unjudged_keys(place: DeskContext) -> list[str]:
    given = {key for key, row in labels_of(place).read().items() if row.label is not None}
    return [key for key in asked_keys(place) if key not in given]


def left_to_judge(place: DeskContext) -> int:
    return len(unjudged_keys(place))


SWEEP = "sweep"


def act(place: DeskContext, op: Op, payload: dict[str, Any]) -> Acted | Stale:
    """Apply one checked operation. Raises `Refused`."""
    if op.kind in UNTOLD:
        _note(place, op.kind, payload)
        return Acted()
    wanted = (
        wanted_rows(place, op.kind, payload["target"]) if op.kind in ("undo", "redo") else {payload["key"]: None}
    )
    labels = labels_of(place)
    rows = labels.read(list(wanted))
    stale = [key for key, version in op.base.items() if key in rows and rows[key].version != version]
    if stale:
        return Stale(_json(place, {key: rows[key] for key in stale}))
    changed = {key: _changed(place, rows[key], op, payload, label) for key, label in wanted.items()}
    for row in changed.values():
        labels.write(row)
    return Acted(_json(place, rows), _json(place, changed))


def rows_now(place: DeskContext, keys: list[str]) -> dict[str, Any]:
    return _json(place, labels_of(place).read(keys))


def _changed(place: DeskContext, row: LabelRow, op: Op, payload: dict[str, Any], wanted: Any) -> LabelRow:
    if op.kind in ("undo", "redo"):
        return back_to(row, row_from_json(wanted))
    if op.kind == "locate":
        _check_stage(place, Stage.ASSIGN)
        return locate(row, payload)
    if payload["accepted"] or payload["shown_ms"] is not None:
        _check_stage(place, Stage.SUPPORT_POST_EDIT)
    if payload["sentence"] is not None:
        _check_stage(place, Stage.ASSIGN)
    if op.source == SWEEP:
        _check_sweep(place)
    _check_word(place, payload["label"])
    return give_label(row, payload, in_sweep=op.source == SWEEP)


def _check_stage(place: DeskContext, stage: Stage) -> None:
    if place.stage != stage:
        raise Refused("bad_operation", "This operation is not one that this desk knows.")


def _check_sweep(place: DeskContext) -> None:
    """A few nuggets of each answer make no row that one could look along."""
    _check_stage(place, Stage.ASSIGN)
    if place.study:
        raise Refused("bad_operation", "This desk has no sweep.")


def _check_word(place: DeskContext, label: str | None) -> None:
    if label is not None and label not in labels_of_stage(place.stage).by_word:
        raise Refused("no_such_label", f"{label} is no label of this desk.")


def _note(place: DeskContext, kind: str, payload: dict[str, Any]) -> None:
    if kind == "open":
        _open(place, payload["answer"])
    elif kind == SWEEP:
        _check_sweep(place)
        if left := left_to_judge(place):
            raise Refused(
                "unfinished",
                f"{left} {plural(left, 'label is', 'labels are')} missing; the sweep comes after the last.",
            )


def _open(place: DeskContext, answer: str) -> None:
    """Note when an answer was first on the screen."""
    found = TaskAnswer.objects.filter(task=place.task, answer__public_id=answer)
    if not found.exists():
        raise Refused("no_such_answer", "This answer is not among those of the task.")
    found.filter(seen_at=None).update(seen_at=timezone.now())


def _json(place: DeskContext, rows: Mapping[str, LabelRow]) -> dict[str, Any]:
    return {key: row_json(row, place.stage) for key, row in rows.items()}
