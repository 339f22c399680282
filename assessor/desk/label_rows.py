"""The labels of a judging task between the database, the rules and the wire."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from django.db import connection

from assessor.desk.context import DeskContext
from assessor.desk.task_pairs import machine_labels, nuggets_of, pairs_of, task_citations
from assessor.models import WorkingAssignment, WorkingSupport
from assessor.rules.label_ops import NO_MACHINE_LABEL, LabelRow
from evaluation.errors import Refused
from evaluation.terms import AssignmentLabel, Stage, SupportLabel

SEPARATOR = "/"


class LabelRows(Protocol):
    """Table of the labels of one kind of judging task."""

    def read(self, keys: Collection[str] | None = None) -> dict[str, LabelRow]:
        """Return the rows of these keys, untouched ones too; without keys all that were touched.

        Raises `Refused` for a key that is not one of the task's.
        """

    def write(self, row: LabelRow) -> None:
        """Store a row that was read before."""


def labels_of(place: DeskContext) -> LabelRows:
    return AssignmentLabels(place) if place.stage == Stage.ASSIGN else SupportLabels(place)


# Written out, as the place is: an assessor waits for it at each key, and it takes the place of three statements.
_ASKED = """
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

# All citations of the sentence: which of them count is told from all of them.
_CITED = """
SELECT cited.public_id, cited.segment_id, segment.has_text, cited.sentence_id,
       work.id, work.version, work.label, work.reason, work.shown_label, work.shown_ms, work.accepted
FROM evaluation_citation asked
     JOIN evaluation_sentence sentence ON sentence.id = asked.sentence_id
     JOIN evaluation_taskanswer shown ON shown.answer_id = sentence.answer_id AND shown.same_as_id IS NULL
     JOIN evaluation_citation cited ON cited.sentence_id = sentence.id
     LEFT JOIN evaluation_segment segment ON segment.id = cited.segment_id
     LEFT JOIN assessor_workingsupport work
     ON work.task_id = shown.task_id AND work.sentence_id = cited.sentence_id AND work.segment_id = cited.segment_id
WHERE asked.public_id = %s AND shown.task_id = %s
ORDER BY cited.position
"""


class AssignmentLabels:
    """Labels of answers and nuggets. Keys are the answer's and the nugget's public ids."""

    def __init__(self, place: DeskContext) -> None:
        self.place = place
        self._found: dict[str, WorkingAssignment] = {}

    def read(self, keys: Collection[str] | None = None) -> dict[str, LabelRow]:
        if keys is None:
            current = [nugget.wording for nugget in nuggets_of(self.place)]
            rows = WorkingAssignment.objects.filter(task=self.place.task, nugget_version__in=current)
            rows = rows.select_related("answer", "nugget_version__nugget").order_by(
                "answer_id", "nugget_version_id"
            )
            return {row.key: row for row in (_assignment_row(_key_of(row), row) for row in rows)}
        self._found |= {key: self._find(key) for key in keys}
        return {key: _assignment_row(key, self._found[key]) for key in keys}

    def write(self, row: LabelRow) -> None:
        stored = self._found[row.key]
        stored.version, stored.reason, stored.sentence = row.version, row.reason, row.sentence
        stored.label, stored.first_label = _assignment_code(row.label), _assignment_code(row.first_label)
        _save(stored)

    def _find(self, key: str) -> WorkingAssignment:
        """Return the stored row of a key, or a new one with version 0."""
        answer_id, _, nugget_id = key.partition(SEPARATOR)
        place = self.place
        listed = (_DRAWN, place.study) if place.study else (_LISTED, place.nugget_set)
        with connection.cursor() as cursor:
            cursor.execute(_ASKED + listed[0], [nugget_id, place.task, answer_id, listed[1], place.topic])
            found = cursor.fetchone()
        if found is None:
            raise Refused("no_such_pair", "This answer or nugget is not among those of the task.")
        answer, wording, pk, version, label, reason, sentence, first = found
        row = WorkingAssignment(task_id=place.task, answer_id=answer, nugget_version_id=wording, version=0)
        if pk is not None:
            row.pk, row.version, row.label, row.reason, row.sentence, row.first_label = (
                pk,
                version,
                label,
                reason,
                sentence,
                first,
            )
        return row


