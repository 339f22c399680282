"""How many labels hang on something that an import would replace: given, or in the making."""

from collections.abc import Collection, Iterator
from typing import Any

from django.db.models import Exists, Max, OuterRef, QuerySet

from evaluation.errors import Refused
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Assignment,
    ListedNugget,
    NuggetEvidence,
    NuggetLineage,
    NuggetList,
    Run,
    Segment,
    StudyPair,
    SupportJudgment,
    Topic,
    WorkingAssignment,
    WorkingSupport,
)
from evaluation.models.querysets import CurrentQuerySet
from web.phrases import plural


def labels_on_topics(topics: Collection[Topic]) -> int:
    """Count assignments and support judgments on the answers of these topics."""
    return _labels_on(Answer.objects.filter(topic__in=topics).values("pk"))


def labels_on_segments(segments: Collection[Segment]) -> int:
    """Count support judgments on these segments, and nuggets that rest on them."""
    count = 0
    for part in _parts([segment.pk for segment in segments]):
        count += SupportJudgment.objects.filter(segment__in=part).count()
        count += WorkingSupport.objects.filter(segment__in=part).count()
        count += NuggetEvidence.objects.filter(segment__in=part).count()
        count += StudyPair.objects.filter(segment__in=part).count()
    return count


def labels_on_run(run: Run) -> int:
    """Count assignments and support judgments on this run's answers."""
    return _labels_on(AnswerProvenance.objects.filter(run=run).values("answer"))


def _labels_on(answers: QuerySet[Any, Any]) -> int:
    return (
        Assignment.objects.filter(answer__in=answers).count()
        + SupportJudgment.objects.filter(sentence__answer__in=answers).count()
        + WorkingAssignment.objects.filter(answer__in=answers).count()
        + WorkingSupport.objects.filter(sentence__answer__in=answers).count()
        + StudyPair.objects.filter(answer__in=answers).count()
    )


def labels_on_lists(lists: Collection[NuggetList]) -> int:
    """Count assignments of these lists' wordings, and wordings of other lists made from them."""
    count = 0
    for part in _parts([one.pk for one in lists]):
        wordings = ListedNugget.objects.filter(nugget_list__in=part).values("nugget_version")
        count += Assignment.objects.filter(nugget_version__in=wordings).count()
        count += WorkingAssignment.objects.filter(nugget_version__in=wordings).count()
        count += NuggetLineage.objects.filter(parent__in=wordings).count()
        count += StudyPair.objects.filter(nugget_version__in=wordings).count()
    return count


def refuse_if_judged_here(labels: CurrentQuerySet[Any], keys: Collection[tuple[int, int]], *item: str) -> None:
    """Refuse to change labels that were submitted at a desk: a submission is frozen."""
    frozen = set(labels.current().filter(event__kind="task.submitted").values_list(*item)) & set(keys)
    if frozen:
        said = plural(
            "%(count)s of these labels was submitted here; reopen the task to change it.",
            "%(count)s of these labels were submitted here; reopen the task to change them.",
            len(frozen),
        )
        raise Refused("judged_here", said, count=f"{len(frozen):,}")


def numbers_after(labels: CurrentQuerySet[Any], *item: str) -> dict[tuple[int, int], int]:
    """Return, for items with labels of which none stands, the submission number that comes next: those are kept."""
    newest = labels.order_by().values_list(*item).annotate(Max("submission"))
    standing = labels.current().filter(**{name: OuterRef(name) for name in item})
    kept = newest.filter(stands=False).exclude(Exists(standing))
    return {(one, other): number + 1 for one, other, number in kept}


def _parts(ids: list[int]) -> Iterator[list[int]]:
    """Cut a list of ids, because SQLite takes a limited number of parameters."""
    for start in range(0, len(ids), 500):
        yield ids[start : start + 500]
