"""Addresses and words on the report pages."""

from collections.abc import Callable
from typing import Any, Final

from django import template
from django.template import Context
from django.template.defaulttags import querystring
from django.urls import reverse
from django.utils.html import format_html, json_script
from django.utils.safestring import SafeString
from django.utils.text import slugify

from evaluation.campaigns.access import may_organize
from evaluation.templatetags.labels import label
from reports.metrics.intervals import Interval
from reports.metrics.jackknife import Jackknife
from reports.metrics.registry import BY_NAME
from reports.metrics.sample_size import SampleSize
from reports.models import BOTH
from reports.needs import Lack
from reports.report import FORMATS, SHORT, Column, ColumnKind, ReportCell
from reports.terms import condition_words
from web.templatetags import assay
from web.words import term_of_column

register = template.Library()
register.filter(condition_words)

FORMS: Final[dict[str, Callable[[Any], str]]] = {
    **{kind.value: form for kind, form in FORMATS.items()},
    "fine_score": assay.fine_score,
    "percent": assay.percent,
}
"""Formats of figures, by the name that templates use."""
BOTH_MARK: Final = ("◎", "both defensible")
RAG_TASKS = {"RAG": ("rag", "●", "full RAG"), "AG": ("ag", "■", "generation only")}


@register.simple_tag(takes_context=True)
def part_url(context: dict[str, Any], part: str, form: str) -> str:
    # Files lie below their page, under every room's addresses.
    return f"{context['request'].path}{part}.{form}"


@register.simple_tag(takes_context=True)
def cell_link(context: Context, cell: ReportCell) -> SafeString:
    kinds = {ColumnKind.RUN: ("organizer:run", "run_keys"), ColumnKind.TOPIC: ("organizer:topic", "topic_keys")}
    if cell.column.kind in kinds:
        view, keys = kinds[cell.column.kind]
        key = context[keys].get(cell.value)
        if key is not None:
            address = reverse(view, args=[context["campaign"].slug, key])
            return format_html('<a href="{}"><bdi>{}</bdi></a>', address, cell.text)
    if cell.column.kind is ColumnKind.BATTLE:
        address = reverse("reports:battle", args=[context["campaign"].slug, cell.value])
        return format_html(
            '<a href="{}">Read<span class="visually-hidden"> battle {}</span></a>', address, cell.text
        )
    if cell.column.kind is ColumnKind.TAG:
        return format_html('<a href="{}"><bdi>{}</bdi></a>', querystring(context, tag=cell.value), cell.text)
    if cell.column.kind is ColumnKind.STAGE:
        return assay.term(context, slugify(cell.text), cell.text)
    if cell.column.kind is ColumnKind.CONDITION and (text := condition_words(cell.text)) != cell.text:
        return format_html('<bdi>{}</bdi> <span class="code-word">{}</span>', text, cell.text)
    return format_html("<bdi>{}</bdi>", cell.text)


@register.simple_tag(takes_context=True)
def heading_link(
    context: Context, heading: tuple[Column, str, str], address: str, caption: str = ""
) -> SafeString:
    column, ordered, _ = heading
    arrow = format_html('<span aria-hidden="true"> {}</span>', "↑" if ordered == "ascending" else "↓")
    term = term_of_column(column.key, is_score=column.kind is ColumnKind.SCORE)
    defined = ""
    if term and assay.is_first(context, term):
        glossary = f"{reverse('glossary')}#{term.key}"
        defined = format_html(' class="term" title="{}" data-glossary="{}"', term.definition, glossary)
    text = caption or column.caption
    return format_html('<a href="{}"{}>{}{}</a>', address, defined, text, arrow if ordered else "")


@register.inclusion_tag("reports/lack.html", takes_context=True)
def what_is_missing(context: dict[str, Any], lack: Lack) -> dict[str, Any]:
    """What a page lacks, and to those who may do something about it, where."""
    campaign = context["campaign"]
    acts = [
        (reverse(act.view, args=[campaign.slug, *act.arguments], query=act.query or None), act.caption)
        for act in (lack.acts if may_organize(context["request"].user, campaign) else ())
    ]
    return {"text": lack.text, "acts": acts, "others": lack.others}


@register.simple_tag(takes_context=True)
def chart_places(context: dict[str, Any]) -> SafeString:
    """Addresses of the runs and topics that marks of a picture name, for `static/js/pictures.js`."""
    slug = context["campaign"].slug
    runs = {name: reverse("organizer:run", args=[slug, key]) for name, key in context["run_keys"].items()}
    topics = {name: str(key) for name, key in context["topic_keys"].items()}
    places = {"runs": runs, "topics": topics, "topic": reverse("organizer:topics", args=[slug])}
    return json_script(places, "chart-places")


@register.simple_tag
def verdict_mark(code: int, *, support: bool = False) -> SafeString:
    if code != BOTH:
        return label(code, support=support)
    return format_html(
        '<span class="label"><span class="glyph" aria-hidden="true">{}</span> {}</span>', *BOTH_MARK
    )


@register.simple_tag
def figure(
    value: float | None, form: str, topics: int | None = None, pairs: int | None = None
) -> SafeString | str:
    """A figure; on few topics or label pairs it is grey, with two decimals and its n."""
    basis = SampleSize(topics, pairs)
    if value is None or not basis.is_small:
        return FORMS[form](value)
    return _small(SHORT.get(form, FORMS[form])(value), basis)


