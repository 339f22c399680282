"""Field helpers that several models share."""

from base64 import urlsafe_b64encode
from enum import IntEnum, StrEnum
from secrets import token_bytes
from uuid import UUID

_random_bytes = token_bytes


def new_public_id() -> str:
    """Return a random id for URLs and screens: it reveals neither order nor kind.

    It begins with a letter or a digit: what begins with a hyphen is a formula to a spreadsheet, and an option to a
    command.
    """
    # 9 bytes are 12 characters without padding.
    while not (public_id := urlsafe_b64encode(_random_bytes(9)).decode())[0].isalnum():
        continue
    return public_id


def new_salt() -> str:
    """Return a salt of pseudonyms. It never leaves the database."""
    return _random_bytes(32).hex()


def new_family() -> str:
    """Return a random id that a campaign shares with its copies."""
    return _random_bytes(16).hex()


def new_uuid() -> UUID:
    return UUID(bytes=_random_bytes(16), version=4)


def choices_of(words: type[StrEnum]) -> list[tuple[str, str]]:
    return [(word.value, word.value.replace("_", " ")) for word in words]


def codes_of(words: type[IntEnum]) -> list[tuple[int, str]]:
    return [(word.value, word.name.lower()) for word in words]
