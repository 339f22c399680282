"""Shell of every desk, whichever view renders it: the account's settings and keys, and the words."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.desk_settings import DeskSettings, desk_settings_of
from accounts.models import User
from assessor.blind.desk import TaskHead
from assessor.blind.guidelines import Definition, definitions_of
from assessor.keymap import default_actions, keymap_json
from assessor.rules.citation_marks import Piece
from assessor.views.time import account_id
from evaluation.labels import LabelSet
from evaluation.stages import labels_of_stage, stage_of

register = template.Library()


@dataclass(frozen=True, slots=True)
class Shell:
    """`account` names the account in the browser's storage and tells nothing about the person."""

    account: str
    settings: DeskSettings
    keymap: dict[str, Any]
    labels: LabelSet
    definitions: tuple[Definition, ...]


register.simple_tag(account_id, name="desk_account")
register.filter("assessor_words", lambda stage: stage_of(stage).assessor_words)
PRACTISED = ("vital", "okay", "accept", "keys")
"""Keys of a desk that act in its practice, beside those of labels."""


@register.simple_tag
def practice_keys(user: User, stage: str) -> dict[str, Any]:
    practised = {*PRACTISED, *(label.action for label in labels_of_stage(stage).degrees)}
    others = [action.id for action in default_actions() if action.id not in practised]
    return keymap_json(desk_settings_of(user), stage, others)


@register.simple_tag
def desk_shell(user: User, head: TaskHead) -> Shell:
    settings = desk_settings_of(user)
    allowed = {"nugget-search": head.searches_nuggets, "words": head.copies_words}
    forbidden = [name for name, is_allowed in allowed.items() if not is_allowed]
    words = definitions_of(head.stage, show_importance=head.show_importance)
    return Shell(
        account_id(user),
        settings,
        keymap_json(settings, head.stage, forbidden),
        labels_of_stage(head.stage),
        words,
    )


@register.filter
def marked(pieces: Iterable[Piece]) -> SafeString:
    """Text of a sentence with its citation marks set apart."""
    marks = ('<span class="citation-mark">{}</span>', "{}")
    return format_html_join("", "{}", ((format_html(marks[not piece.is_mark], piece.text),) for piece in pieces))
