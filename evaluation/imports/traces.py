"""Import traces: a run's answers together with the topics that they answer and the passages that they cite."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final

from pydantic import TypeAdapter

from accounts.models import User
from evaluation.errors import InputProblem, Refused
from evaluation.formats.lines import MOST_SAMPLES, id_problem, sample_words
from evaluation.formats.problems import MAX_PROBLEMS, Problems
from evaluation.formats.runs import AnswerRecord, CitationRecord, RunFile, SentenceRecord, missing_topics_message
from evaluation.formats.segments import SegmentRecord
from evaluation.formats.source import Source
from evaluation.formats.topics import TopicRecord
from evaluation.formats.traces import ContextRecord, TraceOptions, TraceRecord, text_hash, trace_records
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
    rows_of_docids,
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
from web.on_disk import NumbersOnDisk, OnDisk
from web.text import cut

MOST_SHOWN: Final = 5
LONGEST_SHOWN: Final = 600
MOST_AT_ONCE: Final = 500
MOST_CHARACTERS_AT_ONCE: Final = 4 * 1024**2
NO_FILE: Final = Source("", "", ())
MAY_BE_NUMBERED: Final = "(map a sample, or number them in order)"
MOST_CANDIDATES: Final = 5
KEPT: Final = "trace"
"""Key of an answer's extra fields under which a trace's own words stand, and the rule by which they were cut."""


@dataclass(frozen=True, slots=True)
class _Trace:
    source: Source
    record: TraceRecord

    @property
    def answered(self) -> int:
        return _key(self.record.run_id, self.record.topic_id)

    @property
    def key(self) -> int:
        return _key(self.record.run_id, self.record.topic_id, str(self.record.sample))

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

    A batch of traces is held at a time, and of the others hashes, however many there are. Raises `BadInput`, also for
    another answer of a run to a topic than is loaded, without `replace`; and `Refused`.
    """
    _check(options)
    return carry_out(
        campaign=campaign,
        kind="traces",
        sources=sources,
        actor=actor,
        make_plan=lambda locked: _plan(locked, sources, options, replace),
        lock=lock_judging,
    )


def _check(options: TraceOptions) -> None:
    if bool(options.run) == bool(options.run_field):
        raise Refused(
            "usage", "Say either the name of the run, or the field in which each trace says it.", field="run"
        )
    if problem := options.run and id_problem(options.run):
        raise Refused("bad_name", f"run: {problem}.")


def _batches(sources: Sequence[Source], options: TraceOptions) -> Iterator[list[_Trace]]:
    """Yield the traces of all files, some of one file at a time. Raises `BadInput` at the end of a file."""
    samples = NumbersOnDisk()
    for source in sources:
        problems = Problems(source.name)
        batch: list[_Trace] = []
        size = 0
        for record in trace_records(source, options, problems):
            trace = _Trace(source, record)
            if options.number_samples:
                trace = _Trace(source, replace(record, sample=samples.count(trace.answered)))
            batch.append(trace)
            size += len(record.answer) + sum(len(context.text) for context in record.contexts)
            if len(batch) == MOST_AT_ONCE or size > MOST_CHARACTERS_AT_ONCE:
                yield batch
                batch, size = [], 0
        problems.raise_if_any()
        if batch:
            yield batch


def _key(*names: str) -> int:
    """Return a number for an id: less space than the id takes."""
    return int.from_bytes(blake2b("\0".join(names).encode(), digest_size=8).digest(), signed=True)


class _Duplicates:
    """Refuses a sample of a run and topic that comes twice, and a second question of a topic id; it keeps hashes."""

    def __init__(self) -> None:
        self.problems: list[InputProblem] = []
        self._sources: list[Source] = []
        self.answered, self._answers, self._questions = NumbersOnDisk(), NumbersOnDisk(), NumbersOnDisk()

    def add(self, trace: _Trace) -> bool:
        """Note what is there twice, and say whether the trace is the first of its topic."""
        record = trace.record
        if not self._sources or self._sources[-1] is not trace.source:
            self._sources.append(trace.source)
        self.answered.put(trace.answered, here := (len(self._sources), record.line))
        if there := self._answers.put(trace.key, here):
            number, line = there
            source = self._sources[number - 1]
            place = f"line {line}" if source is trace.source else f"line {line} of {source.name}"
            text = f"question {record.topic_id} has sample {record.sample} already on {place} {MAY_BE_NUMBERED}"
            self._note(trace.problem("sample", text))
        if record.sample > MOST_SAMPLES:
            text = f"at most {MOST_SAMPLES:,} answers to a question, and {record.topic_id} has more"
            self._note(trace.problem("sample", text))
        question = _key(*record.question.split())
        first = self._questions.put(_key(record.topic_id), (question, record.line))
        if first and first[0] != question:
            text = f"the question of {record.topic_id} as on line {first[1]}, found another"
            self._note(trace.problem("question", text))
        return first is None

    def _note(self, problem: InputProblem) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)


