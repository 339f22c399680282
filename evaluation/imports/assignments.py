"""Import assignments: which answers contain which nuggets."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS, connection
from django.utils import timezone

from accounts.models import User
from evaluation.campaigns.pseudonyms import Names
from evaluation.domain.conditions import set_of_origin
from evaluation.domain.shares import assigned
from evaluation.errors import InputProblem
from evaluation.formats.assignments import AssignmentRecord, LabelRecord, UnjudgedRow, parse_assignments
from evaluation.formats.lines import label_word, sample_words
from evaluation.formats.source import Source
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
from evaluation.labels import AssignmentLabel
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Event,
    Judge,
    ListedNugget,
    NuggetSet,
    Sentence,
)
from evaluation.models.querysets import in_parts_of
from evaluation.terms import PROVENANCE_KEY, FindingCode, JudgeKind, Origin


def answer_texts(answers: list[int]) -> dict[int, str]:
    """Return the whole text of each answer, its sentences joined by a space; an answer without any is ''."""
    return {pk: " ".join(texts) for pk, texts in answer_objects(answers).items()}


def answer_objects(answers: list[int]) -> dict[int, list[str]]:
    parts: dict[int, list[str]] = {pk: [] for pk in answers}
    for part in in_parts_of(answers):
        sentences = Sentence.objects.filter(answer__in=part).order_by("answer", "index")
        for pk, text in sentences.values_list("answer", "text"):
            parts[pk].append(text)
    return parts


Loaded = tuple[int, int, str, int | None, int | None]
"""Submission, label, raw text, sentence and first label of a current label."""


@dataclass(frozen=True, slots=True)
class _AssignmentEntry:
    source: Source
    row: AssignmentRecord
    answer: int
    nugget_version: int
    label: LabelRecord


AnswerKey = tuple[str, str, int]
"""Run, topic and sample."""


@dataclass(slots=True)
class _AssignmentIndex:
    """Answers by run, topic and sample, and wordings by topic and text in list order, to match labels against."""

    topics: set[str]
    runs: set[str]
    answers: dict[AnswerKey, int]
    wordings: dict[str, dict[str, list[int]]]
    weights: dict[int, float | None]


@with_every_problem
def import_assignments(
    *,
    campaign: Campaign,
    sources: Sequence[Source],
    origin: Origin,
    judge: str,
    kind: JudgeKind,
    nuggets: str = "",
    replace: bool = False,
    actor: User | None = None,
) -> LoadReceipt:
    """Load labels, joined to nuggets by text within the topic, repeated texts by occurrence.

    A nugget that a row lacks stays unjudged. Raises `BadInput` for unknown topics, runs, answers or nuggets, for
    labels given twice, and for changed labels without `replace`; `Refused` where several nugget sets fit.
    """
    files = [(source, [row for row in parse_assignments(source) if not _by_rule(row)]) for source in sources]

    def make_plan(locked: Campaign) -> ImportPlan:
        names = Names([locked], DEFAULT_DB_ALIAS)
        nugget_set = set_of_origin(locked, origin, names.real_set(locked.pk, nuggets), "nuggets")
        aside = names_study(row.extra for _, rows in files for row in rows)
        labeller = judge_named(names.real_judge(locked.pk, judge), kind, aside=aside)
        return _plan(nugget_set, labeller, files, replace)

    return carry_out(campaign=campaign, kind="assignments", sources=sources, actor=actor, make_plan=make_plan)


Files = Sequence[tuple[Source, Sequence[AssignmentRecord]]]


def _by_rule(row: AssignmentRecord) -> bool:
    """Say whether an export of ours marked the row: an empty answer's labels, which nobody gave."""
    provenance = row.extra.get(PROVENANCE_KEY)
    return isinstance(provenance, dict) and provenance.get("provenance") == "rule"


