"""A part of a condition: some topics, with the nugget set and the judge that count there."""

from dataclasses import dataclass

from evaluation.models import Judge, NuggetSet

Topics = frozenset[int] | None
"""Some topics by primary key; None: all."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some topics of a condition, with the set and the judge that count there; None where there is none yet."""

    nugget_set: NuggetSet | None
    judge: Judge | None
    topics: Topics = None

    @property
    def key(self) -> "PartKey":
        """What tells parts apart, by primary keys."""
        nugget_set = self.nugget_set.pk if self.nugget_set else None
        return nugget_set, self.judge.pk if self.judge else None, self.topics


PartKey = tuple[int | None, int | None, Topics]
