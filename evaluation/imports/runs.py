"""Import runs: answers with their sentences and citations, and the texts that they bring."""

import hashlib
import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accounts.models import User
from evaluation.errors import BadInput, InputProblem, Refused
from evaluation.formats.runs import (
    RunFile,
    RunFinding,
    first_ids,
    parse_run,
    run_findings,
    strangers,
    strangers_message,
)
from evaluation.formats.segments import SegmentRecord
from evaluation.formats.source import Source
from evaluation.imports.base import (
    TEXTS,
    ImportFinding,
    ImportPlan,
    LoadReceipt,
    NamedSegments,
    carry_out,
    changed_problem,
    compare,
    refuse,
    refuse_if_labelled,
    restate_missing_texts,
    with_every_problem,
)
from evaluation.imports.dependents import forget_left_over, labels_on_run
from evaluation.imports.segments import addressing_in, text_rows, write_texts
from evaluation.labelling import last_key, upsert
from evaluation.models import Answer, AnswerProvenance, Campaign, Citation, Event, Finding, Run, Sentence
from evaluation.models.fields import new_public_id
from evaluation.rules.text import check_name
from evaluation.tasks.pooling import extend_tasks, leave_out_answers, lock_judging
from evaluation.terms import FindingCode, RagTask

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
class SubmittedRun:
    source: Source
    file: RunFile
    sha256: str
    fields: dict[str, object]

    @property
    def run_id(self) -> str:
        return self.file.run_id

    @property
    def documents(self) -> Iterator[SegmentRecord]:
        return (record for answer in self.file.answers for record in answer.documents)


@with_every_problem
def import_runs(
    *,
    campaign: Campaign,
    sources: Sequence[Source],
    options: RunOptions | None = None,
    replace: bool = False,
    actor: User | None = None,
) -> LoadReceipt:
    """Load one run per source; judging tasks get the new answers. Raises `BadInput`; a change needs `replace`."""
    if options and options.group:
        check_name("group", options.group)
    if options and options.priority is not None and not 1 <= options.priority <= LAST_PRIORITY:
        raise Refused("usage", f"priority: a number from 1 to {LAST_PRIORITY:,}, found {options.priority}")
    topics = frozenset(campaign.topics.values_list("topic_id", flat=True))
    submitted = _all_submitted(sources, topics, options or RunOptions())
    # The order of two files must not decide which of them people judge.
    _refuse_same_run_twice(submitted)
    return carry_out(
        campaign=campaign,
        kind="run",
        sources=sources,
        actor=actor,
        make_plan=lambda locked: _plan(locked, submitted, replace),
        lock=lock_judging,
    )


def _all_submitted(sources: Sequence[Source], topics: Container[str], options: RunOptions) -> list[SubmittedRun]:
    """Parse all files. Raises `BadInput` with the problems of all of them."""
    submitted: list[SubmittedRun] = []
    problems: list[InputProblem] = []
    for source in sources:
        try:
            submitted.append(_submitted(source, topics, options))
        except BadInput as wrong:
            problems += wrong.problems
    refuse(problems)
    return submitted


def _submitted(source: Source, topics: Container[str], options: RunOptions) -> SubmittedRun:
    file = parse_run(source, topics)
    values = {
        "group": options.group if options.group is not None else file.team or None,
        "task": options.task or _task(file.task_type),
        "priority": options.priority,
        # The option's absence takes no mark from a run that has it.
        "control": options.control or None,
        "pool": options.pool or None,
    }
    return SubmittedRun(
        source, file, fingerprint_of(file), {key: value for key, value in values.items() if value is not None}
    )


def _task(task_type: str | None) -> RagTask | None:
    words = (task_type or "").upper().replace("-", " ").split()
    return next((task for task in (RagTask.RAG, RagTask.AG) if task in words), None)


def fingerprint_of(file: RunFile) -> str:
    """Return a hash of the answers, whatever the order of keys and lines, or the compression of the file."""
    digest = hashlib.sha256()
    # The order of a file's lines has no meaning, so the same answers in another order are no change.
    for answer in sorted(file.answers, key=lambda answer: (answer.topic_id, answer.sample)):
        sample = (answer.sample,) if answer.sample > 1 else ()
        digest.update(repr((answer.topic_id, answer.references, answer.response_length, *sample)).encode())
        for sentence in answer.sentences:
            cited = [(citation.docid, citation.raw) for citation in sentence.citations]
            digest.update(repr((sentence.text, cited)).encode())
    return digest.hexdigest()


def _refuse_same_run_twice(submitted: Sequence[SubmittedRun]) -> None:
    first: dict[str, str] = {}
    problems = []
    for submission in submitted:
        if submission.run_id in first:
            text = f"one file per run; {submission.run_id} is also in {first[submission.run_id]}"
            problems.append(InputProblem(submission.source.name, 1, "run_id", text))
        first.setdefault(submission.run_id, submission.source.name)
    refuse(problems)


