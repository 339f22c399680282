"""What the agreement page shows for a query string, and why where it shows nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from urllib.parse import urlencode

from django.http import QueryDict

from evaluation.errors import Refused
from evaluation.models import Campaign, NuggetSet
from evaluation.terms import Condition, Origin, SupportCondition
from reports.choices import Choice, ConditionChoice, SupportChoice, judges_of, resolve_condition, resolve_support
from reports.confusion_page import HeatRow, heat_rows, said_of
from reports.confusions import ConfusionReport, confuse_assignments, confuse_support
from reports.correlation import Correlation, Side, correlate, topic_curve
from reports.forms import AgreementForm
from reports.leaderboard import PRIMARY
from reports.metrics.agreement import LEVELS
from reports.metrics.bootstrap import Interval
from reports.metrics.kendall import Ties
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.subsampling import CurvePoint
from reports.metrics.support import SUPPORT_NAMES
from reports.sides import Offer, offer_of

LEVEL_NAMES = {"run_level": "Run level", "topic_average": "Topic average", "all_topic_run": "All topic/run pairs"}


@dataclass(frozen=True, slots=True)
class Tau:
    """One of the three taus with what it rests on."""

    name: str
    value: float | None
    n: str
    ties: Ties
    discordant: int
    interval: Interval | None


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
    x: Side = ""
    y: Side = ""
    correlation: Correlation | None = None
    confusion: ConfusionReport | None = None
    curve: tuple[CurvePoint, ...] = field(default=())

    @property
    def taus(self) -> list[Tau]:
        """The three levels in the order of the studies."""
        found = self.correlation
        return [_tau(found, level) for level in LEVELS] if found else []

    @property
    def sides(self) -> list[dict[str, str]]:
        """What x and y mean here, in words."""
        return [{"name": name, "said": _said(side)} for name, side in (("x", self.x), ("y", self.y))]

    @property
    def heat(self) -> list[HeatRow]:
        """The confusion matrix, ready to draw."""
        return heat_rows(self.confusion) if self.confusion else []

    @property
    def judged_by(self) -> tuple[str, str]:
        """Whose labels x and y are, by name."""
        x, y = ((side.judges_said or "") if isinstance(side, Choice) else "" for side in (self.x, self.y))
        return x, y

    @property
    def labels_link(self) -> str:
        """The query string of the confusion page for the same two sides and judges."""
        data = self.form.data
        sides = {"rows": str(self.x), "columns": str(self.y)}
        judges = {"rows_judge": data.get("x_judge"), "columns_judge": data.get("y_judge")}
        named = {name: value for name, value in judges.items() if value}
        return urlencode(sides | named | ({"nuggets": data["x_nuggets"]} if data.get("x_nuggets") else {}))

    @property
    def pairings(self) -> list[Pairing]:
        """The published pairings that have labels here."""
        here = (self.form.data.get("x"), self.form.data.get("y"))
        return [Pairing(x, y, _first_score(x), (x, y) == here) for x, y in self.offer.pairings()]


def agreement_page(campaign: Campaign, query: QueryDict) -> AgreementPage:
    """Return the agreement of the two conditions that the query string names, or the first two that have labels."""
    offer = offer_of(campaign)
    form = AgreementForm(
        query,
        sets=[one.name for one in offer.sets],
        judges=offer.judges,
        published=offer.published,
        defaults=_first_two(offer),
    )
    if not form.is_valid():
        return AgreementPage(form, offer, "This is not a choice of this campaign. See the form.")
    try:
        x, y = (_side(campaign, form, side, offer.published) for side in "xy")
        _check_score(x, y, form.said["score"])
        found = _correlation(campaign, x, y, form)
        curve = _curve(campaign, x, y, form) if form.said["curve"] else ()
    except Refused as refused:
        return AgreementPage(form, offer, refused.message)
    return AgreementPage(form, offer, "", x, y, found, _confusion(x, y), curve)


def curve_of(campaign: Campaign, page: AgreementPage) -> tuple[CurvePoint, ...]:
    """Return tau by the number of topics of a page's two sides, asked for there or not."""
    return page.curve or (_curve(campaign, page.x, page.y, page.form) if page.correlation else ())


