"""Review before a submission: state of the work, and by name each nugget or answer that still waits."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from accounts.models import User
from assessor.blind.tasks import own_task
from assessor.desk.context import OPEN_STATES, context_of
from assessor.desk.desks import desk_of
from assessor.desk.nugget_ops import row_of, stored_rows
from assessor.desk.submit import limit_of
from assessor.desk.task_labels import SEPARATOR
from assessor.models import MarkedPassage
from assessor.rules.submit import Review, numbers_of, review_of
from evaluation.tasks.reading_load import readable

MOST_NAMED = 30


@dataclass(frozen=True, slots=True)
class NamedNugget:
    key: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ReviewSummary:
    """State of a list. `unread`: passages that carry no mark."""

    task: str
    topic: str
    by_hand: bool
    is_open: bool
    limit: int | None
    passages: int
    unread: int
    counts: Review
    undecided: tuple[NamedNugget, ...]
    without_importance: tuple[NamedNugget, ...]
    without_weight: tuple[NamedNugget, ...]
    without_evidence: tuple[NamedNugget, ...]

    @property
    def is_complete(self) -> bool:
        return self.counts.is_complete

    @property
    def first(self) -> str:
        """Key of the first nugget that must still be decided, '' where none is."""
        return next(
            (nugget.key for nugget in (*self.undecided, *self.without_importance, *self.without_weight)), ""
        )


def review_summary(task: str, user: User) -> ReviewSummary:
    """Return the summary of one of the user's own tasks. Raises `NoSuchTask`."""
    own = own_task(task, user, opened=True)
    rows = {key: row_of(stored) for key, stored in stored_rows(own).items()}
    limit, numbers = limit_of(own), numbers_of(rows)
    counts = review_of(rows, limit)
    to_read = readable(own.qrels_id or 0, own.protocol.grade_threshold).filter(topic=own.topic_id)
    passages = set(to_read.values_list("segment_id", flat=True))
    marked = set(MarkedPassage.objects.filter(task=own).values_list("segment_id", flat=True))

    def nuggets_of(keys: Iterable[str]) -> tuple[NamedNugget, ...]:
        return tuple(NamedNugget(key, f"N{numbers[key]}", rows[key].text) for key in keys)

    return ReviewSummary(
        task=own.public_id,
        topic=own.topic.text,
        by_hand=own.stage.by_hand,
        is_open=own.state in OPEN_STATES,
        limit=limit,
        passages=len(passages),
        unread=len(passages - marked),
        counts=counts,
        undecided=nuggets_of(counts.undecided),
        without_importance=nuggets_of(counts.without_importance),
        without_weight=nuggets_of(counts.without_weight),
        without_evidence=nuggets_of(counts.without_evidence),
    )


@dataclass(frozen=True, slots=True)
class Missing:
    """An answer in which labels are missing: the first key that has none, and how many."""

    key: str
    answer: str
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class JudgedSummary:
    """State of a judging task. `labels`: how often each was given; `not_askable`: citations without a text."""

    task: str
    topic: str
    noun: str
    is_open: bool
    answers: int
    pairs: int
    judged: int
    labels: tuple[tuple[str, int], ...]
    missing: tuple[Missing, ...]
    answers_missing: int
    not_askable: int

    @property
    def is_complete(self) -> bool:
        return self.judged == self.pairs

    @property
    def first(self) -> str:
        return self.missing[0].key if self.missing else ""


def judged_summary(task: str, user: User) -> JudgedSummary:
    """Return the summary of one of the user's own judging tasks. Raises `NoSuchTask`."""
    own = own_task(task, user, opened=True)
    work, labels = desk_of(own.stage).read(context_of(own)), own.protocol.labels_of(own.stage)
    keys, lacking = work.judgeable, set(work.missing)
    units = sorted({work.unit(key) for key in keys})
    words = ((work.labels[key].row.label or "", work.unit(key)) for key in keys if key not in lacking)
    counted = Counter(labels.caption(labels.by_word[word], unit) for word, unit in words)
    captions = dict.fromkeys(labels.caption(label, unit) for label in labels.by_word.values() for unit in units)
    missing = list(_missing(work.names, work.missing))
    return JudgedSummary(
        task=own.public_id,
        topic=own.topic.text,
        noun=own.stage.reads,
        is_open=own.state in OPEN_STATES,
        answers=len(work.answers),
        pairs=len(keys),
        judged=len(keys) - len(lacking),
        labels=tuple((caption, counted[caption]) for caption in captions if counted[caption]),
        # A task that was just opened lacks thousands of labels; the first answers are enough to go on with.
        missing=tuple(missing[:MOST_NAMED]),
        answers_missing=len(missing),
        not_askable=work.not_askable,
    )


def _missing(names: Mapping[str, str], keys: Iterable[str]) -> Iterator[Missing]:
    by_answer: dict[str, list[str]] = {}
    for key in keys:
        by_answer.setdefault(names[key].partition(",")[0], []).append(key)
    for name, without in by_answer.items():
        yield Missing(without[0], without[0].partition(SEPARATOR)[0], name, len(without))