def _plan(campaign: Campaign, submitted: Sequence[SubmittedRun], replace: bool) -> ImportPlan:
    loaded = {run.run_id: run for run in campaign.runs.all()}
    compared = compare(submitted, lambda submission: submission.run_id, loaded, _differs, _change, replace)
    rewritten = [
        submission for submission in compared.changed if loaded[submission.run_id].sha256 != submission.sha256
    ]
    to_write = compared.new + rewritten

    rows, documents = answer_rows(campaign, to_write), documents_of(campaign, submitted)
    texts_to_write = text_rows(record for _, record in documents.new)
    topics = dict(campaign.topics.values_list("topic_id", "pk"))

    def check() -> None:
        for submission in rewritten:
            # Deleting the answers would delete the judgments on them, and no judgment is ever lost.
            refuse_if_labelled(labels_on_run(loaded[submission.run_id]), f"Run {submission.run_id}")

    def write(event: Event) -> None:
        for submission in compared.changed:
            _update(loaded[submission.run_id], submission, event)
        for submission in rewritten:
            replaced = AnswerProvenance.objects.filter(run=loaded[submission.run_id])
            answers = list(replaced.values_list("answer", flat=True))
            # Answers with the same text hang on these rows and must be judged for themselves from now on.
            leave_out_answers(answers)
            forget_left_over("answer", replaced.values("answer"))
            Answer.objects.filter(pk__in=answers).delete()
            Finding.objects.filter(campaign=campaign, run_id=submission.run_id).delete()
        runs = {submission.run_id: _run_of(campaign, submission, loaded, event).pk for submission in to_write}
        write_answers(rows, runs, topics, event)
        # After the citations, which count as new what they find without a row.
        write_texts(campaign, texts_to_write, event)
        # New citations may name segments whose text is not loaded; that count covers the whole campaign.
        restate_missing_texts(campaign, event)
        # Judging may have begun: open tasks get the new answers, submitted tasks are reopened.
        extend_tasks(campaign)

    texts, limits = dict(campaign.topics.values_list("topic_id", "text")), topic_limits_of(campaign)
    findings = [
        *(finding for submission in to_write for finding in findings_of(campaign, submission, texts, limits)),
        *documents.findings,
        *addressing_in(documents.new),
    ]
    answers = sum(len(submission.file.answers) for submission in to_write)
    counts = {"answers": answers, TEXTS: len(documents.new)}
    return ImportPlan("runs", *compared.counts, findings, counts, write, check)


@dataclass(frozen=True, slots=True)
class _Documents:
    """Texts that runs bring: those that nobody loaded before, and findings about others."""

    new: list[tuple[Source, SegmentRecord]]
    findings: list[ImportFinding]


def documents_of(campaign: Campaign, submitted: Sequence[SubmittedRun]) -> _Documents:
    """Look through the documents of all runs, of those too that are loaded without them: the first text stays."""
    brought = {record.docid for submission in submitted for record in submission.documents}
    loaded = campaign.segments.filter(has_text=True).values_list("docid", "text") if brought else ()
    texts = {docid: text for docid, text in loaded if docid in brought}
    documents = _Documents([], [])
    for submission in submitted:
        for answer in submission.file.answers:
            other = []
            for record in answer.documents:
                if record.docid not in texts:
                    documents.new.append((submission.source, record))
                    texts[record.docid] = record.text
                # White space says nothing about what was read.
                elif texts[record.docid].split() != record.text.split():
                    other.append(record.docid)
            if other:
                message = f"other texts than were loaded first, which stay: {first_ids(other)}"
                place = (submission.source.name, answer.line, message, answer.topic_id, submission.run_id)
                documents.findings.append(ImportFinding(FindingCode.SEGMENT_TEXT_DIFFERS, *place))
    return documents


def _change(submission: SubmittedRun, run: Run) -> InputProblem:
    """Return the problem of a changed run, with the first option that differs; else its answers do."""
    names = [name for name, value in submission.fields.items() if getattr(run, name) != value]
    if run.sha256 != submission.sha256 or not names:
        old, new = AnswerProvenance.objects.filter(run=run).count(), len(submission.file.answers)
        values = {"loaded": f"{old} answers", "in_file": f"{new} answers"}
    else:
        values = {
            "loaded": f"{names[0]} {getattr(run, names[0])}",
            "in_file": f"{names[0]} {submission.fields[names[0]]}",
        }
    return changed_problem(submission.source, 1, "run", submission.run_id, **values)


def _differs(submission: SubmittedRun, run: Run) -> bool:
    return run.sha256 != submission.sha256 or any(
        getattr(run, key) != value for key, value in submission.fields.items()
    )


def topic_limits_of(campaign: Campaign) -> dict[str, int]:
    """Most characters of an answer, by topic id; empty where the protocol does not ask."""
    if not campaign.protocol.topic_limit:
        return {}
    limits = campaign.topics.values_list("topic_id", "extra__limit")
    # A file of the campaign may hold anything there, and True is an int.
    return {topic_id: limit for topic_id, limit in limits if type(limit) is int and limit > 0}


