"""Addresses and words on the report pages."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from reports.showing import Cell, Kind
from web.phrases import Phrase
from web.shown import shown

register = template.Library()


@register.simple_tag(takes_context=True)
def part_url(context: dict[str, Any], part: str, form: str) -> str:
    """The address of a section's table or picture as a file."""
    address: str = context["address_of"](part, form)
    return address


@register.simple_tag(takes_context=True)
def cell_link(context: dict[str, Any], cell: Cell) -> SafeString:
    """A name of a table; that of a run or a topic leads to its page."""
    kinds = {Kind.RUN: ("organizer:run", "run_keys"), Kind.TOPIC: ("organizer:topic", "topic_keys")}
    if cell.column.kind in kinds:
        view, keys = kinds[cell.column.kind]
        key = context[keys].get(cell.value)
        if key is not None:
            address = reverse(view, args=[context["campaign"].slug, key])
            return format_html('<a href="{}"><bdi>{}</bdi></a>', address, cell.said)
    return format_html("<bdi>{}</bdi>", shown(cell.said) if isinstance(cell.said, Phrase) else cell.said)
