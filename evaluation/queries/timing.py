"""How long topics took: per submitted version, from the stretches that the desks recorded."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from accounts.models import User
from evaluation.models import Campaign, Judge, Submission, Task, TimeSegment
from evaluation.queries.campaigns import within
from evaluation.rules.clock import Limit, Stretch, Times, limit_of, measure, milliseconds
from evaluation.terms import SegmentKind, Stage

CHUNK = 2000
FIELDS = ("window", "number", "kind", "started_at", "ended_at", "words", "blurred", "offline", "said")


@dataclass(frozen=True, slots=True)
class Timed:
    """Whose time it is: one submission of one stage of a topic. `submitted`: it is frozen, so the time is final.

    `whole`: everything of the topic was asked, not only the pairs of a study.
    """

    campaign: str
    topic_id: str
    stage: Stage
    assessor: str
    version: int
    submitted: bool
    whole: bool = True


@dataclass(frozen=True, slots=True)
class RecordedStretch:
    """One stretch as it was recorded, with what it was about."""

    stretch: Stretch
    item: str


@dataclass(frozen=True, slots=True)
class TopicTime:
    """The times of one submission."""

    timed: Timed
    times: Times


def times_for(viewer: User, campaign: Campaign, limit: Limit | None = None) -> list[TopicTime]:
    """Return the times of a campaign as far as the viewer may see them."""
    return times_in(within(viewer, campaign), limit)


def times_in(campaigns: QuerySet[Campaign], limit: Limit | None = None) -> list[TopicTime]:
    """Return the times of each submission, in the order of topics. Without a limit that of each stage's screen."""
    return [
        TopicTime(timed, measure((one.stretch for one in recorded), limit or limit_of(timed.stage)))
        for timed, recorded in recorded_in(campaigns)
    ]


def recorded_in(campaigns: QuerySet[Campaign]) -> Iterator[tuple[Timed, list[RecordedStretch]]]:
    """Yield each submission with its stretches, a task at a time. Withdrawn work is kept and not counted."""
    tasks = Task.objects.filter(campaign__in=campaigns).not_withdrawn()
    ordered = tasks.select_related("campaign", "topic", "assessor").order_by(
        "campaign__slug", "topic__position", "stage", "pk"
    )
    judges = Judge.objects.filter(user__in=tasks.values("assessor"))
    names: dict[tuple[int | None, int | None], str] = {
        (user, study): name for user, study, name in judges.values_list("user", "study", "name")
    }
    submitted = set(Submission.objects.filter(task__in=tasks).values_list("task", "version"))
    for task in ordered:
        for version, recorded in sorted(_recorded(task).items()):
            timed = Timed(
                campaign=task.campaign.slug,
                topic_id=task.topic.topic_id,
                stage=Stage(task.stage),
                assessor=names.get((task.assessor_id, task.study_id), task.assessor.name),
                version=version,
                submitted=(task.pk, version) in submitted,
                whole=task.study_id is None,
            )
            yield timed, recorded


def _recorded(task: Task) -> dict[int, list[RecordedStretch]]:
    found: dict[int, list[RecordedStretch]] = defaultdict(list)
    rows = TimeSegment.objects.filter(task=task).order_by("started_at", "window", "number")
    for version, item, *fields in rows.values_list("submission", "item", *FIELDS).iterator(chunk_size=CHUNK):
        found[version].append(RecordedStretch(stretch_of(*fields), item))
    return found


def stretch_of(
    window: str, number: int, kind: str, started: datetime, ended: datetime, *tags: int | bool | str
) -> Stretch:
    """Return a stored row, by its `FIELDS`, as the rules know it."""
    words, blurred, offline, gap_answer = tags
    return Stretch(
        window=window,
        number=number,
        kind=SegmentKind(kind),
        start=milliseconds(started),
        end=milliseconds(ended),
        words=int(words),
        blurred=bool(blurred),
        offline=bool(offline),
        gap_answer=str(gap_answer),
    )
