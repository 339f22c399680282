"""Handing out work, and handing it on to somebody else."""

from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass, replace
from datetime import date

from django.db import transaction

from accounts.models import User
from evaluation.errors import Refused
from evaluation.judges import judge_of
from evaluation.labelling import ensure_nugget_set
from evaluation.models import (
    Assignment,
    Campaign,
    Event,
    Judge,
    Judgment,
    NuggetSet,
    Study,
    StudyPair,
    SupportJudgment,
    Task,
    TaskAnswer,
    Topic,
)
from evaluation.rules.battles import in_tasks
from evaluation.rules.studies import check_independent
from evaluation.stages import stage_of_study
from evaluation.tasks.battles import add_battles
from evaluation.tasks.changes import (
    ChangeReceipt,
    UnchangedTask,
    check_reason,
    lock_task,
    refuse_if_nothing_changed,
    tasks_named,
    withdraw_task,
)
from evaluation.tasks.plan import Roster, WorkPlan, plan_hand_out, plan_reassignment, roster_of
from evaluation.tasks.pooling import add_new_answers, shuffled_answers
from evaluation.tasks.turning import reopen_for_more
from evaluation.tasks.units import Order, Skipped, TopicUnit
from evaluation.terms import DrawKind, Origin, TaskState
from web.statements import ROWS_A_STATEMENT
from web.text import trimmed


def make_study_task(study: Study, topic: Topic, username: str, *, due: date | None, priority: int) -> Task:
    """Make one topic's task for somebody independent. Inside a transaction. Raises `Refused` for anybody else."""
    roster = roster_of(study.campaign, [topic])
    person = roster.assessor(username)
    check_assessor(study, topic, person, roster, givers_of([topic]))
    pairs = StudyPair.objects.filter(study=study, topic=topic)
    stage = stage_of_study(study.kind)
    task = Task.objects.create(
        campaign=study.campaign,
        topic=topic,
        assessor=person,
        stage=stage,
        study=study,
        second_opinion=True,
        nugget_set=study.nugget_set,
        protocol=study.campaign.protocol,
        priority=priority,
        due=due,
        expected_minutes=stage.minutes(labels=pairs.count()),
    )
    judge_of(person)
    answers = dict(pairs.order_by().values_list("answer__public_id", "answer").distinct())
    # Answers of the very same text are judged each by itself: other nuggets were drawn of them.
    TaskAnswer.objects.bulk_create(shuffled_answers(task, answers), batch_size=ROWS_A_STATEMENT)
    return task


def check_assessor(
    study: Study, topic: Topic, person: User, roster: Roster, givers: Container[tuple[int, int]]
) -> None:
    check_independent(
        roster.candidate(person, topic.pk),
        gave_labels=(study.person is not None and study.person.user_id == person.pk)
        or (person.pk, topic.pk) in givers,
        made_nuggets=_made_nuggets(study, topic, person, roster),
    )


def _made_nuggets(study: Study, topic: Topic, person: User, roster: Roster) -> bool:
    # A random check asks what the usual assessor would say, and whoever made the list is that by the track's own rule.
    if study.draw == DrawKind.RANDOM or study.nugget_set is None:
        return False
    tasks = [task for task in roster.tasks.get(topic.pk, []) if not task.stage.judges]
    at_desk = any((task.assessor_id, task.nugget_set_id) == (person.pk, study.nugget_set_id) for task in tasks)
    return at_desk or study.nugget_set.judge.user_id == person.pk


def add_drawn_answers(study: Study) -> None:
    """Give the study's tasks the answers of pairs that were drawn since; a submitted task with new pairs is reopened.

    `lock_judging` comes before, and before the campaign is locked: that is the order of a submission.
    """
    tasks = Task.objects.filter(study=study).not_withdrawn().select_related("campaign", "topic").order_by("pk")
    for task in tasks:
        drawn = StudyPair.objects.filter(study=study, topic=task.topic).order_by()
        there = list(TaskAnswer.objects.filter(task=task).values_list("answer", flat=True))
        answers = dict(drawn.exclude(answer__in=there).values_list("answer__public_id", "answer").distinct())
        TaskAnswer.objects.bulk_create(
            shuffled_answers(task, answers, start=len(there)), batch_size=ROWS_A_STATEMENT
        )
        pairs, labels = drawn.count(), task.submissions.order_by("version").values_list("labels", flat=True).last()
        if task.state == TaskState.SUBMITTED and pairs > (labels or 0):
            reopen_for_more(task, f"New pairs to judge: {pairs - (labels or 0)}")


