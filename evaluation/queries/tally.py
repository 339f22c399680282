"""How many assignment labels there are of what: read once per state of a campaign, for every page that counts them.

A query that reads every label of a campaign is asked in parts: none of them holds up the database for long or sorts on
disk, and their number does not grow with the data.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from django.db.models import Count, F, Q

from evaluation.models import Assignment, Campaign, NuggetVersion

PARTS: Final = 8
_SWEPT: Final = Count("pk", filter=Q(first_label__isnull=False) & ~Q(first_label=F("label")))


@dataclass(frozen=True, slots=True)
class Cell:
    """The labels of one code that one judge gave to one topic's nuggets of one set; the nugget sweep changed `swept`.

    Set, topic and judge are primary keys. Labels count that stand; those of studies and trials are among them.
    """

    nugget_set: int
    topic: int
    judge: int
    label: int
    number: int
    swept: int


def in_parts(keys: Collection[int]) -> Iterator[list[int]]:
    """Return keys, ascending, in at most eight parts of equal size."""
    ascending = sorted(keys)
    size = max(1, -(-len(ascending) // PARTS))
    return (ascending[start : start + size] for start in range(0, len(ascending), size))


def tally_of(campaign: Campaign) -> tuple[Cell, ...]:
    """Count a campaign's assignment labels."""
    return _tally(campaign, campaign.created_at, campaign.revision)


@lru_cache(maxsize=16)
def _tally(campaign: Campaign, _made: datetime, _revision: int) -> tuple[Cell, ...]:
    """Count once per state of the campaign. `_made` tells databases apart."""
    wordings = NuggetVersion.objects.filter(nugget__nugget_set__campaign=campaign).values_list("pk", flat=True)
    nugget = "nugget_version__nugget"
    counted: dict[tuple[int, int, int, int], tuple[int, int]] = {}
    for part in in_parts(wordings):
        labels = Assignment.objects.current().filter(nugget_version__in=part).order_by()
        cells = labels.values_list(f"{nugget}__nugget_set", f"{nugget}__topic", "judge", "label")
        for *cell, number, swept in cells.annotate(Count("pk"), swept=_SWEPT):
            before = counted.get(key := tuple(cell), (0, 0))
            counted[key] = before[0] + number, before[1] + swept
    return tuple(Cell(*key, *numbers) for key, numbers in counted.items())
