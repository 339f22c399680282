"""A judging task at its desk: what it asks, the labels in the making, and the rows that a submission freezes.

`JudgingDesk` asks each answer as a whole; a stage that asks something else has a desk of its own in `desks.py`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from assessor.desk.context import DeskContext
from assessor.models import WorkingJudgment
from assessor.rules.label_ops import NO_MACHINE_LABEL, LabelRow
from evaluation.errors import Refused
from evaluation.labels import LabelSet
from evaluation.models import Judgment, StudyPair, Task, TaskAnswer
from evaluation.stages import Stage
from evaluation.tasks.asking import KEY, asking_of

SEPARATOR = "/"
"""Between answer and row in a key."""

LABEL_FIELDS = ("label", "first_label", "shown_label")
"""Fields of a row that hold a label."""


def drawn_pairs(context: DeskContext) -> QuerySet[StudyPair]:
    """Return the pairs that a study's desk keeps to. Only what they are about may be read: never their labels."""
    return StudyPair.objects.filter(study=context.study, topic=context.topic)


def shown_answers(context: DeskContext) -> QuerySet[Any, Any]:
    """Return the answers on the screen, or passages, or battles, in the task's order; of equal texts the first.

    `key` and `public_id`: those of the answer, passage or battle.
    """
    answers = TaskAnswer.objects.filter(task=context.task, same_as=None).order_by("position")
    return answers.annotate(
        key=KEY, public_id=Coalesce("answer__public_id", "segment__public_id", "battle__public_id")
    )


@dataclass(slots=True)
class StoredLabel:
    """Stored label of a unit, unsaved and of version 0 while nobody touched it. `machine`: the label that is shown."""

    key: str
    stored: Any
    desk: "JudgingDesk"
    machine: str | None = None

    @property
    def row(self) -> LabelRow:
        labels = self.desk.labels
        values = {name: getattr(self.stored, name) for name in ("version", "label", "reason", *self.desk.fields)}
        for name in set(LABEL_FIELDS) & set(values):
            values[name] = _word(labels, values[name])
        if self.machine:
            # Agreement with a machine is measured on what was seen, not on what the machine says by now.
            values["shown_label"] = values["shown_label"] or self.machine
        return LabelRow(key=self.key, **values)

    def write(self, row: LabelRow) -> None:
        """Store a changed row: insert or update as it was read, because the task is locked since."""
        stored = self.stored
        for name in ("version", "label", "reason", *self.desk.fields):
            value = getattr(row, name)
            setattr(stored, name, _code(self.desk.labels, value) if name in LABEL_FIELDS else value)
        stored.save(force_insert=stored.pk is None, force_update=stored.pk is not None)


def _word(labels: LabelSet, code: int | None) -> str | None:
    return None if code is None else labels.by_code[code].word


def _code(labels: LabelSet, word: str | None) -> int | None:
    # A machine that gave no label leaves no code behind.
    return None if word in (None, NO_MACHINE_LABEL) else int(labels.by_word[word].code)


@dataclass(frozen=True, slots=True)
class TaskLabels:
    """A judging task as a whole, in the order of the screen. `asked`: what its desk asks, as the desk itself knows it.

    `names`: of everything that is asked, as the screen has it. `judgeable`: keys of the labels that are to be given.
    `units`: what the captions of labels depend on (`LabelSet.caption`), by the row's part of a key, but the usual one.
    """

    answers: tuple[tuple[str, bool], ...]
    asked: Any
    judgeable: list[str]
    names: dict[str, str]
    labels: dict[str, StoredLabel]
    not_askable: int = 0
    units: Mapping[str, str] = field(default_factory=dict)

    def unit(self, key: str) -> str:
        return self.units.get(key.rpartition(SEPARATOR)[2], "")

    @property
    def missing(self) -> list[str]:
        return [key for key in self.judgeable if key not in self.labels or self.labels[key].stored.label is None]


