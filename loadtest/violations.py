"""Violations of a soak, reported from any thread, and the loss that a run must find."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock

from assessor.models import Operation
from evaluation.append_only import install_triggers, remove_triggers

SHOWN, LONGEST = 12, 600
EXAMPLES = 5
"""Rows that a violation names."""


class Violations:
    """What went wrong, reported from any thread."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._lock = Lock()

    def add(self, text: str) -> None:
        with self._lock:
            self.found.append(text)

    def of(self, username: str, task: str) -> Callable[[str], None]:
        return lambda text: self.add(f"{username}, task {task}: {text}")


@dataclass(slots=True)
class Checks:
    violations: list[str] = field(default_factory=list)

    def same(self, what: str, found: object, expected: object) -> None:
        if found != expected:
            self.violations.append(f"{what}: {found}, not {expected}")

    def none(self, what: str, found: Sequence[object]) -> None:
        if found:
            shown = "; ".join(str(example) for example in found[:EXAMPLES])
            self.violations.append(f"{what}: {len(found)} ({shown})")


class Loss:
    """Takes one acknowledged operation out of the log, once, so that a run must fail; unless it is not `wanted`."""

    def __init__(self, *, wanted: bool) -> None:
        self._lock, self._left = Lock(), wanted

    def lose(self, task: int, acknowledged: Sequence[str]) -> None:
        with self._lock:
            if not self._left or not acknowledged:
                return
            self._left = False
            remove_triggers()
            Operation.objects.filter(task=task, op_id=acknowledged[0]).delete()
            install_triggers()


def print_violations(violations: Sequence[str]) -> None:
    for violation in violations[:SHOWN]:
        print(f"  VIOLATION {violation.splitlines()[0][:LONGEST]}")
