"""Pairs that a random check is about, as they are now: their weights in every score, and the LLM's labels."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.domain.conditions import CitationCondition, whole
from evaluation.domain.shares import Part
from evaluation.errors import Refused
from evaluation.formats.lines import sample_field
from evaluation.labels import NO_LABEL
from evaluation.models import AnswerProvenance, Campaign, ListedNugget, NuggetSet, Sentence, Study
from evaluation.terms import Condition, JudgeKind, StudyKind, SupportCondition, SupportMeasure
from reports.frames import assignment_keys, assignment_sheet, rows_of, support_keys, support_sheet
from reports.metrics.arrays import Booleans, Counts, Floats
from reports.metrics.label_matrix import UNJUDGED
from reports.metrics.policies import Policies, SupportPolicies
from reports.metrics.random_check.weights import (
    drawable_sizes,
    judgeable_shares,
    nugget_sizes,
    nugget_weights,
    rubric_sizes,
    support_weights,
)
from reports.metrics.registry import BY_NAME, Profile
from reports.metrics.scores import run_scores
from reports.metrics.support import MEASURES, run_support
from web.consistent_read import consistent_read

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Population:
    """P units of R runs, run by run in the order of their ids, their Q pairs, and T topics.

    A unit is drawn as one: a pair, or a sentence with all its citations that count. `items` Q x 2 are answer and
    wording, or sentence and segment, by primary key, those of a unit one after the other; `unit` Q, index of P;
    `label` P, of the LLM, of several the best, NO_LABEL where it failed or gave none; `size` P, for the draw, below 0
    where a pair counts against its answer; `weights` P and `counted` R x T by score; `llm` R, the LLM's scores.
    """

    run_ids: tuple[str, ...]
    topic_ids: tuple[str, ...]
    run: Counts
    topic: Counts
    items: Ints
    unit: Counts
    label: Counts
    size: Floats
    weights: dict[str, Floats]
    counted: dict[str, Booleans]
    llm: dict[str, Floats]

    @property
    def keys(self) -> Ints:
        """Key of each unit, P: that of its first pair."""
        return packed(self.items[group_starts(self.unit)])


def group_starts(group: Ints) -> Ints:
    """Places at which a new number begins, of Q numbers that come in groups."""
    return np.flatnonzero(np.diff(group, prepend=group[:1] - 1))


def group_numbers(numbers: Ints) -> Counts:
    """Number the groups of equal numbers from 0 on, Q."""
    return np.cumsum(np.diff(numbers, prepend=numbers[:1]) != 0)


def packed(items: Ints) -> Ints:
    """One number for each of P x 2 primary keys; neither reaches 2 ** 31."""
    keys: Ints = items[:, 0] << 32 | items[:, 1]
    return keys


def population_of(study: Study, policies: Policies | SupportPolicies) -> Population:
    """Return the pairs of a study's runs and topics, from one state of the database."""
    with consistent_read() as alias:
        names = study.design.get("runs") or []
        runs = study.campaign.runs.using(alias).order_by("run_id")
        # Controls are the organizers' own runs: they are in only where they are asked for.
        runs = runs.filter(run_id__in=names) if names else runs.filter(control=False)
        run_ids = list(runs.values_list("run_id", flat=True))
        if isinstance(policies, Policies):
            return _of_nuggets(study, policies, run_ids)
        return _of_citations(study, policies, run_ids)


def condition_of(nugget_set: NuggetSet | None) -> Condition:
    origin = nugget_set.origin if nugget_set else ""
    return next(item for item in Condition if item.origin == origin and item.judge_kind is JudgeKind.LLM)


def default_policies(study: Study) -> Policies | SupportPolicies:
    if study.kind == StudyKind.ASSIGNMENT:
        return Policies(profile=drawn_profile(study))
    return SupportPolicies(measure_of(study))


def drawn_profile(study: Study) -> Profile:
    """The scores of nuggets for which a random check was drawn: its frame and chances hold for no others."""
    return Profile(study.design.get("profile", Profile.TREC_RAG))


