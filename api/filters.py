"""Filters of the collections. Each is declared: no lookup of an address ever reaches the database."""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar, cast, get_args

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django_filters import CharFilter, ChoiceFilter, FilterSet, IsoDateTimeFilter

from api.pagination import Computed, Selection, Stored
from api.problems import WrongQuery
from api.readers import Scores
from evaluation.domain.conditions import (
    CitationCondition,
    NuggetCondition,
    Topics,
    nugget_sets_of,
    resolve,
    resolve_citations,
)
from evaluation.domain.pseudonyms import Names
from evaluation.errors import Refused
from evaluation.models import Campaign, ListedNugget, NuggetList, Run, Topic
from evaluation.rows.base import Reader
from evaluation.rows.labels import Judges, LabelReader
from evaluation.rows.nuggets import Nuggets
from evaluation.terms import Condition, FindingCode, Stage, SupportCondition
from jobs.models import Job
from reports.metrics.policies import ExcludeOrZero, ZeroOrSkip

NO_SUCH = "There is nothing of that name that you may see."
NEEDED = "This parameter is needed."
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
Rows = QuerySet[Any]


def one_of(words: Iterable[str], text: str, method: str | None = None) -> ChoiceFilter:
    return ChoiceFilter(choices=[(str(word), str(word)) for word in words], method=method, help_text=text)


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
        return frozenset(cls.base_filters)  # type: ignore[attr-defined]  # made by the metaclass

    def prepare(self) -> None:
        """Look up what was named. Raises `WrongQuery`, or `Refused` for a condition that does not say whose labels."""
        self.queryset = self.reader.rows()
        self.filtered = self.qs

    @property
    def selection(self) -> Selection:
        return Stored(self.reader, self.filtered)

    @property
    def wanted(self) -> dict[str, Any]:
        return {name: value for name, value in self.form.cleaned_data.items() if value not in (None, "")}


class OfCampaign(Filters):
    """Filters of whatever belongs to a campaign: names are looked up in that one, or in all of the viewer's."""

    campaign = CharFilter(method="in_campaign", help_text="a campaign, by its slug")

    def in_campaign(self, rows: Rows, _name: str, _value: str) -> Rows:
        return rows

    def prepare(self) -> None:
        self.reader.scope = self.chosen[0].slug if "campaign" in self.wanted else None
        super().prepare()

    @cached_property
    def chosen(self) -> list[Campaign]:
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
        seen = set(self.chosen) & set(self.reader.campaigns)
        found = Topic.objects.using(self.reader.alias).filter(campaign__in=seen, topic_id=value)
        return self.reader.of_topics(rows, there(name, list(found.values_list("pk", flat=True))))


class ByRun(OfCampaign):
    """By who answered."""

    run = CharFilter(method="of_run", help_text="a run, by its run id")

    def of_run(self, rows: Rows, name: str, value: str) -> Rows:
        found = Run.objects.using(self.reader.alias).filter(campaign__in=self.chosen, run_id=value)
        return self.reader.of_runs(rows, there(name, list(found.values_list("pk", flat=True))))


class ByJudge(OfCampaign):
    """By who made or judged. A pseudonym means somebody in one campaign only."""

    judge = CharFilter(method="of_judge", help_text="a judge, as `judges` names them; needs `campaign`")

    def of_judge(self, rows: Rows, name: str, value: str) -> Rows:
        campaign = self.the_campaign(name)
        return self.reader.of_judges(rows, there(name, self.reader.names.judges_called(campaign.pk, value)))


class ByAssessor(OfCampaign):
    """By who was handed the work."""

    assessor = CharFilter(method="of_assessor", help_text="somebody, by their pseudonym; needs `campaign`")

    def of_assessor(self, rows: Rows, name: str, value: str) -> Rows:
        campaign = self.the_campaign(name)
        return self.reader.of_people(rows, there(name, self.reader.names.people_called(campaign.pk, value)))


