"""Time and memory of one step, measured inside the child process that takes it."""

import json
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class Measured:
    """What a step reports: seconds by name, how many rows they were for, and values to compare with others'."""

    rows: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    skipped: str = ""
    peak_mb: float = 0.0

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def timed(self, name: str, function: Callable[P, T]) -> Callable[P, T]:
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
            with self.timing(name):
                return function(*args, **kwargs)

        return wrapped

    def to_json(self) -> str:
        """Write it down with the process's peak memory so far."""
        self.peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Measured":
        found: dict[str, Any] = json.loads(text)
        return cls(**found)
