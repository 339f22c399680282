"""A task's past: submitted versions, every operation in words, and every version of every nugget."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet

from accounts.models import User
from assessor.blind.passages import passages_of
from assessor.blind.tasks import own_task
from assessor.desk.context import OPEN_STATES, context_of
from assessor.desk.desks import desk_of
from assessor.desk.nugget_ops import changes_json, row_from_json, row_of, stored_rows
from assessor.models import Operation, WorkingNugget
from assessor.rules.nugget_ops import NUGGET_OP_WORDS, Row
from evaluation.labels import LabelSet
from evaluation.models import NuggetEvidence, Submission, Task
from evaluation.terms import Decision, Importance, PassageMark

OPERATIONS_A_PAGE = 100
AS_PROPOSED = 0
"""Stands for the number of an operation where a proposal's own wording is meant."""
IMPORTANCE = {Importance.UNKNOWN: "neither vital nor okay", Importance.OKAY: "okay", Importance.VITAL: "vital"}
MARKS = {PassageMark.READ: "read", PassageMark.NOTHING_NEW: "read, nothing new", "": "not read after all"}

States = Mapping[str, Mapping[str, Any] | None]
"""Rows as the log holds them, by key; None: not there."""


@dataclass(frozen=True, slots=True)
class HistoryNugget:
    name: str
    text: str
    importance: str
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubmittedVersion:
    """One submitted version, as it was frozen: its nuggets, or the number of its labels."""

    version: int
    at: datetime
    nuggets: tuple[HistoryNugget, ...]
    labels: int


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """An operation in words. `old` and `new` are texts where the operation replaced the first by the second."""

    text: str
    old: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class Deed:
    version: int
    at: datetime
    line: HistoryLine


@dataclass(frozen=True, slots=True)
class PastVersion:
    """Earlier version of a nugget, left by operation `seq`. Of a proposal only the wording comes back."""

    seq: int
    at: datetime | None
    text: str
    importance: str
    decision: str
    places: tuple[str, ...]
    is_now: bool
    can_come_back: bool


@dataclass(frozen=True, slots=True)
class PastNugget:
    """One nugget with its versions, newest first. Those merged or split away cannot be set back."""

    key: str
    name: str
    text: str
    decision: str
    versions: tuple[PastVersion, ...]


@dataclass(frozen=True, slots=True)
class History:
    """One page of a task's history; without nuggets where answers are judged. `page` counts from 1, the newest."""

    task: str
    topic: str
    judges: bool
    is_open: bool
    version: int
    state: str
    submissions: tuple[SubmittedVersion, ...]
    deeds: tuple[Deed, ...]
    nuggets: tuple[PastNugget, ...]
    page: int
    pages: int
    total: int


def history_of(task: str, user: User, page: int) -> History:
    """Return a page of the history of one of the user's own tasks. Raises `NoSuchTask`."""
    own = own_task(task, user, opened=True)
    judges = own.stage.judges
    # Text in an open composer and answers that were opened change nothing that one could read again.
    log = Operation.objects.filter(task=own).exclude(kind="open" if judges else "compose").order_by("-seq")
    pages = Paginator(log, OPERATIONS_A_PAGE)
    log_page = pages.page(min(max(page, 1), pages.num_pages))
    operations = list(log_page)
    if judges:
        places, lines, nuggets = {}, _label_lines(own, operations), []
    else:
        places = {passage.public_id: f"P{passage.number}" for passage in passages_of(own)}
        rows = {key: row_of(stored) for key, stored in stored_rows(own).items()}
        newer = log[: log_page.start_index() - 1] if operations else log.none()
        lines = _nugget_lines(own, _rolled_back(rows, newer), operations, places)
        nuggets = list(_nuggets(own, rows, places))
    return History(
        task=own.public_id,
        topic=own.topic.text,
        judges=judges,
        is_open=own.state in OPEN_STATES,
        version=own.version,
        state=own.state,
        submissions=tuple(_submissions(own, places)),
        deeds=tuple(
            Deed(operation.submission, operation.at, line)
            for operation, line in zip(operations, lines, strict=True)
        ),
        nuggets=tuple(nuggets),
        page=log_page.number,
        pages=pages.num_pages,
        total=pages.count,
    )


