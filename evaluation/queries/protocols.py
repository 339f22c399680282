"""A campaign's protocol for its page: versions, who changed what, tasks by version, and the judges to choose from."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q

from accounts.models import User
from evaluation.models import (
    Campaign,
    ConditionDefault,
    Event,
    Judge,
    NuggetSet,
    Protocol,
    Study,
    SupportJudgment,
    Task,
)
from evaluation.queries.campaigns import within
from evaluation.queries.holdings import assignment_counts_for, support_counts_for
from evaluation.rules.protocol import SETTINGS, Difference
from evaluation.terms import JudgeKind, SupportCondition

KINDS = ("protocol.changed", "protocol.defaults_changed")
MOST_CHANGES = 50


@dataclass(frozen=True, slots=True)
class Version:
    """One version, and how many tasks were handed out under it."""

    protocol: Protocol
    tasks: int


@dataclass(frozen=True, slots=True)
class DefaultChange:
    """What a condition meant before and after a change, by the names of today."""

    condition: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Change:
    """One change, by whom and when. `version`: what it changed or made, None where only defaults were changed."""

    at: datetime
    who: str
    reason: str
    version: int | None
    new: bool
    settings: tuple[Difference, ...]
    defaults: tuple[DefaultChange, ...]


def versions_for(viewer: User, campaign: Campaign) -> list[Version]:
    """Return all versions, the newest first, in two queries."""
    seen = within(viewer, campaign)
    standing = Task.objects.filter(campaign__in=seen).not_withdrawn().order_by()
    tasks = dict(standing.values_list("protocol").annotate(Count("pk")))
    found = Protocol.objects.filter(campaign__in=seen).select_related("changed_by").order_by("-version")
    return [Version(one, tasks.get(one.pk, 0)) for one in found]


def changes_for(viewer: User, campaign: Campaign) -> list[Change]:
    """Return the newest changes that were made on the page, the newest first."""
    events = Event.objects.filter(campaign__in=within(viewer, campaign), kind__in=KINDS)
    return [_change(event) for event in events.select_related("actor").order_by("-id")[:MOST_CHANGES]]


def seeds_for(viewer: User, campaign: Campaign) -> list[Study]:
    """Return the campaign's studies, each of which was drawn with a seed of its own."""
    return list(Study.objects.filter(campaign__in=within(viewer, campaign)).order_by("name"))


def set_names_for(viewer: User, campaign: Campaign) -> list[str]:
    """Return the names of the campaign's nugget sets."""
    sets = NuggetSet.objects.filter(campaign__in=within(viewer, campaign)).order_by("name")
    return list(sets.values_list("name", flat=True))


def judge_names_for(viewer: User, campaign: Campaign) -> dict[JudgeKind, list[str]]:
    """Return the names of the judges that a condition may mean, by kind: whoever labelled, made nuggets or has tasks.

    Judges belong to no campaign; those of other campaigns are nobody's business here.
    """
    seen = within(viewer, campaign)
    people = Judge.objects.filter(kind=JudgeKind.HUMAN, aside=False)
    assessors = people.filter(user__in=Task.objects.filter(campaign__in=seen).values("assessor"))
    makers = Judge.objects.filter(pk__in=NuggetSet.objects.filter(campaign__in=seen).values("judge"))
    labelled = [*assignment_counts_for(viewer, campaign), *support_counts_for(viewer, campaign)]
    judges = Judge.objects.filter(name__in={one.judge for one in labelled}, aside=False)
    found = {*assessors, *makers, *judges, *machines_for(viewer, campaign)}
    return {kind: sorted(one.name for one in found if one.kind == kind) for kind in JudgeKind}


def machines_for(viewer: User, campaign: Campaign) -> list[Judge]:
    """Return the LLM judges that have labelled citations of the campaign, then those that it knows from elsewhere.

    Judges belong to no campaign, so that all of them would tell of other campaigns.
    """
    mine = within(viewer, campaign)
    if not mine.exists():
        return []
    first = machines_of(campaign)
    makers = NuggetSet.objects.filter(campaign__in=mine).values("judge")
    defaults = ConditionDefault.objects.filter(campaign__in=mine, condition=SupportCondition.LLM).values("judge")
    known = Judge.objects.filter(Q(pk__in=makers) | Q(name__in=defaults), kind=JudgeKind.LLM)
    return [*first, *known.exclude(pk__in=[one.pk for one in first])]


def machines_of(campaign: Campaign) -> list[Judge]:
    """Return the LLM judges that have labelled citations of the campaign."""
    labels = SupportJudgment.objects.current().filter(
        segment__campaign=campaign, condition=SupportCondition.LLM, judge__kind=JudgeKind.LLM
    )
    return list(Judge.objects.filter(pk__in=labels.order_by().values("judge").distinct(), aside=False))


def _change(event: Event) -> Change:
    payload: dict[str, Any] = event.payload
    return Change(
        at=event.at,
        who=event.actor.name if event.actor else "",
        reason=str(payload.get("reason", "")),
        version=payload.get("version"),
        new=bool(payload.get("new")),
        settings=tuple(
            Difference(SETTINGS[one["setting"]], one["old"], one["new"])
            for one in payload.get("changes", [])
            if one["setting"] in SETTINGS
        ),
        defaults=tuple(_defaults(payload.get("defaults", []))),
    )


def _defaults(changed: list[dict[str, Any]]) -> Iterator[DefaultChange]:
    for one in changed:
        yield DefaultChange(one["condition"], _named(one["old"]), _named(one["new"]))


def _named(keys: dict[str, int | None]) -> str:
    judge = Judge.objects.filter(pk=keys["judge"] or 0).values_list("name", flat=True).first()
    nuggets = NuggetSet.objects.filter(pk=keys["nuggets"] or 0).values_list("name", flat=True).first()
    return ", ".join(name for name in (nuggets, judge) if name) or "whatever fits"
