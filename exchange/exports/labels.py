"""Nuggets, labels, verdicts and grades as lines of files."""

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, Final

from django.db.models import QuerySet

from evaluation.domain.lineage import TRACED, is_traced
from evaluation.formats.assignments import (
    AssignmentRecord,
    LabelRecord,
    UnjudgedRow,
    assignment_line,
    label_provenance,
)
from evaluation.formats.battles import BattleForm, BattleRecord, BattleTask, task_line
from evaluation.formats.citation_judgments import UNJUDGED, CitationLine, SentenceLine, answer_line, support_number
from evaluation.formats.lines import json_line, sample_field
from evaluation.formats.nuggets import Evidence, NuggetListRow, NuggetProvenance, NuggetRecord, nugget_list_line
from evaluation.formats.support import SupportRecord, support_line, support_provenance
from evaluation.formats.topics import QrelRecord, qrel_line
from evaluation.imports.assignments import answer_objects
from evaluation.labels import AssignmentLabel, BattleLabel, SupportLabel
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    BattleSet,
    Campaign,
    Citation,
    Judge,
    Judgment,
    ListedNugget,
    NuggetEvidence,
    NuggetLineage,
    NuggetList,
    NuggetSet,
    Qrel,
    QrelSource,
    Sentence,
    StudyPair,
    SupportJudgment,
)
from evaluation.rules.markdown import in_lines
from evaluation.stages import Stage
from evaluation.terms import PROVENANCE_KEY, BattleCondition, Importance, SupportCondition
from reports.battles.verdicts import counting_verdicts, current_verdicts

Topics = Collection[int] | None
"""Topics by primary key; None: all."""

PART, WHOLE_ANSWERS = 500, 200
"""Answers that are read at once, alone and with their sentences."""
TURNED: Final = {BattleLabel.LEFT: BattleLabel.RIGHT, BattleLabel.RIGHT: BattleLabel.LEFT}


def nugget_lines(
    nugget_set: NuggetSet, topics: Topics = None, *, line: Callable[[NuggetListRow], str] = nugget_list_line
) -> Iterator[str]:
    """Yield the newest submitted list of each of these topics, all for None, as nuggetizer writes it.

    `line` gives another form, such as ARGUE's.
    """
    lineage, evidence = _lineage(nugget_set), _evidence(nugget_set)
    for nugget_list in _newest_lists(nugget_set, topics):
        nuggets = tuple(_nugget_row(item, lineage, evidence) for item in _items(nugget_list))
        assay = {
            "set": nugget_set.name,
            "origin": nugget_set.origin,
            "judge": nugget_set.judge.name,
            "by": nugget_set.judge.kind,
            "version": nugget_list.version,
        }
        if is_traced(nugget_list):
            assay |= TRACED
        extra = nugget_list.extra | {PROVENANCE_KEY: assay}
        yield line(NuggetListRow(0, nugget_list.topic.topic_id, nugget_list.query, nuggets, extra))


def assignment_lines(
    nugget_set: NuggetSet,
    judge: Judge,
    topics: Topics = None,
    *,
    line: Callable[[AssignmentRecord], str] = assignment_line,
) -> Iterator[str]:
    """Yield a judge's labels of a set's nuggets in these topics, all for None, an answer a line, runs in order.

    A nugget without a label is `null`. An answer without a word has `not_support` for every nugget, by rule.
    """
    newest = {nugget_list.topic_id: nugget_list for nugget_list in _newest_lists(nugget_set, topics)}
    decoys = set(_decoys(judge).values_list("answer", "nugget_version"))
    items = {topic: _items(nugget_list) for topic, nugget_list in newest.items()}
    answers_to = AnswerProvenance.objects.filter(run__campaign=nugget_set.campaign, topic__in=list(items))
    ordered = answers_to.select_related("run", "topic", "answer")
    for answers in in_parts(ordered.order_by("run__run_id", "topic__position", "sample")):
        labels = _labels_of([answer.answer_id for answer in answers], judge)
        for answer in answers:
            listed = items[answer.topic_id]
            label_of = {item.pk: labels.get((answer.answer_id, item.nugget_version_id)) for item in listed}
            labelled = any(label_of.values())
            if labelled or (listed and not answer.answer.words):
                query = newest[answer.topic_id].topic.text
                yield line(_assignment_record(answer, query, listed, label_of, judge, decoys))


