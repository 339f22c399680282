"""Import runs: answers with their sentences and citations."""

import hashlib
from collections.abc import Container, Sequence
from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from evaluation.errors import BadInput, InputProblem, Refused
from evaluation.formats.runs import RunFile, parse_run, run_findings
from evaluation.formats.source import Source
from evaluation.imports.base import (
    BATCH,
    ImportFinding,
    ImportPlan,
    LoadReceipt,
    carry_out,
    changed_problem,
    refuse_changes,
    refuse_if_labelled,
    restate_missing_texts,
    segment_pks,
    with_every_problem,
)
from evaluation.imports.dependents import labels_on_run
from evaluation.labelling import upsert
from evaluation.models import Answer, AnswerProvenance, Campaign, Citation, Event, Finding, Run, Sentence
from evaluation.models.fields import new_public_id
from evaluation.rules.text import check_name
from evaluation.tasks.pooling import extend_tasks, leave_out_answers, lock_judging
from evaluation.terms import RagTask

LAST_PRIORITY = 32_767  # what the column holds


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Facts of a run that its file lacks. None keeps the loaded value, or the file's."""

    group: str | None = None
    task: RagTask | None = None
    priority: int | None = None
    control: bool = False
    pool: bool = False


@dataclass(frozen=True, slots=True)
class _Submitted:
    source: Source
    file: RunFile
    sha256: str
    wanted: dict[str, object]


@with_every_problem
def import_runs(
    *,
    campaign: Campaign,
    sources: Sequence[Source],
    options: RunOptions | None = None,
    replace: bool = False,
    actor: User | None = None,
) -> LoadReceipt:
    """Load one run per source; judging tasks get the new answers.

    Raises `BadInput` for bad files, and for a changed run without `replace`.
    """
    if options and options.group:
        check_name("group", options.group)
    if options and options.priority is not None and not 1 <= options.priority <= LAST_PRIORITY:
        raise Refused("usage", f"priority: a number from 1 to {LAST_PRIORITY:,}, found {options.priority}")
    topics = frozenset(campaign.topics.values_list("topic_id", flat=True))
    submitted = _all_submitted(sources, topics, options or RunOptions())
    _refuse_same_run_twice(submitted)
    with transaction.atomic():
        lock_judging(campaign)
        return carry_out(
            campaign=campaign,
            kind="run",
            sources=sources,
            actor=actor,
            make_plan=lambda locked: _plan(locked, submitted, replace),
        )


def _all_submitted(sources: Sequence[Source], topics: Container[str], options: RunOptions) -> list[_Submitted]:
    """Parse all files; what is wrong with several of them is told together. Raises `BadInput`."""
    submitted: list[_Submitted] = []
    problems: list[InputProblem] = []
    for source in sources:
        try:
            submitted.append(_submitted(source, topics, options))
        except BadInput as wrong:
            problems += wrong.problems
    if problems:
        raise BadInput(problems)
    return submitted


def _submitted(source: Source, topics: Container[str], options: RunOptions) -> _Submitted:
    file = parse_run(source, topics)
    values = {
        "group": options.group if options.group is not None else file.team or None,
        "task": options.task or _task(file.task_type),
        "priority": options.priority,
        "control": options.control or None,
        "pool": options.pool or None,
    }
    return _Submitted(
        source, file, _fingerprint(file), {key: one for key, one in values.items() if one is not None}
    )


def _task(task_type: str | None) -> RagTask | None:
    """Return the task a 2025 file names in words such as `automatic rag`, if it names one."""
    words = (task_type or "").upper().replace("-", " ").split()
    return next((task for task in (RagTask.RAG, RagTask.AG) if task in words), None)


def _fingerprint(file: RunFile) -> str:
    """Return a hash of what the file says, whatever its line order within an answer's keys or its compression."""
    digest = hashlib.sha256()
    for answer in sorted(file.answers, key=lambda one: one.topic_id):
        digest.update(repr((answer.topic_id, answer.references, answer.response_length)).encode())
        for sentence in answer.sentences:
            cited = [(citation.docid, citation.raw) for citation in sentence.citations]
            digest.update(repr((sentence.text, cited)).encode())
    return digest.hexdigest()


def _refuse_same_run_twice(submitted: Sequence[_Submitted]) -> None:
    first: dict[str, str] = {}
    problems = []
    for one in submitted:
        if one.file.run_id in first:
            text = f"one file per run; {one.file.run_id} is also in {first[one.file.run_id]}"
            problems.append(InputProblem(one.source.name, 1, "run_id", text))
        first.setdefault(one.file.run_id, one.source.name)
    if problems:
        raise BadInput(problems)


