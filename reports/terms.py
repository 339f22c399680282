"""The words of adjudication: why two judges differ, as the adjudicator sees it."""

from enum import StrEnum

from django.utils.translation import gettext_noop as _


class ErrorCategory(StrEnum):
    """Why a pair of labels differs."""

    OVERLOOKED = "overlooked"
    READ_IN = "read in"
    DETAIL = "detail"
    PARTIAL = "partial"
    INFERENCE = "inference"
    CONTRADICTED = "contradicted"
    NUGGET = "nugget"
    TEXT = "text"
    OTHER = "other"


SAID = {
    ErrorCategory.OVERLOOKED: _("one judge overlooked what is there"),
    ErrorCategory.READ_IN: _("one judge read in what is not there"),
    ErrorCategory.DETAIL: _("a number, name or date differs"),
    ErrorCategory.PARTIAL: _("how much partial support is"),
    ErrorCategory.INFERENCE: _("it follows, but is not said"),
    ErrorCategory.CONTRADICTED: _("the text says the opposite"),
    ErrorCategory.NUGGET: _("the nugget or sentence is unclear or says several things"),
    ErrorCategory.TEXT: _("the answer or passage is unclear or cut short"),
    ErrorCategory.OTHER: _("something else, see the note"),
}
"""What each category is called on a page."""


UNSAID = _("no category said")
WHY = "why-"
"""Before a category in the address of the pairs that it is of."""


def category_cell(category: str) -> str:
    """Return the address of the pairs of a category; '' is those of none."""
    return f"{WHY}{category.replace(' ', '_') or 'unsaid'}"


def category_of(cell: str) -> str | None:
    """Return the category that such an address means, None for another address."""
    by_cell = {category_cell(one): one for one in ("", *ErrorCategory)}
    return by_cell.get(cell)


def category_said(category: str) -> str:
    """Return what a category is called; '' for none."""
    return SAID[ErrorCategory(category)] if category else ""
