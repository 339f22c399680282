"""Lanes that exchange offers to workers: loading and writing files, opening snapshots, deleting old ones."""

from django.utils.timezone import now

from exchange import background, files
from exchange.exports import service as exports
from exchange.imports import service as imports
from exchange.models import Export, ImportAttempt, Snapshot
from exchange.snapshots.service import open_snapshot
from jobs import lanes
from jobs.models import WorkItem


def offer() -> None:
    background.register_doing(background.IMPORT, carry_on_import)
    background.register_doing(background.EXPORT, carry_out_export)
    background.register_doing(background.OPENING, carry_out_opening)
    background.register_lane()
    lanes.register_watcher(sweep)


def carry_on_import(item: WorkItem) -> None:
    attempts = ImportAttempt.objects.select_related("campaign", "made_by")
    attempt = attempts.filter(pk=item.payload["about"]).first()
    if attempt:
        imports.carry_on(attempt)


def carry_out_export(item: WorkItem) -> None:
    ordered = Export.objects.select_related("campaign", "made_by", "snapshot")
    export = ordered.filter(pk=item.payload["about"]).first()
    if export:
        exports.carry_out(export)


def carry_out_opening(item: WorkItem) -> None:
    snapshot = Snapshot.objects.select_related("campaign").get(pk=item.payload["about"])
    if item.job.made_by is not None:
        open_snapshot(snapshot=snapshot, actor=item.job.made_by)


def sweep() -> None:
    # Snapshots are not among them: they have no end.
    state = ImportAttempt.State
    open_states = [state.CHECKING, state.CHECKED, state.LOADING, state.REFUSED]
    old = ImportAttempt.objects.filter(expires_at__lt=now(), state__in=open_states).exclude(folder="")
    for attempt in old:
        old.filter(pk=attempt.pk).update(state=state.EXPIRED, folder="", ended_at=now())
        files.remove(attempt.folder)
    written = Export.objects.filter(expires_at__lt=now(), state=Export.State.DONE).exclude(folder="")
    for export in written:
        Export.objects.filter(pk=export.pk).update(state=Export.State.EXPIRED, folder="")
        files.remove(export.folder)