def support_lines(
    campaign: Campaign, condition: SupportCondition, judge: Judge, topics: Topics = None
) -> Iterator[str]:
    answers = _names_of_answers(campaign)
    decoys = set(_decoys(judge).values_list("sentence", "segment"))
    labels = _support_labels(campaign, condition, judge, topics)
    ordered = labels.order_by("sentence__answer", "sentence__index", "pk")
    for label in ordered.select_related("judge__study", "segment", "sentence__answer__topic").iterator():
        run_id, sample = answers[label.sentence.answer_id]
        yield support_line(
            SupportRecord(
                line=0,
                run_id=run_id,
                sample=sample,
                topic_id=label.sentence.answer.topic.topic_id,
                sentence=label.sentence.index,
                docid=label.segment.docid,
                label=SupportLabel(label.label),
                raw=label.raw,
                condition=SupportCondition(label.condition),
                judge=label.judge.name,
                # An assessor who cannot judge a pair says why; the reason is kept in place of a raw label.
                reason=label.raw or None if label.label == SupportLabel.CANT_JUDGE else None,
                extra={
                    "given_at": stamp(label.given_at),
                    "by": label.judge.kind,
                    PROVENANCE_KEY: _support_provenance(label)
                    | _decoy((label.sentence_id, label.segment_id) in decoys),
                },
            )
        )


def _support_labels(
    campaign: Campaign, condition: SupportCondition, judge: Judge, topics: Topics
) -> QuerySet[SupportJudgment]:
    labels = SupportJudgment.objects.current().filter(
        condition=condition, judge=judge, sentence__answer__topic__campaign=campaign
    )
    return labels if topics is None else labels.filter(sentence__answer__topic__in=topics)


def _names_of_answers(campaign: Campaign) -> dict[int, tuple[str, int]]:
    """Run and sample of each answer."""
    rows = AnswerProvenance.objects.filter(run__campaign=campaign).values_list("answer", "run__run_id", "sample")
    return {answer: (run_id, sample) for answer, run_id, sample in rows}


def _support_provenance(label: SupportJudgment) -> dict[str, Any]:
    provenance = support_provenance(label.evidence, label.shown_label, label.shown_ms, label.accepted)
    return {"submission": label.submission} | _study(label.judge) | provenance


def _study(judge: Judge) -> dict[str, str]:
    # The judge of an imported study has no row of a study here and bears its name only.
    return {"study": judge.study.name if judge.study else judge.name} if judge.aside else {}


def _decoys(judge: Judge) -> QuerySet[StudyPair]:
    return StudyPair.objects.decoys().filter(study=judge.study_id)


def _decoy(is_decoy: bool) -> dict[str, bool]:
    return {"decoy": True} if is_decoy else {}


def judgment_lines(campaign: Campaign, stage: Stage, judge: str) -> Iterator[str]:
    """Yield the labels of a stage that has no file form of its own, with the run of each answer."""
    answers = _names_of_answers(campaign)
    labels = Judgment.objects.current().filter(stage=stage, topic__campaign=campaign)
    labels = labels.filter(judge__name=judge) if judge else labels
    ordered = labels.order_by("judge__name", "topic__position", "pk")
    for label in ordered.select_related("judge__study", "topic", "segment").iterator():
        line: dict[str, Any] = {"stage": stage, "topic_id": label.topic.topic_id}
        for prefix, answer in (("", label.answer_id), ("other_", label.other_id)):
            if answer:
                line[f"{prefix}run_id"], sample = answers[answer]
                line |= {f"{prefix}{name}": number for name, number in sample_field(sample).items()}
        line |= {"docid": label.segment.docid} if label.segment else {}
        line |= {"label": stage.labels.by_code[label.label].word, "judge": label.judge.name}
        line |= {"reason": label.raw} if label.raw else {}
        line |= label.extras
        extra = {"given_at": stamp(label.given_at), "by": label.judge.kind}
        yield json_line(line, extra | {PROVENANCE_KEY: {"submission": label.submission} | _study(label.judge)})


def qrel_lines(source: QrelSource) -> Iterator[str]:
    qrels = Qrel.objects.filter(source=source).order_by("topic__position", "pk")
    for topic_id, docid, grade in qrels.values_list("topic__topic_id", "segment__docid", "grade"):
        yield qrel_line(QrelRecord(0, topic_id, docid, grade))


def _newest_lists(nugget_set: NuggetSet, topics: Topics) -> list[NuggetList]:
    lists = nugget_set.lists.newest_submitted().select_related("topic")
    newest = [nugget_list for nugget_list in lists if topics is None or nugget_list.topic_id in topics]
    return sorted(newest, key=lambda nugget_list: nugget_list.topic.position)


