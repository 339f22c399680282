"""Pseudonyms of people: the same within a campaign, another in each."""

import csv
import hmac
import io
import json
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from functools import cached_property, partial
from hashlib import sha256
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Q

from accounts.models import User
from evaluation.formats.lines import json_line
from evaluation.models import Campaign, Judge, Membership, NuggetSet, Study, Task
from evaluation.rules.text import pattern_of_names
from evaluation.terms import JudgeKind

SHOWN = 8
PSEUDONYM = re.compile(rf"\bperson-[0-9a-f]{{{SHOWN}}}\b")


def pseudonym_of(campaign: Campaign, who: int | str) -> str:
    """Return somebody's name in the data of a campaign. `who`: key of their account or, without one, their name.

    Without the campaign's salt, which never leaves the database, it does not lead back to the person, and not to the
    same person in another campaign.
    """
    # Keyed by the salt: a plain hash of small numbers could be undone by trying them all.
    digest = hmac.new(campaign.salt.encode(), str(who).encode(), sha256).hexdigest()
    return f"person-{digest[:SHOWN]}"


SHORTEST = 3
"""A name within a text is replaced from this length on: of two letters it would be found in every sentence."""

PERSON_KEYS = frozenset({"user", "actor", "assessor", "owner", "member"})
"""Keys of the log whose values are accounts."""

NOBODY_KNOWN = "person"
"""Name in the log of a person who has another name by now."""


DATA_KEYS = frozenset(
    {
        *("text", "query", "title_query", "question", "answer", "claim", "nugget"),
        *("docid", "doc_id", "run_id", "qid", "query_id", "topic_id"),
    }
)
"""Keys of what topics, passages, runs and nuggets say, which is left as it is: no name of a person here is theirs."""

TYPED_KEYS = frozenset({"payload", "extras"})
"""Keys of what people here said and did: there even a text is theirs."""


def spellings_of(user: User, *, parts: bool = True) -> set[str]:
    """Return how somebody is spelled; `parts`: by first or last name alone too."""
    return {user.username, user.name, user.email} | ({user.first_name, user.last_name} if parts else set())


def hide(
    campaign: Campaign,
    people: Iterable[User],
    judges: Iterable[Judge],
    *,
    in_prose: bool = False,
) -> "Hiding":
    """Return what puts pseudonyms in the place of people of a campaign, and of judges who are people.

    `in_prose`: the texts are the program's own sentences too, in which May and Young are words.
    """
    pseudonyms = {user.pk: pseudonym_of(campaign, user.pk) for user in people}
    called: dict[str, str] = {}
    # Judges of studies last: whoever labelled elsewhere too keeps one pseudonym.
    for judge in sorted(judges, key=lambda judge: (judge.study_id is not None, judge.pk)):
        if judge.kind == JudgeKind.HUMAN:
            own = pseudonyms.get(judge.user_id or 0) or pseudonym_of(campaign, f"judge {judge.name_of_person}")
            called.setdefault(judge.name_of_person, own)
    # In one order on every database: of two who share a first name one is called by it.
    for user in sorted(people, key=lambda user: user.pk):
        for name in sorted(spellings_of(user, parts=not in_prose)):
            called.setdefault(name, pseudonyms[user.pk])
    shortest, kept = (SHORTEST, frozenset[str]()) if in_prose else (1, DATA_KEYS)
    return Hiding(called, shortest=shortest, account=partial(pseudonym_of, campaign), kept=kept)


