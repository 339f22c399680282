"""Settings of signing in that need more than a line: the provider, the shared cache, the limits."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured


def oidc_provider(env: Any) -> dict[str, Any] | None:
    """Return the OpenID Connect provider that the environment names, as allauth wants it; None without one.

    The secret comes from `OIDC_CLIENT_SECRET`, or from the file that `OIDC_CLIENT_SECRET_FILE` names.
    """
    server = env.str("OIDC_SERVER_URL", default="")
    if not server:
        return None
    parts = urlsplit(server)
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        # What the provider says is believed because it came over TLS.
        raise ImproperlyConfigured("OIDC_SERVER_URL: https://, but for a provider on this machine.")
    client = env.str("OIDC_CLIENT_ID", default="")
    if not client:
        raise ImproperlyConfigured("OIDC_SERVER_URL is set, and OIDC_CLIENT_ID is missing.")
    return {
        "provider_id": env.str("OIDC_PROVIDER_ID", default="oidc"),
        "name": env.str("OIDC_NAME", default="single sign-on"),
        "client_id": client,
        "secret": _secret(env),
        "settings": {"server_url": server, "origin": f"{parts.scheme}://{parts.netloc}"},
    }


def _secret(env: Any) -> str:
    file = env.str("OIDC_CLIENT_SECRET_FILE", default="")
    if not file:
        return str(env.str("OIDC_CLIENT_SECRET", default=""))
    try:
        return Path(file).read_text("utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(f"OIDC_CLIENT_SECRET_FILE: {error.strerror}") from error


def shared_cache(redis: str, broker: str) -> dict[str, Any]:
    url = redis or (broker if broker.startswith(("redis://", "rediss://")) else "")
    if url:
        backend = "django.core.cache.backends.redis.RedisCache"
        # JSON, so that whoever can write the values runs no code here.
        serializer = {"serializer": "accounts.caching.JsonSerializer"}
        cache = {"BACKEND": backend, "LOCATION": url, "KEY_PREFIX": "assay", "OPTIONS": serializer}
        return {"default": cache}
    # A full cache drops what it likes. The table is large, so that nobody gets new tries by filling it.
    options = {"MAX_ENTRIES": 100_000, "CULL_FREQUENCY": 10}
    return {"default": {"BACKEND": "accounts.caching.TableCache", "OPTIONS": options}}


FAILED_AN_HOUR = 100
"""Wrong passwords for one account, whatever `LOGIN_FAILURES` and `LOGIN_LOCK_MINUTES` allow (OWASP ASVS 2.2.1)."""


def login_limits(*, failed: int, seconds: int) -> dict[str, str]:
    """Limits of allauth: `failed` attempts an account within so many seconds, from anywhere."""
    return {
        # By address there is room for a lab behind one router.
        "login": "60/m/ip",
        "login_failed": f"{10 * failed}/{seconds}s/ip,{failed}/{seconds}s/key,{FAILED_AN_HOUR}/h/key",
        "invitation": "30/m/ip",  # links that are not good
        "reset_password": "20/m/ip,5/m/key",
        "reauthenticate": "10/m/user",
        "change_password": "5/m/user",
    }
