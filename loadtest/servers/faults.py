"""Faults on demand of the simulated LLM of tests, drawn by seed, request and times seen: a retry has another chance.

Only a request that holds a text named in `always` has none.
"""

from collections import deque
from threading import Lock
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from llmjobs.simulator.server import FAILURES, MALFORMED, Rates, drawn

OTHERS = ("unavailable", "bad_request", "auth", "empty", "not_json")
FAULT_KINDS = (*FAILURES, *MALFORMED, *OTHERS)


def _known(kind: str) -> str:
    if kind not in FAULT_KINDS:
        raise ValueError(f"one of {', '.join(FAULT_KINDS)}")
    return kind


FaultKind = Annotated[str, AfterValidator(_known)]
Text = Annotated[str, Field(min_length=1)]
Number = Annotated[float, Field(ge=0)]
Rate = Annotated[float, Field(ge=0, le=1)]


class Faults(BaseModel):
    """The switches, which `POST /faults` turns while the server runs. `always`: texts whose requests meet a fault."""

    model_config = ConfigDict(extra="forbid", strict=True)

    seed: int = 0
    latency_ms: Number = 0
    fail_rate: Rate = 0.0
    malformed_rate: Rate = 0.0
    rates: dict[FaultKind, Rate] = {}
    next: list[Literal["none"] | FaultKind] = []
    always: dict[Text, FaultKind] = {}
    down: Literal["", "503", "close"] = ""
    plain_only: bool = False
    retry_after: Number = 1.0
    hang_s: Number = 600.0

    def changed(self, wanted: object) -> "Faults":
        """These switches with the wanted changes. Raises `ValueError` for an unknown switch or a wrong value."""
        if not isinstance(wanted, dict):
            raise ValueError("Switches are a JSON object.")
        return Faults.model_validate(self.model_dump() | wanted)


class Chooser:
    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self._next: deque[str] = deque(faults.next)
        self._seen: dict[str, int] = {}
        self._lock = Lock()

    def switch(self, wanted: object) -> Faults:
        """Change switches. A list of next faults replaces the rest of the former list."""
        with self._lock:
            faults = self.faults.changed(wanted)
            if isinstance(wanted, dict) and "next" in wanted:
                self._next = deque(faults.next)
            self.faults = faults
            return faults

    def choose(self, request_hash: str, prompt: str = "") -> tuple[str, int]:
        """Fault of a request, and how often it was seen. `prompt`: all of its text."""
        with self._lock:
            seen = self._seen[request_hash] = self._seen.get(request_hash, 0) + 1
            for text, kind in self.faults.always.items():
                if text in prompt:
                    return kind, seen
            if self._next:
                kind = self._next.popleft()
                return ("" if kind == "none" else kind), seen
            faults = self.faults
            rates = Rates(0, faults.fail_rate, faults.malformed_rate).by_kind
            for kind, rate in sorted(faults.rates.items()):
                rates[kind] = rates.get(kind, 0.0) + rate
            return drawn(rates, faults.seed, request_hash, seen), seen
