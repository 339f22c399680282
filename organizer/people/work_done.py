"""Work of each assessor by stage, and figures to ask about. Nobody is ranked."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.http import UserRequest
from accounts.models import User
from assessor.practice.items import PracticeSet, practice_sets_for, replaced_items_for, switch_practice
from assessor.practice.rules import PRACTICE_LABELS
from assessor.progress.people import (
    Assessor,
    Latencies,
    Mix,
    Mixes,
    TaskCount,
    TaskLoad,
    assessors_at_work,
    judges_by_user,
    latencies_for,
    loads_for,
    mixes_for,
    task_counts_for,
)
from assessor.progress.today import Quartiles, spread_of
from assessor.rules.clock import SECOND
from assessor.timing.times import KeptTime, kept_times_for
from evaluation.campaigns.access import may_organize
from evaluation.campaigns.people import Person, people_for
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.models import Campaign, Topic
from evaluation.stages import STAGES, Stage
from evaluation.tasks import changes as tasks_changes
from organizer.access import get_campaign
from reports.cache import cached_report
from reports.metrics.confusion import Confusion, confusion
from reports.timing.figures import Words, words_read
from web.csv_response import csv_response


@dataclass(frozen=True, slots=True)
class PersonStage:
    """One assessor at one stage. Minutes are active ones of first submissions; shares are fractions.

    `minutes` has the quartiles of the point estimates, `low` and `high` are the medians of the other two.
    """

    who: Assessor
    stage: Stage
    tasks: TaskCount
    minutes: Quartiles | None
    low: float | None
    high: float | None
    words_per_minute: float | None
    mix: Mix
    others: Mix
    accepts: Quartiles | None

    @property
    def swept(self) -> float | None:
        return self.mix.swept / self.mix.total if self.mix.total else None


FEWEST_TASKS: Final = 3
FEWEST_ACCEPTS: Final = 5
FEWEST_LABELS: Final = 50
QUICK_MS: Final = 500
"""Below this a shown label is hardly read; studies use it as a screening value only."""
FAST_WORDS: Final = 700
"""Words a minute beyond which even skimming is hard."""
FAR_FROM_OTHERS: Final = 0.25
"""Difference of a label's shares from which on it is a figure to ask about."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A conspicuous figure: person, stage, evidence, and an innocent reason for it."""

    who: str
    stage: str
    evidence: str
    innocent: str


def _flags(row: PersonStage) -> Iterator[tuple[str, str]]:
    """Evidence of each flag, and its innocent reason."""
    yield from _time_flags(row)
    yield from _label_flags(row)
    accepts = row.accepts
    if accepts and accepts.number >= FEWEST_ACCEPTS and accepts.median < QUICK_MS:
        yield (
            f"Shown labels were accepted after {accepts.median:,.0f} ms at the median, {accepts.number:,} accepts.",
            "The label may have been plain, or the passage known from the pair before.",
        )


def _time_flags(row: PersonStage) -> Iterator[tuple[str, str]]:
    if not row.minutes or row.minutes.number < FEWEST_TASKS:
        return
    if not row.stage.judges and row.words_per_minute and row.words_per_minute > FAST_WORDS:
        yield (
            f"{row.words_per_minute:,.0f} words a minute at the median of {row.minutes.number:,} tasks.",
            "Passages that repeat each other need no second reading, and some read on paper, which no clock sees.",
        )


def _label_flags(row: PersonStage) -> Iterator[tuple[str, str]]:
    if row.mix.total < FEWEST_LABELS:
        return
    mine, others = row.mix.shares, row.others.shares
    if mine and others and row.others.total >= FEWEST_LABELS:
        widest = max(range(len(mine)), key=lambda place: abs(mine[place] - others[place]))
        if abs(mine[widest] - others[widest]) > FAR_FROM_OTHERS:
            label = row.mix.label_set.degrees[widest].spoken
            yield (
                f"{_percent(mine[widest])} {label}, beside {_percent(others[widest])} by others on the same topics.",
                "The others are LLMs among others, and may be the ones who are wrong.",
            )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


