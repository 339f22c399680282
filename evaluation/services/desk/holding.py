"""Who may write at a desk: one window at a time. The others read until they take it over."""

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from evaluation.models import Desk
from evaluation.services.desk.finding import free_in, holder_age, lock_desk
from evaluation.terms import PageState


@dataclass(frozen=True, slots=True)
class Holding:
    """Whether this window holds the desk now, how many seconds ago its holder was last heard of, and `free_in`."""

    holder: str
    holder_age_s: int
    free_in_s: int | None


def hold(*, task: str, user: User, window: str, take: bool) -> Holding:
    """Let a window hold a desk: when nobody does, when the holder fell silent, or when it insists (`take`)."""
    with transaction.atomic():
        desk = lock_desk(task, user)
        if take or may_have(desk, window):
            return take_desk(desk, window)
        return Holding("other", holder_age(desk.held_at), free_in(desk))


def release(*, task: str, user: User, window: str) -> Holding:
    """Let go of a desk, as a window does that closes. Another window's hold stays."""
    with transaction.atomic():
        desk = lock_desk(task, user)
        if desk.holder == window:
            desk.holder = ""
            desk.save(update_fields=["holder"])
        return Holding("free" if desk.holder == "" else "other", holder_age(desk.held_at), free_in(desk))


def may_have(desk: Desk, window: str) -> bool:
    """Say whether a window may hold a desk without taking it from another that is alive."""
    return desk.holder == window or free_in(desk) == 0


def take_desk(desk: Desk, window: str) -> Holding:
    """Write that a window holds the desk, as of now."""
    desk.holder, desk.held_at, desk.holder_page = window, timezone.now(), PageState.VISIBLE
    desk.save(update_fields=["holder", "held_at", "holder_page"])
    return Holding("mine", 0, None)
