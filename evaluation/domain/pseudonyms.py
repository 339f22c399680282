"""Pseudonyms of people: the same within a campaign, another in each."""

import hmac
import re
from collections.abc import Collection, Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any

from django.db.models import Q

from accounts.models import User
from evaluation.models import Campaign, Judge, Membership, NuggetSet, Task
from evaluation.rules.text import pattern_of_names

SHOWN = 8


def pseudonym_of(campaign: Campaign, user_pk: int) -> str:
    """Return somebody's name in the data of a campaign.

    Without the campaign's salt, which never leaves the database, it does not lead back to the person, and not to the
    same person in another campaign.
    """
    # Keyed by the salt: a plain hash of small numbers could be undone by trying them all.
    digest = hmac.new(campaign.salt.encode(), str(user_pk).encode(), sha256).hexdigest()
    return f"person-{digest[:SHOWN]}"


SHORTEST = 3
"""A name within a text is replaced from this length on: of two letters it would be found in every sentence."""

PERSON_KEYS = frozenset({"user", "actor", "assessor", "owner", "member"})
"""Keys of the log whose values are accounts."""

NOBODY_KNOWN = "person"
"""Name in the log of a person who has another name by now."""

Spellings = tuple[dict[str, str], re.Pattern[str]]
"""Pseudonyms by how people are spelled in small letters, and the pattern that finds these in a text."""

NO_SPELLINGS: Spellings = {}, pattern_of_names(())


class Names:
    """Names in campaigns. Each kind is read when it is first needed, by one query for all campaigns."""

    def __init__(self, campaigns: Collection[Campaign], alias: str) -> None:
        self.campaigns = {campaign.pk: campaign for campaign in campaigns}
        self._alias = alias
        self._people: dict[tuple[int, int], str] = {}

    def slug(self, campaign: int) -> str:
        return self.campaigns[campaign].slug

    def person(self, campaign: int, user: int | None) -> str | None:
        if user is None:
            return None
        pseudonym = self._people.get((campaign, user))
        if pseudonym is None:
            pseudonym = self._people[campaign, user] = pseudonym_of(self.campaigns[campaign], user)
        return pseudonym

    def judge(self, campaign: int, judge: int | None) -> str | None:
        """Return the name of a judge: a person with an account by pseudonym, any other by name."""
        if judge is None:
            return None
        name, user, study, _ = self._judges[judge]
        if user is None:
            return name
        return f"{self.person(campaign, user)}, study {study}" if study else self.person(campaign, user)

    def judges_called(self, campaign: int, name: str) -> list[int]:
        return [pk for pk in self._judges if self.judge(campaign, pk) == name]

    @property
    def judges_aside(self) -> list[int]:
        return [pk for pk, (_, _, _, aside) in self._judges.items() if aside]

    def real_judge(self, campaign: int, name: str) -> str:
        pks = self.judges_called(campaign, name)
        return self._judges[pks[0]][0] if pks else name

    def nugget_set(self, pk: int | None) -> str | None:
        return None if pk is None else self._sets[pk][2]

    def sets_called(self, campaign: int, name: str) -> list[int]:
        return [pk for pk, (of, _, called) in self._sets.items() if (of, called) == (campaign, name)]

    def real_set(self, campaign: int, name: str) -> str:
        pks = self.sets_called(campaign, name)
        return self._sets[pks[0]][1] if pks else name

    def people_called(self, campaign: int, name: str) -> list[int]:
        tasks = Task.objects.using(self._alias).filter(campaign=campaign).order_by()
        people = tasks.values_list("assessor", flat=True).distinct()
        return [user for user in people if self.person(campaign, user) == name]

    def clean(self, campaign: int, value: Any) -> Any:
        if isinstance(value, str):
            return self._without_names(campaign, value)
        if isinstance(value, list):
            return [self.clean(campaign, item) for item in value]
        if isinstance(value, dict):
            return {key: self._clean_value(campaign, key, value) for key, value in value.items()}
        return value

    def _clean_value(self, campaign: int, key: str, value: Any) -> Any:
        # A bool is an int in Python, and no account.
        if key in PERSON_KEYS and isinstance(value, int) and not isinstance(value, bool):
            return self.person(campaign, value)
        if key in PERSON_KEYS and isinstance(value, str):
            spellings, _ = self._spellings.get(campaign, NO_SPELLINGS)
            return spellings.get(value.casefold(), NOBODY_KNOWN)  # an account that has another name by now
        return self.clean(campaign, value)

    def _without_names(self, campaign: int, text: str) -> str:
        spellings, pattern = self._spellings.get(campaign, NO_SPELLINGS)
        if text.casefold() in spellings:
            return spellings[text.casefold()]
        # Lower-cased once more: a spelling in the text may differ from that of the account.
        return pattern.sub(lambda match: spellings.get(match[0].casefold(), NOBODY_KNOWN), text)

    @cached_property
    def _judges(self) -> dict[int, tuple[str, int | None, str | None, bool]]:
        judges = Judge.objects.using(self._alias).order_by("pk")
        rows = judges.values_list("pk", "name", "user", "study__name", "aside")
        return {pk: (name, user, study, aside) for pk, name, user, study, aside in rows}

    @cached_property
    def _sets(self) -> dict[int, tuple[int, str, str]]:
        """Return campaign, name and what it is called of each set."""
        rows = NuggetSet.objects.using(self._alias).filter(campaign__in=list(self.campaigns))
        return {
            pk: (campaign, name, self._set_shown(campaign, name, judge))
            for pk, campaign, name, judge in rows.values_list("pk", "campaign", "name", "judge")
        }

    def _set_shown(self, campaign: int, name: str, judge: int) -> str:
        real, user, _, _ = self._judges[judge]
        called = name.replace(real, self.person(campaign, user) or real) if user else name
        return str(self.clean(campaign, called))

    @cached_property
    def _spellings(self) -> Mapping[int, Spellings]:
        by_campaign = {}
        people = self._connected()
        for campaign in self.campaigns:
            names = {
                spelling.casefold(): self.person(campaign, user) or ""
                for user, spellings in people.items()
                for spelling in spellings
                if spelling
            }
            by_campaign[campaign] = names, pattern_of_names(name for name in names if len(name) >= SHORTEST)
        return by_campaign

    def _connected(self) -> dict[int, set[str]]:
        """Return whoever has to do with the campaigns, and all judges with an account: how each is spelled."""
        campaigns = list(self.campaigns)
        members = Membership.objects.filter(campaign__in=campaigns).values("user")
        working = Task.objects.filter(campaign__in=campaigns).values("assessor")
        # Judges belong to no campaign, so their names may be in the texts of any.
        judging = Judge.objects.exclude(user=None).values("user")
        users = User.objects.using(self._alias).filter(
            Q(pk__in=members) | Q(pk__in=working) | Q(pk__in=judging) | Q(is_superuser=True)
        )
        spellings = {user.pk: {user.username, user.get_full_name(), user.email} for user in users}
        for name, owner, _, _ in self._judges.values():
            if owner in spellings:
                spellings[owner].add(name)
        return spellings
