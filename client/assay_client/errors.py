"""What can go wrong, each with the server's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class AssayError(Exception):
    """Something went wrong. `status` is that of HTTP, `code` the server's word for programs.

    `request_id` names the request in the server's log.
    """

    def __init__(self, detail: str, *, status: int | None = None, code: str = "", request_id: str = "") -> None:
        super().__init__(detail)
        self.detail, self.status, self.code, self.request_id = detail, status, code, request_id


class NotSignedIn(AssayError):
    """The token is missing, wrong, expired or revoked."""


class NotAllowed(AssayError):
    """The token is not for this."""


class NotFound(AssayError):
    """There is nothing here, or nothing that the token's owner may see."""


class Conflict(AssayError):
    """Something else was done meanwhile."""


class Busy(AssayError):
    """Too many requests, after all tries."""


class ServerError(AssayError):
    """The server failed, or what answered is no server of Assay."""


class Unreachable(AssayError):
    """Nothing answered, after all tries."""


class Incomplete(AssayError):
    """A list broke off before its end."""


class JobFailed(AssayError):
    """A job ended without all its labels."""


class JobPaused(AssayError):
    """A job rests, for instance at its budget."""


class WaitTimeout(AssayError):
    """A job goes on for longer than it was waited for."""


class GateFailed(AssayError, AssertionError):
    """A run is worse than its baseline."""


class GateUndecided(AssayError):
    """The topics do not tell whether a run is worse than its baseline."""


class GateBroken(AssayError):
    """Two runs cannot be compared."""


@dataclass(frozen=True)
class InputProblem:
    """One thing wrong with a file: where, and what was expected there."""

    file: str
    line: int
    field: str
    expected: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.field}: {self.expected}"


class Refused(AssayError):
    """A rule says no. Nothing was written. `problems`: of a file, each with its line and field."""

    def __init__(self, detail: str, *, problems: tuple[InputProblem, ...] = (), **more: Any) -> None:
        super().__init__(detail, **more)
        self.problems = problems


class Ambiguous(Refused):
    """Several judges or nugget sets fit. `choices`: their names."""

    def __init__(self, detail: str, *, choices: tuple[str, ...] = (), **more: Any) -> None:
        super().__init__(detail, **more)
        self.choices = choices


BY_STATUS: dict[int, type[AssayError]] = {
    401: NotSignedIn,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    429: Busy,
}


def error_of(status: int, document: Mapping[str, Any], request_id: str) -> AssayError:
    """Return the error that a problem document (RFC 9457) tells."""
    detail = str(document.get("detail") or f"The server answered {status}.")
    wrong = [f"{name}: {' '.join(map(str, texts))}" for name, texts in document.get("errors", {}).items()]
    detail = " ".join([detail, *wrong])
    about: dict[str, Any] = {"status": status, "code": str(document.get("code", "")), "request_id": request_id}
    if status != 422:
        return BY_STATUS.get(status, ServerError if status >= 500 else AssayError)(detail, **about)
    if choices := tuple(document.get("choices", ())):
        return Ambiguous(detail, choices=choices, **about)
    problems = tuple(
        InputProblem(problem["file"], problem["line"], problem["field"], problem["expected"])
        for problem in document.get("problems", ())
    )
    return Refused(detail, problems=problems, **about)
