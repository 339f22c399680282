"""How many labels hang on something that an import would replace."""

from collections.abc import Collection, Iterator

from evaluation.models import (
    AnswerProvenance,
    Assignment,
    ListedNugget,
    NuggetEvidence,
    NuggetLineage,
    NuggetList,
    Run,
    Segment,
    SupportJudgment,
    Topic,
)


def labels_on_topics(topics: Collection[Topic]) -> int:
    """Count assignments and support judgments on the answers of these topics."""
    assignments = Assignment.objects.filter(answer__topic__in=topics).count()
    return assignments + SupportJudgment.objects.filter(sentence__answer__topic__in=topics).count()


def labels_on_segments(segments: Collection[Segment]) -> int:
    """Count support judgments on these segments, and nuggets that rest on them."""
    count = 0
    for part in _parts([segment.pk for segment in segments]):
        count += SupportJudgment.objects.filter(segment__in=part).count()
        count += NuggetEvidence.objects.filter(segment__in=part).count()
    return count


def labels_on_run(run: Run) -> int:
    """Count assignments and support judgments on this run's answers."""
    answers = AnswerProvenance.objects.filter(run=run).values("answer")
    assignments = Assignment.objects.filter(answer__in=answers).count()
    return assignments + SupportJudgment.objects.filter(sentence__answer__in=answers).count()


def labels_on_lists(lists: Collection[NuggetList]) -> int:
    """Count assignments of these lists' wordings, and wordings of other lists made from them."""
    count = 0
    for part in _parts([one.pk for one in lists]):
        wordings = ListedNugget.objects.filter(nugget_list__in=part).values("nugget_version")
        count += Assignment.objects.filter(nugget_version__in=wordings).count()
        count += NuggetLineage.objects.filter(parent__in=wordings).count()
    return count


def _parts(ids: list[int]) -> Iterator[list[int]]:
    """Cut a list of ids, because SQLite takes a limited number of parameters."""
    for start in range(0, len(ids), 500):
        yield ids[start : start + 500]
