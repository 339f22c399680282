"""The words of adjudication: why two judges differ, as the adjudicator sees it."""

from enum import StrEnum


class ErrorCategory(StrEnum):
    """Reason why a pair of labels differs."""

    OVERLOOKED = "overlooked"
    READ_IN = "read in"
    DETAIL = "detail"
    PARTIAL = "partial"
    INFERENCE = "inference"
    CONTRADICTED = "contradicted"
    NUGGET = "nugget"
    TEXT = "text"
    OTHER = "other"


CATEGORY_WORDS = {
    ErrorCategory.OVERLOOKED: "one judge overlooked what is there",
    ErrorCategory.READ_IN: "one judge read in what is not there",
    ErrorCategory.DETAIL: "a number, name or date differs",
    ErrorCategory.PARTIAL: "how much partial support is",
    ErrorCategory.INFERENCE: "it follows, but is not said",
    ErrorCategory.CONTRADICTED: "the text says the opposite",
    ErrorCategory.NUGGET: "the nugget or sentence is unclear or says several things",
    ErrorCategory.TEXT: "the answer or passage is unclear or cut short",
    ErrorCategory.OTHER: "something else, see the note",
}
"""What each category is called on a page."""


NO_CATEGORY = "no category said"
WHY = "why-"
"""Before a category in the address of the pairs that it is of."""


def category_cell(category: str) -> str:
    # Most categories are one word; those of two have a blank, which an address must not have.
    return f"{WHY}{category.replace(' ', '_') or 'unsaid'}"


def category_of(cell: str) -> str | None:
    return {category_cell(category): category for category in ("", *ErrorCategory)}.get(cell)


def category_text(category: str) -> str:
    return CATEGORY_WORDS[ErrorCategory(category)] if category else ""
