"""From the database to arrays: the one place where labels meet the runs they belong to.

Labels and the map from answers to runs are read as two queries and joined in NumPy, because no join leads from an
answer to its run.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from django.db import connections
from numpy.typing import NDArray

from evaluation.domain.conditions import CitationCondition, NuggetCondition
from evaluation.domain.counted_pairs import first_different, sentences_with_candidates
from evaluation.domain.shares import PartKey, Topics
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS, LabelSet
from evaluation.models import (
    AnswerProvenance,
    Campaign,
    Citation,
    ListedNugget,
    NuggetList,
    Run,
    Sentence,
    SupportJudgment,
    Topic,
    TopicTag,
)
from reports.metrics.arrays import Booleans, Bytes, Floats, sum_by_run
from reports.metrics.label_matrix import FAILED, NOT, UNJUDGEABLE, UNJUDGED, AssignmentSheet, SupportSheet
from reports.metrics.registry import Profile
from reports.profiles import profile_of
from web.consistent_read import consistent_read

Ints = NDArray[np.int64]


def cells_of(labels: LabelSet) -> Bytes:
    """Return the cell of a report for each stored code: the label's place on its scale."""
    cells = np.full(256, UNJUDGED, dtype=np.int8)
    cells[[label.code for label in labels.ascending]] = range(len(labels))
    cells[labels.failed.code] = FAILED
    return cells


ASSIGNMENT_CELLS, SUPPORT_CELLS = cells_of(NUGGET_LABELS), cells_of(CITATION_LABELS)
# "Can't judge" is unjudged with a reason; in support it is a pair nobody can judge (docs/metrics.md#support).
SUPPORT_CELLS[CITATION_LABELS.cant_judge.code] = UNJUDGEABLE

# A report reads up to a million labels. The database joins them into one text, which NumPy parses sooner than Python
# fetches row by row (docs/benchmarks.md). A label is two numbers, so that neither can overflow: the answer with
# submission (below 2 ** 16) and label (below 2 ** 8) in its low bits, and the wording.
JOINED = {"postgresql": "string_agg", "sqlite": "group_concat"}
LABELS_QUERY = """
    SELECT {joined}((answer_id * 16777216 + submission * 256 + label) || ' ' || nugget_version_id, ' ')
    FROM evaluation_assignment WHERE stands AND judge_id = %s AND nugget_version_id BETWEEN %s AND %s
"""


def assignment_sheet(choice: NuggetCondition, profile: Profile | None = None) -> AssignmentSheet:
    """Return a condition's labels as arrays, from one state of the database; kept until the campaign changes.

    The nuggets are those that the profile counts, else the protocol's: a rubric counts all, the other those that an
    answer should say.
    """
    profile = profile or profile_of(choice.campaign)
    with consistent_read() as alias:
        revision = _revision(choice.campaign, alias)
        return _assignment_sheet(choice.campaign.pk, revision, choice.keys, profile)


def support_sheet(choice: CitationCondition, *, with_candidates: bool = False) -> SupportSheet:
    """Return a support condition's labels as arrays; kept until the campaign changes.

    It is of the runs that cite, or of those whose sentences stand beside candidates: no table has both.
    """
    first = choice.campaign.protocol.first_citations
    with consistent_read() as alias:
        revision = _revision(choice.campaign, alias)
        sheet, candidates = _support_sheet(
            choice.campaign.pk, revision, choice.condition.value, choice.keys, first
        )
    if not candidates.any():
        return sheet.of_runs(candidates) if with_candidates else sheet
    return sheet.of_runs(candidates == with_candidates)


def nugget_texts(choice: NuggetCondition, profile: Profile | None = None) -> list[str]:
    """Return the wording of each nugget of a condition's sheet, N. Ask in the same `consistent_read` as the sheet."""
    with consistent_read() as alias:
        answers, profile = _Answers(choice.campaign.pk, alias), profile or profile_of(choice.campaign)
        keys = _Nuggets(answers, choice.keys, profile, alias).pk.tolist()
        lists = ListedNugget.objects.using(alias).filter(nugget_list__nugget_set__in=_topics_by_set(choice.keys))
        texts = dict(lists.values_list("nugget_version", "nugget_version__text"))
    return [texts[key] for key in keys]


