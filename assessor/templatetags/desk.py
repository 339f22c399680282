"""Shell of every desk, whichever view renders it: the account's settings and keys, and the words."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.desk_settings import DeskSettings, desk_settings_of
from accounts.models import User
from assessor.blind.desk import DeskPage
from assessor.blind.guidelines import IMPORTANCE, Definition, definitions_of
from assessor.blind.practice import LABELS, PracticeLabels
from assessor.keymap import keymap_json, practice_keymap
from assessor.rules.citation_marks import Piece
from assessor.views.time import account_id
from evaluation.labels import LabelSet
from evaluation.stages import labels_of_stage, stage_of
from evaluation.terms import PracticeKind

register = template.Library()


@dataclass(frozen=True, slots=True)
class Shell:
    """`account` names the account in the browser's storage and tells nothing about the person."""

    account: str
    settings: DeskSettings
    keymap: dict[str, Any]
    labels: LabelSet | PracticeLabels
    definitions: tuple[Definition, ...]


register.simple_tag(account_id, name="desk_account")
register.filter("assessor_words", lambda stage: stage_of(stage).assessor_words)


@register.simple_tag
def desk_shell(user: User, desk: DeskPage) -> Shell:
    settings, head = desk_settings_of(user), desk.head
    if desk.practice:
        kind = PracticeKind(desk.practice)
        is_importance = kind is PracticeKind.IMPORTANCE
        return Shell(
            account_id(user),
            settings,
            practice_keymap(settings, head.stage, is_importance=is_importance),
            LABELS[kind],
            IMPORTANCE if is_importance else definitions_of(head.stage),
        )
    allowed = {"nugget-search": head.searches_nuggets, "words": head.copies_words}
    forbidden = [name for name, is_allowed in allowed.items() if not is_allowed]
    return Shell(
        account_id(user),
        settings,
        keymap_json(settings, head.stage, forbidden),
        labels_of_stage(head.stage),
        definitions_of(head.stage, show_importance=head.show_importance),
    )


@register.filter
def marked(pieces: Iterable[Piece]) -> SafeString:
    """Text of a sentence with its citation marks set apart."""
    marks = ('<span class="citation-mark">{}</span>', "{}")
    return format_html_join("", "{}", ((format_html(marks[not piece.is_mark], piece.text),) for piece in pieces))
