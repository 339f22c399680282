"""Adds the label before the product is loaded, as its entry in evaluation/labels.py would: for pytest's option -p.

Its code is above that of full support, and it has no points: neither its place nor its worth is its code.
"""

from dataclasses import replace
from enum import IntEnum

from evaluation import labels


class SupportLabel(IntEnum):
    NO_SUPPORT = 0
    PARTIAL_SUPPORT = 1
    FULL_SUPPORT = 2
    CONTRADICTS = 3
    CANT_JUDGE = 8
    FAILED = 9


def _with_codes(label: labels.Label) -> labels.Label:
    return replace(label, code=SupportLabel[label.code.name])


CONTRADICTS = labels.Label(
    SupportLabel.CONTRADICTS,
    caption="Against",
    spoken="contradicts",
    glyph="!",
    tone="3",
    key="4",
    meaning="The passage says the opposite of what the sentence says.",
    prompt="the passage says the opposite of what the statement says.",
)
_three = labels.CITATION_LABELS
labels.SupportLabel = SupportLabel  # type: ignore[assignment,misc]
labels.CITATION_LABELS = labels.LabelSet(  # type: ignore[misc]
    degrees=(*map(_with_codes, _three.degrees), CONTRADICTS),
    cant_judge=_with_codes(_three.cant_judge),
    failed=_with_codes(_three.failed),
)