def _plan(nugget_set: NuggetSet, judge: Judge, files: Files, replace: bool) -> ImportPlan:
    index = _index_of(nugget_set)
    entries = _match(index, files)
    labels = Assignment.objects.filter(judge_id=judge.pk or 0, nugget_version__nugget__nugget_set=nugget_set)
    # By submission, so that the newest of an item's labels is compared.
    rows = labels.current().order_by("submission")
    fields = ("answer", "nugget_version", "submission", "label", "raw", "sentence", "first_label")
    loaded: dict[tuple[int, int], Loaded] = {
        (answer, wording): stored for answer, wording, *stored in rows.values_list(*fields)
    }
    compared = compare(entries, _key, loaded, _differs, _change, replace)
    to_write = compared.to_write
    taken_out = _taken_out(index, files, loaded, replace)
    if compared.changed or taken_out:
        keys = {_key(item) for item in compared.changed} | taken_out
        refuse_if_judged_here(labels, keys, "answer", "nugget_version")

    def write(event: Event) -> None:
        numbers = {key: stored[0] for key, stored in loaded.items()}
        numbers |= numbers_after(labels, "answer", "nugget_version")
        _write(stored_judge(judge), to_write, numbers, event)
        no_longer_stand(labels, taken_out, "answer", "nugget_version")

    given_before = assigned(nugget_set.campaign, nugget_set.pk)
    rows_written = ((item.source, item.row.line, item.row.topic_id) for item in to_write)
    of_set = Assignment.objects.filter(nugget_version__nugget__nugget_set=nugget_set)
    codes = {_key(entry): int(entry.label.label) for entry in entries}
    findings = [
        *_dirty_labels(to_write),
        *_short_rows(index, files),
        *_other_texts(index, files),
        *_other_weights(index, files),
        *there_by_others(nugget_set.campaign, FindingCode.LABELLED_BY_OTHERS, judge, given_before, rows_written),
        *equal_labels(files[0][0], judge, of_set, codes, "answer", "nugget_version"),
    ]
    counts = {TAKEN_OUT: len(taken_out)}
    findings = findings if to_write or taken_out else []
    return ImportPlan("labels", *compared.counts, findings, counts, write)


def _taken_out(
    index: _AssignmentIndex, files: Files, loaded: Mapping[tuple[int, int], Loaded], replace: bool
) -> set[tuple[int, int]]:
    """Return the loaded labels where the files have `null`. Raises `BadInput` for any, unless `replace`."""
    nulls = {
        (index.answers[_answer_key(row)], there[item.occurrence]): (source, row, item)
        for source, rows in files
        for row in rows
        for item in row.unjudged
        if item.occurrence < len(there := index.wordings.get(row.topic_id, {}).get(item.text, []))
    }
    taken_out = nulls.keys() & loaded.keys()
    refuse_changes([_null_problem(*nulls[key], loaded[key]) for key in nulls if key in taken_out], replace)
    return taken_out


def _null_problem(source: Source, row: AssignmentRecord, item: UnjudgedRow, loaded: Loaded) -> InputProblem:
    _, label, raw, *_ = loaded
    old = label_word(AssignmentLabel(label), raw)
    return changed_problem(source, row.line, "assignment", repr(item.text), loaded=old, in_file=NO_LABEL)


def _change(row: _AssignmentEntry, loaded: Loaded) -> InputProblem:
    _, label, raw, *_ = loaded
    old = label_word(AssignmentLabel(label), raw)
    new = label_word(row.label.label, row.label.raw)
    text = repr(row.label.text)
    return changed_problem(row.source, row.row.line, "assignment", text, loaded=old, in_file=new)


