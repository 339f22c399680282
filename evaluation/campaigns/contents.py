"""Contents of a campaign in counts: the overview an organizer checks an import against."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import astuple, dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from django.db.models import Count, F, OuterRef, Q, QuerySet

from accounts.caching import keep, kept
from accounts.models import User
from evaluation.campaigns.access import may_see, unblinded, within
from evaluation.labels import CITATION_LABELS, NUGGET_LABELS, Label, LabelSet
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    BattleSet,
    Campaign,
    Judge,
    ListedNugget,
    Membership,
    NuggetList,
    NuggetSet,
    NuggetVersion,
    QrelSource,
    Run,
    SampledBattle,
    Segment,
    Sentence,
    SupportJudgment,
    Task,
    Topic,
)
from evaluation.models.querysets import in_parts_of, number_of
from evaluation.rules.tasks import UNBLINDED_ROLES
from evaluation.terms import JudgeKind

PARTS: Final = 8
_SWEPT: Final = Count("pk", filter=Q(first_label__isnull=False) & ~Q(first_label=F("label")))


@dataclass(frozen=True, slots=True)
class TallyCell:
    """Number of labels by set, topic, judge and code; the nugget sweep changed `swept` of them.

    Set, topic and judge are primary keys. Current labels count; those of studies and trials are among them.
    """

    nugget_set: int
    topic: int
    judge: int
    label: int
    number: int
    swept: int


def in_parts(keys: Collection[int]) -> Iterator[list[int]]:
    """Return keys, ascending, in at most `PARTS` parts of equal size."""
    return in_parts_of(keys, max(1, -(-len(keys) // PARTS)))


def tally_of(campaign: Campaign) -> tuple[TallyCell, ...]:
    """Return the tally of the campaign's revision: counted once, by whichever process asks first."""
    return _tally(campaign, campaign.created_at, campaign.revision)


@lru_cache(maxsize=16)
def _tally(campaign: Campaign, created: datetime, revision: int) -> tuple[TallyCell, ...]:
    # When the campaign was made tells databases apart: keys and revisions begin anew in each.
    name, state = f"tally-{campaign.pk}", [created.isoformat(), revision]
    tally = kept(name)
    if tally and tally["state"] == state:
        return tuple(TallyCell(*cell) for cell in tally["cells"])
    cells = _counted(campaign)
    keep(name, {"state": state, "cells": [astuple(cell) for cell in cells]})
    return cells


def _counted(campaign: Campaign) -> tuple[TallyCell, ...]:
    wordings = NuggetVersion.objects.filter(nugget__nugget_set__campaign=campaign).values_list("pk", flat=True)
    nugget = "nugget_version__nugget"
    counted: dict[tuple[int, int, int, int], tuple[int, int]] = {}
    for part in in_parts(wordings):
        labels = Assignment.objects.current().filter(nugget_version__in=part).order_by()
        cells = labels.values_list(f"{nugget}__nugget_set", f"{nugget}__topic", "judge", "label")
        for *cell, number, swept in cells.annotate(Count("pk"), swept=_SWEPT):
            before = counted.get(key := tuple(cell), (0, 0))
            counted[key] = before[0] + number, before[1] + swept
    return tuple(TallyCell(*key, *numbers) for key, numbers in counted.items())


IMPORT_EVENTS = [
    f"import.{kind}"
    for kind in (
        "topics",
        "segments",
        "qrels",
        "run",
        "nuggets",
        "assignments",
        "support",
        "scores",
        "practice",
        "battles",
    )
]
"""Named one by one, so that the log's index by kind serves: it holds millions of events."""


@dataclass(frozen=True, slots=True)
class Holdings:
    topics: int
    runs: int
    segments: int
    segments_with_text: int

    @property
    def segments_without_text(self) -> int:
        return self.segments - self.segments_with_text


@dataclass(frozen=True, slots=True)
class LabelCount:
    """Labels of one kind by one judge: `of` is the nugget set, or the support condition."""

    of: str
    judge: str
    is_llm: bool
    counts: tuple[tuple[Label, int], ...]

    @property
    def total(self) -> int:
        return sum(count for _, count in self.counts)


def holdings_for(viewer: User, campaign: Campaign) -> Holdings:
    mine = within(viewer, campaign)
    segments = Segment.objects.filter(campaign__in=mine).aggregate(
        all=Count("pk"), with_text=Count("pk", filter=Q(has_text=True))
    )
    return Holdings(
        topics=Topic.objects.filter(campaign__in=mine).count(),
        runs=Run.objects.filter(campaign__in=mine).count(),
        segments=segments["all"],
        segments_with_text=segments["with_text"],
    )


