"""Import traces: a run's answers together with the topics that they answer and the passages that they cite."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from accounts.models import User
from evaluation.errors import InputProblem, Refused
from evaluation.formats.lines import id_problem
from evaluation.formats.problems import Problems
from evaluation.formats.runs import AnswerRecord, RunFile, missing_topics_message
from evaluation.formats.segments import SegmentRecord
from evaluation.formats.source import Source
from evaluation.formats.topics import TopicRecord
from evaluation.formats.traces import TraceOptions, TraceRecord, parse_traces, text_hash, trace_records
from evaluation.imports.base import (
    TEXTS,
    ImportFinding,
    ImportPlan,
    LoadReceipt,
    carry_out,
    changed_problem,
    refuse,
    refuse_changes,
    refuse_if_labelled,
    restate_missing_texts,
)
from evaluation.imports.dependents import labels_on_answers
from evaluation.imports.runs import (
    SubmittedRun,
    answer_rows,
    findings_of,
    fingerprint_of,
    topic_limits_of,
    write_answers,
)
from evaluation.imports.segments import addressing_in, text_rows, write_texts
from evaluation.imports.topics import add_topics, topic_rows
from evaluation.models import Answer, AnswerProvenance, Campaign, Event, Finding, Run
from evaluation.models.querysets import in_parts_of
from evaluation.rules.answer_sentences import RULE, answer_sentences
from evaluation.tasks.pooling import extend_tasks, leave_out_answers, lock_judging
from evaluation.terms import FindingCode
from web.text import cut

LONGEST_SHOWN: Final = 600
KEPT: Final = "trace"
"""Key of an answer's extra fields under which a trace's own words stand, and the rule by which they were cut."""


@dataclass(frozen=True, slots=True)
class _Trace:
    source: Source
    record: TraceRecord

    @property
    def key(self) -> tuple[str, str]:
        return self.record.run_id, self.record.topic_id

    def problem(self, field_name: str, expected: str) -> InputProblem:
        return InputProblem(self.source.name, self.record.line, field_name, expected)

    def finding(self, code: FindingCode, message: str) -> ImportFinding:
        return ImportFinding(
            code, self.source.name, self.record.line, message, self.record.topic_id, self.record.run_id
        )


def import_traces(
    *,
    campaign: Campaign,
    sources: Sequence[Source],
    options: TraceOptions,
    replace: bool = False,
    actor: User | None = None,
) -> LoadReceipt:
    """Load traces: new topics, passages and answers. A later file adds what is new to a run.

    Raises `BadInput`, also for another answer of a run to a topic than is loaded, without `replace`; and `Refused`.
    """
    _check(options)
    traces = [_Trace(source, record) for source in sources for record in parse_traces(source, options)]
    refuse([*_repeated(traces), *_other_questions(traces)])
    return carry_out(
        campaign=campaign,
        kind="traces",
        sources=sources,
        actor=actor,
        make_plan=lambda locked: _plan(locked, traces, options, replace),
        lock=lock_judging,
    )


def _check(options: TraceOptions) -> None:
    if bool(options.run) == bool(options.run_field):
        raise Refused(
            "usage", "Say either the name of the run, or the field in which each trace says it.", field="run"
        )
    if problem := options.run and id_problem(options.run):
        raise Refused("bad_name", f"run: {problem}.")


def _repeated(traces: Sequence[_Trace]) -> Iterator[InputProblem]:
    first: dict[tuple[str, str], _Trace] = {}
    for trace in traces:
        earlier = first.setdefault(trace.key, trace)
        if earlier is not trace:
            place = f"line {earlier.record.line}"
            place += "" if earlier.source is trace.source else f" of {earlier.source.name}"
            text = (
                f"question {trace.record.topic_id} has sample 1 already on {place} (one answer of a run is judged)"
            )
            yield trace.problem("sample", text)


def _other_questions(traces: Sequence[_Trace]) -> Iterator[InputProblem]:
    first: dict[str, _Trace] = {}
    for trace in traces:
        earlier = first.setdefault(trace.record.topic_id, trace)
        if earlier.record.question.split() != trace.record.question.split():
            yield trace.problem(
                "question",
                f"the question of {trace.record.topic_id} as on line {earlier.record.line}, found another",
            )


def _plan(campaign: Campaign, traces: Sequence[_Trace], options: TraceOptions, replace: bool) -> ImportPlan:
    loaded = _loaded_answers(campaign, {trace.record.run_id for trace in traces})
    topics = dict(campaign.topics.values_list("topic_id", "text"))
    passages = _Passages(campaign, traces)
    submitted, changed = _compared(traces, loaded, passages, options.names.marks_from)
    refuse_changes([problem for _, problem in changed], replace)

    asked = {trace.record.topic_id: trace.record for trace in reversed(traces)}
    new_topics = [_topic(record) for topic_id, record in reversed(asked.items()) if topic_id not in topics]
    replaced = [there.pk for there, _ in changed]
    rows, texts = answer_rows(campaign, submitted), text_rows(record for _, record in passages.new)
    rows_of_topics = topic_rows(campaign, new_topics)

    def check() -> None:
        refuse_if_labelled(labels_on_answers(replaced), "An answer")

    def write(event: Event) -> None:
        add_topics(campaign, rows_of_topics, new_topics, event)
        _take_out(campaign, changed)
        runs = _write_runs(campaign, submitted, event)
        write_answers(rows, runs, dict(campaign.topics.values_list("topic_id", "pk")), event)
        write_texts(campaign, texts, event)
        restate_missing_texts(campaign, event)
        extend_tasks(campaign)

    findings = [
        *_findings(campaign, submitted, topics),
        *_missing_topics(submitted, topics, {*loaded, *(trace.key for trace in traces)}),
        *passages.findings,
        *addressing_in(passages.new),
    ]
    counts = {"answers": len(rows.answers), "topics": len(new_topics), TEXTS: len(passages.new)}
    written, there = {submission.run_id for submission in submitted}, {run_id for run_id, _ in loaded}
    unchanged = len({trace.record.run_id for trace in traces} - written)
    return ImportPlan(
        "runs", len(written - there), len(written & there), unchanged, findings, counts, write, check
    )


def _compared(
    traces: Sequence[_Trace],
    loaded: Mapping[tuple[str, str], "_LoadedAnswer"],
    passages: "_Passages",
    marks_from: int,
) -> tuple[list[SubmittedRun], list[tuple["_LoadedAnswer", InputProblem]]]:
    """Return the answers to write, of each file and run together, and those of them that are loaded otherwise."""
    answers: dict[tuple[str, str], list[AnswerRecord]] = {}
    changed: list[tuple[_LoadedAnswer, InputProblem]] = []
    for trace in traces:
        answer = _answer(trace, passages, marks_from)
        there = loaded.get(trace.key)
        if there and (there.text, there.references) == (trace.record.answer, list(answer.references)):
            continue
        if there:
            changed.append((there, _change(trace, there, answer)))
        answers.setdefault((trace.record.run_id, trace.source.name), []).append(answer)
    sources = {trace.source.name: trace.source for trace in traces}
    return [_submitted(sources[name], run_id, of_run) for (run_id, name), of_run in answers.items()], changed


@dataclass(frozen=True, slots=True)
class _LoadedAnswer:
    """An answer that is there; `text` is None where it was loaded as no trace."""

    pk: int
    run_id: str
    topic_id: str
    text: str | None
    references: list[str]


def _loaded_answers(campaign: Campaign, run_ids: set[str]) -> dict[tuple[str, str], _LoadedAnswer]:
    rows = AnswerProvenance.objects.filter(run__campaign=campaign, run__run_id__in=run_ids)
    fields = ("pk", "run__run_id", "topic__topic_id", f"extra__{KEPT}__answer", "references")
    answers = (_LoadedAnswer(*values) for values in rows.values_list(*fields))
    return {(answer.run_id, answer.topic_id): answer for answer in answers}


def _change(trace: _Trace, there: _LoadedAnswer, answer: AnswerRecord) -> InputProblem:
    what = f"run {there.run_id}, topic {there.topic_id}"
    field_name, old, new = "answer", there.text or "", trace.record.answer
    if old == new:
        field_name, old, new = "contexts", ", ".join(there.references), ", ".join(answer.references)
    return changed_problem(trace.source, trace.record.line, field_name, what, loaded=old, in_file=new)


def _take_out(campaign: Campaign, changed: Sequence[tuple[_LoadedAnswer, InputProblem]]) -> None:
    answers = [there.pk for there, _ in changed]
    leave_out_answers(answers)
    for part in in_parts_of(answers):
        Answer.objects.filter(pk__in=part).delete()
    for there, _ in changed:
        Finding.objects.filter(campaign=campaign, run_id=there.run_id, topic_id=there.topic_id).delete()


def _write_runs(campaign: Campaign, submitted: Sequence[SubmittedRun], event: Event) -> dict[str, int]:
    runs: dict[str, int] = {}
    for submission in submitted:
        fields = {"sha256": submission.sha256, "event": event}
        run, _ = Run.objects.update_or_create(campaign=campaign, run_id=submission.run_id, defaults=fields)
        runs[run.run_id] = run.pk
        # It is said anew of the run as it is now.
        Finding.objects.filter(campaign=campaign, run_id=run.run_id, code=FindingCode.MISSING_TOPICS).delete()
    return runs


def _answer(trace: _Trace, passages: "_Passages", marks_from: int) -> AnswerRecord:
    record = trace.record
    references = tuple(passages.docid_of(trace, *context) for context in record.contexts)
    return AnswerRecord(
        line=record.line,
        topic_id=record.topic_id,
        topic_text=record.question,
        references=references,
        response_length=None,
        sentences=answer_sentences(record.answer, references, marks_from),
        extra={KEPT: {"answer": record.answer, "sentences": RULE, **record.extra}},
        first_reference=marks_from,
    )


def _submitted(source: Source, run_id: str, answers: Sequence[AnswerRecord]) -> SubmittedRun:
    file = RunFile(run_id, "", "", tuple(answers))
    return SubmittedRun(source, file, fingerprint_of(file), {})


def _topic(record: TraceRecord) -> TopicRecord:
    return TopicRecord(record.line, record.topic_id, record.question)


def _findings(
    campaign: Campaign, submitted: Sequence[SubmittedRun], topics: Mapping[str, str]
) -> Iterator[ImportFinding]:
    limits = topic_limits_of(campaign)
    for submission in submitted:
        answered = {answer.topic_id for answer in submission.file.answers}
        own = {topic_id: topics[topic_id] for topic_id in answered if topic_id in topics}
        yield from findings_of(campaign, submission, own, limits)


def _missing_topics(
    submitted: Sequence[SubmittedRun], topics: Mapping[str, str], answered: Container[tuple[str, str]]
) -> Iterator[ImportFinding]:
    for run_id, source in {submission.run_id: submission.source for submission in submitted}.items():
        missing = [topic_id for topic_id in topics if (run_id, topic_id) not in answered]
        if missing:
            message = missing_topics_message(missing, len(topics))
            yield ImportFinding(FindingCode.MISSING_TOPICS, source.name, 0, message, run_id=run_id)


class _Passages:
    """Names of contexts: their own id, or one made of their text; and the texts that nobody loaded before."""

    def __init__(self, campaign: Campaign, traces: Sequence[_Trace]) -> None:
        self.new: list[tuple[Source, SegmentRecord]] = []
        self.findings: list[ImportFinding] = []
        self._hashes: dict[str, str] = {}
        contexts = {context for trace in traces for context in trace.record.contexts}
        names = {name for context in contexts for name in _names_of(*context)}
        loaded = campaign.segments.filter(has_text=True).values_list("docid", "text")
        self._hashes = {docid: text_hash(text) for docid, text in loaded.iterator() if docid in names}

    def docid_of(self, trace: _Trace, given_id: str, text: str) -> str:
        own, other = _names_of(given_id, text)
        if self._is_of(own, trace, text):
            return own
        message = f"{own} has another text, which stays; this one is {other}"
        self.findings.append(trace.finding(FindingCode.CONTEXT_TEXT_DIFFERS, message))
        self._is_of(other, trace, text)
        return other

    def _is_of(self, docid: str, trace: _Trace, text: str) -> bool:
        """Say whether a passage has this text; one without a text gets it."""
        digest = text_hash(text)
        if docid not in self._hashes:
            self._hashes[docid] = digest
            record = SegmentRecord(trace.record.line, docid, "", "", "", text.strip(), None, None)
            self.new.append((trace.source, record))
        return self._hashes[docid] == digest


def _names_of(given_id: str, text: str) -> tuple[str, str]:
    """Return the docid of a context, and the one that it has where another text has that docid."""
    digest = text_hash(text)
    docid = given_id or f"ctx-{digest[:16]}"
    return docid, f"{docid[:190]}@{digest[:8]}"


def first_answers(sources: Sequence[Source], options: TraceOptions, most: int = 5) -> list[dict[str, Any]]:
    """Return the first answers as assessors will see them: their sentences with the numbers of what they cite."""
    shown: list[dict[str, Any]] = []
    for source in sources:
        for record in trace_records(source, options, Problems(source.name)):
            if len(shown) == most:
                return shown
            shown.append(_shown(record, options.names.marks_from))
    return shown


def _shown(record: TraceRecord, marks_from: int) -> dict[str, Any]:
    places = [str(number) for number, _ in enumerate(record.contexts, start=1)]
    sentences = answer_sentences(record.answer, places, marks_from)
    return {
        "run": record.run_id,
        "topic": record.topic_id,
        "question": record.question,
        "sentences": [
            (
                cut(sentence.text, LONGEST_SHOWN),
                [citation.docid for citation in sentence.citations if citation.docid],
            )
            for sentence in sentences
        ],
        "passages": [cut(context.text, LONGEST_SHOWN) for context in record.contexts],
    }
