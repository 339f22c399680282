"""Agreement page of a query string, or the reason why it is empty."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict

from evaluation.domain.conditions import Choice, CitationCondition, NuggetCondition, resolve, resolve_citations
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.terms import Condition, SupportCondition
from reports.agreement.figures import (
    AgreementRequest,
    Correlation,
    Side,
    TagAgreement,
    agreement_by_tag,
    confusion_of,
    correlation_document,
    correlation_of,
    correlation_rows,
    curve_of,
    is_binned,
    pooled_interval,
)
from reports.confusion.page import HeatRow, heat_rows, side_label, without_nuggets
from reports.confusion.paired_labels import ConfusionReport
from reports.files import FileTable
from reports.forms import AgreementForm, Offer, offer_of
from reports.frames import tags_of
from reports.leaderboard.scores import PRIMARY
from reports.metrics.agreement import ALL_TOPIC_RUN, LEVELS
from reports.metrics.bootstrap import Interval
from reports.metrics.kendall import Ties
from reports.metrics.policies import listed_policies, policies_document
from reports.metrics.subsampling import CurvePoint
from reports.metrics.support import SUPPORT_NAMES
from reports.report import has_tau, why_no_tau

LEVEL_NAMES = {
    "run_level": "Run level",
    "topic_average": "Topic average",
    "all_topic_run": "All topic/run pairs",
}


@dataclass(frozen=True, slots=True)
class Tau:
    """One of the three taus with what it rests on. `is_pending`: its interval is not computed yet.

    `topics`: None where one side is a published table. `hidden`: why the page does not show it.
    """

    name: str
    value: float | None
    n: str
    ties: Ties
    discordant: int
    interval: Interval | None
    topics: int | None
    hidden: str | None
    is_pending: bool = False


@dataclass(frozen=True, slots=True)
class Pairing:
    """A published pairing, one click away: two sides, and the score that it is shown for first."""

    x: str
    y: str
    score: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class AgreementPage:
    """The form, and what came of it; without a correlation, `message` says why."""

    form: AgreementForm
    offer: Offer
    message: str = ""
    requested: AgreementRequest | None = None
    correlation: Correlation | None = None
    confusion: ConfusionReport | None = None

    @property
    def taus(self) -> list[Tau]:
        found = self.correlation
        return [_tau(found, level) for level in LEVELS] if found else []

    @property
    def sides(self) -> list[dict[str, str]]:
        return [{"name": name, "text": _side_text(side)} for name, side in zip("xy", self._sides, strict=False)]

    @property
    def curve(self) -> tuple[CurvePoint, ...]:
        return curve_of(self.requested) if self.requested and self.form.chosen["curve"] else ()

    @property
    def shown_curve(self) -> tuple[CurvePoint, ...]:
        return self.enough(self.curve)

    def enough(self, points: Sequence[CurvePoint]) -> tuple[CurvePoint, ...]:
        runs = self.correlation.agreement.runs if self.correlation else 0
        return tuple(point for point in points if has_tau(runs, point.topics))

    @property
    def topics(self) -> int | None:
        found = self.correlation
        return None if found is None or found.published else found.agreement.topics

    @property
    def by_tag(self) -> tuple[TagAgreement, ...]:
        """The three taus tag by tag; nothing where only one tag's topics are looked at."""
        return agreement_by_tag(self.requested) if self.requested and not self.requested.tag else ()

    @property
    def heat(self) -> list[HeatRow]:
        return heat_rows(self.confusion) if self.confusion else []

    @property
    def bare(self) -> list[str]:
        """Those of the two conditions that have no nuggets yet."""
        return without_nuggets(*self._sides)

    @property
    def judged_by(self) -> tuple[str, str]:
        x, y = ((side.judges_text or "") if isinstance(side, Choice) else "" for side in self._sides or ("", ""))
        return x, y

    @property
    def _sides(self) -> tuple[Side, ...]:
        return (self.requested.x, self.requested.y) if self.requested else ()

    @property
    def labels_link(self) -> str:
        """The query string of the confusion page for the same two sides and judges."""
        data = self.form.data
        sides = dict(zip(("rows", "columns"), map(str, self._sides), strict=False))
        judges = {"rows_judge": data.get("x_judge"), "columns_judge": data.get("y_judge")}
        named = {name: value for name, value in judges.items() if value}
        same = {name: data[field] for name, field in (("nuggets", "x_nuggets"), ("tag", "tag")) if data.get(field)}
        return urlencode(sides | named | same)

    @property
    def pairings(self) -> list[Pairing]:
        here = (self.form.data.get("x"), self.form.data.get("y"))
        return [Pairing(x, y, _first_score(x), (x, y) == here) for x, y in self.offer.pairings()]


