"""Pairs that people have labelled, and a few of them drawn by chance to try prompts on."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from random import Random
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from evaluation.domain.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.models import Assignment, Campaign, ListedNugget, NuggetList, Qrel, SupportJudgment
from evaluation.terms import Importance, JudgeKind, SupportCondition
from jobs.queue import NewItem
from llmjobs.prompts.template import PromptTask

CHUNK = 50
WEIGHED = [Importance.OKAY, Importance.VITAL]
"""In the order of their codes on trial: okay is 0, vital 1."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Of what people labelled, how many labels, and the seed that alone decides which."""

    of: str
    pairs: int
    seed: int


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Drawing of one task: its population, and the items drawn, each with `people`'s codes."""

    names: Callable[[Campaign], list[str]]
    items: Callable[[Campaign, Draw], list[NewItem]]


def labelled_by_people(campaign: Campaign, task: PromptTask) -> list[str]:
    """Names of what people have labelled: nugget sets, conditions of support, or qrels."""
    return _DRAWINGS[task].names(campaign)


def draw(campaign: Campaign, task: PromptTask, wanted: Draw) -> list[NewItem]:
    return _DRAWINGS[task].items(campaign, wanted)


def _assigned(campaign: Campaign) -> QuerySet[Assignment]:
    return Assignment.objects.current().filter(
        nugget_version__nugget__nugget_set__campaign=campaign,
        judge__kind=JudgeKind.HUMAN,
        judge__aside=False,
        label__in=NUGGET_LABELS.codes,
        answer__words__gt=0,
    )


def _assigned_sets(campaign: Campaign) -> list[str]:
    theirs = _assigned(campaign).filter(nugget_version__nugget__nugget_set=OuterRef("pk"))
    return list(campaign.nugget_sets.filter(Exists(theirs)).order_by("name").values_list("name", flat=True))


def _assign_items(campaign: Campaign, wanted: Draw) -> list[NewItem]:
    labels = _assigned(campaign).filter(nugget_version__nugget__nugget_set__name=wanted.of)
    answers = _shuffled(labels.values_list("answer", flat=True), wanted.seed)
    size, left, items = campaign.protocol.batch_size, wanted.pairs, []
    for start in range(0, len(answers), CHUNK):
        some = answers[start : start + CHUNK]
        rows = labels.filter(answer__in=some).order_by("given_at", "pk")
        labels_of = _first_labels(rows.values_list("answer", "nugget_version", "label"))
        for answer in some:
            batch = labels_of.get(answer, [])[: min(size, left)]
            if batch:
                nuggets, people = [pk for pk, _ in batch], [label for _, label in batch]
                payload = {"answer": answer, "nuggets": nuggets, "people": people}
                key = f"answer {answer}, nuggets {nuggets[0]}-{nuggets[-1]}"
                items.append(NewItem(key, "try_assign", payload))
                left -= len(batch)
            if not left:
                return items
    return items


def _supported(campaign: Campaign) -> QuerySet[SupportJudgment]:
    return (
        SupportJudgment.objects.current()
        .filter(
            segment__campaign=campaign,
            segment__has_text=True,
            judge__kind=JudgeKind.HUMAN,
            judge__aside=False,
            label__in=CITATION_LABELS.codes,
        )
        .exclude(condition=SupportCondition.LLM)
    )


def _supported_conditions(campaign: Campaign) -> list[str]:
    labels = _supported(campaign)
    return [str(one) for one in SupportCondition if labels.filter(condition=one).exists()]


def _support_items(campaign: Campaign, wanted: Draw) -> list[NewItem]:
    labels = _supported(campaign).filter(condition=wanted.of)
    sentences = _shuffled(labels.values_list("sentence", flat=True), wanted.seed)[: wanted.pairs]
    rows = labels.filter(sentence__in=sentences).order_by("given_at", "pk")
    labels_of = _first_labels(rows.values_list("sentence", "segment", "label"))
    items = [
        NewItem(
            f"sentence {sentence}, segment {segment}",
            "try_support",
            {"sentence": sentence, "segment": segment, "people": [label]},
        )
        for sentence in sentences
        for segment, label in labels_of[sentence]
    ]
    return items[: wanted.pairs]


