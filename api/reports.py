"""Reports that compare two conditions, as the command `report` prints them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast, get_args

from django.db import DEFAULT_DB_ALIAS
from django.http import HttpResponse
from pydantic import BaseModel
from pydantic_core import to_json
from rest_framework.request import Request

from accounts.models import User
from api.filters import CAMPAIGN, NO_SUCH, OF_POLICIES, Filter, Narrowing, narrowing_of
from api.pagination import wrong_parameters
from api.problems import WrongQuery
from api.readers import Scores, nugget_policies, support_policies
from api.rows.labels import ConfusionReportRow, CorrelationReportRow
from api.schema import ReportSchema
from api.streams import answered
from api.views import View
from evaluation.domain.conditions import CitationCondition, NuggetCondition, resolve, resolve_citations
from evaluation.errors import Refused, on_side
from evaluation.models import Campaign
from evaluation.terms import Condition, SupportCondition
from reports.agreement.figures import Side, correlate, correlation_document
from reports.confusion.paired_labels import confuse_conditions, confusion_document
from reports.forms import external_names
from reports.leaderboard.scores import ALL_SCORES
from reports.metrics.policies import TopicChoice
from reports.metrics.support import SUPPORT_NAMES

Conditions = type[Condition] | type[SupportCondition]
PUBLISHED = ", or a published table by its name"
TOPICS = Filter(
    "topics",
    "run means over the topics of both conditions, the default, or over each one's own (all)",
    choices=get_args(TopicChoice),
)


@dataclass(frozen=True, slots=True)
class ReportKind:
    """A report by the name that the command has for it. `document`: from a campaign and checked parameters."""

    name: str
    text: str
    filters: tuple[Filter, ...]
    row: type[BaseModel]
    document: Callable[[Narrowing], dict[str, Any]]


def _correlation(narrowing: Narrowing, conditions: Conditions) -> dict[str, Any]:
    campaign, values = narrowing.campaigns[0], narrowing.values
    x, y = (_side(narrowing, side, conditions) for side in ("x", "y"))
    policies = nugget_policies(values) if conditions is Condition else support_policies(values)
    scores = ALL_SCORES if conditions is Condition else SUPPORT_NAMES
    policies = replace(policies, topics=values.get("topics", "common"))
    return correlation_document(correlate(campaign, x, y, values.get("score", scores[0]), policies))


def _confusion(narrowing: Narrowing, conditions: Conditions) -> dict[str, Any]:
    rows, columns = (_labels(narrowing, side, conditions) for side in ("rows", "columns"))
    return confusion_document(confuse_conditions(rows, columns))


def _side(narrowing: Narrowing, side: str, conditions: Conditions) -> Side:
    name: str = narrowing.values[side]
    if name in list(conditions):
        return _labels(narrowing, side, conditions)
    if name not in external_names(narrowing.campaigns[0]):
        raise WrongQuery({side: [NO_SUCH]})
    return name


def _labels(narrowing: Narrowing, side: str, conditions: Conditions) -> NuggetCondition | CitationCondition:
    campaign, values, names = narrowing.campaigns[0], narrowing.values, narrowing.reader.names
    judge = names.real_judge(campaign.pk, values.get(f"{side}_judge", ""))
    with on_side(side):
        if conditions is SupportCondition:
            return resolve_citations(campaign, SupportCondition(values[side]), judge=judge)
        nuggets = names.real_set(campaign.pk, values.get(f"{side}_nugget_set", ""))
        return resolve(campaign, Condition(values[side]), judge=judge, nuggets=nuggets)


def _sides(first: str, second: str, conditions: Conditions, *, published: bool) -> tuple[Filter, ...]:
    words = ", ".join(conditions)
    filters = [replace(CAMPAIGN, needed=True)]
    for side in (first, second):
        choices = () if published else tuple(conditions)
        filters.append(Filter(side, words + PUBLISHED * published, choices=choices, needed=True))
        filters.append(Filter(f"{side}_judge", "whose labels, where several fit"))
        if conditions is Condition:
            filters.append(Filter(f"{side}_nugget_set", "which nugget set, where several fit"))
    return tuple(filters)


def _kinds(prefix: str, conditions: Conditions, scores: tuple[str, ...], policies: set[str]) -> list[ReportKind]:
    of_policies = (parameter for parameter in OF_POLICIES if parameter.name in policies)
    of_score = Filter("score", f"which score; default: {scores[0]}", choices=scores)
    return [
        ReportKind(
            f"{prefix}correlation",
            f"Kendall's tau-b of two conditions, three ways, as `report {prefix}correlation` has it.",
            (*_sides("x", "y", conditions, published=True), of_score, *of_policies, TOPICS),
            CorrelationReportRow,
            lambda narrowing: _correlation(narrowing, conditions),
        ),
        ReportKind(
            f"{prefix}confusion",
            f"Labels of the same pairs under two conditions, as `report {prefix}confusion` has them.",
            _sides("rows", "columns", conditions, published=False),
            ConfusionReportRow,
            lambda narrowing: _confusion(narrowing, conditions),
        ),
    ]


REPORTS = (
    *_kinds("", Condition, ALL_SCORES, {"missing", "unjudged", "no_vital"}),
    *_kinds("support-", SupportCondition, SUPPORT_NAMES, {"missing", "no_cited"}),
)


class ReportView(View):
    """A report that compares two conditions of a campaign."""

    schema = ReportSchema()
    kind: ClassVar[ReportKind] = None  # type: ignore[assignment]  # given in the address book

    def get(self, request: Request) -> HttpResponse:
        filters = self.kind.filters
        if errors := wrong_parameters(request.query_params, {parameter.name for parameter in filters}):
            raise WrongQuery(errors)
        # No one state of the database is held: intervals that are computed here are kept for the next who asks.
        narrowing = narrowing_of(filters, request.query_params, Scores(cast(User, request.user), DEFAULT_DB_ALIAS))
        campaign: Campaign = narrowing.campaign_for("campaign")
        try:
            document = self.kind.document(narrowing)
        except Refused as error:
            raise narrowing.cleaned(error, campaign) from None
        return answered(request, to_json(document))
