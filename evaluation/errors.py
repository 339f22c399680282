"""Refusals with a code for programs and a message for people; and a task that is not there for somebody."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from web.middleware import RuleRefusal

PROBLEMS_SHOWN = 20  # a message is read in a terminal; up to 1,000 are kept
PLACES_SHOWN = 5
"""Most problems or findings of one kind that are shown."""

# Of two problems of a kind, these differ.
VALUE = re.compile(r", (?:not|found) .*|; it is also at .*|'[^']*'|`[^`]*`|\d+")


class Refused(RuleRefusal):
    """An act that the rules do not allow. Nothing has been written when it is raised.

    `field`: what would have to be said, called alike in forms and addresses, and as an option of commands. `choices`:
    the names to choose it from.
    """

    def __init__(self, code: str, message: str, *, field: str = "", choices: Sequence[str] = ()) -> None:
        self.field = field
        self.choices = tuple(choices)
        super().__init__(code, message)

    @property
    def command_message(self) -> str:
        """The message with the option. Only commands have options, so no page, file or API answer names one."""
        return f"{self.message} Option: --{self.field.replace('_', '-')}." if self.field else self.message


def no_such(code: str, what: str, there: Iterable[str]) -> Refused:
    return Refused(code, f"There is no {what}; there are: {', '.join(there) or 'none'}.")


@contextmanager
def on_side(side: str) -> Iterator[None]:
    """Say of which side a refusal is, where two are compared and each has fields of its own."""
    try:
        yield
    except Refused as refused:
        refused.field = refused.field and f"{side}_{refused.field}"
        raise


class NoSuchTask(Exception):
    """There is no such task for this user."""


@dataclass(frozen=True, slots=True)
class InputProblem:
    """One thing wrong with an input: which file, line and field, and what was expected there.

    `is_conflict`: something else is loaded: `loaded`, where the file has `in_file`. Replacing resolves it.
    """

    file: str
    line: int
    field: str
    expected: str
    is_conflict: bool = False
    loaded: str = ""
    in_file: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.field}: {self.expected}"


Item = TypeVar("Item")


def by_kind(
    items: Iterable[Item], field_and_expected: Callable[[Item], tuple[str, str]]
) -> list[tuple[list[Item], int]]:
    """Return the first items of each kind, at most `PLACES_SHOWN`, with the number of its others."""
    kinds: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        field, expected = field_and_expected(item)
        kinds.setdefault((VALUE.sub("", field), VALUE.sub("", expected)), []).append(item)
    return [(kind[:PLACES_SHOWN], max(len(kind) - PLACES_SHOWN, 0)) for kind in kinds.values()]


class BadInput(Refused):
    """A file that cannot be loaded, with up to `PROBLEMS_SHOWN` problems listed by their kinds."""

    def __init__(self, problems: Sequence[InputProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("bad_input", self._listed(way_out=""))

    @property
    def command_message(self) -> str:
        return self._listed(way_out="; --replace changes it")

    def _listed(self, *, way_out: str) -> str:
        kinds = by_kind(self.problems, lambda problem: (problem.field, problem.expected))
        ids = {id(problem) for kind, _ in kinds for problem in kind}
        lines = [
            f"{problem}{way_out if problem.is_conflict else ''}" for problem in self.problems if id(problem) in ids
        ]
        # The rest of a kind, beside the first of it; of very many kinds only the first are named.
        lines[PROBLEMS_SHOWN:] = [f"and {len(lines) - PROBLEMS_SHOWN} more"] if len(lines) > PROBLEMS_SHOWN else []
        lines += [f"and {more:,} more like {kind[0].file}:{kind[0].line}" for kind, more in kinds if more]
        return "\n".join(lines)