def assignment_keys(choice: NuggetCondition, profile: Profile | None = None) -> tuple[Ints, Ints]:
    """Return the axes of a condition's sheet: wordings N, and answers T x C, -1 where there is none."""
    profile = profile or profile_of(choice.campaign)
    with consistent_read() as alias:
        return _assignment_keys(choice.campaign.pk, _revision(choice.campaign, alias), choice.keys, profile)


def support_keys(choice: CitationCondition) -> Ints:
    """Return sentence and segment of each unit of a support sheet, U x 2; -1 for a citation that leads to nothing."""
    first = choice.campaign.protocol.first_citations
    with consistent_read() as alias:
        return _support_keys(choice.campaign.pk, _revision(choice.campaign, alias), first)


def forget_sheets() -> None:
    """Empty the cache: for tests, whose databases go back in time."""
    for cache in (_assignment_sheet, _support_sheet, _assignment_keys, _support_keys, _answers):
        cache.cache_clear()


def _revision(campaign: Campaign, alias: str) -> int:
    # Read with the labels, not taken from the object: a submission between the two would keep new labels under the
    # old revision, or old ones under the new.
    return Campaign.objects.using(alias).values_list("revision", flat=True).get(pk=campaign.pk)


@lru_cache(maxsize=16)
def _assignment_sheet(
    campaign: int, revision: int, parts: tuple[PartKey, ...], profile: Profile
) -> AssignmentSheet:
    with consistent_read() as alias:
        answers = _answers(campaign, revision)
        nuggets = _Nuggets(answers, parts, profile, alias)
        # A nugget is of one topic and an answer of one topic and column, so nugget and column name the answer.
        labels = np.full((len(nuggets.pk), len(answers.column_run)), UNJUDGED, dtype=np.int8)
        labelled = np.zeros(len(answers.run_ids), dtype=np.bool_)
        for part in parts:
            wordings = nuggets.of(part, answers)
            if part[1] is not None and len(wordings):
                rows = _label_rows(wordings, part[1], alias)
                columns = answers.column[_places(answers.pk, rows[:, 0])]
                labels[_places(nuggets.pk, rows[:, 1]), columns] = ASSIGNMENT_CELLS[rows[:, 2]]
                labelled[answers.column_run[columns]] = True
        # Without a judge nobody looked at this condition, and the rule alone must not make it a judged one.
        if any(judge is not None for _, judge, _ in parts):
            _apply_rule(labels, labelled, nuggets.topic, answers)
    return AssignmentSheet(
        run_ids=answers.run_ids,
        topic_ids=answers.topic_ids,
        column_run=answers.column_run,
        listed=nuggets.listed,
        nugget_topic=nuggets.topic,
        importance=nuggets.importance,
        weight=nuggets.weight,
        labels=labels,
        answered=answers.answered,
        words=answers.words,
        labelled=labelled,
    )


@lru_cache(maxsize=8)
def _assignment_keys(
    campaign: int, revision: int, parts: tuple[PartKey, ...], profile: Profile
) -> tuple[Ints, Ints]:
    with consistent_read() as alias:
        answers = _answers(campaign, revision)
        wordings = _Nuggets(answers, parts, profile, alias).pk
    placed = np.full(answers.answered.shape, -1, dtype=np.int64)
    placed[answers.topic, answers.column] = answers.pk
    return wordings, placed


