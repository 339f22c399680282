"""Answers of a judging task, in an order of its own, extended when more is imported.

The order is a shuffle seeded with the task, so that two assessors of a topic have different ones and one assessor
always the same. Answers that come later stand after the others. Called inside the transaction of whoever hands out
or imports.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Count

from evaluation.corpus.runs import pool_of
from evaluation.domain.counted_pairs import counted_citations
from evaluation.models import AnswerProvenance, Campaign, Citation, NuggetSet, Sentence, Task, TaskAnswer, Topic
from evaluation.models.querysets import TaskQuerySet
from evaluation.rules.text import shuffled
from evaluation.tasks.changes import reopen_for_more
from evaluation.tasks.label_counts import missing_labels
from evaluation.terms import Stage, TaskState

BATCH = 500
JUDGING = [stage for stage in Stage if stage.judges]


@dataclass(frozen=True, slots=True)
class PooledAnswer:
    """An answer that can be judged. `pairs`: of sentence and cited segment; 0 where nuggets are assigned."""

    pk: int
    public_id: str
    pairs: int = 0


def pooled_answers(
    campaign: Campaign, topics: Collection[int], stage: Stage, first: int | None
) -> dict[int, list[PooledAnswer]]:
    """Return the answers of the judging pool by topic, as far as there is something to judge in them.

    An answer without a word has its labels by rule. `first`: how many citations of a sentence are judged.
    """
    given = AnswerProvenance.objects.filter(run__campaign=campaign, run__run_id__in=pool_of(campaign))
    # An empty answer supports no nugget by rule, so nobody is asked about it.
    given = given.filter(topic__in=topics, answer__words__gt=0)
    pairs: dict[int, int] = {}
    if stage.condition:
        cited = counted_citations(first).filter(sentence__answer__in=given.values("answer"))
        pairs = dict(cited.values_list("sentence__answer").annotate(Count("pk")))
    found: dict[int, list[PooledAnswer]] = defaultdict(list)
    for topic, pk, public_id in given.order_by("pk").values_list("topic__pk", "answer", "answer__public_id"):
        if not stage.condition or pk in pairs:
            found[topic].append(PooledAnswer(pk, public_id, pairs.get(pk, 0)))
    return found


def add_new_answers(task: Task) -> list[TaskAnswer]:
    stage, first = Stage(task.stage), task.protocol.first_citations
    pool = pooled_answers(task.campaign, [task.topic_id], stage, first)
    return _append(task, pool[task.topic_id])


def extend_tasks(campaign: Campaign) -> None:
    """Give every judging task what has come since: answers of new runs, citations whose text was loaded.

    A submitted task that has something to judge now is reopened. An answer that left the pool stays where it is. A
    study's task keeps to what was drawn.
    """
    # A study compares two people on drawn pairs; more pairs later would change what it measures.
    tasks = [task for task in lock_judging(campaign) if task.study_id is None]
    pools: dict[tuple[bool, int | None], dict[int, list[PooledAnswer]]] = {}
    topics = {task.topic_id for task in tasks}
    for task in tasks:
        stage, first = Stage(task.stage), task.protocol.first_citations
        # Tasks of several protocols may be open at once, and each keeps the citation rule it was handed out with.
        way = (stage is Stage.ASSIGN, first)
        if way not in pools:
            pools[way] = pooled_answers(campaign, topics, stage, first)
        added = _append(task, pools[way].get(task.topic_id, []))
        if added and task.state == TaskState.SUBMITTED:
            reopen_for_more(task, _new_answers_text(added))
    _reopen_unfinished(
        [task for task in tasks if task.stage != Stage.ASSIGN], "Citations to judge whose text came later"
    )


def renew_assigning(nugget_set: NuggetSet, topic: Topic) -> None:
    """Reopen the assigning of a list of which a further version was submitted, where that has unjudged nuggets."""
    tasks = Task.objects.filter(nugget_set=nugget_set, topic=topic, stage=Stage.ASSIGN, study=None)
    _reopen_unfinished(_judging_tasks(tasks), "The list of nuggets has changed. Labels to give")


def leave_out_answers(answers: Collection[int]) -> None:
    """Take answers that are about to be deleted out of all tasks. Those with the same text stand for themselves."""
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
    return _judging_tasks(Task.objects.filter(campaign=campaign, stage__in=JUDGING))


def _judging_tasks(tasks: TaskQuerySet[Task]) -> list[Task]:
    # A fixed order, or two imports that lock the same tasks could wait for each other.
    rows = tasks.not_withdrawn().order_by("pk")
    return list(rows.select_for_update(of=("self",)).select_related("campaign", "topic", "protocol"))


def _append(task: Task, pool: Sequence[PooledAnswer]) -> list[TaskAnswer]:
    there = list(TaskAnswer.objects.filter(task=task).order_by("position"))
    known = {answer.answer_id for answer in there}
    new = {answer.public_id: answer.pk for answer in pool if answer.pk not in known}
    # Later answers go to the end: an assessor's numbers must not shift while they judge.
    position = there[-1].position + 1 if there else 0
    rows = [
        TaskAnswer(task=task, answer_id=new[public_id], position=place)
        for place, public_id in enumerate(shuffled(task.public_id, list(new)), start=position)
    ]
    # By the task's own protocol: a setting changed since must not change a running task.
    if rows and task.protocol.identical_once:
        _mark_identical(task, there, rows)
    return TaskAnswer.objects.bulk_create(rows, batch_size=BATCH)


def _mark_identical(task: Task, there: Sequence[TaskAnswer], rows: Sequence[TaskAnswer]) -> None:
    """Let each text that occurs again be judged at its first place only."""
    contents = _contents(
        [answer.answer_id for answer in [*there, *rows]], with_citations=task.stage != Stage.ASSIGN
    )
    first: dict[tuple[object, ...], int] = {}
    for answer in there:
        # Only a judged copy may stand for others, or a chain of copies would point at a row without labels.
        if answer.same_as_id is None:
            first.setdefault(contents[answer.answer_id], answer.answer_id)
    for answer in rows:
        shown = first.setdefault(contents[answer.answer_id], answer.answer_id)
        answer.same_as_id = shown if shown != answer.answer_id else None


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


def _new_answers_text(added: Sequence[TaskAnswer]) -> str:
    new = sum(answer.same_as_id is None for answer in added)
    if new:
        return f"New answers to judge: {new}"
    return f"New answers with the very text of judged ones: {len(added)}. Submit again, so that they get those labels."


def _reopen_unfinished(tasks: Sequence[Task], text: str) -> None:
    submitted = [task for task in tasks if task.state == TaskState.SUBMITTED]
    missing = missing_labels(submitted)
    for task in submitted:
        if left := missing[task.pk]:
            reopen_for_more(task, f"{text}: {left}")
