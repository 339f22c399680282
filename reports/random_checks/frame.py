"""A random check's frame as it is stored, and the labels of its pairs by people."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.db import DEFAULT_DB_ALIAS
from django.db.models import Count, Q, QuerySet

from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.errors import Refused
from evaluation.labels import NO_LABEL, AssignmentLabel, LabelSet
from evaluation.models import Assignment, Campaign, Judge, RandomCheckPair, Study, SupportJudgment
from evaluation.models.studies import REAL_LABELS
from evaluation.studies import ITEM, study_named
from evaluation.terms import DrawKind, JudgeKind, StudyKind
from reports.confusion.paired_labels import ItemKind
from reports.confusion.verdicts import newest_verdicts
from reports.frames import cells_of
from reports.metrics.arrays import Booleans, Floats
from reports.random_checks.population import (
    Ints,
    Population,
    group_numbers,
    group_starts,
    groups_citations,
    packed,
    pair_names,
)

CANT_JUDGE = AssignmentLabel.CANT_JUDGE
CANT_JUDGE_WORD = CANT_JUDGE.name.lower()
"""Word of files."""
"""The code of "can't judge", which is the same for nuggets and citations."""

GivenLabels = dict[tuple[int, int], dict[str, int]]
"""Codes of labels by pair and judge's name."""


@dataclass(frozen=True)
class StoredFrame:
    """N units in the order in which they came in, and their Q pairs (`Population`).

    `pk` and `digits` Q, `items` Q x 2, `unit` Q, index of N; the others N. `chance` is 0 where not drawn.
    `judge_label`: places on the scale of `labels`, or NO_LABEL; `digits`: codes.
    """

    labels: LabelSet

    pk: Ints
    items: Ints
    unit: Ints
    digits: tuple[str, ...]
    judge_label: Ints
    block: Ints
    known: Booleans
    size: Floats
    place: Floats
    chance: Floats

    @property
    def first(self) -> Ints:
        return group_starts(self.unit)

    @cached_property
    def keys(self) -> Ints:
        """Key of each pair, Q."""
        return packed(self.items)

    @property
    def drawn(self) -> Booleans:
        """Units that the draw took, the known ones left out."""
        return (self.chance > 0) & ~self.known

    def item(self, place: int) -> tuple[int, int]:
        return int(self.items[place, 0]), int(self.items[place, 1])

    def items_of(self, units: Booleans) -> Ints:
        return self.items[units[self.unit]]

    def places_in(self, population: Population) -> Ints:
        """Place of each unit in a population, N; -1 where it is not there, or has other citations by now."""
        mine, keys = self.keys[self.first], population.keys
        order = np.argsort(keys)
        if not len(keys):
            return np.full(len(mine), -1)
        at = order[np.minimum(np.searchsorted(keys[order], mine), len(keys) - 1)]
        # Citations count from the first on, so that equal numbers of them are the same ones.
        same = (keys[at] == mine) & (np.bincount(population.unit)[at] == np.bincount(self.unit))
        places: Ints = np.where(same, at, -1)
        return places

    def outside(self, population: Population) -> Booleans:
        is_outside = np.ones(len(population.run), dtype=np.bool_)
        places = self.places_in(population)
        is_outside[places[places >= 0]] = False
        return is_outside


def random_check_named(campaign: Campaign, name: str) -> Study:
    """Return a campaign's random check. Raises `Refused` for another study, and with the names where there is none."""
    study = study_named(campaign, name)
    if study.draw != DrawKind.RANDOM:
        raise Refused("no_random_check", f"{name} is a second look at disagreements, and no random check.")
    return study


