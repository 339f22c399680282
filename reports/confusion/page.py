"""Confusion page of a query string, or the reason why it is empty."""

from dataclasses import dataclass, field

from django.http import QueryDict

from evaluation.domain.conditions import NuggetCondition
from evaluation.errors import Refused
from evaluation.models import Campaign, QrelSource
from reports.confusion.paired_labels import ConfusionReport, LabelComparison, LabelSide, compare, confuse
from reports.confusion.verdicts import CategoryCount, category_counts, verdicts_at
from reports.forms import ConfusionForm, Offer, offer_of, side_text
from reports.frames import rows_of, tags_of, topics_by_tag
from reports.models import Adjudication

HEAT_STEPS = 10


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A cell of the confusion matrix; `heat` is its share of all pairs in tenths, `code` its address."""

    count: int
    share: float
    heat: int
    column: str
    code: str


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A row of the confusion matrix; `rate` is its share of all pairs."""

    label: str
    cells: tuple[HeatCell, ...]
    total: int
    rate: float | None


@dataclass(frozen=True, slots=True)
class ConfusionPage:
    """The form, and what came of it; without a report, `message` says why."""

    form: ConfusionForm
    offer: Offer
    message: str = ""
    compared: LabelComparison | None = None
    report: ConfusionReport | None = None
    verdicts: dict[int, Adjudication] = field(default_factory=dict)

    @property
    def heat(self) -> list[HeatRow]:
        return heat_rows(self.report) if self.report else []

    @property
    def column_totals(self) -> list[tuple[int, float | None]]:
        if self.report is None:
            return []
        found = self.report.confusion
        return list(zip(found.counts.sum(axis=0).tolist(), found.column_rates, strict=True))

    @property
    def categories(self) -> list[CategoryCount]:
        """Reasons by adjudicators why the two sides differ."""
        return category_counts(self.compared, self.verdicts) if self.compared else []

    @property
    def sides(self) -> list[tuple[str, str]]:
        if self.compared is None:
            return []
        return [("Rows", side_label(self.compared.rows)), ("Columns", side_label(self.compared.columns))]

    @property
    def bare(self) -> list[str]:
        return without_nuggets(self.compared.rows, self.compared.columns) if self.compared else []

    @property
    def by_tag(self) -> list[tuple[str, ConfusionReport]]:
        """The same comparison over the topics of each tag; nothing where only one tag's topics are looked at."""
        if self.compared is None or self.report is None or self.form.chosen["tag"]:
            return []
        matched, chosen, whole = self.compared.matched, self.compared.chosen, self.report
        return [
            (
                tag,
                confuse(
                    matched, whole.rows, whole.columns, chosen & rows_of(matched.topic_ids, topics)[matched.topic]
                ),
            )
            for tag, topics in topics_by_tag(self.offer.campaign).items()
        ]

    @property
    def differing(self) -> int:
        if self.report is None:
            return 0
        counts = self.report.confusion.counts
        return int(counts.sum() - counts.trace())

    @property
    def pairings(self) -> list[tuple[str, str, str, str]]:
        return [(x, y, side_text(x), side_text(y)) for x, y in self.offer.label_pairings()]


def confusion_page(campaign: Campaign, query: QueryDict) -> ConfusionPage:
    offer = offer_of(campaign)
    form = ConfusionForm(
        query,
        offer,
        topics=campaign.topics.values_list("topic_id", flat=True),
        runs=campaign.runs.values_list("run_id", flat=True),
        tags=tags_of(campaign),
    )
    if not form.is_valid():
        return ConfusionPage(form, offer, "This is not a choice of this campaign. See the form.")
    try:
        compared = compare(campaign, form)
    except Refused as refused:
        return ConfusionPage(form, offer, refused.message)
    rows, columns = (side_text(form.chosen[name]) for name in ("rows", "columns"))
    report = confuse(compared.matched, rows, columns, compared.chosen)
    return ConfusionPage(form, offer, "", compared, report, verdicts_at(campaign, compared))


def heat_rows(report: ConfusionReport) -> list[HeatRow]:
    found = report.confusion
    if not found.pairs:
        return []
    rows: list[list[int]] = found.counts.tolist()
    return [
        HeatRow(label, _cells(place, counts, report), sum(counts), found.row_rates[place])
        for place, (label, counts) in enumerate(zip(report.labels, rows, strict=True))
    ]


def without_nuggets(*sides: object) -> list[str]:
    return [str(side) for side in sides if isinstance(side, NuggetCondition) and not side.nugget_sets]


def side_label(side: LabelSide) -> str:
    if isinstance(side, QrelSource):
        return f"{side.name}, grades of relevance"
    labels = f"labels by {side.judges_text}" if side.judges else "no labels yet"
    if isinstance(side, NuggetCondition):
        sets = side.sets_text or "no nugget set yet"
        return f"{side!s}, {sets}, {labels}"
    return f"{side!s}, {labels}"


def _cells(place: int, counts: list[int], report: ConfusionReport) -> tuple[HeatCell, ...]:
    pairs = report.confusion.pairs
    return tuple(
        HeatCell(count, count / pairs, round(HEAT_STEPS * count / pairs), label, f"{place}-{column}")
        for column, (count, label) in enumerate(zip(counts, report.labels, strict=True))
    )
