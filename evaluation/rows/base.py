"""Base of every reader: the rows that a viewer may see, in the order of their keys, read in chunks.

Each chunk takes a fixed number of queries. People leave under their pseudonyms only (`names`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, TypeAlias

from django.db.models import Model, QuerySet

from accounts.models import User
from evaluation.campaigns.access import unblinded
from evaluation.campaigns.pseudonyms import Names
from evaluation.models import Campaign
from evaluation.stages import Stage

Row: TypeAlias = dict[str, Any]
"""One row as it leaves: values that JSON knows, and moments, in the order of the collection's fields."""

Values: TypeAlias = tuple[Any, ...]


class Reader:
    """A collection as one viewer may see it, in one state of the database (`alias`)."""

    model: ClassVar[type[Model]]
    paths: ClassVar[Mapping[str, str]] = {}
    """Columns that lead to what a collection is narrowed by: campaign, topics, runs, judges, people, …"""

    key: ClassVar[str] = "pk"
    values: ClassVar[tuple[str, ...]] = ()
    renamed: ClassVar[Mapping[str, str]] = {}
    """Names under which values leave, where they are not those of the columns."""

    chunk: ClassVar[int] = 500
    row_path: ClassVar[str] = "pk"
    """Column that finds one row by the last part of its address."""

    def __init__(self, viewer: User, alias: str) -> None:
        self.viewer, self.alias = viewer, alias
        self.scope: str | None = None
        """Slug of the campaign that is meant; None: all that the viewer may see."""

    def rows(self) -> QuerySet[Any]:
        return self._narrowed(self.model._default_manager.using(self.alias), "campaign", self.seen)

    def of_topics(self, rows: QuerySet[Any], topics: Iterable[int]) -> QuerySet[Any]:
        return self._narrowed(rows, "topics", topics)

    def of_runs(self, rows: QuerySet[Any], runs: Iterable[int]) -> QuerySet[Any]:
        return self._narrowed(rows, "runs", runs)

    def of_judges(self, rows: QuerySet[Any], judges: Iterable[int]) -> QuerySet[Any]:
        return self._narrowed(rows, "judges", judges)

    def of_people(self, rows: QuerySet[Any], users: Iterable[int]) -> QuerySet[Any]:
        return self._narrowed(rows, "people", users)

    def at_stage(self, rows: QuerySet[Any], stage: Stage) -> QuerySet[Any]:
        return rows.filter(**{self.paths["stage"]: stage})

    def of_sets(self, rows: QuerySet[Any], sets: Iterable[int]) -> QuerySet[Any]:
        return self._narrowed(rows, "sets", sets)

    def of_kind(self, rows: QuerySet[Any], kind: str) -> QuerySet[Any]:
        return rows.filter(**{self.paths["kind"]: kind})

    def since(self, rows: QuerySet[Any], start: datetime) -> QuerySet[Any]:
        return rows.filter(**{f"{self.paths['moment']}__gte": start})

    def _narrowed(self, rows: QuerySet[Any], by: str, keys: Iterable[int]) -> QuerySet[Any]:
        return rows.filter(**{f"{self.paths[by]}__in": keys})

    def plain(self, row: Values) -> Row:
        fields = {self.renamed.get(name, name): value for name, value in zip(self.values, row[1:], strict=True)}
        return {"id": row[0]} | fields | {"campaign": self.names.slug(fields["campaign"])}

    def rows_from(self, chunk: Sequence[Values]) -> Iterator[Row]:
        raise NotImplementedError

    @cached_property
    def campaigns(self) -> list[Campaign]:
        """The campaigns of which the viewer may see everything: where every other read starts."""
        return list(unblinded(self.viewer).using(self.alias).order_by("pk"))

    @property
    def seen(self) -> list[int]:
        """Keys of the campaigns that are meant: as values, so that the database need not sort what has an index."""
        return [campaign.pk for campaign in self.campaigns if self.scope in (None, campaign.slug)]

    @property
    def addressable(self) -> list[Campaign]:
        return self.campaigns

    @cached_property
    def names(self) -> Names:
        return Names(self.campaigns, self.alias)

    def page(self, rows: QuerySet[Any]) -> list[tuple[int, Row]]:
        chunk = list(rows.values_list(self.key, *self.values))
        return list(zip([row[0] for row in chunk], self.rows_from(chunk), strict=True)) if chunk else []

    def all(self, rows: QuerySet[Any]) -> Iterator[Row]:
        """Yield all of the rows in the order of their keys, at constant memory."""
        ordered = rows.order_by(self.key).values_list(self.key, *self.values)
        stream = ordered.iterator(chunk_size=self.chunk)
        while chunk := list(islice(stream, self.chunk)):
            yield from self.rows_from(chunk)
