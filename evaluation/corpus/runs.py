"""Runs for organizers: the list, one run, and what it answered."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet, Sum

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.corpus.answers import provenance_for
from evaluation.models import AnswerProvenance, Campaign, Finding, Run, Sentence


@dataclass(frozen=True, slots=True)
class PoolRun:
    """Facts of a run for the judging pool. `priority` 1 is judged first, None last; `always`: beyond the depth too."""

    run_id: str
    group: str
    task: str
    priority: int | None
    always: bool


def judging_pool(runs: Iterable[PoolRun], depth: int | None) -> frozenset[str]:
    """Return the run ids to judge: the first `depth` of each group and task, and those always judged. None means all.

    Equal priorities go by run id, so that the pool does not depend on the order of loading.
    """
    by_group: dict[Hashable, list[PoolRun]] = defaultdict(list)
    for run in runs:
        by_group[run.group, run.task].append(run)
    return frozenset(
        run.run_id
        for group in by_group.values()
        for place, run in enumerate(sorted(group, key=_by_priority))
        # Organizers name runs beyond the depth that are to be judged all the same.
        if depth is None or place < depth or run.always
    )


def _by_priority(run: PoolRun) -> tuple[bool, int, str]:
    return run.priority is None, run.priority or 0, run.run_id


def pool_of(campaign: Campaign) -> frozenset[str]:
    runs = campaign.runs.values_list("run_id", "group", "task", "priority", "pool")
    return judging_pool((PoolRun(*row) for row in runs), campaign.protocol.pool_depth)


@dataclass(frozen=True, slots=True)
class ListedRun:
    run: Run
    judged_by_people: bool
    answers: int
    words: float | None
    findings: int


@dataclass(frozen=True, slots=True)
class AnsweredTopic:
    """A topic with a run's answer, or with one sample of several."""

    topic_id: str
    public_id: str
    answer_id: str
    sample: int
    text: str
    words: int
    sentences: int
    uncited: int


def runs_for(viewer: User, campaign: Campaign, words: str = "", task: str = "") -> QuerySet[Run]:
    runs = Run.objects.filter(campaign__in=within(viewer, campaign))
    if words:
        runs = runs.filter(Q(run_id__icontains=words) | Q(group__icontains=words))
    return runs.filter(task=task) if task else runs


def run_for(viewer: User, campaign: Campaign, pk: int) -> Run:
    return runs_for(viewer, campaign).get(pk=pk)


def run_rows(campaign: Campaign, runs: Iterable[Run]) -> list[ListedRun]:
    """Return the rows of one page of runs that were read for the viewer: five queries, however many."""
    page = list(runs)
    provenance = AnswerProvenance.objects.filter(run__in=[run.pk for run in page]).values_list("run").order_by()
    counts = {
        pk: (answers, words) for pk, answers, words in provenance.annotate(Count("pk"), Sum("answer__words"))
    }
    noticed = Finding.objects.filter(campaign=campaign, run_id__in=[run.run_id for run in page])
    findings = dict(noticed.order_by().values_list("run_id").annotate(Count("pk")))
    pool = pool_of(campaign)
    return [
        ListedRun(
            run=run,
            judged_by_people=run.run_id in pool,
            answers=counts.get(run.pk, (0, 0))[0],
            words=counts[run.pk][1] / counts[run.pk][0] if run.pk in counts else None,
            findings=findings.get(run.run_id, 0),
        )
        for run in page
    ]


def answered_topics(viewer: User, campaign: Campaign, run: Run) -> list[AnsweredTopic]:
    rows = provenance_for(viewer, campaign).filter(run=run).select_related("answer", "topic")
    page = list(rows.order_by("topic__position", "sample"))
    sentences = Sentence.objects.filter(answer__in=[row.answer_id for row in page]).order_by()
    counted = sentences.values_list("answer").annotate(
        total=Count("pk", distinct=True), cited=Count("pk", filter=Q(citations__position=0))
    )
    counts = {pk: (total, cited) for pk, total, cited in counted}
    return [
        AnsweredTopic(
            topic_id=row.topic.topic_id,
            public_id=row.topic.public_id,
            answer_id=row.answer.public_id,
            sample=row.sample,
            text=row.topic.text,
            words=row.answer.words,
            sentences=counts.get(row.answer_id, (0, 0))[0],
            uncited=counts.get(row.answer_id, (0, 0))[0] - counts.get(row.answer_id, (0, 0))[1],
        )
        for row in page
    ]
