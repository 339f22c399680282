"""Rows are the queue: the database holds each item, its holder and its lease.

A broker only wakes workers up: whatever it loses, the rows still have.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q


class Job(models.Model):
    """Work that somebody ordered: many items of one kind."""

    class State(models.TextChoices):
        RUNNING = "running"
        PAUSED = "paused"
        CANCELLED = "cancelled"
        DONE = "done"

    kind = models.CharField(max_length=40)
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=State.choices, default=State.RUNNING)
    waiting_for = models.TextField(blank=True, help_text="why nothing moves just now; empty while it does")
    waiting_since = models.DateTimeField(null=True, blank=True, help_text="since when it waits without a break")
    priority = models.SmallIntegerField(default=0, db_default=0, help_text="higher is done first")
    options = models.JSONField(default=dict, help_text="what its kind needs to know")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    made_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["running", "paused", "cancelled", "done"]), name="job_state"
            )
        ]

    def __str__(self) -> str:
        return f"{self.title} ({self.state})"

    @property
    def has_ended(self) -> bool:
        """Say whether nothing more will be done, unless somebody has what failed tried again."""
        return self.state in (Job.State.CANCELLED, Job.State.DONE)


class WorkItem(models.Model):
    """One outcome wanted. Held by a lease that its worker renews; a dead worker's items fall due again.

    `attempt` goes up with every claim. A result is written only while its attempt still holds the lease, so that a
    late twin changes nothing.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        LEASED = "leased"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="items")
    key = models.CharField(max_length=200, help_text="what it is about, once per job")
    kind = models.CharField(max_length=40)
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    attempt = models.PositiveIntegerField(default=0)
    holder = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True)
    reason = models.TextField(blank=True, help_text="why it failed")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "key"], name="work_item_once"),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "leased", "done", "failed", "cancelled"]), name="work_item_state"
            ),
            models.CheckConstraint(
                condition=~Q(state="leased") | Q(lease_until__isnull=False), name="work_item_lease"
            ),
        ]
        indexes = [
            models.Index(fields=["state", "lease_until"], name="work_item_due"),
            models.Index(fields=["job", "state"], name="work_item_progress"),
        ]

    def __str__(self) -> str:
        return f"{self.key} ({self.state})"


class Worker(models.Model):
    """A worker process that is alive, or was."""

    name = models.CharField(max_length=100, primary_key=True)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class Notice(models.Model):
    """End or pause of a job, for those who wait for it: noted once, and kept until somebody has read it.

    `since` is the moment of the event, so that however many workers see it, it is one row. `mail_after`: from when
    on a mail may be sent; empty where none is to be sent, or none any more.
    """

    class Kind(models.TextChoices):
        DONE = "done"
        PAUSED = "paused"
        STUCK = "stuck"

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    reason = models.TextField(blank=True, help_text="why it is paused or waits")
    since = models.DateTimeField()
    noted_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True)
    mail_after = models.DateTimeField(null=True)
    mailed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["job", "kind", "since"], name="notice_once"),
            models.CheckConstraint(condition=Q(kind__in=["done", "paused", "stuck"]), name="notice_kind"),
        ]
        indexes = [
            models.Index(fields=["mail_after"], name="notice_to_mail"),
            models.Index(fields=["read_at", "job"], name="notice_unread"),
        ]

    def __str__(self) -> str:
        return f"{self.job.title}: {self.kind}"

    @property
    def stands(self) -> bool:
        """Return whether the notice still holds and somebody has to act on it."""
        if self.kind == self.Kind.PAUSED:
            return self.job.state == Job.State.PAUSED
        return self.kind == self.Kind.STUCK and self.job.state == Job.State.RUNNING and bool(self.job.waiting_for)
