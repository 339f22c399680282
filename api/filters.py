"""What a list can be narrowed by. Each filter is declared: no lookup of an address ever reaches the database."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import QueryDict
from django_filters import CharFilter, FilterSet, IsoDateTimeFilter

from api.problems import WrongQuery
from api.selecting import Selection, Stored
from evaluation.models import Campaign
from evaluation.queries.data.reading import Reader

NO_SUCH = "There is nothing of that name that you may see."


class Filters(FilterSet):
    """A collection's filters. A name that is nowhere is a mistake, and is told as one."""

    reader: Reader
    needed: ClassVar[tuple[str, ...]] = ()
    """What must be given."""

    @classmethod
    def names(cls) -> frozenset[str]:
        """Return the parameters that the collection knows."""
        return frozenset(cls.base_filters)  # type: ignore[attr-defined]  # made by the metaclass

    @property
    def selection(self) -> Selection:
        """The rows that are left."""
        return Stored(self.reader, self.qs)

    @property
    def state(self) -> object:
        """What the rows depend on besides the revisions of campaigns."""
        return None

    @property
    def wanted(self) -> dict[str, Any]:
        """What was asked for, checked."""
        return {name: value for name, value in self.form.cleaned_data.items() if value not in (None, "")}

    def refuse(self, name: str, why: str = NO_SUCH) -> WrongQuery:
        """Return what says that a parameter's value is wrong."""
        return WrongQuery({name: [why]})


class OfCampaign(Filters):
    """Filters of whatever belongs to a campaign."""

    campaign = CharFilter(method="in_campaign", help_text="a campaign, by its slug")

    def in_campaign(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep one campaign."""
        return self.reader.in_campaign(rows, self.campaign_called(value).pk)

    def campaign_called(self, slug: str) -> Campaign:
        """Return a campaign of the viewer's."""
        for one in self.reader.campaigns:
            if one.slug == slug:
                return one
        raise self.refuse("campaign")


class TopicFilters(OfCampaign):
    """Filters of topics."""

    topic = CharFilter(field_name="topic_id", lookup_expr="exact", help_text="a topic, by the track's id")
    tag = CharFilter(field_name="tags__name", lookup_expr="exact", help_text="topics with this tag")


class Since(FilterSet):
    """For whatever has a moment."""

    updated_since = IsoDateTimeFilter(method="since", help_text="from this moment on, ISO 8601 with an offset")


def checked(filters: type[Filters], query: QueryDict, reader: Reader) -> Filters:
    """Return the filters with what they leave of the viewer's rows. Raises `WrongQuery`."""
    made = filters(query, queryset=reader.rows())
    made.reader = reader
    if made.errors:
        raise WrongQuery({name: [str(one) for one in errors] for name, errors in made.form.errors.items()})
    missing = {name: ["This parameter is needed."] for name in filters.needed if name not in made.wanted}
    if missing:
        raise WrongQuery(missing)
    return made
