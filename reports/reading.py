"""How many words each piece of work puts before its assessor, so that times of long and short topics compare."""

from collections import defaultdict

from django.db.models import Sum, Value
from django.db.models.functions import Length, Replace

from evaluation.models import Campaign, Qrel, Task, TaskAnswer, WorkingSupport
from evaluation.terms import Stage

Words = dict[tuple[str, Stage], int]
"""By topic id and stage."""


def words_read(campaign: Campaign) -> Words:
    """Return the words of each topic's passages, answers or cited pairs that its longest task of a stage holds.

    Passages and sentences are counted by their spaces, in the database.
    """
    tasks = Task.objects.filter(campaign=campaign, study=None).not_withdrawn()
    rows = list(
        tasks.values_list("pk", "topic__pk", "topic__topic_id", "stage", "qrels", "protocol__grade_threshold")
    )
    passages = _passages({(row[4], row[5]) for row in rows if row[4]})
    answers, pairs = _answers(campaign), _pairs(campaign)
    found: Words = defaultdict(int)
    for pk, topic, topic_id, stage, qrels, threshold in rows:
        if stage in (Stage.POST_EDIT, Stage.MANUAL):
            words = passages.get((qrels, threshold, topic), 0)
        else:
            words = answers.get(pk, 0) if stage == Stage.ASSIGN else pairs.get(pk, 0)
        key = (topic_id, Stage(stage))
        found[key] = max(found[key], words)
    return dict(found)


def _count(field: str) -> Sum:
    """Sum the words of a text field: one more than its spaces."""
    spaces = Length(field) - Length(Replace(field, Value(" "), Value("")))
    return Sum(spaces + 1)


def _passages(sources: set[tuple[int, int]]) -> dict[tuple[int | None, int, int], int]:
    """Return the words of the passages of each topic, by qrels, grade threshold and topic."""
    found: dict[tuple[int | None, int, int], int] = {}
    for qrels, threshold in sources:
        rows = Qrel.objects.filter(source=qrels, grade__gte=threshold, segment__has_text=True)
        for topic, words in rows.values_list("topic").annotate(words=_count("segment__text")).order_by():
            found[qrels, threshold, topic] = words or 0
    return found


def _answers(campaign: Campaign) -> dict[int, int]:
    rows = TaskAnswer.objects.filter(task__campaign=campaign).values_list("task")
    return {task: words or 0 for task, words in rows.annotate(words=Sum("answer__words")).order_by()}


def _pairs(campaign: Campaign) -> dict[int, int]:
    """Return the words of the sentences and passages of each task of support."""
    rows = WorkingSupport.objects.filter(task__campaign=campaign).values_list("task")
    counts = rows.annotate(answered=_count("sentence__text"), cited=_count("segment__text")).order_by()
    return {task: (sentence or 0) + (segment or 0) for task, sentence, segment in counts}