def stored_frame(study: Study, alias: str = DEFAULT_DB_ALIAS) -> StoredFrame:
    first, second = ITEM[StudyKind(study.kind)]
    fields = ("pk", first, second, "judge_label", "block", "known", "size", "place", "chance", "given")
    rows = list(RandomCheckPair.objects.using(alias).filter(study=study).order_by("pk").values_list(*fields))
    *columns, digits = zip(*rows, strict=True) if rows else ((),) * len(fields)
    pk, first_ids, second_ids, *whole = np.array(columns[:6], dtype=np.int64)
    unit = group_numbers(first_ids) if groups_citations(study) else np.arange(len(pk))
    of_unit = group_starts(unit)
    chances = [chance or 0.0 for chance in columns[8]]
    code, block, is_known = (column[of_unit] for column in whole)
    size, place, chance = (np.array(column, dtype=np.float64)[of_unit] for column in (*columns[6:8], chances))
    items = np.stack([first_ids, second_ids], axis=1)
    place_of, known = cells_of(study.labels)[code].astype(np.int64), is_known.astype(np.bool_)
    label = np.where(place_of < 0, NO_LABEL, place_of)
    return StoredFrame(study.labels, pk, items, unit, digits, label, block, known, size, place, chance)


def current_labels(study: Study, judges: QuerySet[Judge], alias: str = DEFAULT_DB_ALIAS) -> GivenLabels:
    """Labels of some judges of the study's pairs, "can't judge" among them; of a judge's labels the newest."""
    names = ITEM[StudyKind(study.kind)]
    judgments: QuerySet[Assignment] | QuerySet[SupportJudgment] = (
        Assignment.objects.current()
        if study.kind == StudyKind.ASSIGNMENT
        else SupportJudgment.objects.current().filter(condition=study.condition)
    )
    labels: GivenLabels = defaultdict(dict)
    rows = judgments.using(alias).filter(judge__in=judges).order_by("submission")
    for first, second, judge, label in rows.values_list(*names, "judge__name", "label"):
        if label in (*REAL_LABELS, CANT_JUDGE):
            labels[first, second][judge] = label
    return labels


@dataclass(frozen=True, slots=True)
class CheckCounts:
    """Number of a random check's pairs, of those that were drawn, and of those that people judged or refused."""

    pairs: int
    drawn: int
    answered: int

    @property
    def left(self) -> int:
        return self.drawn - self.answered


def check_counts(studies: Sequence[Study]) -> dict[int, CheckCounts]:
    drawn = Q(chance__isnull=False, known=False)
    rows = RandomCheckPair.objects.filter(study__in=studies).order_by().values_list("study")
    sizes = rows.annotate(
        pairs=Count("pk"), number=Count("pk", filter=drawn), taken=Count("pk", filter=drawn & ~Q(given=""))
    )
    answered: Counter[int] = Counter()
    for kind, model in ((StudyKind.ASSIGNMENT, Assignment), (StudyKind.SUPPORT, SupportJudgment)):
        judgments = model.objects.current().filter(judge__study__in=studies, judge__kind=JudgeKind.HUMAN)
        labels = judgments.filter(label__in=(*REAL_LABELS, CANT_JUDGE)).order_by()
        answered.update(study for study, *_ in labels.values_list("judge__study", *ITEM[kind]).distinct())
    counts = {pk: CheckCounts(pairs, number, taken + answered[pk]) for pk, pairs, number, taken in sizes}
    return dict.fromkeys((study.pk for study in studies), CheckCounts(0, 0, 0)) | counts


def people_of(study: Study) -> QuerySet[Judge]:
    return Judge.objects.filter(study=study, kind=JudgeKind.HUMAN)


def adjudicated(study: Study, alias: str) -> dict[tuple[int, int], int]:
    """The verdict that counts of each pair of the campaign, as far as it is a label."""
    kind = ItemKind.NUGGETS if study.kind == StudyKind.ASSIGNMENT else ItemKind.CITATIONS
    verdicts = newest_verdicts(study.campaign, kind, alias)
    return {item: newest.verdict for item, newest in verdicts.items() if newest.verdict in REAL_LABELS}


@dataclass(frozen=True, slots=True)
class PeopleJudgments:
    """Labels of N units by people, each label's share, N x K, zeros where a pair of the unit has none.

    `mean`: over a unit's pairs; `best`: of its best pair. `refused` N: somebody answered, and could not judge a pair.
    """

    mean: Floats
    best: Floats
    refused: Booleans


