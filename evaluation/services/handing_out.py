"""Handing out work, and handing it on to somebody else."""

from dataclasses import dataclass, replace

from django.db import transaction

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign, Event, Judge, NuggetSet, Task, TaskAnswer
from evaluation.services.judges import judge_of
from evaluation.services.labelling import ensure_nugget_set
from evaluation.services.pooling import add_new_answers
from evaluation.services.study_tasks import make_study_task
from evaluation.services.task_acts import check_reason, lock_task, withdraw_task
from evaluation.services.work_plan import Order, Piece, Plan, Skipped, plan_hand_out, plan_reassignment
from evaluation.terms import Stage


@dataclass(frozen=True, slots=True)
class HandOutReceipt:
    """The tasks that were made, by public id, and the topics that were left out."""

    tasks: tuple[str, ...]
    skipped: tuple[Skipped, ...]


def hand_out(*, campaign: Campaign, order: Order, actor: User, expect: str = "") -> HandOutReceipt:
    """Hand out what `plan_hand_out` says; one event a task.

    `expect`: the key of the plan that was shown. Raises `Refused` when that has changed since, when nobody gets
    anything, and as `plan_hand_out` does; nothing has been written then.
    """
    with transaction.atomic():
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        plan = plan_hand_out(locked, order)
        if expect and expect != plan.key:
            raise Refused("changed", "Something changed since the preview, so nothing was handed out. Look again.")
        if not plan.given:
            why = "; ".join(f"{one.topic_id}: {one.reason}" for one in plan.skipped)
            raise Refused("nothing_to_hand_out", f"Nothing was handed out. {why}")
        made = [_make(locked, plan, piece, actor) for piece in plan.given]
        for task in made:
            note_task("task.handed_out", task, actor, hand_out_payload(task) | _reason(order))
        return HandOutReceipt(tuple(task.public_id for task in made), plan.skipped)


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
            new = _make(locked, plan, replace(plan.given[0], second_opinion=old.second_opinion), actor)
        note_task(
            "task.reassigned",
            old,
            actor,
            {"new": new.public_id, "reason": reason.strip(), **hand_out_payload(new)},
        )
        return new.public_id


def _make(campaign: Campaign, plan: Plan, piece: Piece, actor: User) -> Task:
    if piece.assessor is None:
        raise ValueError("a piece of work without an assessor")
    stage, ground = plan.order.stage, plan.ground
    judge = judge_of(piece.assessor)
    task = Task.objects.create(
        campaign=campaign,
        topic=piece.topic,
        assessor=piece.assessor,
        stage=stage,
        nugget_set=piece.nugget_set if stage.judges else _set_for(campaign, judge, stage, ground.draft_set),
        drafts_id=piece.drafts,
        qrels=ground.qrels,
        machine=ground.machine,
        protocol=campaign.protocol,
        second_opinion=piece.second_opinion,
        priority=plan.order.priority,
        due=plan.order.due,
        expected_minutes=piece.minutes,
    )
    if stage.judges:
        add_new_answers(task)
    return task


def _set_for(campaign: Campaign, judge: Judge, stage: Stage, draft_set: NuggetSet | None) -> NuggetSet:
    """Return the person's own nugget set for a stage, made at the first task."""
    nugget_set = ensure_nugget_set(campaign, judge, stage.origin)
    if (nugget_set.judge_id, nugget_set.origin) != (judge.pk, stage.origin):
        raise Refused("nugget_set_differs", f"There is a set {nugget_set} that is not {judge}'s.")
    if draft_set and nugget_set.drafts_id is None:
        nugget_set.drafts = draft_set
        nugget_set.save(update_fields=["drafts"])
    return nugget_set


def hand_out_payload(task: Task) -> dict[str, object]:
    """Return what the log says of a task that is handed out.

    The log can never be changed, so it names nobody: people, and sets that may bear a person's name, stand by key.
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
    if Stage(task.stage).judges:
        answers = TaskAnswer.objects.filter(task=task).count()
        study = {"study": task.study.name} if task.study else {}
        return (
            payload
            | study
            | {
                "nuggets": task.nugget_set_id,
                "machine": task.machine.name if task.machine else None,
                "answers": answers,
            }
        )
    return payload | {"drafts": task.drafts_id, "qrels": task.qrels.name if task.qrels else None}


def _reason(order: Order) -> dict[str, object]:
    return {"reason": order.reason.strip()} if order.reason.strip() else {}


def note_task(kind: str, task: Task, actor: User, details: dict[str, object]) -> None:
    """Record what was done with a task."""
    payload = {"task": task.public_id, **details}
    Event.objects.create(campaign=task.campaign, kind=kind, actor=actor, payload=payload)
