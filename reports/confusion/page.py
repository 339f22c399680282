"""Confusion of the labels of two sides, with verdicts on the pairs that differ."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.http import QueryDict

from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.terms import Condition, SupportCondition
from reports.charts import heat_map
from reports.confusion.paired_labels import (
    ConfusionReport,
    HeatRow,
    ItemKind,
    LabelComparison,
    compare,
    confuse,
    confuse_conditions,
    confusion_document,
    confusion_rows,
    heat_rows,
    side_label,
    without_nuggets,
)
from reports.confusion.verdicts import category_counts, verdicts_at
from reports.document import Conditions, Document, chosen_labels, side_options
from reports.files import as_table
from reports.forms import ConfusionForm, side_text
from reports.frames import rows_of, topics_by_tag
from reports.models import Adjudication
from reports.registry import Choices, document, report
from reports.report import CITATION_LABEL, NUGGET_LABEL, WRONG_CHOICE, Chart, Report, Section, columns

LABEL_TERMS = {
    ItemKind.NUGGETS: NUGGET_LABEL,
    ItemKind.CITATIONS: CITATION_LABEL,
    ItemKind.GRADES: "grade-of-relevance",
}


@dataclass(frozen=True, kw_only=True)
class ConfusionPage(Report):
    """Confusion of the two sides of a form; without labels, `refused` says why."""

    form: ConfusionForm
    title: str = "Confusion"
    compared: LabelComparison | None = None
    labels: ConfusionReport | None = None
    verdicts: dict[int, Adjudication] = field(default_factory=dict)

    @property
    def label_term(self) -> str:
        return LABEL_TERMS[self.compared.matched.kind] if self.compared else ""

    @property
    def label_kind(self) -> str:
        return self.label_term.replace("-", " ").capitalize()

    @property
    def is_of_citations(self) -> bool:
        return self.label_term == CITATION_LABEL

    @property
    def pair_address(self) -> str:
        return f"reports:{self.compared.matched.kind}_pair" if self.compared else ""

    @property
    def heat(self) -> list[HeatRow]:
        return heat_rows(self.labels) if self.labels else []

    @property
    def column_totals(self) -> list[tuple[int, float | None]]:
        if self.labels is None:
            return []
        matrix = self.labels.confusion
        return list(zip(matrix.counts.sum(axis=0).tolist(), matrix.column_rates, strict=True))

    @property
    def categories(self) -> list[dict[str, Any]]:
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
        if self.compared is None or self.labels is None or self.form.chosen["tag"]:
            return []
        matched, whole = self.compared.matched, self.labels
        # Of the matched items, not matched again: reading the labels takes longer than counting them.
        inside = {
            tag: self.compared.mask & rows_of(matched.topic_ids, topics)[matched.topic]
            for tag, topics in topics_by_tag(self.form.offered.campaign).items()
        }
        return [(tag, confuse(matched, whole.rows, whole.columns, mask)) for tag, mask in inside.items()]

    @property
    def differing(self) -> int:
        if self.labels is None:
            return 0
        counts = self.labels.confusion.counts
        return int(counts.sum() - counts.trace())

    @property
    def pairings(self) -> list[tuple[str, str, str, str]]:
        return [(x, y, side_text(x), side_text(y)) for x, y in self.form.offered.label_pairings()]

    @property
    def filters(self) -> dict[str, str]:
        return self.form.filters if self.labels else {}

    @cached_property
    def _sections(self) -> list[Section]:
        if self.labels is None:
            return []
        labels, matrix = self.labels, self.labels.confusion
        # Counts in the file and shares on the page are of pairs with a label on both sides; what is left out is counted
        # in the JSON, because agreement on a part of the items is not agreement on all.
        totals = dict(zip(labels.labels, matrix.counts.sum(axis=0).tolist(), strict=True))
        sums = zip(matrix.counts.sum(axis=1).tolist(), matrix.row_rates, strict=True)
        counts = Section(
            name="counts",
            title="Labels",
            columns=columns(
                ("rows", f"{labels.rows} / {labels.columns}"),
                *((label, label.replace("_", " ").capitalize()) for label in labels.labels),
                ("total", "Total"),
                ("rate", "Rate"),
            ),
            rows=[
                row | {"total": total, "rate": rate}
                for row, (total, rate) in zip(confusion_rows(labels), sums, strict=True)
            ],
            closing=[{"rows": "total", "total": matrix.pairs} | totals],
            document=self._document(labels),
            comment=self._comment(labels),
            file_name="confusion",
        )
        chart = Chart(
            alt=f"Heat map of {self.label_kind.lower()}s, {labels.rows} by {labels.columns}: {matrix.pairs:,} pairs.",
            draw=lambda dark: heat_map(labels, dark=dark),
            note="The stronger the colour, the larger the share of all pairs.",
        )
        return [counts, Section("matrix", "", (), (), chart=chart)]

    def _document(self, labels: ConfusionReport) -> dict[str, Any]:
        return confusion_document(labels) | {
            "sides": {name.lower(): side for name, side in self.sides},
            "filters": self.filters,
            "left_out": labels.confusion.left_out,
            "verdicts": self.categories,
        }

    def _comment(self, labels: ConfusionReport) -> str:
        matrix = labels.confusion
        kappas = f"kappa {_figure(matrix.kappa)}, linear-weighted {_figure(matrix.kappa_linear)}"
        sides = "; ".join(f"{name.lower()}: {side}" for name, side in self.sides)
        figures = f"{matrix.pairs} pairs, agreement {_figure(matrix.agreement)}, {kappas}"
        return f"{sides}; {figures}; filters {self.filters}"


@report(
    "confusion",
    title="Confusion",
    form=ConfusionForm,
    address="confusion/",
    template="reports/confusion.html",
    menu="Results",
    order=30,
    below=("pairs", "nuggets_pair", "citations_pair"),
    example="rows=E/A&columns=E/M",
)
def confusion_page(campaign: Campaign, query: QueryDict) -> ConfusionPage:
    form = ConfusionForm(query, campaign)
    if not form.is_valid():
        return ConfusionPage(form=form, refused=WRONG_CHOICE)
    try:
        compared = compare(form)
    except Refused as refused:
        return ConfusionPage(form=form, refused=refused)
    # A source of qrels stands on the page under its own name, without the mark that its address needs.
    rows, columns_text = (side_text(form.chosen[name]) for name in ("rows", "columns"))
    return ConfusionPage(
        form=form,
        query=query,
        compared=compared,
        labels=confuse(compared.matched, rows, columns_text, compared.mask),
        verdicts=verdicts_at(campaign, compared),
    )


@document(
    "confusion",
    "Labels of the same pairs under two conditions.",
    side_options(Condition, ("rows", "columns")),
)
def confusion_report(campaign: Campaign, choices: Choices) -> Document:
    return _confusion(campaign, choices, Condition)


@document(
    "support-confusion",
    "Support labels of the same pairs under two conditions.",
    side_options(SupportCondition, ("rows", "columns")),
)
def support_confusion_report(campaign: Campaign, choices: Choices) -> Document:
    return _confusion(campaign, choices, SupportCondition)


def _confusion(campaign: Campaign, choices: Choices, conditions: Conditions) -> Document:
    rows, columns = (chosen_labels(campaign, choices, conditions, side) for side in ("rows", "columns"))
    labels = confuse_conditions(rows, columns)
    content = confusion_document(labels)
    names = ("pairs", "agreement", "kappa", "kappa_linear", "alpha", "ordinal_strictness", "harsh_conflicts")
    figures = as_table([{name: content[name] for name in names}])
    ends = as_table(
        [{"figure": name, "low": None, "high": None} | end for name, end in content["intervals"].items()]
    )
    note = "" if labels.comparable else "\nThe two conditions use different nuggets: no pair is in both."
    text = f"{figures}\n\n95 % intervals over topics\n{ends}{note}"
    return Document(content, confusion_rows(labels), text)


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
