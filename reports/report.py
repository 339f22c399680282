"""Common parts of the report pages: sections of figures, each with its picture and its files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, TypeVar, overload

from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.paginator import Page, Paginator
from django.http import Http404, QueryDict
from django.utils import timezone

from accounts.models import User
from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.errors import Refused
from evaluation.models import Campaign
from reports.charts import Palette
from reports.files import FileTable
from reports.forms import ChoicesForm, Option, PolicyForm, SupportForm, choices_of, track_of, usual_rule, ways_out
from reports.metrics.intervals import Interval
from reports.metrics.registry import BY_NAME, measure_words
from reports.metrics.sample_size import SampleSize, why_no_tau
from web.templatetags import assay
from web.text import p_value, plural
from web.words import terms

SHORT: Final[Mapping[str, Callable[[Any], str]]] = (
    dict.fromkeys(("score", "fine_score", "tau"), assay.number_filter(".2f", minus=assay.MINUS))
    | dict.fromkeys(("signed", "fine_signed"), assay.number_filter("+.2f", minus=assay.MINUS))
    | dict.fromkeys(
        ("percent", "fine_percent", "share"), assay.number_filter(".0f", times=100, unit=assay.PERCENT)
    )
    | {"p": lambda value: p_value(value, 2)}
)
"""Formats with more than two decimals, and how they look on a small basis."""

Form = TypeVar("Form", bound=ChoicesForm)
Row = Mapping[str, Any]
ROWS_SHOWN = 100
NAMES_SHOWN = 8
NUGGET_LABEL, CITATION_LABEL = "nugget-label", "citation-label"
OVERVIEW = "overview"
"""The name of every page's first section."""
FIRST_STRONG, POP = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
NOTHING = "-"
"""A choice of nothing, where an empty one means what the person chose before."""
WRONG_CHOICE = Refused("wrong_choice", "This is not a choice of this campaign. See the form.")


class ColumnKind(StrEnum):
    TEXT = "text"
    RUN = "run"
    TOPIC = "topic"
    TAG = "tag"
    STAGE = "stage"
    CONDITION = "condition"
    MEASURE = "measure"
    COUNT = "count"
    SCORE = "score"
    P = "p"
    SIGNED = "signed"
    FINE_SIGNED = "fine_signed"
    FINE_PERCENT = "fine_percent"
    TAU = "tau"
    DECIMAL = "decimal"
    MEAN = "mean"
    SHARE = "share"
    CLOCK = "clock"
    MONEY = "money"
    NAMES = "names"
    BATTLE = "battle"
    BARS = "bars"

    @property
    def is_text(self) -> bool:
        return self in TEXTS

    @property
    def is_measured(self) -> bool:
        """True for figures that rest on topics or pairs, which counts of them and prices do not."""
        return not self.is_text and self not in (ColumnKind.COUNT, ColumnKind.MONEY)


TEXTS: Final = frozenset(
    map(ColumnKind, ("text", "run", "topic", "tag", "stage", "condition", "measure", "names", "battle", "bars"))
)


def column_kind(score: str) -> ColumnKind:
    return ColumnKind.SCORE if BY_NAME[score].is_fraction else ColumnKind.MEAN


def clock(seconds: float | None) -> str:
    return assay.DASH if seconds is None else str(timedelta(seconds=round(seconds)))


def listed_names(names: str | None) -> str:
    listed = (names or "").split()
    first, left_out = ", ".join(listed[:NAMES_SHOWN]), len(listed) - NAMES_SHOWN
    return f"{first} and {left_out:,} more" if left_out > 0 else first or assay.DASH