def refuse_other_draw(study: Study, policies: Policies | SupportPolicies) -> None:
    """Raise `Refused` for a measure of support, or scores of nuggets, that a random check was not drawn for."""
    if is_drawn_for(study, policies):
        return
    if isinstance(policies, SupportPolicies):
        raise Refused("other_measure", f"{study} was drawn for {measure_of(study)}.", field="measure")
    raise Refused("other_profile", f"{study} was drawn for the scores {drawn_profile(study)}.", field="profile")


def is_drawn_for(study: Study, policies: Policies | SupportPolicies) -> bool:
    if isinstance(policies, SupportPolicies):
        return policies.measure == measure_of(study)
    return policies.profile is drawn_profile(study)


def measure_of(study: Study) -> SupportMeasure:
    """The measure for which a random check of citations was drawn: its frame and chances hold for no other."""
    # A check of a snapshot from before there were measures was drawn for what its protocol counts.
    return SupportMeasure(study.design.get("measure") or study.campaign.protocol.measure)


def draws_sentences(study: Study) -> bool:
    return groups_citations(study) and study.campaign.protocol.first_citations != 1


def groups_citations(study: Study) -> bool:
    return study.kind == StudyKind.SUPPORT and MEASURES[measure_of(study)].takes_best


def _topics(study: Study, topic_ids: tuple[str, ...]) -> Booleans:
    names = study.design.get("topics") or []
    return rows_of(topic_ids, frozenset(names) if names else None)


def _places(run_ids: Sequence[str], names: Sequence[str]) -> Counts:
    return np.array([run_ids.index(run_id) for run_id in names], dtype=np.int64)


def _of_nuggets(study: Study, policies: Policies, run_ids: Sequence[str]) -> Population:
    choice = whole(study.campaign, condition_of(study.nugget_set), study.nugget_set, study.judge)
    whole_sheet = assignment_sheet(choice, policies.profile)
    wordings, answers = assignment_keys(choice, policies.profile)
    topics, runs = _topics(study, whole_sheet.topic_ids), _places(whole_sheet.run_ids, run_ids)
    wordings = wordings[topics[whole_sheet.nugget_topic]]
    answers = answers[topics][:, whole_sheet.columns_of(runs)]
    sheet = whole_sheet.of_topics(topics).of_runs(runs)
    cells = (sheet.answered & (sheet.words > 0))[sheet.nugget_topic]
    column, nugget = np.nonzero(cells.T)
    run, topic = sheet.column_run[column].astype(np.int64), sheet.nugget_topic[nugget].astype(np.int64)
    labels = sheet.labels[nugget, column].astype(np.int64)
    weights = nugget_weights(sheet, policies)
    sizes = rubric_sizes(sheet) if policies.profile is Profile.RUBRIC else nugget_sizes(sheet)
    scores = run_scores(sheet, policies)
    return Population(
        run_ids=sheet.run_ids,
        topic_ids=sheet.topic_ids,
        run=run,
        topic=topic,
        items=np.stack([answers[topic, column], wordings[nugget]], axis=1),
        unit=np.arange(len(run)),
        label=np.where(labels < 0, NO_LABEL, labels),
        size=drawable_sizes(run, sizes[nugget, column]),
        weights={name: scores.weights[nugget, column] for name, scores in weights.items()},
        counted={name: scores.counted.T for name, scores in weights.items()},
        llm={name: scores.of(name) for name in weights},
    )


