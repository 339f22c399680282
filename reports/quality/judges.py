"""Agreement of LLM judges with people: label by label, as the people's labels come in."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import numpy as np
from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.campaigns.contents import in_parts, tally_of
from evaluation.domain.labels import CITATION_LABELS, NUGGET_LABELS
from evaluation.models import Campaign, Judge, ListedNugget, NuggetList, SupportJudgment
from evaluation.terms import JudgeKind, SupportCondition
from reports.cache import cached_report
from reports.confusion.paired_labels import ConfusionReport
from reports.frames import ASSIGNMENT_CELLS, SUPPORT_CELLS
from reports.metrics.arrays import Bytes
from reports.metrics.confusion import confusion, harsh_conflicts
from web.text import plural

LLM, PEOPLE = "the LLM", "people"
Pairs = tuple[int, str, int, int, int, int]
"""The LLM judge, what was labelled, the person, the LLM's label, the person's, and how many pairs have these two."""
Judges = tuple[list[int], list[int]]
"""LLM judges and people, by primary keys."""
PLACES: Final = ("llms", "people", "inside")
"""What the queries leave open, in this order."""

# A join of the table of labels with itself, which the ORM has no words for: as a subquery for each label of a person it
# took a second for thirty thousand of them. Judges are named one by one, so that databases see how many there are.
ASSIGNED = """
    SELECT machine.judge_id, nugget.nugget_set_id, person.judge_id, machine.label, person.label, COUNT(*)
    FROM evaluation_assignment machine
    JOIN evaluation_assignment person
        ON machine.answer_id = person.answer_id AND machine.nugget_version_id = person.nugget_version_id
    JOIN evaluation_nuggetversion wording ON wording.id = machine.nugget_version_id
    JOIN evaluation_nugget nugget ON nugget.id = wording.nugget_id
    WHERE person.stands AND machine.stands AND machine.judge_id IN ({llms}) AND person.judge_id IN ({people})
        AND machine.nugget_version_id IN ({inside}) AND person.nugget_version_id IN ({inside})
    GROUP BY machine.judge_id, nugget.nugget_set_id, person.judge_id, machine.label, person.label
"""
SUPPORTED = """
    SELECT machine.judge_id, person.condition, person.judge_id, machine.label, person.label, COUNT(*)
    FROM evaluation_supportjudgment person
    JOIN evaluation_supportjudgment machine
        ON machine.sentence_id = person.sentence_id AND machine.segment_id = person.segment_id
    WHERE person.stands AND machine.stands AND machine.judge_id IN ({llms}) AND person.judge_id IN ({people})
        AND machine.condition = 'llm'
        AND machine.segment_id IN (SELECT id FROM evaluation_segment WHERE campaign_id = {inside})
    GROUP BY machine.judge_id, person.condition, person.judge_id, machine.label, person.label