@dataclass(frozen=True, slots=True)
class _Part:
    """What is to be written of a batch. `replaced`: answers that are loaded otherwise."""

    topics: list[TopicRecord]
    replaced: list["_LoadedAnswer"]
    texts: list[SegmentRecord]
    answers: dict[str, list[AnswerRecord]]


@dataclass(slots=True)
class _Planned:
    """An import by its parts, and their totals. `runs`: those to write, each with the last file that names it.

    `topics`: ids of the new ones.
    """

    parts: OnDisk[_Part] = field(default_factory=lambda: OnDisk(TypeAdapter(_Part)))
    duplicates: _Duplicates = field(default_factory=_Duplicates)
    changes: list[InputProblem] = field(default_factory=list)
    findings: list[ImportFinding] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    all_runs: set[str] = field(default_factory=set)
    runs: dict[str, Source] = field(default_factory=dict)
    # Sums, so that a run's hash is the same whatever the order of its answers.
    sums: dict[str, int] = field(default_factory=dict)
    topics: list[str] = field(default_factory=list)
    answers: int = 0
    texts: int = 0


def _plan(campaign: Campaign, sources: Sequence[Source], options: TraceOptions, replace: bool) -> ImportPlan:
    planned = _Planned()
    passages, limits = _Passages(campaign), topic_limits_of(campaign)
    for batch in _batches(sources, options):
        _plan_batch(campaign, batch, passages, planned, limits, options, replace)
    refuse(planned.duplicates.problems)
    _refuse_otherwise_loaded(campaign, planned, options.with_candidates)
    refuse_changes(planned.changes, replace)
    planned.findings += [*_missing_topics(campaign, planned), *passages.findings]

    def check() -> None:
        refuse_if_labelled(labels_on_answers(planned.replaced), "An answer")

    def write(event: Event) -> None:
        runs = _write_runs(campaign, planned, event, options.with_candidates)
        for part in planned.parts:
            _write_part(campaign, part, runs, event)
        restate_missing_texts(campaign, event)
        extend_tasks(campaign)

    counts = {"answers": planned.answers, "topics": len(planned.topics), TEXTS: planned.texts}
    there = {run_id for run_id in campaign.runs.values_list("run_id", flat=True) if run_id in planned.runs}
    unchanged = len(planned.all_runs) - len(planned.runs)
    return ImportPlan(
        "runs", len(planned.runs) - len(there), len(there), unchanged, planned.findings, counts, write, check
    )


def _refuse_otherwise_loaded(campaign: Campaign, planned: _Planned, with_candidates: bool) -> None:
    """Refuse to add sentences beside candidates to a run that cites, and the other way round."""
    others = campaign.runs.filter(run_id__in=planned.all_runs, has_candidates=not with_candidates)
    if run := others.first():
        way = "by what they cite" if with_candidates else "by all that was retrieved"
        text = f"The sentences of run {run} are judged {way}; give the run of this file another name."
        raise Refused("run_differs", text, field="uncited")


def _plan_batch(
    campaign: Campaign,
    batch: Sequence[_Trace],
    passages: "_Passages",
    planned: _Planned,
    limits: dict[str, int],
    options: TraceOptions,
    replace: bool,
) -> None:
    passages.look_up(name for trace in batch for name, _ in map(_name_of, trace.record.contexts))
    loaded = _loaded_answers(campaign, batch)
    topic_ids = {trace.record.topic_id for trace in batch}
    topics = dict(campaign.topics.filter(topic_id__in=topic_ids).values_list("topic_id", "text"))
    part = _Part([], [], [], defaultdict(list))
    for trace in batch:
        is_first_of_topic, record = planned.duplicates.add(trace), trace.record
        planned.all_runs.add(record.run_id)
        answer = _answer(trace, passages, options)
        if is_first_of_topic and record.topic_id not in topics:
            planned.topics.append(record.topic_id)
            part.topics.append(TopicRecord(record.line, record.topic_id, record.question))
        there = loaded.get((record.run_id, record.topic_id, record.sample))
        if there and (there.text, there.references) == (record.answer, list(answer.references)):
            continue
        if there:
            part.replaced.append(there)
            if not replace and len(planned.changes) < MAX_PROBLEMS:
                planned.changes.append(_change(trace, there, answer))
        part.answers[record.run_id].append(answer)
    part.texts.extend(passages.take_new())
    planned.answers += sum(map(len, part.answers.values()))
    planned.texts += len(part.texts)
    planned.replaced += [there.pk for there in part.replaced]
    if part.answers or part.texts:
        planned.parts.extend([part])
    planned.findings += _findings(campaign, batch[0].source, part, topics, limits)
    for run in _submitted(batch[0].source, part.answers):
        planned.runs[run.run_id] = run.source
        planned.sums[run.run_id] = planned.sums.get(run.run_id, 0) + int(run.sha256, 16)