class Hiding:
    """What people are called instead of their names: the one place that takes a name out of what leaves.

    `called`: by how people are spelled. `shortest`: from which length on a name is found within a text. `account`: what
    the account of a key is called. `kept`: keys of a row whose values are data, in which no name is a person's here.
    """

    def __init__(
        self,
        called: Mapping[str, str],
        *,
        shortest: int = 1,
        any_case: bool = True,
        account: Callable[[int], str | None] = str,
        kept: Container[str] = (),
    ) -> None:
        # A name in the text may be in other capitals than the account's.
        self._fold = str.casefold if any_case else str
        self._called = {self._fold(name): instead for name, instead in called.items() if name}
        listed = (name for name in called if len(name) >= shortest)
        self._pattern = pattern_of_names(listed, any_case=any_case)
        self._account, self._kept = account, kept

    def text(self, text: str) -> str:
        whole = self._called.get(self._fold(text))
        return whole or self._pattern.sub(self._instead, text)

    def _instead(self, name: re.Match[str]) -> str:
        return self._called.get(self._fold(name[0]), NOBODY_KNOWN)

    def row(self, value: Any, key: str = "", *, typed: bool = False) -> Any:
        """Return a value of JSON without names; `key`: that of a row under which it stands; `typed`: no data in it."""
        if isinstance(value, dict):
            # Labels of a random check are by judge: there the keys name people.
            hide = self.text if typed or key == "labels" else str
            return {
                hide(name): self.row(each, name, typed=typed or name in TYPED_KEYS) for name, each in value.items()
            }
        if isinstance(value, list):
            return [self.row(each, key, typed=typed) for each in value]
        # A bool is an int in Python, and no account.
        if key in PERSON_KEYS and isinstance(value, int) and not isinstance(value, bool):
            return self._account(value)
        if not isinstance(value, str) or (key in self._kept and not typed):
            return value
        # An account may have another name by now.
        return self._called.get(self._fold(value), NOBODY_KNOWN) if key in PERSON_KEYS else self.text(value)

    def file(self, lines: Iterable[str], *, is_table: bool = False) -> Iterator[str]:
        """Yield the lines of a file without names: JSON lines, or a table as CSV."""
        if not is_table:
            yield from (json_line({}, self.row(json.loads(line))) for line in lines)
            return
        out, table = io.StringIO(), csv.DictReader(lines)
        writer = csv.DictWriter(out, table.fieldnames or [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(self.row, table))
        yield from out.getvalue().splitlines()


def without_people(campaign: Campaign, text: str) -> str:
    """Return a text that somebody wrote, such as a seed, without the names of the campaign's people."""
    people = Names([campaign], DEFAULT_DB_ALIAS).connected()
    return anonymous(hide(campaign, people, list(Judge.objects.filter(user__in=people))).text(text))


def anonymous(text: str) -> str:
    """Return a text that calls somebody whom it calls by pseudonym: a pseudonym is another on another server."""
    return PSEUDONYM.sub("somebody", text)


class Names:
    """Names in campaigns. Each kind is read when it is first needed, by one query for all campaigns."""

    def __init__(self, campaigns: Collection[Campaign], alias: str) -> None:
        self.campaigns = {campaign.pk: campaign for campaign in campaigns}
        self._alias = alias
        self._people: dict[tuple[int, int], str] = {}
        self._real_judges: dict[int, dict[str | None, str]] = {}

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
        person = self.person(campaign, user)
        return f"{person}, study {self.clean(campaign, study)}" if study else person

    def judges_called(self, campaign: int, name: str) -> list[int]:
        return [pk for pk in self._judges if self.judge(campaign, pk) == name]

    @property
    def judges_aside(self) -> list[int]:
        return [pk for pk, (_, _, _, aside) in self._judges.items() if aside]

    def real_judge(self, campaign: int, name: str) -> str:
        """Return the name of whom a name calls here or in an export, where persons without an account are hidden."""
        if not PSEUDONYM.search(name):
            return name
        if campaign not in self._real_judges:
            hiding = self._hiding_in_exports[campaign]
            # Of two that are called alike the first.
            judges = dict(reversed(self._judges.items()))
            hidden: dict[str | None, str] = {hiding.text(real): real for real, *_ in judges.values()}
            shown = {self.judge(campaign, pk): real for pk, (real, *_) in judges.items()}
            self._real_judges[campaign] = {**hidden, **shown}
        return self._real_judges[campaign].get(name, name)

    def nugget_set(self, pk: int | None) -> str | None:
        return None if pk is None else self._sets[pk][2]

    def sets_called(self, campaign: int, name: str) -> list[int]:
        return [pk for pk, (of, _, called) in self._sets.items() if (of, called) == (campaign, name)]

    def real_set(self, campaign: int, name: str) -> str:
        """Return the name of the set that a name calls here or in an export."""
        pks = self.sets_called(campaign, name)
        if pks:
            return self._sets[pks[0]][1]
        hiding = self._hiding_in_exports[campaign]
        real_names = (real for of, real, _ in self._sets.values() if of == campaign)
        return next((real for real in real_names if hiding.text(real) == name), name)

    def real_study(self, campaign: int, name: str) -> str:
        names = Study.objects.using(self._alias).filter(campaign=campaign).values_list("name", flat=True)
        return next((real for real in names if self.clean(campaign, real) == name), name)

    def people_called(self, campaign: int, name: str) -> list[int]:
        tasks = Task.objects.using(self._alias).filter(campaign=campaign).order_by()
        people = tasks.values_list("assessor", flat=True).distinct()
        return [user for user in people if self.person(campaign, user) == name]

    def clean(self, campaign: int, value: Any) -> Any:
        return self._hiding[campaign].row(value) if campaign in self._hiding else value

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
    def _hiding(self) -> Mapping[int, Hiding]:
        people = self.connected()
        # Judges without an account go by their own names here.
        judges = list(Judge.objects.using(self._alias).filter(user__in=people))
        return {pk: hide(campaign, people, judges, in_prose=True) for pk, campaign in self.campaigns.items()}

    @cached_property
    def _hiding_in_exports(self) -> Mapping[int, Hiding]:
        people, judges = self.connected(), list(Judge.objects.using(self._alias))
        return {pk: hide(campaign, people, judges) for pk, campaign in self.campaigns.items()}

    def connected(self) -> list[User]:
        """Return whoever has to do with the campaigns, and all judges with an account."""
        campaigns = list(self.campaigns)
        members = Membership.objects.filter(campaign__in=campaigns).values("user")
        working = Task.objects.filter(campaign__in=campaigns).values("assessor")
        # Judges belong to no campaign, so their names may be in the texts of any.
        judging = Judge.objects.exclude(user=None).values("user")
        return list(
            User.objects.using(self._alias).filter(
                Q(pk__in=members) | Q(pk__in=working) | Q(pk__in=judging) | Q(is_superuser=True)
            )
        )
