"""Accounts as they are made, by invitation or for the demo. Rooms above know the rights that an invitation grants."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.timezone import now

from accounts.models import NAME_TAKEN, NOTICE_VERSION, Invitation, User
from accounts.tokens import SECRET_BYTES, hash_of
from web.middleware import RuleRefusal
from web.text import trimmed


def new_invitation(
    *, campaign_id: int, role: str, email: str, made_by: User, name: str = ""
) -> tuple[Invitation, str]:
    """Invitation and the secret of its link, which is never stored."""
    raw = secrets.token_urlsafe(SECRET_BYTES)
    invitation = Invitation.objects.create(
        campaign_id=campaign_id,
        role=role,
        email=email,
        name=name,
        sha256=hash_of(raw),
        made_by=made_by,
        expires_at=now() + timedelta(days=settings.INVITATION_DAYS),
    )
    return invitation, raw


def invitation_of(raw: str) -> Invitation | None:
    """Invitation of a link; None where it is used, revoked or expired."""
    unused = Invitation.objects.select_related("campaign", "made_by")
    good = {"accepted_at": None, "revoked_at": None, "expires_at__gt": now(), "made_by__is_active": True}
    return unused.filter(sha256=hash_of(raw), **good).first()


def use_invitation(raw: str, user: User) -> Invitation:
    """Use up an invitation, in the transaction of what it grants. Raises `RuleRefusal` where it is good no more."""
    invitation = invitation_of(raw)
    # Asked again in the statement: of two who open a link at once, one gets it.
    wins = invitation and Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None).update(
        accepted_at=now(), accepted_by=user
    )
    if not invitation or not wins:
        raise RuleRefusal(
            "invitation", "This invitation was used, taken back, or is too old. Ask for another one."
        )
    return invitation


def revoke_invitation(invitation: Invitation) -> bool:
    unused = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None)
    return bool(unused.update(revoked_at=now()))


def make_account(*, username: str, password: str, full_name: str = "", email: str = "") -> User:
    """Raises `ValidationError` by field. `email`: where the link was sent, so whoever has it reads that mail."""
    first, _, last = trimmed(full_name).partition(" ")
    user = User(username=username, first_name=first, last_name=last, email=email)
    user.set_password(password)
    user.full_clean()
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ValidationError({"password": error.messages}) from error
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as error:  # somebody took the name since it was looked up
        raise ValidationError({"username": NAME_TAKEN}) from error
    return user


def ensure_demo_user(*, username: str, full_name: str, password: str, administrator: bool = False) -> User:
    """Demo account; an existing one keeps its password. `password`: its hash, because several have the same."""
    first, _, last = full_name.partition(" ")
    user, _ = User.objects.get_or_create(
        username=username,
        defaults={
            "first_name": first,
            "last_name": last,
            "email": f"{username}@example.org",
            "is_staff": administrator,
            "is_superuser": administrator,
            "demo": True,
            "password": password,
            "notice_version": NOTICE_VERSION,  # they are made up, and nothing is recorded of anybody
        },
    )
    return user
