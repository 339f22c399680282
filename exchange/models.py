"""Snapshots of campaigns, and which campaigns came from a file."""

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils.timezone import now

from evaluation.models import Campaign, Event
from jobs.models import Job


class Snapshot(models.Model):
    """A campaign's state of one moment, as a file that nothing changes any more. The file is in `SnapshotPart`."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="+")
    name = models.SlugField(max_length=60)
    note = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64, help_text="of the file")
    size = models.PositiveBigIntegerField(help_text="of the file in bytes")
    manifest = models.JSONField(help_text="what the file says that it holds")
    texts = models.BooleanField(help_text="whether passages, answers and calls are in it")
    names = models.BooleanField(help_text="whether people stand in it by their names")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        ordering = ["-made_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="snapshot_once"),
            models.CheckConstraint(condition=~models.Q(name=""), name="snapshot_has_name"),
        ]

    def __str__(self) -> str:
        return self.name


class SnapshotPart(models.Model):
    """A piece of a snapshot's file: in the database, so that backups have it and every server can give it."""

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="parts", db_index=False)
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["snapshot", "number"], name="snapshot_part_once")]

    def __str__(self) -> str:
        return f"{self.snapshot} {self.number}"


class LoadedCampaign(models.Model):
    """A campaign that came from a file. Its own revision goes on from `revision` when something is changed in it."""

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, primary_key=True, related_name="+")
    slug = models.SlugField(max_length=60, help_text="of the campaign that the file was made of")
    # The checksum and the revision together say whether loading the file once more would change anything.
    content = models.CharField(max_length=64, help_text="checksum of the state that was loaded")
    revision = models.PositiveBigIntegerField()
    made_at = models.DateTimeField(help_text="of when the state is")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.SET_NULL, null=True, related_name="+")
    loaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    loaded_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.campaign} of {self.slug}"


REQUEST_ENDED = timedelta(minutes=2)
"""No request takes so long: the process of one that began earlier is gone."""


class Ordered(models.Model):
    """Order for a worker, with files that lie there for a while."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="+")
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, related_name="+")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        ordering = ["-pk"]


class ImportAttempt(Ordered):
    """Files that somebody gave to the wizard, with the outcome of trying them out and of loading them.

    The files lie in the private folder (`exchange.files`) until they are loaded, put aside or too old.
    """

    class State(models.TextChoices):
        CHECKING = "checking"
        CHECKED = "checked"
        REFUSED = "refused"
        LOADING = "loading"
        LOADED = "loaded"
        DISCARDED = "discarded"
        EXPIRED = "expired"

    kind = models.CharField(max_length=20)
    options = models.JSONField(default=dict, help_text="what was chosen beside the files")
    files = models.JSONField(help_text="name, size and sha256 of each file as it was sent")
    folder = models.CharField(max_length=60, help_text="where they lie; empty when they are gone")
    state = models.CharField(max_length=10, choices=State.choices, default=State.CHECKING)
    outcome = models.JSONField(
        default=dict, help_text="counts, first rows and first findings, or why it was refused"
    )
    problems = models.JSONField(default=list, help_text="file, line, field and what was expected, of each")
    event = models.ForeignKey(Event, on_delete=models.SET_NULL, null=True, related_name="+")
    loaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    expires_at = models.DateTimeField(help_text="when the files are taken away")
    begun_at = models.DateTimeField(default=now, help_text="when trying out or loading was begun last")

    class Meta(Ordered.Meta):
        indexes = [models.Index(fields=["expires_at"], name="attempt_expiry")]
        constraints = [
            # Spelled out, because `Meta` does not see the names of the class around it.
            models.CheckConstraint(
                condition=models.Q(
                    state__in=["checking", "checked", "refused", "loading", "loaded", "discarded", "expired"]
                ),
                name="attempt_state",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} ({self.state})"

    @property
    def is_open(self) -> bool:
        return self.state in (self.State.CHECKING, self.State.LOADING)

    @property
    def is_abandoned(self) -> bool:
        """Say whether the process that tried it out or loaded it is gone, and nobody else goes on with it.

        A worker's item falls due again by itself. A request's does not: none may take so long.
        """
        if self.job is not None:
            return self.is_open and self.job.has_ended
        return self.is_open and self.begun_at < now() - REQUEST_ENDED


class Export(Ordered):
    """A file that was asked for and is written in the background. A snapshot's own file lies with the snapshot."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DONE = "done"
        FAILED = "failed"
        EXPIRED = "expired"

    what = models.CharField(max_length=20)
    options = models.JSONField(default=dict, help_text="condition, set, judge and what else was asked for")
    texts = models.BooleanField(default=True, help_text="whether passages, answers and calls are in it")
    names = models.BooleanField(default=True, help_text="whether people stand in it by their names")
    snapshot = models.ForeignKey(
        Snapshot, on_delete=models.PROTECT, null=True, related_name="+", help_text="whose state it holds"
    )
    revision = models.PositiveBigIntegerField(null=True, help_text="of the campaign that it was read from")
    schema = models.JSONField(default=dict, help_text="newest migration of each room: the version of the data")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    reason = models.TextField(blank=True, help_text="why it failed")
    done = models.PositiveBigIntegerField(default=0, help_text="lines or tables that are written")
    total = models.PositiveBigIntegerField(null=True, help_text="of so many, where that is known")
    name = models.CharField(max_length=200, blank=True, help_text="of the file, for whoever downloads it")
    folder = models.CharField(max_length=60, blank=True, help_text="where it lies; empty where a snapshot has it")
    size = models.PositiveBigIntegerField(null=True)
    sha256 = models.CharField(max_length=64, blank=True)
    expires_at = models.DateTimeField(help_text="when the file is taken away")

    class Meta(Ordered.Meta):
        indexes = [models.Index(fields=["expires_at"], name="export_expiry")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["waiting", "done", "failed", "expired"]), name="export_state"
            )
        ]

    def __str__(self) -> str:
        return f"{self.what} ({self.state})"