class _Answers:
    """The axes of every sheet, and where each answer stands on them. Answers are sorted by primary key."""

    def __init__(self, campaign: int, alias: str) -> None:
        # All topics and runs, judged or not: a missing answer scores 0, so it needs its place on the axes.
        topics = Topic.objects.using(alias).filter(campaign=campaign).values_list("pk", "topic_id")
        runs = Run.objects.using(alias).filter(campaign=campaign)
        self.topic_pks, self.topic_ids = _columns(topics)
        self.run_pks, self.run_ids = _columns(runs.values_list("pk", "run_id"))
        self.candidates: Booleans = np.isin(
            self.run_pks, list(runs.filter(has_candidates=True).values_list("pk", flat=True))
        )
        provenance = AnswerProvenance.objects.using(alias).filter(run__campaign=campaign).order_by("pk")
        rows = _integers(provenance.values_list("pk", "run", "topic", "answer__words", "sample"), 5)
        self.pk = rows[:, 0]
        self.topic = _places(self.topic_pks, rows[:, 2])
        # Columns by run and sample. A run that answered nothing has the column of a first sample.
        sampled = _places(self.run_pks, rows[:, 1]) << 16 | rows[:, 4]
        columns = np.union1d(sampled, np.setdiff1d(np.arange(len(self.run_ids)), sampled >> 16) << 16 | 1)
        self.column = np.searchsorted(columns, sampled)
        self.column_run = (columns >> 16).astype(np.int32)
        shape = (len(self.topic_ids), len(columns))
        self.answered = np.zeros(shape, dtype=np.bool_)
        self.words = np.zeros(shape, dtype=np.int32)
        self.answered[self.topic, self.column] = True
        self.words[self.topic, self.column] = rows[:, 3]


@lru_cache(maxsize=4)
def _answers(campaign: int, _revision: int) -> _Answers:
    # A report of two conditions has two sheets of the same answers.
    with consistent_read() as alias:
        return _Answers(campaign, alias)


class _Nuggets:
    """The nuggets of some sets on the topic axis: those of each topic's newest submitted list, in list order."""

    def __init__(self, answers: _Answers, parts: tuple[PartKey, ...], profile: Profile, alias: str) -> None:
        by_set, submitted = _topics_by_set(parts), NuggetList.objects.using(alias).newest_submitted()
        newest = {
            topic: pk
            for nugget_set, topics in by_set.items()
            for topic, pk in submitted.filter(nugget_set=nugget_set).values_list("topic__pk", "pk")
            if topics is None or topic in topics
        }
        self.listed = np.isin(answers.topic_pks, np.array(list(newest), dtype=np.int64))
        lists = submitted.filter(nugget_set__in=by_set)
        items = ListedNugget.objects.using(alias).filter(nugget_list__in=lists)
        items = items.counted_by(profile).order_by("nugget_list", "position")
        weights = dict(items.exclude(weight=None).values_list("pk", "weight"))
        fields = (
            "nugget_list__topic",
            "nugget_list",
            "nugget_version",
            "importance",
            "nugget_list__nugget_set",
            "pk",
        )
        rows = _integers(items.values_list(*fields), len(fields))
        rows = rows[np.isin(rows[:, 1], np.array(list(newest.values()), dtype=np.int64))]
        topic = _places(answers.topic_pks, rows[:, 0])
        # Stable: within a topic nuggets stay in list order, which reports and pair lists are read in.
        order = np.argsort(topic, kind="stable")
        self.topic = topic[order].astype(np.int32)
        self.pk = rows[order, 2]
        self.importance = rows[order, 3].astype(np.int8)
        self._set = rows[order, 4]
        self.weight: Floats = np.array(
            [weights.get(pk, np.nan) for pk in rows[order, 5].tolist()], dtype=np.float64
        )

    def of(self, part: PartKey, answers: _Answers) -> Ints:
        nugget_set, _, topics = part
        mask = self._set == nugget_set
        if topics is not None:
            inside = np.isin(answers.topic_pks, np.fromiter(topics, dtype=np.int64, count=len(topics)))
            mask &= inside[self.topic]
        wordings: Ints = self.pk[mask]
        return wordings


def _topics_by_set(parts: tuple[PartKey, ...]) -> dict[int, Topics]:
    by_set: dict[int, Topics] = {}
    for nugget_set, _, topics in parts:
        if nugget_set is not None:
            before = by_set.get(nugget_set, frozenset())
            by_set[nugget_set] = None if topics is None or before is None else before | topics
    return by_set


