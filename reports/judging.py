"""How LLM judges agree with people: label by label, as the people's labels come in."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from evaluation.models import Assignment, Campaign, Judge, ListedNugget, SupportJudgment
from evaluation.queries.campaigns import within
from evaluation.queries.holdings import current_lists
from evaluation.terms import JudgeKind, SupportCondition
from reports.confusions import ConfusionReport
from reports.frames import ASSIGNMENT_CELLS, SUPPORT_CELLS
from reports.matched import ASSIGNMENT_LABELS, SUPPORT_LABELS
from reports.metrics.arrays import Bytes
from reports.metrics.confusion import confusion, harsh_conflicts

LLM, PEOPLE = "the LLM", "people"
Pairs = tuple[int, str, int, int, int, int]
"""The LLM judge, what was labelled, the person, the LLM's label, the person's, and how many pairs have these two."""

# A join of the table of labels with itself, which the ORM has no words for: as a subquery for each label of a person it
# took a second for thirty thousand of them.
JUDGES = """
    JOIN evaluation_judge human ON human.id = person.judge_id AND human.kind = 'human' AND NOT human.aside
    JOIN evaluation_judge llm ON llm.id = machine.judge_id AND llm.kind = 'llm' AND NOT llm.aside
"""
ASSIGNED = f"""
    WITH listed (wording, made) AS ({{inside}})
    SELECT machine.judge_id, listed.made, person.judge_id, machine.label, person.label, COUNT(*)
    FROM listed
    JOIN evaluation_assignment machine ON machine.nugget_version_id = listed.wording
    JOIN evaluation_assignment person
        ON machine.answer_id = person.answer_id AND machine.nugget_version_id = person.nugget_version_id
    {JUDGES}
    WHERE person.stands AND machine.stands
    GROUP BY machine.judge_id, listed.made, person.judge_id, machine.label, person.label
"""  # noqa: S608
SUPPORTED = f"""
    SELECT machine.judge_id, person.condition, person.judge_id, machine.label, person.label, COUNT(*)
    FROM evaluation_supportjudgment person
    JOIN evaluation_supportjudgment machine
        ON machine.sentence_id = person.sentence_id AND machine.segment_id = person.segment_id
    {JUDGES}
    JOIN evaluation_segment segment ON segment.id = person.segment_id
    WHERE person.stands AND machine.stands AND machine.condition = 'llm' AND segment.campaign_id IN ({{inside}})
    GROUP BY machine.judge_id, person.condition, person.judge_id, machine.label, person.label
"""  # noqa: S608


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
            return [_("No pair has a usable label of both.")]
        same = int(np.trace(found.counts))
        both = ngettext(
            "Both gave the same label to %(same)s of %(number)s pair.",
            "Both gave the same label to %(same)s of %(number)s pairs.",
            found.pairs,
        )
        said = [both % {"same": f"{same:,}", "number": f"{found.pairs:,}"}]
        return [*said, *self._differences(), *self._strictness(), *([_harsh(harsh)] if harsh else [])]

    def _differences(self) -> list[str]:
        counts, labels = self.report.confusion.counts.copy(), [one.replace("_", " ") for one in self.report.labels]
        np.fill_diagonal(counts, 0)
        if not counts.any():
            return []
        row, column = np.unravel_index(int(counts.argmax()), counts.shape)
        most = int(counts[row, column])
        said = _("Most often they differ where people say %(people)s and the LLM %(llm)s: %(number)s.")
        return [said % {"people": labels[column], "llm": labels[row], "number": f"{most:,}"}]

    def _strictness(self) -> list[str]:
        lean = self.report.confusion.strictness
        if not lean:
            return [_("Neither is the stricter.")]
        stricter = (
            _("On the whole the LLM is the stricter.") if lean < 0 else _("On the whole people are the stricter.")
        )
        return [stricter]


def judged_by_llms(viewer: User, campaign: Campaign) -> QuerySet[Judge]:
    """Return the LLM judges that have labels in the campaign, those of studies and trials left out."""
    mine = within(viewer, campaign)
    here = {"judge": OuterRef("pk"), "stands": True}
    assigned = Assignment.objects.filter(**here, nugget_version__nugget__nugget_set__campaign__in=mine)
    supported = SupportJudgment.objects.filter(**here, segment__campaign__in=mine)
    judges = Judge.objects.filter(Exists(assigned) | Exists(supported), kind=JudgeKind.LLM, aside=False)
    return judges.order_by("name")


def compared_with_people(viewer: User, campaign: Campaign) -> dict[int, list[Compared]]:
    """Return how each LLM judge agrees with people about each nugget set, and about support: a query, or three.

    Of nuggets those count that reports read, of labels those that stand: submitted, and not replaced. Where two people
    labelled one pair, both count.
    """
    row = within(viewer, campaign).values_list("created_at", "revision").first()
    return _compared_with_people(campaign.pk, *row) if row else {}


@lru_cache(maxsize=16)
def _compared_with_people(campaign: int, _made: datetime, _revision: int) -> dict[int, list[Compared]]:
    """Compare once per state of the campaign: half a million labels take a second. `_made` tells databases apart."""
    mine = Campaign.objects.filter(pk=campaign)
    listed = ListedNugget.objects.filter(nugget_list__in=current_lists(mine))
    wordings = listed.values("nugget_version", "nugget_version__nugget__nugget_set__name").distinct()
    found: dict[int, list[Compared]] = defaultdict(list)
    for pairs, labels, cells in (
        (_beside(ASSIGNED, wordings), ASSIGNMENT_LABELS, ASSIGNMENT_CELLS),
        (_beside(SUPPORTED, mine.values("pk")), SUPPORT_LABELS, SUPPORT_CELLS),
    ):
        for (judge, of), rows in groupby(pairs, key=itemgetter(0, 1)):
            found[judge].append(_compared(of, list(rows), labels, cells))
    return dict(found)


def _beside(sql: str, inside: QuerySet[Any, Any]) -> list[Pairs]:
    """Count pairs by the two labels that they have, in the order of LLM judge and of what was labelled."""
    inner, parameters = inside.order_by().query.get_compiler(connection=connection).as_sql()
    with connection.cursor() as cursor:
        cursor.execute(sql.format(inside=inner), parameters)
        return sorted(cursor.fetchall())


def _compared(of: str, pairs: Sequence[Pairs], labels: tuple[str, ...], cells: Bytes) -> Compared:
    people = {person for _, _, person, *_ in pairs}
    report = _report([labelled for _, _, _, *labelled in pairs], labels, cells)
    return Compared(of, len(people), report, of == SupportCondition.POST_EDIT)


def _report(parts: Sequence[Sequence[int]], labels: tuple[str, ...], cells: Bytes) -> ConfusionReport:
    machine, people, pairs = np.array(parts, dtype=np.int64).T
    rows, columns = np.repeat(cells[machine], pairs), np.repeat(cells[people], pairs)
    harsh = int(harsh_conflicts(rows, columns).sum())
    return ConfusionReport(LLM, PEOPLE, labels, confusion(rows, columns), harsh, comparable=True)


def _harsh(count: int) -> str:
    said = ngettext(
        "In %(number)s pair one side sees full support and the other none.",
        "In %(number)s pairs one side sees full support and the other none.",
        count,
    )
    return said % {"number": f"{count:,}"}
