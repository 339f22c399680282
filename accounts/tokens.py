"""Tokens for the API: made once, shown once, kept as a hash."""

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256

from django.conf import settings
from django.db.models import Q
from django.utils.timezone import now

from accounts.models import ApiToken, User
from web.middleware import RuleRefusal
from web.text import trimmed

MARK = "assay_"  # by which a scanner for secrets knows a token
SECRET_BYTES = 32
SHOWN = len(MARK) + 6
NAME_LENGTH = 100
NOTED_EVERY = timedelta(minutes=1)


class Scope(StrEnum):
    """Rights of a token, within those of its owner."""

    READ = "read"
    WRITE = "write"


def hash_of(raw: str) -> str:
    return sha256(raw.encode()).hexdigest()


def longest_life() -> timedelta:
    return timedelta(days=settings.API_TOKEN_MAX_DAYS)


def make_token(*, user: User, name: str, scopes: Collection[str], expires_at: datetime) -> tuple[ApiToken, str]:
    """Token and its secret, which is never stored."""
    _check(user, trimmed(name), scopes, expires_at)
    raw = MARK + secrets.token_urlsafe(SECRET_BYTES)
    token = ApiToken.objects.create(
        user=user,
        name=trimmed(name),
        prefix=raw[:SHOWN],
        sha256=hash_of(raw),
        scopes=[scope.value for scope in Scope if scope in scopes],
        expires_at=expires_at,
    )
    return token, raw


def _check(user: User, name: str, scopes: Collection[str], expires_at: datetime) -> None:
    if not user.is_active:
        raise RuleRefusal("token_owner", f"The account {user.username} is closed.")
    if not 0 < len(name) <= NAME_LENGTH:
        raise RuleRefusal("token_name", f"A token needs a name of at most {NAME_LENGTH} characters.")
    if not scopes or not set(scopes) <= set(Scope):
        raise RuleRefusal("token_scopes", f"A token needs scopes: {', '.join(Scope)}.")
    if not now() < expires_at <= now() + longest_life():
        raise RuleRefusal("token_expiry", f"A token ends in the future, within {longest_life().days} days.")


def token_of(raw: str) -> ApiToken | None:
    """Token of a request; None where it is unknown, expired or revoked, or its owner's account is closed."""
    moment = now()
    tokens = ApiToken.objects.select_related("user").filter(sha256=hash_of(raw), revoked_at=None)
    token = tokens.filter(expires_at__gt=moment, user__is_active=True).first()
    # Noted once a minute: a program that reads pages of rows must not write a row for each.
    if token and (token.last_used_at is None or token.last_used_at <= moment - NOTED_EVERY):
        # Asked again in the statement, so that of many requests at once one writes.
        old = Q(last_used_at=None) | Q(last_used_at__lte=moment - NOTED_EVERY)
        ApiToken.objects.filter(old, pk=token.pk).update(last_used_at=moment)
        token.last_used_at = moment
    return token


def refused_token_of(raw: str) -> ApiToken | None:
    """Expired or revoked token of a request, or that of a closed account: for the audit log."""
    return ApiToken.objects.select_related("user").filter(sha256=hash_of(raw)).first()


def revoke_token(*, token: ApiToken) -> None:
    """Close a token; one that is closed already keeps its moment."""
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now())
    token.refresh_from_db(fields=["revoked_at"])


def revoke_tokens_of(user: User) -> int:
    return ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=now())


def tokens_of(user: User) -> list[ApiToken]:
    return list(ApiToken.objects.filter(user=user))