def _weighed(campaign: Campaign) -> QuerySet[ListedNugget]:
    return ListedNugget.objects.filter(
        NuggetList.objects.newest_submitted_q("nugget_list__"),
        nugget_list__nugget_set__campaign=campaign,
        nugget_list__nugget_set__judge__kind=JudgeKind.HUMAN,
        nugget_list__nugget_set__judge__aside=False,
        importance__in=WEIGHED,
    )


def _weighed_sets(campaign: Campaign) -> list[str]:
    names = _weighed(campaign).order_by().values_list("nugget_list__nugget_set__name", flat=True)
    return sorted(names.distinct())


def _importance_items(campaign: Campaign, wanted: Draw) -> list[NewItem]:
    rows = _weighed(campaign).filter(nugget_list__nugget_set__name=wanted.of)
    topics = _shuffled(rows.values_list("nugget_list__topic_id", flat=True), wanted.seed)
    size, left, items = campaign.protocol.batch_size, wanted.pairs, []
    listed = rows.order_by("nugget_list__topic_id", "position")
    by_topic = _grouped(listed.values_list("nugget_list__topic_id", "nugget_version", "importance"))
    for topic in topics:
        batch = by_topic[topic][: min(size, left)]
        nuggets = [pk for pk, _ in batch]
        people = [WEIGHED.index(Importance(code)) for _, code in batch]
        payload = {"topic": topic, "nuggets": nuggets, "people": people}
        items.append(NewItem(f"topic {topic}, nuggets {nuggets[0]}-{nuggets[-1]}", "try_importance", payload))
        left -= len(batch)
        if not left:
            break
    return items


def _graded(campaign: Campaign) -> QuerySet[Qrel]:
    # Grades of an LLM are left out: a prompt would be compared with a machine.
    return Qrel.objects.filter(
        source__campaign=campaign,
        segment__has_text=True,
        grade__gte=0,
        grade__lte=campaign.protocol.relevance_max,
    ).exclude(event__kind__startswith="llm.")


def _graded_sources(campaign: Campaign) -> list[str]:
    theirs = _graded(campaign).filter(source=OuterRef("pk"))
    return list(campaign.qrel_sources.filter(Exists(theirs)).values_list("name", flat=True))


def _relevance_items(campaign: Campaign, wanted: Draw) -> list[NewItem]:
    grades = _graded(campaign).filter(source__name=wanted.of)
    drawn = _shuffled(grades.values_list("pk", flat=True), wanted.seed)[: wanted.pairs]
    found = {grade.pk: grade for grade in grades.filter(pk__in=drawn)}
    top = campaign.protocol.relevance_max
    return [
        NewItem(
            f"topic {one.topic_id}, segment {one.segment_id}",
            "try_relevance",
            {"topic": one.topic_id, "segment": one.segment_id, "top": top, "people": [one.grade]},
        )
        for one in (found[pk] for pk in drawn)
    ]


def _first_labels(rows: Iterable[tuple[int, int, int]]) -> dict[int, list[tuple[int, int]]]:
    # Where several people labelled the same pair, the first of them counts.
    found: dict[tuple[int, int], int] = {}
    for one, what, label in rows:
        found.setdefault((one, what), label)
    return _grouped(sorted((one, what, label) for (one, what), label in found.items()))


def _grouped(rows: Iterable[tuple[int, int, int]]) -> dict[int, list[tuple[int, int]]]:
    # Rows of one key must follow each other: groupby sees neighbours only.
    return {one: [(what, label) for _, what, label in some] for one, some in groupby(rows, key=lambda row: row[0])}


def _shuffled(keys: "QuerySet[Any, int]", seed: int) -> list[int]:
    """Distinct keys in an order that the seed alone decides."""
    distinct = sorted(keys.order_by().distinct())
    Random(seed).shuffle(distinct)  # noqa: S311
    return distinct


_DRAWINGS: Mapping[PromptTask, _Drawing] = {
    "assign": _Drawing(_assigned_sets, _assign_items),
    "support": _Drawing(_supported_conditions, _support_items),
    "importance": _Drawing(_weighed_sets, _importance_items),
    "relevance": _Drawing(_graded_sources, _relevance_items),
}
