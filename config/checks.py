"""What must hold before real people work here, beside what Django itself checks: run by `check --deploy`."""

import stat
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from web import audit

OTHERS = stat.S_IRWXG | stat.S_IRWXO


@register(deploy=True)
def safe_settings(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Fail for settings of a trial that were taken along."""
    found: list[CheckMessage] = []
    if settings.DEBUG:
        found.append(Error("DEBUG=1 shows settings and code to whoever causes an error.", id="assay.E001"))
    if settings.DEMO:
        found.append(Error("DEMO=1 lets accounts with a known password in.", id="assay.E002"))
    if any(host.startswith("*") for host in settings.ALLOWED_HOSTS):
        said = "ALLOWED_HOSTS answers to any name, so links in mails could be forged."
        found.append(Error(said, hint="Name the hosts.", id="assay.E003"))
    return found


@register(deploy=True)
def audit_log_is_written(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Fail where the audit log cannot be written: every unblinded page would be refused."""
    try:
        audit.ensure_writable()
    except audit.AuditUnwritableError as error:
        return [Error(str(error), hint="Set AUDIT_LOG to a file that can be written, or to -.", id="assay.E004")]
    return []


@register(deploy=True)
def key_is_closed(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Warn where other accounts of the machine can read the signing key that was made here."""
    path = settings.VAR_DIR / "secret-key"
    if path.exists() and path.stat().st_mode & OTHERS:
        said = f"{path} can be read by other accounts of this machine."
        return [Warning(said, hint="chmod 600", id="assay.W001")]
    return []
