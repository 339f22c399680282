"""Words for stages, times and days on the organizer's pages."""

from datetime import date
from typing import Final

from django.utils.formats import date_format

from evaluation.terms import Stage

STAGE_WORDS: Final = {
    Stage.POST_EDIT: "Post-edit",
    Stage.MANUAL: "By hand",
    Stage.ASSIGN: "Assign",
    Stage.SUPPORT_SCRATCH: "Support",
    Stage.SUPPORT_POST_EDIT: "Support, label shown",
}
"""As files and pages have them."""

STAGE_MEANINGS: Final = {
    Stage.POST_EDIT: "from drafts, beside the passages",
    Stage.MANUAL: "from the passages alone",
    Stage.ASSIGN: "which answers contain which nuggets of a submitted list",
    Stage.SUPPORT_SCRATCH: "whether cited passages support the sentences, from scratch",
    Stage.SUPPORT_POST_EDIT: "the same, with an LLM's label beside each pair",
}


def stage_text(stage: Stage) -> str:
    return STAGE_WORDS[stage]


def hours_text(hours: float) -> str:
    minutes = round(hours * 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02} min"


def days_text(first: date, last: date) -> str:
    """Range of days; a shared month or year is written only once."""
    if first == last:
        return f"on {date_format(first, 'j M Y')}"
    form = (
        "j"
        if (first.year, first.month) == (last.year, last.month)
        else "j M"
        if first.year == last.year
        else "j M Y"
    )
    return f"{date_format(first, form)} to {date_format(last, 'j M Y')}"