def findings_of(
    campaign: Campaign, submission: SubmittedRun, topics: dict[str, str], topic_limits: dict[str, int]
) -> list[ImportFinding]:
    protocol = campaign.protocol
    noticed = run_findings(
        submission.file,
        word_limit=protocol.answer_word_limit,
        reference_limit=protocol.reference_limit,
        citation_limit=protocol.citation_limit,
        topics=topics,
        topic_limits=topic_limits,
        names=dict.fromkeys((submission.run_id, str(submission.fields.get("group", "")))),
    )
    return [
        ImportFinding(
            each.code, submission.source.name, each.line, each.message, each.topic_id or "", submission.run_id
        )
        for each in [*noticed, *_strangers(campaign, submission)]
    ]


def _strangers(campaign: Campaign, submission: SubmittedRun) -> Iterator[RunFinding]:
    """Find citations of docids that neither the answer's references nor a passage with text has."""
    by_answer = [(answer, docids) for answer in submission.file.answers if (docids := strangers(answer))]
    all_docids = {docid for _, docids in by_answer for docid in docids}
    # All at once: SQLite takes a limited number of parameters.
    there = all_docids and set(campaign.segments.filter(has_text=True).values_list("docid", flat=True))
    there |= {record.docid for record in submission.documents}
    for answer, docids in by_answer:
        if unknown := [docid for docid in docids if docid not in there]:
            message = strangers_message(unknown, len(answer.references))
            yield RunFinding(FindingCode.UNKNOWN_CITATION, answer.line, answer.topic_id, message)


def _run_of(campaign: Campaign, submission: SubmittedRun, loaded: dict[str, Run], event: Event) -> Run:
    if submission.run_id in loaded:
        return loaded[submission.run_id]
    return Run.objects.create(
        campaign=campaign, run_id=submission.run_id, sha256=submission.sha256, event=event, **submission.fields
    )


def _update(run: Run, submission: SubmittedRun, event: Event) -> None:
    for key, value in submission.fields.items():
        setattr(run, key, value)
    if run.sha256 != submission.sha256:
        run.has_candidates = False
    run.sha256, run.event = submission.sha256, event
    run.save()


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Rows of runs, made before the lock is held. Until an answer has a key, its public id stands for it."""

    answers: list[tuple[Any, ...]]
    provenance: list[tuple[Any, ...]]
    sentences: list[tuple[str, int, str]]
    segments: NamedSegments
    citations: list[tuple[Any, ...]]


def answer_rows(campaign: Campaign, submitted: Sequence[SubmittedRun]) -> AnswerRows:
    # Ids are drawn table by table, in the order in which the rows are written: a seed gives the same ids always.
    answers = [(new_public_id(), submission, row) for submission in submitted for row in submission.file.answers]
    sentences = [
        (name, number, sentence) for name, _, row in answers for number, sentence in enumerate(row.sentences)
    ]
    cited = [
        (name, number, position, citation)
        for name, number, sentence in sentences
        for position, citation in enumerate(sentence.citations)
    ]
    return AnswerRows(
        answers=[(name, row.topic_id, row.words) for name, _, row in answers],
        provenance=[
            (
                *(name, submission.run_id, row.topic_id, row.sample, row.response_length),
                *(json.dumps(list(row.references)), json.dumps(dict(row.extra)), row.line),
            )
            for name, submission, row in answers
        ],
        sentences=[(name, number, sentence.text) for name, number, sentence in sentences],
        segments=NamedSegments(campaign, (citation.docid for *_, citation in cited if citation.docid)),
        citations=[
            (new_public_id(), name, number, position, citation.docid, citation.raw)
            for name, number, position, citation in cited
        ],
    )


def write_answers(rows: AnswerRows, runs: Mapping[str, int], topics: Mapping[str, int], event: Event) -> None:
    # A run has hundreds of thousands of citations, so rows go past the ORM's objects.
    last = last_key(Answer)
    columns = ["public_id", "topic_id", "words"]
    answered = ((name, topics[topic_id], words) for name, topic_id, words in rows.answers)
    upsert(Answer, columns, answered, unique=["public_id"], update=["words"])
    answers = dict(Answer.objects.filter(pk__gt=last).values_list("public_id", "pk"))
    upsert(
        AnswerProvenance,
        ["answer_id", "run_id", "topic_id", "sample", "response_length", "references", "extra", "line"],
        (
            (answers[name], runs[run_id], topics[topic_id], *values)
            for name, run_id, topic_id, *values in rows.provenance
        ),
        unique=["run_id", "topic_id", "sample"],
        update=["line"],
    )
    last = last_key(Sentence)
    upsert(
        Sentence,
        ["answer_id", "index", "text"],
        ((answers[name], number, text) for name, number, text in rows.sentences),
        unique=["answer_id", "index"],
        update=["text"],
    )
    written = Sentence.objects.filter(pk__gt=last).order_by().values_list("answer", "index", "pk")
    sentences = {(answer, number): pk for answer, number, pk in written}
    segments = rows.segments.keys(event)
    upsert(
        Citation,
        ["public_id", "sentence_id", "position", "segment_id", "raw"],
        (
            (own, sentences[answers[name], number], position, segments[docid] if docid else None, raw)
            for own, name, number, position, docid, raw in rows.citations
        ),
        unique=["sentence_id", "position"],
        update=["segment_id", "raw"],
    )
