"""A task's past: what was submitted, what was done and when, and every version of every nugget."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from accounts.models import User
from assessor.blind.passages import passages_of
from assessor.blind.review import own_task
from assessor.desk.context import OPEN_STATES, place_of
from assessor.desk.nugget_ops import changes_json, row_from_json, row_of, stored_rows
from assessor.desk.task_labels import SEPARATOR, TaskLabels, read_task
from assessor.models import Operation, WorkingNugget
from assessor.rules.history_text import IMPORTANCE, HistoryLine, LoggedOperation, rolled_back, tell_backwards
from assessor.rules.nugget_ops import Row
from evaluation.domain.labels import CITATION_LABELS, NUGGET_LABELS, labels_of_stage
from evaluation.models import NuggetEvidence, Submission, Task
from evaluation.terms import Decision, Importance, Stage

OPERATIONS_A_PAGE = 100
AS_PROPOSED = 0
"""Stands for the number of an operation where a proposal's own wording is meant."""


@dataclass(frozen=True, slots=True)
class HistoryNugget:
    """One nugget of a submitted list."""

    name: str
    text: str
    importance: str
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubmittedList:
    """One submitted version, as it was frozen."""

    version: int
    at: datetime
    nuggets: tuple[HistoryNugget, ...]


@dataclass(frozen=True, slots=True)
class Deed:
    """One operation in words."""

    seq: int
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
    """One page of a task's history. `page` counts from 1, the newest."""

    task: str
    topic: str
    by_hand: bool
    is_open: bool
    version: int
    state: str
    submissions: tuple[SubmittedList, ...]
    deeds: tuple[Deed, ...]
    nuggets: tuple[PastNugget, ...]
    page: int
    pages: int
    total: int