def _index_of(nugget_set: NuggetSet) -> _AssignmentIndex:
    campaign = nugget_set.campaign
    answers = AnswerProvenance.objects.filter(run__campaign=campaign)
    listed = ListedNugget.objects.filter(nugget_list__in=nugget_set.lists.newest_submitted())
    return _AssignmentIndex(
        topics=set(campaign.topics.values_list("topic_id", flat=True)),
        runs=set(campaign.runs.values_list("run_id", flat=True)),
        answers={
            (run, topic, sample): pk
            for run, topic, sample, pk in answers.values_list("run__run_id", "topic__topic_id", "sample", "pk")
        },
        wordings=_wordings(nugget_set),
        weights=dict(listed.values_list("nugget_version", "weight")),
    )


def _wordings(nugget_set: NuggetSet) -> dict[str, dict[str, list[int]]]:
    """Return the wordings of each topic's newest list: topic id -> text -> primary keys in list order."""
    lists = nugget_set.lists.newest_submitted()
    wordings: dict[str, dict[str, list[int]]] = {
        # A topic with an empty list has a list all the same.
        topic: defaultdict(list)
        for topic in lists.values_list("topic__topic_id", flat=True)
    }
    items = ListedNugget.objects.filter(nugget_list__in=lists).order_by("position")
    fields = ("nugget_list__topic__topic_id", "nugget_version", "nugget_version__text")
    for topic, wording, text in items.values_list(*fields):
        wordings[topic][text].append(wording)
    return wordings


def _match(index: _AssignmentIndex, files: Files) -> list[_AssignmentEntry]:
    entries: list[_AssignmentEntry] = []
    problems: list[InputProblem] = []
    first: dict[AnswerKey, str] = {}
    for source, rows in files:
        for row in rows:
            wrong = list(_row_problems(index, source, row, first))
            problems += wrong
            if not wrong:
                entries += _match_row(index, source, row, problems)
    refuse(problems)
    return entries


def _row_problems(
    index: _AssignmentIndex, source: Source, row: AssignmentRecord, first: dict[AnswerKey, str]
) -> Iterator[InputProblem]:
    key = _answer_key(row)
    if row.topic_id not in index.topics:
        yield InputProblem(source.name, row.line, "qid", f"a topic of the campaign, not {row.topic_id}")
    elif row.run_id not in index.runs:
        yield InputProblem(source.name, row.line, "run_id", f"a run of the campaign, not {row.run_id}")
    elif key not in index.answers:
        text = f"a topic that {row.run_id} answered; it has no answer for {row.topic_id}{sample_words(row.sample)}"
        yield InputProblem(source.name, row.line, "qid", text)
    elif row.labels and row.topic_id not in index.wordings:
        yield InputProblem(source.name, row.line, "qid", f"a topic with a nugget list; {row.topic_id} has none")
    elif key in first:
        yield InputProblem(source.name, row.line, "run_id", f"each answer once; it is also at {first[key]}")
    else:
        first[key] = f"{source.name}:{row.line}"


def _match_row(
    index: _AssignmentIndex, source: Source, row: AssignmentRecord, problems: list[InputProblem]
) -> Iterator[_AssignmentEntry]:
    answer = index.answers[_answer_key(row)]
    wordings = index.wordings.get(row.topic_id, {})
    for label in row.labels:
        there = wordings.get(label.text, [])
        if label.occurrence >= len(there):
            text = f"a nugget of topic {row.topic_id}'s list, not {label.text!r}"
            problems.append(InputProblem(source.name, row.line, f"{row.items_key}.{label.position}.text", text))
            continue
        yield _AssignmentEntry(source, row, answer, there[label.occurrence], label)


def _answer_key(row: AssignmentRecord) -> AnswerKey:
    return row.run_id, row.topic_id, row.sample


def _key(item: _AssignmentEntry) -> tuple[int, int]:
    return item.answer, item.nugget_version


def _differs(item: _AssignmentEntry, loaded: Loaded) -> bool:
    """Say whether a label differs, or what is beside it. A field that the file leaves empty is no difference."""
    _, label, raw, *beside = loaded
    if item.label.label != label or (label == AssignmentLabel.FAILED and item.label.raw != raw):
        return True
    in_file = (item.label.raw, item.label.sentence, item.label.first_label)
    return any(
        mine not in ("", None) and mine != theirs for mine, theirs in zip(in_file, (raw, *beside), strict=True)
    )


