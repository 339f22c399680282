"""An export as a job: asked for, written to a file in the background, there for a while, with its checksum."""

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

from django.db import connection, transaction
from django.utils.timezone import now

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Campaign
from exchange import files
from exchange.background import EXPORT, UNEXPECTED, start_item
from exchange.exports.lines import CAMPAIGN, NAMELESS, lines_of
from exchange.exports.score_files import SCORE_FILES
from exchange.models import Export, Snapshot
from exchange.snapshots.pack import SnapshotContents, schema_of
from exchange.snapshots.service import check_new_name, content_of, open_snapshot, take_snapshot
from jobs.models import WorkItem
from web.consistent_read import consistent_read

KEPT_FOR = timedelta(days=14)
NOTE_EVERY = 1.0
"""Seconds between two looks at how far it is: no row is written for each line."""

ENDINGS = {CAMPAIGN: "zip", "qrels": "txt", "time": "csv"}

WITH_COLUMNS = SCORE_FILES.keys() - {"jsonl"}

State = Export.State


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """Order of an export. `snapshot`: of its state, instead of the campaign as it is now.

    `name`: of the new snapshot that an export of the whole campaign makes; `texts` concern that one only.
    """

    what: str
    options: dict[str, Any] = field(default_factory=dict)
    snapshot: Snapshot | None = None
    name: str = ""
    note: str = ""
    texts: bool = True
    names: bool = True

    @property
    def is_whole(self) -> bool:
        return self.what == CAMPAIGN

    @property
    def holds_names(self) -> bool:
        if self.is_whole and self.snapshot:
            return self.snapshot.names
        return self.names and self.what not in NAMELESS


def check_order(campaign: Campaign, order: ExportOrder) -> None:
    """Raise `Refused` where it is not clear what is meant, as far as that can be seen at once."""
    if order.snapshot is None and order.is_whole:
        check_new_name(campaign, order.name)
    elif order.snapshot is None:
        lines_of(order.what, campaign, order.options)


def order_export(*, campaign: Campaign, order: ExportOrder, actor: User | None) -> Export:
    """Queue an export. Raises `Refused` as `check_order` does."""
    check_order(campaign, order)
    with transaction.atomic():
        export = Export.objects.create(
            campaign=campaign,
            what=order.what,
            options=order.options | ({"name": order.name, "note": order.note} if order.is_whole else {}),
            texts=order.texts,
            names=order.holds_names,
            snapshot=order.snapshot,
            made_by=actor,
            expires_at=now() + KEPT_FOR,
        )
        export.job = start_item(EXPORT, export.pk, f"{order.what} of {campaign.slug}", actor)
        export.save(update_fields=["job"])
    return export


def carry_out_item(item: WorkItem) -> None:
    # After a worker's death its item falls due again, so this may run twice: it starts from nothing each time.
    ordered = Export.objects.select_related("campaign", "made_by", "snapshot")
    export = ordered.filter(pk=item.payload["about"], state=State.WAITING).first()
    if export is None:
        return
    try:
        _write_whole(export) if export.what == CAMPAIGN else _write_lines(export)
    except Refused as refusal:
        _fail(export, refusal.message)
        raise
    except Exception:
        _fail(export, UNEXPECTED)
        raise


def content(export: Export) -> IO[bytes]:
    """Return an export's file, open at its beginning. Raises `Refused` where it is gone."""
    if export.state != State.DONE:
        raise Refused("not_there", "This file is not there: it is not finished yet, or was taken away.")
    if export.what == CAMPAIGN and export.snapshot:
        return content_of(export.snapshot)
    return files.open_file(export.folder)


def _write_whole(export: Export) -> None:
    snapshot = export.snapshot
    if snapshot is None:
        snapshots = Snapshot.objects.filter(campaign=export.campaign, name=export.options["name"])
        # It is there when a worker died between making it and saying so.
        snapshot = snapshots.filter(made_at__gte=export.made_at).first() or _take(export)
    export.names, export.texts = snapshot.names, snapshot.texts
    export.snapshot, export.revision = snapshot, snapshot.manifest["revision"]
    export.schema = snapshot.manifest["migrations"]
    export.name, export.size, export.sha256 = _file_name(export), snapshot.size, snapshot.sha256
    _end(export)


