"""Snapshots: list, file, methods report, and opening as a campaign."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import zip_longest
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_POST, require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns.access import may_organize
from evaluation.models import Campaign, Protocol
from exchange.exports.lines import CAMPAIGN
from exchange.exports.service import ExportOrder, order_export
from exchange.models import Export, LoadedCampaign, Snapshot
from exchange.snapshots.archive import read_document
from exchange.snapshots.service import Opening, content_of, openings, order_opening
from jobs.queue import live_workers
from organizer.access import get_campaign, get_row
from organizer.forms import refusals_on
from reports.methods.document import CONTENT_TYPES, MethodsForm
from web.fields import TextField
from web.text import plural

COUNTED = {
    "evaluation.Topic": "topic",
    "evaluation.Run": "run",
    "evaluation.NuggetList": "nugget list",
    "evaluation.Assignment": "nugget label",
    "evaluation.SupportJudgment": "citation label",
    "evaluation.Verdict": "battle verdict",
    "evaluation.Submission": "submission",
}
"""Tables of a snapshot's file whose rows are told as changes, with a word for a row."""
NONE = {"rows": 0}
FAILED_SHOWN_FOR = timedelta(days=1)
"""Time for which the page shows a snapshot that could not be made."""


class SnapshotForm(forms.Form):
    name = forms.SlugField(max_length=60, label="Name", help_text="such as camera-ready")
    note = TextField(max_length=500, required=False, label="What it is for")
    without_texts = forms.BooleanField(required=False, label="Without passages, answers and calls")
    pseudonyms = forms.BooleanField(required=False, label="People by pseudonyms")

    @property
    def order(self) -> ExportOrder:
        data = self.cleaned_data
        texts, names = not data["without_texts"], not data["pseudonyms"]
        return ExportOrder(CAMPAIGN, name=data["name"], note=data["note"], texts=texts, names=names)


def lines_of(
    rows: Sequence[Snapshot], opened: Mapping[int, Opening]
) -> Iterator[tuple[Snapshot, Opening, int | None, str]]:
    """Yield each snapshot, its opening as a campaign, the protocol it was taken under, and what changed before it."""
    protocols = list(Protocol.objects.filter(campaign__in=[row.campaign_id for row in rows]).order_by("version"))
    for row, before in zip_longest(rows, rows[1:]):
        versions = [protocol.version for protocol in protocols if protocol.created_at <= row.made_at]
        changes = _changes(row.manifest, before.manifest) if before else "the first one"
        yield row, opened[row.pk], max(versions, default=None), changes


def _changes(after: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    if after["revision"] == before["revision"]:
        return "nothing"
    changes = []
    for name, word in COUNTED.items():
        count = after["tables"].get(name, NONE)["rows"] - before["tables"].get(name, NONE)["rows"]
        if count:
            changes.append(f"{count:+,} {plural(abs(count), word)}")
    return ", ".join(changes) or "settings or texts"


@require_safe
def snapshots(request: UserRequest, slug: str) -> HttpResponse:
    return _page(request, get_campaign(request.user, slug), SnapshotForm())


@require_POST
def take_snapshot(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    form = SnapshotForm(request.POST)
    if form.is_valid():
        with refusals_on(form):
            order_export(campaign=campaign, order=form.order, actor=request.user)
            return redirect("organizer:snapshots", slug)
    return _page(request, campaign, form)


@require_safe
def snapshot_file(request: UserRequest, slug: str, pk: int) -> FileResponse:
    campaign, snapshot = get_row(request.user, slug, _snapshot_of, pk)
    if snapshot.names and not may_organize(request.user, campaign):
        raise PermissionDenied
    return FileResponse(content_of(snapshot), as_attachment=True, filename=f"{slug}-{snapshot.name}.zip")


@require_safe
def snapshot_methods(request: UserRequest, slug: str, pk: int, document: MethodsForm) -> HttpResponse:
    _, snapshot = get_row(request.user, slug, _snapshot_of, pk)
    with content_of(snapshot) as content:
        try:
            text = read_document(content, f"methods.{document}")
        except KeyError:
            raise Http404 from None
    response = HttpResponse(text, content_type=CONTENT_TYPES[document])
    response["Content-Disposition"] = f'attachment; filename="{slug}-{snapshot.name}-methods.{document}"'
    return response


@require_POST
def open_campaign(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Load a snapshot as a campaign of its own, so that every page can be drawn from it."""
    _, snapshot = get_row(request.user, slug, _snapshot_of, pk, may_organize)
    order_opening(snapshot, request.user)
    return redirect("organizer:snapshots", slug)


def _snapshot_of(_viewer: User, campaign: Campaign, pk: int) -> Snapshot:
    return Snapshot.objects.select_related("campaign").get(campaign=campaign, pk=pk)


def _page(request: UserRequest, campaign: Campaign, form: SnapshotForm) -> HttpResponse:
    rows = list(Snapshot.objects.filter(campaign=campaign).select_related("made_by"))
    opened = openings(rows, request.user)
    ordered = Export.objects.filter(campaign=campaign, what=CAMPAIGN, snapshot=None)
    coming = ordered.exclude(state=Export.State.DONE)
    # While something is under way the page loads itself anew.
    waits = coming.filter(state=Export.State.WAITING).exists() or any(state.waits for state in opened.values())
    context = {
        "campaign": campaign,
        "form": form,
        "lines": list(lines_of(rows, opened)),
        "last": rows[0] if rows else None,
        "is_current": bool(rows) and rows[0].manifest["revision"] == campaign.revision,
        "coming": coming.filter(made_at__gt=now() - FAILED_SHOWN_FOR),
        "waits": waits,
        "no_worker": waits and not live_workers(),
        "origin": LoadedCampaign.objects.filter(campaign=campaign).first(),
        "may_organize": may_organize(request.user, campaign),
        "documents": list(MethodsForm),
    }
    return render(request, "organizer/snapshots.html", context, status=422 if form.errors else 200)
