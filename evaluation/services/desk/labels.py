"""The labels of a judging task between the database, the rules and the wire."""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from django.db.models import QuerySet

from evaluation.errors import Refused
from evaluation.models import Answer, NuggetVersion, TaskAnswer, WorkingAssignment, WorkingSupport
from evaluation.rules.judging import NO_MACHINE_LABEL, LabelRow
from evaluation.services.desk.finding import Place
from evaluation.services.desk.judging import AskedPair, nuggets_of, pair_of, pairs_of, wordings_asked
from evaluation.terms import AssignmentLabel, Stage, SupportLabel

SEPARATOR = "/"


class Labels(Protocol):
    """Where the labels of one kind of judging task are kept."""

    def read(self, keys: Collection[str] | None = None) -> dict[str, LabelRow]:
        """Return the rows of these keys, untouched ones too; without keys all that were touched.

        Raises `Refused` for a key that is not one of the task's.
        """

    def write(self, row: LabelRow) -> None:
        """Store a row that was read before."""


def labels_of(place: Place) -> Labels:
    """Return where a judging task's labels are kept."""
    return AssignmentLabels(place) if place.stage == Stage.ASSIGN else SupportLabels(place)


class AssignmentLabels:
    """Labels of answers and nuggets. Keys are the answer's and the nugget's public ids."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._found: dict[str, WorkingAssignment] = {}

    def read(self, keys: Collection[str] | None = None) -> dict[str, LabelRow]:
        """Return rows; see `Labels`."""
        if keys is None:
            current = [one.wording for one in nuggets_of(self.place)]
            rows = self._rows().filter(nugget_version__in=current)
            return {row.key: row for row in map(_assignment_row, rows)}
        self._found |= {key: self._find(key) for key in keys}
        return {key: _assignment_row(self._found[key]) for key in keys}

    def write(self, row: LabelRow) -> None:
        """Store a row that was read before."""
        stored = self._found[row.key]
        stored.version, stored.reason, stored.sentence = row.version, row.reason, row.sentence
        stored.label, stored.first_label = _assignment_code(row.label), _assignment_code(row.first_label)
        stored.save()

    def _rows(self) -> QuerySet[WorkingAssignment]:
        rows = WorkingAssignment.objects.filter(task=self.place.task)
        return rows.select_related("answer", "nugget_version__nugget")

    def _find(self, key: str) -> WorkingAssignment:
        """Return the stored row of a key, or a new one with version 0."""
        answer_id, _, nugget_id = key.partition(SEPARATOR)
        asked = wordings_asked(self.place, answer_id)
        wording = NuggetVersion.objects.filter(pk__in=asked, nugget__public_id=nugget_id)
        stored = self._rows().filter(answer__public_id=answer_id, nugget_version__in=wording).first()
        if stored:
            return stored
        there = TaskAnswer.objects.filter(task=self.place.task, same_as=None).values("answer")
        answer = Answer.objects.filter(public_id=answer_id, pk__in=there).first()
        version = wording.select_related("nugget").first()
        if answer is None or version is None:
            raise Refused("no_such_pair", "This answer or nugget is not among those of the task.")
        return WorkingAssignment(task_id=self.place.task, answer=answer, nugget_version=version, version=0)


class SupportLabels:
    """Labels of sentences and cited segments. Keys are the citations' public ids."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._found: dict[str, tuple[AskedPair, WorkingSupport]] = {}

    def read(self, keys: Collection[str] | None = None) -> dict[str, LabelRow]:
        """Return rows; see `Labels`."""
        pairs = pairs_of(self.place) if keys is None else [pair_of(self.place, key) for key in keys]
        rows = WorkingSupport.objects.filter(task=self.place.task)
        if keys is not None:
            rows = rows.filter(sentence__in={pair.sentence_pk for pair in pairs})
        stored = {(row.sentence_id, row.segment_id): row for row in rows}
        for pair in pairs:
            row = stored.get((pair.sentence_pk, pair.segment_pk or 0))
            if row is not None or keys is not None:
                self._found[pair.key] = pair, row or self._new(pair)
        return {pair.key: _support_row(*self._found[pair.key]) for pair in pairs if pair.key in self._found}

    def write(self, row: LabelRow) -> None:
        """Store a row that was read before."""
        _, stored = self._found[row.key]
        stored.version, stored.reason, stored.label = row.version, row.reason, support_code(row.label)
        stored.shown_label, stored.shown_ms, stored.accepted = (
            support_code(row.shown_label),
            row.shown_ms,
            row.accepted,
        )
        stored.save()

    def _new(self, pair: AskedPair) -> WorkingSupport:
        segment = pair.segment_pk or 0  # a pair that is asked about has one
        return WorkingSupport(task_id=self.place.task, sentence_id=pair.sentence_pk, segment_id=segment, version=0)


def _assignment_row(stored: WorkingAssignment) -> LabelRow:
    return LabelRow(
        key=f"{stored.answer.public_id}{SEPARATOR}{stored.nugget_version.nugget.public_id}",
        version=stored.version,
        label=_assignment_word(stored.label),
        reason=stored.reason,
        sentence=stored.sentence,
        first_label=_assignment_word(stored.first_label),
    )


def _support_row(pair: AskedPair, stored: WorkingSupport) -> LabelRow:
    """Return a stored label; what was shown at the decision stays, whatever the machine says by now."""
    return LabelRow(
        key=pair.key,
        version=stored.version,
        label=_support_word(stored.label),
        reason=stored.reason,
        shown_label=_support_word(stored.shown_label) or pair.machine,
        shown_ms=stored.shown_ms,
        accepted=stored.accepted,
    )


def _assignment_word(code: int | None) -> str | None:
    return None if code is None else AssignmentLabel(code).name.lower()


def _support_word(code: int | None) -> str | None:
    return None if code is None else SupportLabel(code).name.lower()


def _assignment_code(said: str | None) -> AssignmentLabel | None:
    return None if said is None else AssignmentLabel[said.upper()]


def support_code(said: str | None) -> SupportLabel | None:
    """Return the code of a support label's word; a machine that gave no label has none."""
    return None if said in (None, NO_MACHINE_LABEL) else SupportLabel[said.upper()]


def row_json(row: LabelRow, stage: str) -> dict[str, Any]:
    """Return a row as the page's script and the log hold it: only the fields that its stage has."""
    said: dict[str, Any] = {"key": row.key, "version": row.version, "label": row.label, "reason": row.reason}
    if stage == Stage.ASSIGN:
        return said | {"sentence": row.sentence, "first_label": row.first_label}
    if stage == Stage.SUPPORT_POST_EDIT:
        return said | {"shown_label": row.shown_label, "shown_ms": row.shown_ms, "accepted": row.accepted}
    return said


def row_from_json(said: Mapping[str, Any] | None) -> LabelRow | None:
    """Return what `row_json` wrote as a row again."""
    return None if said is None else LabelRow(**said)
