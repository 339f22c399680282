"""Filters of the collections. Each is declared: no lookup of an address ever reaches the database."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, reduce
from operator import or_
from typing import Any, cast, get_args

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Q, QuerySet
from django.http import QueryDict

from api.pagination import Computed, Selection, Stored
from api.problems import WrongQuery
from api.readers import Scores
from evaluation.domain.conditions import (
    CitationCondition,
    NuggetCondition,
    nugget_sets_of,
    resolve,
    resolve_citations,
)
from evaluation.domain.shares import Topics
from evaluation.errors import Refused
from evaluation.models import Campaign, ListedNugget, NuggetList, Run, Topic
from evaluation.rows.base import Reader
from evaluation.rows.corpus import Nuggets
from evaluation.rows.labels import Judges, LabelReader
from evaluation.stages import STAGES, stage_of
from evaluation.terms import Condition, FindingCode, SupportCondition, SupportMeasure
from jobs.models import Job
from reports.metrics.policies import ExcludeOrZero, ZeroOrSkip
from reports.metrics.registry import OF_NUGGETS

NO_SUCH = "There is nothing of that name that you may see."
NEEDED = "This parameter is needed."
Rows = QuerySet[Any]

# Beyond these years an offset carries a moment out of what Python can count.
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Filter:
    """A parameter that narrows a collection. `choices` are its only values, where there are any."""

    name: str
    text: str
    narrow: Callable[["Narrowing", Rows, Any], Rows] = lambda _narrowing, rows, _value: rows
    choices: tuple[str, ...] = ()
    is_moment: bool = False
    is_count: bool = False
    needed: bool = False

    def clean(self, value: str) -> Any:
        """Return the value. Raises Django's `ValidationError`, whose words are part of the API."""
        field: forms.Field = forms.CharField(required=False)
        if self.choices:
            field = forms.ChoiceField(required=False, choices=[(choice, choice) for choice in self.choices])
        elif self.is_count:
            field = forms.IntegerField(required=False, min_value=1)
        elif self.is_moment:
            # No input formats are left, so that only ISO 8601 is read: 02/01 is two days, by who writes it.
            limits = [MinValueValidator(EARLIEST), MaxValueValidator(LATEST)]
            field = forms.DateTimeField(required=False, input_formats=(), validators=limits)
        return field.clean(value)


@dataclass
class Narrowing:
    """Filters of a request, checked, and what their names mean to its viewer."""

    reader: Reader
    values: dict[str, Any]
    rests_on: object = None
    """Lists, judges and topics of a condition. Rows follow from them and from revisions, and so does an ETag."""

    @cached_property
    def campaigns(self) -> list[Campaign]:
        """The campaign that is named, or all in which the viewer has rows. Raises `WrongQuery`."""
        slug = self.values.get("campaign")
        campaigns = [campaign for campaign in self.reader.addressable if slug in (None, campaign.slug)]
        if slug and not campaigns:
            # The same words for a campaign that is not there and one of strangers, or slugs could be tried out.
            raise WrongQuery({"campaign": [NO_SUCH]})
        return campaigns

    def campaign_for(self, name: str) -> Campaign:
        """Return the campaign for a parameter that has a meaning in one only.

        A viewer with only tasks of their own in it is given no name that it has.
        """
        if "campaign" not in self.values:
            raise WrongQuery({"campaign": [f"This parameter is needed beside `{name}`."]})
        if self.campaigns[0] not in self.reader.campaigns:
            raise WrongQuery({name: [NO_SUCH]})
        return self.campaigns[0]

    def cleaned(self, error: Refused, campaign: Campaign) -> Refused:
        """A refusal that names people by their pseudonyms, as its collection does."""
        message, *choices = (
            str(self.reader.names.clean(campaign.pk, text)) for text in (error.message, *error.choices)
        )
        return Refused(error.code, message, choices=choices)


def narrowing_of(filters: Sequence[Filter], query: QueryDict, reader: Reader) -> Narrowing:
    """Return the values of the filters. Raises `WrongQuery` with every wrong one, or every missing one."""
    narrowing, errors = Narrowing(reader, {}), {}
    for parameter in filters:
        try:
            if (value := parameter.clean(query.get(parameter.name, ""))) not in (None, ""):
                narrowing.values[parameter.name] = value
        except ValidationError as error:
            errors[parameter.name] = error.messages
    missing = (parameter.name for parameter in filters if parameter.needed)
    errors = errors or {name: [NEEDED] for name in missing if name not in narrowing.values}
    if errors:
        raise WrongQuery(errors)
    reader.scope = narrowing.campaigns[0].slug if "campaign" in narrowing.values else None
    return narrowing


def stored(narrowing: Narrowing, filters: Sequence[Filter]) -> Selection:
    """Rows of the reader's table. Raises `WrongQuery`, or `Refused` for a condition that fits several labels."""
    reader, values = narrowing.reader, narrowing.values
    rows = reader.rows()
    for parameter in filters:
        if parameter.name in values:
            rows = parameter.narrow(narrowing, rows, values[parameter.name])
    if isinstance(reader, LabelReader) and "judge" not in values:
        # A study asks about the same pairs again: its labels beside the campaign's would count twice.
        rows = reader.counting(rows)
    return Stored(reader, rows)


