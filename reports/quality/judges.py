"""Trust in LLM judges: agreement with people label by label, beside that of people, and the verdict on it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from typing import Any, Final
from urllib.parse import urlencode

import numpy as np
from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import get_language_info

from accounts.models import User
from evaluation.campaigns.access import may_see
from evaluation.campaigns.contents import in_parts, tally_of
from evaluation.domain.conditions import CitationCondition, NuggetCondition, resolve, resolve_citations
from evaluation.errors import Refused
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS, LabelSet
from evaluation.models import Campaign, Judge, ListedNugget, NuggetList, SupportJudgment, Topic
from evaluation.stages import ASSIGN, SUPPORT_SCRATCH, Stage
from evaluation.terms import Condition, JudgeKind, Origin, SupportCondition
from reports.agreement.figures import agreement_of
from reports.cache import cached_report
from reports.confusion.paired_labels import ConfusionReport, confuse, match
from reports.frames import ASSIGNMENT_CELLS, SUPPORT_CELLS
from reports.metrics.arrays import Bytes, Counts, defined, share
from reports.metrics.confusion import (
    KAPPA,
    confusion,
    harsh_conflicts,
    label_intervals,
    pooled_kappa,
    shared_labels,
)
from reports.metrics.intervals import FEWEST_TOPICS
from reports.metrics.jackknife import Jackknife, jackknife
from reports.metrics.sample_size import FEWEST_PAIRS, why_no_tau
from reports.profiles import usual_comparison
from reports.quality.people import kappa_of_people

LLM, PEOPLE = "the LLM", "people"
Pairs = tuple[int, str, int, int, int, int, int]
"""The LLM judge, what was labelled, topic, person, the LLM's label, the person's, and how many pairs have these two."""
Judges = tuple[list[int], list[int]]
"""LLM judges and people, by primary keys."""
SCALES: Final = ((NUGGET_LABELS, ASSIGNMENT_CELLS), (CITATION_LABELS, SUPPORT_CELLS))
PLACES: Final = ("llms", "people", "inside")
"""What the queries leave open, in this order."""

# A join of the table of labels with itself, which the ORM has no words for: as a subquery for each label of a person it
# took a second for thirty thousand of them. Judges are named one by one, so that databases see how many there are.
ASSIGNED = """
    SELECT llm.judge_id, nugget.nugget_set_id, nugget.topic_id, person.judge_id, llm.label, person.label,
        COUNT(*)
    FROM evaluation_assignment llm
    JOIN evaluation_assignment person
        ON llm.answer_id = person.answer_id AND llm.nugget_version_id = person.nugget_version_id
    JOIN evaluation_nuggetversion wording ON wording.id = llm.nugget_version_id
    JOIN evaluation_nugget nugget ON nugget.id = wording.nugget_id
    WHERE person.stands AND llm.stands AND llm.judge_id IN ({llms}) AND person.judge_id IN ({people})
        AND llm.nugget_version_id IN ({inside}) AND person.nugget_version_id IN ({inside})
    GROUP BY llm.judge_id, nugget.nugget_set_id, nugget.topic_id, person.judge_id, llm.label, person.label
"""
SUPPORTED = """
    SELECT llm.judge_id, person.condition, answer.topic_id, person.judge_id, llm.label, person.label, COUNT(*)
    FROM evaluation_supportjudgment person
    JOIN evaluation_supportjudgment llm
        ON llm.sentence_id = person.sentence_id AND llm.segment_id = person.segment_id
    JOIN evaluation_sentence sentence ON sentence.id = person.sentence_id
    JOIN evaluation_answer answer ON answer.id = sentence.answer_id
    WHERE person.stands AND llm.stands AND llm.judge_id IN ({llms}) AND person.judge_id IN ({people})
        AND llm.condition = 'llm'
        AND llm.segment_id IN (SELECT id FROM evaluation_segment WHERE campaign_id = {inside})
    GROUP BY llm.judge_id, person.condition, answer.topic_id, person.judge_id, llm.label, person.label