class SupportLabels:
    """Labels of sentences and cited segments. Keys are the citations' public ids."""

    def __init__(self, place: DeskContext) -> None:
        self.place = place
        self._found: dict[str, tuple[str | None, WorkingSupport]] = {}  # with what the machine says

    def read(self, keys: Collection[str] | None = None) -> dict[str, LabelRow]:
        if keys is not None:
            self._found |= {key: self._find(key) for key in keys}
            return {key: _support_row(key, *self._found[key]) for key in keys}
        rows = WorkingSupport.objects.filter(task=self.place.task)
        stored = {(row.sentence_id, row.segment_id): row for row in rows}
        return {
            pair.key: _support_row(pair.key, pair.machine, row)
            for pair in pairs_of(self.place)
            if (row := stored.get((pair.sentence_pk, pair.segment_pk or 0)))
        }

    def write(self, row: LabelRow) -> None:
        _, stored = self._found[row.key]
        stored.version, stored.reason, stored.label = row.version, row.reason, support_code(row.label)
        stored.shown_label, stored.shown_ms, stored.accepted = (
            support_code(row.shown_label),
            row.shown_ms,
            row.accepted,
        )
        _save(stored)

    def _find(self, key: str) -> tuple[str | None, WorkingSupport]:
        """Return the machine's label, where it is shown, and the stored row of a key, or a new one with version 0."""
        with connection.cursor() as cursor:
            cursor.execute(_CITED, [key, self.place.task])
            cited = cursor.fetchall()
        rows = ((row[3], row[1], row) for row in cited)
        for sentence, segment, (public_id, _, has_text, _, *stored) in task_citations(self.place, rows):
            # A citation without a text is not asked, and nobody may label one that is not on the page.
            if segment is not None and public_id == key and has_text:
                machine = machine_labels(self.place, [sentence]) or {}
                return machine.get((sentence, segment)), self._row(sentence, segment, stored)
        raise Refused("no_such_pair", "This citation is not among those to judge.")

    def _row(self, sentence: int, segment: int, stored: Sequence[Any]) -> WorkingSupport:
        row = WorkingSupport(task_id=self.place.task, sentence_id=sentence, segment_id=segment, version=0)
        pk, version, label, reason, shown_label, shown_ms, accepted = stored
        if pk is not None:
            row.pk, row.version, row.label, row.reason = pk, version, label, reason
            row.shown_label, row.shown_ms, row.accepted = shown_label, shown_ms, bool(accepted)
        return row


def _save(stored: WorkingAssignment | WorkingSupport) -> None:
    """Write a row that was found, or make it; the task is locked, so that nobody else did either meanwhile."""
    stored.save(force_insert=stored.pk is None, force_update=stored.pk is not None)


def _key_of(stored: WorkingAssignment) -> str:
    return f"{stored.answer.public_id}{SEPARATOR}{stored.nugget_version.nugget.public_id}"


def _assignment_row(key: str, stored: WorkingAssignment) -> LabelRow:
    return LabelRow(
        key=key,
        version=stored.version,
        label=_assignment_word(stored.label),
        reason=stored.reason,
        sentence=stored.sentence,
        first_label=_assignment_word(stored.first_label),
    )


def _support_row(key: str, machine: str | None, stored: WorkingSupport) -> LabelRow:
    """Return a stored label; what was shown at the decision stays, whatever the machine says by now."""
    return LabelRow(
        key=key,
        version=stored.version,
        label=_support_word(stored.label),
        reason=stored.reason,
        # Agreement with a machine is measured on what was seen, not on what the machine says by now.
        shown_label=_support_word(stored.shown_label) or machine,
        shown_ms=stored.shown_ms,
        accepted=stored.accepted,
    )


def _assignment_word(code: int | None) -> str | None:
    return None if code is None else AssignmentLabel(code).name.lower()


def _support_word(code: int | None) -> str | None:
    return None if code is None else SupportLabel(code).name.lower()


def _assignment_code(word: str | None) -> AssignmentLabel | None:
    return None if word is None else AssignmentLabel[word.upper()]


def support_code(word: str | None) -> SupportLabel | None:
    """Return the code of a support label's word; a machine that gave no label has none."""
    return None if word in (None, NO_MACHINE_LABEL) else SupportLabel[word.upper()]


def row_json(row: LabelRow, stage: str) -> dict[str, Any]:
    """Return a row as the page's script and the log hold it: only the fields that its stage has."""
    data: dict[str, Any] = {"key": row.key, "version": row.version, "label": row.label, "reason": row.reason}
    if stage == Stage.ASSIGN:
        return data | {"sentence": row.sentence, "first_label": row.first_label}
    if stage == Stage.SUPPORT_POST_EDIT:
        return data | {"shown_label": row.shown_label, "shown_ms": row.shown_ms, "accepted": row.accepted}
    return data


def row_from_json(data: Mapping[str, Any] | None) -> LabelRow | None:
    """Return a row from the form that `row_json` writes."""
    return None if data is None else LabelRow(**data)