def givers_of(topics: Collection[Topic]) -> set[tuple[int, int]]:
    """Return whose labels of which topics are here, by key: also of those that were only imported."""
    assigned = Assignment.objects.filter(judge__user__isnull=False, answer__topic__in=topics).order_by()
    supported = SupportJudgment.objects.filter(judge__user__isnull=False, sentence__answer__topic__in=topics)
    judged = Judgment.objects.filter(judge__user__isnull=False, topic__in=topics).order_by()
    return {
        *judged.values_list("judge__user", "topic__pk").distinct(),
        *assigned.values_list("judge__user", "answer__topic__pk").distinct(),
        *supported.order_by().values_list("judge__user", "sentence__answer__topic__pk").distinct(),
    }


@dataclass(frozen=True, slots=True)
class HandOutReceipt:
    """The tasks that were made, by public id, and the topics that were left out."""

    tasks: tuple[str, ...]
    skipped: tuple[Skipped, ...]


def nothing_handed_out(skipped: Iterable[Skipped]) -> Refused:
    why = "; ".join(f"{topic.topic_id}: {topic.reason}" for topic in skipped)
    return Refused("nothing_to_hand_out", f"Nothing was handed out. {why}")


def hand_out(*, campaign: Campaign, order: Order, actor: User, expect: str = "") -> HandOutReceipt:
    """Carry out the plan of `plan_hand_out`; one event a task.

    `expect`: the key of the plan that was shown. Raises `Refused` when that has changed since, when nobody gets
    anything, and as `plan_hand_out` does; nothing has been written then.
    """
    with transaction.atomic():
        # Two organizers who hand out at once would both find the same topics free.
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        plan = plan_hand_out(locked, order)
        # Somebody else may have handed out since the preview; people must get what they saw or nothing.
        if expect and expect != plan.key:
            raise Refused("changed", "Something changed since the preview, so nothing was handed out. Look again.")
        if not plan.given:
            raise nothing_handed_out(plan.skipped)
        tasks = [
            _make(locked, plan, part)
            for piece in plan.given
            for part in _parts(piece, locked.protocol.battle_task)
        ]
        for task in tasks:
            reason = {"reason": trimmed(order.reason)} if trimmed(order.reason) else {}
            note_task("task.handed_out", task, actor, hand_out_payload(task) | reason)
        return HandOutReceipt(tuple(task.public_id for task in tasks), plan.skipped)


def reassign(*, campaign: Campaign, task: str, assessor: str, reason: str, actor: User) -> str:
    """Give a task's topic to somebody else as a new, empty task; return its public id.

    The old task is withdrawn with the reason; its work is kept and not counted. Raises `Refused`.
    """
    check_reason(reason)
    with transaction.atomic():
        # The task first, as where it is submitted: taken the other way round, the two would wait for each other.
        old = lock_task(campaign, task)
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if old.assessor.username == assessor:
            raise Refused("same_assessor", f"{old.assessor.name} has it already.")
        if old.study:
            withdraw_task(old)
            new = make_study_task(old.study, old.topic, assessor, due=old.due, priority=old.priority)
        else:
            plan = plan_reassignment(locked, old, assessor, reason)
            withdraw_task(old)
            new = _make(locked, plan, replace(plan.given[0], second_opinion=old.second_opinion))
        details = {"new": new.public_id, "reason": trimmed(reason), **hand_out_payload(new)}
        note_task("task.reassigned", old, actor, details)
        return new.public_id


def _parts(piece: TopicUnit, longest: int) -> list[TopicUnit]:
    """Return a topic's work as that of its tasks: battles are cut, all else is one task."""
    if not piece.battles:
        return [piece]
    minutes = piece.minutes / len(piece.battles)
    return [
        replace(piece, battles=tuple(part), minutes=round(minutes * len(part)))
        for part in in_tasks(piece.battles, longest)
    ]


