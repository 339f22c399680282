"""Rows that no backup keeps, and sign-ins that no restored database may bring back."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import connection
from django.utils.timezone import now

from accounts.models import ApiToken, User

LEFT_OUT = ("django_session", "accounts_cached", "api_idempotencykey")
"""Tables whose rows stay out of backups: sessions open accounts, and kept answers hold data in full."""


class Ending(NamedTuple):
    """A statement, and the table and the column without which it is left out."""

    table: str
    column: str
    statement: str


STATEMENTS = (
    Ending("django_session", "session_key", "DELETE FROM django_session"),
    Ending("accounts_cached", "cache_key", "DELETE FROM accounts_cached"),
    Ending("api_idempotencykey", "key", "DELETE FROM api_idempotencykey"),
    Ending("accounts_user", "session_epoch", "UPDATE accounts_user SET session_epoch = session_epoch + 1"),
)
"""Run in each restored database. Backups of older versions hold sessions, and with them what opens accounts."""


@dataclass(frozen=True, slots=True)
class GoodToken:
    """A token that opens the API: how its owner knows it, whose it is, until when."""

    prefix: str
    name: str
    owner: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Openings:
    """Means of getting in: hashes of tokens, and names of open accounts."""

    tokens: dict[str, GoodToken]
    accounts: frozenset[str]


def openings() -> Openings:
    # The database may be empty, or of an older version that lacks these tables.
    tables = set(connection.introspection.table_names())
    if "accounts_user" not in tables:
        return Openings({}, frozenset())
    accounts = frozenset(User.objects.filter(is_active=True).values_list("username", flat=True))
    return Openings(_good_tokens() if "accounts_apitoken" in tables else {}, accounts)


def _good_tokens() -> dict[str, GoodToken]:
    good = ApiToken.objects.filter(revoked_at=None, expires_at__gt=now(), user__is_active=True).order_by("pk")
    rows = good.values_list("sha256", "prefix", "name", "user__username", "expires_at")
    return {sha256: GoodToken(prefix, name, owner, until) for sha256, prefix, name, owner, until in rows}
