"""A disagreement study in figures: each judge's labels, and the agreement of each with each."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, permutations
from typing import Any

import numpy as np

from evaluation.errors import Refused
from evaluation.labels import LabelSet
from evaluation.models import Assignment, Campaign, Judge, Study, StudyPair, SupportJudgment
from evaluation.studies import ITEM, study_named
from evaluation.terms import DrawKind, JudgeKind, StudyKind
from reports.document import STUDY, Document
from reports.files import as_table
from reports.frames import ASSIGNMENT_CELLS, SUPPORT_CELLS, cells_of
from reports.metrics.arrays import Bytes, Indices, share
from reports.metrics.confusion import Confusion, confusion, label_intervals, topic_tables
from reports.metrics.intervals import Interval
from reports.metrics.label_matrix import FAILED, UNJUDGED
from reports.registry import Choices, document
from web.consistent_read import consistent_read

KAPPAS = ("agreement", "kappa", "kappa_linear")


class StudyRole(StrEnum):
    PERSON = "person"
    JUDGE = "judge"
    ASSESSOR = "independent assessor"
    SECOND = "second LLM"


@dataclass(frozen=True, slots=True)
class StudyJudge:
    """One judge's labels of the pairs: `labels` n, from 0 below `degrees`, negative where there is none."""

    name: str
    role: StudyRole
    labels: Bytes
    degrees: int

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(int((self.labels == label).sum()) for label in range(self.degrees))

    @property
    def judged(self) -> int:
        return sum(self.counts)

    @property
    def rates(self) -> tuple[float | None, ...]:
        """Fraction of each label among those given; None without any."""
        return tuple(share(count, self.judged) for count in self.counts)

    @property
    def failed(self) -> int:
        return int((self.labels == FAILED).sum())

    @property
    def unjudged(self) -> int:
        """Number of pairs without a label, or with one that says that it cannot be judged."""
        return len(self.labels) - self.judged - self.failed


@dataclass(frozen=True, slots=True)
class StudyAgreement:
    judge: str
    other: str
    confusion: Confusion
    topics: int
    intervals: dict[str, Interval]


@dataclass(frozen=True, slots=True)
class TopicPairs:
    """Pairs drawn of one topic: `cells` by the person's label (rows) and the machine's."""

    public_id: str
    topic_id: str
    pairs: int
    cells: tuple[tuple[int, ...], ...]

    @property
    def differing(self) -> tuple[int, ...]:
        return tuple(self.cells[row][column] for row, column in permutations(range(len(self.cells)), 2))


@dataclass(frozen=True, slots=True)
class StudyReport:
    """A study, its judges in the order person, judge, assessors, LLMs, and each of them with each."""

    study: Study
    labels: tuple[str, ...]
    pairs: int
    decoys: int
    topics: tuple[TopicPairs, ...]
    judges: tuple[StudyJudge, ...]
    agreements: tuple[StudyAgreement, ...]

    @property
    def differing(self) -> tuple[tuple[str, str], ...]:
        return tuple(permutations(self.labels, 2))


def study_report(study: Study) -> StudyReport:
    """Compare everybody who judged a study's pairs, from one state of the database."""
    with consistent_read() as alias:
        drawn = StudyPair.objects.using(alias).filter(study=study)
        pairs = list(drawn.counted().select_related("topic").order_by("pk"))
        decoys = drawn.decoys().count()
        judges = tuple(_judges(study, pairs, alias))
    places = np.unique([pair.topic_id for pair in pairs], return_inverse=True)[1].astype(np.int32)
    agreements = tuple(_agreement(judge, other, places) for judge, other in combinations(judges, 2))
    scale = study.labels.scale
    return StudyReport(study, scale, len(pairs), decoys, _by_topic(pairs, study.labels), judges, agreements)


def _agreement(judge: StudyJudge, other: StudyJudge, topics: Indices) -> StudyAgreement:
    tables = topic_tables(judge.labels, other.labels, topics, judge.degrees)
    matrix = confusion(judge.labels, other.labels, judge.degrees)
    of_topics = int(tables.any(axis=(1, 2)).sum())
    return StudyAgreement(judge.name, other.name, matrix, of_topics, label_intervals(tables))


def _judges(study: Study, pairs: list[StudyPair], alias: str) -> Iterator[StudyJudge]:
    # As the pairs were drawn: labels that were replaced since would no longer be those that differ.
    cells, degrees = cells_of(study.labels), len(study.labels)
    person, llm = (
        np.array([cells[getattr(pair, name)] for pair in pairs], dtype=np.int8)
        for name in ("person_label", "judge_label")
    )
    yield StudyJudge(study.compared_person.name, StudyRole.PERSON, person, degrees)
    yield StudyJudge(study.judge.name, StudyRole.JUDGE, llm, degrees)
    own = Judge.objects.using(alias).filter(study=study).order_by("name")
    for judge in sorted(own, key=lambda judge: judge.kind != JudgeKind.HUMAN):
        labels = _labels(study, judge, pairs, alias)
        # A judge who has not labelled yet would be a row of dashes with everybody.
        if (labels != UNJUDGED).any():
            role = StudyRole.ASSESSOR if judge.kind == JudgeKind.HUMAN else StudyRole.SECOND
            yield StudyJudge(judge.name, role, labels, degrees)


