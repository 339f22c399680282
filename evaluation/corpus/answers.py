"""Answers as they read, with citations and support labels. The door for organizers: it starts at provenance."""

from collections import defaultdict
from collections.abc import Collection

from django.db.models import Prefetch, QuerySet

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.models import AnswerProvenance, Campaign, Citation, Run, SupportJudgment, Topic


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
    return with_sentences(rows.select_related("answer", "run", "topic")).first()


def with_sentences(rows: QuerySet[AnswerProvenance]) -> QuerySet[AnswerProvenance]:
    cited = Citation.objects.select_related("segment").defer("segment__text", "segment__headings")
    return rows.prefetch_related("answer__sentences", Prefetch("answer__sentences__citations", cited))


def labels_by_citation(answers: Collection[AnswerProvenance]) -> dict[int, list[SupportJudgment]]:
    """Return the current labels of each citation of answers `with_sentences`, by its key."""
    judged = SupportJudgment.objects.current().filter(sentence__answer__in=[row.answer_id for row in answers])
    by_pair = defaultdict(list)
    for label in judged.select_related("judge").order_by("condition", "judge__name"):
        by_pair[label.sentence_id, label.segment_id].append(label)
    return {
        citation.pk: by_pair[citation.sentence_id, citation.segment_id]
        for row in answers
        for sentence in row.answer.sentences.all()
        for citation in sentence.citations.all()
        if citation.segment_id
    }
