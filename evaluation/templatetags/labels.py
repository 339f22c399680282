"""Labels on pages: glyph and word, in the tone of the label."""

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from evaluation.labels import CITATION_LABELS, NUGGET_LABELS, Label, LabelSet
from web.templatetags.assay import glyph_alone, glyph_and_word

register = template.Library()

UNJUDGED = ("▢", "unjudged", "unjudged")
"""Glyph, tone and word of a label that was never given."""


@register.simple_tag
def label(code: int | None, *, support: bool = False, labels: LabelSet | None = None, raw: str = "") -> SafeString:
    """Label as glyph and word, of its set; `raw`: text of a reply that is no label."""
    glyph, tone, word = _marks(code, labels or (CITATION_LABELS if support else NUGGET_LABELS))
    return glyph_and_word(f"label tone-{tone}", glyph, word, raw)


@register.simple_tag
def label_cell(code: int | None) -> SafeString:
    """Label in a dense grid: the glyph for the eye, the word for screen readers."""
    glyph, tone, word = _marks(code)
    return glyph_alone(f"label-mark tone-{tone}", glyph, word, word)


@register.simple_tag
def label_heading(shown: Label, *, in_full: bool = False) -> SafeString:
    return format_html(
        '<span class="label tone-{}" title="{}"><span class="glyph" aria-hidden="true">{}</span> {}</span>',
        shown.tone,
        shown.spoken,
        shown.glyph,
        shown.spoken if in_full else shown.short,
    )


@register.simple_tag
def label_key() -> SafeString:
    marks = format_html_join(" ", "{}", ((label(code),) for code in (*NUGGET_LABELS.by_code, None)))
    return format_html('<p class="key small">{}</p>', marks)


def _marks(code: int | None, labels: LabelSet = NUGGET_LABELS) -> tuple[str, str, str]:
    if code is None:
        return UNJUDGED
    shown = labels.by_code[code]
    return shown.glyph, shown.tone, shown.spoken
