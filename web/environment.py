"""Settings as the environment gives them; a value that makes no sense stops the start, in words that name it.

Secrets are given as `NAME`, or as `NAME_FILE`, the path of a file that holds it.
"""

import contextlib
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

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
Text = TypeVar("Text", str, list[str])
WORDS = {int: "a whole number", float: "a number", bool: "true or false"}
FALSE_WORDS = ("false", "off", "no", "n", "0", "")
LARGEST = 1_000_000
LONGEST_DAYS = 36_500
"""A century: further from today there are no dates."""


class Environment(environ.Env):  # type: ignore[misc]  # environ has no types
    """The environment, with the values that were read from it by name: `manage.py settings` lists them.

    Raises `ImproperlyConfigured` for a value that is not of its setting's type, range or form.
    """

    def __init__(self) -> None:
        super().__init__()
        self.in_force: dict[str, Any] = {}

    def get_value(self, var: str, cast: Any = None, default: Any = None) -> Any:
        # Not the package's: it takes $NAME for another variable's value, and for unset where there is none.
        text = self.ENVIRON.get(var)
        try:
            value = default if text is None else self.parse_value(text, cast)
        except ValueError:
            raise ImproperlyConfigured(f"{var} is {text!r}, and not {WORDS[cast]}.") from None
        self.in_force[var] = value
        return value

    @classmethod
    def parse_value(cls, value: str, cast: Any) -> Any:
        # The package takes every other word for false: REQUIRE_MFA=ture would ask nobody.
        if cast is bool and value.strip().lower() not in {*cls.BOOLEAN_TRUE_STRINGS, *FALSE_WORDS}:
            raise ValueError(value)
        if cast is float:  # of 2m and 1e3 the package takes the digits: 2 and 13
            return float(value)
        if cast is list:  # the package keeps spaces, and no host has one
            return [part.strip() for part in value.split(",") if part.strip()]
        return super().parse_value(value, cast)

    def number(self, name: str, default: Number, *, least: int = 1, most: int = LARGEST) -> Number:
        number: Number = self.get_value(name, type(default), default)
        if not number >= least:  # nor is one that is no number
            raise ImproperlyConfigured(f"{name} is {self.ENVIRON[name]}; it is at least {least}.")
        if number > most:
            raise ImproperlyConfigured(f"{name} is {self.ENVIRON[name]}; it is at most {most}.")
        return number

    def days(self, name: str, default: int) -> int:
        return self.number(name, default, most=LONGEST_DAYS)

    def port(self, name: str, default: int) -> int:
        return self.number(name, default, most=65_535)

    def text(self, name: str, default: Text, form: str, meaning: str) -> Text:
        """Text of a form, or a list of such."""
        value: Text = self.get_value(name, type(default), default)
        for part in [value] if isinstance(value, str) else value:
            if not re.fullmatch(form, part):
                raise ImproperlyConfigured(f"{name}: {part!r} is not {meaning}.")
        return value

    def path(self, name: str, default: str) -> str:
        return at_home(name, self.str(name, default=default) or default)

    def time_zone(self, name: str, default: str) -> str:
        zone: str = self.str(name, default=default)
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ImproperlyConfigured(f"{name}: {zone!r} is not a time zone, such as Europe/Berlin.") from None
        return zone

    def mail_server(self, name: str) -> dict[str, Any]:
        """Django's settings for the server of an address. No message repeats it: it may hold a password."""
        address = re.sub("^smtps:", "smtp+ssl:", self.str(name, default="consolemail://"))  # else STARTTLS
        wrong = ImproperlyConfigured(f"{name} is not such as smtp+tls://user:password@mail.example.org:587.")
        try:
            server: dict[str, Any] = self.email_url_config(address)
        except (ValueError, ImproperlyConfigured):
            raise wrong from None
        if address.startswith("smtp") and not server["EMAIL_HOST"]:
            raise wrong
        return server

    def database(self, address: str) -> dict[str, Any]:
        """Django's settings for the database of an address, which no message repeats."""
        wrong = ImproperlyConfigured(
            "DATABASE_URL is not such as sqlite:////path/to/file or postgres://user:password@host:5432/name."
        )
        # Of sqlite://srv/file the package takes the last part for a file in the current folder.
        if not re.match(r"sqlite:///.|postgres(ql)?://", address):
            raise wrong
        try:
            config: dict[str, Any] = self.db_url_config(address)
        except ValueError:  # of the port
            raise wrong from None
        return config


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


def at_home(name: str, path: str) -> str:
    """Return a path whose `~` is read. Raises `ImproperlyConfigured` where nobody has such a home folder."""
    full = os.path.expanduser(path)
    if full.startswith("~"):
        raise ImproperlyConfigured(f"{name}: {path} is in a home folder that is not there.")
    return full


def own_folder(path: Path) -> Path:
    """Return the folder of all data, made where it is not there. Raises `ImproperlyConfigured`."""
    folder = path.absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # database, key and audit log are nobody else's
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError as error:
        raise ImproperlyConfigured(f"ASSAY_HOME: {folder} cannot be made: {error.strerror}.") from None
    if not writable:
        raise ImproperlyConfigured(f"ASSAY_HOME: nothing can be written to {folder}.")
    return folder


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
