"""Agreement of people who labelled the same items, two by two and all together, and the items on which they differ.

Only current labels of people count: submitted, and not replaced. Those of studies are on their own pages.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
from django.db.models.functions import Coalesce

from accounts.models import User
from evaluation.campaigns.access import may_see
from evaluation.campaigns.contents import in_parts
from evaluation.domain.shares import assigned, supported, topics_of_several
from evaluation.formats.lines import sample_words
from evaluation.labels import LabelSet
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Judge,
    Judgment,
    ListedNugget,
    NuggetList,
    NuggetVersion,
    Segment,
    Sentence,
    SupportJudgment,
    Topic,
)
from evaluation.stages import STAGES, Stage
from evaluation.terms import JudgeKind, SupportCondition
from reports.cache import cached_report
from reports.confusion.paired_labels import ConfusionReport
from reports.frames import ASSIGNMENT_CELLS, SUPPORT_CELLS, cells_of
from reports.metrics.alpha import Overlap, alpha_ordinal, overlap
from reports.metrics.arrays import Bytes, Counts, Indices
from reports.metrics.confusion import KAPPA, confusion, harsh_conflicts
from reports.metrics.jackknife import Jackknife, jackknife

Key = tuple[int, int]
ABSENT: Final = -9
"""No label at all, as against one that is no degree."""
Row = tuple[int, int, int, int, int]
"""Topic, the two keys of an item, judge, and label."""


@dataclass(frozen=True, slots=True)
class PairOfPeople:
    """Two judges, and how they label what both labelled: `items` usable pairs of labels, of `topics`."""

    first: Judge
    second: Judge
    items: int
    topics: int
    agreement: float | None
    alpha: float | None

    @property
    def key(self) -> str:
        return f"{self.first.pk}-{self.second.pk}"


@dataclass(frozen=True, slots=True)
class Shared:
    """The labels of one stage that several people gave: `labels` J x U, negative where there is none."""

    stage: Stage
    scale: LabelSet
    judges: tuple[Judge, ...]
    keys: tuple[Key, ...]
    topics: Indices
    labels: Bytes
    overlap: Overlap
    pairs: tuple[PairOfPeople, ...]

    def pair(self, key: str) -> PairOfPeople | None:
        pair = next((pair for pair in self.pairs if pair.key == key), None)
        return pair or max(self.pairs, key=lambda pair: pair.items, default=None)

    def confusion(self, pair: PairOfPeople) -> ConfusionReport:
        """Return a pair's K x K: rows the first's labels, columns the second's."""
        rows, columns = (self.labels[self.judges.index(judge)] for judge in (pair.first, pair.second))
        names = self.scale.scale
        harsh = int(harsh_conflicts(rows, columns, len(names)).sum())
        # A label that is no degree stays in, and the confusion counts it as left out.
        both = (rows != ABSENT) & (columns != ABSENT)
        matrix = confusion(rows[both], columns[both], len(names))
        return ConfusionReport(pair.first.name, pair.second.name, names, matrix, harsh, comparable=True)

    def tables(self) -> Counts:
        """Return the K x K of each pair of people, topic by topic: T x P x K x K."""
        size = len(self.scale)
        topics, place = np.unique(self.topics, return_inverse=True)
        tables = np.zeros((len(topics), len(self.pairs), size, size), dtype=np.int64)
        for number, pair in enumerate(self.pairs):
            rows, columns = (self.labels[self.judges.index(judge)] for judge in (pair.first, pair.second))
            both = (rows >= 0) & (columns >= 0)
            np.add.at(tables, (place[both], number, rows[both], columns[both]), 1)
        return tables

    def differing(self) -> Counts:
        """Return the places of the units whose labels differ: the furthest apart first, then in the order of items."""
        above = len(self.scale)
        top = np.where(self.labels >= 0, self.labels, 0).max(axis=0, initial=0)
        bottom = np.where(self.labels >= 0, self.labels, above).min(axis=0, initial=above)
        # A unit without a usable label has no distance.
        apart = np.where(bottom == above, 0, top - bottom)
        places = np.flatnonzero(apart > 0)
        ordered: Counts = places[np.argsort(-apart[places], kind="stable")]
        return ordered


def shared_by_people(viewer: User, campaign: Campaign) -> list[Shared]:
    return list(_shared(campaign)) if may_see(viewer, campaign) else []


def kappa_of_people(campaign: Campaign, stage: Stage) -> Jackknife:
    shared = next((each for each in _shared(campaign) if each.stage is stage), None)
    size = len(campaign.protocol.labels_of(stage))
    tables = shared.tables() if shared else np.zeros((0, 0, size, size), dtype=np.int64)
    return jackknife(tables, KAPPA)


@cached_report(size=16)
def _shared(campaign: Campaign) -> tuple[Shared, ...]:
    people = frozenset(Judge.objects.filter(kind=JudgeKind.HUMAN, aside=False).values_list("pk", flat=True))
    parts, protocol = [], campaign.protocol
    for stage in STAGES.values():
        labels = protocol.labels_of(stage)
        if stage.by_list:
            parts.append(_of(stage, labels, _assigned(campaign, people), ASSIGNMENT_CELLS))
        elif stage.condition:
            parts.append(_of(stage, labels, _supported(campaign, stage.condition, people), SUPPORT_CELLS))
        elif stage.judges:
            parts.append(_of(stage, labels, _judged(campaign, stage, people), cells_of(labels)))
    return tuple(shared for shared in parts if shared.keys)


