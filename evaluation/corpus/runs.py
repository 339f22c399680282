"""Runs for organizers: the list, one run, and what it answered."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import Any

from django.db.models import Avg, OuterRef, Q, QuerySet, Subquery

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.corpus.answers import provenance_for
from evaluation.models import AnswerProvenance, Campaign, Finding, Run, Sentence
from evaluation.models.querysets import number_of


def judging_pool(runs: Iterable[Run], depth: int | None) -> frozenset[str]:
    """Return the run ids to judge: the first `depth` of each group and task, and those always judged. None means all.

    Priority 1 comes first, none last. Equal ones go by run id, so that the order of loading does not matter.
    """
    by_group: dict[Hashable, list[Run]] = defaultdict(list)
    for run in runs:
        by_group[run.group, run.task].append(run)
    return frozenset(
        run.run_id
        for group in by_group.values()
        for place, run in enumerate(sorted(group, key=_by_priority))
        # Organizers name runs beyond the depth that are to be judged all the same.
        if depth is None or place < depth or run.pool
    )


def _by_priority(run: Run) -> tuple[bool, int, str]:
    return run.priority is None, run.priority or 0, run.run_id


def pool_of(campaign: Campaign) -> frozenset[str]:
    return judging_pool(campaign.runs.all(), campaign.protocol.pool_depth)


def runs_for(viewer: User, campaign: Campaign, words: str = "", task: str = "") -> QuerySet[Run]:
    runs = Run.objects.filter(campaign__in=within(viewer, campaign))
    if words:
        runs = runs.filter(Q(run_id__icontains=words) | Q(group__icontains=words))
    return runs.filter(task=task) if task else runs


def run_for(viewer: User, campaign: Campaign, pk: int) -> Run:
    return runs_for(viewer, campaign).get(pk=pk)


def run_rows(runs: Iterable[Run]) -> QuerySet[Any]:
    """Return one page of runs with the numbers of their answers and findings, and the mean words of an answer."""
    answers = AnswerProvenance.objects.filter(run=OuterRef("pk"))
    words = answers.order_by().values("run").annotate(mean=Avg("answer__words"))
    findings = Finding.objects.filter(campaign=OuterRef("campaign"), run_id=OuterRef("run_id"))
    # Of the page alone: the database would count for all runs before it sorts them.
    rows = Run.objects.filter(pk__in=[run.pk for run in runs])
    return rows.annotate(
        answers=number_of(answers), words=Subquery(words.values("mean")), findings=number_of(findings)
    )


def answered_topics(viewer: User, campaign: Campaign, run: Run) -> QuerySet[Any]:
    """Return a run's answers, samples too, in the order of the topics, with the numbers of sentences and of uncited."""
    sentences = Sentence.objects.filter(answer=OuterRef("pk"))
    rows = provenance_for(viewer, campaign).filter(run=run).select_related("answer", "topic")
    numbers = {"sentences": number_of(sentences), "uncited": number_of(sentences.filter(citations=None))}
    return rows.annotate(**numbers).order_by("topic__position", "sample")
