"""Field helpers that several models share."""

from base64 import urlsafe_b64encode
from enum import IntEnum, StrEnum
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from django.db import models

from evaluation.stages import Stage, stage_of
from evaluation.terms import MOST_WEIGHT

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
    return _random_bytes(16).hex()


def new_uuid() -> UUID:
    return UUID(bytes=_random_bytes(16), version=4)


def choices_of(words: type[StrEnum]) -> list[tuple[str, str]]:
    return [(word.value, word.value.replace("_", " ")) for word in words]


def codes_of(words: type[IntEnum]) -> list[tuple[int, str]]:
    return [(word.value, word.name.lower()) for word in words]


def within_weights(field: str) -> models.Q:
    return models.Q(**{f"{field}__range": (-MOST_WEIGHT, MOST_WEIGHT)}) | models.Q(**{field: None})


if TYPE_CHECKING:
    StageText: TypeAlias = models.CharField[str, Stage]
else:
    StageText = models.CharField


class StageField(StageText):
    """Code of a stage in the database, the stage itself in Python. A stage more is no migration."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": 20} | options)

    def from_db_value(self, value: str | None, *_: object) -> Stage | None:
        return None if value is None else stage_of(value)

    def get_prep_value(self, value: Any) -> Any:
        # Drivers know texts and not what is more than one.
        return str(value) if isinstance(value, Stage) else super().get_prep_value(value)
