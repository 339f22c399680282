"""How stages, times and days are called on the organizer's pages."""

from datetime import date
from typing import Final

from django.utils.formats import date_format
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from evaluation.terms import Stage

STAGE_WORDS: Final = {
    Stage.POST_EDIT: _("Post-edit"),
    Stage.MANUAL: _("By hand"),
    Stage.ASSIGN: _("Assign"),
    Stage.SUPPORT_SCRATCH: _("Support"),
    Stage.SUPPORT_POST_EDIT: _("Support, label shown"),
}
"""As files have them; pages say them by `stage_said`."""

STAGE_MEANINGS: Final = {
    Stage.POST_EDIT: _("from drafts, beside the passages"),
    Stage.MANUAL: _("from the passages alone"),
    Stage.ASSIGN: _("which answers contain which nuggets of a submitted list"),
    Stage.SUPPORT_SCRATCH: _("whether cited passages support the sentences, from scratch"),
    Stage.SUPPORT_POST_EDIT: _("the same, with an LLM's label beside each pair"),
}


def stage_said(stage: Stage) -> str:
    """Return what a page calls a stage."""
    return gettext(STAGE_WORDS[stage])


def hours_said(hours: float) -> str:
    """Return active hours as people say them: 1 h 52 min."""
    minutes = round(hours * 60)
    if minutes < 60:
        return gettext("%(minutes)d min") % {"minutes": minutes}
    return gettext("%(hours)d h %(minutes)02d min") % {"hours": minutes // 60, "minutes": minutes % 60}


def days_said(first: date, last: date) -> str:
    """Return a range of days, what both have in common said once."""
    if first == last:
        return gettext("on %(day)s") % {"day": date_format(first, "j M Y")}
    form = (
        "j"
        if (first.year, first.month) == (last.year, last.month)
        else "j M"
        if first.year == last.year
        else "j M Y"
    )
    days = {"first": date_format(first, form), "last": date_format(last, "j M Y")}
    return gettext("%(first)s to %(last)s") % days
