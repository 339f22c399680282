"""Checks before real people work here, beside Django's own: run by `check --deploy`, and some before every command."""

import stat
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.db import DatabaseError

from accounts.models import User
from web import audit_log

OTHERS = stat.S_IRWXG | stat.S_IRWXO


@register(deploy=True)
def safe_settings(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    problems: list[CheckMessage] = []
    if settings.DEBUG:
        problems.append(Error("DEBUG=1 shows settings and code to whoever causes an error.", id="assay.E001"))
    if settings.DEMO:
        problems.append(Error("DEMO=1 lets accounts with a known password in.", id="assay.E002"))
    if any(host.startswith("*") for host in settings.ALLOWED_HOSTS):
        text = "ALLOWED_HOSTS answers to any name, so links in mails could be forged."
        problems.append(Error(text, hint="Name the hosts.", id="assay.E003"))
    return problems


@register(deploy=True)
def audit_log_is_written(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Fail where the audit log cannot be written: every unblinded page would be refused."""
    try:
        audit_log.ensure_writable()
    except audit_log.AuditUnwritableError as error:
        return [Error(str(error), hint="Set AUDIT_LOG to a file that can be written, or to -.", id="assay.E004")]
    return []


@register(deploy=True)
def key_is_closed(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    path = settings.VAR_DIR / "secret-key"
    if path.exists() and path.stat().st_mode & OTHERS:
        text = f"{path} can be read by other accounts of this machine."
        return [Warning(text, hint="chmod 600", id="assay.W001")]
    return []


@register()
def listens_behind_a_proxy(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    # Passwords would go in the clear, and four requests that send their body slowly
    # would hold all threads of a process.
    if settings.HTTPS or _is_this_machine(settings.HOST):
        return []
    text = (
        f"HOST={settings.HOST} lets the network in without TLS and without the proxy that waits for slow requests."
    )
    hint = "Put a proxy in front (deploy/nginx.conf) and set HTTPS=1, or leave HOST at 127.0.0.1."
    return [Error(text, hint=hint, id="assay.E005")]


@register(deploy=True)
def files_are_closed(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    default = settings.DATABASES["default"]
    database = [str(default["NAME"])] if default["ENGINE"].endswith("sqlite3") else []
    return open_files([*database, settings.AUDIT_LOG])


def open_files(files: Iterable[str]) -> list[CheckMessage]:
    warnings: list[CheckMessage] = []
    for path in map(Path, files):
        is_open = path.is_file() and path.stat().st_mode & path.parent.stat().st_mode & OTHERS
        if is_open:
            text = f"{path} can be read by other accounts of this machine."
            warnings.append(Warning(text, hint="chmod 600, or chmod 700 for its folder", id="assay.W002"))
    return warnings


@register(deploy=True)
def no_demo_accounts(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Fail while an account with a published password exists. A database without tables has none."""
    try:
        names = list(User.objects.filter(demo=True).values_list("username", flat=True))
    except DatabaseError:
        return []
    if not names:
        return []
    text = f"Demo accounts exist, with a password that everybody knows: {', '.join(names)}."
    return [Error(text, hint="Use another database, or delete them.", id="accounts.E001")]


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"  # an empty one is every address to gunicorn