def _of_citations(study: Study, policies: SupportPolicies, run_ids: Sequence[str]) -> Population:
    choice = CitationCondition(study.campaign, (Part(None, study.judge),), SupportCondition.LLM)
    whole_sheet, keys = support_sheet(choice), support_keys(choice)
    topics, runs = _topics(study, whole_sheet.topic_ids), _places(whole_sheet.run_ids, run_ids)
    sheet = whole_sheet.of_topics(topics)
    in_topics = topics[whole_sheet.sentence_answer // max(len(whole_sheet.column_run), 1)]
    keys = keys[in_topics[whole_sheet.unit_sentence]]
    topic, column = np.divmod(sheet.sentence_answer[sheet.unit_sentence], max(len(sheet.column_run), 1))
    place = np.full(len(sheet.run_ids), -1)
    place[runs] = np.arange(len(runs))
    place = place[sheet.column_run]
    usual_policies = SupportPolicies(policies.measure)
    in_frame = (place[column] >= 0) & (judgeable_shares(sheet, policies) > 0)
    pairs = np.flatnonzero(in_frame)[np.argsort(place[column][in_frame], kind="stable")]
    drawn_apart = sheet.unit_sentence[pairs] if groups_citations(study) else pairs
    unit = group_numbers(drawn_apart.astype(np.int64))
    first = pairs[group_starts(unit)]
    best = np.full(len(first), UNJUDGED, dtype=np.int64)
    np.maximum.at(best, unit, sheet.unit_label[pairs])
    weights, usual = support_weights(sheet, policies), support_weights(sheet, usual_policies)
    run = place[column][first].astype(np.int64)
    sizes = [_of_units(name, scores.weights[pairs], unit) for name, scores in usual.items()]
    scores = run_support(sheet, policies)
    return Population(
        run_ids=tuple(run_ids),
        topic_ids=sheet.topic_ids,
        run=run,
        topic=topic[first].astype(np.int64),
        items=keys[pairs],
        unit=unit,
        label=np.where(best < 0, NO_LABEL, best),
        size=drawable_sizes(run, np.mean(sizes, axis=0)),
        weights={name: _of_units(name, scores.weights[pairs], unit) for name, scores in weights.items()},
        counted={name: scores.counted.T[runs] for name, scores in weights.items()},
        llm={name: means[runs] for name, means in scores.means.items()},
    )


def _of_units(score: str, weights: Floats, unit: Counts) -> Floats:
    # Precision counts pairs; recall counts sentences, and each pair of a sentence carries its whole weight.
    if BY_NAME[score].part == "recall":
        return weights[group_starts(unit)]
    return np.bincount(unit, weights).astype(np.float64)


PairName = dict[str, Any]
"""A pair as files have it: `run_id`, `topic_id`, `sample` where it is not the first, and `nugget` with `occurrence` or
`sentence` with `docid`.
"""


def pair_names(campaign: Campaign, kind: str, items: Ints) -> list[PairName]:
    """Name pairs by what files call them; a text that a list has more than once by its occurrence, from 0."""
    rows = AnswerProvenance.objects.filter(run__campaign=campaign)
    names = rows.values_list("answer", "run__run_id", "topic__topic_id", "sample")
    answers = {pk: {"run_id": run, "topic_id": topic, **sample_field(sample)} for pk, run, topic, sample in names}
    if kind == StudyKind.ASSIGNMENT:
        nuggets = _nuggets(campaign)
        return [
            answers[answer] | dict(zip(("nugget", "occurrence"), nuggets[wording], strict=True))
            for answer, wording in items.tolist()
        ]
    sentences = Sentence.objects.filter(answer__topic__campaign=campaign).values_list("pk", "answer", "index")
    places = {pk: (answer, index) for pk, answer, index in sentences}
    docids = dict(campaign.segments.values_list("pk", "docid"))
    return [
        answers[places[sentence][0]] | {"sentence": places[sentence][1], "docid": docids[segment]}
        for sentence, segment in items.tolist()
    ]


def _nuggets(campaign: Campaign) -> dict[int, tuple[str, int]]:
    """Text and occurrence of each wording, in the newest list that has it."""
    texts: dict[int, tuple[str, int]] = {}
    seen: Counter[tuple[int, str]] = Counter()
    listed = ListedNugget.objects.filter(nugget_list__topic__campaign=campaign)
    rows = listed.order_by("nugget_list__version", "nugget_list", "position")
    for nugget_list, wording, text in rows.values_list("nugget_list", "nugget_version", "nugget_version__text"):
        texts[wording] = text, seen[nugget_list, text]
        seen[nugget_list, text] += 1
    return texts
