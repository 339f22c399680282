"""Loading labels that people gave an audit's pairs elsewhere: all of a file or nothing."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from accounts.models import User
from evaluation.domain.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.errors import InputProblem
from evaluation.formats.audits import REFUSED, AuditKey, AuditRecord, parse_audit
from evaluation.formats.source import Source
from evaluation.imports.base import ImportPlan, LoadReceipt, carry_out, refuse, with_every_problem
from evaluation.judges import judge_from_elsewhere
from evaluation.models import Assignment, Event, Judge, Study, SupportJudgment
from evaluation.terms import StudyKind
from reports.audits.frame import ITEM, current_labels, stored_frame
from reports.audits.frame import REFUSED as CANT_JUDGE
from reports.audits.population import pair_names

BATCH = 500


@with_every_problem
def import_audit(*, study: Study, source: Source, judge: str, actor: User | None = None) -> LoadReceipt:
    """Load one person's labels of pairs that were drawn, under a judge of the study's own.

    Raises `BadInput` for pairs that were not drawn, and for labels that differ from those that are loaded.
    """
    suffix = f", study {study.name}"
    kind = StudyKind(study.kind)
    records = parse_audit(source, kind, (judge, judge + suffix))
    return carry_out(
        campaign=study.campaign,
        kind="audit",
        sources=[source],
        actor=actor,
        make_plan=lambda _locked: _plan(
            study, source, records, judge_from_elsewhere(study, judge.removesuffix(suffix))
        ),
    )


def _plan(study: Study, source: Source, records: Sequence[AuditRecord], judge: Judge) -> ImportPlan:
    pairs = _drawn(study)
    loaded = {
        item: given[judge.name] for item, given in current_labels(study, Judge.objects.filter(pk=judge.pk)).items()
    }
    problems, new = [], []
    field = "nugget" if study.kind == StudyKind.ASSIGNMENT else "docid"
    for record in records:
        item = pairs.get(record.key)
        if item is None:
            text = f"a pair that was drawn for {study.name}, not {record.shown}"
            problems.append(InputProblem(source.name, record.line, field, text))
        elif item not in loaded:
            new.append((item, record.label))
        elif loaded[item] != record.label:
            there, here = (_word(study, label) for label in (loaded[item], record.label))
            text = f"{there}, which {judge.name} has given {record.shown}, found {here}"
            problems.append(InputProblem(source.name, record.line, "label", text))
    refuse(problems)

    def write(event: Event) -> None:
        _write(study, judge, new, event)

    return ImportPlan("labels", len(new), 0, len(records) - len(new), write=write)


def _drawn(study: Study) -> dict[AuditKey, tuple[int, int]]:
    frame = stored_frame(study)
    items = frame.items[frame.drawn]
    names = pair_names(study.campaign, study.kind, items)
    return {
        tuple(name.values()): (first, second) for name, (first, second) in zip(names, items.tolist(), strict=True)
    }


def _word(study: Study, label: int) -> str:
    if label == CANT_JUDGE:
        return REFUSED
    return (NUGGET_LABELS if study.kind == StudyKind.ASSIGNMENT else CITATION_LABELS).scale[label]


def _write(study: Study, judge: Judge, given: Sequence[tuple[tuple[int, int], int]], event: Event) -> None:
    common: dict[str, Any] = {"judge": judge, "given_at": timezone.now(), "event": event}
    if study.kind == StudyKind.ASSIGNMENT:
        Assignment.objects.bulk_create(
            [Assignment(label=label, **_fields(study, item), **common) for item, label in given], batch_size=BATCH
        )
    else:
        common["condition"] = study.condition
        SupportJudgment.objects.bulk_create(
            [SupportJudgment(label=label, **_fields(study, item), **common) for item, label in given],
            batch_size=BATCH,
        )


def _fields(study: Study, item: tuple[int, int]) -> dict[str, int]:
    return {f"{name}_id": key for name, key in zip(ITEM[StudyKind(study.kind)], item, strict=True)}
