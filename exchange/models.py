"""Snapshots of campaigns, and which campaigns came from a file."""

from django.conf import settings
from django.db import models

from evaluation.models import Campaign


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
    made_at = models.DateTimeField(auto_now_add=True)

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
    content = models.CharField(max_length=64, help_text="checksum of the state that was loaded")
    revision = models.PositiveBigIntegerField()
    made_at = models.DateTimeField(help_text="of when the state is")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.SET_NULL, null=True, related_name="+")
    loaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    loaded_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.campaign} of {self.slug}"
