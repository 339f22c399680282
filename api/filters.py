"""What a list can be narrowed by. Each filter is declared: no lookup of an address ever reaches the database."""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import QuerySet
from django.http import QueryDict
from django_filters import CharFilter, ChoiceFilter, FilterSet, IsoDateTimeFilter

from api.problems import WrongQuery
from api.selecting import Selection, Stored
from evaluation.models import Campaign, Run, Topic
from evaluation.queries.data.reading import Reader

NO_SUCH = "There is nothing of that name that you may see."
NEEDED = "This parameter is needed."
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
Rows = QuerySet[Any]


def one_of(words: Iterable[str], text: str, method: str | None = None) -> ChoiceFilter:
    """Return a filter whose values are some words."""
    return ChoiceFilter(choices=[(str(one), str(one)) for one in words], method=method, help_text=text)


class Filters(FilterSet):
    """A collection's filters. A name that is nowhere is a mistake, and is told as one.

    `needed`: what must be given. `reader`: of the rows; it is set before anything is filtered.
    """

    needed: ClassVar[tuple[str, ...]] = ()
    reader: Reader
    rests_on: object = None
    """What the rows follow from besides the revisions of campaigns: known once they are prepared."""

    @classmethod
    def names(cls) -> frozenset[str]:
        """Return the parameters that the collection knows."""
        return frozenset(cls.base_filters)  # type: ignore[attr-defined]  # made by the metaclass

    def prepare(self) -> None:
        """Look up what was named. Raises `WrongQuery`, or `Refused` for a condition that does not say whose labels."""
        self.queryset = self.reader.rows()
        self.filtered = self.qs

    @property
    def selection(self) -> Selection:
        """The rows that are left."""
        return Stored(self.reader, self.filtered)

    @property
    def wanted(self) -> dict[str, Any]:
        """What was asked for, checked."""
        return {name: value for name, value in self.form.cleaned_data.items() if value not in (None, "")}


class OfCampaign(Filters):
    """Filters of whatever belongs to a campaign: names are looked up in that one, or in all of the viewer's."""

    campaign = CharFilter(method="in_campaign", help_text="a campaign, by its slug")

    def in_campaign(self, rows: Rows, _name: str, _value: str) -> Rows:
        """Keep what there is: `prepare` has narrowed the reader."""
        return rows

    def prepare(self) -> None:
        """Narrow the reader to the campaign that was named, and look up the rest there."""
        self.reader.scope = self.chosen[0].slug if "campaign" in self.wanted else None
        super().prepare()

    @cached_property
    def chosen(self) -> list[Campaign]:
        """The campaign that was named, else all of the viewer's."""
        slug = self.wanted.get("campaign")
        found = [one for one in self.reader.addressable if slug in (None, one.slug)]
        if slug and not found:
            raise WrongQuery({"campaign": [NO_SUCH]})
        return found

    def the_campaign(self, needed_for: str) -> Campaign:
        """Return the campaign in which something is meant that has a meaning in one only.

        Where the viewer has only tasks of their own in it, nobody and nothing has a name for them.
        """
        if "campaign" not in self.wanted:
            raise WrongQuery({"campaign": [f"This parameter is needed beside `{needed_for}`."]})
        if self.chosen[0] not in self.reader.campaigns:
            raise WrongQuery({needed_for: [NO_SUCH]})
        return self.chosen[0]


class ByTopic(OfCampaign):
    """By what was asked."""

    topic = CharFilter(method="of_topic", help_text="a topic, by the track's id")

    def of_topic(self, rows: Rows, name: str, value: str) -> Rows:
        """Keep one topic, of each campaign that has one of that id and may be seen unblinded."""
        seen = set(self.chosen) & set(self.reader.campaigns)
        found = Topic.objects.using(self.reader.alias).filter(campaign__in=seen, topic_id=value)
        return self.reader.of_topics(rows, there(name, list(found.values_list("pk", flat=True))))


class ByRun(OfCampaign):
    """By who answered."""

    run = CharFilter(method="of_run", help_text="a run, by its run id")

    def of_run(self, rows: Rows, name: str, value: str) -> Rows:
        """Keep one run, of each campaign that has one of that id."""
        found = Run.objects.using(self.reader.alias).filter(campaign__in=self.chosen, run_id=value)
        return self.reader.of_runs(rows, there(name, list(found.values_list("pk", flat=True))))


class ByJudge(OfCampaign):
    """By who made or judged. A pseudonym means somebody in one campaign only."""

    judge = CharFilter(method="of_judge", help_text="a judge, as `judges` names them; needs `campaign`")

    def of_judge(self, rows: Rows, name: str, value: str) -> Rows:
        """Keep one judge."""
        campaign = self.the_campaign(name)
        return self.reader.of_judges(rows, there(name, self.reader.names.judges_called(campaign.pk, value)))


class ByAssessor(OfCampaign):
    """By who was handed the work."""

    assessor = CharFilter(method="of_assessor", help_text="somebody, by their pseudonym; needs `campaign`")

    def of_assessor(self, rows: Rows, name: str, value: str) -> Rows:
        """Keep one person's."""
        campaign = self.the_campaign(name)
        return self.reader.of_people(rows, there(name, self.reader.names.people_called(campaign.pk, value)))


class BySet(OfCampaign):
    """By the nuggets."""

    nugget_set = CharFilter(method="of_set", help_text="a nugget set, by its name; needs `campaign`")

    def of_set(self, rows: Rows, name: str, value: str) -> Rows:
        """Keep one set."""
        campaign = self.the_campaign(name)
        return self.reader.of_sets(rows, there(name, self.reader.names.sets_called(campaign.pk, value)))


class Since(Filters):
    """By the moment of the last change."""

    updated_since = IsoDateTimeFilter(
        method="since",
        validators=[MinValueValidator(EARLIEST), MaxValueValidator(LATEST)],
        help_text="from this moment on, ISO 8601 with an offset",
    )

    def since(self, rows: Rows, _name: str, value: datetime) -> Rows:
        """Keep what changed from a moment on."""
        return self.reader.since(rows, value)


def there(name: str, found: list[int]) -> list[int]:
    """Return what was found. Raises `WrongQuery` where it is nothing."""
    if not found:
        raise WrongQuery({name: [NO_SUCH]})
    return found


def checked(filters: type[Filters], query: QueryDict, reader: Reader) -> Filters:
    """Return the filters, prepared for what the viewer may see. Raises what `prepare` raises."""
    made = filters(query, queryset=Campaign.objects.none())
    made.reader = reader
    if made.errors:
        raise WrongQuery({name: [str(one) for one in errors] for name, errors in made.form.errors.items()})
    missing = {name: [NEEDED] for name in filters.needed if name not in made.wanted}
    if missing:
        raise WrongQuery(missing)
    made.prepare()
    return made
