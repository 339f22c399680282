"""Answers as they read, with citations and support labels. The door for organizers: it starts at provenance."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.labels import SupportLabel
from evaluation.models import AnswerProvenance, Campaign, Citation, Run, Sentence, SupportJudgment, Topic


@dataclass(frozen=True, slots=True)
class ShownSupport:
    pk: int
    condition: str
    judge: str
    label: SupportLabel
    raw: str


@dataclass(frozen=True, slots=True)
class ShownCitation:
    """A citation: the segment it resolves to, if any, and the labels of the pair."""

    number: int
    raw: str
    docid: str
    public_id: str
    title: str
    has_text: bool
    labels: tuple[ShownSupport, ...]


@dataclass(frozen=True, slots=True)
class SentenceOfAnswer:
    number: int
    text: str
    citations: tuple[ShownCitation, ...]


@dataclass(frozen=True, slots=True)
class AnswerOfRun:
    """An answer with its run, for those who may know it."""

    pk: int
    run: Run
    topic: Topic
    sample: int
    words: int
    response_length: int | None
    references: int
    sentences: tuple[SentenceOfAnswer, ...]


def provenance_for(viewer: User, campaign: Campaign) -> QuerySet[AnswerProvenance]:
    return AnswerProvenance.objects.filter(run__campaign__in=within(viewer, campaign))


def answers_of_topic(viewer: User, campaign: Campaign, topic: Topic) -> QuerySet[AnswerProvenance]:
    rows = provenance_for(viewer, campaign).filter(topic=topic)
    return rows.select_related("answer", "run", "topic").order_by("run__run_id", "sample")


def runs_without_answer(viewer: User, campaign: Campaign, topic: Topic) -> list[Run]:
    answered = provenance_for(viewer, campaign).filter(topic=topic).values("run")
    runs = Run.objects.filter(campaign__in=within(viewer, campaign)).exclude(pk__in=answered)
    return list(runs.order_by("run_id"))


def answer_of_run(
    viewer: User, campaign: Campaign, run: Run, topic_id: str, answer_id: str
) -> AnswerProvenance | None:
    rows = provenance_for(viewer, campaign).filter(run=run, topic__public_id=topic_id)
    rows = rows.filter(answer__public_id=answer_id) if answer_id else rows.order_by("sample")
    return rows.select_related("answer", "run", "topic").first()


def shown_answers(rows: Iterable[AnswerProvenance]) -> list[AnswerOfRun]:
    page = list(rows)
    sentences = _sentences([row.answer_id for row in page])
    return [
        AnswerOfRun(
            pk=row.answer_id,
            run=row.run,
            topic=row.topic,
            sample=row.sample,
            words=row.answer.words,
            response_length=row.response_length,
            references=len(row.references),
            sentences=tuple(sentences[row.answer_id]),
        )
        for row in page
    ]


def _sentences(answers: Sequence[int]) -> dict[int, list[SentenceOfAnswer]]:
    rows = list(Sentence.objects.filter(answer__in=answers).order_by("answer", "index"))
    citations = _citations([row.pk for row in rows])
    by_answer = defaultdict(list)
    for row in rows:
        sentence = SentenceOfAnswer(row.index + 1, row.text, tuple(citations[row.pk]))
        by_answer[row.answer_id].append(sentence)
    return by_answer


def _citations(sentences: Sequence[int]) -> dict[int, list[ShownCitation]]:
    labels = _support(sentences)
    rows = Citation.objects.filter(sentence__in=sentences).select_related("segment")
    rows = rows.defer("segment__text", "segment__headings").order_by("sentence", "position")
    by_sentence = defaultdict(list)
    for row in rows:
        by_sentence[row.sentence_id].append(_citation(row, labels))
    return by_sentence


def _citation(row: Citation, labels: dict[tuple[int, int], list[ShownSupport]]) -> ShownCitation:
    segment = row.segment
    return ShownCitation(
        number=row.position + 1,
        raw=row.raw,
        docid=segment.docid if segment else "",
        public_id=segment.public_id if segment else "",
        title=segment.title if segment else "",
        has_text=bool(segment and segment.has_text),
        labels=tuple(labels[row.sentence_id, segment.pk]) if segment else (),
    )


def _support(sentences: Sequence[int]) -> dict[tuple[int, int], list[ShownSupport]]:
    rows = SupportJudgment.objects.current().filter(sentence__in=sentences).select_related("judge")
    labels = defaultdict(list)
    for row in rows.order_by("condition", "judge__name"):
        label = ShownSupport(row.pk, row.condition, row.judge.name, SupportLabel(row.label), row.raw)
        labels[row.sentence_id, row.segment_id].append(label)
    return labels