def judges(narrowing: Narrowing, _filters: Sequence[Filter]) -> Selection:
    reader, campaigns = cast(Judges, narrowing.reader), narrowing.campaigns
    return Computed(lambda: reader.keyed(campaigns))


def scores(narrowing: Narrowing, _filters: Sequence[Filter]) -> Selection:
    """Runs of a campaign under a condition. Raises `WrongQuery` for a run that it does not have."""
    values, reader = narrowing.values, cast(Scores, narrowing.reader)
    choice = choice_of(narrowing, values["condition"])
    run = values.get("run")
    if run and not choice.campaign.runs.filter(run_id=run).exists():
        raise WrongQuery({"run": [NO_SUCH]})
    keyed = reader.keyed_by_topic if PER_TOPIC.name in values else reader.keyed
    return Computed(lambda: keyed(choice, values))


def _existing(name: str, keys: Iterable[int]) -> list[int]:
    """Return the keys. Raises `WrongQuery` where there are none."""
    listed = list(keys)
    if not listed:
        raise WrongQuery({name: [NO_SUCH]})
    return listed


def _of_topic(narrowing: Narrowing, rows: Rows, value: str) -> Rows:
    reader = narrowing.reader
    # Not in campaigns of which the viewer sees their own tasks only: desks keep the track's id from them.
    seen = set(narrowing.campaigns) & set(reader.campaigns)
    topics = Topic.objects.using(reader.alias).filter(campaign__in=seen, topic_id=value)
    return reader.of_topics(rows, _existing("topic", topics.values_list("pk", flat=True)))


def _of_run(narrowing: Narrowing, rows: Rows, value: str) -> Rows:
    runs = Run.objects.using(narrowing.reader.alias).filter(campaign__in=narrowing.campaigns, run_id=value)
    return narrowing.reader.of_runs(rows, _existing("run", runs.values_list("pk", flat=True)))


def _of_judge(narrowing: Narrowing, rows: Rows, value: str) -> Rows:
    campaign, reader = narrowing.campaign_for("judge"), narrowing.reader
    return reader.of_judges(rows, _existing("judge", reader.names.judges_called(campaign.pk, value)))


def _of_assessor(narrowing: Narrowing, rows: Rows, value: str) -> Rows:
    campaign, reader = narrowing.campaign_for("assessor"), narrowing.reader
    return reader.of_people(rows, _existing("assessor", reader.names.people_called(campaign.pk, value)))


def _of_set(narrowing: Narrowing, rows: Rows, value: str) -> Rows:
    campaign, reader = narrowing.campaign_for("nugget_set"), narrowing.reader
    return reader.of_sets(rows, _existing("nugget_set", reader.names.sets_called(campaign.pk, value)))


def _of_kind(narrowing: Narrowing, rows: Rows, value: str) -> Rows:
    return narrowing.reader.of_kind(rows, value)


def _assigned_under(narrowing: Narrowing, rows: Rows, value: str) -> Rows:
    """Labels that reports count: of the newest lists, by those whose labels they are."""
    choice = choice_of(narrowing, value)
    parts: list[Q] = []
    for nuggets, judge, topics in choice.keys:
        if nuggets is not None and judge is not None:
            listed = _listed(choice.campaign, nuggets, topics)
            parts.append(Q(judge=judge, nugget_version__in=listed.values("nugget_version")))
    return _either(rows, parts)


def _supported_under(narrowing: Narrowing, rows: Rows, value: str) -> Rows:
    choice = cast(CitationCondition, choice_of(narrowing, value))
    parts: list[Q] = []
    for _, judge, topics in choice.keys:
        if judge is not None:
            inside = Q() if topics is None else Q(sentence__answer__topic__in=topics)
            parts.append(Q(judge=judge, condition=choice.condition) & inside)
    return _either(rows, parts)


def _listed_under(narrowing: Narrowing, rows: Rows, value: str) -> Rows:
    """Nuggets of the lists that a condition means. Raises `Refused` where several fit."""
    campaign = narrowing.campaign_for("condition")
    try:
        lists = nugget_sets_of(campaign, Condition(value))
    except Refused as error:
        raise narrowing.cleaned(error, campaign) from None
    narrowing.rests_on = [(nuggets.pk, _sorted(topics)) for nuggets, topics in lists]
    listed = (_listed(campaign, nuggets.pk, topics) for nuggets, topics in lists)
    return _either(rows, [Q(pk__in=part.values("pk")) for part in listed])