def _plan(campaign: Campaign, submitted: Sequence[_Submitted], replace: bool) -> ImportPlan:
    topics = {topic.topic_id: topic for topic in campaign.topics.all()}
    loaded = {run.run_id: run for run in campaign.runs.all()}
    new = [one for one in submitted if one.file.run_id not in loaded]
    changed = [one for one in submitted if _differs(one, loaded.get(one.file.run_id))]
    rewritten = [one for one in changed if loaded[one.file.run_id].sha256 != one.sha256]
    refuse_changes([_change(one, loaded[one.file.run_id]) for one in changed], replace)
    for one in rewritten:
        refuse_if_labelled(labels_on_run(loaded[one.file.run_id]), f"Run {one.file.run_id}")

    def write(event: Event) -> None:
        for one in changed:
            _update(loaded[one.file.run_id], one, event)
        for one in rewritten:
            answers = _answers_of(loaded[one.file.run_id])
            leave_out_answers(answers)
            Answer.objects.filter(pk__in=answers).delete()
            Finding.objects.filter(campaign=campaign, run_id=one.file.run_id).delete()
        _write_answers(campaign, [(_run_of(campaign, one, loaded, event), one) for one in new + rewritten], event)
        restate_missing_texts(campaign, event)
        extend_tasks(campaign)

    texts = {topic_id: topic.text for topic_id, topic in topics.items()}
    found = [finding for one in new + rewritten for finding in _findings(campaign, one, texts)]
    unchanged = len(submitted) - len(new) - len(changed)
    answers = sum(len(one.file.answers) for one in new + rewritten)
    return ImportPlan("runs", len(new), len(changed), unchanged, found, {"answers": answers}, write)


def _change(one: _Submitted, run: Run) -> InputProblem:
    """Return the problem of a changed run, with the first option that differs; else its answers do."""
    names = [name for name, value in one.wanted.items() if getattr(run, name) != value]
    if run.sha256 != one.sha256 or not names:
        old, new = AnswerProvenance.objects.filter(run=run).count(), len(one.file.answers)
        values = {"loaded": f"{old} answers", "in_file": f"{new} answers"}
    else:
        values = {
            "loaded": f"{names[0]} {getattr(run, names[0])}",
            "in_file": f"{names[0]} {one.wanted[names[0]]}",
        }
    return changed_problem(one.source, 1, "run", one.file.run_id, **values)


def _differs(one: _Submitted, run: Run | None) -> bool:
    if run is None:
        return False
    return run.sha256 != one.sha256 or any(getattr(run, key) != value for key, value in one.wanted.items())


def _findings(campaign: Campaign, one: _Submitted, topics: dict[str, str]) -> list[ImportFinding]:
    protocol = campaign.protocol
    noticed = run_findings(
        one.file,
        word_limit=protocol.answer_word_limit,
        reference_limit=protocol.reference_limit,
        topics=topics,
    )
    return [
        ImportFinding(each.code, one.source.name, each.line, each.message, each.topic_id or "", one.file.run_id)
        for each in noticed
    ]


def _run_of(campaign: Campaign, one: _Submitted, loaded: dict[str, Run], event: Event) -> Run:
    if one.file.run_id in loaded:
        return loaded[one.file.run_id]
    return Run.objects.create(
        campaign=campaign, run_id=one.file.run_id, sha256=one.sha256, event=event, **one.wanted
    )


def _update(run: Run, one: _Submitted, event: Event) -> None:
    for key, value in one.wanted.items():
        setattr(run, key, value)
    run.sha256, run.event = one.sha256, event
    run.save()


def _answers_of(run: Run) -> list[int]:
    return list(AnswerProvenance.objects.filter(run=run).values_list("answer", flat=True))


def _write_answers(campaign: Campaign, runs: list[tuple[Run, _Submitted]], event: Event) -> None:
    topics = dict(campaign.topics.values_list("topic_id", "pk"))
    rows = [(run, row) for run, one in runs for row in one.file.answers]
    answers = [Answer(topic_id=topics[row.topic_id], words=row.words) for _, row in rows]
    Answer.objects.bulk_create(answers, batch_size=BATCH)
    AnswerProvenance.objects.bulk_create(
        [
            AnswerProvenance(
                answer=answer,
                run=run,
                topic_id=answer.topic_id,
                response_length=row.response_length,
                references=list(row.references),
                extra=dict(row.extra),
                line=row.line,
            )
            for answer, (run, row) in zip(answers, rows, strict=True)
        ],
        batch_size=BATCH,
    )
    written = [
        (Sentence(answer=answer, index=index, text=sentence.text), sentence.citations)
        for answer, (_, row) in zip(answers, rows, strict=True)
        for index, sentence in enumerate(row.sentences)
    ]
    Sentence.objects.bulk_create([sentence for sentence, _ in written], batch_size=BATCH)
    docids = {citation.docid for _, citations in written for citation in citations if citation.docid}
    segments = segment_pks(campaign, docids, event)
    upsert(
        Citation,
        ["public_id", "sentence_id", "position", "segment_id", "raw"],
        (
            (
                new_public_id(),
                sentence.pk,
                position,
                segments[citation.docid] if citation.docid else None,
                citation.raw,
            )
            for sentence, citations in written
            for position, citation in enumerate(citations)
        ),
        unique=["sentence_id", "position"],
        update=["segment_id", "raw"],
    )
