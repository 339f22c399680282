"""What went wrong in a soak, told from any thread; and the loss that a run must find."""

from collections.abc import Sequence
from threading import Lock

from assessor.models import Operation
from evaluation.append_only import install_triggers, remove_triggers

SHOWN, LONGEST = 12, 600


class Violations:
    """What went wrong, told from any thread."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._lock = Lock()

    def complain(self, what: str) -> None:
        """Take one down."""
        with self._lock:
            self.found.append(what)


class Spoiler:
    """Takes one acknowledged operation out of the log, once, so that a run must fail."""

    def __init__(self) -> None:
        self._lock, self._done = Lock(), False

    def spoil(self, task: int, acknowledged: Sequence[str]) -> None:
        """Lose the first operation that was acknowledged to an assessor, of the first task that has one."""
        with self._lock:
            if self._done or not acknowledged:
                return
            self._done = True
            remove_triggers()
            Operation.objects.filter(task=task, op_id=acknowledged[0]).delete()
            install_triggers()


def leave(_task: int, _acknowledged: Sequence[str]) -> None:
    """Spoil nothing."""


def print_violations(violations: Sequence[str]) -> None:
    """Print the first ones in short."""
    for violation in violations[:SHOWN]:
        print(f"  VIOLATION {violation.splitlines()[0][:LONGEST]}")