class BySet(OfCampaign):
    """By the nuggets."""

    nugget_set = CharFilter(method="of_set", help_text="a nugget set, by its name; needs `campaign`")

    def of_set(self, rows: Rows, name: str, value: str) -> Rows:
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
        raise WrongQuery({name: [str(error) for error in errors] for name, errors in made.form.errors.items()})
    missing = {name: [NEEDED] for name in filters.needed if name not in made.wanted}
    if missing:
        raise WrongQuery(missing)
    made.prepare()
    return made


def choice_of(filters: OfCampaign, condition: str) -> NuggetCondition | CitationCondition:
    """Return what a condition means, with the judge and set that were named beside it.

    Raises `Refused` where that is not clear; then what is said names people by their pseudonyms.
    """
    campaign, names = filters.the_campaign("condition"), filters.reader.names
    judge = names.real_judge(campaign.pk, filters.wanted.get("judge", ""))
    nuggets = names.real_set(campaign.pk, filters.wanted.get("nugget_set", ""))
    try:
        if condition in list(Condition):
            return resolve(campaign, Condition(condition), judge=judge, nuggets=nuggets)
        return resolve_citations(campaign, SupportCondition(condition), judge=judge)
    except Refused as error:
        raise cleaned(error, campaign, names) from None


def cleaned(error: Refused, campaign: Campaign, names: Names) -> Refused:
    return Refused(error.code, str(names.clean(campaign.pk, error.message)))


def assignments_under(rows: Rows, choice: NuggetCondition) -> Rows:
    """Keep the labels that reports count: of the newest lists, by those whose labels they are."""
    parts = Q()
    for made, judge, topics in choice.keys:
        if made is not None and judge is not None:
            listed = _listed(choice.campaign, made, topics)
            parts |= Q(judge=judge, nugget_version__in=listed.values("nugget_version"))
    return rows.filter(parts) if parts else rows.none()


def support_under(rows: Rows, choice: CitationCondition) -> Rows:
    parts = Q()
    for _, judge, topics in choice.keys:
        if judge is not None:
            inside = Q() if topics is None else Q(sentence__answer__topic__in=topics)
            parts |= Q(judge=judge, condition=choice.condition) & inside
    return rows.filter(parts) if parts else rows.none()


def nuggets_under(rows: Rows, filters: OfCampaign, condition: Condition) -> Rows:
    """Keep the nuggets of the lists that a condition means. Raises `Refused` where several fit."""
    campaign = filters.the_campaign("condition")
    try:
        lists = nugget_sets_of(campaign, condition)
    except Refused as error:
        raise cleaned(error, campaign, filters.reader.names) from None
    filters.rests_on = [(made.pk, None if topics is None else sorted(topics)) for made, topics in lists]
    parts = Q()
    for made, topics in lists:
        parts |= Q(pk__in=_listed(campaign, made.pk, topics).values("pk"))
    return rows.filter(parts) if parts else rows.none()


def state_of(choice: NuggetCondition | CitationCondition) -> object:
    return [(made, judge, None if topics is None else sorted(topics)) for made, judge, topics in choice.keys]


def _listed(campaign: Campaign, made: int, topics: Topics) -> QuerySet[ListedNugget]:
    lists = NuggetList.objects.newest_submitted().filter(nugget_set__campaign=campaign, nugget_set=made)
    lists = lists if topics is None else lists.filter(topic__in=topics)
    return ListedNugget.objects.filter(nugget_list__in=lists)


CONDITION = "a condition, resolved as reports do; needs `campaign`"


ZERO_OR_SKIP, EXCLUDE_OR_ZERO = get_args(ZeroOrSkip), get_args(ExcludeOrZero)


class TopicFilters(ByTopic):
    """Of topics."""

    tag = CharFilter(method="tagged", help_text="topics with this tag")

    def tagged(self, rows: Rows, _name: str, value: str) -> Rows:
        return rows.filter(tags__name=value)


class AnswerFilters(ByTopic, ByRun):
    """Of answers."""


class NuggetFilters(ByTopic, ByJudge, BySet):
    """Of nuggets."""

    condition = one_of(Condition, f"the lists of {CONDITION}", "under")
    newest = one_of(["true"], "only the lists that reports read", "of_newest")

    def under(self, rows: Rows, _name: str, value: str) -> Rows:
        return nuggets_under(rows, self, Condition(value))

    def of_newest(self, rows: Rows, _name: str, _value: str) -> Rows:
        return cast(Nuggets, self.reader).newest(rows)