def _items(nugget_list: NuggetList) -> list[ListedNugget]:
    return list(nugget_list.items.select_related("nugget_version__nugget").order_by("position"))


Related = dict[int, list[dict[str, Any]]]


def _nugget_row(item: ListedNugget, lineage: Related, evidence: Related) -> NuggetRecord:
    wording = item.nugget_version
    assay: dict[str, Any] = {"id": wording.nugget.public_id, "version": wording.number}
    if wording.pk in lineage:
        assay["lineage"] = lineage[wording.pk]
    if wording.pk in evidence:
        assay["evidence"] = evidence[wording.pk]
    extra = item.extra | {PROVENANCE_KEY: assay}
    rests_on = tuple(Evidence.model_validate(place) for place in evidence.get(wording.pk, ()))
    return NuggetRecord(
        *(wording.text, Importance(item.importance), item.raw_importance, item.group, extra, item.weight),
        provenance=NuggetProvenance(evidence=rests_on),
    )


def _lineage(nugget_set: NuggetSet) -> Related:
    lineage: Related = {}
    rows = NuggetLineage.objects.filter(child__nugget__nugget_set=nugget_set).order_by("pk")
    places = _places_of_parents(nugget_set)
    for child, relation, parent, text in rows.values_list("child", "relation", "parent", "parent__text"):
        lineage.setdefault(child, []).append({"relation": relation, "text": text, "place": places.get(parent)})
    return lineage


def _places_of_parents(nugget_set: NuggetSet) -> dict[int, int]:
    # A text does not say which draft is meant: two drafts may have the same.
    # Versions ascend, so the place in the newest list is the one that stays.
    parents = NuggetLineage.objects.filter(child__nugget__nugget_set=nugget_set).values("parent")
    listed = ListedNugget.objects.filter(nugget_version__in=parents).order_by("nugget_list__version")
    return dict(listed.values_list("nugget_version", "position"))


def _evidence(nugget_set: NuggetSet) -> Related:
    evidence: Related = {}
    rows = NuggetEvidence.objects.filter(nugget_version__nugget__nugget_set=nugget_set).order_by("pk")
    for wording, docid, sentence in rows.values_list("nugget_version", "segment__docid", "sentence"):
        evidence.setdefault(wording, []).append({"docid": docid, "sentence": sentence})
    return evidence


def in_parts(answers: QuerySet[AnswerProvenance], size: int = PART) -> Iterator[list[AnswerProvenance]]:
    """Yield rows a few hundred at a time, so that memory stays small."""
    rows = answers.iterator(chunk_size=size)
    while part := list(islice(rows, size)):
        yield part


def _labels_of(answers: list[int], judge: Judge) -> dict[tuple[int, int], Assignment]:
    # Submissions ascend: of a list that was judged again, the newest label stays.
    labels = Assignment.objects.current().filter(answer__in=answers, judge=judge).order_by("submission")
    return {(label.answer_id, label.nugget_version_id): label for label in labels}


def _assignment_record(
    answer: AnswerProvenance,
    query: str,
    items: list[ListedNugget],
    label_of: dict[int, Assignment | None],
    judge: Judge,
    decoys: Container[tuple[int, int]],
) -> AssignmentRecord:
    by_rule = not any(label_of.values())
    rows = [
        _label_row(item, label_of[item.pk], by_rule, (answer.answer_id, item.nugget_version_id) in decoys)
        for item in items
    ]
    assay = {"judge": judge.name, "by": judge.kind, "provenance": "rule" if by_rule else "label"} | _study(judge)
    return AssignmentRecord(
        line=0,
        topic_id=answer.topic.topic_id,
        run_id=answer.run.run_id,
        sample=answer.sample,
        labels=tuple(row for row in rows if isinstance(row, LabelRecord)),
        unjudged=tuple(row for row in rows if isinstance(row, UnjudgedRow)),
        response_length=answer.answer.words,
        query=query,
        extra={PROVENANCE_KEY: assay},
    )


def _label_row(
    item: ListedNugget, label: Assignment | None, by_rule: bool, is_decoy: bool
) -> LabelRecord | UnjudgedRow:
    text, importance = item.nugget_version.text, _importance_word(item)
    rubric: Any = {"weight": item.weight, "group": item.group}
    if by_rule:
        return LabelRecord(text, AssignmentLabel.NOT_SUPPORT, "", importance, item.position, **rubric)
    if label is None:
        return UnjudgedRow(text, importance, item.position, **rubric)
    reason = label.raw if label.label == AssignmentLabel.CANT_JUDGE else ""
    assay = {"given_at": stamp(label.given_at), "submission": label.submission} | _decoy(is_decoy)
    extra = {PROVENANCE_KEY: assay | label_provenance(label.sentence, label.first_label, reason)}
    return LabelRecord(
        *(text, AssignmentLabel(label.label), label.raw, importance, item.position, 0, extra), **rubric
    )