def agreement_page(campaign: Campaign, query: QueryDict, *, whole: bool = False) -> AgreementPage:
    """Return the agreement of the two conditions that the query string names, or the first two that have labels.

    Of very many answers, the interval of the pooled tau takes longest: it is left pending unless the page is asked
    for as a `whole`, as files are.
    """
    offer = offer_of(campaign)
    form = AgreementForm(
        query,
        sets=[one.name for one in offer.sets],
        judges=offer.judges,
        published=offer.published,
        tags=tags_of(campaign),
        defaults=_first_two(offer),
    )
    if not form.is_valid():
        return AgreementPage(form, offer, "This is not a choice of this campaign. See the form.")
    try:
        x, y = (_side(campaign, form, side, offer.published) for side in "xy")
        _check_score(x, y, form.chosen["score"])
        requested = AgreementRequest(campaign, x, y, form.chosen["score"], form.policies, form.chosen["tag"])
        found = correlation_of(requested)
        confusion = confusion_of(requested)
    except Refused as refused:
        return AgreementPage(form, offer, refused.message)
    if whole or not is_binned(found.points):
        found = replace(found, intervals=found.intervals | {ALL_TOPIC_RUN: pooled_interval(requested)})
    return AgreementPage(form, offer, "", requested, found, confusion)


def _first_two(offer: Offer) -> dict[str, str]:
    x = offer.conditions[0] if offer.conditions else Condition.AA
    return {"x": x, "y": next((condition for condition in offer.conditions if condition is not x), Condition.EM)}


def _side(campaign: Campaign, form: AgreementForm, side: str, published: Iterable[str]) -> Side:
    name = form.chosen[side]
    if name in published:
        return str(name)
    judge, nuggets = form.chosen[f"{side}_judge"], form.chosen[f"{side}_nuggets"]
    if name in list(SupportCondition):
        return resolve_citations(campaign, SupportCondition(name), judge=judge)
    return resolve(campaign, Condition(name), judge=judge, nuggets=nuggets)


def _first_score(side: str) -> str:
    return SUPPORT_NAMES[0] if side in list(SupportCondition) else PRIMARY


def _check_score(x: Side, y: Side, score: str) -> None:
    """Raise `Refused` where the two sides are of two kinds, or have no such score."""
    kinds = {type(side) for side in (x, y) if isinstance(side, Choice)}
    if len(kinds) > 1:
        raise Refused("usage", "One side is of nuggets, the other of support: choose both from one group.")
    if CitationCondition in kinds and score not in SUPPORT_NAMES:
        raise Refused("usage", "Support has no nugget scores: choose weighted precision, recall or sentences.")
    if NuggetCondition in kinds and score in SUPPORT_NAMES:
        raise Refused("usage", f"{score.replace('_', ' ').capitalize()} is of support: choose a nugget score.")


def _tau(found: Correlation, level: str) -> Tau:
    agreed = found.agreement
    n = {
        "run_level": f"{agreed.runs:,} runs",
        "topic_average": f"{agreed.topics - agreed.undefined_topics:,} topics",
        "all_topic_run": f"{agreed.pairs:,} pairs",
    }
    topics = None if found.published else agreed.topics
    return Tau(
        topics=topics,
        hidden=why_no_tau(agreed.runs, topics) if level == "run_level" else None,
        name=LEVEL_NAMES[level],
        value=getattr(agreed, level),
        n=n[level],
        ties=agreed.ties[level],
        discordant=agreed.discordant[level],
        interval=found.intervals.get(level),
        is_pending=level not in found.intervals,
    )


def _side_text(side: Side) -> str:
    return f"the published table {side}" if isinstance(side, str) else side_label(side)


def correlation_table(found: Correlation) -> FileTable:
    headings = {
        "level": "Level",
        "tau_b": "Tau-b",
        "n": "n",
        "low": "Low",
        "high": "High",
        "discordant": "Discordant",
    }
    runs = [asdict(run) for run in found.runs]
    return FileTable(
        correlation_rows(found), headings, correlation_document(found) | {"by_run": runs}, comment=_compared(found)
    )


def answers_table(found: Correlation) -> FileTable:
    rows = [asdict(point) for point in found.points]
    headings = {"run_id": "Run", "topic_id": "Topic", "x": found.x, "y": found.y}
    document = {"x": found.x, "y": found.y, "score": found.score, "policies": policies_document(found.policies)}
    return FileTable(rows, headings, document | {"answers": rows}, comment=_compared(found))


def curve_table(found: Correlation, points: Sequence[CurvePoint]) -> FileTable:
    rows = [asdict(point) for point in points]
    headings = {"topics": "Topics", "mean": "Mean tau-b", "low": "Low", "high": "High", "samples": "Subsets"}
    document = {"x": found.x, "y": found.y, "score": found.score, "policies": policies_document(found.policies)}
    return FileTable(rows, headings, document | {"points": rows}, comment=_compared(found))


def _compared(found: Correlation) -> str:
    return f"{found.x} against {found.y}, {found.score}; policies {listed_policies(policies_document(found.policies))}"
