"""Disagreement studies for organizers: which there are, and who has which of their tasks."""

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from accounts.models import User
from evaluation.models import Campaign, Study, StudyPair, Task, Topic
from evaluation.queries.campaigns import within
from evaluation.terms import TaskState


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A study in the list, with what was drawn and how many of its tasks are handed out and submitted."""

    study: Study
    pairs: int
    topics: int
    tasks: int
    submitted: int


def studies_for(viewer: User, campaign: Campaign) -> list[StudyRow]:
    """Return the studies of a campaign, the newest first: three queries, however many."""
    studies = list(_studies(viewer, campaign))
    drawn = StudyPair.objects.filter(study__in=studies).order_by().values_list("study")
    sizes = {pk: (n, topics) for pk, n, topics in drawn.annotate(Count("pk"), Count("topic", distinct=True))}
    tasks = Task.objects.filter(study__in=studies).not_withdrawn().order_by().values_list("study")
    given = tasks.annotate(n=Count("pk"), submitted=Count("pk", filter=Q(state=TaskState.SUBMITTED)))
    counts = {pk: (n, submitted) for pk, n, submitted in given}
    return [StudyRow(one, *sizes[one.pk], *counts.get(one.pk, (0, 0))) for one in studies]


def study_for(viewer: User, campaign: Campaign, pk: int) -> Study:
    """Return one study, or raise `Study.DoesNotExist`."""
    return _studies(viewer, campaign).get(pk=pk)


def _studies(viewer: User, campaign: Campaign) -> QuerySet[Study]:
    studies = Study.objects.filter(campaign__in=within(viewer, campaign))
    return studies.select_related("campaign", "person", "machine", "nugget_set__judge")


def tasks_of_study(study: Study) -> list[Task]:
    """Return the tasks of a study that was read for the viewer, the withdrawn ones left out."""
    tasks = Task.objects.filter(study=study).not_withdrawn()
    related = ("topic", "assessor", "protocol", "nugget_set", "machine", "study")
    return list(tasks.select_related(*related).order_by("topic__position", "pk"))


def topics_of_study(study: Study) -> list[Topic]:
    """Return the topics of which pairs were drawn."""
    return list(Topic.objects.filter(pk__in=StudyPair.objects.filter(study=study).values("topic")))
