"""How LLM judges agree with people: label by label, as the people's labels come in."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from accounts.models import User
from evaluation.models import Assignment, Campaign, Judge, ListedNugget, SupportJudgment
from evaluation.queries.campaigns import within
from evaluation.queries.holdings import current_lists
from evaluation.terms import JudgeKind, SupportCondition
from reports.confusions import ASSIGNMENT_LABELS, SUPPORT_LABELS, ConfusionReport
from reports.frames import ASSIGNMENT_CELLS, SUPPORT_CELLS
from reports.metrics.arrays import Bytes
from reports.metrics.confusion import confusion, harsh_conflicts

LLM, PEOPLE = "the LLM", "people"
Found = Iterable[tuple[str, int, int, int, int]]
"""What was labelled, the person, the LLM's label, the person's, and how many pairs have these two."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One LLM judge's labels beside those of people, for the same pairs: rows are the LLM's, columns the people's.

    `of`: the nugget set, or the people's support condition. `shown`: the people had seen a machine's label before.
    """

    of: str
    people: int
    report: ConfusionReport
    shown: bool = False

    @property
    def said(self) -> list[str]:
        """The confusion in words."""
        found, harsh = self.report.confusion, self.report.harsh
        if not found.pairs:
            return ["No pair has a usable label of both."]
        same = int(np.trace(found.counts))
        said = [f"Both gave the same label to {same:,} of {_pairs(found.pairs)}."]
        return [*said, *self._differences(), *self._strictness(), *([_harsh(harsh)] if harsh else [])]

    def _differences(self) -> list[str]:
        counts, labels = self.report.confusion.counts.copy(), [one.replace("_", " ") for one in self.report.labels]
        np.fill_diagonal(counts, 0)
        if not counts.any():
            return []
        row, column = np.unravel_index(int(counts.argmax()), counts.shape)
        most = int(counts[row, column])
        return [f"Most often they differ where people say {labels[column]} and the LLM {labels[row]}: {most:,}."]

    def _strictness(self) -> list[str]:
        lean = self.report.confusion.strictness
        if not lean:
            return ["Neither is the stricter."]
        return [f"On the whole {LLM if lean < 0 else PEOPLE} {'is' if lean < 0 else 'are'} the stricter."]


def judged_by_llms(viewer: User, campaign: Campaign) -> QuerySet[Judge]:
    """Return the LLM judges that have labels in the campaign, those of studies and trials left out."""
    mine = within(viewer, campaign)
    here = {"judge": OuterRef("pk"), "stands": True}
    assigned = Assignment.objects.filter(**here, nugget_version__nugget__nugget_set__campaign__in=mine)
    supported = SupportJudgment.objects.filter(**here, segment__campaign__in=mine)
    judges = Judge.objects.filter(Exists(assigned) | Exists(supported), kind=JudgeKind.LLM, aside=False)
    return judges.order_by("name")


def compared_with_people(viewer: User, campaign: Campaign, judge: Judge) -> list[Compared]:
    """Return how a judge agrees with people about each nugget set, and about support: two queries.

    Of nuggets those count that reports read, of labels those that stand: submitted, and not replaced. Where two people
    labelled one pair, both count.
    """
    return [*_nuggets(viewer, campaign, judge), *_support(viewer, campaign, judge)]


def _nuggets(viewer: User, campaign: Campaign, judge: Judge) -> list[Compared]:
    listed = ListedNugget.objects.filter(nugget_list__in=current_lists(within(viewer, campaign)))
    people = _of_people(Assignment.objects.filter(nugget_version__in=listed.values("nugget_version")))
    machine = Assignment.objects.filter(
        answer=OuterRef("answer"), nugget_version=OuterRef("nugget_version"), judge=judge, stands=True
    )
    return _compared(
        _beside(people, machine, "nugget_version__nugget__nugget_set__name"), ASSIGNMENT_LABELS, ASSIGNMENT_CELLS
    )


def _support(viewer: User, campaign: Campaign, judge: Judge) -> list[Compared]:
    people = _of_people(SupportJudgment.objects.filter(segment__campaign__in=within(viewer, campaign)))
    machine = SupportJudgment.objects.filter(
        sentence=OuterRef("sentence"),
        segment=OuterRef("segment"),
        condition=SupportCondition.LLM,
        judge=judge,
        stands=True,
    )
    return _compared(_beside(people, machine, "condition"), SUPPORT_LABELS, SUPPORT_CELLS)


def _of_people(labels: QuerySet[Assignment] | QuerySet[SupportJudgment]) -> QuerySet[Assignment | SupportJudgment]:
    """Keep what people gave and what counts: the database begins with these, which are far fewer than an LLM's."""
    kept = labels.filter(Q(judge__kind=JudgeKind.HUMAN, judge__aside=False, stands=True))
    return kept.order_by()


def _beside(
    people: QuerySet[Assignment | SupportJudgment],
    machine: QuerySet[Assignment] | QuerySet[SupportJudgment],
    of: str,
) -> Found:
    newest = machine.order_by("-submission").values("label")[:1]
    pairs = people.annotate(machine=Subquery(newest)).exclude(machine=None)
    counted: Found = pairs.values_list(of, "judge", "machine", "label").annotate(pairs=Count("pk"))
    return counted


def _compared(found: Found, labels: tuple[str, str, str], cells: Bytes) -> list[Compared]:
    parts: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    people: dict[str, set[int]] = defaultdict(set)
    for of, person, machine, label, pairs in found:
        parts[of].append((machine, label, pairs))
        people[of].add(person)
    return [
        Compared(of, len(people[of]), _report(parts[of], labels, cells), of == SupportCondition.POST_EDIT)
        for of in sorted(parts)
    ]


def _report(parts: Iterable[tuple[int, int, int]], labels: tuple[str, str, str], cells: Bytes) -> ConfusionReport:
    machine, people, pairs = np.array(list(parts), dtype=np.int64).T
    rows, columns = np.repeat(cells[machine], pairs), np.repeat(cells[people], pairs)
    harsh = int(harsh_conflicts(rows, columns).sum())
    return ConfusionReport(LLM, PEOPLE, labels, confusion(rows, columns), harsh, comparable=True)


def _harsh(count: int) -> str:
    return f"In {_pairs(count)} one side sees full support and the other none."


def _pairs(count: int) -> str:
    return f"{count:,} pair{'' if count == 1 else 's'}"
