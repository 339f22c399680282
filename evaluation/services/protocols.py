"""Changing a campaign's protocol: in place until something was judged, from then on as a new version with a reason."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, ConditionDefault, Event, Judge, NuggetSet, Protocol
from evaluation.protocols import CONDITIONS, defaults_of, is_judged, seal_of, settings_of
from evaluation.rules.protocol import Difference, Value, differences
from web import audit

LONGEST_REASON = 2000


def change_protocol(
    *, campaign: Campaign, settings: Mapping[str, Value], seal: str, reason: str, actor: User
) -> Protocol:
    """Give the protocol these settings; return the version in force then. Without a difference nothing is written.

    `seal`: of what the actor was shown (`seal_of`). Raises `Refused`: changed meanwhile, no reason, values that do
    not go together.
    """
    with transaction.atomic():
        locked = _locked(campaign, seal)
        protocol = locked.protocol
        found = tuple(differences(settings_of(protocol), settings))
        if not found:
            return protocol
        judged = is_judged(locked)
        why = _reason(reason, needed=judged)
        if judged:
            protocol.pk, protocol.version, protocol._state.adding = None, protocol.version + 1, True
        for one in found:
            setattr(protocol, one.setting.name, one.new)
        protocol.reason, protocol.changed_by = why, actor
        _check(protocol)
        protocol.save()
        payload = {"version": protocol.version, "new": judged, "reason": why, "changes": _changes(found)}
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
        # By keys and not by names, so that a person who is erased later stands in no event.
        changes = [
            {"condition": key, "old": _keys(locked, there[key]), "new": _keys(locked, new)}
            for key, new in changed.items()
        ]
        for key, (judge, nuggets) in changed.items():
            ConditionDefault.objects.update_or_create(
                campaign=locked, condition=key, defaults={"judge": judge, "nuggets": nuggets}
            )
        # What reports keep in memory was computed under the former defaults.
        locked.revision += 1
        locked.save(update_fields=["revision"])
        payload = {"reason": why, "defaults": changes}
        Event.objects.create(campaign=locked, kind="protocol.defaults_changed", actor=actor, payload=payload)
    _note(locked, actor, "protocol.defaults_changed")
    return len(changed)


def _locked(campaign: Campaign, seal: str) -> Campaign:
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if seal_of(locked) != seal:
        raise Refused(
            "changed_meanwhile",
            "Somebody changed the protocol while you were at it. Nothing of yours was saved: what is in force now "
            "stands beside what you typed. Look at it, and save again.",
        )
    return locked


def _reason(reason: str, *, needed: bool) -> str:
    stripped = reason.strip()[:LONGEST_REASON]
    if needed and not stripped:
        raise Refused("no_reason", "Say why: something was judged already, and the reason stays with the change.")
    return stripped


def _check(protocol: Protocol) -> None:
    try:
        protocol.full_clean()
    except ValidationError as error:
        raise Refused("invalid", " ".join(error.messages)) from error


def _changes(found: tuple[Difference, ...]) -> list[dict[str, Any]]:
    return [{"setting": one.setting.name, "old": one.old, "new": one.new} for one in found]


def _check_there(campaign: Campaign, named: Mapping[str, tuple[str, str]]) -> None:
    for names in named.values():
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
    audit.record_if_possible(kind, actor=audit.actor_of(actor), campaign=campaign.slug, **fields)
