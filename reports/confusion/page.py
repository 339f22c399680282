"""Confusion of the labels of two sides, with verdicts on the pairs that differ."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.html import format_html

from evaluation.domain.stage_labels import StageCondition
from evaluation.errors import Refused, on_side
from evaluation.models import Campaign, QrelSource
from evaluation.terms import Condition, SupportCondition, SupportMeasure
from reports import needs
from reports.charts import heat_map
from reports.confusion.paired_labels import (
    FIGURE_NAMES,
    ConfusionReport,
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
from reports.confusion.verdicts import FIELDS, category_counts, verdicts_at
from reports.document import MEASURE, Document, chosen_labels, side_options
from reports.files import as_table
from reports.forms import ConfusionForm
from reports.frames import rows_of, topics_by_tag
from reports.models import Adjudication
from reports.registry import Choices, document, report_page
from reports.report import (
    CITATION_LABEL,
    NUGGET_LABEL,
    WRONG_CHOICE,
    Chart,
    ColumnKind,
    HeadMenu,
    Report,
    Section,
    columns,
    counted,
    isolated,
)
from reports.sides import OTHER_SIDES, LabelSide, side_named, side_text
from reports.terms import condition_words
from web.words import terms, word_of

LABEL_TERMS = {
    ItemKind.NUGGETS: NUGGET_LABEL,
    ItemKind.CITATIONS: CITATION_LABEL,
    ItemKind.GRADES: "grade-of-relevance",
}


TAG_COLUMNS = columns(
    ("tag", "Tag", ColumnKind.TAG),
    ("pairs", "Pairs", ColumnKind.COUNT),
    ("agreement", "Agreement", ColumnKind.FINE_PERCENT),
    ("kappa", "Kappa", ColumnKind.SCORE),
    ("kappa_linear", "Linear-weighted", ColumnKind.SCORE),
    ("ordinal_strictness", "Strictness", ColumnKind.FINE_SIGNED),
    ("harsh_conflicts", "Opposite labels", ColumnKind.COUNT),
)


@dataclass(frozen=True, kw_only=True)
class ConfusionPage(Report):
    """Confusion of the two sides of a form; without labels, `refused` says why."""

    form: ConfusionForm
    title: str = "Confusion"
    intro: str = "reports/sides.html"
    compared: LabelComparison | None = None
    labels: ConfusionReport | None = None
    verdicts: dict[int, Adjudication] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        if self.compared is None:
            return self.title
        sides = [_heading_of(side) for side in (self.compared.rows, self.compared.columns)]
        return format_html("{}: <bdi>{}</bdi> by <bdi>{}</bdi>", self.label_kind, *sides)

    @property
    def beside_heading(self) -> str:
        if self.labels is None:
            return ""
        codes = f"({self.labels.rows}, {self.labels.columns}) " if self.label_term == NUGGET_LABEL else ""
        return f"{codes}{counted(self.labels.confusion.pairs, 'pair')}"

    @property
    def menus(self) -> list[HeadMenu]:
        links = [
            (f"?{urlencode({'rows': x, 'columns': y})}", f"{_words(x)} by {_words(y)}", False)
            for x, y in self.form.offered.label_pairings()
        ]
        return [HeadMenu("Labelled twice", links)] if links else []

    @property
    def label_term(self) -> str:
        return LABEL_TERMS.get(self.compared.matched.kind, "") if self.compared else ""

    @property
    def label_kind(self) -> str:
        if self.compared and isinstance(self.compared.rows, StageCondition):
            return self.compared.rows.stage.unit.capitalize()
        return terms()[self.label_term].word.capitalize() if self.label_term else ""

    @property
    def term(self) -> tuple[str, str]:
        return self.label_term, self.label_kind

    @property
    def pair_address(self) -> str:
        return f"reports:{self.compared.matched.kind}_pair" if self.compared else ""

    @property
    def is_of_citations(self) -> bool:
        return self.label_term == CITATION_LABEL

    @property
    def has_verdicts(self) -> bool:
        return self.compared is not None and self.compared.matched.kind in FIELDS

    @property
    def heat(self) -> list[dict[str, Any]]:
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
        return [("Rows are", side_label(self.compared.rows)), ("Columns are", side_label(self.compared.columns))]

    @property
    def restrictions(self) -> str:
        filters = ", ".join(f"{name} {isolated(value)}" for name, value in self.filters.items())
        return f"Only {filters}." if filters else ""

    @property
    def bare(self) -> list[str]:
        return without_nuggets(self.compared.rows, self.compared.columns) if self.compared else []

    @property
    def differing(self) -> int:
        if self.labels is None:
            return 0
        counts = self.labels.confusion.counts
        return int(counts.sum() - counts.trace())

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
            note=self._figures(labels),
            columns=columns(
                ("rows", f"{labels.rows} / {labels.columns}"),
                *((label, word_of(label).capitalize()) for label in labels.labels),
                ("total", "Total"),
                ("rate", "Rate"),
            ),
            rows=[
                row | {"total": total, "rate": rate}
                for row, (total, rate) in zip(confusion_rows(labels), sums, strict=True)
            ],
            closing=[{"rows": "total", "total": matrix.pairs} | totals],
            template="reports/matrix.html",
            document=lambda: self._document(labels),
        )
        chart = Chart(
            alt=f"Heat map of {self.label_kind.lower()}s, {labels.rows} by {labels.columns}: {matrix.pairs:,} pairs.",
            draw=lambda palette: heat_map(palette, labels),
            note="The stronger the colour, the larger the share of all pairs.",
        )
        sections = [counts, Section("matrix", "Picture", (), (), chart=chart, shown=False)]
        return [*sections, *self._tags(labels)] if matrix.pairs else sections

    def _tags(self, whole: ConfusionReport) -> list[Section]:
        """The same comparison over the topics of each tag; nothing where only one tag's topics are looked at."""
        tags = topics_by_tag(self.form.offered.campaign)
        if self.compared is None or self.form.chosen["tag"] or not tags:
            return []
        matched, mask = self.compared.matched, self.compared.mask
        rows = []
        for tag, topics in tags.items():
            # Of the matched items, not matched again: reading the labels takes longer than counting them.
            inside = mask & rows_of(matched.topic_ids, topics)[matched.topic]
            of_tag = confuse(matched, whole.rows, whole.columns, inside)
            figures = confusion_document(of_tag)
            row = {column.key: figures[column.key] for column in TAG_COLUMNS[1:]}
            rows.append({"tag": tag, "topics": of_tag.topics, **row, "intervals": figures["intervals"]})
        title = f"{self.label_kind} by topic tag"
        return [Section("tags", title, TAG_COLUMNS, rows, topics="topics", pairs="pairs")]

    def _document(self, labels: ConfusionReport) -> dict[str, Any]:
        names = ("rows", "columns")
        return confusion_document(labels) | {
            "sides": {name: side for name, (_, side) in zip(names, self.sides, strict=True)},
            "filters": self.filters,
            "left_out": labels.confusion.left_out,
            "verdicts": self.categories,
        }

    def _figures(self, labels: ConfusionReport) -> str:
        matrix = labels.confusion
        kappas = f"kappa {_figure(matrix.kappa)}, linear-weighted {_figure(matrix.kappa_linear)}"
        if labels.shows_quadratic:
            kappas += f", quadratic-weighted {_figure(matrix.kappa_quadratic)}"
        return f"{matrix.pairs} pairs, agreement {_figure(matrix.agreement)}, {kappas}"

    @property
    def facts(self) -> tuple[str, ...]:
        return (*(f"{name} {side}." for name, side in self.sides), self.restrictions)