"""

PAIRS_FOR_VERDICT: Final = 100
LEEWAY: Final = 0.10
"""Kappa by which a judge may fall short of people."""
FEWEST_IN_SLICE: Final = 30
WEAKER: Final = 0.15
"""Kappa or agreement by which a slice falls short of the whole where a judge is weak."""
ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """One LLM judge's labels beside those of people, for the same pairs: rows are the LLM's, columns the people's.

    `of`: the nugget set, or the people's support condition. `in_sight`: the people had seen an LLM's label before.
    """

    of: str
    people: int
    report: ConfusionReport
    in_sight: bool = False


def judged_by_llms(viewer: User, campaign: Campaign) -> list[Judge]:
    """Return the LLM judges that have labels in the campaign, those of studies and trials left out."""
    if not may_see(viewer, campaign):
        return []
    supported = SupportJudgment.objects.current().filter(judge=OuterRef("pk"), segment__campaign=campaign)
    with_labels = Judge.objects.filter(Q(pk__in=_assigners(campaign)) | Exists(supported))
    return list(with_labels.filter(kind=JudgeKind.LLM, aside=False).order_by("name"))


def compared_with_people(viewer: User, campaign: Campaign) -> dict[int, list[JudgeAgreement]]:
    """Return the agreement of each LLM judge with people about each nugget set, and about support.

    Of nuggets those count that reports read, of labels the current ones: submitted, and not replaced. Of two people who
    labelled one pair, both count.
    """
    if not may_see(viewer, campaign):
        return {}
    by_judge: dict[int, list[JudgeAgreement]] = defaultdict(list)
    for (labels, cells), pairs in zip(SCALES, _labelled_by_both(campaign), strict=True):
        for (judge, of), rows in groupby(pairs, key=itemgetter(0, 1)):
            own = list(rows)
            people, in_sight = {person for _, _, _, person, *_ in own}, of == SupportCondition.POST_EDIT
            by_judge[judge].append(JudgeAgreement(of, len(people), _report(own, labels.scale, cells), in_sight))
    return dict(by_judge)


@cached_report(size=16)  # half a million labels take a second
def _labelled_by_both(campaign: Campaign) -> tuple[list[Pairs], list[Pairs]]:
    """Return the nugget labels and the citation labels of pairs that an LLM and a person have labelled."""
    assigned = sorted(_assigned_by_both(campaign))
    return assigned, sorted(_counted(SUPPORTED, _judges(_citation_judges(campaign)), [campaign.pk]))


def _assigned_by_both(campaign: Campaign) -> list[Pairs]:
    lists = NuggetList.objects.newest_submitted().filter(nugget_set__campaign=campaign)
    listed = ListedNugget.objects.filter(nugget_list__in=lists).counted_by(campaign.protocol.scoring)
    judges = _judges(_assigners(campaign))
    sets = dict(campaign.nugget_sets.values_list("pk", "name"))
    pairs: Counter[tuple[int, str, int, int, int, int]] = Counter()
    for part in in_parts(listed.values_list("nugget_version", flat=True).distinct()):
        for llm, nugget_set, *labelled, number in _counted(ASSIGNED, judges, part):
            pairs[llm, sets[nugget_set], *labelled] += number
    return [(*key, number) for key, number in pairs.items()]


def _assigners(campaign: Campaign) -> set[int]:
    return {cell.judge for cell in tally_of(campaign)}


def _citation_judges(campaign: Campaign) -> QuerySet[Any, Any]:
    judgments = SupportJudgment.objects.current().filter(segment__campaign=campaign).order_by()
    return judgments.values("judge").distinct()


def _judges(among: Iterable[int] | QuerySet[Any, Any]) -> Judges:
    """Return the LLM judges and the people among judges, those of studies and trials left out."""
    within_reports = Judge.objects.filter(pk__in=among, aside=False)
    kinds = dict(within_reports.values_list("pk", "kind"))
    return (
        [pk for pk, kind in kinds.items() if kind == JudgeKind.LLM],
        [pk for pk, kind in kinds.items() if kind == JudgeKind.HUMAN],
    )


def _counted(sql: str, judges: Judges, inside: list[int]) -> list[Any]:
    """Count pairs by the two labels that they have; none where no LLM judge or nobody has labels."""
    llms, people = judges
    if not llms or not people:
        return []
    places = {name: ", ".join(["%s"] * len(keys)) for name, keys in zip(PLACES, (*judges, inside), strict=True)}
    with connection.cursor() as cursor:
        cursor.execute(sql.format(**places), [*llms, *people, *inside * sql.count("{inside}")])
        return list(cursor.fetchall())


def _report(pairs: Sequence[Pairs], labels: tuple[str, ...], cells: Bytes) -> ConfusionReport:
    llm, people, number = np.array([labelled for _, _, _, _, *labelled in pairs], dtype=np.int64).T
    rows, columns = np.repeat(cells[llm], number), np.repeat(cells[people], number)
    size = len(labels)
    tables = np.array([*_by_topic(pairs, cells, size).values()], dtype=np.int64).reshape(-1, size, size)
    return ConfusionReport(
        rows=LLM,
        columns=PEOPLE,
        labels=labels,
        confusion=confusion(rows, columns, size),
        harsh=int(harsh_conflicts(rows, columns, size).sum()),
        comparable=True,
        topics=len(tables),
        intervals=label_intervals(tables),
    )


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """Tau-b of the run means of one score by the judge and by people; `reason`: why there is none."""

    score: str = ""
    tau: float | None = None
    runs: int = 0
    topics: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WorstTopic:
    """Topic of at least 10 pairs with the smallest share of equal labels."""

    topic: Topic
    agreement: float
    pairs: int


class JudgeVerdict(StrEnum):
    TOO_LITTLE = "Too little known"
    AS_PEOPLE = "As people agree"
    BELOW_PEOPLE = "Below people"
    NOT_SETTLED = "Not settled"


@dataclass(frozen=True, slots=True)
class Slice:
    """Part of the pairs: those of a language, whose figure is kappa, or of a people's label, whose is agreement."""

    name: str
    pairs: int
    figure: float | None