# Only pages round. A CSV or JSON keeps every digit, so that a figure of a paper can be computed again from it.
FORMATS: dict[ColumnKind, Callable[[Any], str]] = {
    ColumnKind.COUNT: lambda value: assay.DASH if value is None else intcomma(value),
    ColumnKind.SCORE: assay.score,
    ColumnKind.P: lambda value: assay.DASH if value is None else p_value(value),
    ColumnKind.SIGNED: assay.signed,
    ColumnKind.FINE_SIGNED: assay.fine_signed,
    ColumnKind.FINE_PERCENT: assay.fine_percent,
    ColumnKind.TAU: assay.score,
    ColumnKind.DECIMAL: assay.decimal,
    ColumnKind.MEAN: assay.mean,
    ColumnKind.SHARE: assay.percent,
    ColumnKind.CLOCK: clock,
    ColumnKind.MONEY: assay.money,
    ColumnKind.NAMES: listed_names,
    ColumnKind.STAGE: lambda stage: stage.words,
    ColumnKind.MEASURE: measure_words,
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of figures. `paper`: it is in the LaTeX table too; `primary`: it is what the page is about.

    `topics`: the key of the number of topics behind it, where this is not the section's.
    """

    key: str
    caption: str
    kind: ColumnKind = ColumnKind.TEXT
    paper: bool = True
    primary: bool = False
    topics: str = ""

    def text(self, row: Row) -> str:
        value = row.get(self.key)
        if self.kind in FORMATS:
            return FORMATS[self.kind](value)
        return assay.DASH if value in (None, "") else str(value)


@dataclass(frozen=True, slots=True)
class ReportCell:
    """A cell as it is drawn; `value` is the figure itself, and `basis` the counts behind it.

    `hidden`: why a page leaves the figure out; files have it. `interval`: that of the figure, where rows have one.
    """

    column: Column
    value: Any
    text: str
    basis: SampleSize = field(default_factory=SampleSize)
    hidden: str | None = None
    interval: Interval | None = None


class Rows(Sequence[Row]):
    """Rows that are made when they are looked at: a page that is kept holds arrays, not a mapping per answer."""

    def __init__(self, count: int, make: Callable[[int], Row]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            return [self._make(place) for place in range(*at.indices(self._count))]
        # Through range, so that negative and too large places behave as a list's.
        return self._make(range(self._count)[at])


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture of a section: what it shows, for those who do not see it, and how it is specified.

    `shown`: the page has it; an empty one is a file only.
    `links`: what a mark of that name opens; runs, topics and rows of the table are found without.
    """

    alt: str
    draw: Callable[[Palette], str]
    note: str = ""
    shown: bool = True
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Section:
    """A section: a table, complete in its files, and maybe a chart. `sort`: a column, with - before it downwards.

    `topics`, `pairs`: how many of these the figures rest on, for all rows or as the name of a column; rows with a
    column of kind `TAU` have `runs` and `topics` of their own. `aside`: keys that only the page reads.
    `labels`: the term of the labels that are counted, which pages name in the heading.
    `template`: how the page shows it, where that is no table. `shown`: the page has it; else it is a file only.
    `on_page`: which rows the page has, and `empty` what it says without any. `document`: the whole as JSON, where the
    command's document has more than rows.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    note: str = ""
    labels: str = ""
    closing: Sequence[Row] = ()
    chart: Chart | None = None
    sort: str = ""
    topics: str | int | None = None
    pairs: str | int | None = None
    aside: tuple[str, ...] = ()
    template: str = "reports/section.html"
    shown: bool = True
    on_page: Callable[[Row], bool] = lambda _row: True
    empty: str = ""
    document: Callable[[], Mapping[str, Any]] | None = None

    @property
    def has_picture(self) -> bool:
        return self.chart is not None and self.chart.shown

    @property
    def label_words(self) -> str:
        return terms()[self.labels].plural if self.labels else ""

    @property
    def small_tags(self) -> dict[str, SampleSize]:
        """Topic tags on fewer topics than are evidence, with how many, which only files have rows of."""
        topics: dict[str, int] = {}
        for row in self.rows:
            if "tag" in row:
                topics[row["tag"]] = max(topics.get(row["tag"], 0), row["topics"] or 0)
        return {tag: basis for tag, number in topics.items() if (basis := SampleSize(number)).has_few_topics}

    @property
    def headings(self) -> list[tuple[Column, str, str]]:
        now = "descending" if self.sort.startswith("-") else "ascending"
        name = self.sort.removeprefix("-")
        return [
            (column, now if column.key == name else "", _after(column, self.sort if column.key == name else ""))
            for column in self.columns
        ]

    def ordered(self, sort: str, ties: str = "") -> "Section":
        """Return the rows in another order, equal ones by `ties`; as they are for a name that is no column."""
        name = sort.removeprefix("-")
        if name not in {column.key for column in self.columns}:
            return self
        # An undefined figure is neither the best nor the worst: it is last, whichever way the rows are ordered.
        with_figure = [row for row in self.rows if row.get(name) is not None]
        if ties:
            with_figure.sort(key=lambda row: row[ties])
        with_figure.sort(key=lambda row: row[name], reverse=sort.startswith("-"))
        return replace(self, rows=with_figure + [row for row in self.rows if row.get(name) is None], sort=sort)

    def cells(self, rows: Sequence[Row]) -> Iterator[list[ReportCell]]:
        for row in rows:
            yield [self._cell(column, row) for column in self.columns]

    def _cell(self, column: Column, row: Row) -> ReportCell:
        # `get`: closing rows have the columns that a minimum or a median makes sense of, and no others.
        value, text = row.get(column.key), column.text(row)
        if not column.kind.is_measured or value is None:
            return ReportCell(column, value, text)
        hidden = why_no_tau(row["runs"], row["topics"]) if column.kind is ColumnKind.TAU else None
        topics = _count(column.topics or self.topics, row)
        interval = row.get("intervals", {}).get(column.key)
        basis = SampleSize(topics, _count(self.pairs, row))
        return ReportCell(column, value, text, basis, hidden, Interval(**interval) if interval else None)

    @property
    def closing_cells(self) -> Iterator[list[ReportCell]]:
        return self.cells(self.closing)

    @property
    def file_rows(self) -> Sequence[Row]:
        if not self.aside:
            return self.rows
        return [{key: value for key, value in row.items() if key not in self.aside} for row in self.rows]

    def table(self, text: str) -> FileTable:
        rows, paper = self.file_rows, {column.key: column.caption for column in self.columns if column.paper}
        if self.document is not None:
            document = self.document()
        else:
            document = {"title": self.title, "text": text, "rows": [dict(row) for row in rows]}
            document |= {"closing": [dict(row) for row in self.closing]} if self.closing else {}
        return FileTable(rows, paper, document, closing=self.closing, comment=text)


def _count(count: str | int | None, row: Row) -> int | None:
    return row.get(count) if isinstance(count, str) else count


def _after(column: Column, sort: str) -> str:
    """Return the order that a click gives: the other way round, or texts up and numbers down."""
    if sort:
        return column.key if sort.startswith("-") else f"-{column.key}"
    return column.key if column.kind.is_text else f"-{column.key}"


@dataclass(frozen=True, slots=True)
class ShownSection:
    """A section as the page shows it: one page of its rows, and the tags that are too small to have any."""

    section: Section
    page: Page[Row]
    small_tags: list[tuple[str, SampleSize]]

    @property
    def parameter(self) -> str:
        return f"page_{self.section.name}"

    @property
    def sorting(self) -> str:
        return f"sort_{self.section.name}"

    @property
    def lines(self) -> Iterator[list[ReportCell]]:
        return self.section.cells(list(self.page))


@dataclass(frozen=True, slots=True)
class ReportContent:
    """What a page says of its figures, and these. `title`: where it is not the report's."""

    facts: tuple[str, ...]
    sections: Sequence[Section]
    title: str = ""
    at: datetime = field(default_factory=timezone.now)


@dataclass(frozen=True, slots=True)
class HeadMenu:
    """A menu beside the heading: links as address, caption and whether chosen. `has_boxes`: several can be."""

    caption: str
    links: list[tuple[str, str, bool]]
    note: str = ""
    has_boxes: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A report page: the form, and what came of it; without figures, `refused` says why.

    `query`: the query string, which has the order and page of each table; without it, tables keep their own order.
    `intro`: a template of what the page says before its sections.
    """

    form: ChoicesForm
    title: str
    refused: Refused | None = None
    content: ReportContent | None = None
    query: QueryDict = field(default_factory=QueryDict)
    intro: str = ""

    @property
    def message(self) -> str:
        return self.refused.message if self.refused else ""

    @property
    def without_figures(self) -> Exception:
        """Exception for a file of the page: its reason, or `Http404` for an address that no link leads to."""
        return Http404() if self.refused in (None, WRONG_CHOICE) else self.refused

    def more(self, _viewer: User, _campaign: Campaign) -> dict[str, Any]:
        """Return what the template shows besides, which depends on who looks."""
        return {}

    @property
    def ways_out(self) -> list[Option]:
        return ways_out(self.form, self.refused)

    @property
    def heading(self) -> str:
        return self.title

    @property
    def beside_heading(self) -> str:
        return ""

    @property
    def menus(self) -> list[HeadMenu]:
        return []

    @property
    def has_pictures(self) -> bool:
        return any(section.shown and section.has_picture for section in self.sections)

    def address_with(self, **choices: str | None) -> str:
        """Return the query string with other choices; those that are None are left out."""
        query = self.query.copy()
        for name, value in choices.items():
            query.pop(name, None)
            if value is not None:
                query[name] = value
        return f"?{query.urlencode()}"

    @property
    def is_unfolded(self) -> bool:
        """True where the fields out of the way are open: a message is mostly about a judge or set to name there."""
        return bool(self.message)

    @property
    def shown_sections(self) -> list[ShownSection]:
        return [self._page_of(section) for section in self.sections if section.shown]

    def _page_of(self, section: Section) -> ShownSection:
        small = section.small_tags
        rows = [row for row in section.rows if row.get("tag") not in small and section.on_page(row)]
        page = Paginator(rows, ROWS_SHOWN).get_page(self.query.get(f"page_{section.name}"))
        return ShownSection(section, page, list(small.items()))

    @property
    def link(self) -> str:
        """The query string that holds every choice, the order of the tables too, so that a link shows the same page."""
        kept = QueryDict(self.form.link, mutable=True)
        for name in self.query:
            if name.startswith(("sort_", "page_")):
                kept[name] = self.query.get(name) or ""
        return kept.urlencode()

    @property
    def take_out(self) -> list[Section]:
        return [section for section in self.sections if section.has_picture or section.rows]

    @property
    def effects(self) -> list[str]:
        return []

    def section(self, name: str) -> Section:
        """Return a section by its name. Raises `Http404` where there is none, `Refused` without figures."""
        if self.refused:
            raise self.without_figures
        for section in self.sections:
            if section.name == name:
                return section
        raise Http404

    def table(self, section: Section) -> FileTable:
        text = [self.title, *self.facts, section.note]
        return section.table("\n".join(plain(line) for line in text if line))

    @property
    def facts_text(self) -> str:
        return " ".join(map(plain, self.facts))

    @property
    def facts(self) -> tuple[str, ...]:
        return self.content.facts if self.content else ()

    @property
    def sections(self) -> list[Section]:
        return [section.ordered(self.query.get(f"sort_{section.name}", "")) for section in self._sections]

    @property
    def _sections(self) -> Sequence[Section]:
        return self.content.sections if self.content else ()


def isolated(name: str | None) -> str:
    """Return a name so that its direction of writing leaves the sentence around it alone."""
    return f"{FIRST_STRONG}{name}{POP}" if name else ""


def plain(text: str) -> str:
    return text.replace(FIRST_STRONG, "").replace(POP, "")


def policies_text(policies: Mapping[str, str], campaign: Campaign) -> str:
    """Return the policies of one condition: those that are not the track's in words, all as commands call them."""
    fields = PolicyForm.base_fields | SupportForm.base_fields
    scored = "Scored by the weights of a rubric" if "profile" in policies else f"Scored as {track_of(campaign)}"
    changed, codes = "", []
    for name, value in policies.items():
        # It chooses the topics of two conditions that are compared, so one condition has no such policy.
        if name in ("topics", "profile"):
            continue
        field = fields[name.replace("-", "_")]
        codes.append(f"{name} {value}")
        if value != usual_rule(field, campaign):
            changed += f", but {str(field.label).lower()} {choices_of(field)[value]}"
    return f"{scored}{changed} ({', '.join(codes)})."


def counted(number: int, noun: str) -> str:
    return f"{number:,} {plural(number, noun)}"


def report_of(form: Form, title: str, query: QueryDict, make: Callable[[Form], ReportContent]) -> Report:
    """Return a report with content; of a wrong choice, or one that is `Refused`, with the message about it."""
    if not form.is_valid():
        return Report(form, title, WRONG_CHOICE)
    try:
        content = make(form)
    except Refused as refused:
        return Report(form, title, refused)
    return Report(form, content.title or title, content=content, query=query)


def choice_text(choice: NuggetCondition | CitationCondition) -> str:
    labels = f"labels by {isolated(choice.judges_text)}" if choice.judges else "no labels yet"
    if isinstance(choice, NuggetCondition):
        sets = f"nuggets {isolated(choice.sets_text)}" if choice.nugget_sets else "no nugget set of this condition"
        return f"{choice.condition.words} ({choice.condition}): {sets}, {labels}."
    return f"{choice.condition.words} ({choice.condition}): {labels}."


def topics_with_nuggets(number: int) -> str:
    return f"{counted(number, 'topic')} with nuggets."


def tag_text(tag: str) -> str:
    return f"Only topics tagged {isolated(tag)}." if tag else ""


def sentences(*parts: str) -> tuple[str, ...]:
    return tuple(filter(None, parts))


def columns(
    *parts: tuple[str, str, ColumnKind] | tuple[str, str], primary: str = "", screen: str = ""
) -> tuple[Column, ...]:
    """Return columns from name, heading and kind; those named in `screen` are not in a paper's table."""
    aside = screen.split()
    full = (part if len(part) == 3 else (*part, ColumnKind.TEXT) for part in parts)
    return tuple(Column(key, caption, kind, key not in aside, key == primary) for key, caption, kind in full)


def of_kind(kind: ColumnKind, **captions: str) -> tuple[tuple[str, str, ColumnKind], ...]:
    return tuple((key, caption, kind) for key, caption in captions.items())
