"""Review before a submission: the state of the list, and each nugget that still waits, by name."""

from dataclasses import dataclass

from accounts.models import User
from assessor.desk.context import OPEN_STATES
from assessor.desk.nugget_ops import row_of, stored_rows
from assessor.desk.submit import limit_of
from assessor.models import MarkedPassage
from assessor.rules.nugget_ops import Rows
from assessor.rules.submit import review_of
from evaluation.errors import NoSuchTask
from evaluation.models import Task
from evaluation.tasks.reading_load import readable
from evaluation.terms import Stage


@dataclass(frozen=True, slots=True)
class NamedNugget:
    """One nugget as the screen calls it."""

    key: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ReviewSummary:
    """A list as it stands. `unread`: passages that carry no mark."""

    task: str
    topic: str
    by_hand: bool
    is_open: bool
    is_complete: bool
    kept: int
    rejected: int
    added: int
    merged: int
    split: int
    reworded: int
    limit: int | None
    over_limit: int
    passages: int
    unread: int
    undecided: tuple[NamedNugget, ...]
    without_importance: tuple[NamedNugget, ...]
    without_evidence: tuple[NamedNugget, ...]

    @property
    def first(self) -> str:
        """Key of the first nugget that stands in the way, '' where none does."""
        return next((nugget.key for nugget in (*self.undecided, *self.without_importance)), "")


def review_summary(task: str, user: User) -> ReviewSummary:
    """Return the summary of one of the user's own tasks. Raises `NoSuchTask`."""
    found = own_task(task, user)
    rows = {key: row_of(stored) for key, stored in stored_rows(found).items()}
    review = review_of(rows, limit_of(found))
    passages, unread = _passages(found)
    return ReviewSummary(
        task=found.public_id,
        topic=found.topic.text,
        by_hand=found.stage == Stage.MANUAL,
        is_open=found.state in OPEN_STATES,
        is_complete=review.is_complete,
        kept=review.kept,
        rejected=review.rejected,
        added=review.added,
        merged=review.merged,
        split=review.split,
        reworded=review.reworded,
        limit=limit_of(found),
        over_limit=review.over_limit,
        passages=passages,
        unread=unread,
        undecided=_named(rows, review.undecided, review.numbers),
        without_importance=_named(rows, review.without_importance, review.numbers),
        without_evidence=_named(rows, review.without_evidence, review.numbers),
    )


def own_task(task: str, user: User) -> Task:
    """Return one of the user's own tasks that has been opened. Raises `NoSuchTask`."""
    found = (
        Task.objects.open_for(user)
        .select_related("campaign", "topic", "protocol", "qrels")
        .filter(public_id=task, opened_at__isnull=False)
        .first()
    )
    if found is None:
        raise NoSuchTask
    return found


def _named(rows: Rows, keys: tuple[str, ...], numbers: dict[str, int]) -> tuple[NamedNugget, ...]:
    return tuple(NamedNugget(key, f"N{numbers[key]}", rows[key].text) for key in keys)


def _passages(task: Task) -> tuple[int, int]:
    """Return the number of passages to read, and of those that carry no mark."""
    shown = readable(task.qrels_id or 0, task.protocol.grade_threshold).filter(topic=task.topic_id)
    segments = set(shown.values_list("segment_id", flat=True))
    marked = set(MarkedPassage.objects.filter(task=task).values_list("segment_id", flat=True))
    return len(segments), len(segments - marked)
