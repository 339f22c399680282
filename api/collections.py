"""The collections: what each is called, what its fields are, who reads it, and what it can be narrowed by."""

from dataclasses import dataclass

from rest_framework.serializers import Serializer

from api.filters import Filters, TopicFilters
from api.serializers.corpus import TopicRow
from evaluation.queries.data.corpus import Topics
from evaluation.queries.data.reading import Reader


@dataclass(frozen=True, slots=True)
class Collection:
    """One collection. `fields` declares the columns of every form it leaves in; `found_by` is the key of one row.

    `by_revision`: its rows change only together with the revision of their campaign.
    """

    name: str
    fields: type[Serializer[object]]
    reader: type[Reader]
    filters: type[Filters]
    found_by: str = ""
    by_revision: bool = True

    @property
    def columns(self) -> list[str]:
        """The names of the fields, in their order."""
        return list(self.fields().fields)


COLLECTIONS = (Collection("topics", TopicRow, Topics, TopicFilters, "public_id"),)