def verdict_of(judge: Jackknife, pairs: int, people: Jackknife) -> tuple[JudgeVerdict, str]:
    missing = _missing(judge, pairs, people)
    ends = judge.interval.ends
    if missing or ends is None or people.value is None:
        return JudgeVerdict.TOO_LITTLE, missing
    (low, high), bound = ends, people.value - LEEWAY
    beside = f"people's {people.value:.2f} less {LEEWAY:.2f}"
    if low >= bound - ROUNDING:
        return JudgeVerdict.AS_PEOPLE, f"the interval begins at {low:.2f}, not below {beside}"
    if high < bound - ROUNDING:
        return JudgeVerdict.BELOW_PEOPLE, f"the interval ends at {high:.2f}, below {beside}"
    return JudgeVerdict.NOT_SETTLED, f"the interval, {low:.2f} to {high:.2f}, has {beside} inside"


def weak_at(whole: float | None, slices: Iterable[Slice]) -> tuple[str, ...]:
    if whole is None:
        return ()
    return tuple(
        part.name
        for part in slices
        if part.pairs >= FEWEST_IN_SLICE and part.figure is not None and part.figure <= whole - WEAKER + ROUNDING
    )


def _missing(judge: Jackknife, pairs: int, people: Jackknife) -> str:
    if pairs < PAIRS_FOR_VERDICT:
        return f"{pairs} pairs with people of the {PAIRS_FOR_VERDICT} that it needs"
    if judge.topics < FEWEST_TOPICS:
        return f"{judge.topics} topics with people of the {FEWEST_TOPICS} that it needs"
    if judge.interval.ends is None:
        return f"no interval: {judge.interval.reason}"
    if not people.topics:
        return "nothing was judged twice, so there is no figure of people"
    if people.topics < FEWEST_TOPICS:
        return f"{people.topics} topics judged twice by people of the {FEWEST_TOPICS} that it needs"
    # A figure of people without an interval rests on too little to measure a judge by.
    return "" if people.interval.ends else f"no figure of people: {people.interval.reason}"


