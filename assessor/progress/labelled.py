"""Progress of labels by topic, whoever gave them."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from evaluation.domain.counted_pairs import counted_citations
from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.models import Answer, Assignment, Campaign, ListedNugget, NuggetList, SupportJudgment
from evaluation.terms import Origin

Labelled = Mapping[int, tuple[int, int]]
"""By topic: how many labels the fullest judge gave, and how many there are to give; 0 where no answer has words."""


def standing_lists(campaign: Campaign) -> QuerySet[NuggetList]:
    return NuggetList.objects.newest_submitted().filter(nugget_set__campaign=campaign).order_by()


def labels_of(campaign: Campaign) -> Labelled:
    return _labels(campaign, *campaign.revision_key)


def citations_of(campaign: Campaign) -> Labelled:
    return _citations(campaign, campaign.protocol.first_citations, *campaign.revision_key)


@lru_cache(maxsize=16)
def _labels(campaign: Campaign, _made: datetime, _revision: int) -> Labelled:
    lists = standing_lists(campaign).exclude(nugget_set__origin=Origin.DRAFT)
    listed = ListedNugget.objects.filter(nugget_list__in=lists).order_by()
    rows = Answer.objects.filter(topic__campaign=campaign).order_by().values_list("topic")
    # An answer without words is labelled by rule: neither a job nor a desk has it.
    answers = dict(rows.annotate(number=Count("pk", filter=Q(words__gt=0))))
    sizes = listed.values_list("nugget_list__nugget_set", "nugget_list__topic").annotate(Count("pk"))
    to_give = {(nuggets, topic): number * answers[topic] for nuggets, topic, number in sizes if topic in answers}
    assignments = Assignment.objects.current().filter(nugget_version__in=listed.values("nugget_version"))
    assignments = assignments.filter(judge__aside=False, answer__words__gt=0)
    assignments = assignments.exclude(label=AssignmentLabel.FAILED).order_by()
    nugget = "nugget_version__nugget"
    by_judge = assignments.values_list(f"{nugget}__nugget_set", f"{nugget}__topic", "judge")
    labels: dict[tuple[int, int], int] = defaultdict(int)
    for nuggets, topic, _judge, number in by_judge.annotate(Count("pk")):
        labels[nuggets, topic] = max(labels[nuggets, topic], number)
    progress: dict[int, tuple[int, int]] = {}
    for (nuggets, topic), number in to_give.items():
        of_list = labels[nuggets, topic], number
        # Of several lists of a topic the one that is labelled furthest.
        progress[topic] = max(progress.get(topic, of_list), of_list, key=lambda pair: pair[0] / (pair[1] or 1))
    return progress


@lru_cache(maxsize=16)
def _citations(campaign: Campaign, first: int | None, _made: datetime, _revision: int) -> Labelled:
    pairs = counted_citations(first).filter(sentence__answer__topic__campaign=campaign)
    topic = "sentence__answer__topic"
    to_give = dict(pairs.values_list(topic).annotate(Count("pk")))
    counts = pairs.filter(sentence=OuterRef("sentence"), segment=OuterRef("segment"))
    judgments = SupportJudgment.objects.current().filter(Exists(counts), judge__aside=False)
    judgments = judgments.filter(sentence__answer__topic__campaign=campaign).exclude(label=SupportLabel.FAILED)
    rows = judgments.order_by().values_list(topic, "judge", "condition")
    labels: dict[int, int] = defaultdict(int)
    for key, _judge, _condition, number in rows.annotate(Count("pk")):
        labels[key] = max(labels[key], number)
    return {key: (labels[key], number) for key, number in to_give.items()}
