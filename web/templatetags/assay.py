"""Display of the field's words and figures, the same on all pages."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

from django import template
from django.template import Context
from django.template.defaultfilters import date
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from web.words import Term, terms, word_of

register = template.Library()

DASH = "\N{EN DASH}"
LEAST_SHOWN = 0.0001
"""The least amount of money that is shown as a number."""
MINUS = "\N{MINUS SIGN}"
PERCENT = "\N{NO-BREAK SPACE}%"

IMPORTANCES = {2: ("◆", "vital"), 1: ("◇", "okay"), 0: ("?", "unknown")}


@register.simple_tag
def importance(code: int, raw: str = "") -> SafeString:
    glyph, word = IMPORTANCES[code]
    return glyph_and_word(f"nowrap {word}", glyph, word, "" if code else raw)


def glyph_and_word(kind: str, glyph: str, word: str, raw: str) -> SafeString:
    return format_html(
        '<span class="{}"><span class="glyph" aria-hidden="true">{}</span> {}<bdi>{}</bdi></span>',
        *(kind, glyph, word, f" “{raw}”" if raw else ""),
    )


@register.simple_tag
def importance_mark(code: int) -> SafeString:
    glyph, word = IMPORTANCES[code]
    return glyph_alone(word, glyph, word, f"{word}: ")


def glyph_alone(kind: str, glyph: str, word: str, spoken: str) -> SafeString:
    return format_html(
        '<span class="{}" title="{}"><span class="glyph" aria-hidden="true">{}</span>'
        '<span class="visually-hidden">{}</span></span>',
        *(kind, word, glyph, spoken),
    )


def number_filter(spec: str, *, times: int = 1, minus: str = "-", unit: str = "") -> Callable[[float | None], str]:
    def shown(value: float | None) -> str:
        return DASH if value is None else format(times * value, spec).replace("-", minus) + unit

    return shown


score = register.filter("score", number_filter(".3f", minus=MINUS))
# Four decimals, as the field's tools print run scores.
fine_score = register.filter("fine_score", number_filter(".4f", minus=MINUS))
# Two decimals, as the studies print lengths.
mean = register.filter("mean", number_filter(",.2f"))
signed = register.filter("signed", number_filter("+.3f", minus=MINUS))
fine_signed = register.filter("fine_signed", number_filter("+.4f", minus=MINUS))
decimal = register.filter("decimal", number_filter(",.1f"))
percent = register.filter("percent", number_filter(".1f", times=100, unit=PERCENT))
# Two decimals, as the studies print agreement and rates.
fine_percent = register.filter("fine_percent", number_filter(".2f", times=100, unit=PERCENT))


@register.filter
def money(amount: float | Decimal | None) -> str:
    if amount is None:
        return DASH
    if 0 < amount < LEAST_SHOWN:
        return f"<\N{NO-BREAK SPACE}{LEAST_SHOWN}"
    # Below 1 to a hundredth of a cent, because a call costs no more. Only nothing is shown as 0.
    return f"{amount:,.2f}" if amount >= 1 or amount == 0 else f"{amount:.4f}"


@register.simple_tag(takes_context=True)
def term(context: Context, name: str, text: str = "") -> SafeString:
    """Word of the glossary by key or code, or another form of it; the first on a page has its definition at hand."""
    meaning = terms().get(name) or next(entry for entry in terms().values() if entry.code == name)
    word = text or meaning.word
    if not is_first(context, meaning):
        return format_html("<span>{}</span>", word)
    code = format_html(' <span class="code-word">({})</span>', meaning.code) if meaning.code == name else ""
    return format_html(
        '<button type="button" class="term" title="{}" data-glossary="{}#{}">{}</button>{}',
        *(meaning.definition, reverse("glossary"), meaning.key, word, code),
    )


def is_first(context: Context, term: Term) -> bool:
    defined: set[str] = context["request"].__dict__.setdefault("defined_terms", set())
    if term.key in defined:
        return False
    defined.add(term.key)
    return True


register.filter("words", word_of)


@register.filter
def item(mapping: dict[str, object], key: str) -> object:
    return mapping.get(key)


@register.filter(expects_localtime=True)
def moment(at: datetime, form: str = "j M Y, H:i") -> SafeString:
    return format_html('<time datetime="{}">{}</time>', date(at, "c"), date(at, form))


@register.simple_block_tag
def table(
    content: str, *heading: object, label: str = "", css: str = "", caption: str = "", tall: bool = False
) -> SafeString:
    """A table that the keyboard scrolls where it is too wide or, if `tall`, too long.

    It is named by a `heading`, whose id may come in parts, or by a `label`. Only screen readers read the `caption`.
    """
    named_by = ("labelledby", "".join(map(str, heading))) if heading else ("label", label)
    return format_html(
        '<div class="scroll{}" role="region" aria-{}="{}" tabindex="0"><table{}>{}{}</table></div>',
        *(" scroll-tall" if tall else "", *named_by, format_html(' class="{}"', css) if css else ""),
        *(format_html('<caption class="visually-hidden">{}</caption>', caption) if caption else "", content),
    )


@register.simple_tag(takes_context=True)
def page_url(context: dict[str, Any], parameter: str, number: int, anchor: str = "") -> str:
    """Address of another page of a list; the rest of the query string is kept."""
    query = context["request"].GET.copy()
    query[parameter or "page"] = str(number)
    return f"?{query.urlencode()}" + (f"#{anchor}" if anchor else "")