ROWS_OF_KINDS: Final[Mapping[str, tuple[QuerySet[Any], str]]] = {
    "topics": (Topic.objects.all(), "campaign"),
    "segments": (Segment.objects.filter(has_text=True), "campaign"),
    "qrels": (QrelSource.objects.all(), "campaign"),
    "runs": (Run.objects.all(), "campaign"),
    "nuggets": (NuggetSet.objects.all(), "campaign"),
    "assignments": (Assignment.objects.all(), "answer__topic__campaign"),
    "support": (SupportJudgment.objects.all(), "sentence__answer__topic__campaign"),
}
"""Rows of each kind of file that a campaign is filled with, in the order in which they need each other."""


def missing_after(viewer: User, campaign: Campaign, kind: str) -> str:
    """Return the first kind after one of which a campaign has nothing, from whatever it came; "" for none."""
    kinds = list(ROWS_OF_KINDS)
    later = kinds[kinds.index(kind) + 1 :] if kind in ROWS_OF_KINDS else []
    mine = within(viewer, campaign)
    for name in later:
        rows, campaign_field = ROWS_OF_KINDS[name]
        if not rows.filter(**{f"{campaign_field}__in": mine}).exists():
            return name
    return ""


def battle_sets_for(viewer: User, campaign: Campaign) -> list[str]:
    return list(BattleSet.objects.filter(campaign__in=within(viewer, campaign)).values_list("name", flat=True))


def sampled_llms_for(viewer: User, campaign: Campaign) -> list[str]:
    rows = SampledBattle.objects.filter(battle__battle_set__campaign__in=within(viewer, campaign))
    return sorted(set(rows.order_by().values_list("judge__name", flat=True)))


def sources_for(viewer: User, campaign: Campaign) -> QuerySet[Any]:
    sources = QrelSource.objects.filter(campaign__in=within(viewer, campaign))
    return sources.annotate(topics=Count("qrels__topic", distinct=True), grades=Count("qrels"))


def nugget_sets_for(viewer: User, campaign: Campaign) -> QuerySet[Any]:
    """Return the nugget sets with the numbers of `topics` and `nuggets` of their newest submitted lists."""
    lists = NuggetList.objects.newest_submitted().filter(nugget_set=OuterRef("pk"))
    newest = NuggetList.objects.newest_submitted_q("nugget_list__")
    listed = ListedNugget.objects.filter(newest, nugget_list__nugget_set=OuterRef("pk"))
    sets = NuggetSet.objects.filter(campaign__in=within(viewer, campaign)).select_related("judge")
    return sets.annotate(topics=number_of(lists), nuggets=number_of(listed))


def assignment_counts_for(viewer: User, campaign: Campaign) -> list[LabelCount]:
    """Count assignment labels by nugget set and judge, those of studies left out."""
    if not may_see(viewer, campaign):
        return []
    sets = dict(campaign.nugget_sets.values_list("pk", "name"))
    judges = Judge.objects.filter(aside=False, pk__in={cell.judge for cell in tally_of(campaign)}).in_bulk()
    counts: dict[tuple[str, str, str, int], int] = defaultdict(int)
    for cell in tally_of(campaign):
        if judge := judges.get(cell.judge):
            counts[sets[cell.nugget_set], judge.name, judge.kind, cell.label] += cell.number
    return _by_label(NUGGET_LABELS, [(*key, number) for key, number in counts.items()])


def support_counts_for(viewer: User, campaign: Campaign) -> list[LabelCount]:
    rows = SupportJudgment.objects.current().filter(
        segment__campaign__in=within(viewer, campaign), judge__aside=False
    )
    grouped = rows.values_list("condition", "judge__name", "judge__kind", "label")
    return _by_label(CITATION_LABELS, list(grouped.annotate(Count("pk")).order_by()))


def _by_label(labels: LabelSet, rows: list[tuple[str, str, str, int, int]]) -> list[LabelCount]:
    numbers: dict[tuple[str, str, str], dict[int, int]] = defaultdict(dict)
    for of, judge, kind, label, count in rows:
        numbers[of, judge, kind][label] = count
    return [
        LabelCount(
            of=of,
            judge=judge,
            is_llm=kind == JudgeKind.LLM,
            counts=tuple((label, by_code.get(code, 0)) for code, label in labels.by_code.items()),
        )
        for (of, judge, kind), by_code in sorted(numbers.items())
    ]


