"""Deleting a campaign: nobody finds it any more. What was judged and paid stays in the database, as the logs do."""

from django.db import transaction
from django.utils.timezone import now

from accounts.models import Invitation, User
from evaluation.errors import Refused
from evaluation.models import Campaign, Event, Membership, Task
from evaluation.tasks.changes import Change
from evaluation.terms import TaskState
from exchange.fetching import fetches_of
from exchange.models import Export, ImportAttempt
from jobs import queue
from jobs.models import Job
from llmjobs.models import LlmJob
from web import audit_log

REASON = "The campaign was deleted."


def delete_campaign(*, campaign: Campaign, typed: str, actor: User | None) -> str:
    """Close a campaign for everybody, end its work and jobs, and free its short name; return what was done, in words.

    `typed`: its name or short name, as whoever deletes it wrote it. Raises `Refused` for another one.
    """
    if typed.strip() not in (campaign.slug, campaign.name):
        raise Refused("other_name", f"Nothing was deleted: type {campaign.slug} to delete this campaign.")
    with transaction.atomic():
        # Tasks before the campaign, as a submission locks them.
        tasks = list(Task.objects.select_for_update(of=("self",)).filter(campaign=campaign).not_withdrawn())
        locked = Campaign.objects.select_for_update().filter(pk=campaign.pk).first()
        if locked is None:
            raise Refused("deleted", "This campaign was deleted already.")
        # The line of the log is all that outlives the campaign on its pages: without it nothing is deleted.
        who = audit_log.actor_of(actor) if actor else audit_log.system_actor()
        audit_log.record("campaign.deleted", actor=who, campaign=locked.slug, about=locked.name)
        for task in tasks:
            _withdraw(task, actor)
        for job in _jobs(locked):
            queue.cancel(job)
        Membership.objects.filter(campaign=locked).delete()
        Invitation.objects.filter(campaign=locked).delete()
        payload = {"slug": locked.slug, "name": locked.name, "tasks": len(tasks)}
        Event.objects.create(campaign=locked, kind="campaign.deleted", actor=actor, payload=payload)
        Campaign.objects.filter(pk=locked.pk).update(
            deleted_at=now(), slug=f"{locked.slug[:40]}--deleted-{locked.pk}"
        )
    return f"Campaign {campaign.slug} is deleted."


def _withdraw(task: Task, actor: User | None) -> None:
    # An open desk learns from this event why it stops.
    payload = {"task": task.public_id, "before": task.state, "reason": REASON, "version": task.version}
    Event.objects.create(campaign_id=task.campaign_id, kind=Change.WITHDRAW.done, actor=actor, payload=payload)
    Task.objects.filter(pk=task.pk).update(state=TaskState.WITHDRAWN)


def _jobs(campaign: Campaign) -> list[Job]:
    keys = [
        *LlmJob.objects.filter(campaign=campaign).values_list("job", flat=True),
        *ImportAttempt.objects.filter(campaign=campaign, job__isnull=False).values_list("job", flat=True),
        *fetches_of(campaign).values_list("pk", flat=True),
        *Export.objects.filter(campaign=campaign, job__isnull=False).values_list("job", flat=True),
    ]
    return list(Job.objects.filter(pk__in=keys, state__in=(Job.State.RUNNING, Job.State.PAUSED)))