@register.simple_tag
def figure_cell(cell: ReportCell) -> SafeString | str:
    if cell.hidden:
        return _left_out(cell.hidden)
    kind, basis = cell.column.kind.value, cell.basis
    if basis.is_small:
        return _small(SHORT[kind](cell.value) if kind in SHORT else cell.text, basis)
    if cell.interval is None:
        return cell.text
    return _above(cell.text, interval(cell.interval, kind, basis.topics, basis.pairs))


@register.simple_tag
def interval(
    bounds: Interval, form: str = "score", topics: int | None = None, pairs: int | None = None
) -> SafeString | str:
    """An interval: none on few topics or pairs or where it is refused, a grey one on fewer than ten topics."""
    basis = SampleSize(topics, pairs)
    if basis.is_small or bounds.ends is None:
        return _left_out(bounds.reason or (basis.reason if basis.is_small else "no interval"))
    text = " to ".join(map(FORMS[form], bounds.ends))
    if not basis.has_faint_interval:
        return text
    return format_html('<span class="small-n" title="{}">{}</span>', "fewer than 10 topics", text)


@register.simple_tag
def with_interval(
    value: float | None, bounds: Interval, form: str, topics: int | None = None, pairs: int | None = None
) -> SafeString | str:
    """A figure and its interval, or why it has none; of a small basis there is only the figure."""
    text = figure(value, form, topics, pairs)
    if value is None or SampleSize(topics, pairs).is_small:
        return text
    ends = interval(bounds, form, topics, pairs) if bounds.ends else f"no interval: {bounds.reason}"
    return format_html('{} <span class="small muted">({})</span>', text, ends)


@register.simple_tag
def figure_above(
    value: float | None, bounds: Interval | None, form: str, topics: int | None = None, pairs: int | None = None
) -> SafeString | str:
    """A figure of a table and below it its interval, if any; of a small basis there is only the figure."""
    text = figure(value, form, topics, pairs)
    if value is None or not bounds or SampleSize(topics, pairs).is_small:
        return text
    return _above(text, interval(bounds, form, topics, pairs))


@register.inclusion_tag("components/dot_line.html")
def dot_line(judge: Jackknife, people: Jackknife) -> dict[str, Any]:
    """Kappa with its interval on an axis from 0 to 1, the interval of people behind it; below 0 is drawn at 0."""
    return {
        "dot": _on_axis(judge.value),
        "ends": _stretch(judge.interval.ends),
        "people": _on_axis(people.value) if people.interval.ends else None,
        "band": _stretch(people.interval.ends),
        "faint": SampleSize(judge.topics).has_faint_interval,
        "text": f"Kappa {_spoken(judge)}; people {_spoken(people)}",
    }


def _on_axis(value: float | None) -> str | None:
    # As text: a template would write the decimal point of a locale.
    return None if value is None else f"{2 + 160 * min(max(value, 0.0), 1.0):.1f}"


def _stretch(ends: tuple[float, float] | None) -> dict[str, str] | None:
    if ends is None:
        return None
    low, high = (min(max(end, 0.0), 1.0) for end in ends)
    return {"start": f"{2 + 160 * low:.1f}", "width": f"{160 * (high - low):.1f}"}


def _spoken(estimate: Jackknife) -> str:
    if estimate.value is None:
        return "undefined"
    ends = estimate.interval.ends
    return f"{estimate.value:.2f}, {ends[0]:.2f} to {ends[1]:.2f}" if ends else f"{estimate.value:.2f}"


@register.simple_tag
def run_kind(task: str) -> SafeString:
    name, shape, text = RAG_TASKS.get(task, ("", "◆", "no task"))
    return format_html('<span class="shape {}" aria-hidden="true">{}</span> {}', name, shape, text)


@register.filter
def score_name(code: str) -> str:
    return BY_NAME[code].words


@register.simple_tag
def side_in_words(side: str) -> SafeString:
    """Side of a comparison as its files name it, on a page: its condition in words, the code in grey."""
    code, comma, rest = side.partition(",")
    words = condition_words(code)
    if words == code:
        return format_html("{}", side)
    return format_html('{} <span class="code-word">{}</span>{}{}', words, code, comma, rest)


@register.filter
def interval_text(low: float, high: float) -> str:
    return f"{assay.score(low)} to {assay.score(high)}"


@register.filter
def has_few_topics(topics: int | None) -> bool:
    return SampleSize(topics).has_few_topics


def _above(text: str, ends: SafeString | str) -> SafeString:
    return format_html('{}<br><span class="small muted nowrap">{}</span>', text, ends)


def _small(text: str, basis: SampleSize) -> SafeString:
    return format_html(
        '<span class="small-n" title="{}">{} <span class="n-of">{}<span class="visually-hidden">, {}</span></span>'
        "</span>",
        *(basis.reason, text, basis.n, basis.reason),
    )


def _left_out(reason: str) -> SafeString:
    return format_html(
        '<span class="small-n" title="{}"><span aria-hidden="true">{}</span>'
        '<span class="visually-hidden">{}</span></span>',
        *(reason, assay.DASH, reason),
    )


@register.simple_tag
def share_of(share: float | None, pairs: int, form: str = "percent") -> str:
    """A share of pairs in a matrix, whose caption has n; without decimals where the pairs are few."""
    return SHORT[form](share) if SampleSize(pairs=pairs).is_small else FORMS[form](share)