def _rolled_back(rows: Mapping[str, Row], newer: QuerySet[Operation]) -> States:
    states: dict[str, Mapping[str, Any] | None] = dict(changes_json(rows))
    for before in newer.values_list("before", flat=True):
        states |= before
    return states


def _nugget_lines(
    task: Task, now: States, operations: Sequence[Operation], places: Mapping[str, str]
) -> Iterator[HistoryLine]:
    """Yield the operations in words, newest first. `now`: the rows after the first of them."""
    names, by_hand = _names(now), task.stage.by_hand
    targets = {str(operation.payload["target"]) for operation in operations if operation.kind in ("undo", "redo")}
    steps = Operation.objects.filter(task=task, step__in=targets).exclude(kind__in=["undo", "redo"])
    kinds = {str(step): kind for step, kind in steps.order_by("-seq").values_list("step", "kind")}
    for operation in operations:
        # Rows that an undo took away for good are only in the log.
        names = _names(operation.before) | _names(operation.after) | names
        yield LINES[operation.kind](_Logged(operation, names, places, kinds, by_hand))


def _names(states: States) -> dict[str, str]:
    return {key: f"N{row['number']}" for key, row in states.items() if row and row.get("number")}


@dataclass(frozen=True, slots=True)
class _Logged:
    """An operation with the names that the screen gives. `kinds`: of the steps that are undone and redone, by step."""

    operation: Operation
    names: Mapping[str, str]
    places: Mapping[str, str]
    kinds: Mapping[str, str]
    by_hand: bool

    @property
    def payload(self) -> Mapping[str, Any]:
        payload: dict[str, Any] = self.operation.payload
        return payload

    @property
    def name(self) -> str:
        return self.names.get(self.payload["key"], "A nugget")

    @property
    def place(self) -> str:
        return _place(self.places, self.payload["segment"], self.payload["sentence"], gone="a passage")

    @property
    def step(self) -> str:
        return NUGGET_OP_WORDS.get(self.kinds.get(str(self.payload["target"]), ""), "a step").lower()

    def before(self, key: str) -> str:
        return str((self.operation.before.get(key) or {}).get("text", ""))

    def after(self, key: str) -> str:
        return str((self.operation.after.get(key) or {}).get("text", ""))


def _decided(logged: _Logged) -> HistoryLine:
    payload = logged.payload
    if payload.get("importance"):
        return HistoryLine(f"{logged.name} kept as {IMPORTANCE[payload['importance']]}")
    key, operation = payload["key"], logged.operation
    before, after = operation.before.get(key) or {}, operation.after.get(key) or {}
    decision = after.get("decision", payload["decision"])
    if before.get("decision") == Decision.REJECTED:
        decision = "restored"
    elif logged.by_hand and decision == Decision.REJECTED:
        decision = "deleted"
    return HistoryLine(f"{logged.name} {decision}")


def _merged(logged: _Logged) -> HistoryLine:
    parents = " and ".join(logged.names.get(key, "a nugget") for key in logged.payload["from"])
    return HistoryLine(f"{parents} merged", new=logged.after(logged.payload["key"]))


def _split(logged: _Logged) -> HistoryLine:
    parent = logged.payload["from"]
    parts = " / ".join(logged.after(part["key"]) for part in logged.payload["into"])
    return HistoryLine(f"{logged.names.get(parent, 'A nugget')} split", logged.before(parent), parts)


def _reworded(logged: _Logged) -> HistoryLine:
    key = logged.payload["key"]
    return HistoryLine(f"{logged.name} reworded", logged.before(key), logged.after(key))


def _weighed(logged: _Logged) -> HistoryLine:
    weight = logged.payload["weight"]
    return HistoryLine(f"{logged.name} has no weight" if weight is None else f"{logged.name} weighs {weight:g}")


