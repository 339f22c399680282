"""Verdicts for CI: is a run no worse than a baseline, or better? The server decides."""

from __future__ import annotations

import time
from typing import Any

from assay_client.connection import Connection
from assay_client.errors import AssayError, GateBroken, GateFailed, GateUndecided
from assay_client.reading import read
from assay_client.rows import GateOut

POLL = 2.0
"""Seconds between two looks at a job that is waited for."""

EXIT_CODES = {"pass": 0, "fail": 1, "undecided": 2, "broken": 3}
ERRORS: dict[str, type[AssayError]] = {"fail": GateFailed, "undecided": GateUndecided, "broken": GateBroken}


class Gate:
    """A verdict. `document` has all that it rests on, `answer` the same as it was sent."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer, self.document = answer, read(GateOut, answer)

    def __repr__(self) -> str:
        return f"<Gate {self.verdict}: {self.reason}>"

    @property
    def verdict(self) -> str:
        return self.document.verdict

    @property
    def reason(self) -> str:
        return self.document.reason

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    def check(self) -> None:
        """Raise `GateFailed`, `GateUndecided` or `GateBroken` for what is no pass."""
        if error := ERRORS.get(self.verdict):
            raise error(f"{self.verdict}: {self.reason}")


def ask_gate(connection: Connection, order: dict[str, Any], wait: float) -> Gate:
    """Ask for a verdict, once more while jobs still label these runs and there is time."""
    end = time.monotonic() + wait
    while (gate := Gate(connection.post("gates/", order))).document.jobs and (left := end - time.monotonic()) > 0:
        time.sleep(min(POLL, left))
    return gate