def _take(export: Export) -> Snapshot:
    options = export.options
    with ExportProgress(export) as progress:
        return take_snapshot(
            campaign=export.campaign,
            name=options["name"],
            note=options.get("note", ""),
            contents=SnapshotContents(export.texts, export.names),
            actor=export.made_by,
            tell=progress.tell,
        )


def _write_lines(export: Export) -> None:
    campaign = _campaign_of(export)
    export.folder, folder = files.new_folder()
    path = folder / "0"
    try:
        with consistent_read(), ExportProgress(export) as progress:
            export.revision = campaign.revision
            lines = lines_of(export.what, campaign, export.options | {"pseudonyms": not export.names})
            export.done = _write(path, lines, progress)
    except BaseException:
        files.remove(export.folder)
        raise
    export.name, export.schema = _file_name(export), schema_of()
    export.size, export.sha256 = path.stat().st_size, files.digest_of(path)
    _end(export)


def _campaign_of(export: Export) -> Campaign:
    # An export of a snapshot reads it as a campaign, so it has to be open.
    if export.snapshot is None:
        return export.campaign
    if export.made_by is None:
        raise Refused("nobody", "Nobody asked for this, so nobody can be let into the opened snapshot.")
    return open_snapshot(snapshot=export.snapshot, actor=export.made_by).campaign


def _write(path: Path, lines: Iterable[str], progress: "ExportProgress") -> int:
    count = 0
    with path.open("x", encoding="utf-8", newline="\n") as out:
        path.chmod(0o600)
        for line in lines:
            out.write(f"{line}\n")
            count += 1
            progress.tell(count, None)
    return count


def _file_name(export: Export) -> str:
    of = f"-{export.snapshot.name}" if export.snapshot else ""
    condition = str(export.options.get("condition", "")).replace("/", "")
    parts = [export.campaign.slug + of, "" if export.what == CAMPAIGN else export.what, condition]
    ending = "txt" if export.options.get("form") in WITH_COLUMNS else ENDINGS.get(export.what, "jsonl")
    return f"{'-'.join(filter(None, parts))}.{ending}"


def _end(export: Export) -> None:
    export.state, export.ended_at = State.DONE, now()
    export.save()


def _fail(export: Export, reason: str) -> None:
    Export.objects.filter(pk=export.pk).update(state=State.FAILED, reason=reason, ended_at=now(), folder="")


class ExportProgress:
    """Notes how far an export is, about once a second.

    An export reads one state of the database, which on PostgreSQL is a transaction that cannot write. So a thread
    with a connection of its own writes the row.
    """

    def __init__(self, export: Export) -> None:
        self.export = export
        # Inside somebody else's transaction, which the other connection could not see and might wait for.
        self.own = connection.in_atomic_block and not _reads_only()
        self.noted_at = time.monotonic()

    def __enter__(self) -> "ExportProgress":
        self.thread = ThreadPoolExecutor(1)
        return self

    def __exit__(self, *_error: object) -> None:
        self.thread.submit(_hang_up).result()
        self.thread.shutdown()

    def tell(self, done: int, of: int | None) -> None:
        if time.monotonic() - self.noted_at < NOTE_EVERY:
            return
        self.noted_at = time.monotonic()
        if self.own:
            self._note(done, of)
        else:
            # Waiting for it leaves at most one write open, and an error of it ends the export.
            self.thread.submit(self._note, done, of).result()

    def _note(self, done: int, of: int | None) -> None:
        Export.objects.filter(pk=self.export.pk).update(done=done, total=of)


def _hang_up() -> None:
    # A thread of its own has a connection of its own, which nobody else would close.
    connection.close()


def _reads_only() -> bool:
    # `consistent_read` makes the transaction read-only on PostgreSQL; SQLite has nothing of the kind.
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        return bool(cursor.fetchone()[0] == "on")
