"""Web processes of the benchmark's own, and what signs a client in."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command

from accounts.models import User

LONGEST_WAIT = 60.0  # seconds


@contextmanager
def web(application: str = "config.wsgi") -> Iterator[str]:
    """Run a web process as `make run` does, on a port that is free; its address."""
    call_command("collectstatic", interactive=False, verbosity=0)
    port = _free_port()
    command = [sys.executable, "-m", "gunicorn", application]
    own = os.environ | {"PORT": str(port), "HOST": "127.0.0.1"}
    with subprocess.Popen(command, env=own, stdout=subprocess.DEVNULL, cwd=settings.BASE_DIR) as process:
        address = f"http://127.0.0.1:{port}"
        try:
            _wait_for_web(address)
            yield address
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for_web(address: str) -> None:
    end = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{address}/healthz"):  # noqa: S310
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the web process does not answer")


def session_cookie(user: User, backend: str = "") -> str:
    """Return the cookie of a session in which somebody is signed in, by the first or a named backend."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = backend or settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return f"{settings.SESSION_COOKIE_NAME}={session.session_key}"
