"""Nuggets in answers at the desk: those of the newest submitted list, or those that a study drew."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from assessor.desk.context import DeskContext
from assessor.desk.task_labels import (
    SEPARATOR,
    JudgingDesk,
    StoredLabel,
    TaskLabels,
    answers_of,
    drawn_pairs,
    filled,
    same_answers,
)
from assessor.models import Operation, WorkingAssignment
from evaluation.errors import Refused
from evaluation.labels import unit_of
from evaluation.models import Assignment, ListedNugget, NuggetList, Task
from evaluation.rules.text import shuffled
from evaluation.tasks.asking import listed_now
from evaluation.terms import Importance

SWEEP = "sweep"


@dataclass(frozen=True, slots=True)
class AskedNugget:
    """A nugget of the list that is assigned: its lasting id, and the wording in force."""

    key: str
    wording: int
    text: str
    importance: int
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class AskedNuggets:
    """Nuggets to label. `by_answer`: those of each answer; None: all for every answer."""

    nuggets: list[AskedNugget]
    by_answer: dict[str, list[str]] | None


class NuggetDesk(JudgingDesk):
    fields = ("sentence", "first_label")
    working = WorkingAssignment
    places = True
    pane = "Nuggets"

    def find(self, context: DeskContext, key: str) -> StoredLabel:
        answer_id, _, nugget_id = key.partition(SEPARATOR)
        listed = (_DRAWN, context.study) if context.study else (_LISTED, context.nugget_set)
        with connection.cursor() as cursor:
            cursor.execute(
                _PAIR_OF_NUGGET + listed[0], [nugget_id, context.task, answer_id, listed[1], context.topic]
            )
            row = cursor.fetchone()
        if row is None:
            raise Refused("no_such_pair", "This answer or nugget is not among those of the task.")
        answer, wording, pk, *values = row
        stored = WorkingAssignment(task_id=context.task, answer_id=answer, nugget_version_id=wording, version=0)
        return StoredLabel(key, filled(stored, pk, ("version", "label", "reason", *self.fields), values), self)

    def read(self, context: DeskContext) -> TaskLabels:
        answers, nuggets = answers_of(context), nuggets_of(context)
        by_answer = nuggets_by_answer(context, nuggets)
        all_keys = [nugget.key for nugget in nuggets]
        numbers = {key: number for number, key in enumerate(all_keys, start=1)}
        names = {
            f"{answer}{SEPARATOR}{key}": f"Answer {n}, N{number}"
            for key, number in numbers.items()
            for n, (answer, _) in enumerate(answers, start=1)
        }
        judgeable = [
            f"{answer}{SEPARATOR}{key}"
            for answer, _ in answers
            for key in (all_keys if by_answer is None else by_answer[answer])
        ]
        asked = AskedNuggets(nuggets, by_answer)
        units = {nugget.key: unit_of(nugget.weight) for nugget in nuggets if nugget.weight is not None}
        return TaskLabels(answers, asked, judgeable, names, self._labels(context, nuggets), units=units)

    def _labels(self, context: DeskContext, nuggets: Sequence[AskedNugget]) -> dict[str, StoredLabel]:
        current = [nugget.wording for nugget in nuggets]
        rows = WorkingAssignment.objects.filter(task=context.task, nugget_version__in=current)
        # Without an order each engine gives the rows in its own.
        rows = rows.select_related("answer", "nugget_version__nugget").order_by("answer_id", "nugget_version_id")
        keyed = ((f"{row.answer.public_id}{SEPARATOR}{row.nugget_version.nugget.public_id}", row) for row in rows)
        return {key: StoredLabel(key, row, self) for key, row in keyed}

    def state(self, task: Task, work: TaskLabels) -> dict[str, Any]:
        shows = task.protocol.show_importance
        nuggets = [
            {"key": nugget.key, "text": nugget.text, "importance": _importance(nugget.importance) if shows else ""}
            | ({"unit": work.units[nugget.key]} if nugget.key in work.units else {})
            for nugget in work.asked.nuggets
        ]
        return {"nuggets": nuggets, "sweep": _sweep(task, work)}

    def answer_state(self, work: TaskLabels, answer: str) -> dict[str, Any]:
        # Only where not every nugget is asked of every answer.
        return {} if work.asked.by_answer is None else {"nuggets": work.asked.by_answer[answer]}

    def asked_now(self, rows: QuerySet[Any], tasks: Sequence[Task]) -> QuerySet[Any]:
        return rows.filter(nugget_version__in=listed_now(tasks))

    def frozen(self, task: Task, work: TaskLabels) -> Iterator[Assignment]:
        same = same_answers(task)
        for row in (label.stored for label in work.labels.values()):
            if row.label is not None:
                for answer in same.get(row.answer_id, [row.answer_id]):
                    yield Assignment(
                        answer_id=answer,
                        nugget_version_id=row.nugget_version_id,
                        label=row.label,
                        raw=row.reason,
                        sentence=row.sentence,
                        first_label=row.first_label,
                    )


def _importance(code: int) -> str:
    return "" if code == Importance.UNKNOWN else Importance(code).name.lower()


def _sweep(task: Task, work: TaskLabels) -> str | bool:
    if not task.protocol.nugget_sweep or task.study_id:
        return False
    if Operation.objects.filter(task=task, submission=task.version, kind=SWEEP).exists():
        return "begun"
    return False if work.missing else "offered"


def nuggets_of(context: DeskContext) -> list[AskedNugget]:
    """Return the nuggets of the newest submitted list, in an order that tells neither importance nor place.

    Of a study only those that were drawn for some answer, as they were worded then.
    """
    lists = NuggetList.objects.filter(nugget_set=context.nugget_set, topic=context.topic)
    if context.study:
        drawn = drawn_pairs(context).values("nugget_version")
        # The newest list last: its importance is the one in force where several lists have a wording.
        items = ListedNugget.objects.filter(nugget_list__in=lists, nugget_version__in=drawn)
        items = items.order_by("nugget_list__version")
    else:
        items = ListedNugget.objects.filter(nugget_list__in=lists.newest_submitted())
    nuggets = {
        item.nugget_version.nugget.public_id: AskedNugget(
            item.nugget_version.nugget.public_id,
            item.nugget_version_id,
            item.nugget_version.text,
            item.importance,
            item.weight,
        )
        for item in items.select_related("nugget_version__nugget")
    }
    # A list with the vital nuggets first would tell importance, which assigning must not know.
    return [nuggets[key] for key in shuffled(f"topic {context.topic}", list(nuggets))]


def nuggets_by_answer(context: DeskContext, nuggets: Sequence[AskedNugget]) -> dict[str, list[str]] | None:
    """Return the nuggets to label in each answer, in their order; None where every answer has all of them."""
    if not context.study:
        return None
    rows = drawn_pairs(context).values_list("answer__public_id", "nugget_version__nugget__public_id")
    order = {nugget.key: number for number, nugget in enumerate(nuggets)}
    keys_by_answer: dict[str, list[str]] = {}
    for answer, nugget in sorted(rows, key=lambda row: order[row[1]]):
        keys_by_answer.setdefault(answer, []).append(nugget)
    return keys_by_answer


# Written out, as the context is: an assessor waits for it at each key, and it takes the place of three statements.
_PAIR_OF_NUGGET = """
SELECT shown.answer_id, version.id, work.id, work.version, work.label, work.reason, work.sentence, work.first_label
FROM evaluation_taskanswer shown
     JOIN evaluation_answer answer ON answer.id = shown.answer_id
     JOIN evaluation_nugget nugget ON nugget.public_id = %s
     JOIN evaluation_nuggetversion version ON version.nugget_id = nugget.id
     LEFT JOIN assessor_workingassignment work
     ON work.task_id = shown.task_id AND work.answer_id = shown.answer_id AND work.nugget_version_id = version.id
WHERE shown.task_id = %s AND shown.same_as_id IS NULL AND answer.public_id = %s
"""
# The wording of the newest submitted list, or the one that was drawn for this answer.
_LISTED = """
AND version.id IN (
    SELECT item.nugget_version_id FROM evaluation_listednugget item WHERE item.nugget_list_id = (
        SELECT id FROM evaluation_nuggetlist
        WHERE nugget_set_id = %s AND topic_id = %s AND submitted ORDER BY version DESC LIMIT 1
    )
)
"""
_DRAWN = """
AND version.id IN (
    SELECT pair.nugget_version_id FROM evaluation_studypair pair
    WHERE pair.study_id = %s AND pair.topic_id = %s AND pair.answer_id = shown.answer_id
)
"""