class JudgingDesk:
    """Desk of a stage whose units are whole answers or passages: one row beside each, with the stage's question."""

    fields: tuple[str, ...] = ("extras",)
    """Fields of its rows beside key, version, label and reason."""
    working: Any = WorkingJudgment
    places = False
    """Whether a label may say in which sentence it found its nugget; such a desk may have a sweep."""
    cites = False
    """Whether passages are read beside the answers."""
    page = "assessor/judge.html"
    template, pane = "assessor/judge_rows.html", "Labels"
    """The right pane, and its name for screen readers."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.labels = stage, stage.labels

    def find(self, context: DeskContext, key: str) -> StoredLabel:
        """Return the label of one unit. Raises `Refused` for a key that is not one of the task's."""
        answer, _, row = key.partition(SEPARATOR)
        there = shown_answers(context).filter(public_id=answer).values_list("key", flat=True).first()
        if there is None or row != self.stage:
            raise Refused("no_such_pair", f"This {self.stage.reads} is not among those of the task.")
        stored = WorkingJudgment.objects.filter(task=context.task, unit=answer).first()
        column = f"{asking_of(self.stage).column}_id"
        new = WorkingJudgment(task_id=context.task, unit=answer, version=0, **{column: there})
        return StoredLabel(key, stored or new, self)

    def read(self, context: DeskContext) -> TaskLabels:
        """Return a task as a whole. Labels of what is not asked any more are kept, and left out here."""
        answers = answers_of(context)
        keys = {answer: f"{answer}{SEPARATOR}{self.stage}" for answer, _ in answers}
        stored = WorkingJudgment.objects.filter(task=context.task, unit__in=keys).order_by(
            "answer_id", "segment_id"
        )
        labels = {keys[row.unit]: StoredLabel(keys[row.unit], row, self) for row in stored}
        noun = self.stage.reads.capitalize()
        names = {key: f"{noun} {number}" for number, key in enumerate(keys.values(), start=1)}
        return TaskLabels(answers, None, [*keys.values()], names, labels)

    def state(self, task: Task, work: TaskLabels) -> dict[str, Any]:
        """Return the part of a desk's state that its script draws, beside answers and labels."""
        name = self.stage.item.capitalize()
        asked = {"key": self.stage, "text": self.stage.question, "importance": "", "name": name}
        return {"nuggets": [asked], "sweep": False}

    def answer_state(self, work: TaskLabels, answer: str) -> dict[str, Any]:
        return {}

    def check_extras(self, task: int, extras: Mapping[str, Any]) -> None:
        """Raises `Refused` for what labels of a task cannot say, although those of its stage may."""

    def asked_now(self, rows: QuerySet[Any], tasks: Sequence[Task]) -> QuerySet[Any]:
        """Return those of some tasks' labels in the making that are on what is asked by now."""
        return rows

    def frozen(self, task: Task, work: TaskLabels) -> Iterator[Any]:
        """Yield the rows of a submission, without judge, submission, time and event; those of copies too."""
        same = same_answers(task)
        answers = TaskAnswer.objects.filter(task=task, answer__isnull=False)
        copies = dict(answers.values_list("answer", "answer__public_id"))
        for stored in (work.labels[key].stored for key in work.judgeable):
            for answer in same.get(stored.answer_id, [stored.answer_id]):
                yield Judgment(
                    stage=task.stage,
                    topic_id=task.topic_id,
                    unit=copies.get(answer, stored.unit),
                    answer_id=answer,
                    segment_id=stored.segment_id,
                    label=stored.label,
                    raw=stored.reason,
                    extras=stored.extras,
                )

    def row_json(self, row: LabelRow) -> dict[str, Any]:
        """Return a row as the page's script and the log hold it: only the fields that its stage has."""
        return {name: getattr(row, name) for name in ("key", "version", "label", "reason", *self.fields)}


def answers_of(context: DeskContext) -> tuple[tuple[str, bool], ...]:
    """Return the answers on the screen, each with whether it was seen."""
    rows = shown_answers(context).values_list("public_id", "seen_at")
    return tuple((answer, seen_at is not None) for answer, seen_at in rows)


def same_answers(task: Task) -> dict[int, list[int]]:
    """Return by shown answer, where it has copies, all answers with its text, itself included."""
    # An assessor reads such a text once, and reports count the label for each run that handed it in.
    same: dict[int, list[int]] = {}
    rows = TaskAnswer.objects.filter(task=task, same_as__isnull=False).order_by("position")
    for answer, first in rows.values_list("answer", "same_as"):
        same.setdefault(first, [first]).append(answer)
    return same


def row_from_json(data: Mapping[str, Any] | None) -> LabelRow | None:
    return None if data is None else LabelRow(**data)


def filled(stored: Any, pk: int | None, fields: Iterable[str], values: Iterable[Any]) -> Any:
    if pk is not None:
        stored.pk = pk
        for name, value in zip(fields, values, strict=True):
            setattr(stored, name, value)
    return stored
