"""Tasks that wait for the labels that they are to show."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet

from evaluation.domain.counted_pairs import counted_citations
from evaluation.models import SupportJudgment, Task, TaskAnswer
from evaluation.terms import SupportCondition


def pairs_without_llm_label(tasks: Sequence[Task]) -> dict[int, int]:
    """A query for each machine and protocol. A failed label is there: the screen says that the machine gave none."""
    aided = [task for task in tasks if task.stage.shows_label]
    gaps: dict[int, int] = defaultdict(int)
    for judge, first in {(task.judge_id, task.protocol.first_citations) for task in aided}:
        mine = [task.pk for task in aided if (task.judge_id, task.protocol.first_citations) == (judge, first)]
        answers = TaskAnswer.objects.filter(task__in=mine, same_as=None).order_by()
        lacking = _without_label(first, judge).filter(sentence__answer__in=answers.values("answer"))
        by_answer = dict(lacking.order_by().values_list("sentence__answer").annotate(Count("pk")))
        for pk, answer in answers.filter(answer__in=by_answer).values_list("task", "answer"):
            gaps[pk] += by_answer[answer]
    return dict(gaps)


def _without_label(first: int | None, judge: int | None) -> QuerySet[Any]:
    labels = SupportJudgment.objects.current().filter(judge=judge, condition=SupportCondition.LLM)
    there = labels.filter(sentence=OuterRef("sentence"), segment=OuterRef("segment"))
    return counted_citations(first).exclude(Exists(there))
