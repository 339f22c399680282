"""Practice: which items a stage asks for, by which words they are answered, and that they come before its tasks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from evaluation.domain.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.errors import Refused
from evaluation.terms import AssignmentLabel, Importance, PracticeKind, Stage, SupportLabel
from web.text import plural

PracticeLabel: TypeAlias = AssignmentLabel | SupportLabel | Importance

LABELS: Final[Mapping[PracticeKind, tuple[PracticeLabel, ...]]] = {
    PracticeKind.ASSIGN: tuple(one.code for one in NUGGET_LABELS.degrees),
    PracticeKind.SUPPORT: tuple(one.code for one in CITATION_LABELS.degrees),
    PracticeKind.IMPORTANCE: (Importance.VITAL, Importance.OKAY),
}
"""The labels of each kind, in the order of the desks."""

KINDS: Final[Mapping[Stage, PracticeKind]] = {
    Stage.POST_EDIT: PracticeKind.IMPORTANCE,
    Stage.MANUAL: PracticeKind.IMPORTANCE,
    Stage.ASSIGN: PracticeKind.ASSIGN,
    Stage.SUPPORT_SCRATCH: PracticeKind.SUPPORT,
    Stage.SUPPORT_POST_EDIT: PracticeKind.SUPPORT,
}


@dataclass(frozen=True, slots=True)
class Offered:
    """An item of a campaign's practice. `shows`: it comes with a label as a machine would give it."""

    pk: int
    kind: PracticeKind
    shows: bool = False


def asked(stage: Stage, offered: Iterable[Offered]) -> tuple[int, ...]:
    """Return the items that a stage asks for, in their order.

    Only the stage that shows a machine's label practises with one; without such items it takes the others.
    """
    fitting = [one for one in offered if one.kind is KINDS[stage]]
    plain = tuple(one.pk for one in fitting if not one.shows)
    if stage is not Stage.SUPPORT_POST_EDIT:
        return plain
    return tuple(one.pk for one in fitting if one.shows) or plain


def codes_of(kind: PracticeKind) -> dict[str, int]:
    """Return the codes of a kind's labels by the words that files and forms use."""
    return {label.name.lower(): int(label) for label in LABELS[kind]}


def word_of(kind: PracticeKind, code: int) -> str:
    """Return the word of a label."""
    return next(label.name.lower() for label in LABELS[kind] if label == code)


def check_done(left: int) -> None:
    """Raise `Refused` while there is something left to practise."""
    if left:
        raise Refused("practice", f"Practice first: {left} {plural(left, 'item')}. Then the task can be started.")
