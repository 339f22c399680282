"""Secrets come from the environment: as `NAME`, or as `NAME_FILE`, the path of a file that holds it."""

import contextlib
import math
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import environ
from django.core.exceptions import ImproperlyConfigured

SECRETS = (
    "SECRET_KEY",
    "DATABASE_URL",
    "CELERY_BROKER_URL",
    "OPENAI_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "OIDC_CLIENT_SECRET",
    "METRICS_TOKEN",
)


Number = TypeVar("Number", int, float)
WORDS = {int: "a whole number", float: "a number", bool: "true or false"}
FALSE_WORDS = ("false", "off", "no", "n", "0", "")


class Environment(environ.Env):  # type: ignore[misc]  # environ has no types
    """The environment, with the values that were read from it by name: `manage.py settings` lists them.

    Raises `ImproperlyConfigured` for a value that is not of its setting's type.
    """

    def __init__(self) -> None:
        super().__init__()
        self.in_force: dict[str, Any] = {}

    def get_value(self, var: str, *args: Any, cast: Any = None, **options: Any) -> Any:
        try:
            value = super().get_value(var, *args, cast=cast, **options)
        except ValueError:
            raise ImproperlyConfigured(f"{var} is {self.ENVIRON[var]!r}, and not {WORDS[cast]}.") from None
        self.in_force[var] = value
        return value

    @classmethod
    def parse_value(cls, value: Any, cast: Any) -> Any:
        # The package takes every other word for false: REQUIRE_MFA=ture would ask nobody.
        if cast is bool and value.strip().lower() not in {*cls.BOOLEAN_TRUE_STRINGS, *FALSE_WORDS}:
            raise ValueError(value)
        if cast is float:  # of 2m and 1e3 the package takes the digits: 2 and 13
            return float(value)
        return super().parse_value(value, cast)


def secret(name: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return a secret, '' where there is none. No message repeats what is in it.

    Raises `ImproperlyConfigured` where it is given twice, or its file cannot be read or holds nothing.
    """
    value, path = environ.get(name, "").strip(), environ.get(f"{name}_FILE", "").strip()
    if value and path:
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set; keep one of them.")
    return _content(f"{name}_FILE", Path(path)) if path else value


def check_place(environ: Mapping[str, str] = os.environ) -> None:
    """Refuse a sub-path. Raises `ImproperlyConfigured`."""
    for name in ("SCRIPT_NAME", "FORCE_SCRIPT_NAME"):
        if environ.get(name, "").strip("/ "):
            raise ImproperlyConfigured(
                f"{name} is set, and Assay serves no sub-path: it needs a host name of its own, such as "
                f"assay.example.org. Take {name} away."
            )


def own_folder(path: Path) -> Path:
    """Return the folder of all data, made where it is not there. Raises `ImproperlyConfigured`."""
    folder = path.expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # database, key and audit log are nobody else's
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError as error:
        raise ImproperlyConfigured(f"ASSAY_HOME: {folder} cannot be made: {error.strerror}.") from None
    if not writable:
        raise ImproperlyConfigured(f"ASSAY_HOME: nothing can be written to {folder}.")
    return folder


def port(name: str, number: int) -> int:
    """Raise `ImproperlyConfigured` for a number that no port has."""
    if not 0 < number < 65_536:
        raise ImproperlyConfigured(f"{name} is {number}; ports are from 1 to 65535.")
    return number


def one_or_more(name: str, number: Number) -> Number:
    """Raise `ImproperlyConfigured` for less: nothing would be sent, or sent again while its reply is on the way."""
    if not 1 <= number < math.inf:
        raise ImproperlyConfigured(f"{name} is {number:g}; it is at least 1.")
    return number


def most(name: str, number: int) -> int | None:
    """Limit; None for 0. Raises `ImproperlyConfigured` for a number below."""
    if number < 0:
        raise ImproperlyConfigured(f"{name} is {number}; a limit is above 0, and 0 is none.")
    return number or None


def check_secrets(environ: Mapping[str, str] = os.environ) -> None:
    """Read every secret once, so that a wrong one stops the start and not a job in the night."""
    for name in SECRETS:
        secret(name, environ)


def _content(name: str, path: Path) -> str:
    try:
        content = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ImproperlyConfigured(f"{name}: {path} cannot be read: {why}.") from None
    if not content:
        raise ImproperlyConfigured(f"{name}: {path} is empty.")
    return content


def local_secret(path: Path) -> str:
    """Key kept in `path`; the first call makes it, readable by the owner only."""
    if not path.exists():
        draft = path.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode=0o600), "w") as file:
            file.write(secrets.token_urlsafe(48))
        # Two processes may start at once: the first link wins, and both then read the same key.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()