class LabelFilters(ByTopic, ByRun, ByJudge, Since):
    """Of labels. Those of a study are told where their judge is named."""

    def filter_queryset(self, queryset: Rows) -> Rows:
        rows: Rows = super().filter_queryset(queryset)
        return rows if "judge" in self.wanted else cast(LabelReader, self.reader).counting(rows)


class AssignmentFilters(LabelFilters, BySet):
    """Of assignments."""

    condition = one_of(Condition, CONDITION, "under")

    def under(self, rows: Rows, _name: str, value: str) -> Rows:
        choice = choice_of(self, value)
        self.rests_on = state_of(choice)
        return assignments_under(rows, choice) if isinstance(choice, NuggetCondition) else rows


class SupportFilters(LabelFilters):
    """Of support judgments."""

    condition = one_of(SupportCondition, CONDITION, "under")

    def under(self, rows: Rows, _name: str, value: str) -> Rows:
        choice = choice_of(self, value)
        self.rests_on = state_of(choice)
        return support_under(rows, choice) if isinstance(choice, CitationCondition) else rows


class GradeFilters(ByTopic):
    """Of grades."""

    source = CharFilter(method="of_source", help_text="whose grades, by the source's name")

    def of_source(self, rows: Rows, _name: str, value: str) -> Rows:
        return self.reader.of_kind(rows, value)


class JudgeFilters(OfCampaign):
    """Of judges."""

    def prepare(self) -> None:
        self.of = self.chosen

    @property
    def selection(self) -> Selection:
        return Computed(cast(Judges, self.reader).found(self.of))


class JobFilters(ByJudge, Since):
    """Of jobs."""

    state = one_of(Job.State.values, "running, cancelled or done", "in_state")

    def in_state(self, rows: Rows, _name: str, value: str) -> Rows:
        return self.reader.of_kind(rows, value)


class StageFilters(ByTopic, ByAssessor, Since):
    """Of tasks, and of the time that they took."""

    stage = one_of(Stage, "what is to be done", "at_stage")

    def at_stage(self, rows: Rows, _name: str, value: str) -> Rows:
        return self.reader.at_stage(rows, Stage(value))


class EventFilters(Since, OfCampaign):
    """Of the log."""

    kind = CharFilter(method="of_kind", help_text="one kind of event, such as `import.runs`")

    def of_kind(self, rows: Rows, _name: str, value: str) -> Rows:
        return self.reader.of_kind(rows, value)


class FindingFilters(ByTopic, ByRun, Since):
    """Of findings."""

    code = one_of(FindingCode, "what was noticed", "of_code")

    def of_code(self, rows: Rows, _name: str, value: str) -> Rows:
        return self.reader.of_kind(rows, value)


class ScoreFilters(OfCampaign):
    """Of scores: a campaign, a condition, and the policies of the reports."""

    needed = ("campaign", "condition")
    condition = one_of([*Condition, *SupportCondition], "a condition of nuggets or of support")
    judge = CharFilter(help_text="whose labels, where several fit")
    nugget_set = CharFilter(help_text="which nugget set, where several fit")
    run = CharFilter(help_text="a run, by its run id")
    missing = one_of(ZERO_OR_SKIP, "a topic that a run did not answer; default: zero")
    unjudged = one_of(EXCLUDE_OR_ZERO, "an answer with unjudged nuggets; default: exclude")
    no_vital = one_of(ZERO_OR_SKIP, "a topic without vital nuggets; default: zero")
    no_cited = one_of(ZERO_OR_SKIP, "of support: an answer that cites nothing; default: skip")

    def prepare(self) -> None:
        self.choice = choice_of(self, self.wanted["condition"])
        run = self.wanted.get("run")
        if run and not self.choice.campaign.runs.filter(run_id=run).exists():
            raise WrongQuery({"run": [NO_SUCH]})
        self.rests_on = state_of(self.choice)

    @property
    def selection(self) -> Selection:
        return Computed(cast(Scores, self.reader).found(self.choice, self.wanted))
