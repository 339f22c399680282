"""Words of conditions, and of adjudication: why two judges differ, as the adjudicator sees it."""

from django.db.models import TextChoices

from evaluation.terms import BattleCondition, Condition, SupportCondition

NO_CATEGORY = "no category said"
WHY = "why-"
"""Before a category in the address of the pairs that it is of."""


class ErrorCategory(TextChoices):
    """Reason why a pair of labels differs, and its words on a page."""

    OVERLOOKED = "overlooked", "one judge overlooked what is there"
    READ_IN = "read in", "one judge read in what is not there"
    DETAIL = "detail", "a number, name or date differs"
    PARTIAL = "partial", "how much partial support is"
    INFERENCE = "inference", "it follows, but is not said"
    CONTRADICTED = "contradicted", "the text says the opposite"
    NUGGET = "nugget", "the nugget or sentence is unclear or says several things"
    TEXT = "text", "the answer or passage is unclear or cut short"
    OTHER = "other", "something else, see the note"


def category_cell(category: str) -> str:
    # Most categories are one word; those of two have a blank, which an address must not have.
    return f"{WHY}{category.replace(' ', '_') or 'unsaid'}"


def category_of(cell: str) -> str | None:
    return {category_cell(category): category for category in ("", *ErrorCategory.values)}.get(cell)


def category_text(category: str) -> str:
    return ErrorCategory(category).label if category else ""


def condition_words(code: str) -> str:
    """Condition of labels or battles on screen; names of published scores and of files stay as they are."""
    conditions = [*Condition, *SupportCondition, *BattleCondition]
    return next((condition.words for condition in conditions if condition == code), code)