@dataclass(frozen=True, slots=True)
class JudgeTrust:
    """An LLM judge in one task beside people: kappa with its interval, the verdict by `verdict_of`, its evidence.

    `opposite`: pairs of opposite labels in the matrix that `matrix`, a query string, shows; '' where none does.
    """

    judge: Judge
    task: Stage
    pairs: int
    kappa: Jackknife
    people: Jackknife
    verdict: JudgeVerdict
    reason: str
    weak: tuple[str, ...]
    rank: RankAgreement
    worst: WorstTopic | None
    matrix: str
    opposite: int


@dataclass(frozen=True, slots=True)
class _Sides:
    """The judge's and the people's condition that most of a judge's pairs are of, and the matrix's query string."""

    rows: NuggetCondition | CitationCondition
    columns: NuggetCondition | CitationCondition
    query: str


@cached_report(size=16)
def trust_of(campaign: Campaign) -> Mapping[int, tuple[JudgeTrust, ...]]:
    """Return how far each LLM judge with labels is to be trusted, by its primary key and task by task.

    The caller must have made sure that the viewer may see labels.
    """
    by_judge: dict[int, list[JudgeTrust]] = defaultdict(list)
    nuggets, citations = _labelled_by_both(campaign)
    # Labels given in sight of the LLM's own agree with it all too well.
    unaided = [row for row in citations if row[1] == SupportCondition.SCRATCH]
    by_task = (
        (ASSIGN, nuggets, _assigners(campaign)),
        (SUPPORT_SCRATCH, unaided, _citation_judges(campaign).filter(condition=SupportCondition.LLM)),
    )
    topics = Topic.objects.filter(campaign=campaign).in_bulk()
    for task, rows, givers in by_task:
        people = kappa_of_people(campaign, task)
        of_judge = {judge: list(own) for judge, own in groupby(rows, key=itemgetter(0))}
        for judge in Judge.objects.filter(pk__in=givers, kind=JudgeKind.LLM, aside=False).order_by("name"):
            by_judge[judge.pk].append(_trust(campaign, task, judge, of_judge.get(judge.pk, []), people, topics))
    return {judge: tuple(tasks) for judge, tasks in by_judge.items()}


def versions_of(judge: Judge, judges: Iterable[Judge]) -> list[Judge]:
    if not judge.model:
        return [judge]
    same = [other for other in judges if _without_version(other) == _without_version(judge)]
    return sorted((other for other in same if other.created_at <= judge.created_at), key=lambda other: other.pk)


def _without_version(judge: Judge) -> tuple[object, ...]:
    prompts = sorted((task, str(prompt).split("@")[0]) for task, prompt in judge.prompt_versions.items())
    return judge.base_url, judge.model, tuple(prompts)


def _trust(
    campaign: Campaign,
    task: Stage,
    judge: Judge,
    rows: Sequence[Pairs],
    people: Jackknife,
    topics: Mapping[int, Topic],
) -> JudgeTrust:
    names, cells = SCALES[not task.by_list]
    tables = _by_topic(rows, cells, len(names))
    counts = np.array([*tables.values()], dtype=np.int64).reshape(-1, 1, len(names), len(names))
    whole, pairs = counts.sum(axis=(0, 1)), int(counts.sum())
    kappa = jackknife(counts, KAPPA)
    verdict, reason = verdict_of(kappa, pairs, people)
    sides = _sides(campaign, task, judge, rows)
    return JudgeTrust(
        judge=judge,
        task=task,
        pairs=pairs,
        kappa=kappa,
        people=people,
        verdict=verdict,
        reason=reason,
        weak=(
            *weak_at(defined(float(shared_labels(whole[np.newaxis]))), _label_slices(names, whole)),
            *weak_at(kappa.value, _languages(campaign, tables, topics)),
        ),
        rank=_rank(sides) if sides else RankAgreement(reason="no run has scores by the judge and by people"),
        worst=_worst(tables, topics),
        matrix=sides.query if sides else "",
        opposite=confuse(match(sides.rows, sides.columns), "", "").harsh if sides else 0,
    )


def _by_topic(rows: Sequence[Pairs], cells: Bytes, labels: int) -> dict[int, Counts]:
    """Return counts K x K, the judge's labels by the people's, topic by topic; labels off the scale are left out."""
    tables: dict[int, Counts] = defaultdict(lambda: np.zeros((labels, labels), dtype=np.int64))
    for _, _, topic, _, llm, person, number in rows:
        row, column = cells[llm], cells[person]
        if row >= 0 and column >= 0:
            tables[topic][row, column] += number
    return dict(tables)


