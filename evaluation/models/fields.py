"""Field helpers that several models share."""

import secrets
from enum import IntEnum, StrEnum


def new_public_id() -> str:
    """Return a random id for URLs and screens: it tells neither order nor kind.

    It begins with a letter or a digit: what begins with a hyphen is a formula to a spreadsheet, and an option to a
    command.
    """
    while not (made := secrets.token_urlsafe(9))[0].isalnum():
        continue
    return made


def new_salt() -> str:
    """Return what pseudonyms are made with. It never leaves the database."""
    return secrets.token_hex(32)


def new_family() -> str:
    """Return a random id that a campaign shares with its copies."""
    return secrets.token_hex(16)


def choices_of(words: type[StrEnum]) -> list[tuple[str, str]]:
    """Return the field choices for a vocabulary of words."""
    return [(word.value, word.value.replace("_", " ")) for word in words]


def codes_of(words: type[IntEnum]) -> list[tuple[int, str]]:
    """Return the field choices for a vocabulary of stored codes."""
    return [(word.value, word.name.lower()) for word in words]
