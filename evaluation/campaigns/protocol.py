"""Changing a campaign's protocol: in place until something was judged, from then on as a new version with a reason."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.campaigns.contents import assignment_counts_for, support_counts_for
from evaluation.errors import Refused
from evaluation.models import (
    Campaign,
    ConditionDefault,
    Event,
    Judge,
    NuggetList,
    NuggetSet,
    Protocol,
    Study,
    SupportJudgment,
    Task,
)
from evaluation.models.querysets import number_of
from evaluation.rules.protocol import SETTINGS, Difference, Value, differences, recorded_differences
from evaluation.terms import JudgeKind, SupportCondition
from web import audit_log
from web.text import trimmed

CONDITIONS = ("A/A", "E/A", "M/A", "E/M", "M/M", "A/M", "scratch", "post-edit", "llm")


def is_judged(campaign: Campaign) -> bool:
    """Say whether anything was judged. Assignments need a nugget list, so there is no need to look for them."""
    return (
        NuggetList.objects.filter(nugget_set__campaign=campaign).exists()
        or Task.objects.filter(campaign=campaign, opened_at__isnull=False).exists()
        or SupportJudgment.objects.filter(sentence__answer__topic__campaign=campaign).exists()
    )


def settings_of(protocol: Protocol) -> dict[str, Value]:
    return {name: getattr(protocol, name) for name in SETTINGS}


def defaults_of(campaign: Campaign) -> dict[str, tuple[str, str]]:
    defaults = {
        row.condition: (row.judge, row.nuggets) for row in ConditionDefault.objects.filter(campaign=campaign)
    }
    return {condition: defaults.get(condition, ("", "")) for condition in CONDITIONS}


def protocol_hash(campaign: Campaign) -> str:
    """Return a hash of the protocol and the defaults, so that a form knows whether they are still those it showed."""
    protocol = campaign.protocol
    content = [protocol.version, settings_of(protocol), defaults_of(campaign)]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


LONGEST_REASON = 2000


def change_protocol(
    *, campaign: Campaign, settings: Mapping[str, Value], seal: str, reason: str, actor: User
) -> Protocol:
    """Give the protocol these settings; return the version in force then. Without a difference nothing is written.

    `seal`: the `protocol_hash` of the page that the actor saw. Raises `Refused`: changed meanwhile, no reason, values
    that do not go together.
    """
    with transaction.atomic():
        locked = _locked(campaign, seal)
        protocol = locked.protocol
        changes = tuple(differences(settings_of(protocol), settings))
        # Saving a page unchanged makes no version and no event.
        if not changes:
            return protocol
        judged = is_judged(locked)
        why = _reason(reason, needed=judged)
        # Judgments point at the protocol they were made under, so that version must stay as it is.
        if judged:
            # Without its key, Django inserts a further row instead of updating this row.
            protocol.pk, protocol.version, protocol._state.adding = None, protocol.version + 1, True
        for change in changes:
            setattr(protocol, change.setting.name, change.new)
        protocol.reason, protocol.changed_by = why, actor
        # Checked as a whole: two settings may each be valid and not go together.
        _check(protocol)
        protocol.save()
        payload: dict[str, Any] = {"version": protocol.version, "new": judged, "reason": why}
        payload["changes"] = [
            {"setting": change.setting.name, "old": change.old, "new": change.new} for change in changes
        ]
        Event.objects.create(campaign=locked, kind="protocol.changed", actor=actor, payload=payload)
    _note(locked, actor, "protocol.changed", version=protocol.version)
    return protocol


def change_defaults(
    *, campaign: Campaign, defaults: Mapping[str, tuple[str, str]], seal: str, reason: str, actor: User
) -> int:
    """Name the judge and the nugget set that each condition means; return how many conditions were changed.

    Names are of judges and sets that are there, or '' for none. Raises `Refused`.
    """
    with transaction.atomic():
        locked = _locked(campaign, seal)
        there = defaults_of(locked)
        changed = {key: defaults[key] for key in CONDITIONS if key in defaults and defaults[key] != there[key]}
        if not changed:
            return 0
        why = _reason(reason, needed=is_judged(locked))
        _check_there(locked, changed)
        # By keys and not by names, so that no event names a person who is erased later.
        changes = [
            {"condition": key, "old": _keys(locked, there[key]), "new": _keys(locked, new)}
            for key, new in changed.items()
        ]
        for key, (judge, nuggets) in changed.items():
            ConditionDefault.objects.update_or_create(
                campaign=locked, condition=key, defaults={"judge": judge, "nuggets": nuggets}
            )
        # Reports keep figures under the former defaults in memory, by the revision.
        locked.revision += 1
        locked.save(update_fields=["revision"])
        payload = {"reason": why, "defaults": changes}
        Event.objects.create(campaign=locked, kind="protocol.defaults_changed", actor=actor, payload=payload)
    _note(locked, actor, "protocol.defaults_changed")
    return len(changed)


def _locked(campaign: Campaign, seal: str) -> Campaign:
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    # Compared under the lock, so that the second of two organizers who save at once must look again.
    if protocol_hash(locked) != seal:
        raise Refused(
            "changed_meanwhile",
            "Somebody changed the protocol while you were at it. Nothing of yours was saved: what is in force now "
            "stands beside what you typed. Look at it, and save again.",
        )
    return locked


def _reason(reason: str, *, needed: bool) -> str:
    stripped = trimmed(reason)[:LONGEST_REASON]
    if needed and not stripped:
        raise Refused("no_reason", "Say why: something was judged already, and the reason stays with the change.")
    return stripped


def _check(protocol: Protocol) -> None:
    try:
        protocol.full_clean()
    except ValidationError as error:
        raise Refused("invalid", " ".join(error.messages)) from error


def _check_there(campaign: Campaign, defaults: Mapping[str, tuple[str, str]]) -> None:
    for names in defaults.values():
        for name, key in zip(names, _keys(campaign, names).values(), strict=True):
            if name and key is None:
                raise Refused("unknown_default", f"There is no {name} here.")


def _keys(campaign: Campaign, names: tuple[str, str]) -> dict[str, int | None]:
    judge, nuggets = names
    judges, sets = Judge.objects.filter(name=judge), NuggetSet.objects.filter(campaign=campaign, name=nuggets)
    return {
        "judge": judges.values_list("pk", flat=True).first(),
        "nuggets": sets.values_list("pk", flat=True).first(),
    }


def _note(campaign: Campaign, actor: User, kind: str, **fields: int) -> None:
    audit_log.record_if_possible(kind, actor=audit_log.actor_of(actor), campaign=campaign.slug, **fields)


PROTOCOL_EVENTS = ("protocol.changed", "protocol.defaults_changed")
MOST_CHANGES = 50


@dataclass(frozen=True, slots=True)
class DefaultChange:
    """Default of a condition before and after a change, by the names of today."""

    condition: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class ProtocolChange:
    """One change, by whom and when. `version`: what it changed or made, None where only defaults were changed."""

    at: datetime
    who: str
    reason: str
    version: int | None
    new: bool
    settings: tuple[Difference, ...]
    defaults: tuple[DefaultChange, ...]


def versions_for(viewer: User, campaign: Campaign) -> QuerySet[Any]:
    """Return the versions of the protocol, the newest first, with the number of `tasks` under each."""
    versions = Protocol.objects.filter(campaign__in=within(viewer, campaign)).select_related("changed_by")
    tasks = Task.objects.filter(protocol=OuterRef("pk")).not_withdrawn()
    return versions.annotate(tasks=number_of(tasks)).order_by("-version")


def changes_for(viewer: User, campaign: Campaign) -> list[ProtocolChange]:
    events = Event.objects.filter(campaign__in=within(viewer, campaign), kind__in=PROTOCOL_EVENTS)
    return [_change(event) for event in events.select_related("actor").order_by("-id")[:MOST_CHANGES]]


def seeds_for(viewer: User, campaign: Campaign) -> list[Study]:
    return list(Study.objects.filter(campaign__in=within(viewer, campaign)).order_by("name"))


def judge_names_for(viewer: User, campaign: Campaign) -> dict[JudgeKind, list[str]]:
    """Return the names of the judges that a condition may mean, by kind: whoever labelled, made nuggets or has tasks.

    Judges belong to no campaign; those of other campaigns are nobody's business here.
    """
    seen = within(viewer, campaign)
    people = Judge.objects.filter(kind=JudgeKind.HUMAN, aside=False)
    assessors = people.filter(user__in=Task.objects.filter(campaign__in=seen).values("assessor"))
    makers = Judge.objects.filter(pk__in=NuggetSet.objects.filter(campaign__in=seen).values("judge"))
    labelled = [*assignment_counts_for(viewer, campaign), *support_counts_for(viewer, campaign)]
    judges = Judge.objects.filter(name__in={label.judge for label in labelled}, aside=False)
    all_judges = {*assessors, *makers, *judges, *llms_for(viewer, campaign)}
    return {kind: sorted(judge.name for judge in all_judges if judge.kind == kind) for kind in JudgeKind}


def llms_for(viewer: User, campaign: Campaign) -> list[Judge]:
    """Return the LLM judges that have labelled citations of the campaign, then those that it knows from elsewhere.

    Judges belong to no campaign, so that all of them would tell of other campaigns.
    """
    mine = within(viewer, campaign)
    # A stranger gets nothing, not even the names of judges.
    if not mine.exists():
        return []
    first = llms_of(campaign)
    makers = NuggetSet.objects.filter(campaign__in=mine).values("judge")
    defaults = ConditionDefault.objects.filter(campaign__in=mine, condition=SupportCondition.LLM).values("judge")
    others = Judge.objects.filter(Q(pk__in=makers) | Q(name__in=defaults), kind=JudgeKind.LLM)
    return [*first, *others.exclude(pk__in=[judge.pk for judge in first])]


def llms_of(campaign: Campaign) -> list[Judge]:
    labels = SupportJudgment.objects.current().filter(
        segment__campaign=campaign, condition=SupportCondition.LLM, judge__kind=JudgeKind.LLM
    )
    return list(Judge.objects.filter(pk__in=labels.order_by().values("judge").distinct(), aside=False))


def _change(event: Event) -> ProtocolChange:
    payload: dict[str, Any] = event.payload
    return ProtocolChange(
        at=event.at,
        who=event.actor.name if event.actor else "",
        reason=str(payload.get("reason", "")),
        version=payload.get("version"),
        new=bool(payload.get("new")),
        settings=tuple(recorded_differences(payload)),
        defaults=tuple(
            DefaultChange(change["condition"], _names_of(change["old"]), _names_of(change["new"]))
            for change in payload.get("defaults", [])
        ),
    )


def _names_of(keys: dict[str, int | None]) -> str:
    judge = Judge.objects.filter(pk=keys["judge"] or 0).values_list("name", flat=True).first()
    nuggets = NuggetSet.objects.filter(pk=keys["nuggets"] or 0).values_list("name", flat=True).first()
    return ", ".join(name for name in (nuggets, judge) if name) or "whatever fits"