def _languages(campaign: Campaign, tables: Mapping[int, Counts], topics: Mapping[int, Topic]) -> Iterable[Slice]:
    by_language: dict[str, Counts] = {}
    for topic, table in tables.items():
        language = topics[topic].language or campaign.language
        by_language[language] = by_language.get(language, 0) + table
    for language, table in sorted(by_language.items()):
        if language:
            kappa = defined(float(pooled_kappa(table[np.newaxis])))
            yield Slice(_language_name(language), int(table.sum()), kappa)


def _language_name(language: str) -> str:
    try:
        return str(get_language_info(language.lower())["name"])
    except KeyError:
        return language


def _label_slices(names: LabelSet, whole: Counts) -> Iterable[Slice]:
    for place, label in enumerate(names.ascending):
        pairs = int(whole[:, place].sum())
        name = label.short if 0 < place < len(names) - 1 else label.spoken
        yield Slice(f"{name} labels", pairs, share(int(whole[place, place]), pairs))


def _worst(tables: Mapping[int, Counts], topics: Mapping[int, Topic]) -> WorstTopic | None:
    pairs = {topic: int(table.sum()) for topic, table in tables.items()}
    counted = [
        WorstTopic(topics[topic], int(np.trace(table)) / pairs[topic], pairs[topic])
        for topic, table in tables.items()
        if pairs[topic] >= FEWEST_PAIRS
    ]
    return min(counted, key=lambda worst: (worst.agreement, worst.topic.position), default=None)


def _sides(campaign: Campaign, task: Stage, judge: Judge, rows: Sequence[Pairs]) -> _Sides | None:
    """Return the sides that most pairs are of; None where no report can tell them apart."""
    if not rows:
        return None
    of_people: Counter[int] = Counter()
    of_sets: Counter[str] = Counter()
    for _, of, _, giver, _, _, number in rows:
        of_people[giver] += number
        of_sets[of] += number
    nuggets, person = of_sets.most_common(1)[0][0], Judge.objects.get(pk=of_people.most_common(1)[0][0]).name
    # The whole of the campaign where its shares are clear, else the set and the person with the most pairs.
    for nugget_set, by in (("", ""), (nuggets, ""), (nuggets, person)):
        try:
            return _resolved(campaign, task, judge.name, of=nuggets, nuggets=nugget_set, person=by)
        except Refused:
            continue
    return None


def _resolved(campaign: Campaign, task: Stage, judge: str, *, of: str, nuggets: str, person: str) -> _Sides:
    rows: NuggetCondition | CitationCondition
    columns: NuggetCondition | CitationCondition
    if task.by_list:
        origin = Origin(campaign.nugget_sets.get(name=of).origin)
        by_llm, by_person = Condition.of(origin, JudgeKind.LLM), Condition.of(origin, JudgeKind.HUMAN)
        rows = resolve(campaign, by_llm, judge=judge, nuggets=nuggets)
        columns = resolve(campaign, by_person, judge=person, nuggets=nuggets)
    else:
        nuggets = ""
        rows = resolve_citations(campaign, SupportCondition.LLM, judge=judge)
        columns = resolve_citations(campaign, SupportCondition.SCRATCH, judge=person)
    if not match(rows, columns).comparable:
        raise Refused("ambiguous", "The judge and people labelled other nuggets.")
    query = {"rows": rows, "columns": columns, "rows_judge": judge, "columns_judge": person, "nuggets": nuggets}
    return _Sides(rows, columns, urlencode({name: str(value) for name, value in query.items() if str(value)}))


def _rank(sides: _Sides) -> RankAgreement:
    score, policies = usual_comparison(sides.rows)
    agreement = agreement_of(sides.rows, sides.columns, score, policies)
    reason = why_no_tau(agreement.runs, agreement.topics) or (
        "" if agreement.run_level is not None else "all runs are equal"
    )
    return RankAgreement(score, None if reason else agreement.run_level, agreement.runs, agreement.topics, reason)
