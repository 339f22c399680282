"""Answers of a judging task, in an order of its own, extended when more is imported; and counts of its labels.

The order is a shuffle seeded with the task, so that two assessors of a topic have different ones and one assessor
always the same. Later answers come after the others. Called inside the transaction of whoever hands out
or imports.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Count, QuerySet

from evaluation.models import Campaign, Citation, NuggetSet, Sentence, Submission, Task, TaskAnswer, Topic
from evaluation.models.querysets import TaskQuerySet
from evaluation.rules.text import shuffled
from evaluation.tasks.asking import KEY, Asking, Pooled, Units, asking_of, by_asking
from evaluation.tasks.turning import reopen_for_more
from evaluation.terms import TaskState
from web.statements import ROWS_A_STATEMENT


def add_new_answers(task: Task) -> list[TaskAnswer]:
    pool = asking_of(task.stage).pool(task.campaign, [task.topic_id], task.protocol.first_citations)
    return _append(task, pool.get(task.topic_id, []))


def extend_tasks(campaign: Campaign) -> None:
    """Give every judging task what has come since: answers of new runs, citations and passages with a text by now.

    A submitted task that has something to judge now is reopened, or keeps to what it had where its stage reopens none.
    An answer that left the pool stays where it is. A study's task keeps to what was drawn.
    """
    # A study compares two people on drawn pairs; more pairs later would change what it measures.
    tasks = [task for task in lock_judging(campaign) if task.study_id is None and _takes_more(task)]
    pools: dict[tuple[Asking, int | None], dict[int, list[Pooled]]] = {}
    topics = {task.topic_id for task in tasks}
    for task in tasks:
        # Tasks of several protocols may be open at once, and each keeps the citation rule it was handed out with.
        way = (asking_of(task.stage), task.protocol.first_citations)
        if way not in pools:
            pools[way] = way[0].pool(campaign, topics, way[1])
        added = _append(task, pools[way].get(task.topic_id, []))
        if added and task.state == TaskState.SUBMITTED:
            reopen_for_more(task, _new_answers_text(task, added))
    for asking, own in by_asking(tasks):
        if asking.later:
            _reopen_unfinished(own, asking.later)


def _takes_more(task: Task) -> bool:
    return task.state != TaskState.SUBMITTED or asking_of(task.stage).reopens


def renew_assigning(nugget_set: NuggetSet, topic: Topic) -> None:
    """Reopen the assigning of a list of which a further version was submitted, where that has unjudged nuggets."""
    tasks = Task.objects.by_list().filter(nugget_set=nugget_set, topic=topic, study=None)
    _reopen_unfinished(_judging_tasks(tasks), "The list of nuggets has changed. Labels to give")


def leave_out_answers(answers: Collection[int]) -> None:
    """Take answers out of all tasks before they are deleted; the first copy of their text is judged from then on."""
    gone = TaskAnswer.objects.filter(answer__in=answers)
    bereft: dict[tuple[int, int | None], list[TaskAnswer]] = defaultdict(list)
    for answer in TaskAnswer.objects.filter(same_as__in=answers).exclude(answer__in=answers).order_by("position"):
        bereft[answer.task_id, answer.same_as_id].append(answer)
    for heir, *others in bereft.values():
        # The first of the remaining copies is shown from now on; the others take its labels.
        heir.same_as = None
        for other in others:
            other.same_as_id = heir.answer_id
        TaskAnswer.objects.bulk_update([heir, *others], ["same_as"])
    gone.delete()


def lock_judging(campaign: Campaign) -> list[Task]:
    """Lock the judging tasks of a campaign; an import does so before the campaign, in the order of a submission."""
    return _judging_tasks(Task.objects.judging().filter(campaign=campaign))


def _judging_tasks(tasks: TaskQuerySet[Task]) -> list[Task]:
    # A fixed order, or two imports that lock the same tasks could wait for each other.
    rows = tasks.not_withdrawn().order_by("pk")
    # The task's row alone: a locked topic or campaign would hold up every desk.
    return list(rows.select_for_update(of=("self",)).select_related("campaign", "topic", "protocol"))


def _append(task: Task, pool: Sequence[Pooled]) -> list[TaskAnswer]:
    there = list(TaskAnswer.objects.filter(task=task).order_by("position"))
    old = {answer.unit for answer in there}
    new = {pooled.public_id: pooled.pk for pooled in pool if pooled.pk not in old}
    # Later answers go to the end: an assessor's numbers must not shift while they judge.
    rows = shuffled_answers(task, new, start=there[-1].position + 1 if there else 0)
    # By the task's own protocol: a setting changed since must not change a running task.
    if rows and rows[0].answer_id and task.protocol.identical_once:
        _mark_identical(task, there, rows)
    return TaskAnswer.objects.bulk_create(rows, batch_size=ROWS_A_STATEMENT)


def shuffled_answers(task: Task, answers: Mapping[str, int], *, start: int = 0) -> list[TaskAnswer]:
    """Answers of a task, not stored, in its own order from place `start` on. `answers`: keys by public id."""
    column = f"{asking_of(task.stage).column}_id"
    return [
        TaskAnswer(task=task, position=place, **{column: answers[public_id]})
        for place, public_id in enumerate(shuffled(task.public_id, list(answers)), start)
    ]


def _mark_identical(task: Task, there: Sequence[TaskAnswer], rows: Sequence[TaskAnswer]) -> None:
    """Let each text that occurs again be judged at its first place only."""
    contents = _contents(
        [answer.unit for answer in [*there, *rows]], with_citations=asking_of(task.stage).with_citations
    )
    first: dict[tuple[object, ...], int] = {}
    for answer in there:
        # Only a judged copy may give others its labels, or a chain of copies would point at a row without labels.
        if answer.same_as_id is None:
            first.setdefault(contents[answer.unit], answer.unit)
    for answer in rows:
        original = first.setdefault(contents[answer.unit], answer.unit)
        answer.same_as_id = original if original != answer.unit else None


def _contents(answers: Sequence[int], *, with_citations: bool) -> dict[int, tuple[object, ...]]:
    """Return the text of an answer, sentence by sentence, where it matters with its citations in order."""
    cited: dict[int, list[tuple[int | None, str]]] = defaultdict(list)
    if with_citations:
        rows = Citation.objects.filter(sentence__answer__in=answers).order_by("sentence", "position")
        for sentence, segment, raw in rows.values_list("sentence", "segment", "raw"):
            cited[sentence].append((segment, "" if segment else raw))
    contents: dict[int, list[object]] = {pk: [] for pk in answers}
    texts = Sentence.objects.filter(answer__in=answers).order_by("answer", "index")
    for pk, answer, text in texts.values_list("pk", "answer", "text"):
        contents[answer].append((text, tuple(cited[pk])))
    return {pk: tuple(sentences) for pk, sentences in contents.items()}


def _new_answers_text(task: Task, added: Sequence[TaskAnswer]) -> str:
    new = sum(answer.same_as_id is None for answer in added)
    if new:
        return f"New {task.stage.reads}s to judge: {new}"
    return f"New answers with the very text of judged ones: {len(added)}. Submit again, so that they get those labels."


def _reopen_unfinished(tasks: Sequence[Task], text: str) -> None:
    submitted = [task for task in tasks if task.state == TaskState.SUBMITTED]
    missing = missing_labels(submitted)
    for task in submitted:
        if left := missing[task.pk]:
            reopen_for_more(task, f"{text}: {left}")


def judged_answers(tasks: Iterable[Task]) -> dict[int, list[int]]:
    rows = TaskAnswer.objects.filter(task__in=tasks, same_as=None).order_by().values_list("task", KEY)
    answers: dict[int, list[int]] = defaultdict(list)
    for task, answer in rows:
        answers[task].append(answer)
    return answers


def missing_labels(tasks: Sequence[Task]) -> dict[int, int]:
    """Count the labels that tasks ask for by now and that were not in their newest submission, by task.

    For tasks that come with their protocol and belong to no study, which keeps to what was drawn.
    """
    answers = judged_answers(tasks)
    asked: Units = {}
    submitted: Units = {}
    for asking, own in by_asking(tasks):
        asked |= asking.count(own, answers)
        submitted |= _submitted(asking.current(own), own, asking.answer)
    missing = {pair: count - submitted.get(pair, 0) for pair, count in asked.items()}
    return {task.pk: sum(max(0, missing[task.pk, answer]) for answer in answers[task.pk]) for task in tasks}


def _submitted(labels: QuerySet[Any], tasks: Sequence[Task], answer: str) -> Units:
    """Count labels by the task whose submission gave them."""
    task_of = dict(Submission.objects.filter(task__in=tasks).values_list("event", "task"))
    # Labels have no index on their event: the answers find the rows.
    judged = TaskAnswer.objects.filter(task__in=tasks, same_as=None).values_list(KEY)
    rows = labels.filter(event__in=list(task_of), **{f"{answer}__in": judged}).order_by()
    counted = rows.values_list("event", answer).annotate(Count("pk"))
    return {(task_of[event], answer_id): count for event, answer_id, count in counted}
