"""Figures kept in a process until their campaign changes."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

from evaluation.models import Campaign

Computation = TypeVar("Computation", bound=Callable[..., Any])


def cached_report(*, size: int) -> Callable[[Computation], Computation]:
    """Keep the last `size` results of a computation, each under its arguments and its campaign's revision.

    Arguments are positional and hashable. The first one is the campaign, or has it as `campaign`.
    """

    def keep(compute: Computation) -> Computation:
        # The revision is a part of the key alone: every submission and import raises it, so no figure outlives its
        # labels, and nothing has to be told to forget. Each process keeps its own, and all agree.
        kept = lru_cache(maxsize=size)(lambda _revision, *args: compute(*args))

        @wraps(compute)
        def current(subject: Any, *args: Any) -> Any:
            campaign: Campaign = subject if isinstance(subject, Campaign) else subject.campaign
            return kept(campaign.revision_key, subject, *args)

        return cast(Computation, current)

    return keep