def choice_of(narrowing: Narrowing, condition: str) -> NuggetCondition | CitationCondition:
    """Return what a condition means, with the judge and set that were named beside it. Raises `Refused`."""
    campaign, names = narrowing.campaign_for("condition"), narrowing.reader.names
    judge = names.real_judge(campaign.pk, narrowing.values.get("judge", ""))
    choice: NuggetCondition | CitationCondition
    try:
        if condition in list(Condition):
            nuggets = names.real_set(campaign.pk, narrowing.values.get("nugget_set", ""))
            choice = resolve(campaign, Condition(condition), judge=judge, nuggets=nuggets)
        else:
            choice = resolve_citations(campaign, SupportCondition(condition), judge=judge)
    except Refused as error:
        raise narrowing.cleaned(error, campaign) from None
    # A set or judge is made without a new revision, and can change what a condition means.
    narrowing.rests_on = [(nuggets, judge, _sorted(topics)) for nuggets, judge, topics in choice.keys]
    return choice


def _either(rows: Rows, parts: list[Q]) -> Rows:
    return rows.filter(reduce(or_, parts)) if parts else rows.none()


def _sorted(topics: Topics) -> list[int] | None:
    return None if topics is None else sorted(topics)


def _listed(campaign: Campaign, nugget_set: int, topics: Topics) -> QuerySet[ListedNugget]:
    lists = NuggetList.objects.newest_submitted().filter(nugget_set__campaign=campaign, nugget_set=nugget_set)
    lists = lists if topics is None else lists.filter(topic__in=topics)
    return ListedNugget.objects.filter(nugget_list__in=lists)


CONDITION_TEXT = "a condition, resolved as reports do; needs `campaign`"
CAMPAIGN = Filter("campaign", "a campaign, by its slug")
TOPIC = Filter("topic", "a topic, by the track's id", _of_topic)
RUN = Filter("run", "a run, by its run id", _of_run)
JUDGE = Filter("judge", "a judge, as `judges` names them; needs `campaign`", _of_judge)
ASSESSOR = Filter("assessor", "somebody, by their pseudonym; needs `campaign`", _of_assessor)
NUGGET_SET = Filter("nugget_set", "a nugget set, by its name; needs `campaign`", _of_set)
SINCE = Filter(
    "updated_since",
    "from this moment on, ISO 8601 with an offset",
    lambda narrowing, rows, value: narrowing.reader.since(rows, value),
    is_moment=True,
)
TAG = Filter("tag", "topics with this tag", lambda _narrowing, rows, value: rows.filter(tags__name=value))
NEWEST = Filter(
    "newest",
    "only the lists that reports read",
    lambda narrowing, rows, _value: cast(Nuggets, narrowing.reader).newest(rows),
    choices=("true",),
)
LISTED_UNDER = Filter("condition", f"the lists of {CONDITION_TEXT}", _listed_under, tuple(Condition))
ASSIGNED_UNDER = Filter("condition", CONDITION_TEXT, _assigned_under, tuple(Condition))
SUPPORTED_UNDER = Filter("condition", CONDITION_TEXT, _supported_under, tuple(SupportCondition))
BATTLE_SET = Filter("battle_set", "a battle set, by its name", _of_kind)
SOURCE = Filter("source", "whose grades, by the source's name", _of_kind)
STATE = Filter("state", "running, cancelled or done", _of_kind, tuple(Job.State.values))
STAGE = Filter(
    "stage",
    "what is to be done",
    lambda narrowing, rows, value: narrowing.reader.at_stage(rows, stage_of(value)),
    tuple(STAGES.values()),
)
KIND = Filter("kind", "one kind of event, such as `import.runs`", _of_kind)
CODE = Filter("code", "what was noticed", _of_kind, tuple(FindingCode))
OF_STAGES = (CAMPAIGN, TOPIC, ASSESSOR, SINCE, STAGE)
OF_POLICIES = (
    Filter("profile", "which scores of nuggets; default: the protocol's", choices=OF_NUGGETS),
    Filter("missing", "a topic that a run did not answer; default: zero", choices=get_args(ZeroOrSkip)),
    Filter("unjudged", "an answer with unjudged nuggets; default: exclude", choices=get_args(ExcludeOrZero)),
    Filter("no_vital", "a topic without vital nuggets; default: zero", choices=get_args(ZeroOrSkip)),
    Filter(
        "measure",
        "of support: which citations of a sentence count, and as what; default: the protocol's, or the draw's",
        choices=tuple(SupportMeasure),
    ),
    Filter("no_cited", "of support: an answer that cites nothing; default: skip", choices=get_args(ZeroOrSkip)),
)
PER_TOPIC = Filter("per_topic", "a row for each topic of a run, in place of its mean", choices=("true",))
OF_SCORES = (
    replace(CAMPAIGN, needed=True),
    Filter(
        "condition", "a condition of nuggets or of support", choices=(*Condition, *SupportCondition), needed=True
    ),
    Filter("judge", "whose labels, where several fit"),
    Filter("nugget_set", "which nugget set, where several fit"),
    Filter("run", "a run, by its run id"),
    *OF_POLICIES,
)
"""Filters of scores: a campaign, a condition, and the policies of the reports."""