def _findings(
    campaign: Campaign, source: Source, part: _Part, topics: Mapping[str, str], limits: dict[str, int]
) -> Iterator[ImportFinding]:
    for run in _submitted(source, part.answers):
        answered = {answer.topic_id for answer in run.file.answers}
        asked = {topic_id: text for topic_id, text in topics.items() if topic_id in answered}
        yield from findings_of(campaign, run, asked, limits)
    yield from addressing_in((source, record) for record in part.texts)


def _write_part(campaign: Campaign, part: _Part, runs: Mapping[str, int], event: Event) -> None:
    add_topics(campaign, topic_rows(campaign, part.topics), part.topics, event)
    _take_out(campaign, part.replaced)
    # Before the citations, which then find them.
    write_texts(campaign, text_rows(part.texts), event)
    asked = {answer.topic_id for answers in part.answers.values() for answer in answers}
    topics = dict(campaign.topics.filter(topic_id__in=asked).values_list("topic_id", "pk"))
    write_answers(answer_rows(campaign, _submitted(NO_FILE, part.answers)), runs, topics, event)


def _submitted(source: Source, answers: Mapping[str, Sequence[AnswerRecord]]) -> list[SubmittedRun]:
    files = [RunFile(run_id, "", "", tuple(of_run)) for run_id, of_run in answers.items()]
    return [SubmittedRun(source, file, _sum_of(file), {}) for file in files]


def _sum_of(file: RunFile) -> str:
    return f"{sum(int(fingerprint_of(replace(file, answers=(answer,))), 16) for answer in file.answers):x}"


@dataclass(frozen=True, slots=True)
class _LoadedAnswer:
    """An answer that is there; `text` is None where it was loaded as no trace."""

    pk: int
    run_id: str
    topic_id: str
    sample: int
    line: int | None
    text: str | None
    references: list[str]


def _loaded_answers(campaign: Campaign, batch: Sequence[_Trace]) -> dict[tuple[str, str, int], _LoadedAnswer]:
    rows = AnswerProvenance.objects.filter(
        run__campaign=campaign,
        run__run_id__in={trace.record.run_id for trace in batch},
        topic__topic_id__in={trace.record.topic_id for trace in batch},
    )
    fields = ("pk", "run__run_id", "topic__topic_id", "sample", "line", f"extra__{KEPT}__answer", "references")
    answers = (_LoadedAnswer(*values) for values in rows.values_list(*fields))
    return {(answer.run_id, answer.topic_id, answer.sample): answer for answer in answers}


def _change(trace: _Trace, there: _LoadedAnswer, answer: AnswerRecord) -> InputProblem:
    what = f"run {there.run_id}, topic {there.topic_id}{sample_words(there.sample)}"
    field_name, old, new = "answer", there.text or "", trace.record.answer
    if old == new:
        field_name, old, new = "contexts", ", ".join(there.references), ", ".join(answer.references)
    return changed_problem(trace.source, trace.record.line, field_name, what, loaded=old, in_file=new)


def _take_out(campaign: Campaign, replaced: Sequence[_LoadedAnswer]) -> None:
    answers = [there.pk for there in replaced]
    leave_out_answers(answers)
    for part in in_parts_of(answers):
        Answer.objects.filter(pk__in=part).delete()
    for there in replaced:
        findings = Finding.objects.filter(campaign=campaign, run_id=there.run_id, topic_id=there.topic_id)
        findings.filter(line=there.line).delete()


def _write_runs(campaign: Campaign, planned: _Planned, event: Event, with_candidates: bool) -> dict[str, int]:
    runs: dict[str, int] = {}
    for run_id, total in planned.sums.items():
        fields = {"sha256": f"{total % 2**256:064x}", "event": event, "has_candidates": with_candidates}
        run, _ = Run.objects.update_or_create(campaign=campaign, run_id=run_id, defaults=fields)
        runs[run_id] = run.pk
        # It is said anew of the run as it is now.
        Finding.objects.filter(campaign=campaign, run_id=run_id, code=FindingCode.MISSING_TOPICS).delete()
    return runs


