"""Two texts line by line: what stays, what goes, what comes."""

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of either text: in both, only in the first (`gone`), or only in the second (`new`)."""

    kind: Literal["same", "gone", "new"]
    text: str


def compared(one: str, other: str) -> tuple[DiffLine, ...]:
    """Lines of both texts in reading order; changed lines first as gone, then as new."""
    before, after = one.split("\n"), other.split("\n")
    lines: list[DiffLine] = []
    for kind, start, end, its_start, its_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [DiffLine("same", text) for text in before[start:end]]
        else:
            lines += [DiffLine("gone", text) for text in before[start:end]]
            lines += [DiffLine("new", text) for text in after[its_start:its_end]]
    return tuple(lines)
