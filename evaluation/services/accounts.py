"""What administrators do to accounts, with a line of the audit log for each act."""

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts.closing import close_account, end_sessions, open_account
from accounts.models import User
from evaluation.errors import Refused
from web import audit


def close_person(*, user: User, actor: User) -> None:
    """Close an account. Raises `Refused` where it is one's own."""
    _check(user, actor)
    close_account(user)
    _note("account.closed", user, actor)


def open_person(*, user: User, actor: User) -> None:
    """Open a closed account again. Raises `Refused` where its person was erased."""
    _check(user, actor)
    if user.erased_at:
        raise Refused("erased", "This person was erased: there is nobody to sign in.")
    open_account(user)
    _note("account.opened", user, actor)


def drop_second_factor(*, user: User, actor: User) -> None:
    """Take every second factor and recovery code from an account, and end its sessions."""
    _check(user, actor)
    with transaction.atomic():
        Authenticator.objects.filter(user=user).delete()
        end_sessions(user)
    _note("account.second_factor_dropped", user, actor)


def _check(user: User, actor: User) -> None:
    if not actor.is_superuser:
        raise Refused("administrators", "Only an administrator does this.")
    if user == actor:
        raise Refused("yourself", "Another administrator has to do this to your own account.")


def _note(kind: str, user: User, actor: User) -> None:
    audit.record_if_possible(kind, actor=audit.actor_of(actor), about=audit.actor_of(user))