def _heading_of(side: LabelSide) -> str:
    # Both sides are of one stage: only their judges tell them apart.
    if isinstance(side, StageCondition):
        return side.names
    return side.name if isinstance(side, QrelSource) else condition_words(str(side))


def _words(side: str) -> str:
    return condition_words(side_text(side))


@report_page(
    "confusion",
    title="Confusion",
    form=ConfusionForm,
    address="confusion/",
    menu="Results",
    order=30,
    needs=(needs.LABELS_OR_GRADES,),
    below=("pairs", "nuggets_pair", "citations_pair"),
    example="rows=E/A&columns=E/M",
)
def confusion_page(campaign: Campaign, query: QueryDict) -> ConfusionPage:
    form = ConfusionForm(query, campaign)
    if not form.is_valid():
        return ConfusionPage(form=form, refused=WRONG_CHOICE, query=query)
    try:
        compared = compare(form)
    except Refused as refused:
        return ConfusionPage(form=form, refused=refused, query=query)
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
    "Labels of the same items by two sides.",
    side_options(Condition, ("rows", "columns"), others=OTHER_SIDES),
)
def confusion_report(campaign: Campaign, choices: Choices) -> Document:
    rows, columns = (_side_of(campaign, choices, side) for side in ("rows", "columns"))
    return _confusion(rows, columns)


def _side_of(campaign: Campaign, choices: Choices, side: str) -> LabelSide:
    with on_side(side):
        return side_named(
            campaign, choices[side], judge=choices[f"{side}_judge"], nuggets=choices[f"{side}_nuggets"]
        )


@document(
    "support-confusion",
    "Support labels of the same pairs under two conditions.",
    (
        *side_options(SupportCondition, ("rows", "columns")),
        replace(MEASURE, text="only citations that count in this measure; all judged ones where none is named"),
    ),
)
def support_confusion_report(campaign: Campaign, choices: Choices) -> Document:
    rows, columns = (chosen_labels(campaign, choices, side) for side in ("rows", "columns"))
    return _confusion(rows, columns, choices["measure"])


def _confusion(rows: LabelSide, columns: LabelSide, measure: SupportMeasure | None = None) -> Document:
    labels = confuse_conditions(rows, columns, measure=measure)
    content = confusion_document(labels)
    names = (*FIGURE_NAMES, "ordinal_strictness", "harsh_conflicts")
    left_out = () if labels.shows_quadratic else ("kappa_quadratic",)
    figures = as_table([{name: content[name] for name in names if name not in left_out}])
    ends = as_table(
        [{"figure": name, "low": None, "high": None} | end for name, end in content["intervals"].items()]
    )
    note = "" if labels.comparable else "\nThe two conditions use different nuggets: no pair is in both."
    text = f"{figures}\n\n95 % intervals over topics\n{ends}{note}"
    return Document(content, confusion_rows(labels), text)


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
