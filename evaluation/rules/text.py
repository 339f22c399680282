"""Rules about texts: patterns that somebody typed, names, and the seeded order of ids.

Typed patterns run in the engine of pydantic, which takes time in proportion to the text whatever the pattern. Python's
own can be kept busy for hours by a pattern of ten characters.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import Final

from pydantic_core import SchemaError, SchemaValidator, core_schema

from evaluation.errors import Refused
from evaluation.formats.lines import name_problem

LONGEST_PATTERN: Final = 200


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return the test whether a pattern is found in a text, in capitals or not.

    Raises `Refused` for a pattern that is too long, is none, or asks for looking around or back.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise Refused("bad_pattern", f"A pattern has at most {LONGEST_PATTERN} characters.")
    try:
        return SchemaValidator(core_schema.str_schema(pattern=f"(?i){pattern}")).isinstance_python
    except SchemaError as error:
        raise Refused("bad_pattern", f"This is no pattern: {_why(str(error))}.") from None


def _why(error: str) -> str:
    errors = [line.split("error: ", 1)[1] for line in error.splitlines() if "error: " in line]
    return errors[-1].rstrip(".") if errors else "it is too large, or cannot be read"


def check_name(what: str, name: str) -> str:
    """Return a judge's, set's or source's name. Raises `Refused` for a name that no file could carry."""
    problem = name_problem(name)
    if problem:
        raise Refused("bad_name", f"{what}: {problem}.")
    return name


def pattern_of_names(names: Iterable[str], *, any_case: bool = True) -> re.Pattern[str]:
    """Return the pattern that finds names in a text, only as whole words: Ann is not in Annie. None finds nothing."""
    # Longest first: the alternation takes the first match, and a first name would leave the surname in the text.
    listed = sorted(filter(None, names), key=len, reverse=True)
    either = "|".join(map(re.escape, listed)) or r"(?!)"
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE if any_case else 0)


def shuffled(seed: str, public_ids: list[str]) -> list[str]:
    """Return ids in the order of their hashes with a seed, so that the same question has the same answer.

    Ids are random themselves: the order reveals nothing of their rows.
    """
    # By hash, because Python does not promise the order of `random` from version to version.
    return sorted(public_ids, key=lambda item: hashlib.sha256(f"{seed}|{item}".encode()).digest())