def _label_rows(wordings: Ints, judge: int, alias: str) -> Ints:
    """Return the labels as rows of answer, wording, code; a later submission's row comes last."""
    connection = connections[alias]
    with connection.cursor() as cursor:
        bounds = [judge, int(wordings.min()), int(wordings.max())]
        cursor.execute(LABELS_QUERY.format(joined=JOINED[connection.vendor]), bounds)
        packed, wording = np.fromstring(cursor.fetchone()[0] or "", dtype=np.int64, sep=" ").reshape(-1, 2).T
    answer, submission, code = packed >> 24, packed >> 8 & 0xFFFF, packed & 0xFF
    rows = np.stack([answer, wording, code], axis=1)
    # Of two labels by one judge the later submission counts: it is written last, over the earlier one.
    if len(rows) and submission.max() > 1:
        rows = rows[np.argsort(submission, kind="stable")]
    return rows[np.isin(rows[:, 1], wordings)]


def _apply_rule(
    labels: NDArray[np.int8], labelled: NDArray[np.bool_], topic: NDArray[np.int32], answers: _Answers
) -> None:
    """An answer without a word holds no nugget: not_support by rule, with no call and no assessor."""
    empty = answers.answered & (answers.words == 0)
    has_empty, has_words = (
        sum_by_run(cells.any(axis=0), answers.column_run) > 0 for cells in (empty, answers.answered & ~empty)
    )
    labelled |= has_empty & ~has_words
    cells = empty[topic] & labelled[answers.column_run] & (labels == UNJUDGED)
    labels[cells] = NOT


@lru_cache(maxsize=16)
def _support_sheet(
    campaign: int, revision: int, condition: str, parts: tuple[PartKey, ...], first: int | None
) -> tuple[SupportSheet, Booleans]:
    """Return the labels of all runs, and which runs have candidates, R."""
    with consistent_read() as alias:
        answers = _answers(campaign, revision)
        sentences = Sentence.objects.using(alias).filter(answer__topic__campaign=campaign)
        rows = _integers(sentences.order_by("answer", "index").values_list("pk", "answer"), 2)
        units = _Units(rows[:, 0], campaign, first, alias)
        labels = SupportJudgment.objects.using(alias).current().filter(condition=condition)
        labels = labels.filter(sentence__answer__topic__campaign=campaign).order_by("submission")
        for _, judge, topics in parts:
            within = {} if topics is None else {"sentence__answer__topic__in": topics}
            own = labels.filter(judge=judge, **within)
            units.label(_integers(own.values_list("sentence", "segment", "label"), 3))
    place = _places(answers.pk, rows[:, 1])
    flat = answers.topic[place] * len(answers.column_run) + answers.column[place]
    sheet = SupportSheet(
        run_ids=answers.run_ids,
        topic_ids=answers.topic_ids,
        column_run=answers.column_run,
        answered=answers.answered,
        sentence_answer=flat.astype(np.int32),
        unit_sentence=units.sentence.astype(np.int32),
        unit_label=units.labels,
        cited=units.cited,
    )
    return sheet, answers.candidates


@lru_cache(maxsize=8)
def _support_keys(campaign: int, _revision: int, first: int | None) -> Ints:
    with consistent_read() as alias:
        sentences = Sentence.objects.using(alias).filter(answer__topic__campaign=campaign)
        rows = _integers(sentences.order_by("answer", "index").values_list("pk"), 1)
        units = _Units(rows[:, 0], campaign, first, alias)
        return units.keys[~np.isin(units.keys[:, 0], list(units.with_candidates))]


