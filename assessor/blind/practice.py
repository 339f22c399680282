"""Practice as an assessor sees it: an item without its known label, which comes only after their own."""

from collections.abc import Iterator
from dataclasses import dataclass

from accounts.models import User
from assessor.blind.tasks import own_task
from assessor.models import PracticeAnswer, PracticeItem
from assessor.practice.items import practice_of
from assessor.practice.rules import LABELS, word_of
from evaluation.errors import NoSuchTask
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.models import Task
from evaluation.terms import PracticeKind

MARKS = {
    **{
        degree.word: (degree.glyph, degree.tone, degree.caption, degree.action)
        for degree in (*NUGGET_LABELS.degrees, *CITATION_LABELS.degrees)
    },
    "vital": ("◆", "vital", "Vital", "vital"),
    "okay": ("◇", "okay", "Okay", "okay"),
}
"""Glyph, tone, word and action of the keymap of each label, as the desks show them."""


@dataclass(frozen=True, slots=True)
class Word:
    """A label as a screen says it; `value` is its word in forms."""

    value: str
    glyph: str
    tone: str
    caption: str
    action: str


@dataclass(frozen=True, slots=True)
class Item:
    """An item to practise on, without what is known of it. `machine`: the label that is shown as a machine's."""

    public_id: str
    kind: str
    question: str
    text: str
    statement: str
    machine: Word | None
    choices: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class PracticePage:
    """Next item, None when all are answered, and how many answers are the known labels."""

    task: str
    topic: str
    campaign: str
    stage: str
    state: str
    number: int
    of: int
    right: int
    item: Item | None
    answered: tuple["Answered", ...]

    @property
    def left(self) -> int:
        return self.of - len(self.answered)


@dataclass(frozen=True, slots=True)
class Answered:
    number: int
    item: Item
    own: Word
    known: Word
    explanation: str

    @property
    def agrees(self) -> bool:
        return self.own == self.known


def practice_page(task: str, user: User) -> PracticePage:
    """Return the practice before one of the user's own tasks; of no items where none is set. Raises `NoSuchTask`."""
    own, items, labels = _practice(task, user)
    answered = tuple(_answered(items, labels))
    following = next(((n, item) for n, item in enumerate(items, start=1) if item.pk not in labels), None)
    return PracticePage(
        task=own.public_id,
        topic=own.topic.text,
        campaign=own.campaign.name,
        stage=own.stage,
        state=own.state,
        number=following[0] if following else len(items),
        of=len(items),
        right=sum(answer.agrees for answer in answered),
        item=_item(following[1]) if following else None,
        answered=answered,
    )


def practised_item(task: str, user: User, item: str) -> tuple[PracticePage, Answered]:
    """Return an item that the user has answered. Raises `NoSuchTask`, also while it has no answer."""
    page = practice_page(task, user)
    entry = next((answer for answer in page.answered if answer.item.public_id == item), None)
    # The known label comes only after the own one: before it the item does not exist here.
    if entry is None:
        raise NoSuchTask
    return page, entry


def _practice(task: str, user: User) -> tuple[Task, list[PracticeItem], dict[int, int]]:
    own = own_task(task, user)
    pks = practice_of(user, [own.campaign_id]).items_before(own)
    items = {item.pk: item for item in PracticeItem.objects.filter(pk__in=pks)}
    answers = PracticeAnswer.objects.filter(user=user, item__in=pks)
    return own, [items[pk] for pk in pks], dict(answers.values_list("item", "label"))


def _answered(items: list[PracticeItem], labels: dict[int, int]) -> Iterator[Answered]:
    for number, item in enumerate(items, start=1):
        if item.pk in labels:
            kind = PracticeKind(item.kind)
            own, right = _word(kind, labels[item.pk]), _word(kind, item.label)
            yield Answered(number, _item(item), own, right, item.explanation)


def _item(item: PracticeItem) -> Item:
    kind = PracticeKind(item.kind)
    return Item(
        public_id=item.public_id,
        kind=kind,
        question=item.question,
        text=item.text,
        statement=item.statement,
        machine=None if item.shown_label is None else _word(kind, item.shown_label),
        choices=tuple(_word(kind, int(code)) for code in LABELS[kind]),
    )


def _word(kind: PracticeKind, code: int) -> Word:
    value = word_of(kind, code)
    return Word(value, *MARKS[value])
