"""Judges as rows: in each campaign those who made nuggets, gave labels or hold a task there.

A judge belongs to no campaign, so that a list of all of them would tell of campaigns that the viewer may not see.
"""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluation.models import Assignment, Campaign, Judge, NuggetSet, SupportJudgment, Task
from evaluation.queries.data.reading import Reader, Row

KEYS = 2**32
"""A row's key is made of the campaign's and the judge's."""


class Judges(Reader):
    """Who or what gives labels, by campaign."""

    def rows(self) -> QuerySet[Judge]:
        """Return nothing: `found` computes the rows."""
        return Judge.objects.using(self.alias).none()

    def found(self, campaigns: Iterable[Campaign]) -> list[tuple[int, Row]]:
        """Return the judges of some of the viewer's campaigns with their keys: one query a campaign."""
        return [
            (campaign.pk * KEYS + judge.pk, self._row(campaign, judge))
            for campaign in campaigns
            for judge in self._judges_of(campaign)
        ]

    def _judges_of(self, campaign: Campaign) -> QuerySet[Judge]:
        assigned = Assignment.objects.filter(judge=OuterRef("pk"), answer__topic__campaign=campaign.pk)
        supported = SupportJudgment.objects.filter(judge=OuterRef("pk"), segment__campaign=campaign.pk)
        tasks = Task.objects.filter(campaign=campaign.pk)
        working = Q(user__in=tasks.values("assessor"), study=None) | Q(pk__in=tasks.values("machine"))
        makers = Q(pk__in=NuggetSet.objects.filter(campaign=campaign.pk).values("judge"))
        judges = Judge.objects.using(self.alias).select_related("study").order_by("pk")
        return judges.filter(makers | working | Q(Exists(assigned)) | Q(Exists(supported)))

    def _row(self, campaign: Campaign, judge: Judge) -> Row:
        return {
            "campaign": campaign.slug,
            "name": self.names.judge(campaign.pk, judge.pk),
            "kind": judge.kind,
            "model": judge.model,
            "prompt_versions": judge.prompt_versions,
            "study": judge.study.name if judge.study else None,
            "aside": judge.aside,
            "created_at": judge.created_at,
        }
