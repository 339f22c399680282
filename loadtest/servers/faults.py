"""Faults on demand of the simulated LLM of tests, drawn by seed, request and times seen: a retry has another chance.

Only a request that holds a text named in `always` has none.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

from llmjobs.simulator.server import FAILURES, MALFORMED, Rates, drawn

OTHERS = ("unavailable", "bad_request", "auth", "empty", "not_json")
FAULT_KINDS = (*FAILURES, *MALFORMED, *OTHERS)


@dataclass(slots=True)
class Faults:
    """The switches, which `POST /faults` turns while the server runs."""

    seed: int = 0
    latency_ms: int = 0
    fail_rate: float = 0.0
    malformed_rate: float = 0.0
    rates: dict[str, float] = field(default_factory=dict)
    next: list[str] = field(default_factory=list)
    always: dict[str, str] = field(default_factory=dict)
    down: Literal["", "503", "close"] = ""
    plain_only: bool = False
    retry_after: float = 1.0
    hang_s: float = 600.0

    def changed(self, wanted: object) -> "Faults":
        """These switches with the wanted changes. Raises `ValueError` for an unknown switch or a wrong value."""
        if not isinstance(wanted, dict):
            raise ValueError("Switches are a JSON object.")
        unknown = set(wanted) - set(CHECKS)
        if unknown:
            raise ValueError(f"No such switch: {', '.join(sorted(unknown))}. There are: {', '.join(CHECKS)}.")
        values = {name: getattr(self, name) for name in CHECKS}
        for name, value in wanted.items():
            check, requirement = CHECKS[name]
            if not check(value):
                raise ValueError(f"{name} must be {requirement}.")
            values[name] = value
        return Faults(**values)

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in CHECKS}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _is_rate(value: object) -> bool:
    return isinstance(value, int | float) and _is_number(value) and value <= 1


def _are_rates(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) <= set(FAULT_KINDS)
        and all(_is_rate(rate) for rate in value.values())
    )


def _are_kinds(value: object) -> bool:
    return isinstance(value, list) and all(kind in (*FAULT_KINDS, "none") for kind in value)


def _are_texts(value: object) -> bool:
    return isinstance(value, dict) and all(text and kind in FAULT_KINDS for text, kind in value.items())


CHECKS: dict[str, tuple[Callable[[object], bool], str]] = {
    "seed": (lambda value: isinstance(value, int), "a whole number"),
    "latency_ms": (_is_number, "a number of milliseconds"),
    "fail_rate": (_is_rate, "a number from 0 to 1"),
    "malformed_rate": (_is_rate, "a number from 0 to 1"),
    "rates": (_are_rates, f"an object of rates from 0 to 1; the faults are {', '.join(FAULT_KINDS)}"),
    "next": (_are_kinds, f"a list; the faults are {', '.join(FAULT_KINDS)}, and none"),
    "always": (
        _are_texts,
        f"an object of texts and the fault of all requests with them, of {', '.join(FAULT_KINDS)}",
    ),
    "down": (lambda value: value in ("", "503", "close"), 'one of "", "503", "close"'),
    "plain_only": (lambda value: isinstance(value, bool), "true or false: whether structured output is refused"),
    "retry_after": (_is_number, "a number of seconds"),
    "hang_s": (_is_number, "a number of seconds"),
}


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
