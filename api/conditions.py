"""What a condition means among the rows of a collection: reports decide, and rows follow."""

from django.db.models import Q, QuerySet

from api.filters import OfCampaign, Rows
from evaluation.domain.conditions import (
    CitationCondition,
    NuggetCondition,
    nugget_sets_of,
    resolve,
    resolve_citations,
)
from evaluation.domain.shared_topics import Topics
from evaluation.errors import Refused
from evaluation.models import Campaign, ListedNugget, NuggetList
from evaluation.queries.data.names import Names
from evaluation.terms import Condition, SupportCondition


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
    """Return a refusal without the names of people."""
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
    """Keep the support labels that reports count."""
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
    """Return what a condition means in a form that is always the same."""
    return [(made, judge, None if topics is None else sorted(topics)) for made, judge, topics in choice.keys]


def _listed(campaign: Campaign, made: int, topics: Topics) -> QuerySet[ListedNugget]:
    lists = NuggetList.objects.newest_submitted().filter(nugget_set__campaign=campaign, nugget_set=made)
    lists = lists if topics is None else lists.filter(topic__in=topics)
    return ListedNugget.objects.filter(nugget_list__in=lists)
