"""What a campaign holds, in counts: the overview an organizer checks an import against."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

from django.db.models import Count, Q

from accounts.models import User
from evaluation.models import (
    Campaign,
    Event,
    Finding,
    Judge,
    ListedNugget,
    NuggetList,
    NuggetSet,
    QrelSource,
    Run,
    Segment,
    SupportJudgment,
    Topic,
)
from evaluation.queries.campaigns import within
from evaluation.queries.tally import tally_of
from evaluation.terms import AssignmentLabel, Importance, JudgeKind

IMPORTS_SHOWN = 8
IMPORT_KINDS = [
    f"import.{kind}"
    for kind in ("topics", "segments", "qrels", "run", "nuggets", "assignments", "support", "scores", "practice")
]
"""Named one by one, so that the log's index by kind serves: it holds millions of events."""
_VITAL = Count("pk", filter=Q(importance=Importance.VITAL))


@dataclass(frozen=True, slots=True)
class Holdings:
    """The four figures that say whether a campaign is loaded."""

    topics: int
    runs: int
    segments: int
    segments_with_text: int

    @property
    def segments_without_text(self) -> int:
        """Segments that qrels or runs name and nobody has loaded."""
        return self.segments - self.segments_with_text


@dataclass(frozen=True, slots=True)
class SourceCount:
    """The qrels of one source."""

    name: str
    topics: int
    qrels: int
    related: int


@dataclass(frozen=True, slots=True)
class SetCount:
    """A nugget set and what the newest submitted lists of it hold."""

    name: str
    origin: str
    judge: str
    machine: bool
    drafts: str
    topics: int
    nuggets: int
    vital: int


@dataclass(frozen=True, slots=True)
class LabelCount:
    """Labels of one kind by one judge: `of` is the nugget set, or the support condition."""

    of: str
    judge: str
    machine: bool
    none: int
    partial: int
    full: int
    cant_judge: int
    failed: int

    @property
    def total(self) -> int:
        """All labels, the failed ones included."""
        return self.none + self.partial + self.full + self.cant_judge + self.failed


@dataclass(frozen=True, slots=True)
class FindingCount:
    """How often an import noticed one thing."""

    code: str
    count: int


@dataclass(frozen=True, slots=True)
class ImportRow:
    """One import, from the log."""

    at: datetime
    kind: str
    actor: str
    files: list[str]
    summary: str


def holdings_for(viewer: User, campaign: Campaign) -> Holdings:
    """Count topics, runs and segments."""
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


def sources_for(viewer: User, campaign: Campaign) -> list[SourceCount]:
    """Count qrels by source, with the topics each covers."""
    rows = QrelSource.objects.filter(campaign__in=within(viewer, campaign)).annotate(
        topics=Count("qrels__topic", distinct=True),
        total=Count("qrels"),
        related=Count("qrels", filter=Q(qrels__grade__gte=1)),
    )
    return [SourceCount(row.name, row.topics, row.total, row.related) for row in rows]


def nugget_sets_for(viewer: User, campaign: Campaign) -> list[SetCount]:
    """Return the nugget sets with what their current lists hold, drafts included."""
    mine = within(viewer, campaign)
    sets = NuggetSet.objects.filter(campaign__in=mine).select_related("judge", "drafts")
    lists = NuggetList.objects.newest_submitted().filter(nugget_set__campaign__in=mine)
    topics = dict(lists.values_list("nugget_set").annotate(Count("pk")))
    listed = ListedNugget.objects.filter(nugget_list__in=lists).values_list("nugget_list__nugget_set")
    counts = {pk: (n, vital) for pk, n, vital in listed.annotate(n=Count("pk"), vital=_VITAL)}
    return [
        SetCount(
            name=one.name,
            origin=one.origin,
            judge=one.judge.name,
            machine=one.judge.kind == JudgeKind.LLM,
            drafts=one.drafts.name if one.drafts else "",
            topics=topics.get(one.pk, 0),
            nuggets=counts.get(one.pk, (0, 0))[0],
            vital=counts.get(one.pk, (0, 0))[1],
        )
        for one in sets
    ]


def assignment_counts_for(viewer: User, campaign: Campaign) -> list[LabelCount]:
    """Count assignment labels by nugget set and judge, those of studies left out."""
    if not within(viewer, campaign).exists():
        return []
    sets = dict(campaign.nugget_sets.values_list("pk", "name"))
    judges = Judge.objects.filter(aside=False, pk__in={cell.judge for cell in tally_of(campaign)}).in_bulk()
    counts: dict[tuple[str, str, str, int], int] = defaultdict(int)
    for cell in tally_of(campaign):
        if judge := judges.get(cell.judge):
            counts[sets[cell.nugget_set], judge.name, judge.kind, cell.label] += cell.number
    return _by_label([(*key, number) for key, number in counts.items()])


def support_counts_for(viewer: User, campaign: Campaign) -> list[LabelCount]:
    """Count support labels by condition and judge, those of studies left out."""
    rows = SupportJudgment.objects.current().filter(
        segment__campaign__in=within(viewer, campaign), judge__aside=False
    )
    grouped = rows.values_list("condition", "judge__name", "judge__kind", "label")
    return _by_label(list(grouped.annotate(Count("pk")).order_by()))


def findings_by_code_for(viewer: User, campaign: Campaign) -> list[FindingCount]:
    """Count findings by code, the most frequent first."""
    rows = Finding.objects.filter(campaign__in=within(viewer, campaign)).order_by()
    return [
        FindingCount(code, count)
        for code, count in rows.values_list("code").annotate(n=Count("pk")).order_by("-n", "code")
    ]


def imports_for(viewer: User, campaign: Campaign) -> list[ImportRow]:
    """Return the newest imports."""
    events = Event.objects.filter(campaign__in=within(viewer, campaign), kind__in=IMPORT_KINDS)
    return [
        ImportRow(
            at=event.at,
            kind=event.kind.removeprefix("import."),
            actor=event.actor.name if event.actor else "",
            files=[PurePath(file.get("name", "")).name for file in event.payload.get("files", [])],
            summary=_summary(event.payload),
        )
        for event in events.select_related("actor")[:IMPORTS_SHOWN]
    ]


def _summary(payload: dict[str, object]) -> str:
    counts = ((payload.get(what), what) for what in ("added", "changed"))
    return ", ".join(f"{count:,} {what}" for count, what in counts if count)


def _by_label(rows: list[tuple[str, str, str, int, int]]) -> list[LabelCount]:
    counts: dict[tuple[str, str, str], dict[int, int]] = defaultdict(dict)
    for of, judge, kind, label, count in rows:
        counts[of, judge, kind][label] = count
    return [
        LabelCount(
            of=of,
            judge=judge,
            machine=kind == JudgeKind.LLM,
            none=by_label.get(AssignmentLabel.NOT_SUPPORT, 0),
            partial=by_label.get(AssignmentLabel.PARTIAL_SUPPORT, 0),
            full=by_label.get(AssignmentLabel.SUPPORT, 0),
            cant_judge=by_label.get(AssignmentLabel.CANT_JUDGE, 0),
            failed=by_label.get(AssignmentLabel.FAILED, 0),
        )
        for (of, judge, kind), by_label in sorted(counts.items())
    ]
