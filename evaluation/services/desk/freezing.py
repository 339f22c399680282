"""Submitting labels: those of a judging task become judgments that count, in place of what was submitted before."""

from collections.abc import Iterable

from django.db.models import Max, QuerySet
from django.utils import timezone

from evaluation.errors import Refused
from evaluation.models import (
    Assignment,
    Citation,
    Event,
    Judge,
    SupportJudgment,
    Task,
    TaskAnswer,
    WorkingAssignment,
    WorkingSupport,
)
from evaluation.models.querysets import CurrentQuerySet
from evaluation.services.desk.finding import place_of
from evaluation.services.desk.judging import nuggets_of, pairs_of
from evaluation.services.desk.progress import left_to_judge
from evaluation.terms import Stage, SupportCondition
from web.text import plural

BATCH = 500


def check_judged(task: Task) -> None:
    """Raise `Refused` where labels are missing. "Can't judge" is one."""
    if left := left_to_judge(place_of(task)):
        raise Refused("undecided", f"{left} {plural(left, 'label is', 'labels are')} missing.")


def freeze_labels(task: Task, judge: Judge, event: Event) -> int:
    """Copy a task's labels to where reports read them; return how many there are. Inside a transaction."""
    if task.stage == Stage.ASSIGN:
        return _freeze_assignments(task, judge, event)
    return _freeze_support(task, judge, event)


def assignments_of(task: Task, judge: Judge) -> CurrentQuerySet[Assignment]:
    """Return what a judge ever submitted about the nuggets and the topic of an assignment task."""
    return Assignment.objects.filter(
        judge=judge, answer__topic=task.topic_id, nugget_version__nugget__nugget_set=task.nugget_set_id
    )


def support_of(task: Task, judge: Judge) -> CurrentQuerySet[SupportJudgment]:
    """Return what a judge ever submitted under the condition and on the topic of a support task."""
    return SupportJudgment.objects.filter(
        judge=judge, sentence__answer__topic=task.topic_id, condition=Stage(task.stage).condition
    )


def _freeze_assignments(task: Task, judge: Judge, event: Event) -> int:
    earlier = assignments_of(task, judge)
    submission = _next(earlier)
    earlier.update(stands=False)
    wordings = [one.wording for one in nuggets_of(place_of(task))]
    given = WorkingAssignment.objects.filter(task=task, nugget_version__in=wordings, label__isnull=False)
    given = given.order_by("answer_id", "nugget_version_id")  # else each engine numbers the rows in its own way
    same, now = _same(task), timezone.now()
    rows = [
        Assignment(
            judge=judge,
            answer_id=answer,
            nugget_version_id=one.nugget_version_id,
            submission=submission,
            label=label,
            raw=one.reason,
            sentence=one.sentence,
            first_label=one.first_label,
            given_at=now,
            event=event,
        )
        for one in given
        if (label := one.label) is not None
        for answer in same.get(one.answer_id, [one.answer_id])
    ]
    return len(Assignment.objects.bulk_create(rows, batch_size=BATCH))


def _freeze_support(task: Task, judge: Judge, event: Event) -> int:
    earlier = support_of(task, judge)
    submission = _next(earlier)
    earlier.update(stands=False)
    asked = {(pair.sentence_pk, pair.segment_pk) for pair in pairs_of(place_of(task)) if pair.judgeable}
    condition, shows = SupportCondition(str(Stage(task.stage).condition)), task.stage == Stage.SUPPORT_POST_EDIT
    given = WorkingSupport.objects.filter(task=task, label__isnull=False).select_related("sentence")
    given = given.order_by("sentence_id", "segment_id")
    same, now = _same(task), timezone.now()
    rows = [
        SupportJudgment(
            judge=judge,
            condition=condition,
            sentence_id=sentence,
            segment_id=one.segment_id,
            submission=submission,
            label=label,
            raw=one.reason,
            shown_label=one.shown_label,
            shown_ms=one.shown_ms,
            accepted=one.accepted if shows else None,
            given_at=now,
            event=event,
        )
        for one in given
        if (label := one.label) is not None and (one.sentence_id, one.segment_id) in asked
        for sentence in _same_sentences(one, same)
    ]
    return len(SupportJudgment.objects.bulk_create(rows, batch_size=BATCH))


def _next(rows: QuerySet[Assignment] | QuerySet[SupportJudgment]) -> int:
    newest: int | None = rows.aggregate(newest=Max("submission"))["newest"]
    return (newest or 0) + 1


def _same(task: Task) -> dict[int, list[int]]:
    """Return, for each answer that stands for others, all of them: itself and those with the very same text."""
    same: dict[int, list[int]] = {}
    rows = TaskAnswer.objects.filter(task=task, same_as__isnull=False).order_by("position")
    for answer, shown in rows.values_list("answer", "same_as"):
        same.setdefault(shown, [shown]).append(answer)
    return same


def _same_sentences(given: WorkingSupport, same: dict[int, list[int]]) -> Iterable[int]:
    """Return the sentences that a label is about: that of each answer with the very same text."""
    answers = same.get(given.sentence.answer_id)
    if answers is None:
        return [given.sentence_id]
    cited = Citation.objects.filter(
        sentence__answer__in=answers, sentence__index=given.sentence.index, segment=given.segment_id
    )
    return list(cited.values_list("sentence", flat=True).distinct().order_by("sentence_id"))
