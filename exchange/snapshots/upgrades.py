"""Files of campaigns from earlier versions: a function for each form leads to the next one.

A column that is new takes its default, and needs no function. What is renamed, left out or means something else does:

    def judge_of_a_study(table: StoredTable) -> StoredTable:
        return replace(table, columns=["judge" if name == "llm" else name for name in table.columns])
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table of a file. A row is a list of cells; a line that cannot be read is an empty list.

    Other tables name rows by their place, so a function keeps their number and order.
    """

    name: str
    columns: Sequence[str]
    rows: Iterable[list[Any]]


def weight_of_nuggets(table: StoredTable) -> StoredTable:
    """A nugget that an answer must not contain weighs less than 0."""
    if table.name != "evaluation.ListedNugget":
        return table
    place = table.columns.index("avoid")
    columns = ["weight" if name == "avoid" else name for name in table.columns]
    rows = ([*row[:place], -1.0 if row[place] else None, *row[place + 1 :]] if row else row for row in table.rows)
    return replace(table, columns=columns, rows=rows)


UPGRADES: tuple[Callable[[StoredTable], StoredTable], ...] = (weight_of_nuggets,)
"""The first leads from form 1, of before 0.1.0, to form 2. Never change one that was released."""


def current_form() -> int:
    return 1 + len(UPGRADES)


def upgraded(table: StoredTable, form: int) -> StoredTable:
    for upgrade in UPGRADES[form - 1 :]:
        table = upgrade(table)
    return table
