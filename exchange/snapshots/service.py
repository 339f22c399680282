"""Snapshots, and campaigns in and out."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

from django.db import transaction
from django.utils.dateparse import parse_datetime
from django.utils.timezone import now

from accounts.models import User
from evaluation.campaigns.access import may_see, unblinded
from evaluation.campaigns.people import copies_problem
from evaluation.errors import Refused
from evaluation.models import Campaign, Event, Membership
from evaluation.terms import Role
from exchange.background import OPENING, start_item
from exchange.files import digest_of, whole_file
from exchange.models import LoadedCampaign, Snapshot, SnapshotPart
from exchange.snapshots.archive import PIECE, Archive, SnapshotManifest, opened
from exchange.snapshots.load import Loaded, Target, keep_blind, load
from exchange.snapshots.pack import SnapshotContents, Tell, pack
from jobs.models import WorkItem
from reports.methods.report import methods_documents

SHORT_NAME = re.compile(r"[a-zA-Z0-9][-a-zA-Z0-9_]{0,59}")


def write_campaign(
    path: Path, campaign: Campaign, contents: SnapshotContents, tell: Tell | None = None
) -> SnapshotManifest:
    """Write a campaign's state and its methods report into a file, which appears under its name when it is whole.

    Raises `Refused` where it cannot be written.
    """
    with whole_file(path) as part:
        return pack(part, campaign, contents, methods_documents(campaign), tell)


def take_snapshot(
    *,
    campaign: Campaign,
    name: str,
    contents: SnapshotContents,
    note: str = "",
    actor: User | None = None,
    tell: Tell | None = None,
) -> Snapshot:
    """Keep a campaign's state under a name. Raises `Refused` where the name is no short name, or is taken."""
    check_new_name(campaign, name)
    with TemporaryDirectory(prefix="assay-snapshot-") as folder:
        path = Path(folder) / "campaign.zip"
        manifest = write_campaign(path, campaign, contents, tell)
        with transaction.atomic():
            return keep(path, manifest, Snapshot(campaign=campaign, name=name, note=note, made_by=actor))


def check_new_name(campaign: Campaign, name: str) -> None:
    """Raise `Refused` where a snapshot cannot have that name."""
    _check_short("name", name)
    if Snapshot.objects.filter(campaign=campaign, name=name).exists():
        raise Refused(
            "is_there", f"There is a snapshot {name} of {campaign.slug} already; it is never written over."
        )


def _check_short(what: str, name: str) -> None:
    if not SHORT_NAME.fullmatch(name):
        raise Refused("bad_name", f"{what}: 1 to 60 letters, digits, hyphens and underscores, found {name!r}.")


def keep(path: Path, manifest: SnapshotManifest, snapshot: Snapshot) -> Snapshot:
    snapshot.size, snapshot.manifest = path.stat().st_size, manifest.model_dump(mode="json")
    snapshot.texts, snapshot.names = manifest.texts, manifest.people == "names"
    snapshot.sha256 = digest_of(path)
    snapshot.save()
    with path.open("rb") as content:
        for number, data in enumerate(iter(lambda: content.read(PIECE), b"")):
            SnapshotPart.objects.create(snapshot=snapshot, number=number, data=data)
    return snapshot


def pieces(snapshot: Snapshot) -> Iterator[bytes]:
    parts = SnapshotPart.objects.filter(snapshot=snapshot).order_by("number")
    for data in parts.values_list("data", flat=True).iterator(chunk_size=1):
        yield bytes(data)


def write_snapshot(snapshot: Snapshot, out: IO[bytes]) -> None:
    """Write a snapshot's file. Raises `Refused` where it is not the one that was made."""
    digest = hashlib.sha256()
    for data in pieces(snapshot):
        digest.update(data)
        out.write(data)
    if digest.hexdigest() != snapshot.sha256:
        raise Refused("damaged", f"The file of the snapshot {snapshot.name} is not the one that was made.")


def content_of(snapshot: Snapshot) -> IO[bytes]:
    """Return a snapshot's whole file, open at its beginning. Raises `Refused` where it is not the one that was made."""
    file: IO[bytes] = TemporaryFile()  # noqa: SIM115  # whoever reads it closes it
    try:
        write_snapshot(snapshot, file)
    except Refused:
        file.close()
        raise
    file.seek(0)
    return file


@dataclass(frozen=True, slots=True)
class LoadResult:
    """Campaign that a file was loaded as, or that was there in this state; roles that were not given."""

    campaign: Campaign
    loaded: Loaded | None
    not_given: tuple[Membership, ...] = ()


