"""What the agreement page shows for a query string, and why where it shows nothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from django.http import QueryDict

from evaluation.errors import Refused
from evaluation.models import Campaign, Judge, NuggetSet
from evaluation.terms import Condition, Origin
from reports.choices import ConditionChoice, judges_of, resolve_condition
from reports.confusions import ConfusionReport, confuse_assignments
from reports.correlation import Correlation, Side, correlate
from reports.external import external_names
from reports.forms import AgreementForm
from reports.metrics.agreement import LEVELS
from reports.metrics.bootstrap import Interval
from reports.metrics.kendall import Ties
from reports.metrics.policies import Policies

LEVEL_NAMES = {"run_level": "Run level", "topic_average": "Topic average", "all_topic_run": "All topic/run pairs"}
HEAT_STEPS = 10


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
class HeatCell:
    """A cell of the confusion matrix; `heat` is its share of all pairs in tenths."""

    count: int
    share: float
    heat: int


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A row of the confusion matrix."""

    label: str
    cells: tuple[HeatCell, ...]
    total: int


@dataclass(frozen=True, slots=True)
class AgreementPage:
    """The form, and what came of it; without a correlation, `message` says why."""

    form: AgreementForm
    message: str = ""
    x: Side = ""
    y: Side = ""
    correlation: Correlation | None = None
    confusion: ConfusionReport | None = None

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
        return heat_of(self.confusion) if self.confusion else []


def agreement_page(campaign: Campaign, query: QueryDict) -> AgreementPage:
    """Return the agreement of the two conditions that the query string names, or the first two that have labels."""
    sets = list(campaign.nugget_sets.exclude(origin=Origin.DRAFT))
    published = external_names(campaign)
    judges = Judge.objects.filter(
        pk__in=[pk for one in sets for pk in judges_of(one).values_list("pk", flat=True)]
    )
    form = AgreementForm(
        query,
        sets=[one.name for one in sets],
        judges=list(judges.values_list("name", flat=True)),
        published=published,
        defaults=first_conditions(sets),
    )
    if not form.is_valid():
        return AgreementPage(form, "This is not a choice of this campaign. See the form.")
    try:
        x, y = (_side(campaign, form, side, published) for side in "xy")
    except Refused as refused:
        return AgreementPage(form, refused.message)
    return AgreementPage(form, "", x, y, _correlation(campaign, x, y, form), _confusion(x, y))


def first_conditions(sets: Iterable[NuggetSet]) -> dict[str, str]:
    """Return the first two conditions with labels, in the order of the studies."""
    kinds = {(Origin(one.origin), judge.kind) for one in sets for judge in judges_of(one)}
    there = [condition for condition in Condition if (condition.origin, condition.judge_kind) in kinds]
    x = there[0] if there else Condition.AA
    return {"x": x, "y": next((one for one in there if one is not x), Condition.EM)}


def _side(campaign: Campaign, form: AgreementForm, side: str, published: list[str]) -> Side:
    name = form.said[side]
    if name in published:
        return str(name)
    judge, nuggets = form.said[f"{side}_judge"], form.said[f"{side}_nuggets"]
    return resolve_condition(campaign, Condition(name), judge=judge, nuggets=nuggets)


def _correlation(campaign: Campaign, x: Side, y: Side, form: AgreementForm) -> Correlation:
    state = (campaign.created_at, campaign.revision)
    return _correlated(campaign, x, y, form.said["score"], form.policies, state)


@lru_cache(maxsize=64)
def _correlated(
    campaign: Campaign, x: Side, y: Side, score: str, policies: Policies, _state: tuple[datetime, int]
) -> Correlation:
    """Correlate once per state of the campaign: the page and its picture in both themes ask for the same."""
    return correlate(campaign, x, y, score, policies)


def _confusion(x: Side, y: Side) -> ConfusionReport | None:
    if isinstance(x, ConditionChoice) and isinstance(y, ConditionChoice) and y.judges:
        found = confuse_assignments(x, y)
        return found if found.comparable else None
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


def heat_of(found: ConfusionReport) -> list[HeatRow]:
    """Return a confusion matrix ready to draw; nothing where there is no pair."""
    pairs, counts = found.confusion.pairs, found.confusion.counts.tolist()
    if not pairs:
        return []
    return [_heat_row(label, row, pairs) for label, row in zip(found.labels, counts, strict=True)]


def _heat_row(label: str, counts: list[int], pairs: int) -> HeatRow:
    cells = tuple(HeatCell(count, count / pairs, round(HEAT_STEPS * count / pairs)) for count in counts)
    return HeatRow(label, cells, sum(counts))


def _said(side: Side) -> str:
    if isinstance(side, ConditionChoice):
        nuggets = side.sets_said or "no nugget set yet"
        return (
            f"{side.condition}, {nuggets}, {f'labels by {side.judges_said}' if side.judges else 'no labels yet'}"
        )
    return f"the published table {side}"
