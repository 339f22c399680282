"""QuerySets of labels, lists and tasks: each condition that many reads share, by its name.

A method has a `_q` twin where rows that lead here are filtered by it; `path` is the way to them, such as `task__`.
"""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Self, TypeVar

from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from evaluation.models.campaigns import Membership
from evaluation.rules.tasks import ACTIVE
from evaluation.stages import STAGES
from evaluation.terms import Scoring, TaskState

if TYPE_CHECKING:
    from accounts.models import User

RowT_co = TypeVar("RowT_co", bound=Model, covariant=True)
Key = TypeVar("Key", int, str)


PART = 500


def in_parts_of(keys: Collection[Key], size: int = PART) -> Iterator[list[Key]]:
    """Yield keys, ascending, in parts for `__in`, because SQLite takes a limited number of parameters."""
    ascending = sorted(keys)
    return (ascending[start : start + size] for start in range(0, len(ascending), size))


def number_of(rows: QuerySet[Any, Any], of: str = "pk") -> Coalesce:
    """Return how many rows there are of each row of the query around, or how many different values `of`."""
    counted = rows.order_by().annotate(whole=Value(1)).values("whole").annotate(number=Count(of, distinct=True))
    return Coalesce(Subquery(counted.values("number")), 0)


class CurrentQuerySet(QuerySet[RowT_co]):
    """Rows that are kept when others take their place: labels, and items of the practice."""

    def current(self) -> Self:
        """Rows that nothing replaced, of work that was not withdrawn."""
        return self.filter(stands=True)


class NuggetListQuerySet(QuerySet[RowT_co]):
    def newest_submitted(self) -> Self:
        return self.filter(self.newest_submitted_q())

    def newest_submitted_q(self, path: str = "") -> Q:
        newer = self.model._default_manager.filter(
            submitted=True,
            nugget_set=OuterRef(f"{path}nugget_set"),
            topic=OuterRef(f"{path}topic"),
            version__gt=OuterRef(f"{path}version"),
        )
        return Q(~Exists(newer), **{f"{path}submitted": True})


class ListedNuggetQuerySet(QuerySet[RowT_co]):
    def to_say(self) -> Self:
        """Nuggets that an answer should contain: those of no rubric, and those that weigh more than 0."""
        return self.exclude(weight__lte=0)

    def counted_by(self, scoring: str) -> Self:
        """Nuggets that a family of scores counts: a rubric's are all, the other's those that an answer should say."""
        return self if scoring == Scoring.RUBRIC else self.to_say()

    def to_avoid(self) -> Self:
        return self.filter(weight__lt=0)


class TaskQuerySet(QuerySet[RowT_co]):
    def not_withdrawn(self) -> Self:
        return self.filter(self.not_withdrawn_q())

    def not_withdrawn_q(self, path: str = "") -> Q:
        return ~Q(**{f"{path}state": TaskState.WITHDRAWN})

    def making(self) -> Self:
        return self.filter(stage__in=[stage for stage in STAGES.values() if not stage.judges])

    def judging(self) -> Self:
        return self.filter(stage__in=[stage for stage in STAGES.values() if stage.judges])

    def by_list(self) -> Self:
        return self.filter(stage__in=[stage for stage in STAGES.values() if stage.by_list])

    def unfinished(self) -> Self:
        """Tasks with work left; a blocked task comes back."""
        return self.filter(state__in=[*ACTIVE, TaskState.BLOCKED])

    def open_for(self, user: "User") -> Self:
        """Tasks that somebody may open: theirs, not withdrawn, in a campaign in which they still are an assessor."""
        assessing = Membership.objects.of_assessors().filter(user=user).values("campaign")
        return self.not_withdrawn().filter(assessor=user, campaign__in=assessing)
