"""People and judges of a file: those who are there already by their names, and the others made anew."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from accounts.models import User
from accounts.names import canonical_name
from evaluation.errors import Refused
from evaluation.models import Judge
from evaluation.services.judges import describe

LONGEST_NAME = 200


@dataclass
class Arrival:
    """The accounts of a file's people, in its order; who was there already, and who was made."""

    keys: list[int] = field(default_factory=list)
    matched: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)


def match_people(rows: Sequence[Sequence[str]]) -> Arrival:
    """Return the account of each person, by user name in any case.

    Where there is none it is made, closed and without a password.
    """
    there = {canonical_name(name): pk for name, pk in User.objects.values_list("username", "pk")}
    arrival = Arrival()
    for username, first, last in rows:
        pk = there.get(canonical_name(username))
        if pk is not None:
            arrival.keys.append(pk)
            arrival.matched.append(username)
            continue
        made = User(username=username, first_name=first, last_name=last, is_active=False)
        made.set_unusable_password()
        made.save()
        arrival.keys.append(made.pk)
        arrival.made.append(username)
    return arrival


def match_judge(values: dict[str, Any], slug: str) -> int | None:
    """Return the judge of that name, if there is one; else see that the values can be written.

    A judge of a study belongs to that study: one of the same name gets another here. Raises `Refused` where the name is
    another judge's.
    """
    there = Judge.objects.filter(name=values["name"]).first()
    if there and values.get("study_id"):
        values["name"] = f"{values['name'][: LONGEST_NAME - len(slug) - 3]} ({slug})"
        return None
    if there:
        _check_same(there, values)
        return there.pk
    if values.get("user_id") and not values.get("aside"):
        _check_account(values)
    return None


def _check_same(there: Judge, values: dict[str, Any]) -> None:
    wanted = {name: values.get(name, "") for name in ("kind", "model", "base_url")}
    wanted["prompt_versions"] = values.get("prompt_versions") or {}
    if any(getattr(there, name) != value for name, value in wanted.items()):
        raise Refused("judge_differs", f"There is another judge named {there.name}: {describe(there)}.")


def _check_account(values: dict[str, Any]) -> None:
    # An account is one judge. Where it has one already, the file's judge keeps its labels and gets no account.
    if Judge.objects.filter(user=values["user_id"], aside=False).exists():
        values["user_id"] = None
