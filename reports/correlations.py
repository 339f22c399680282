"""Correlations of two rankings of runs, as reports are asked for them by name."""

from collections.abc import Sequence
from typing import Final

from evaluation.errors import Refused
from reports.document import Option
from reports.metrics.rank_correlations import METHODS, RBO_P, CorrelationMethod, method_named
from reports.registry import Choices

METHOD: Final = Option(
    "method",
    f"{', '.join(METHODS)}, or one of them with @K for the K best runs by truth",
    metavar="METHOD",
    several=True,
    default=None,
)
OF_RBO: Final = Option("rbo_p", f"of rbo: how much of each depth is handed on to the next ({RBO_P})", metavar="P")


def methods_of(choices: Choices, usual: Sequence[str] = ()) -> tuple[CorrelationMethod, ...]:
    """Return the methods that are named, or the usual ones. Raises `Refused` for a name of none."""
    rbo_p = _fraction(choices["rbo_p"]) if choices["rbo_p"] else RBO_P
    methods = {name: method_named(name, rbo_p) for name in names_of(choices["method"]) or usual}
    for name, method in methods.items():
        if method is None:
            text = f"{name} is no method; there are: {', '.join(METHODS)}, each with @K too."
            raise Refused("usage", text, field="method", choices=list(METHODS))
    return tuple(filter(None, methods.values()))


def names_of(value: str | Sequence[str] | None) -> tuple[str, ...]:
    # The command takes an option several times, an address one value with commas.
    parts = value.split(",") if isinstance(value, str) else value or ()
    return tuple(dict.fromkeys(filter(None, parts)))


def _fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise Refused("usage", f"A number between 0 and 1, found {text}.", field="rbo_p")
    return value
