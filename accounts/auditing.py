"""What the audit log hears of sign-ins: each one, each that failed, and lockouts. Never what was typed."""

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from accounts.models import User
from web import audit
from web.auditing import address_of

UNKNOWN = "unknown"


@receiver(user_logged_in)
def _signed_in(sender: Any, user: User, request: HttpRequest | None = None, **_rest: Any) -> None:
    audit.record_if_possible("account.signed_in", actor=audit.actor_of(user), address=address_of(request))


@receiver(user_logged_out)
def _signed_out(sender: Any, user: User | None, request: HttpRequest | None = None, **_rest: Any) -> None:
    if user is not None:
        audit.record_if_possible("account.signed_out", actor=audit.actor_of(user), address=address_of(request))


@receiver(user_login_failed)
def _failed(sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **_rest: Any) -> None:
    record_attempt("account.login_failed", credentials, request)


def record_attempt(kind: str, credentials: dict[str, Any], request: HttpRequest | None) -> None:
    """Record an attempt by the account that was meant. A name that is no account may be a password: it is left out."""
    audit.record_if_possible(kind, actor=_meant(credentials), address=address_of(request))


def _meant(credentials: dict[str, Any]) -> str:
    typed = {name: str(credentials[name]) for name in ("username", "email") if credentials.get(name)}
    for name, value in typed.items():
        if "\0" in value:
            continue
        user = User.objects.filter(**{f"{name}__iexact": value}).only("pk").first()
        if user:
            return audit.actor_of(user)
    return UNKNOWN
