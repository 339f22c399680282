"""Nuggets that an answer must not contain: files name them, and scores have no sign for them yet."""

import re
from collections.abc import Mapping
from typing import Any, Final

AVOID: Final = frozenset({"avoid", "must avoid"})
NOT: Final = "NOT"
SEPARATORS: Final = re.compile(r"[\s_-]+")
ARGUE_KEY: Final = "argue"
"""Under this key a nugget keeps what its ARGUE bank said of it, so that it leaves as it came."""

NO_AVOID: Final = "vital or okay: a nugget that an answer must not contain has no score yet"
NO_NOT: Final = "AND or OR: a question whose answers must not be given has no score yet"


def is_avoid(importance: object) -> bool:
    """Say whether an importance means that an answer must not contain the nugget."""
    if importance in ("", "vital", "okay"):  # a file has up to 835,000 labels, each with one of these
        return False
    return isinstance(importance, str) and SEPARATORS.sub(" ", importance).strip().casefold() in AVOID


def is_not(aggregator: object) -> bool:
    """Say whether an ARGUE question's aggregator means that its answers must not be given."""
    return isinstance(aggregator, str) and aggregator.strip().upper() == NOT


def wrong_sign(importance: object, extra: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the field that says that a nugget must not be said, and what is expected there; None where none does."""
    if is_avoid(importance):
        return "importance", f"{NO_AVOID}, found {importance!r}"
    bank = extra.get(ARGUE_KEY)
    if isinstance(bank, Mapping) and is_not(bank.get("aggregator_type")):
        return f"{ARGUE_KEY}.aggregator_type", f"{NO_NOT}, found {bank['aggregator_type']!r}"
    return None
