"""Counts and figures of campaigns in the database, where every process finds what one has computed."""

from contextlib import suppress
from typing import Any, Final

from django.db import OperationalError, connection

from accounts.caching import TableCache
from web.write_lock import short_wait

KEPT_SECONDS: Final = 7 * 24 * 3600
LOCK_PATIENCE_MS: Final = 20


def kept(name: str) -> Any:
    # Not in Redis: a restored database must not find what a later state of it had left there.
    return TableCache("", {}).get(name)


def keep(name: str, value: Any) -> None:
    """Keep a JSON value unless something is being written just now: the next process may compute it again."""
    # A transaction may be undone, and what it counted is no state of the campaign.
    if not connection.in_atomic_block:
        with suppress(OperationalError), short_wait(LOCK_PATIENCE_MS):
            TableCache("", {}).set(name, value, timeout=KEPT_SECONDS)
