"""Who may write at a desk: one window at a time. The others read until they take it over."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from evaluation.models import Desk
from evaluation.services.desk.finding import holder_age, lock_desk

LEASE = timedelta(seconds=45)


@dataclass(frozen=True, slots=True)
class Holding:
    """Whether this window holds the desk now, and how many seconds ago its holder was last heard of."""

    holder: str
    holder_age_s: int


def hold(*, task: str, user: User, window: str, take: bool) -> Holding:
    """Let a window hold a desk: when nobody does, when the holder fell silent, or when it insists (`take`)."""
    with transaction.atomic():
        desk = lock_desk(task, user)
        if take or may_have(desk, window):
            return take_desk(desk, window)
        return Holding("other", holder_age(desk.held_at))


def release(*, task: str, user: User, window: str) -> Holding:
    """Let go of a desk, as a window does that closes. Another window's hold stays."""
    with transaction.atomic():
        desk = lock_desk(task, user)
        if desk.holder == window:
            desk.holder = ""
            desk.save(update_fields=["holder"])
        return Holding("free" if desk.holder == "" else "other", holder_age(desk.held_at))


def may_have(desk: Desk, window: str) -> bool:
    """Say whether a window may hold a desk without taking it from another that is alive."""
    expired = desk.held_at is None or timezone.now() - desk.held_at > LEASE
    return desk.holder in ("", window) or expired


def take_desk(desk: Desk, window: str) -> Holding:
    """Write that a window holds the desk, as of now."""
    desk.holder, desk.held_at = window, timezone.now()
    desk.save(update_fields=["holder", "held_at"])
    return Holding("mine", 0)