TOPICS_COMPARED = 5  # enough to tell a run from its namesake; all answers would be read for each page


@dataclass(frozen=True, slots=True)
class SharedRuns:
    """Runs that another campaign holds too. `name` and `slug` are empty where the viewer may not see that campaign.

    `judging_here`: people who judge here and may read the runs there; `judging_there`: the other way.
    """

    number: int
    name: str
    slug: str
    judging_here: tuple[str, ...]
    judging_there: tuple[str, ...]


def shared_runs_for(viewer: User, campaign: Campaign) -> list[SharedRuns]:
    """Return the other campaigns with runs of a campaign, by name: the same file, or run id with the same answers."""
    if not may_see(viewer, campaign):
        return []
    shared: dict[int, int] = defaultdict(int)
    for run in _of_the_same_file(campaign) | _of_the_same_answers(campaign):
        shared[run.campaign_id] += 1
    visible = set(unblinded(viewer).filter(pk__in=shared).values_list("pk", flat=True))
    others = Campaign.objects.filter(pk__in=shared).order_by("name")
    return [
        SharedRuns(
            shared[other.pk],
            # A campaign that the viewer may not see is counted, and stays unnamed.
            *((other.name, other.slug) if other.pk in visible else ("", "")),
            _in_both(campaign, other),
            _in_both(other, campaign),
        )
        for other in others
    ]


def _in_both(judged: Campaign, read: Campaign) -> tuple[str, ...]:
    """Return the people who judge in one campaign and may read the runs of the other."""
    reading = Membership.objects.filter(campaign=read, role__in=UNBLINDED_ROLES).values("user")
    assessors = Membership.objects.of_assessors().filter(campaign=judged).values("user")
    holders = Task.objects.filter(campaign=judged).not_withdrawn().values("assessor")
    people = User.objects.filter(Q(pk__in=assessors) | Q(pk__in=holders), pk__in=reading)
    return tuple(person.name for person in people.order_by("username"))


def _of_the_same_file(campaign: Campaign) -> set[Run]:
    files = Run.objects.filter(campaign=campaign).exclude(sha256="").values("sha256")
    # Copies of a campaign are its family, and share all its runs on purpose.
    return set(Run.objects.exclude(campaign__family=campaign.family).filter(sha256__in=files))


def _of_the_same_answers(campaign: Campaign) -> set[Run]:
    """Find runs by name whose answers to the first topics are the same, word for word."""
    mine = set(Run.objects.filter(campaign=campaign).values_list("run_id", flat=True))
    namesakes: dict[int, list[Run]] = defaultdict(list)
    for run in Run.objects.exclude(campaign__family=campaign.family).filter(run_id__in=mine):
        namesakes[run.campaign_id].append(run)
    return {run for other, runs in namesakes.items() for run in _alike(campaign.pk, other, runs)}


def _alike(campaign: int, other: int, runs: list[Run]) -> Iterator[Run]:
    topics = Topic.objects.filter(campaign=other).values("topic_id")
    common = Topic.objects.filter(campaign=campaign, topic_id__in=topics).order_by("position")
    compared = list(common.values_list("topic_id", flat=True)[:TOPICS_COMPARED])
    names = [run.run_id for run in runs]
    here, there = (_answers(pk, names, compared) for pk in (campaign, other))
    common_keys = here.keys() & there.keys()
    differing = {key[0] for key in common_keys if here[key] != there[key]}
    same = {key[0] for key in common_keys} - differing
    yield from (run for run in runs if run.run_id in same)


def _answers(campaign: int, names: list[str], topics: list[str]) -> dict[tuple[str, str, int], list[str]]:
    provenance = AnswerProvenance.objects.filter(run__campaign=campaign, run__run_id__in=names)
    rows = provenance.filter(topic__topic_id__in=topics).values_list(
        "answer", "run__run_id", "topic__topic_id", "sample"
    )
    keys = {answer: (run_id, topic, sample) for answer, run_id, topic, sample in rows}
    texts: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    sentences = Sentence.objects.filter(answer__in=list(keys)).order_by("answer", "index")
    for answer, text in sentences.values_list("answer", "text"):
        texts[keys[answer]].append(text)
    return texts
