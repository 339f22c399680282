"""What workers are offered of this room: loading and writing files, and taking away what is too old."""

from django.utils.timezone import now

from exchange import background, files
from exchange.exports import service as exports
from exchange.imports import service as imports
from exchange.models import Export, ImportAttempt
from jobs import registry


def offer() -> None:
    """Have every worker do it."""
    background.offer(background.IMPORT, carry_on_import)
    background.offer(background.EXPORT, carry_out_export)
    background.register()
    registry.register_watcher(sweep)


def carry_on_import(pk: int) -> None:
    """Check or load the files of an attempt; one that is gone needs nothing."""
    attempt = ImportAttempt.objects.select_related("campaign", "made_by").filter(pk=pk).first()
    if attempt:
        imports.carry_on(attempt)


def carry_out_export(pk: int) -> None:
    """Write an export; one that is gone needs nothing."""
    export = Export.objects.select_related("campaign", "made_by", "snapshot").filter(pk=pk).first()
    if export:
        exports.carry_out(export)


def sweep() -> None:
    """Take away files whose time is over. Snapshots are not among them."""
    state = ImportAttempt.State
    old = ImportAttempt.objects.filter(
        expires_at__lt=now(), state__in=[state.CHECKING, state.CHECKED, state.LOADING]
    )
    for attempt in old:
        old.filter(pk=attempt.pk).update(state=state.EXPIRED, folder="", ended_at=now())
        files.remove(attempt.folder)
    written = Export.objects.filter(expires_at__lt=now(), state=Export.State.DONE).exclude(folder="")
    for export in written:
        Export.objects.filter(pk=export.pk).update(state=Export.State.EXPIRED, folder="")
        files.remove(export.folder)
