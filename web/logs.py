"""Logs of events with their place and account, never with text that people wrote.

An answer, a nugget, a prompt or a password gets into a log by three ways: in the message of an exception, in an
address, or as an argument of a package's log line. So an exception is logged by its type and its frames; an address by
its route, with those parts filled in that only identify; and of arguments only numbers and names are kept.
"""

import logging
import re
import sys
import traceback
from collections.abc import Mapping
from typing import Any

import structlog
from django.http import HttpRequest, HttpResponse
from django_structlog.middlewares import RequestMiddleware
from structlog.contextvars import get_contextvars, merge_contextvars
from structlog.typing import EventDict, Processor, WrappedLogger

LONGEST, MOST_FRAMES, INNERMOST = 300, 20, 4
LEFT_OUT = "(left out)"
NAME = re.compile(r"[\w./:@%+\-\[\]]{1,200}", re.ASCII)
QUERY = re.compile(r"\?[^\s\"']*")
CREDENTIALS = re.compile(r"(?<=://)[^\s/@]*@")
RETRY = re.compile(r"Trying (to reconnect\.\.\.|again (now|in \d+\.\d\d \w+)\.\.\. \(\d+/\d+\))")
"""Celery's own words about a broker that it does not reach."""

PARAMETER = re.compile(r"<(?:[^:<>]+:)?(?P<name>[^<>]+)>")
IDENTIFYING = ("slug", "public_id", "pk", "item_id", "app_label", "object_id")
"""Parts of addresses that may stand in a log. Others may be a secret, as in an invitation's link."""

HARMLESS = (
    "OperationalError",
    "InterfaceError",
    "ConnectionError",
    "AuditUnwritableError",
    "ImproperlyConfigured",
)
"""Types of exceptions whose message is about servers and files, never about rows. Those of the system are too."""

BROKER_ERRORS = "redis.exceptions"
"""Module of exceptions whose message is Redis's about itself, but for the arguments of a command that it repeats."""

REPEATED = re.compile(r", with args beginning with:.*", re.DOTALL)

OWN = ("event", "level", "logger", "timestamp", "exception")


class RequestLogMiddleware(RequestMiddleware):
    """A line for each request, and its id in every line and in the answer, so that who met an error can name it."""

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        return f"{request.method} {address_of(request)}"

    def handle_response(self, request: HttpRequest, response: HttpResponse) -> None:
        response["X-Request-ID"] = get_contextvars().get("request_id", "")
        super().handle_response(request, response)


def address_of(request: HttpRequest) -> str:
    match = request.resolver_match
    if match is None:
        return "(unresolved)"
    values = {name: str(value) for name, value in match.kwargs.items() if name in IDENTIFYING}
    return "/" + PARAMETER.sub(lambda part: values.get(part["name"], f"<{part['name']}>"), match.route)


def safe(value: object) -> object:
    """Loggable form of an argument: numbers and names; of an exception its type."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, BaseException):
        return error_text(value)
    if not isinstance(value, str):
        return LEFT_OUT
    value = without_secrets(value)
    return value if NAME.fullmatch(value) or RETRY.fullmatch(value) else LEFT_OUT


def without_secrets(text: str) -> str:
    return CREDENTIALS.sub("", QUERY.sub("", text))


def error_text(error: BaseException) -> str:
    """Type of an exception, with its message only where that cannot hold content."""
    name = type(error).__name__
    harmless = isinstance(error, OSError) or name in HARMLESS or type(error).__module__ == BROKER_ERRORS
    message = CREDENTIALS.sub("", REPEATED.sub("", str(error)))[:LONGEST]
    return f"{name}: {message}" if harmless and message else name


def without_content(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Processor of structlog: keeps only parts of an event that cannot hold content."""
    raised = event.pop("exc_info", None)
    kept = {name: value if name in OWN else safe(value) for name, value in event.items() if name[0] != "_"}
    kept |= {name: value for name, value in event.items() if name[0] == "_"}  # structlog's own
    if "request" in event:
        kept["request"] = event["request"]
    kept["event"] = without_secrets(str(event["event"]))[:LONGEST]
    error = _raised(raised)
    if error:
        kept["exception"] = {"type": error_text(error), "because": _causes(error), "frames": frames_of(error)}
    return kept


def _raised(exc_info: Any) -> BaseException | None:
    if exc_info is True:
        exc_info = sys.exc_info()
    error = exc_info[1] if isinstance(exc_info, tuple) else exc_info
    return error if isinstance(error, BaseException) else None


def _causes(error: BaseException) -> list[str]:
    texts: list[str] = []
    cause = error.__cause__ or error.__context__
    # Each cause by its type, because a message may hold content.
    while cause and len(texts) < 3:
        if error_text(cause) not in texts:
            texts.append(error_text(cause))
        cause = cause.__cause__ or cause.__context__
    return texts


def frames_of(error: BaseException) -> list[str]:
    """Own frames and the innermost ones, without the lines of code."""
    frames = traceback.extract_tb(error.__traceback__)
    near = len(frames) - INNERMOST
    near_frames = [frame for n, frame in enumerate(frames) if n >= near or "site-packages" not in frame.filename][
        -MOST_FRAMES:
    ]
    return [f"{'/'.join(frame.filename.split('/')[-3:])}:{frame.lineno} {frame.name}" for frame in near_frames]


class ContentFreeFormatter(structlog.stdlib.ProcessorFormatter):
    """Writes what any package logs, with those arguments left out that could hold content."""

    def format(self, record: logging.LogRecord) -> str:
        # A copy, because other handlers get the record as it is.
        copied = logging.makeLogRecord(record.__dict__)
        if isinstance(record.args, Mapping):
            copied.args = {name: safe(value) for name, value in record.args.items()}
        elif record.args:
            copied.args = tuple(safe(value) for value in record.args)
        return super().format(copied)


def as_text(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    error = event.pop("exception", None)
    head = [event.pop(name, "") for name in ("timestamp", "level", "logger", "event")]
    line = " ".join([*map(str, head), *(f"{name}={value}" for name, value in event.items())])
    if not isinstance(error, dict):
        return line
    because = "".join(f", because of {cause}" for cause in error["because"])
    return "\n".join([f"{line} {error['type']}{because}", *(f"    {frame}" for frame in error["frames"])])


def logging_settings(*, form: str, level: str, everything: bool) -> dict[str, Any]:
    """Django's LOGGING as `json` or `text`; with `everything` in full, arguments too, for a developer's own machine."""
    shared: list[Processor] = [
        merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    plain = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    if everything:
        last: list[Processor] = [plain, structlog.dev.ConsoleRenderer()]
    else:
        last = [without_content, plain, structlog.processors.JSONRenderer() if form == "json" else as_text]
    quiet = max(level, "WARNING", key=logging.getLevelNamesMapping().__getitem__)
    formatter = structlog.stdlib.ProcessorFormatter if everything else ContentFreeFormatter
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": formatter, "processors": last, "foreign_pre_chain": shared}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": level},
        # The line of each request tells its status and its exception already.
        # Of Celery's own lines below a warning, none says more than ours.
        "loggers": {
            "django.request": {"level": "CRITICAL"},
            **{name: {"level": quiet} for name in ("celery", "kombu")},
            "kombu.connection": {
                "level": "ERROR"
            },  # a broker in memory has no host, and each worker would warn of it
        },
    }
