"""Work of each assessor by stage, and figures to ask about. Nobody is ranked."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from accounts.models import User
from evaluation.models import Campaign, Topic
from evaluation.queries.assessors import (
    Assessor,
    Latencies,
    Mix,
    Mixes,
    TaskCount,
    assessors_at_work,
    judges_by_user,
    latencies_for,
    mixes_for,
    task_counts_for,
)
from evaluation.queries.kept_times import KeptTime, kept_times_for
from evaluation.rules.clock import SECOND
from evaluation.rules.forecast import spread_of
from evaluation.terms import Stage
from organizer.people_flags import Flag, flags_of
from organizer.people_rows import PersonStage
from organizer.words import STAGE_WORDS
from reports.reading import Words, words_read

MINUTE = 60 * SECOND
COLUMNS: Final = (
    *(
        "assessor",
        "username",
        "stage",
        "done",
        "unfinished",
        "median_min",
        "q1_min",
        "q3_min",
        "low_min",
        "high_min",
    ),
    *("words_per_minute", "labels", "full", "partial", "none", "others_full", "others_partial", "others_none"),
    *("cant_judge", "sweep_changes", "accepted", "accept_median_ms", "last_seen", "paused_since"),
)


@dataclass(frozen=True, slots=True)
class PeopleWork:
    """People, their work by stage, and the flags."""

    people: tuple[Assessor, ...]
    stages: tuple[tuple[Stage, tuple[PersonStage, ...]], ...]
    flags: tuple[Flag, ...]

    @property
    def rows(self) -> Iterator[PersonStage]:
        return (row for _, rows in self.stages for row in rows)


def people_work_for(viewer: User, campaign: Campaign) -> PeopleWork:
    """Work of all assessors of a campaign, in about a dozen queries."""
    people = assessors_at_work(viewer, campaign)
    counts = task_counts_for(viewer, campaign)
    first = [one for one in kept_times_for(viewer, campaign) if one.is_first]
    judges = judges_by_user([one.pk for one in people])
    labels = (mixes_for(viewer, campaign), latencies_for(viewer, campaign))
    words, topics = _words(campaign), dict(Topic.objects.filter(campaign=campaign).values_list("pk", "topic_id"))
    stages = []
    for stage in Stage:
        rows = tuple(
            _row(one, stage, counts[one.pk, stage], first, judges.get(one.pk, 0), labels, (words, topics))
            for one in people
            if (one.pk, stage) in counts
        )
        if rows:
            stages.append((stage, rows))
    return PeopleWork(tuple(people), tuple(stages), tuple(flags_of([row for _, rows in stages for row in rows])))


def _row(
    who: Assessor,
    stage: Stage,
    tasks: TaskCount,
    first: Iterable[KeptTime],
    judge: int,
    labels: tuple[Mixes, Latencies],
    reading: tuple[Words, dict[int, str]],
) -> PersonStage:
    own = [one for one in first if one.assessor == who.pk and one.stage is stage]
    mixes, latencies = labels
    mix, others = mixes.get((judge, stage), (Mix(), Mix()))
    shown = latencies.get(judge, []) if stage is Stage.SUPPORT_POST_EDIT else []
    return PersonStage(
        who=who,
        stage=stage,
        tasks=tasks,
        minutes=spread_of([one.times.active.point / MINUTE for one in own]),
        low=_middle([one.times.active.low / MINUTE for one in own]),
        high=_middle([one.times.active.high / MINUTE for one in own]),
        words_per_minute=_middle(list(_paces(own, *reading))),
        mix=mix,
        others=others,
        accepts=spread_of(shown),
    )


def _middle(values: Sequence[float]) -> float | None:
    found = spread_of(values)
    return found.median if found else None


def _paces(own: Iterable[KeptTime], words: Words, topics: dict[int, str]) -> Iterator[float]:
    for one in own:
        read, minutes = words.get((topics[one.topic], one.stage), 0), one.times.active.point / MINUTE
        if read and minutes:
            yield read / minutes


def _words(campaign: Campaign) -> Words:
    return _words_at(campaign, campaign.created_at, campaign.revision)


@lru_cache(maxsize=16)
def _words_at(campaign: Campaign, _made: datetime, _revision: int) -> Words:
    # Counted once per state of the campaign, because all texts are read for it. Each submission changes the state.
    return words_read(campaign)


def csv_rows(page: PeopleWork) -> Iterator[tuple[Any, ...]]:
    """Rows for a CSV file, headings first."""
    yield COLUMNS
    for row in page.rows:
        minutes, accepts = row.minutes, row.accepts
        yield (
            *(row.who.name, row.who.username, STAGE_WORDS[row.stage], row.tasks.done, row.tasks.unfinished),
            *((minutes.median, minutes.low, minutes.high) if minutes else (None, None, None)),
            *(row.low, row.high, row.words_per_minute, row.mix.total),
            *(row.mix.shares or (None, None, None)),
            *(row.others.shares or (None, None, None)),
            *(row.mix.cant_judge, row.mix.swept, accepts.number if accepts else 0),
            accepts.median if accepts else None,
            row.who.seen_at.isoformat(timespec="seconds") if row.who.seen_at else None,
            row.who.paused_at.isoformat(timespec="seconds") if row.who.paused_at else None,
        )
