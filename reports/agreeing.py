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


def correlation_of(asked: Compared) -> Correlation:
    """Return the taus, the intervals of the first two levels, and the points. Raises `Refused` as `correlate` does."""
    return _correlation(asked, asked.state)


def pooled_interval(asked: Compared) -> Interval | None:
    """Return the interval of the third tau: its work grows with the square of the answers, that of the others not."""
    return None if asked.is_published else _pooled(asked, asked.state)


def curve_of(asked: Compared) -> tuple[CurvePoint, ...]:
    """Return tau by the number of topics; nothing for a published table."""
    return () if asked.is_published else _curve(asked, asked.state)


def confusion_of(asked: Compared) -> ConfusionReport | None:
    """Return the labels of the same items on both sides; None where the sides do not label the same."""
    return _confusion(asked, asked.state)


def agreement_by_tag(asked: Compared) -> tuple[TagAgreement, ...]:
    """Return the three taus of each topic tag; nothing for a published table."""
    return () if asked.is_published else _by_tag(asked, asked.state)


@lru_cache(maxsize=64)
def _correlation(asked: Compared, _state: RevisionKey) -> Correlation:
    levels = (RUN_LEVEL, TOPIC_AVERAGE)
    return correlate(asked.campaign, asked.x, asked.y, asked.score, asked.policies, tag=asked.tag, levels=levels)


@lru_cache(maxsize=64)
def _pooled(asked: Compared, _state: RevisionKey) -> Interval | None:
    left, right = tables_of(*_sides(asked), asked.score, asked.policies, asked.tag)
    found = intervals(left, right, asked.policies.topics, resamples=RESAMPLES, levels=(ALL_TOPIC_RUN,))
    return found[ALL_TOPIC_RUN]


@lru_cache(maxsize=64)
def _curve(asked: Compared, _state: RevisionKey) -> tuple[CurvePoint, ...]:
    return topic_curve(*_sides(asked), asked.score, asked.policies, asked.tag)


@lru_cache(maxsize=64)
def _confusion(asked: Compared, _state: RevisionKey) -> ConfusionReport | None:
    x, y = asked.x, asked.y
    if isinstance(x, NuggetCondition) and isinstance(y, NuggetCondition) and y.judges:
        found = confuse_assignments(x, y, asked.tag)
        return found if found.comparable else None
    if isinstance(x, CitationCondition) and isinstance(y, CitationCondition):
        return confuse_support(x, y, asked.tag)
    return None


@lru_cache(maxsize=64)
def _by_tag(asked: Compared, _state: RevisionKey) -> tuple[TagAgreement, ...]:
    return tuple(_tag_agreements(asked))


def _tag_agreements(asked: Compared) -> Iterator[TagAgreement]:
    for tag in topics_by_tag(asked.campaign):
        tables = tables_of(*_sides(asked), asked.score, asked.policies, tag)
        yield TagAgreement(tag, agreement(*tables, asked.policies.topics))


def _sides(asked: Compared) -> tuple[NuggetCondition | CitationCondition, NuggetCondition | CitationCondition]:
    x, y = asked.x, asked.y
    if isinstance(x, str) or isinstance(y, str):
        raise TypeError("a published table has no scores by topic")
    return x, y