def _finding(code: FindingCode, source: Source, row: AssignmentRecord, message: str) -> ImportFinding:
    return ImportFinding(code, source.name, row.line, message, row.topic_id, row.run_id)


def _dirty_labels(entries: list[_AssignmentEntry]) -> Iterator[ImportFinding]:
    for item in entries:
        if item.label.label is AssignmentLabel.FAILED:
            message = f"{item.label.raw!r} is no label; {item.label.text!r} counts as failed there"
            yield _finding(FindingCode.UNKNOWN_LABEL, item.source, item.row, message)


def _short_rows(index: _AssignmentIndex, files: Files) -> Iterator[ImportFinding]:
    for source, rows in files:
        for row in rows:
            listed = sum(len(there) for there in index.wordings.get(row.topic_id, {}).values())
            lacking = listed - len(row.labels)
            if lacking:
                message = f"{lacking} of {listed} nuggets have no label; they are unjudged"
                yield _finding(FindingCode.UNJUDGED_NUGGETS, source, row, message)


def _other_texts(index: _AssignmentIndex, files: Files) -> Iterator[ImportFinding]:
    """Find rows that carry another answer text than the run: their labels were given to another answer."""
    rows_with_text = {
        index.answers[_answer_key(row)]: (source, row)
        for source, rows in files
        for row in rows
        if row.answer_text is not None
    }
    texts = answer_texts(list(rows_with_text))
    for pk, (source, row) in rows_with_text.items():
        if (row.answer_text or "").split() != texts[pk].split():
            message = "the row carries another answer text than the run that is loaded"
            yield _finding(FindingCode.ANSWER_TEXT_DIFFERS, source, row, message)


def _other_weights(index: _AssignmentIndex, files: Files) -> Iterator[ImportFinding]:
    """Find rows that carry other weights than the list: their labels may have been given by another rubric."""
    for source, rows in files:
        for row in rows:
            wordings = index.wordings.get(row.topic_id, {})
            items: tuple[LabelRecord | UnjudgedRow, ...] = (*row.labels, *row.unjudged)
            pairs = [
                (item, index.weights[there[item.occurrence]])
                for item in items
                if item.weight is not None and item.occurrence < len(there := wordings.get(item.text, []))
            ]
            differing = [(item, listed) for item, listed in pairs if item.weight != listed]
            if differing:
                item, listed = differing[0]
                theirs = "none" if listed is None else f"{listed:g}"
                message = (
                    f"{len(differing)} of {len(pairs)} weights differ from those of the list, which count; "
                    f"{item.text!r} has {item.weight:g} here and {theirs} there"
                )
                yield _finding(FindingCode.WEIGHT_DIFFERS, source, row, message)


ASSIGNMENT_COLUMNS = (
    "judge_id",
    "answer_id",
    "nugget_version_id",
    "submission",
    "label",
    "raw",
    "sentence",
    "first_label",
    "given_at",
    "event_id",
)


def _write(
    judge: Judge, entries: list[_AssignmentEntry], numbers: Mapping[tuple[int, int], int], event: Event
) -> None:
    # `upsert` converts nothing on the way.
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    upsert(
        Assignment,
        ASSIGNMENT_COLUMNS,
        (
            (judge.pk, *_key(item), numbers.get(_key(item), 1), *_columns(item.label), now, event.pk)
            for item in entries
        ),
        unique=["answer_id", "nugget_version_id", "judge_id", "submission"],
        update=["label", "raw", "sentence", "first_label", "given_at", "event_id"],
    )


def _columns(label: LabelRecord) -> tuple[int, str, int | None, int | None]:
    first = int(label.first_label) if label.first_label is not None else None
    return int(label.label), label.raw, label.sentence, first
