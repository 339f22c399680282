"""Erasing a person: their account and everything that carries their name becomes a pseudonym. Labels stay."""

import re

from django.db import transaction
from django.db.models import F

from accounts.erasing import erase_account, new_pseudonym
from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, ConditionDefault, Judge, NuggetSet, Study
from web import audit


def erase_person(*, user: User, confirmed: str, actor: User) -> str:
    """Erase somebody; return their pseudonym. There is no way back.

    `confirmed`: the username, typed by the administrator. Raises `Refused`; nothing has been written then.
    """
    if not actor.is_superuser:
        raise Refused("administrators", "Only an administrator erases a person.")
    if actor == user:
        raise Refused("yourself", "Another administrator has to erase you.")
    if user.erased_at:
        raise Refused("erased", "This person was erased already.")
    if confirmed.strip() != user.username:
        raise Refused("not_confirmed", f"Type {user.username} to confirm.")
    with transaction.atomic():
        pseudonym = new_pseudonym()
        _rename_judges(user, pseudonym)
        erase_account(user, pseudonym)
    audit.record_if_possible("account.erased", actor=audit.actor_of(actor), about=audit.actor_of(user))
    return pseudonym


def _rename_judges(user: User, pseudonym: str) -> None:
    """Rename the person's judges, their nugget sets, and what names those."""
    mine = Judge.objects.filter(user=user).order_by("aside", "pk")
    spoken = _spoken_of(user, [judge.name for judge in mine if not judge.aside])
    touched = set(Study.objects.filter(person__user=user).values_list("campaign", flat=True))
    for judge in mine:
        name = _free(spoken.sub(pseudonym, judge.name), pseudonym)
        ConditionDefault.objects.filter(judge=judge.name).update(judge=name)
        for nugget_set in NuggetSet.objects.filter(judge=judge):
            touched.add(nugget_set.campaign_id)
            _rename_set(nugget_set, spoken.sub(pseudonym, nugget_set.name))
        judge.name = name
        judge.save(update_fields=["name"])
    # What reports keep in memory holds names.
    Campaign.objects.filter(pk__in=touched).update(revision=F("revision") + 1)


def _spoken_of(user: User, judges: list[str]) -> re.Pattern[str]:
    """Return what finds the person in a name: as a whole word, the longest first."""
    names = {user.name, user.username, *judges, *(part for part in (user.first_name, user.last_name) if part)}
    either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)


def _rename_set(nugget_set: NuggetSet, name: str) -> None:
    defaults = ConditionDefault.objects.filter(campaign=nugget_set.campaign_id, nuggets=nugget_set.name)
    defaults.update(nuggets=name)
    nugget_set.name = name
    nugget_set.save(update_fields=["name"])


def _free(wanted: str, pseudonym: str) -> str:
    """Return a judge's name that no other has."""
    name, number = wanted, 1
    while Judge.objects.filter(name=name).exists():
        number += 1
        name = f"{pseudonym} {number}"
    return name