def history_of(task: str, user: User, page: int) -> History:
    """Return a page of the history of one of the user's own tasks. Raises `NoSuchTask`."""
    found = own_task(task, user)
    places = {passage.public_id: f"P{passage.number}" for passage in passages_of(found)}
    rows = {key: row_of(stored) for key, stored in stored_rows(found).items()}
    total = _deeds(found).count()
    pages = max(1, -(-total // OPERATIONS_A_PAGE))
    page = min(max(page, 1), pages)
    return History(
        task=found.public_id,
        topic=found.topic.text,
        by_hand=found.stage == Stage.MANUAL,
        is_open=found.state in OPEN_STATES,
        version=found.version,
        state=found.state,
        submissions=tuple(_submissions(found, places)),
        deeds=tuple(_told(found, rows, places, page)),
        nuggets=tuple(_nuggets(found, rows, places)),
        page=page,
        pages=pages,
        total=total,
    )


def _deeds(task: Task) -> Any:
    """Operations of a task for its history, newest first, without what was only typed into an open composer."""
    return Operation.objects.filter(task=task).exclude(kind="compose").order_by("-seq")


def _told(task: Task, rows: dict[str, Row], places: dict[str, str], page: int) -> Iterator[Deed]:
    newer = (page - 1) * OPERATIONS_A_PAGE
    now = rolled_back(changes_json(rows), _deeds(task)[:newer].values_list("before", flat=True))
    shown = list(_deeds(task)[newer : newer + OPERATIONS_A_PAGE])
    log = list(_logged(task, shown))
    for operation, line in zip(shown, tell_backwards(now, log, places, task.stage == Stage.MANUAL), strict=True):
        yield Deed(operation.seq, operation.submission, operation.at, line)


def _logged(task: Task, operations: list[Operation]) -> Iterator[LoggedOperation]:
    targets = {str(operation.payload["target"]) for operation in operations if operation.kind in ("undo", "redo")}
    steps = Operation.objects.filter(task=task, step__in=targets).exclude(kind__in=["undo", "redo"])
    kinds = {str(step): kind for step, kind in steps.order_by("-seq").values_list("step", "kind")}
    for operation in operations:
        target_kind = kinds.get(str(operation.payload.get("target", "")), "")
        yield LoggedOperation(operation.kind, operation.payload, operation.before, operation.after, target_kind)


def _submissions(task: Task, places: dict[str, str]) -> Iterator[SubmittedList]:
    numbers = WorkingNugget.objects.filter(task=task, nugget__isnull=False).values_list("nugget", "number")
    names = {nugget: f"N{number}" for nugget, number in numbers}
    for submission in Submission.objects.filter(task=task).select_related("nugget_list").order_by("-version"):
        items = list(submission.frozen_list.items.select_related("nugget_version").order_by("position"))
        evidence = NuggetEvidence.objects.filter(nugget_version__in=[item.nugget_version_id for item in items])
        of_wording: dict[int, list[str]] = {}
        for wording, segment, sentence in evidence.order_by("pk").values_list(
            "nugget_version_id", "segment__public_id", "sentence"
        ):
            of_wording.setdefault(wording, []).append(_place(places, segment, sentence))
        nuggets = tuple(
            HistoryNugget(
                names.get(item.nugget_version.nugget_id, ""),
                item.nugget_version.text,
                IMPORTANCE[Importance(item.importance)],
                tuple(of_wording.get(item.nugget_version_id, ())),
            )
            for item in items
        )
        yield SubmittedList(submission.version, submission.at, nuggets)


def _nuggets(task: Task, rows: dict[str, Row], places: dict[str, str]) -> Iterator[PastNugget]:
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
    task: Task, row: Row, past: Iterable[tuple[int, datetime, Row | None]], places: dict[str, str]
) -> Iterator[PastVersion]:
    """Return the versions of a row in turn; moving it, or merging it away, makes none."""
    known = None
    if row.draft is not None:
        known = (row.draft, Importance.UNKNOWN, Decision.UNDECIDED, ())
        proposed = Row(key=row.key, position=0, text=row.draft, making=row.making)
        yield _version(task, AS_PROPOSED, None, proposed, row, places)
    for seq, at, left in past:
        if left is None or left.decision is Decision.REPLACED or _content(left) == known:
            continue
        known = _content(left)
        yield _version(task, seq, at, left, row, places)


def _content(row: Row) -> tuple[Any, ...]:
    return row.text, row.importance, row.decision, row.evidence


def _version(
    task: Task, seq: int, at: datetime | None, left: Row, now: Row, places: dict[str, str]
) -> PastVersion:
    return PastVersion(
        seq=seq,
        at=at,
        text=left.text,
        importance=IMPORTANCE[left.importance],
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
    return "deleted" if task.stage == Stage.MANUAL and decision is Decision.REJECTED else str(decision)


def _place(places: dict[str, str], segment: str, sentence: int | None) -> str:
    passage = places.get(segment, "a passage that is gone")
    return passage if sentence is None else f"{passage} S{sentence + 1}"


MOST_NAMED = 30
CAPTIONS = {
    word: label.caption
    for label_set in (NUGGET_LABELS, CITATION_LABELS)
    for word, label in label_set.by_word.items()
}


@dataclass(frozen=True, slots=True)
class Missing:
    """An answer in which labels are missing: the first key that has none, and how many."""

    key: str
    answer: str
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class JudgedSummary:
    """A judging task as it stands. `labels`: how often each was given; `not_askable`: citations without a text."""

    task: str
    topic: str
    assigns: bool
    is_open: bool
    answers: int
    asked: int
    judged: int
    labels: tuple[tuple[str, int], ...]
    missing: tuple[Missing, ...]
    answers_missing: int
    not_askable: int

    @property
    def is_complete(self) -> bool:
        return self.judged == self.asked

    @property
    def first(self) -> str:
        """The first key without a label, '' where none is."""
        return self.missing[0].key if self.missing else ""


@dataclass(frozen=True, slots=True)
class LabelDeed:
    """One operation in words."""

    seq: int
    version: int
    at: datetime
    what: str
    about: str


@dataclass(frozen=True, slots=True)
class Submitted:
    version: int
    at: datetime
    labels: int


@dataclass(frozen=True, slots=True)
class JudgedHistory:
    """One page of a judging task's history. `page` counts from 1, the newest."""

    task: str
    topic: str
    is_open: bool
    version: int
    state: str
    submissions: tuple[Submitted, ...]
    deeds: tuple[LabelDeed, ...]
    page: int
    pages: int
    total: int


def judged_summary(task: str, user: User) -> JudgedSummary:
    """Return the summary of one of the user's own judging tasks. Raises `NoSuchTask`."""
    found = own_task(task, user)
    work = read_task(place_of(found))
    asked, lacking = work.asked, set(work.missing)
    counted = Counter(CAPTIONS[work.labels[key].row.label or ""] for key in asked if key not in lacking)
    captions = [label.caption for label in labels_of_stage(found.stage).by_word.values()]
    missing = list(_missing(pair_names(work), work.missing))
    return JudgedSummary(
        task=found.public_id,
        topic=found.topic.text,
        assigns=found.stage == Stage.ASSIGN,
        is_open=found.state in OPEN_STATES,
        answers=len(work.answers),
        asked=len(asked),
        judged=sum(counted.values()),
        labels=tuple((word, counted[word]) for word in captions if counted[word]),
        missing=tuple(missing[:MOST_NAMED]),
        answers_missing=len(missing),
        not_askable=sum(not pair.judgeable for pair in work.pairs),
    )


def judged_history(task: str, user: User, page: int) -> JudgedHistory:
    """Return a page of the history of one of the user's own judging tasks. Raises `NoSuchTask`."""
    found = own_task(task, user)
    log = Operation.objects.filter(task=found).exclude(kind="open").order_by("-seq")
    total = log.count()
    pages = max(1, -(-total // OPERATIONS_A_PAGE))
    page = min(max(page, 1), pages)
    start = (page - 1) * OPERATIONS_A_PAGE
    submitted = Submission.objects.filter(task=found).order_by("-version")
    return JudgedHistory(
        task=found.public_id,
        topic=found.topic.text,
        is_open=found.state in OPEN_STATES,
        version=found.version,
        state=found.state,
        submissions=tuple(Submitted(*row) for row in submitted.values_list("version", "at", "labels")),
        deeds=tuple(_label_deeds(found, list(log[start : start + OPERATIONS_A_PAGE]))),
        page=page,
        pages=pages,
        total=total,
    )


def _missing(names: Mapping[str, str], keys: list[str]) -> Iterator[Missing]:
    """Yield the answers with gaps, in order."""
    by_answer: dict[str, list[str]] = {}
    for key in keys:
        answer, _, _ = names[key].partition(",")
        by_answer.setdefault(answer, []).append(key)
    for name, some in by_answer.items():
        yield Missing(some[0], some[0].partition(SEPARATOR)[0], name, len(some))


def pair_names(work: TaskLabels) -> dict[str, str]:
    """Return the names on the screen of all pairs: "Answer 3, N7", or "Answer 3, S2 [4]"."""
    numbers = {answer: number for number, (answer, _) in enumerate(work.answers, start=1)}
    nuggets = {
        f"{answer}{SEPARATOR}{nugget.key}": f"Answer {number}, N{n}"
        for n, nugget in enumerate(work.nuggets, start=1)
        for answer, number in numbers.items()
    }
    return nuggets | {
        pair.key: f"Answer {numbers[pair.answer]}, S{pair.sentence + 1} [{pair.number}]" for pair in work.pairs
    }


def _label_deeds(task: Task, operations: list[Operation]) -> Iterator[LabelDeed]:
    names = pair_names(read_task(place_of(task)))
    for operation in operations:
        changed = list(operation.after.items())
        about = ", ".join(names.get(key, "a nugget that was reworded since") for key, _ in changed)
        yield LabelDeed(
            operation.seq, operation.submission, operation.at, _what(operation, [row for _, row in changed]), about
        )


def _what(operation: Operation, rows: list[dict[str, Any]]) -> str:
    if operation.kind == "search":
        return f"Searched for “{operation.payload['words']}”"
    if operation.kind == "sweep":
        return "Began the nugget sweep"
    text = ", ".join(_label(row) for row in rows)
    if operation.kind in ("undo", "redo"):
        return f"Undo: {text}" if operation.kind == "undo" else f"Redo: {text}"
    if operation.kind == "locate":
        place = rows[0].get("sentence")
        return "Place taken away" if place is None else f"Found in S{place + 1}"
    return text


def _label(row: dict[str, Any]) -> str:
    word = CAPTIONS[row["label"]] if row["label"] else "Cleared"
    return f"{word}: {row['reason']}" if row["reason"] else word
