"""Objects of answers on pages, as the protocol has them read."""

from collections.abc import Iterable

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from evaluation.rules.markdown import as_read
from evaluation.rules.places import stop_words_of, words_in

register = template.Library()
register.filter(words_in)


@register.filter
def object_text(text: str, markdown: bool) -> SafeString | str:
    return shown_as_read([(text, False)]) if markdown else text


@register.filter
def stop_words(language: str) -> list[str]:
    """Return what a page's script leaves out of a nugget's words, as this language has it."""
    return sorted(stop_words_of(language))


def shown_as_read(pieces: Iterable[tuple[str, bool]]) -> SafeString:
    return format_html('<span class="as-read">{}</span>', mark_safe(as_read(pieces)))  # noqa: S308  (cleaned there)
