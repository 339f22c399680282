"""What is stored of a task beside what its assessor did: nothing lost, nothing doubled, nothing invented."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from assessor.blind.desk import desk_state
from assessor.models import Operation, TimeSegment
from assessor.rules.clock import SLACK, Stretch, limit_of, measure, milliseconds
from assessor.rules.undo import KEPT_STEPS
from assessor.timing.times import SEGMENT_FIELDS, stretch_of
from evaluation.errors import Refused
from evaluation.judges import judge_of
from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.models import NuggetEvidence, Submission, Task
from evaluation.stages import ASSIGN, Stage, stage_of
from evaluation.tasks.asking import asking_of
from evaluation.terms import TaskState
from loadtest.desk.model import Json, LabelModel, Model, NuggetModel
from loadtest.desk.seats import own_connection
from loadtest.desk.window import Act, Ledger
from loadtest.violations import Checks, Loss


@dataclass(slots=True)
class Logged:
    seq: int
    op_id: str
    step: str
    kind: str
    payload: Json
    window: str
    before: Json
    after: Json


@dataclass(slots=True)
class Record:
    """What is stored of one task. `frozen`: what each submission holds. `state`: as the desk's page is told."""

    stage: Stage
    submitted: bool
    opened: datetime
    read: datetime
    log: list[Logged]
    state: Json
    frozen: list[list[Any]]
    stretches: list[Stretch]


@dataclass(slots=True)
class Found(Checks):
    """`late`: operations that arrived after their refusal, by a request that was held up."""

    late: int = 0


def model_of(state: Json) -> Model:
    """Return the model of a desk of any stage, as the server tells it."""
    return (LabelModel if stage_of(state["stage"]).judges else NuggetModel).of_state(state)


def read_record(task: int) -> Record:
    found = Task.objects.select_related("assessor").get(pk=task)
    if found.opened_at is None:
        raise ValueError("the task was never opened")
    log = Operation.objects.filter(task=task).order_by("seq")
    fields = ("seq", "op_id", "step", "kind", "payload", "window", "before", "after")
    return Record(
        stage=found.stage,
        submitted=found.state == TaskState.SUBMITTED,
        opened=found.opened_at,
        log=[Logged(seq, str(op), str(step), *rest) for seq, op, step, *rest in log.values_list(*fields)],
        state=desk_state(found.public_id, found.assessor),
        frozen=[frozen_of(found, submission) for submission in Submission.objects.filter(task=task)],
        stretches=[stretch_of(*row) for row in TimeSegment.objects.filter(task=task).values_list(*SEGMENT_FIELDS)],
        read=timezone.now(),
    )


def frozen_of(task: Task, submission: Submission) -> list[Any]:
    if not task.stage.judges:
        return _nuggets(submission)
    return _assignments(task) if task.stage == ASSIGN else _support(task)


def _nuggets(submission: Submission) -> list[Any]:
    nuggets = []
    for item in submission.frozen_list.items.select_related("nugget_version").order_by("position"):
        pairs = NuggetEvidence.objects.filter(nugget_version=item.nugget_version_id)
        evidence = set(pairs.values_list("segment__public_id", "sentence"))
        nuggets.append((item.nugget_version.text, int(item.importance), evidence))
    return nuggets


def _assignments(task: Task) -> list[Any]:
    fields = ("answer__public_id", "nugget_version__nugget__public_id", "label", "raw", "sentence")
    return sorted(
        (f"{answer}/{nugget}", AssignmentLabel(label).name.lower(), raw, sentence)
        for answer, nugget, label, raw, sentence in _labels(task).values_list(*fields)
    )


def _support(task: Task) -> list[Any]:
    """Return labels by sentence and segment: what the page knows a citation by is one of several of the same."""
    fields = (
        "sentence__answer__public_id",
        "sentence__index",
        "segment__public_id",
        "label",
        "raw",
        "accepted",
        "evidence",
    )
    return sorted(
        (f"{answer}/{index}/{segment}", SupportLabel(label).name.lower(), raw, (bool(accepted), evidence))
        for answer, index, segment, label, raw, accepted, evidence in _labels(task).values_list(*fields)
    )


def _labels(task: Task) -> QuerySet[Any]:
    return asking_of(task.stage).labels_of(task).filter(judge=judge_of(task.assessor)).current()


def compare(task: int, ledger: Ledger, loss: Loss, counts: Counter[str], violation: Callable[[str], None]) -> int:
    """Compare what is stored of a task with its ledger; return the length of its log.

    Reports violations, and counts operations by what became of them.
    """
    acts, applied = ledger.acts.values(), ledger.applied()
    counts["operations"] += len(applied)
    counts["labels"] += sum(act.op["kind"] == "label" for act in applied)
    counts["offered"] += len(acts)
    counts["resends"] += sum(max(0, act.sends - 1) for act in acts)
    counts["given up"] += sum(act.outcome not in ("", "applied") for act in acts)
    if not ledger.opened:
        return 0
    with own_connection():
        loss.lose(task, [act.op_id for act in applied])
        record = read_record(task)
        found = check_task(record, ledger)
    counts["late"] += found.late
    for text in found.violations:
        violation(text)
    return len(record.log)


