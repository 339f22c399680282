"""Help that a protocol allows at the desks where nuggets are made."""

from evaluation.terms import NuggetSearch, Stage


def searches_nuggets(allowed: str, stage: str) -> bool:
    """Say whether one key may search the passages for a nugget's own words."""
    if allowed == NuggetSearch.ALL:
        return stage in (Stage.POST_EDIT, Stage.MANUAL)
    return allowed == NuggetSearch.EDITED and stage == Stage.POST_EDIT