def _assigned(campaign: Campaign, people: frozenset[int]) -> list[Row]:
    # Topics that one person labelled alone are most of a campaign, and have nothing to look for.
    sets = campaign.nugget_sets.values_list("pk", flat=True)
    several = frozenset[int]().union(*(topics_of_several(assigned(campaign, pk), people) for pk in sets))
    lists = NuggetList.objects.newest_submitted().filter(nugget_set__campaign=campaign, topic__in=several)
    listed = ListedNugget.objects.filter(nugget_list__in=lists).counted_by(campaign.protocol.scoring)
    topics = dict(listed.values_list("nugget_version", "nugget_list__topic__pk"))
    labels = Assignment.objects.current().filter(judge__in=people).order_by()
    rows = labels.values_list("answer", "nugget_version", "judge", "label")
    return _of_several(
        (topics[wording], answer, wording, judge, label)
        for part in in_parts(topics)
        for answer, wording, judge, label in rows.filter(nugget_version__in=part)
    )


def _supported(campaign: Campaign, condition: SupportCondition, people: frozenset[int]) -> list[Row]:
    several = topics_of_several(supported(campaign, condition), people)
    labels = SupportJudgment.objects.current().filter(judge__in=people, condition=condition).order_by()
    shared = labels.filter(sentence__answer__topic__in=several)
    return _of_several(shared.values_list("sentence__answer__topic__pk", "sentence", "segment", "judge", "label"))


def _judged(campaign: Campaign, stage: Stage, people: frozenset[int]) -> list[Row]:
    labels = Judgment.objects.current().filter(stage=stage, topic__campaign=campaign, judge__in=people).order_by()
    keys = labels.annotate(second=Coalesce("other", "segment", 0)).annotate(first=Coalesce("answer", "topic"))
    return _of_several(keys.values_list("topic__pk", "first", "second", "judge", "label"))


def _of_several(rows: Iterable[Row]) -> list[Row]:
    """Return the labels of items that more than one labelled, in the order of topics and items."""
    ordered = sorted(rows)
    labels = Counter((first, second) for _, first, second, _, _ in ordered)
    return [row for row in ordered if labels[row[1], row[2]] > 1]


def _of(stage: Stage, scale: LabelSet, rows: Sequence[Row], cells: Bytes) -> Shared:
    judges = tuple(Judge.objects.filter(pk__in={judge for *_, judge, _ in rows}).order_by("name"))
    row_of = {judge.pk: place for place, judge in enumerate(judges)}
    topics = {(first, second): topic for topic, first, second, _, _ in rows}
    place = {key: number for number, key in enumerate(topics)}
    labels = np.full((len(judges), len(place)), ABSENT, dtype=np.int8)
    for _, first, second, judge, label in rows:
        labels[row_of[judge], place[first, second]] = cells[label]
    topic = np.array(list(topics.values()), dtype=np.int32)
    pairs = tuple(_pairs(judges, labels, topic))
    return Shared(stage, scale, judges, tuple(place), topic, labels, overlap(labels, topic, len(scale)), pairs)


def _pairs(judges: Sequence[Judge], labels: Bytes, topic: Indices) -> Iterable[PairOfPeople]:
    for (a, first), (b, second) in combinations(enumerate(judges), 2):
        both = (labels[a] >= 0) & (labels[b] >= 0)
        number = int(both.sum())
        if number:
            same = int((labels[a] == labels[b])[both].sum())
            alpha = alpha_ordinal(labels[[a, b]][:, both])
            topics = len(np.unique(topic[both]))
            yield PairOfPeople(first, second, number, topics, same / number, alpha)


def read_differing(shared: Shared, places: Sequence[int]) -> list[dict[str, Any]]:
    """Return items on which people differ, by their places, with texts and labels: four queries, however many."""
    keys = [shared.keys[place] for place in places]
    codes = [int(label.code) for label in shared.scale.ascending]
    in_topics = {int(shared.topics[place]) for place in places}
    topics = dict(Topic.objects.filter(pk__in=in_topics).values_list("pk", "topic_id"))
    if shared.stage.gives_grades:
        answers = [0 for _ in keys]
        texts = dict(Segment.objects.filter(pk__in=[key[1] for key in keys]).values_list("pk", "docid"))
        items = [(texts[second], "") for _, second in keys]
    elif not shared.stage.condition and not shared.stage.by_list:
        answers = [first for first, _ in keys]
        items = [(shared.stage.question, "") for _ in keys]
    elif shared.stage.by_list:
        answers = [first for first, _ in keys]
        texts = dict(NuggetVersion.objects.filter(pk__in=[key[1] for key in keys]).values_list("pk", "text"))
        items = [(texts[second], "") for _, second in keys]
    else:
        sentences = Sentence.objects.in_bulk([key[0] for key in keys])
        texts = {pk: sentence.text for pk, sentence in sentences.items()}
        answers = [sentences[first].answer_id for first, _ in keys]
        docids = dict(Segment.objects.filter(pk__in=[key[1] for key in keys]).values_list("pk", "docid"))
        items = [(texts[first], docids[second]) for first, second in keys]
    provenance = AnswerProvenance.objects.filter(pk__in=answers).values_list("pk", "run__run_id", "sample")
    runs = {answer: f"{run}{sample_words(sample)}" for answer, run, sample in provenance}
    return [
        {
            "key": key,
            "topic": topics[int(shared.topics[place])],
            "run": runs.get(answer, ""),
            "item": item,
            "beside": beside,
            "labels": [
                (judge, codes[cell])
                for judge, cell in zip(shared.judges, shared.labels[:, place].tolist(), strict=True)
                if cell >= 0
            ],
        }
        for key, place, answer, (item, beside) in zip(keys, places, answers, items, strict=True)
    ]
