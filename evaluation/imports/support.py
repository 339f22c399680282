"""Import support judgments: whether a cited segment supports a sentence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS, connection
from django.utils import timezone

from accounts.models import User
from evaluation.campaigns.pseudonyms import Names
from evaluation.domain.shares import supported
from evaluation.errors import InputProblem, Refused
from evaluation.formats.citation_judgments import parse_support
from evaluation.formats.lines import label_word, sample_words
from evaluation.formats.source import Source
from evaluation.formats.support import JudgedAnswer, JudgedSentence, SupportFile, SupportRecord
from evaluation.imports.base import (
    NO_LABEL,
    TAKEN_OUT,
    ImportFinding,
    ImportPlan,
    LoadReceipt,
    carry_out,
    changed_problem,
    compare,
    refuse,
    refuse_changes,
    with_every_problem,
)
from evaluation.imports.dependents import no_longer_stand, numbers_after, refuse_if_judged_here
from evaluation.imports.overlap import equal_labels, there_by_others
from evaluation.judges import judge_named, names_study, stored_judge
from evaluation.labelling import upsert
from evaluation.labels import CITATION_LABELS, SupportLabel
from evaluation.models import AnswerProvenance, Campaign, Citation, Event, Judge, Sentence, SupportJudgment
from evaluation.terms import FindingCode, JudgeKind, SupportCondition


@dataclass(frozen=True, slots=True)
class _PairEntry:
    """A pair of a file; `label` is None where the file has `null`."""

    source: Source
    row: SupportRecord
    sentence: int
    segment: int

    @property
    def label(self) -> SupportLabel | None:
        return self.row.label


@dataclass(slots=True)
class _PairIndex:
    answers: set[tuple[str, str, int]]
    sentences: dict[tuple[str, str, int, int], int]
    cited: dict[tuple[int, str], int]


@with_every_problem
def import_support(
    *,
    campaign: Campaign,
    sources: Sequence[Source],
    judge: str,
    kind: JudgeKind,
    condition: SupportCondition | None = None,
    replace: bool = False,
    actor: User | None = None,
) -> LoadReceipt:
    """Load labels of (sentence, cited segment) pairs.

    The condition comes from the option or the rows. Raises `BadInput` for unknown runs, topics, sentences and
    docids that the sentence does not cite, and for changed labels without `replace`.
    """
    files = [(source, parse_support(source)) for source in sources]
    meant = _condition(files, kind, condition)

    def make_plan(locked: Campaign) -> ImportPlan:
        name = Names([locked], DEFAULT_DB_ALIAS).real_judge(locked.pk, judge)
        aside = names_study(row.extra for _, file in files for row in file.rows)
        return _plan(locked, judge_named(name, kind, aside=aside), meant, files, replace)

    return carry_out(campaign=campaign, kind="support", sources=sources, actor=actor, make_plan=make_plan)


Files = Sequence[tuple[Source, SupportFile]]


def _condition(files: Files, kind: JudgeKind, option: SupportCondition | None) -> SupportCondition:
    """Return the condition on which option, judge and rows agree. Raises `Refused`."""
    in_rows = next((row.condition for _, file in files for row in file.rows if row.condition), None)
    condition = option or (SupportCondition.LLM if kind is JudgeKind.LLM else in_rows)
    if condition is None:
        raise Refused("usage", "Say how people judged: condition scratch or post-edit.", field="condition")
    if (condition is SupportCondition.LLM) is not (kind is JudgeKind.LLM):
        judge = "an LLM" if kind is JudgeKind.LLM else "a person"
        raise Refused("usage", f"The condition {condition} does not go with labels by {judge}.", field="by")
    problems = [
        InputProblem(source.name, row.line, "condition", f"{condition}, as for the rest of the import")
        for source, file in files
        for row in file.rows
        if row.condition not in (None, condition)
    ]
    refuse(problems)
    return condition


def _plan(
    campaign: Campaign, judge: Judge, condition: SupportCondition, files: Files, replace: bool
) -> ImportPlan:
    index = _index_of(campaign)
    entries = _match(index, files)
    labels = SupportJudgment.objects.filter(
        judge_id=judge.pk or 0, condition=condition, sentence__answer__topic__campaign=campaign
    )
    # By submission, so that the newest of a pair's labels is compared.
    loaded = {(row.sentence_id, row.segment_id): row for row in labels.current().order_by("submission")}
    labelled = [item for item in entries if item.label is not None]
    compared = compare(labelled, _key, loaded, _differs, _change, replace)
    nulls = [item for item in entries if item.label is None and _takes_out(item, loaded.get(_key(item)))]
    refuse_changes([_change(item, loaded[_key(item)]) for item in nulls], replace)
    taken_out = {_key(item) for item in nulls}
    if compared.changed or taken_out:
        keys = {_key(item) for item in compared.changed} | taken_out
        refuse_if_judged_here(labels, keys, "sentence", "segment")

    def write(event: Event) -> None:
        numbers = {key: entry.submission for key, entry in loaded.items()}
        numbers |= numbers_after(labels, "sentence", "segment")
        _write(stored_judge(judge), condition, compared.to_write, numbers, event)
        no_longer_stand(labels, taken_out, "sentence", "segment")

    codes = {_key(entry): int(entry.row.label or 0) for entry in labelled}
    others = SupportJudgment.objects.all()
    rows_written = ((item.source, item.row.line, item.row.topic_id) for item in compared.to_write)
    findings = [
        *_dirty_labels(compared.to_write),
        *_other_texts(index, files),
        *equal_labels(files[0][0], judge, others, codes, "sentence", "segment"),
        *there_by_others(
            campaign, FindingCode.LABELLED_BY_OTHERS, judge, supported(campaign, condition), rows_written
        ),
    ]
    findings = findings if compared.to_write else []
    counts = {TAKEN_OUT: len(taken_out)}
    return ImportPlan("labels", *compared.counts, findings, counts, write)


def _change(row: _PairEntry, loaded: SupportJudgment) -> InputProblem:
    old = label_word(SupportLabel(loaded.label), loaded.raw)
    new = NO_LABEL if row.label is None else label_word(row.label, row.row.raw)
    field, docid = row.row.label_field, row.row.docid
    return changed_problem(row.source, row.row.line, field, docid, loaded=old, in_file=new)


def _takes_out(item: _PairEntry, loaded: SupportJudgment | None) -> bool:
    return loaded is not None and (not item.row.is_numbered or loaded.label in CITATION_LABELS.codes)


def _index_of(campaign: Campaign) -> _PairIndex:
    provenance = AnswerProvenance.objects.filter(run__campaign=campaign)
    names = provenance.values_list("pk", "run__run_id", "topic__topic_id", "sample")
    of = {pk: (run, topic, sample) for pk, run, topic, sample in names}
    sentences = Sentence.objects.filter(answer__topic__campaign=campaign)
    cited = Citation.objects.filter(sentence__answer__topic__campaign=campaign, segment__isnull=False)
    return _PairIndex(
        answers=set(of.values()),
        sentences={
            (*of[answer], index): pk for answer, index, pk in sentences.values_list("answer", "index", "pk")
        },
        cited={
            (sentence, docid): segment
            for sentence, docid, segment in cited.values_list("sentence", "segment__docid", "segment")
        },
    )


def _match(index: _PairIndex, files: Files) -> list[_PairEntry]:
    entries: list[_PairEntry] = []
    problems: list[InputProblem] = []
    first: dict[tuple[int, int], str] = {}
    for source, file in files:
        for answer in file.answers:
            problems += _answer_problems(index, source, answer)
        for judged in file.sentences:
            problems += _sentence_problems(index, source, judged, f"{judged.field}.sentenceID")
        for row in file.rows:
            wrong = list(_row_problems(index, source, row))
            problems += wrong
            if not wrong:
                sentence = index.sentences[_sentence_key(row)]
                item = _PairEntry(source, row, sentence, index.cited[sentence, row.docid])
                if there := first.get(_key(item)):
                    text = f"each pair once; it is also at {there}"
                    problems.append(InputProblem(source.name, row.line, row.docid_field, text))
                first.setdefault(_key(item), f"{source.name}:{row.line}")
                entries.append(item)
    # Of a sentence that is not there each citation says the same.
    refuse(list(dict.fromkeys(problems)))
    return entries


def _row_problems(index: _PairIndex, source: Source, row: SupportRecord) -> Iterator[InputProblem]:
    sentence = index.sentences.get(_sentence_key(row))
    if sentence is None:
        yield from _sentence_problems(index, source, row, row.sentence_field)
    elif (sentence, row.docid) not in index.cited:
        text = f"a docid that sentence {row.sentence} cites, not {row.docid}"
        yield InputProblem(source.name, row.line, row.docid_field, text)


def _sentence_problems(
    index: _PairIndex, source: Source, row: SupportRecord | JudgedSentence, field: str
) -> Iterator[InputProblem]:
    if (row.run_id, row.topic_id, row.sample) not in index.answers:
        yield from _answer_problems(index, source, row)
    elif _sentence_key(row) not in index.sentences:
        yield InputProblem(source.name, row.line, field, "the number, from 0, of a sentence the answer has")


def _answer_problems(
    index: _PairIndex, source: Source, row: SupportRecord | JudgedSentence | JudgedAnswer
) -> Iterator[InputProblem]:
    if (row.run_id, row.topic_id, row.sample) not in index.answers:
        of = f"{row.run_id} for topic {row.topic_id}{sample_words(row.sample)}"
        text = f"an answer that is loaded; there is none of {of}"
        yield InputProblem(source.name, row.line, "run_id", text)


def _other_texts(index: _PairIndex, files: Files) -> Iterator[ImportFinding]:
    """Find sentences that read otherwise than in the run: their labels were given to another answer."""
    in_files = {
        index.sentences[_sentence_key(judged)]: (source, judged)
        for source, file in files
        for judged in file.sentences
        if judged.text
    }
    for pk, sentence in Sentence.objects.only("text").in_bulk(in_files).items():
        source, judged = in_files[pk]
        if judged.text.split() != sentence.text.split():
            message = f"sentence {judged.sentence} reads otherwise than in the run that is loaded"
            of = (judged.line, message, judged.topic_id, judged.run_id)
            yield ImportFinding(FindingCode.ANSWER_TEXT_DIFFERS, source.name, *of)


def _sentence_key(row: SupportRecord | JudgedSentence) -> tuple[str, str, int, int]:
    return row.run_id, row.topic_id, row.sample, row.sentence


def _key(item: _PairEntry) -> tuple[int, int]:
    return item.sentence, item.segment


def _raw(row: SupportRecord) -> str:
    """Return the raw text beside a label: the reply that is no label, or the reason why it cannot be judged."""
    return row.reason or "" if row.label is SupportLabel.CANT_JUDGE else row.raw


def _differs(item: _PairEntry, loaded: SupportJudgment) -> bool:
    """Say whether a label differs, or what is beside it. A field that the file leaves empty is no difference."""
    raw, beside = _raw(item.row), item.row.beside
    if item.row.label != loaded.label or (item.row.label is SupportLabel.FAILED and raw != loaded.raw):
        return True
    in_file = (raw, beside.code, beside.shown_ms, beside.accepted, beside.evidence)
    there = (loaded.raw, loaded.shown_label, loaded.shown_ms, loaded.accepted, loaded.evidence)
    return any(mine not in ("", None) and mine != theirs for mine, theirs in zip(in_file, there, strict=True))


def _dirty_labels(entries: list[_PairEntry]) -> Iterator[ImportFinding]:
    for item in entries:
        source, row = item.source, item.row
        if row.label is SupportLabel.FAILED:
            text = f"{row.raw!r} is no label; the pair counts as failed"
            yield ImportFinding(FindingCode.UNKNOWN_LABEL, source.name, row.line, text, row.topic_id, row.run_id)


LABEL_COLUMNS = ("label", "raw", "shown_label", "shown_ms", "accepted", "evidence")


def _write(
    judge: Judge,
    condition: SupportCondition,
    entries: list[_PairEntry],
    numbers: Mapping[tuple[int, int], int],
    event: Event,
) -> None:
    # `upsert` converts nothing on the way.
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    upsert(
        SupportJudgment,
        [
            "judge_id",
            "condition",
            "sentence_id",
            "segment_id",
            "submission",
            *LABEL_COLUMNS,
            "given_at",
            "event_id",
        ],
        (
            (
                judge.pk,
                condition.value,
                *_key(item),
                numbers.get(_key(item), 1),
                *_columns(item.row),
                now,
                event.pk,
            )
            for item in entries
        ),
        unique=["sentence_id", "segment_id", "judge_id", "condition", "submission"],
        update=[*LABEL_COLUMNS, "given_at", "event_id"],
    )


def _columns(row: SupportRecord) -> tuple[int, str, int | None, int | None, bool | None, int | None]:
    label, beside = int(SupportLabel(row.label or 0)), row.beside
    code = None if beside.code is None else int(beside.code)
    return label, _raw(row), code, beside.shown_ms, beside.accepted, beside.evidence