def _worth(importance: Importance, weight: float | None) -> str:
    """Importance in words, or of a criterion its weight, with the importance if it has one."""
    if weight is None:
        return IMPORTANCE[importance]
    return f"weight {weight:g}" + (f", {IMPORTANCE[importance]}" if importance else "")


def _set_back(logged: _Logged) -> HistoryLine:
    key = logged.payload["key"]
    old, new = logged.before(key), logged.after(key)
    # An earlier importance may have come back, and the wording stayed as it was.
    return HistoryLine(f"{logged.name} set back to an earlier version", *((old, new) if old != new else ()))


def _marked(logged: _Logged) -> HistoryLine:
    passage = logged.places.get(logged.payload["segment"], "A passage")
    return HistoryLine(f"{passage} {MARKS[logged.payload['mark']]}")


LINES: Mapping[str, Callable[[_Logged], HistoryLine]] = {
    "decide": _decided,
    "importance": lambda logged: HistoryLine(f"{logged.name} is {IMPORTANCE[logged.payload['importance']]}"),
    "weight": _weighed,
    "edit": _reworded,
    "add": lambda logged: HistoryLine(f"{logged.name} added", new=logged.after(logged.payload["key"])),
    "merge": _merged,
    "split": _split,
    "link": lambda logged: HistoryLine(f"{logged.name} linked to {logged.place}"),
    "unlink": lambda logged: HistoryLine(f"Link of {logged.name} to {logged.place} removed"),
    "move": lambda logged: HistoryLine(f"{logged.name} moved"),
    "mark": _marked,
    "search": lambda logged: HistoryLine(f"Searched for “{logged.payload.get('words', '')}”"),
    "undo": lambda logged: HistoryLine(f"Undone: {logged.step}"),
    "redo": lambda logged: HistoryLine(f"Redone: {logged.step}"),
    "restore": _set_back,
}


def _label_lines(task: Task, operations: Sequence[Operation]) -> Iterator[HistoryLine]:
    work, labels = desk_of(task.stage).read(context_of(task)), task.protocol.labels_of(task.stage)
    for operation in operations:
        about = ", ".join(work.names.get(key, "a nugget that was reworded since") for key in operation.after)
        texts = [_label(row, labels, work.unit(key)) for key, row in operation.after.items()]
        line = _label_line(operation, list(operation.after.values()), ", ".join(texts))
        yield HistoryLine(f"{about}: {line}" if about else line)


def _label_line(operation: Operation, rows: Sequence[Mapping[str, Any]], text: str) -> str:
    match operation.kind:
        case "search":
            return f"Searched for “{operation.payload['words']}”"
        case "sweep":
            return "Began the consistency check"
        case "undo" | "redo":
            return f"{operation.kind.capitalize()}: {text}"
        case "locate":
            place = rows[0].get("sentence")
            return "Place taken away" if place is None else f"Found in S{place + 1}"
        case "evidence":
            evidence = rows[0]["evidence"]
            return "Evidence taken away" if evidence is None else f"Evidence in S{evidence + 1} of the passage"
    return text


def _label(row: Mapping[str, Any], labels: LabelSet, unit: str) -> str:
    word = labels.caption(labels.by_word[row["label"]], unit) if row["label"] else "Cleared"
    return f"{word}: {row['reason']}" if row["reason"] else word


def _submissions(task: Task, places: Mapping[str, str]) -> Iterator[SubmittedVersion]:
    numbers = WorkingNugget.objects.filter(task=task, nugget__isnull=False).values_list("nugget", "number")
    names = {nugget: f"N{number}" for nugget, number in numbers}
    for submission in Submission.objects.filter(task=task).select_related("nugget_list").order_by("-version"):
        nuggets = tuple(_submitted_nuggets(submission, names, places))
        yield SubmittedVersion(submission.version, submission.at, nuggets, submission.labels)


