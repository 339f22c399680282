"""Display of the field's words and figures, the same on all pages."""

from decimal import Decimal
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

DASH = "\N{EN DASH}"
LEAST_SHOWN = 0.0001
"""The least amount of money that is shown as a number."""
MINUS = "\N{MINUS SIGN}"

# By stored code; None is a label that was never given. Glyph, class, and the words of assigning and of support.
LABELS: dict[int | None, tuple[str, str, str, str]] = {
    2: ("●", "full", "support", "full support"),
    1: ("◐", "part", "partial support", "partial support"),
    0: ("○", "none", "not support", "no support"),
    8: ("⊘", "cant", "can't judge", "can't judge"),
    9: ("✕", "failed", "failed", "failed"),
    None: ("▢", "unjudged", "unjudged", "unjudged"),
}
IMPORTANCES = {2: ("◆", "vital"), 1: ("◇", "okay"), 0: ("?", "unknown")}
SHORT = {"partial support": "partial", "not support": "not"}


@register.simple_tag
def label(code: int | None, *, support: bool = False, raw: str = "") -> SafeString:
    """Label as glyph and word; `raw`: text of a reply that is no label."""
    glyph, kind, assigned, supported = LABELS[code]
    quoted = f" “{raw}”" if raw else ""
    return format_html(
        '<span class="label label-{}"><span class="glyph" aria-hidden="true">{}</span> {}<bdi>{}</bdi></span>',
        kind,
        glyph,
        supported if support else assigned,
        quoted,
    )


@register.simple_tag
def label_cell(code: int | None) -> SafeString:
    """Label in a dense grid: the glyph for the eye, the word for screen readers."""
    glyph, kind, assigned, _supported = LABELS[code]
    word = assigned
    return format_html(
        '<span class="label-{}" title="{}"><span class="glyph" aria-hidden="true">{}</span>'
        '<span class="visually-hidden">{}</span></span>',
        kind,
        word,
        glyph,
        word,
    )


@register.simple_tag
def label_heading(code: int) -> SafeString:
    glyph, kind, assigned, _supported = LABELS[code]
    return format_html(
        '<span class="label label-{}" title="{}"><span class="glyph" aria-hidden="true">{}</span> {}</span>',
        kind,
        assigned,
        glyph,
        SHORT.get(assigned, assigned),
    )


@register.simple_tag
def label_key() -> SafeString:
    marks = (label(code) for code in LABELS)
    return format_html('<p class="key small">{} {} {} {} {} {}</p>', *marks)


@register.simple_tag
def importance(code: int, raw: str = "") -> SafeString:
    glyph, word = IMPORTANCES[code]
    quoted = f" “{raw}”" if raw and not code else ""
    return format_html(
        '<span class="nowrap {}"><span class="glyph" aria-hidden="true">{}</span> {}<bdi>{}</bdi></span>',
        word,
        glyph,
        word,
        quoted,
    )


@register.simple_tag
def importance_mark(code: int) -> SafeString:
    glyph, word = IMPORTANCES[code]
    return format_html(
        '<span class="{}" title="{}"><span class="glyph" aria-hidden="true">{}</span>'
        '<span class="visually-hidden">{}: </span></span>',
        word,
        word,
        glyph,
        word,
    )


@register.filter
def score(value: float | None) -> str:
    """Score or tau with three decimals; a dash where undefined."""
    return DASH if value is None else f"{value:.3f}".replace("-", MINUS)


@register.filter
def fine_score(value: float | None) -> str:
    """Run score with four decimals, as the field's tools print it."""
    return DASH if value is None else f"{value:.4f}".replace("-", MINUS)


@register.filter
def mean(value: float | None) -> str:
    """Mean with two decimals, as the studies print lengths."""
    return DASH if value is None else f"{value:,.2f}"


@register.filter
def signed(value: float | None) -> str:
    return DASH if value is None else f"{value:+.3f}".replace("-", MINUS)


@register.filter
def decimal(value: float | None) -> str:
    return DASH if value is None else f"{value:,.1f}"


@register.filter
def money(amount: float | Decimal | None) -> str:
    if amount is None:
        return DASH
    if 0 < amount < LEAST_SHOWN:
        return f"<\N{NO-BREAK SPACE}{LEAST_SHOWN}"
    # Below 1 to a hundredth of a cent, because a call costs no more. Only nothing is shown as 0.
    return f"{amount:,.2f}" if amount >= 1 or amount == 0 else f"{amount:.4f}"


@register.filter
def percent(value: float | None) -> str:
    """Fraction as a percentage with one decimal."""
    return DASH if value is None else f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


@register.filter
def fine_signed(value: float | None) -> str:
    return DASH if value is None else f"{value:+.4f}".replace("-", MINUS)


@register.filter
def fine_percent(value: float | None) -> str:
    """Fraction as a percentage with two decimals, as the studies print agreement and rates."""
    return DASH if value is None else f"{100 * value:.2f}\N{NO-BREAK SPACE}%"


@register.filter
def words(code: str) -> str:
    return code.replace("_", " ")


@register.filter
def item(mapping: dict[str, object], key: str) -> object:
    return mapping.get(key)


@register.simple_tag(takes_context=True)
def page_url(context: dict[str, Any], parameter: str, number: int, anchor: str = "") -> str:
    """Address of another page of a list; the rest of the query string is kept."""
    query = context["request"].GET.copy()
    query[parameter or "page"] = str(number)
    return f"?{query.urlencode()}" + (f"#{anchor}" if anchor else "")
