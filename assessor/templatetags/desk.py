"""Shell of every desk, whichever view renders it: the account's settings and keys, and the words."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.desk_settings import DeskSettings, desk_settings_of
from accounts.models import User
from assessor.blind.desk import DeskPage
from assessor.blind.guidelines import IMPORTANCE, Definition, definitions_of
from assessor.blind.judging import ShownSentence
from assessor.keymap import NOT_PRACTISED, importance_keymap, keymap_json
from assessor.views.time import account_id
from evaluation.labels import IMPORTANCE_LABELS, LabelSet
from evaluation.templatetags.answers import shown_as_read
from evaluation.terms import BattleReason, PracticeKind

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


@register.simple_tag
def desk_shell(user: User, desk: DeskPage) -> Shell:
    settings, head = desk_settings_of(user), desk.head
    is_importance = desk.practice == PracticeKind.IMPORTANCE
    forbidden = {
        "nugget-search": not head.searches_nuggets,
        "words": not head.copies_words,
        "place-previous": not head.helps_places,
        "cant-judge": not head.labels.refuses,
    }
    forbidden |= {f"reason-{reason}": reason not in desk.state.get("reasons", []) for reason in BattleReason}
    forbidden |= dict.fromkeys(NOT_PRACTISED, bool(desk.practice))
    forbidden |= {label.action: label.word not in head.labels.words for label in head.stage.labels.degrees}
    keymap = keymap_json(settings, head.stage, [name for name, is_forbidden in forbidden.items() if is_forbidden])
    return Shell(
        account_id(user),
        settings,
        importance_keymap(settings, keymap) if is_importance else keymap,
        IMPORTANCE_LABELS if is_importance else head.labels,
        IMPORTANCE
        if is_importance
        else definitions_of(head.stage, labels=head.labels, show_importance=head.show_importance),
    )


@register.filter
def marked(sentence: ShownSentence) -> SafeString:
    if sentence.markdown:
        return shown_as_read((piece.text, piece.is_mark) for piece in sentence.pieces)
    marks = ('<span class="citation-mark">{}</span>', "{}")
    return format_html_join(
        "", "{}", ((format_html(marks[not piece.is_mark], piece.text),) for piece in sentence.pieces)
    )