def _labels(study: Study, judge: Judge, pairs: list[StudyPair], alias: str) -> Bytes:
    """Return the label of a judge of the study on each pair: the newest one that is current."""
    of_nuggets, names = study.kind == StudyKind.ASSIGNMENT, ITEM[StudyKind(study.kind)]
    labels: Any = Assignment.objects if of_nuggets else SupportJudgment.objects
    rows = labels.using(alias).current().filter(judge=judge).order_by("submission")
    codes = {(first, second): code for first, second, code in rows.values_list(*names, "label")}
    items = [tuple(getattr(pair, f"{name}_id") for name in names) for pair in pairs]
    cells = ASSIGNMENT_CELLS if of_nuggets else SUPPORT_CELLS
    return np.array([cells[codes[item]] if item in codes else UNJUDGED for item in items], dtype=np.int8)


def _by_topic(pairs: list[StudyPair], labels: LabelSet) -> tuple[TopicPairs, ...]:
    codes = [label.code for label in labels.ascending]
    topics = {pair.topic.topic_id: pair.topic for pair in pairs}
    counted = Counter((pair.topic.topic_id, pair.person_label, pair.judge_label) for pair in pairs)
    return tuple(
        TopicPairs(
            topic.public_id,
            topic_id,
            sum(pair.topic_id == topic.pk for pair in pairs),
            tuple(tuple(counted[topic_id, row, column] for column in codes) for row in codes),
        )
        for topic_id, topic in sorted(topics.items(), key=lambda item: item[1].position)
    )


def second_look_sentences(campaign: Campaign) -> list[str]:
    studies = Study.objects.filter(campaign=campaign, draw=DrawKind.DISAGREEMENTS).order_by("pk")
    return [_sentence(study) for study in studies.select_related("person", "judge")]


def _sentence(study: Study) -> str:
    pairs = StudyPair.objects.filter(study=study)
    disputed, decoys = pairs.counted().count(), pairs.decoys().count()
    how = ", stratified by the two labels" if study.stratified else ""
    text = (
        f"{disputed:,} pairs on which {study.compared_person} and {study.judge} differ were drawn to be judged again,"
        f" blind to both labels: up to {study.per_topic} of each topic{how}, seed {study.seed}."
    )
    if not decoys:
        return f"{text} Every pair that was handed out is one of them."
    return (
        f"{text} So that nobody could rely on every pair being disputed, {decoys:,} on which the two agree were mixed"
        f" in ({study.decoys} % of each topic), asked alike and counted in no figure."
    )


def study_document(report: StudyReport) -> dict[str, Any]:
    study = report.study
    return {
        "study": study.name,
        "kind": study.kind,
        "person": study.compared_person.name,
        "judge": study.judge.name,
        "nuggets": study.nugget_set.name if study.nugget_set else None,
        "condition": study.condition or None,
        "per_topic": study.per_topic,
        "stratified": study.stratified,
        "seed": study.seed,
        "pairs": report.pairs,
        "decoys": report.decoys,
        "topics": [
            {"topic_id": topic.topic_id, "pairs": topic.pairs, "cells": topic.cells} for topic in report.topics
        ],
        "labels": list(report.labels),
        "judges": judge_rows(report),
        "agreement": agreement_rows(report),
    }


def judge_rows(report: StudyReport) -> list[dict[str, Any]]:
    return [
        {"judge": judge.name, "role": judge.role.value, "judged": judge.judged}
        | dict(zip(report.labels, judge.rates, strict=True))
        | {"failed": judge.failed, "unjudged": judge.unjudged}
        for judge in report.judges
    ]


def agreement_rows(report: StudyReport) -> list[dict[str, Any]]:
    return [
        {
            "judge": agreement.judge,
            "with": agreement.other,
            "pairs": agreement.confusion.pairs,
            **{name: getattr(agreement.confusion, name) for name in KAPPAS},
            "intervals": {name: agreement.intervals[name].document for name in KAPPAS},
        }
        for agreement in report.agreements
    ]


@document("study", "Who agrees with whom on pairs on which a person and an LLM differ.", [STUDY])
def second_look_report(campaign: Campaign, choices: Choices) -> Document:
    study = study_named(campaign, choices["study"])
    if study.draw == DrawKind.RANDOM:
        raise Refused("usage", f"{study} is a random check, which has a report of its own: report corrected.")
    figures = study_report(study)
    how = "stratified by cell" if study.stratified else "at random"
    drawn = f"{figures.pairs} pairs of {len(figures.topics)} topics, up to {study.per_topic} each"
    text = f"\n{as_table(judge_rows(figures))}\n{drawn}, {how}, seed {study.seed}; {figures.decoys} decoys beside them."
    return Document(study_document(figures), agreement_rows(figures), text)