class _Units:
    """The (sentence, segment) pairs that the campaign counts: the first k different citations of each sentence."""

    def __init__(self, sentences: Ints, campaign: int, first: int | None, alias: str) -> None:
        citations = Citation.objects.using(alias).filter(sentence__answer__topic__campaign=campaign)
        fields = citations.order_by("sentence__answer", "sentence__index", "position")
        rows = fields.values_list("sentence", "segment", "segment__has_text")
        here = sentences_with_candidates().using(alias).filter(answer__topic__campaign=campaign)
        self.with_candidates = frozenset(here.values_list("pk", flat=True))
        counted = list(first_different(rows.iterator(chunk_size=20_000), first, self.with_candidates))
        place = {pk: index for index, pk in enumerate(sentences.tolist())}
        self.sentence = np.array([place[sentence] for sentence, _, _ in counted], dtype=np.int64)
        # A citation that leads nowhere, or to a passage without text, takes its place but nobody can judge it.
        texts = np.array([bool(has_text) for _, _, has_text in counted], dtype=np.bool_)
        self.labels = np.where(texts, UNJUDGED, UNJUDGEABLE).astype(np.int8)
        self.cited = np.zeros(len(sentences), dtype=np.bool_)
        self.cited[self.sentence] = True
        self._unit = {(sentence, segment): index for index, (sentence, segment, _) in enumerate(counted)}

    @property
    def keys(self) -> Ints:
        """Sentence and segment of each pair, U x 2; -1 for a citation that leads to nothing."""
        return _integers(((sentence, -1 if segment is None else segment) for sentence, segment in self._unit), 2)

    def label(self, rows: Ints) -> None:
        """Put each label where its pair stands; labels of citations that are not counted are left aside."""
        for sentence, segment, code in rows.tolist():
            unit = self._unit.get((sentence, segment))
            if unit is not None:
                self.labels[unit] = SUPPORT_CELLS[code]


def _integers(rows: Iterable[tuple[Any, ...]], width: int) -> Ints:
    """Return query rows of integers as an n x width array; faster than np.array over tuples."""
    return np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, width)


def _columns(rows: Iterable[tuple[int, str]]) -> tuple[Ints, tuple[str, ...]]:
    pairs = list(rows)
    return np.array([pk for pk, _ in pairs], dtype=np.int64), tuple(name for _, name in pairs)


def _places(keys: Ints, references: Ints) -> Ints:
    """Return the place of each wanted key in `keys`, which must hold it. Keys are dense, so a table is fastest."""
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    low = int(keys.min())
    table = np.full(int(keys.max()) - low + 1, -1, dtype=np.int64)
    table[keys - low] = np.arange(len(keys))
    return table[references - low]


# A report is of all topics or of those with one tag, and shows each tag's figures beside them.


def tags_of(campaign: Campaign) -> list[str]:
    tags = TopicTag.objects.filter(topic__campaign=campaign).order_by("name")
    return list(tags.values_list("name", flat=True).distinct())


def topics_by_tag(campaign: Campaign) -> dict[str, frozenset[str]]:
    by_tag: dict[str, set[str]] = defaultdict(set)
    rows = TopicTag.objects.filter(topic__campaign=campaign).order_by("name")
    for name, topic in rows.values_list("name", "topic__topic_id"):
        by_tag[name].add(topic)
    return {name: frozenset(topics) for name, topics in by_tag.items()}


def tagged(campaign: Campaign, tag: str) -> frozenset[str] | None:
    if not tag:
        return None
    tags = TopicTag.objects.filter(topic__campaign=campaign, name=tag)
    return frozenset(tags.values_list("topic__topic_id", flat=True))


def rows_of(topic_ids: tuple[str, ...], topics: frozenset[str] | None) -> Booleans:
    """Return the mask of the chosen topics, T."""
    return np.array([topics is None or topic in topics for topic in topic_ids], dtype=np.bool_)


def tagged_assignments(choice: NuggetCondition, tag: str, profile: Profile | None = None) -> AssignmentSheet:
    sheet = assignment_sheet(choice, profile)
    return sheet.of_topics(rows_of(sheet.topic_ids, tagged(choice.campaign, tag))) if tag else sheet


def tagged_support(choice: CitationCondition, tag: str, *, with_candidates: bool = False) -> SupportSheet:
    sheet = support_sheet(choice, with_candidates=with_candidates)
    return sheet.of_topics(rows_of(sheet.topic_ids, tagged(choice.campaign, tag))) if tag else sheet