def _first_two(offer: Offer) -> dict[str, str]:
    x = offer.conditions[0] if offer.conditions else Condition.AA
    return {"x": x, "y": next((one for one in offer.conditions if one is not x), Condition.EM)}


def first_conditions(sets: Iterable[NuggetSet]) -> dict[str, str]:
    """Return the first two conditions with labels, in the order of the studies."""
    kinds = {(Origin(one.origin), judge.kind) for one in sets for judge in judges_of(one)}
    there = [condition for condition in Condition if (condition.origin, condition.judge_kind) in kinds]
    x = there[0] if there else Condition.AA
    return {"x": x, "y": next((one for one in there if one is not x), Condition.EM)}


def _side(campaign: Campaign, form: AgreementForm, side: str, published: Iterable[str]) -> Side:
    name = form.said[side]
    if name in published:
        return str(name)
    judge, nuggets = form.said[f"{side}_judge"], form.said[f"{side}_nuggets"]
    if name in list(SupportCondition):
        return resolve_support(campaign, SupportCondition(name), judge=judge)
    return resolve_condition(campaign, Condition(name), judge=judge, nuggets=nuggets)


def _first_score(side: str) -> str:
    return SUPPORT_NAMES[0] if side in list(SupportCondition) else PRIMARY


def _check_score(x: Side, y: Side, score: str) -> None:
    """Raise `Refused` where the two sides are of two kinds, or have no such score."""
    kinds = {type(side) for side in (x, y) if isinstance(side, Choice)}
    if len(kinds) > 1:
        raise Refused("usage", "One side is of nuggets, the other of support: choose both from one group.")
    if SupportChoice in kinds and score not in SUPPORT_NAMES:
        raise Refused("usage", "Support has no nugget scores: choose weighted precision, recall or sentences.")
    if ConditionChoice in kinds and score in SUPPORT_NAMES:
        raise Refused("usage", f"{score.replace('_', ' ').capitalize()} is of support: choose a nugget score.")


def _curve(campaign: Campaign, x: Side, y: Side, form: AgreementForm) -> tuple[CurvePoint, ...]:
    if isinstance(x, str) or isinstance(y, str):
        return ()
    state = (campaign.created_at, campaign.revision)
    return _curved(campaign, x, y, form.said["score"], form.policies, state)


@lru_cache(maxsize=64)
def _curved(
    _campaign: Campaign,
    x: ConditionChoice | SupportChoice,
    y: ConditionChoice | SupportChoice,
    score: str,
    policies: Policies | SupportPolicies,
    _state: tuple[datetime, int],
) -> tuple[CurvePoint, ...]:
    """Draw once per state of the campaign, for the page, its picture and its files."""
    return topic_curve(x, y, score, policies)


def _correlation(campaign: Campaign, x: Side, y: Side, form: AgreementForm) -> Correlation:
    state = (campaign.created_at, campaign.revision)
    return _correlated(campaign, x, y, form.said["score"], form.policies, state)


@lru_cache(maxsize=64)
def _correlated(
    campaign: Campaign,
    x: Side,
    y: Side,
    score: str,
    policies: Policies | SupportPolicies,
    _state: tuple[datetime, int],
) -> Correlation:
    """Correlate once per state of the campaign: the page and its picture in both themes ask for the same."""
    return correlate(campaign, x, y, score, policies)


def _confusion(x: Side, y: Side) -> ConfusionReport | None:
    if isinstance(x, ConditionChoice) and isinstance(y, ConditionChoice) and y.judges:
        found = confuse_assignments(x, y)
        return found if found.comparable else None
    if isinstance(x, SupportChoice) and isinstance(y, SupportChoice):
        return confuse_support(x, y)
    return None


def _tau(found: Correlation, level: str) -> Tau:
    agreed = found.agreement
    n = {
        "run_level": f"{agreed.runs:,} runs",
        "topic_average": f"{agreed.topics - agreed.undefined_topics:,} topics",
        "all_topic_run": f"{agreed.pairs:,} pairs",
    }
    return Tau(
        name=LEVEL_NAMES[level],
        value=getattr(agreed, level),
        n=n[level],
        ties=agreed.ties[level],
        discordant=agreed.discordant[level],
        interval=found.intervals[level],
    )


def _said(side: Side) -> str:
    return f"the published table {side}" if isinstance(side, str) else said_of(side)