def _make(campaign: Campaign, plan: WorkPlan, piece: TopicUnit) -> Task:
    if piece.assessor is None:
        raise ValueError("a piece of work without an assessor")
    stage, ground = plan.order.stage, plan.ground
    judge = judge_of(piece.assessor)
    task = Task.objects.create(
        campaign=campaign,
        topic=piece.topic,
        assessor=piece.assessor,
        stage=stage,
        nugget_set=_set_for(campaign, judge, stage.origin, ground.draft_set) if stage.origin else piece.nugget_set,
        drafts_id=piece.drafts,
        qrels=ground.qrels,
        judge=ground.judge,
        protocol=campaign.protocol,
        second_opinion=piece.second_opinion,
        priority=plan.order.priority,
        due=plan.order.due,
        expected_minutes=piece.minutes,
    )
    if stage.dealt:
        add_battles(task, piece.battles)
    elif stage.judges:
        add_new_answers(task)
    return task


def _set_for(campaign: Campaign, judge: Judge, origin: Origin, draft_set: NuggetSet | None) -> NuggetSet:
    """Return the person's own nugget set of an origin, made at the first task."""
    nugget_set = ensure_nugget_set(campaign, judge, origin)
    if (nugget_set.judge_id, nugget_set.origin) != (judge.pk, origin):
        raise Refused("nugget_set_differs", f"There is a set {nugget_set} that is not {judge}'s.")
    if draft_set and nugget_set.drafts_id is None:
        nugget_set.drafts = draft_set
        nugget_set.save(update_fields=["drafts"])
    return nugget_set


def hand_out_payload(task: Task) -> dict[str, object]:
    """Return the payload of the event of a task that is handed out.

    The log can never be changed, so it names nobody: people, and sets that may bear a person's name, are in it by key.
    """
    payload: dict[str, object] = {
        "topic": task.topic.topic_id,
        "stage": task.stage,
        "assessor": task.assessor_id,
        "due": task.due.isoformat() if task.due else None,
        "priority": task.priority,
    }
    if task.second_opinion:
        payload["second_opinion"] = True
    if task.stage.judges:
        answers = TaskAnswer.objects.filter(task=task).count()
        study = {"study": task.study.name} if task.study else {}
        llm = task.judge.name if task.judge else None
        return payload | study | {"nuggets": task.nugget_set_id, "judge": llm, "answers": answers}
    return payload | {"drafts": task.drafts_id, "qrels": task.qrels.name if task.qrels else None}


def note_task(kind: str, task: Task, actor: User, details: dict[str, object]) -> None:
    payload = {"task": task.public_id, **details}
    Event.objects.create(campaign=task.campaign, kind=kind, actor=actor, payload=payload)


def plan_reassigning(
    *, campaign: Campaign, tasks: Collection[str], assessor: str, reason: str, actor: User
) -> ChangeReceipt:
    """Return the tasks that would be handed on, and those that would not, with the reason; nothing is written."""
    with transaction.atomic():
        receipt = _reassigned(campaign, tasks, assessor, reason, actor)
        # The preview runs the real code and takes it back, so that it cannot promise anything else.
        transaction.set_rollback(True)
        return receipt


def reassign_many(
    *, campaign: Campaign, tasks: Collection[str], assessor: str, reason: str, actor: User
) -> ChangeReceipt:
    """Give each task that allows it to somebody else, each with its events. Raises `Refused` if none allows it."""
    with transaction.atomic():
        receipt = _reassigned(campaign, tasks, assessor, reason, actor)
        refuse_if_nothing_changed(receipt)
        return receipt


def _reassigned(
    campaign: Campaign, tasks: Collection[str], assessor: str, reason: str, actor: User
) -> ChangeReceipt:
    check_reason(reason)
    if not assessor:
        raise Refused("nobody", "Choose to whom the tasks are given.")
    changed, left = [], []
    # One task's refusal takes back that task alone: each has a savepoint below.
    for task in sorted(tasks_named(campaign, tasks), key=lambda task: task.pk):
        # Submitted labels count; taking them out of reports must be decided for each task alone.
        if task.state == TaskState.SUBMITTED:
            left.append(UnchangedTask.of(task, "This task is submitted: reopen or withdraw it by itself."))
            continue
        try:
            with transaction.atomic():
                reassign(campaign=campaign, task=task.public_id, assessor=assessor, reason=reason, actor=actor)
            changed.append(task.public_id)
        except Refused as refused:
            left.append(UnchangedTask.of(task, refused.message))
    return ChangeReceipt(tuple(changed), tuple(left))
