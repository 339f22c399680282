"""Refusals with a code for programs and a message for people; and a task that is not there for somebody."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from web.middleware import RuleRefusal

PROBLEMS_SHOWN = 20  # a message is read in a terminal; up to 1,000 are kept


class Refused(RuleRefusal):
    """An act that the rules do not allow. Nothing has been written when it is raised."""


def no_such(code: str, wanted: str, there: Iterable[str]) -> Refused:
    """Refusal of a name that does not exist, with the names that do."""
    return Refused(code, f"There is no {wanted}; there are: {', '.join(there) or 'none'}.")


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
        way_out = "; --replace changes it" if self.is_conflict else ""
        return f"{self.file}:{self.line}: {self.field}: {self.expected}{way_out}"


class BadInput(Refused):
    """A file that cannot be loaded, with up to `PROBLEMS_SHOWN` problems listed."""

    def __init__(self, problems: Sequence[InputProblem]) -> None:
        self.problems = tuple(problems)
        shown = [str(problem) for problem in self.problems[:PROBLEMS_SHOWN]]
        more = len(self.problems) - len(shown)
        if more > 0:
            shown.append(f"and {more} more")
        super().__init__("bad_input", "\n".join(shown))
