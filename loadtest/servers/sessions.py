"""Sessions that are made and ended past the sign-in form."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import User
from accounts.session_store import SessionStore, hashed


def new_session(user: User, backend: str = "") -> str:
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = backend or settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return str(session.session_key)


def session_cookie(user: User) -> str:
    return f"{settings.SESSION_COOKIE_NAME}={new_session(user)}"


def end_session(key: str) -> None:
    Session.objects.filter(session_key=hashed(key)).update(expire_date=timezone.now() - timedelta(days=1))