def people_judgments(study: Study, frame: StoredFrame, labels: GivenLabels, alias: str) -> PeopleJudgments:
    """Count people's labels of each pair: the mean of theirs, or where they differ the verdict of an adjudicator."""
    shares, cells = np.zeros((len(frame.keys), len(frame.labels))), cells_of(frame.labels)
    refused = np.zeros(len(frame.keys), dtype=np.bool_)
    verdicts = adjudicated(study, alias)
    for place in np.flatnonzero((frame.chance > 0)[frame.unit]).tolist():
        item = frame.item(place)
        codes = [int(digit) for digit in frame.digits[place]] or list(labels.get(item, {}).values())
        real = [label for label in codes if label in REAL_LABELS]
        if len(set(real)) > 1 and item in verdicts:
            real = [verdicts[item]]
        for label in real:
            shares[place, cells[label]] += 1 / len(real)
        refused[place] = bool(codes) and not real
    return _by_unit(frame, shares, refused)


def _by_unit(frame: StoredFrame, shares: Floats, refused: Booleans) -> PeopleJudgments:
    first, pairs = frame.first, np.bincount(frame.unit)
    if len(first) == len(shares):
        return PeopleJudgments(shares, shares, refused)
    answered, unknown = refused | shares.any(axis=1), ~shares.any(axis=1)
    # Where people differ, whoever is strict about one pair of a sentence is taken to be strict about the others.
    below = np.minimum.reduceat(np.cumsum(shares, axis=1), first, axis=0)
    mean = np.add.reduceat(shares, first, axis=0) / pairs[:, np.newaxis]
    whole = ~np.logical_or.reduceat(unknown, first)[:, np.newaxis]
    all_answered = np.logical_and.reduceat(answered, first)
    return PeopleJudgments(
        mean=np.where(whole, mean, 0.0),
        best=np.where(whole, np.diff(below, axis=1, prepend=0.0), 0.0),
        refused=all_answered & np.logical_or.reduceat(refused, first),
    )


def drawn_rows(study: Study) -> list[dict[str, Any]]:
    """Every pair that was drawn or taken over, with its stratum, u, x, pi and people's labels, as files have it."""
    frame, labels = stored_frame(study), current_labels(study, people_of(study))
    drawn = np.flatnonzero((frame.chance > 0)[frame.unit])
    scale, words = frame.labels.ascending, {code: label.word for code, label in frame.labels.by_code.items()}
    names = pair_names(study.campaign, study.kind, frame.items[drawn])
    rows = []
    for place, name in zip(drawn.tolist(), names, strict=True):
        unit = frame.unit[place]
        llm, block = int(frame.judge_label[unit]), int(frame.block[unit])
        machine = None if llm == NO_LABEL else scale[llm]
        stratum = "known" if frame.known[unit] else machine.spoken.partition(" ")[0] if machine else "none"
        rows.append(
            name
            | {
                "machine": machine.word if machine else "none",
                "stratum": f"{stratum}, extension {block}" if block else stratum,
                "u": float(frame.place[unit]),
                "x": abs(float(frame.size[unit])),
                "pi": float(frame.chance[unit]),
                "labels": {
                    judge: CANT_JUDGE_WORD if label == CANT_JUDGE else words[label]
                    for judge, label in sorted(labels.get(frame.item(place), {}).items())
                },
            }
        )
    return rows


def checks_of(choice: NuggetCondition | CitationCondition) -> list[Study]:
    """Random checks of the labels of a condition, the newest first; never of one whose topics several people share."""
    if len(choice.judges) != 1:
        return []
    checks = random_checks_of(choice.campaign).filter(judge=choice.judges[0])
    if isinstance(choice, CitationCondition):
        return list(checks.filter(kind=StudyKind.SUPPORT))
    return list(checks.filter(nugget_set=choice.nugget_sets[0])) if len(choice.nugget_sets) == 1 else []


def random_checks_of(campaign: Campaign) -> QuerySet[Study]:
    return Study.objects.filter(campaign=campaign, draw=DrawKind.RANDOM).select_related("campaign", "judge")