def load_campaign(
    path: Path,
    *,
    slug: str = "",
    members: frozenset[Role] = frozenset(),
    snapshot: Snapshot | None = None,
    actor: User | None = None,
) -> LoadResult:
    """Load what `write_campaign` wrote, all or nothing; what is there already changes nothing.

    `slug`: under another short name. `members`: the roles that its people get back. Raises `Refused`, `BadInput` with
    the places where rows are wrong.
    """
    with opened(path) as archive:
        manifest = archive.manifest
        if slug:
            _check_short("slug", slug)
        # A snapshot's campaign lies beside the one that it is of, so its name says of which state it is.
        name = f"{manifest.name} ({snapshot.name})"[:200] if snapshot else manifest.name
        target = Target(slug or manifest.slug, name, members)
        # Without a transaction: on SQLite it would keep everybody from saving while the states are compared.
        if there := Campaign.objects.filter(slug=target.slug).first():
            _check_same(archive, there)
            return LoadResult(there, None)
        with transaction.atomic():
            loaded = load(archive, target)
            not_given = keep_blind(loaded.campaign)
            _note(manifest, loaded, snapshot, actor)
            if snapshot:
                _let_in(loaded.campaign, snapshot.campaign)
    return LoadResult(loaded.campaign, loaded, not_given)


def _check_same(archive: Archive, there: Campaign) -> None:
    content = archive.manifest.content
    loaded = LoadedCampaign.objects.filter(campaign=there).first()
    if loaded and loaded.content == content:
        if loaded.revision != there.revision:
            raise Refused(
                "changed_since",
                f"Campaign {there.slug} came from this state and was changed since; another short name loads it "
                "beside.",
                field="slug",
            )
        return
    contents = SnapshotContents(archive.manifest.texts, archive.manifest.people == "names")
    with TemporaryDirectory(prefix="assay-compare-") as folder:
        if pack(Path(folder) / "now.zip", there, contents).content != content:
            raise Refused(
                "campaign_there",
                f"There is a campaign {there.slug} already, in another state than the file's; another short name "
                "loads it beside.",
                field="slug",
            )


def _note(manifest: SnapshotManifest, loaded: Loaded, snapshot: Snapshot | None, actor: User | None) -> None:
    # The campaign's own log stays as the file had it, so the event belongs to no campaign.
    campaign = loaded.campaign
    LoadedCampaign.objects.create(
        campaign=campaign,
        slug=manifest.slug,
        content=manifest.content,
        revision=campaign.revision,
        made_at=parse_datetime(manifest.made_at) or now(),
        snapshot=snapshot,
        loaded_by=actor,
    )
    payload = {"campaign": campaign.slug, "of": manifest.slug, "content": manifest.content, "rows": loaded.rows}
    Event.objects.create(kind="campaign.loaded", actor=actor, payload=payload)


def open_snapshot(*, snapshot: Snapshot, actor: User) -> LoadResult:
    """Load a snapshot beside the campaign that it is of, for those who may see that one unblinded now.

    Roles that people had when it was made do not count: whoever judges since then must not see it.
    Raises `Refused` where the file is damaged, or a campaign of that short name is there in another state.
    """
    with TemporaryDirectory(prefix="assay-snapshot-") as folder:
        path = Path(folder) / f"{snapshot.name}.zip"
        with path.open("wb") as out:
            write_snapshot(snapshot, out)
        return load_campaign(path, slug=opened_slug(snapshot), snapshot=snapshot, actor=actor)


def _let_in(campaign: Campaign, origin: Campaign) -> None:
    # Whoever judges in a copy must not see this one unblinded.
    for membership in Membership.objects.filter(campaign=origin).select_related("user"):
        if may_see(membership.user, origin) and not copies_problem(
            campaign, membership.user, Role(membership.role)
        ):
            Membership.objects.create(campaign=campaign, user=membership.user, role=membership.role)


def opened_slug(snapshot: Snapshot) -> str:
    return f"{snapshot.campaign.slug[:28]}--{snapshot.name[:30]}"


@dataclass(frozen=True, slots=True)
class Opening:
    """State of a snapshot's opening: under way, failed for a reason, or there as a campaign."""

    waits: bool = False
    failed: str = ""
    campaign: Campaign | None = None


def order_opening(snapshot: Snapshot, actor: User) -> None:
    """Have a snapshot opened for somebody, unless that is under way."""
    if not openings([snapshot], actor)[snapshot.pk].waits:
        with transaction.atomic():
            start_item(OPENING, snapshot.pk, f"opening {snapshot.name}", actor)


def open_for_item(item: WorkItem) -> None:
    snapshot = Snapshot.objects.select_related("campaign").get(pk=item.payload["about"])
    if item.job.made_by is not None:
        open_snapshot(snapshot=snapshot, actor=item.job.made_by)


def openings(snapshots: Iterable[Snapshot], viewer: User) -> dict[int, Opening]:
    """Progress of each snapshot's opening, by key. Campaigns that the viewer may not see are left out."""
    keys = [snapshot.pk for snapshot in snapshots]
    there = LoadedCampaign.objects.filter(snapshot__in=keys, campaign__in=unblinded(viewer))
    opened = {loaded.snapshot_id: loaded.campaign for loaded in there.select_related("campaign")}
    items = WorkItem.objects.filter(kind=OPENING, payload__about__in=keys).order_by("pk")
    last = {item.payload["about"]: item for item in items}
    return {key: _opening(last.get(key), opened.get(key)) for key in keys}


def _opening(item: WorkItem | None, campaign: Campaign | None) -> Opening:
    if item is None:
        return Opening(campaign=campaign)
    waits = item.state in (WorkItem.State.QUEUED, WorkItem.State.LEASED)
    return Opening(waits, item.reason if item.state == WorkItem.State.FAILED else "", campaign)
