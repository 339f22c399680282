"""Operations at a desk: each is checked, applied and logged in one transaction, and answered by a receipt.

Sending an operation twice has one effect, and the second answer says so as the first did.
"""

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from pydantic import ValidationError

from accounts.models import User
from assessor.desk import label_ops, nugget_ops
from assessor.desk.context import Acted, DeskContext, Stale, holder_age, lock_desk_context
from assessor.models import Desk, Operation
from assessor.rules.op_schemas import Op, Payload
from evaluation.errors import Refused
from evaluation.terms import PageState


@dataclass(frozen=True, slots=True)
class OpReceipt:
    """Receipt of an operation: `applied`, `conflict`, `refused` or `moved`."""

    op_id: str
    status: str
    seq: int = 0
    rows: dict[str, Any] = field(default_factory=dict)
    code: str = ""
    message: str = ""
    holder_age_s: int = 0

    def as_json(self) -> dict[str, Any]:
        kept = {
            "applied": ("seq", "rows"),
            "conflict": ("rows",),
            "refused": ("code", "message"),
            "moved": ("holder_age_s",),
        }
        fields = ("op_id", "status", *kept[self.status])
        return {name: getattr(self, name) for name in fields}


def apply_op(*, task: str, user: User, window: str, op: Op) -> OpReceipt:
    """Apply one operation of a window. Raises `NoSuchTask` for a task that is not the user's."""
    try:
        return _operate(task, user, window, op)
    except IntegrityError:
        # It is in the log already, or another one took its number while it waited for the lock: now it sees either.
        # A transaction of its own: after the error PostgreSQL takes no more statements in the first.
        with transaction.atomic():
            receipt = _first_receipt(lock_desk_context(task, user), op)
        return receipt or _operate(task, user, window, op)


def _operate(task: str, user: User, window: str, op: Op) -> OpReceipt:
    with transaction.atomic():
        context = lock_desk_context(task, user)
        # Task and desk stay locked until the receipt is committed: only then may the page say "Saved".
        receipt = _receipt(context, window, op)
        # Looked up only where something is amiss: what applies and can be logged is new.
        return receipt if receipt.status == "applied" else _first_receipt(context, op) or receipt


def _receipt(context: DeskContext, window: str, op: Op) -> OpReceipt:
    # Two windows that write in turns would undo each other's work unseen; one holds the desk.
    if context.holder not in ("", window):
        held_at = Desk.objects.values_list("held_at", flat=True).get(pk=context.task)
        return OpReceipt(str(op.op_id), "moved", holder_age_s=holder_age(held_at))
    try:
        # Inside the lock: a submit that came first has changed the state by now.
        if not context.is_open:
            raise Refused("not_open", f"This task is {context.state}; nothing in it can be changed now.")
        return _applied(context, window, op)
    except Refused as refused:
        return OpReceipt(str(op.op_id), "refused", code=refused.code, message=refused.message)
    except (ValidationError, KeyError):
        message = "This operation is not one that a desk knows."
        return OpReceipt(str(op.op_id), "refused", code="bad_operation", message=message)


def _first_receipt(context: DeskContext, op: Op) -> OpReceipt | None:
    """Return the receipt of an operation that was sent before; None for a new one."""
    logged = Operation.objects.filter(op_id=op.op_id).first()
    if logged is None:
        return None
    # Ids are made by browsers: one of another task must not answer with that task's rows.
    if logged.task_id != context.task:
        return OpReceipt(
            str(op.op_id), "refused", code="bad_operation", message="This operation belongs elsewhere."
        )
    # As they are now: rows of back then would take newer work off the page.
    rows = _acts(context).rows_now(context, list(logged.after))
    return OpReceipt(str(op.op_id), "applied", logged.seq, rows)


def _applied(context: DeskContext, window: str, op: Op) -> OpReceipt:
    payload = op.checked(judging=context.judges)
    done = _acts(context).act(context, op, payload)
    # A conflict is not logged, so that the same id may be sent again on the rows that are shown then.
    if isinstance(done, Stale):
        return OpReceipt(str(op.op_id), "conflict", rows=done.rows)
    _log(context, window, op, payload, done)
    return OpReceipt(str(op.op_id), "applied", context.seq, done.after)


def _acts(context: DeskContext) -> ModuleType:
    return label_ops if context.judges else nugget_ops


def _log(context: DeskContext, window: str, op: Op, payload: Payload, done: Acted) -> None:
    """Add the operation to the log. A window that writes where nobody does holds the desk from then on."""
    # Written only at a change of window: this runs at each key press.
    if context.holder != window:
        Desk.objects.filter(pk=context.task).update(
            holder=window, held_at=timezone.now(), holder_page=PageState.VISIBLE
        )
    # PostgreSQL may read the number before it waits for the lock; then the unique number refuses the second.
    context.seq += 1
    Operation.objects.create(
        task_id=context.task,
        seq=context.seq,
        op_id=op.op_id,
        step=op.step,
        submission=context.version,
        kind=op.kind,
        payload=payload.model_dump(mode="json", by_alias=True),
        before=done.before,
        after=done.after,
        source=op.source,
        window=window,
        client_at=op.client_at,
    )
