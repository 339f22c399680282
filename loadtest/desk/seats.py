"""Assessors of a load test and their tasks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connections

PASSWORD = "of the desk soak"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Card:
    """A task as its assessor needs it: what can be quoted, and how long the list may be. `pk` 0: not known yet."""

    task: str
    pk: int
    sentences: dict[str, int]
    limit: int | None


@dataclass(frozen=True, slots=True)
class Seat:
    username: str
    pk: int
    cards: tuple[Card, ...] = ()


@contextmanager
def own_connection() -> Iterator[None]:
    """Let a thread use the database for the block, and give its connections back."""
    try:
        yield
    finally:
        connections.close_all()
