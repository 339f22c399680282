"""What an assessor reads of a judging task before submitting, and its past."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.models import User
from evaluation.blind.review import own_task
from evaluation.domain.labels import CITATION_LABELS, NUGGET_LABELS, labels_of_stage
from evaluation.models import Operation, Submission, Task, TaskAnswer
from evaluation.services.desk.finding import OPEN_STATES, Place, place_of
from evaluation.services.desk.judging import nuggets_of, pairs_of
from evaluation.services.desk.labels import SEPARATOR, labels_of
from evaluation.services.desk.progress import asked_keys
from evaluation.terms import Stage

OPERATIONS_A_PAGE = 100
MOST_NAMED = 30
CAPTIONS = {word: label.caption for one in (NUGGET_LABELS, CITATION_LABELS) for word, label in one.by_word.items()}


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
        """Whether everything that is asked has a label."""
        return self.judged == self.asked

    @property
    def first(self) -> str:
        """The first key without a label, '' where none is."""
        return self.missing[0].key if self.missing else ""


@dataclass(frozen=True, slots=True)
class Deed:
    """One operation in words."""

    seq: int
    version: int
    at: datetime
    what: str
    about: str


@dataclass(frozen=True, slots=True)
class Submitted:
    """One submitted version."""

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
    deeds: tuple[Deed, ...]
    page: int
    pages: int
    total: int


def judged_summary(task: str, user: User) -> JudgedSummary:
    """Return the summary of one of the user's own judging tasks. Raises `NoSuchTask`."""
    found = own_task(task, user)
    place = place_of(found)
    asked = asked_keys(place)
    given = {key: row.label for key, row in labels_of(place).read().items() if row.label}
    names = _names(place)
    counted = Counter(CAPTIONS[given[key]] for key in asked if key in given)
    captions = [label.caption for label in labels_of_stage(found.stage).by_word.values()]
    missing = list(_missing(names, [key for key in asked if key not in given]))
    return JudgedSummary(
        task=found.public_id,
        topic=found.topic.text,
        assigns=found.stage == Stage.ASSIGN,
        is_open=found.state in OPEN_STATES,
        answers=TaskAnswer.objects.filter(task=found, same_as=None).count(),
        asked=len(asked),
        judged=sum(counted.values()),
        labels=tuple((word, counted[word]) for word in captions if counted[word]),
        missing=tuple(missing[:MOST_NAMED]),
        answers_missing=len(missing),
        not_askable=0 if found.stage == Stage.ASSIGN else sum(not one.judgeable for one in pairs_of(place)),
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
        deeds=tuple(_deeds(found, list(log[start : start + OPERATIONS_A_PAGE]))),
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


def _names(place: Place) -> dict[str, str]:
    """Return what the screen calls each thing that is asked: "Answer 3, N7", or "Answer 3, S2 [4]"."""
    rows = TaskAnswer.objects.filter(task=place.task, same_as=None).order_by("position")
    numbers = {answer: n for n, answer in enumerate(rows.values_list("answer__public_id", flat=True), start=1)}
    if place.stage == Stage.ASSIGN:
        nuggets = enumerate(nuggets_of(place), start=1)
        return {
            f"{answer}{SEPARATOR}{nugget.key}": f"Answer {number}, N{n}"
            for n, nugget in nuggets
            for answer, number in numbers.items()
        }
    return {
        pair.key: f"Answer {numbers[pair.answer]}, S{pair.sentence + 1} [{pair.number}]"
        for pair in pairs_of(place)
    }


def _deeds(task: Task, operations: list[Operation]) -> Iterator[Deed]:
    names = _names(place_of(task))
    for one in operations:
        changed = list(one.after.items())
        about = ", ".join(names.get(key, "a nugget that was reworded since") for key, _ in changed)
        yield Deed(one.seq, one.submission, one.at, _what(one, [row for _, row in changed]), about)


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