def _answer(trace: _Trace, passages: "_Passages", options: TraceOptions) -> AnswerRecord:
    record = trace.record
    references = tuple(passages.docid_of(trace, context) for context in record.contexts)
    return AnswerRecord(
        line=record.line,
        topic_id=record.topic_id,
        topic_text=record.question,
        references=references,
        response_length=None,
        sentences=_sentences(record.answer, references, options),
        extra={KEPT: {"answer": record.answer, "sentences": RULE, **record.extra}},
        first_reference=options.names.marks_from,
        sample=record.sample,
    )


def _sentences(answer: str, references: Sequence[str], options: TraceOptions) -> tuple[SentenceRecord, ...]:
    """Return an answer's sentences with what they cite, or with their candidates: the first contexts."""
    marks_from = options.names.marks_from
    sentences = answer_sentences(answer, references, marks_from)
    if not options.with_candidates:
        return sentences
    numbered = enumerate(references[:MOST_CANDIDATES], marks_from)
    candidates = tuple(CitationRecord(docid, str(number)) for number, docid in numbered)
    return tuple(sentence._replace(citations=candidates) for sentence in sentences)


def _missing_topics(campaign: Campaign, planned: _Planned) -> Iterator[ImportFinding]:
    topics = [*campaign.topics.values_list("topic_id", flat=True), *planned.topics]
    for run_id, source in planned.runs.items():
        answered = AnswerProvenance.objects.filter(run__campaign=campaign, run__run_id=run_id)
        loaded = set(answered.values_list("topic__topic_id", flat=True)) if topics else ()
        missing = [
            topic_id
            for topic_id in topics
            if topic_id not in loaded and planned.duplicates.answered.get(_key(run_id, topic_id)) is None
        ]
        if missing:
            message = missing_topics_message(missing, len(topics))
            yield ImportFinding(FindingCode.MISSING_TOPICS, source.name, 0, message, run_id=run_id)


class _Passages:
    """Names of contexts: their own id, or one made of their text; and the texts that nobody loaded before."""

    def __init__(self, campaign: Campaign) -> None:
        self.findings: list[ImportFinding] = []
        self._campaign = campaign
        self._new: list[SegmentRecord] = []
        self._texts = NumbersOnDisk()
        """By the keys of docids a number for the hash of each one's text, beside which nothing is kept."""

    def look_up(self, docids: Iterable[str]) -> None:
        unknown = {docid for docid in docids if self._texts.get(_key(docid)) is None}
        for docid, has_text, text in rows_of_docids(self._campaign, unknown, "docid", "has_text", "text"):
            if has_text:
                self._texts.put(_key(docid), (_key(text_hash(text)), 0))

    def take_new(self) -> list[SegmentRecord]:
        new, self._new = self._new, []
        return new

    def docid_of(self, trace: _Trace, context: ContextRecord) -> str:
        own, digest = _name_of(context)
        if self._is_of(own, digest, trace, context.text):
            return own
        other = f"{own[:190]}@{digest[:8]}"
        message = f"{own} has another text, which stays; this one is {other}"
        self.findings.append(trace.finding(FindingCode.CONTEXT_TEXT_DIFFERS, message))
        self.look_up([other])
        self._is_of(other, digest, trace, context.text)
        return other

    def _is_of(self, docid: str, digest: str, trace: _Trace, text: str) -> bool:
        """Say whether a passage has this text; one without a text gets it."""
        own = _key(digest), 0
        there = self._texts.put(_key(docid), own)
        if there is None:
            self._new.append(SegmentRecord(trace.record.line, docid, "", "", "", text.strip(), None, None))
        return there in (None, own)


def _name_of(context: ContextRecord) -> tuple[str, str]:
    """Return the docid of a context, and the hash of its text."""
    digest = text_hash(context.text)
    return context.given_id or f"ctx-{digest[:16]}", digest


def first_answers(sources: Sequence[Source], options: TraceOptions) -> list[dict[str, Any]]:
    """Return the first answers as assessors will see them: their sentences with the numbers of what they cite."""
    shown: list[dict[str, Any]] = []
    for source in sources:
        for record in trace_records(source, options, Problems(source.name)):
            if len(shown) == MOST_SHOWN:
                return shown
            shown.append(_shown(record, options))
    return shown


def _shown(record: TraceRecord, options: TraceOptions) -> dict[str, Any]:
    places = [str(number) for number, _ in enumerate(record.contexts, start=1)]
    sentences = _sentences(record.answer, places, options)
    return {
        "run": record.run_id,
        "topic": f"{record.topic_id}{sample_words(record.sample)}",
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
