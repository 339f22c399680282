"""What the agreement page reckons: each figure once per state of the campaign, for the page, its pictures and files."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.models import Campaign
from evaluation.models.campaigns import RevisionKey
from reports.confusions import ConfusionReport, confuse_assignments, confuse_support
from reports.correlation import RESAMPLES, Correlation, Side, correlate, tables_of, topic_curve
from reports.metrics.agreement import ALL_TOPIC_RUN, RUN_LEVEL, TOPIC_AVERAGE, Agreement, agreement
from reports.metrics.bootstrap import Interval, intervals
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.subsampling import CurvePoint
from reports.tags import topics_by_tag


@dataclass(frozen=True, slots=True)
class Compared:
    """What is compared: two sides, by one score, in all topics or those with a tag. Equal ones give equal figures."""

    campaign: Campaign
    x: Side
    y: Side
    score: str
    policies: Policies | SupportPolicies
    tag: str = ""

    @property
    def state(self) -> RevisionKey:
        """What the figures rest on."""
        return self.campaign.revision_key

    @property
    def is_published(self) -> bool:
        """Whether one side is a published table, which has no scores by topic."""
        return isinstance(self.x, str) or isinstance(self.y, str)


@dataclass(frozen=True, slots=True)
class TagAgreement:
    """The three taus over the topics of one tag."""

    tag: str
    agreement: Agreement


def correlation_of(request: Compared) -> Correlation:
    """Return the taus, the intervals of the first two levels, and the points. Raises `Refused` as `correlate` does."""
    return _correlation(request, request.state)


def pooled_interval(request: Compared) -> Interval | None:
    """Return the interval of the third tau: its work grows with the square of the answers, that of the others not."""
    return None if request.is_published else _pooled(request, request.state)


def curve_of(request: Compared) -> tuple[CurvePoint, ...]:
    """Return tau by the number of topics; nothing for a published table."""
    return () if request.is_published else _curve(request, request.state)


def confusion_of(request: Compared) -> ConfusionReport | None:
    """Return the labels of the same items on both sides; None where the sides do not label the same."""
    return _confusion(request, request.state)


def agreement_by_tag(request: Compared) -> tuple[TagAgreement, ...]:
    """Return the three taus of each topic tag; nothing for a published table."""
    return () if request.is_published else _by_tag(request, request.state)


@lru_cache(maxsize=64)
def _correlation(request: Compared, _state: RevisionKey) -> Correlation:
    levels = (RUN_LEVEL, TOPIC_AVERAGE)
    return correlate(
        request.campaign, request.x, request.y, request.score, request.policies, tag=request.tag, levels=levels
    )


@lru_cache(maxsize=64)
def _pooled(request: Compared, _state: RevisionKey) -> Interval | None:
    left, right = tables_of(*_sides(request), request.score, request.policies, request.tag)
    found = intervals(left, right, request.policies.topics, resamples=RESAMPLES, levels=(ALL_TOPIC_RUN,))
    return found[ALL_TOPIC_RUN]


@lru_cache(maxsize=64)
def _curve(request: Compared, _state: RevisionKey) -> tuple[CurvePoint, ...]:
    return topic_curve(*_sides(request), request.score, request.policies, request.tag)


@lru_cache(maxsize=64)
def _confusion(request: Compared, _state: RevisionKey) -> ConfusionReport | None:
    x, y = request.x, request.y
    if isinstance(x, NuggetCondition) and isinstance(y, NuggetCondition) and y.judges:
        found = confuse_assignments(x, y, request.tag)
        return found if found.comparable else None
    if isinstance(x, CitationCondition) and isinstance(y, CitationCondition):
        return confuse_support(x, y, request.tag)
    return None


@lru_cache(maxsize=64)
def _by_tag(request: Compared, _state: RevisionKey) -> tuple[TagAgreement, ...]:
    return tuple(_tag_agreements(request))


def _tag_agreements(request: Compared) -> Iterator[TagAgreement]:
    for tag in topics_by_tag(request.campaign):
        tables = tables_of(*_sides(request), request.score, request.policies, tag)
        yield TagAgreement(tag, agreement(*tables, request.policies.topics))


def _sides(request: Compared) -> tuple[NuggetCondition | CitationCondition, NuggetCondition | CitationCondition]:
    x, y = request.x, request.y
    if isinstance(x, str) or isinstance(y, str):
        raise TypeError("a published table has no scores by topic")
    return x, y