MINUTE = 60 * SECOND
SHARES: Final = [label.short for label in max(CITATION_LABELS, NUGGET_LABELS, key=len).degrees]
"""Headings of the shares of labels, which stand in the order of the desks; further ones are numbered."""
WORK_COLUMNS: Final = (
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
    "words_per_minute",
    "labels",
)
LABEL_COLUMNS: Final = (
    "cant_judge",
    "sweep_changes",
    "accepted",
    "accept_median_ms",
    "last_seen",
    "paused_since",
)


@dataclass(frozen=True, slots=True)
class PeopleWork:
    """People, their work by stage, and the flags. `hours`: active ones of all submissions, by person."""

    people: tuple[Assessor, ...]
    stages: tuple[tuple[Stage, tuple[PersonStage, ...]], ...]
    flags: tuple[Flag, ...]
    hours: Mapping[int, float]

    @property
    def rows(self) -> Iterator[PersonStage]:
        return (row for _, rows in self.stages for row in rows)


@dataclass(frozen=True, slots=True)
class PersonLine:
    """A person's line of the page: roles, tasks, and one cell a stage in use, None where they have none of it."""

    person: Person
    assessor: Assessor | None
    load: TaskLoad | None
    hours: float | None
    stages: tuple[PersonStage | None, ...]


def lines_of(viewer: User, campaign: Campaign, work: PeopleWork) -> list[PersonLine]:
    assessors, loads = {who.pk: who for who in work.people}, loads_for(viewer, campaign)
    cells = {(row.who.pk, row.stage): row for row in work.rows}
    return [
        PersonLine(
            person,
            assessors.get(person.pk),
            loads.get(person.pk),
            work.hours.get(person.pk),
            tuple(cells.get((person.pk, stage)) for stage, _ in work.stages),
        )
        for person in people_for(viewer, campaign)
    ]


def people_work_for(viewer: User, campaign: Campaign) -> PeopleWork:
    people = assessors_at_work(viewer, campaign)
    counts = task_counts_for(viewer, campaign)
    # A reopened list is read already, so its time is no other's measure.
    times = kept_times_for(viewer, campaign)
    first = [time for time in times if time.is_first]
    hours = defaultdict[int, float](float)
    for time in times:
        hours[time.assessor] += time.times.active.point / (60 * MINUTE)
    judges = judges_by_user([person.pk for person in people])
    labels = (mixes_for(viewer, campaign), latencies_for(viewer, campaign))
    reading = cached_words(campaign), dict(Topic.objects.filter(campaign=campaign).values_list("pk", "topic_id"))
    stages = []
    for stage in STAGES.values():
        rows = tuple(
            _row(person, stage, counts[person.pk, stage], first, judges.get(person.pk, 0), labels, reading)
            for person in people
            if (person.pk, stage) in counts
        )
        if rows:
            stages.append((stage, rows))
    all_rows = (row for _, rows in stages for row in rows)
    flags = tuple(Flag(row.who.name, row.stage.words, *flag) for row in all_rows for flag in _flags(row))
    return PeopleWork(tuple(people), tuple(stages), flags, hours)


def _row(
    who: Assessor,
    stage: Stage,
    tasks: TaskCount,
    first: Iterable[KeptTime],
    judge: int,
    labels: tuple[Mixes, Latencies],
    reading: tuple[Words, dict[int, str]],
) -> PersonStage:
    own = [timed for timed in first if timed.assessor == who.pk and timed.stage is stage]
    mixes, latencies = labels
    mix, others = mixes.get((judge, stage), (Mix(stage.labels),) * 2)
    # No other stage shows a label that could be accepted.
    accept_times = latencies.get(judge, []) if stage.shows_label else []
    return PersonStage(
        who=who,
        stage=stage,
        tasks=tasks,
        minutes=spread_of([timed.times.active.point / MINUTE for timed in own]),
        low=_middle([timed.times.active.low / MINUTE for timed in own]),
        high=_middle([timed.times.active.high / MINUTE for timed in own]),
        words_per_minute=_middle(list(_paces(own, *reading))),
        mix=mix,
        others=others,
        accepts=spread_of(accept_times),
    )


