"""People in a file: by name, or by pseudonyms, then wherever a column may say their names."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from accounts.models import User
from evaluation.models import Campaign, Judge
from evaluation.pseudonyms import pseudonym_of
from evaluation.terms import JudgeKind

COLUMNS = ("username", "first_name", "last_name")
MAY_NAME = {
    "evaluation.Campaign": ("description",),
    "evaluation.Protocol": ("guidelines",),
    "evaluation.ConditionDefault": ("judge", "nuggets"),
    "evaluation.Judge": ("name",),
    "evaluation.NuggetSet": ("name",),
    "evaluation.NuggetList": ("extra",),
    "evaluation.Study": ("name",),
    "evaluation.Event": ("payload",),
    "evaluation.Finding": ("file", "message"),
    "evaluation.Task": ("blocked_reason", "reopened_reason"),
    "evaluation.Remark": ("about", "text", "answer"),
    "reports.Adjudication": ("note",),
    "jobs.Job": ("title", "options"),
    "llmjobs.Trial": ("of",),
}
"""Columns that may say somebody's name. What runs, passages and nuggets say is left as it is."""

Row = tuple[str, str, str]
Hide = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class People:
    """The rows of a file's people, and how a value is written that may name them."""

    rows: list[Row]
    hide: Hide | None = None

    def hides(self, table: str, column: str) -> Hide | None:
        return self.hide if column in MAY_NAME.get(table, ()) else None


def named(people: Sequence[User]) -> People:
    return People([(one.username, one.first_name, one.last_name) for one in people])


def under_pseudonyms(campaign: Campaign, people: Sequence[User], judges: Sequence[Judge]) -> People:
    called = {one.pk: pseudonym_of(campaign, one.pk) for one in people}
    pseudonyms: dict[str, str] = {}
    for one in judges:
        if one.kind == JudgeKind.HUMAN and one.study_id is None:
            pseudonyms[one.name] = called.get(one.user_id or 0) or pseudonym_of(campaign, -one.pk)
    for user in people:
        for name in (user.username, user.name, user.first_name, user.last_name):
            pseudonyms.setdefault(name, called[user.pk])
    return People([(called[one.pk], "", "") for one in people], _hiding(pseudonyms))


def _hiding(pseudonyms: dict[str, str]) -> Hide:
    by_word = {name.lower(): pseudonym for name, pseudonym in pseudonyms.items() if name}
    either = "|".join(re.escape(name) for name in sorted(by_word, key=len, reverse=True)) or r"(?!)"
    spoken = re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)

    def hide(value: Any) -> Any:
        return replaced(value, lambda text: spoken.sub(lambda one: by_word[one[0].lower()], text))

    return hide


def replaced(value: Any, change: Callable[[str], str]) -> Any:
    """JSON value with every text in it changed, keys too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [replaced(one, change) for one in value]
    if isinstance(value, dict):
        return {change(key): replaced(one, change) for key, one in value.items()}
    return value
