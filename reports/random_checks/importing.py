"""Loading labels that people gave a random check's pairs elsewhere: all of a file or nothing.

A file has lines of one label, or is an export of ours, which has everybody's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model
from django.utils import timezone

from evaluation.campaigns.pseudonyms import Names
from evaluation.errors import InputProblem
from evaluation.formats.lines import (
    Count,
    Id,
    Line,
    Once,
    Sample,
    Wording,
    json_rows,
    sample_field,
    sample_words,
    unless_null,
)
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.imports.base import ImportPlan, LoadReceipt, carry_out, refuse, with_every_problem
from evaluation.judges import judge_from_elsewhere, stored_judge
from evaluation.models import Assignment, Event, Judge, Study, SupportJudgment
from evaluation.models.judges import IN_STUDY
from evaluation.stages import stage_of_study
from evaluation.studies import item_fields
from evaluation.terms import StudyKind
from reports.random_checks.frame import CANT_JUDGE, CANT_JUDGE_WORD, current_labels, stored_frame
from reports.random_checks.population import pair_names
from web.statements import ROWS_A_STATEMENT

RandomCheckKey = tuple[str | int, ...]
"""Run, topic, sample beyond the first, and nugget with its occurrence or sentence with its docid."""


@dataclass(frozen=True, slots=True)
class RandomCheckRecord:
    """One label of one pair, by its code; `shown` names the pair for people."""

    line: int
    key: RandomCheckKey
    label: int
    name: str


@with_every_problem
def import_random_check(*, study: Study, source: Source, judge: str) -> LoadReceipt:
    """Load one person's labels of pairs that were drawn, under a judge of the study's own.

    Raises `BadInput` for pairs that were not drawn, and for labels that differ from those that are loaded.
    """
    suffix, names = f"{IN_STUDY}{study.name}", Names([study.campaign], DEFAULT_DB_ALIAS)
    real_name = partial(names.real_judge, study.campaign_id)
    # Of whom an export names by pseudonym, and who judges nothing but studies.
    judge = real_name(real_name(judge) + suffix).removesuffix(suffix)
    records = parse_random_check(source, StudyKind(study.kind), (judge, judge + suffix), real_name)
    return carry_out(
        campaign=study.campaign,
        kind="random-check",
        sources=[source],
        actor=None,
        make_plan=lambda _locked: _plan(
            study, source, records, judge_from_elsewhere(study, judge.removesuffix(suffix))
        ),
    )


def _plan(study: Study, source: Source, records: Sequence[RandomCheckRecord], judge: Judge) -> ImportPlan:
    pairs = _drawn(study)
    words = {code: word for word, code in _words(StudyKind(study.kind)).items()}
    loaded = {
        item: labels[judge.name]
        for item, labels in current_labels(study, Judge.objects.filter(pk=judge.pk or 0)).items()
    }
    problems, new = [], []
    field = "nugget" if study.kind == StudyKind.ASSIGNMENT else "docid"
    for record in records:
        item = pairs.get(record.key)
        if item is None:
            text = f"a pair that was drawn for {study.name}, not {record.name}"
            problems.append(InputProblem(source.name, record.line, field, text))
        elif item not in loaded:
            new.append((item, record.label))
        elif loaded[item] != record.label:
            there, here = words[loaded[item]], words[record.label]
            text = f"{there}, which {judge.name} has given {record.name}, found {here}"
            problems.append(InputProblem(source.name, record.line, "label", text))
    refuse(problems)

    def write(event: Event) -> None:
        _write(study, stored_judge(judge), new, event)

    return ImportPlan("labels", len(new), 0, len(records) - len(new), write=write)


def _drawn(study: Study) -> dict[RandomCheckKey, tuple[int, int]]:
    frame = stored_frame(study)
    items = frame.items_of(frame.drawn)
    names = pair_names(study.campaign, study.kind, items)
    return {
        tuple(name.values()): (first, second) for name, (first, second) in zip(names, items.tolist(), strict=True)
    }


def _write(study: Study, judge: Judge, labels: Sequence[tuple[tuple[int, int], int]], event: Event) -> None:
    common: dict[str, Any] = {"judge": judge, "given_at": timezone.now(), "event": event}
    model: type[Model] = Assignment
    if study.kind == StudyKind.SUPPORT:
        model, common["condition"] = SupportJudgment, study.condition
    model._default_manager.bulk_create(
        [model(label=label, **item_fields(study, item), **common) for item, label in labels],
        batch_size=ROWS_A_STATEMENT,
    )


class _Labelled(Line):
    run_id: Id
    topic_id: Id
    sample: Sample = 1
    label: str | None = None
    labels: dict[str, str] | None = None


class _NuggetLine(_Labelled):
    nugget: Wording
    occurrence: Annotated[Count, unless_null(0)] = 0


class _CitationLine(_Labelled):
    sentence: Count
    docid: Id


def parse_random_check(
    source: Source, kind: StudyKind, judges: tuple[str, ...], real_name: Callable[[str], str] = str
) -> tuple[RandomCheckRecord, ...]:
    """All labels in file order; of an export's lines that of the first of these judges who has one there.

    `real_name` says who a name in an export is.

    Lines on which none of them has a label are left out. Raises `BadInput`: an unknown label, a line without any,
    and a pair that comes twice with different labels.
    """
    shape = _NuggetLine if kind is StudyKind.ASSIGNMENT else _CitationLine
    problems = Problems(source.name)
    once = Once(problems, "label")
    words = _words(kind)
    records = []
    for line, row in json_rows(source, shape.model_validate_json, problems):
        if row.label is None and row.labels is None:
            problems.add(line, "label", f"a label: {', '.join(words)}")
            continue
        labels = {real_name(name): word for name, word in (row.labels or {}).items()}
        word = (
            next((labels[judge] for judge in judges if judge in labels), None) if row.label is None else row.label
        )
        if word is None:
            continue
        if word not in words:
            problems.add(line, "label", f"{', '.join(words)}, found {word[:40]!r}")
            continue
        record = _record(line, row, words[word])
        if once.is_new(line, record.key, word, record.name):
            records.append(record)
    problems.raise_if_any()
    return tuple(records)


def _words(kind: StudyKind) -> dict[str, int]:
    degrees = stage_of_study(kind).labels.ascending
    return {label.word: int(label.code) for label in degrees} | {CANT_JUDGE_WORD: int(CANT_JUDGE)}


def _record(line: int, row: _Labelled, label: int) -> RandomCheckRecord:
    where = f"run {row.run_id}, topic {row.topic_id}{sample_words(row.sample)}"
    answer: RandomCheckKey = (row.run_id, row.topic_id, *sample_field(row.sample).values())
    if isinstance(row, _NuggetLine):
        occurrence = f", occurrence {row.occurrence}" if row.occurrence else ""
        name = f"{where}, nugget {row.nugget[:80]!r}{occurrence}"
        return RandomCheckRecord(line, (*answer, row.nugget, row.occurrence), label, name)
    if isinstance(row, _CitationLine):
        key = (*answer, row.sentence, row.docid)
        return RandomCheckRecord(line, key, label, f"{where}, sentence {row.sentence}, {row.docid}")
    raise TypeError(f"a line of no kind: {type(row)}")