"""


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """One LLM judge's labels beside those of people, for the same pairs: rows are the LLM's, columns the people's.

    `of`: the nugget set, or the people's support condition. `shown`: the people had seen a machine's label before.
    """

    of: str
    people: int
    report: ConfusionReport
    shown: bool = False

    @property
    def sentences(self) -> list[str]:
        found, harsh = self.report.confusion, self.report.harsh
        if not found.pairs:
            return ["No pair has a usable label of both."]
        same = int(np.trace(found.counts))
        sentences = [f"Both gave the same label to {same:,} of {found.pairs:,} {plural(found.pairs, 'pair')}."]
        return [*sentences, *self._differences(), self._strictness(), *([_harsh(harsh)] if harsh else [])]

    def _differences(self) -> list[str]:
        counts = self.report.confusion.counts.copy()
        labels = [label.replace("_", " ") for label in self.report.labels]
        np.fill_diagonal(counts, 0)
        if not counts.any():
            return []
        row, column = np.unravel_index(int(counts.argmax()), counts.shape)
        most = int(counts[row, column])
        return [f"Most often they differ where people say {labels[column]} and the LLM {labels[row]}: {most:,}."]

    def _strictness(self) -> str:
        lean = self.report.confusion.strictness
        if not lean:
            return "Neither is the stricter."
        # Rows are the LLM's labels: a negative mean of row less column means that the LLM gives the lower ones.
        return "On the whole the LLM is the stricter." if lean < 0 else "On the whole people are the stricter."


def judged_by_llms(viewer: User, campaign: Campaign) -> list[Judge]:
    """Return the LLM judges that have labels in the campaign, those of studies and trials left out."""
    if not within(viewer, campaign).exists():
        return []
    supported = SupportJudgment.objects.current().filter(judge=OuterRef("pk"), segment__campaign=campaign)
    judges = Judge.objects.filter(
        Q(pk__in={cell.judge for cell in tally_of(campaign)}) | Exists(supported), kind=JudgeKind.LLM, aside=False
    )
    return list(judges.order_by("name"))


def compared_with_people(viewer: User, campaign: Campaign) -> dict[int, list[JudgeAgreement]]:
    """Return the agreement of each LLM judge with people about each nugget set, and about support.

    Of nuggets those count that reports read, of labels the current ones: submitted, and not replaced. Where two people
    labelled one pair, both count.
    """
    if not within(viewer, campaign).exists():
        return {}
    return _compared_with_people(campaign)


@cached_report(size=16)  # half a million labels take a second
def _compared_with_people(campaign: Campaign) -> dict[int, list[JudgeAgreement]]:
    found: dict[int, list[JudgeAgreement]] = defaultdict(list)
    for pairs, labels, cells in (
        (_assigned_by_both(campaign), NUGGET_LABELS.scale, ASSIGNMENT_CELLS),
        (_supported_by_both(campaign), CITATION_LABELS.scale, SUPPORT_CELLS),
    ):
        for (judge, of), rows in groupby(sorted(pairs), key=itemgetter(0, 1)):
            found[judge].append(_compared(of, list(rows), labels, cells))
    return dict(found)


def _assigned_by_both(campaign: Campaign) -> list[Pairs]:
    lists = NuggetList.objects.newest_submitted().filter(nugget_set__campaign=campaign)
    listed = ListedNugget.objects.filter(nugget_list__in=lists, avoid=False)
    judges = _judges(cell.judge for cell in tally_of(campaign))
    sets = dict(campaign.nugget_sets.values_list("pk", "name"))
    pairs: Counter[tuple[int, str, int, int, int]] = Counter()
    for part in in_parts(listed.values_list("nugget_version", flat=True).distinct()):
        for machine, nugget_set, *labelled, number in _counted(ASSIGNED, judges, part):
            pairs[machine, sets[nugget_set], *labelled] += number
    return [(*key, number) for key, number in pairs.items()]


def _supported_by_both(campaign: Campaign) -> list[Pairs]:
    given = SupportJudgment.objects.current().filter(segment__campaign=campaign).order_by()
    return _counted(SUPPORTED, _judges(given.values("judge").distinct()), [campaign.pk])


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


def _compared(of: str, pairs: Sequence[Pairs], labels: tuple[str, ...], cells: Bytes) -> JudgeAgreement:
    people = {person for _, _, person, *_ in pairs}
    report = _report([labelled for _, _, _, *labelled in pairs], labels, cells)
    return JudgeAgreement(of, len(people), report, of == SupportCondition.POST_EDIT)


def _report(parts: Sequence[Sequence[int]], labels: tuple[str, ...], cells: Bytes) -> ConfusionReport:
    machine, people, pairs = np.array(parts, dtype=np.int64).T
    rows, columns = np.repeat(cells[machine], pairs), np.repeat(cells[people], pairs)
    harsh = int(harsh_conflicts(rows, columns).sum())
    return ConfusionReport(LLM, PEOPLE, labels, confusion(rows, columns), harsh, comparable=True)


def _harsh(count: int) -> str:
    return f"In {count:,} {plural(count, 'pair')} one side sees full support and the other none."