def check_task(record: Record, ledger: Ledger) -> Found:
    found = Found()
    by_id = {logged.op_id: logged for logged in record.log}
    found.same("numbers of the log", [logged.seq for logged in record.log], [*range(1, len(record.log) + 1)])
    found.none(
        "operations logged twice", [op_id for op_id, n in Counter(x.op_id for x in record.log).items() if n > 1]
    )
    found.none("operations that nobody sent", [logged for logged in record.log if logged.op_id not in ledger.acts])
    _check_receipts(found, by_id, ledger)
    _check_order(found, by_id, ledger)
    _check_chain(found, record, ledger)
    model = _check_model(found, record, ledger)
    _check_stacks(found, record, model)
    _check_frozen(found, record, model)
    _check_time(found, record)
    return found


def check_log(record: Record) -> Found:
    """Return what is wrong with a task in itself, where nobody knows what its assessor did.

    What it began with is told by its log: the first operation on each row, and the rows that none touched.
    """
    found, now = Found(), model_of(record.state)
    firsts = {key: row for logged in reversed(record.log) for key, row in logged.before.items()}
    untouched = {key: row for key, row in now.rows.items() if key not in firsts}
    began = untouched | {key: now.row_from_json(row) for key, row in firsts.items() if row}
    found.same("numbers of the log", [logged.seq for logged in record.log], [*range(1, len(record.log) + 1)])
    found.same("newest number", record.state["seq"], len(record.log))
    _check_chain(found, record, Ledger(first=began))
    _check_frozen(found, record, now)
    _check_time(found, record)
    return found


def _check_receipts(found: Found, by_id: dict[str, Logged], ledger: Ledger) -> None:
    """What was acknowledged is logged as it was sent; what was not is not, or came late."""
    for act in ledger.acts.values():
        logged = by_id.get(act.op_id)
        if act.outcome == "applied":
            _check_applied(found, act, logged)
        elif logged and act.outcome == "refused":
            found.late += 1
        elif logged or not act.outcome:
            what = "is logged" if logged else "has no receipt"
            found.violations.append(f"operation {act.op_id}, {act.op['kind']}, {act.outcome or 'waiting'}, {what}")


def _check_applied(found: Found, act: Act, logged: Logged | None) -> None:
    if logged is None:
        found.violations.append(f"operation {act.seq}, {act.op}, was acknowledged and is not in the log")
        return
    stored = (logged.seq, logged.step, logged.kind, logged.payload, logged.window)
    sent = (act.seq, act.op["step"], act.op["kind"], act.op["payload"], act.window)
    found.same(f"operation {act.op_id}", stored, sent)


def _check_order(found: Found, by_id: dict[str, Logged], ledger: Ledger) -> None:
    windows: dict[str, list[Act]] = {}
    for act in ledger.acts.values():
        if act.outcome == "applied" and act.op_id in by_id:
            windows.setdefault(act.window, []).append(act)
    for acts in windows.values():
        acts.sort(key=lambda act: act.number)
        pairs = pairwise(by_id[act.op_id].seq for act in acts)
        found.none("operations out of order", [pair for pair in pairs if pair[0] >= pair[1]])


def _check_chain(found: Found, record: Record, ledger: Ledger) -> None:
    now = model_of(record.state)
    rows: Json = now.as_json(ledger.first)
    for logged in record.log:
        was = {key: rows.get(key) for key in logged.before}
        found.same(f"rows before operation {logged.seq}, {logged.kind}", logged.before, was)
        rows |= logged.after
    left = {key: row for key, row in rows.items() if row}
    found.same("rows, by the log", now.as_json(now.rows), left)


def _check_model(found: Found, record: Record, ledger: Ledger) -> Model:
    """What the assessor did, done again by the rules, in the order of the log, leaves the same."""
    now = model_of(record.state)
    model = now.untouched(ledger.first)
    for logged in record.log:
        act = ledger.acts.get(logged.op_id)
        if act is None:
            continue
        try:
            _, after = model.do(act.op["kind"], act.op["payload"], act.op["step"])
        except Refused as refused:
            found.violations.append(f"operation {logged.seq}, {act.op}, makes no sense: {refused.message}")
            continue
        model.past[logged.seq] = after
        found.same(f"operation {logged.seq}, {logged.kind}, by the rules", logged.after, model.as_json(after))
    found.same("rows, by what the assessor did", now.as_json(now.rows), model.as_json(model.rows))
    found.same("what is noted", now.noted(), model.noted())
    found.same("newest number", record.state["seq"], len(record.log))
    return model


def _check_stacks(found: Found, record: Record, model: Model) -> None:
    """The page offers the steps to undo and redo that the assessor has in mind."""
    for name, stack in (("undo", model.undo), ("redo", model.redo)):
        found.same(f"steps to {name}", record.state[name], [model.step_json(step) for step in stack[-KEPT_STEPS:]])


def _check_frozen(found: Found, record: Record, model: Model) -> None:
    expected = model.frozen()
    found.same("submissions", len(record.frozen), int(record.submitted))
    for frozen in record.frozen:
        found.same("what is frozen", frozen, expected)


def _check_time(found: Found, record: Record) -> None:
    """No stretch runs backwards or lies outside of the work; all windows together credit no more than passed."""
    opened, read = milliseconds(record.opened), milliseconds(record.read)
    found.none(
        "stretches that run backwards", [stretch for stretch in record.stretches if stretch.end < stretch.start]
    )
    outside = [stretch for stretch in record.stretches if stretch.start < opened - SLACK or stretch.end > read]
    found.none("stretches outside of the work", outside)
    times = measure(record.stretches, limit_of(record.stage))
    if times.active.high > min(times.wall, read - opened + SLACK):
        passed = f"{times.wall} ms of stretches, {read - opened} ms since the opening"
        found.violations.append(f"credited {times.active.high} ms of {passed}")