def _importance_word(item: ListedNugget) -> str:
    importance = Importance(item.importance)
    return item.raw_importance if importance is Importance.UNKNOWN else importance.name.lower()


def stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def answer_lines(
    campaign: Campaign, condition: SupportCondition, judge: Judge, topics: Topics = None
) -> Iterator[str]:
    """Yield the answers with a label by run and topic, and of their topics those that cite nothing.

    Citations without a label are unjudged; those that lead to no passage are left out.
    """
    labels = _support_labels(campaign, condition, judge, topics)
    answers = AnswerProvenance.objects.filter(
        run__campaign=campaign, topic__in=labels.values("sentence__answer__topic")
    )
    ordered = answers.select_related("run", "topic").order_by("run__run_id", "topic__position", "sample")
    for part in in_parts(ordered, WHOLE_ANSWERS):
        yield from _judged_answers(part, labels)


def _judged_answers(part: Sequence[AnswerProvenance], labels: QuerySet[SupportJudgment]) -> Iterator[str]:
    answers = [answer.answer_id for answer in part]
    of_part = labels.filter(sentence__answer__in=answers)
    judged = set(of_part.values_list("sentence__answer", flat=True))
    # Submissions ascend: of a pair that was judged again, the newest label stays.
    rows = of_part.order_by("submission").values_list("sentence", "segment", "label")
    numbers = {(sentence, segment): support_number(label) for sentence, segment, label in rows}
    citing: set[int] = set()
    citations: dict[int, list[CitationLine]] = defaultdict(list)
    fields = ("sentence__answer", "sentence", "position", "segment", "segment__docid")
    cited = Citation.objects.filter(sentence__answer__in=answers).order_by("position")
    for answer, sentence, position, segment, docid in cited.values_list(*fields):
        citing.add(answer)
        if docid is not None:
            support = numbers.get((sentence, segment), UNJUDGED)
            citations[sentence].append({"citationID": position, "reference": docid, "support": support})
    sentences: dict[int, list[SentenceLine]] = defaultdict(list)
    texts = Sentence.objects.filter(answer__in=answers).order_by("index")
    for pk, answer, index, text in texts.values_list("pk", "answer", "index", "text"):
        sentences[answer].append({"sentenceID": index, "text": text, "citations": citations[pk]})
    for answer in part:
        if answer.answer_id in judged or answer.answer_id not in citing:
            yield answer_line(answer.topic.topic_id, answer.run.run_id, answer.sample, sentences[answer.answer_id])


def battle_lines(battle_set: BattleSet, condition: BattleCondition, judge: str, form: BattleForm) -> Iterator[str]:
    """Yield the current verdicts in the order of the draw; other forms than ours have none that counts nowhere."""
    verdicts = current_verdicts(battle_set, condition, judge)
    if form.has_all:
        return _verdict_lines([(verdict.record, verdict.battle) for verdict in verdicts], form)
    counting = counting_verdicts(verdicts).items()
    return _verdict_lines(
        [(_as_drawn(verdict.record), name) for name, of_battle in counting for verdict in of_battle], form
    )


def task_lines(battle_set: BattleSet) -> Iterator[str]:
    """Yield the battles of a set in the order of the draw, judged or not, as an LLM is asked about them."""
    names = _names_of_answers(battle_set.campaign)
    rows = list(battle_set.battles.values_list("topic__topic_id", "topic__text", "left", "right"))
    texts = answer_objects(sorted({answer for _, _, *sides in rows for answer in sides}))
    for topic, query, left, right in rows:
        task = BattleTask(0, topic, names[left][0], names[right][0])
        yield task_line(task, query, in_lines(texts[left]), in_lines(texts[right]))


def _as_drawn(record: BattleRecord) -> BattleRecord:
    """Return the verdict of a third person, who saw the sides changed, as one on the sides of the draw."""
    if not record.second:
        return record
    label = TURNED.get(record.label, record.label)
    return replace(record, left=record.right, right=record.left, label=label, second=False)


def _verdict_lines(verdicts: list[tuple[BattleRecord, str]], form: BattleForm) -> Iterator[str]:
    if form.header:
        yield form.header
    yield from (form.line(record, battle) for record, battle in verdicts if form.holds(record))