def _middle(values: Sequence[float]) -> float | None:
    spread = spread_of(values)
    return spread.median if spread else None


def _paces(own: Iterable[KeptTime], words: Words, topics: dict[int, str]) -> Iterator[float]:
    for timed in own:
        read, minutes = words.get((topics[timed.topic], timed.stage), 0), timed.times.active.point / MINUTE
        if read and minutes:
            yield read / minutes


# All texts of the campaign are read for it.
cached_words = cached_report(size=16)(words_read)


def _shares(mix: Mix, width: int) -> list[float | None]:
    shares = mix.shares or ()
    return [*shares, *[None] * (width - len(shares))]


def csv_rows(page: PeopleWork) -> Iterator[tuple[Any, ...]]:
    rows = list(page.rows)
    width = max([len(SHARES), *(len(mix.shares or ()) for row in rows for mix in (row.mix, row.others))])
    names = [*SHARES, *(f"label_{place + 1}" for place in range(len(SHARES), width))]
    yield (*WORK_COLUMNS, *names, *(f"others_{name}" for name in names), *LABEL_COLUMNS)
    for row in rows:
        minutes, accepts = row.minutes, row.accepts
        yield (
            *(row.who.name, row.who.username, row.stage, row.tasks.done, row.tasks.unfinished),
            *((minutes.median, minutes.low, minutes.high) if minutes else (None, None, None)),
            *(row.low, row.high, row.words_per_minute, row.mix.total),
            *_shares(row.mix, width),
            *_shares(row.others, width),
            *(row.mix.cant_judge, row.mix.swept, accepts.number if accepts else 0),
            accepts.median if accepts else None,
            row.who.seen_at.isoformat(timespec="seconds") if row.who.seen_at else None,
            row.who.paused_at.isoformat(timespec="seconds") if row.who.paused_at else None,
        )


@require_safe
@never_cache
def people_work_file(request: UserRequest, slug: str) -> HttpResponse:
    page = people_work_for(request.user, get_campaign(request.user, slug))
    return csv_response(f"{slug}-people.csv", csv_rows(page))


@require_POST
def pause(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    paused = request.POST.get("act") == "pause"
    username = request.POST.get("username", "")
    user = tasks_changes.pause(campaign=campaign, username=username, paused=paused, actor=request.user)
    outcome = "is paused: they keep what they have and get nothing new" if paused else "can be handed work again"
    messages.success(request, f"{user.name} {outcome}.")
    return redirect("organizer:people", campaign.slug)


@require_safe
def practice(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, get_campaign(request.user, slug)
    sets = practice_sets_for(viewer, campaign)
    context = {
        "campaign": campaign,
        "is_on": campaign.protocol.practice,
        "sets": [(nugget_set, _compared(nugget_set)) for nugget_set in sets],
        "replaced": replaced_items_for(viewer, campaign),
        "may_organize": may_organize(viewer, campaign),
    }
    return render(request, "organizer/practice.html", context)


@require_POST
def switch(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    on = request.POST.get("practice") == "on"
    switch_practice(campaign=campaign, on=on, actor=request.user)
    messages.success(request, "Practice is switched on." if on else "Practice is switched off.")
    return redirect("organizer:practice", campaign.slug)


def _compared(practice: PracticeSet) -> list[tuple[User, datetime | None, Confusion]]:
    """Return each person with the moment of their newest answer, and their labels beside the known ones."""
    codes = PRACTICE_LABELS[practice.kind]
    results = []
    for user, pairs, last in practice.people:
        sides = ([codes.index(pair[side]) for pair in pairs] for side in (0, 1))
        own, as_known = (np.array(places, dtype=np.int8) for places in sides)
        results.append((user, last, confusion(own, as_known, len(codes))))
    return results
