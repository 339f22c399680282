"""Snapshots: list, file, methods report, and opening as a campaign."""

from datetime import timedelta

from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_POST, require_safe

from accounts.http import UserRequest
from evaluation.models import Campaign
from evaluation.queries.work import may_organize
from exchange.exports.lines import CAMPAIGN
from exchange.models import Export, LoadedCampaign, Snapshot
from exchange.snapshots.archive import read_document
from exchange.snapshots.opening import openings, order_opening
from exchange.snapshots.service import content_of
from jobs.queue import live_workers
from organizer import getters, work_getters
from organizer.snapshot_acts import order_from
from organizer.snapshot_forms import SnapshotForm
from reports.methods_views import CONTENT_TYPES, MethodsForm

TOLD_FOR = timedelta(days=1)
"""Time for which the page shows a snapshot that could not be made."""


@require_safe
def snapshots(request: UserRequest, slug: str) -> HttpResponse:
    return _page(request, getters.get_campaign(request.user, slug), SnapshotForm())


@require_POST
def take_snapshot(request: UserRequest, slug: str) -> HttpResponse:
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    form = SnapshotForm(request.POST)
    if order_from(form, campaign, request.user) is None:
        return _page(request, campaign, form, status=422)
    return redirect("organizer:snapshots", slug)


@require_safe
def snapshot_file(request: UserRequest, slug: str, pk: int) -> FileResponse:
    """File of a snapshot; people's names only for organizers."""
    campaign, snapshot = _snapshot(request, slug, pk)
    if snapshot.names and not may_organize(request.user, campaign):
        raise PermissionDenied
    return FileResponse(content_of(snapshot), as_attachment=True, filename=f"{slug}-{snapshot.name}.zip")


@require_safe
def snapshot_methods(request: UserRequest, slug: str, pk: int, document: MethodsForm) -> HttpResponse:
    _, snapshot = _snapshot(request, slug, pk)
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
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    order_opening(_of(campaign, pk), request.user)
    return redirect("organizer:snapshots", slug)


def _snapshot(request: UserRequest, slug: str, pk: int) -> tuple[Campaign, Snapshot]:
    campaign = getters.get_campaign(request.user, slug)
    return campaign, _of(campaign, pk)


def _of(campaign: Campaign, pk: int) -> Snapshot:
    with getters.missing_is_404():
        return Snapshot.objects.select_related("campaign").get(campaign=campaign, pk=pk)


def _page(request: UserRequest, campaign: Campaign, form: SnapshotForm, status: int = 200) -> HttpResponse:
    rows = list(Snapshot.objects.filter(campaign=campaign).select_related("made_by"))
    opened = openings(rows, request.user)
    coming = Export.objects.filter(campaign=campaign, what=CAMPAIGN, snapshot=None).exclude(
        state=Export.State.DONE
    )
    waits = coming.filter(state=Export.State.WAITING).exists() or any(one.waits for one in opened.values())
    context = {
        "campaign": campaign,
        "form": form,
        "rows": [(row, opened[row.pk]) for row in rows],
        "coming": coming.filter(made_at__gt=now() - TOLD_FOR),
        "waits": waits,
        "no_worker": waits and not live_workers(),
        "origin": LoadedCampaign.objects.filter(campaign=campaign).first(),
        "may_organize": may_organize(request.user, campaign),
        "documents": list(MethodsForm),
    }
    return render(request, "organizer/snapshots.html", context, status=status)