def _submitted_nuggets(
    submission: Submission, names: Mapping[int, str], places: Mapping[str, str]
) -> Iterator[HistoryNugget]:
    if submission.nugget_list is None:
        return
    items = list(submission.nugget_list.items.select_related("nugget_version").order_by("position"))
    evidence = NuggetEvidence.objects.filter(nugget_version__in=[item.nugget_version_id for item in items])
    of_wording: dict[int, list[str]] = {}
    rows = evidence.order_by("pk").values_list("nugget_version_id", "segment__public_id", "sentence")
    for wording, segment, sentence in rows:
        of_wording.setdefault(wording, []).append(_place(places, segment, sentence))
    for item in items:
        yield HistoryNugget(
            names.get(item.nugget_version.nugget_id, ""),
            item.nugget_version.text,
            _worth(Importance(item.importance), item.weight),
            tuple(of_wording.get(item.nugget_version_id, ())),
        )


def _nuggets(task: Task, rows: Mapping[str, Row], places: Mapping[str, str]) -> Iterator[PastNugget]:
    """Every nugget of the list, those in it first."""
    past = _past(task)
    for row in sorted(rows.values(), key=lambda row: (row.decision is Decision.REPLACED, row.position, row.key)):
        yield PastNugget(
            key=row.key,
            name=f"N{row.number}",
            text=row.text,
            decision=_decision(task, row.decision),
            versions=tuple(reversed(list(_versions(task, row, past.get(row.key, []), places)))),
        )


def _past(task: Task) -> dict[str, list[tuple[int, datetime, Row | None]]]:
    """Return each row as operations left it, oldest first; of the autosaves of one stretch of typing only the last."""
    log = Operation.objects.filter(task=task).exclude(kind__in=["mark", "compose"]).order_by("seq")
    past: dict[str, list[tuple[int, datetime, Row | None]]] = {}
    by_step = groupby(log.values_list("step", "kind", "seq", "at", "after"), key=lambda entry: entry[:2])
    for _, operations in by_step:
        last: dict[str, tuple[int, datetime, Row | None]] = {}
        for _, _, seq, at, after in operations:
            last |= {key: (seq, at, row_from_json(row)) for key, row in after.items()}
        for key, left in last.items():
            past.setdefault(key, []).append(left)
    return past


def _versions(
    task: Task, row: Row, past: Iterable[tuple[int, datetime, Row | None]], places: Mapping[str, str]
) -> Iterator[PastVersion]:
    """Return the versions of a row in turn; moving it, or merging it away, makes none."""
    content = None
    if row.draft is not None:
        content = (row.draft, Importance.UNKNOWN, None, Decision.UNDECIDED, ())
        proposed = Row(key=row.key, position=0, text=row.draft, making=row.making, number=row.number)
        yield _version(task, AS_PROPOSED, None, proposed, row, places)
    for seq, at, left in past:
        if left is None or left.decision is Decision.REPLACED or _content(left) == content:
            continue
        content = _content(left)
        yield _version(task, seq, at, left, row, places)


def _content(row: Row) -> tuple[Any, ...]:
    return row.text, row.importance, row.weight, row.decision, row.evidence


def _version(
    task: Task, seq: int, at: datetime | None, left: Row, now: Row, places: Mapping[str, str]
) -> PastVersion:
    return PastVersion(
        seq=seq,
        at=at,
        text=left.text,
        importance=_worth(left.importance, left.weight),
        decision=_decision(task, left.decision),
        places=tuple(_place(places, segment, sentence) for segment, sentence in left.evidence),
        is_now=_content(left) == _content(now),
        can_come_back=_can_come_back(task, seq, left, now),
    )


def _can_come_back(task: Task, seq: int, left: Row, now: Row) -> bool:
    if task.state not in OPEN_STATES or now.decision is Decision.REPLACED:
        return False
    return left.text != now.text if seq == AS_PROPOSED else _content(left) != _content(now)


def _decision(task: Task, decision: Decision) -> str:
    if decision is Decision.REPLACED:
        return "merged or split"
    return "deleted" if task.stage.by_hand and decision is Decision.REJECTED else str(decision)


def _place(
    places: Mapping[str, str], segment: str, sentence: int | None, gone: str = "a passage that is gone"
) -> str:
    passage = places.get(segment, gone)
    return passage if sentence is None else f"{passage} S{sentence + 1}"
