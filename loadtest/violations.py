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
        """Record one."""
        with self._lock:
            self.found.append(text)

    def of(self, username: str, task: str) -> Callable[[str], None]:
        """Return what records a violation of somebody's task."""
        return lambda text: self.add(f"{username}, task {task}: {text}")


@dataclass(slots=True)
class Checks:
    """Comparisons of what must be so; each that is not becomes a violation."""

    violations: list[str] = field(default_factory=list)

    def same(self, what: str, found: object, expected: object) -> None:
        """Two figures that must be equal."""
        if found != expected:
            self.violations.append(f"{what}: {found}, not {expected}")

    def none(self, what: str, found: Sequence[object]) -> None:
        """Something that must not be there."""
        if found:
            shown = "; ".join(str(example) for example in found[:EXAMPLES])
            self.violations.append(f"{what}: {len(found)} ({shown})")


class Loss:
    """Takes one acknowledged operation out of the log, once, so that a run must fail; unless it is not `wanted`."""

    def __init__(self, *, wanted: bool) -> None:
        self._lock, self._left = Lock(), wanted

    def lose(self, task: int, acknowledged: Sequence[str]) -> None:
        """Lose the first operation that was acknowledged to an assessor, of the first task that has one."""
        with self._lock:
            if not self._left or not acknowledged:
                return
            self._left = False
            remove_triggers()
            Operation.objects.filter(task=task, op_id=acknowledged[0]).delete()
            install_triggers()


def print_violations(violations: Sequence[str]) -> None:
    """Print the first ones in short."""
    for violation in violations[:SHOWN]:
        print(f"  VIOLATION {violation.splitlines()[0][:LONGEST]}")
