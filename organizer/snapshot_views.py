"""Snapshots: those there are, making one, its file, its methods report, and opening it as a campaign."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.http import UserRequest
from evaluation.models import Campaign
from evaluation.queries.work import may_organize
from exchange.models import LoadedCampaign, Snapshot
from exchange.snapshots.archive import read_document
from exchange.snapshots.service import content_of, open_snapshot
from organizer import getters, work_getters
from organizer.snapshot_acts import take_from
from organizer.snapshot_forms import SnapshotForm
from reports.methods_views import CONTENT_TYPES, MethodsForm


@require_safe
def snapshots(request: UserRequest, slug: str) -> HttpResponse:
    """The campaign's snapshots, the newest first, and where the campaign itself came from."""
    return _page(request, getters.get_campaign(request.user, slug), SnapshotForm())


@require_POST
def take_snapshot(request: UserRequest, slug: str) -> HttpResponse:
    """Keep the campaign as it is."""
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    form = SnapshotForm(request.POST)
    made = take_from(form, campaign, request.user)
    if made is None:
        return _page(request, campaign, form, status=422)
    messages.success(request, f"Snapshot {made.name} is kept. Nothing changes it any more.")
    return redirect("organizer:snapshots", slug)


@require_safe
def snapshot_file(request: UserRequest, slug: str, pk: int) -> FileResponse:
    """A snapshot's file; one with people's names for organizers only."""
    campaign, snapshot = _snapshot(request, slug, pk)
    if snapshot.names and not may_organize(request.user, campaign):
        raise PermissionDenied
    return FileResponse(content_of(snapshot), as_attachment=True, filename=f"{slug}-{snapshot.name}.zip")


@require_safe
def snapshot_methods(request: UserRequest, slug: str, pk: int, document: MethodsForm) -> HttpResponse:
    """The methods report that was written with a snapshot."""
    _, snapshot = _snapshot(request, slug, pk)
    with content_of(snapshot) as content:
        try:
            said = read_document(content, f"methods.{document}")
        except KeyError:
            raise Http404 from None
    response = HttpResponse(said, content_type=CONTENT_TYPES[document])
    response["Content-Disposition"] = f'attachment; filename="{slug}-{snapshot.name}-methods.{document}"'
    return response


@require_POST
def open_campaign(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Load a snapshot as a campaign of its own, so that every page can be drawn from it again."""
    campaign = work_getters.get_campaign_to_organize(request.user, slug)
    snapshot = _of(campaign, pk)
    came = open_snapshot(snapshot=snapshot, actor=request.user)
    messages.success(request, f"This is {campaign.name} as it was when {snapshot.name} was made.")
    return redirect("organizer:campaign", came.campaign.slug)


def _snapshot(request: UserRequest, slug: str, pk: int) -> tuple[Campaign, Snapshot]:
    campaign = getters.get_campaign(request.user, slug)
    return campaign, _of(campaign, pk)


def _of(campaign: Campaign, pk: int) -> Snapshot:
    with getters.missing_is_404():
        return Snapshot.objects.select_related("campaign").get(campaign=campaign, pk=pk)


def _page(request: UserRequest, campaign: Campaign, form: SnapshotForm, status: int = 200) -> HttpResponse:
    rows = Snapshot.objects.filter(campaign=campaign).select_related("made_by")
    context = {
        "campaign": campaign,
        "form": form,
        "rows": rows,
        "origin": LoadedCampaign.objects.filter(campaign=campaign).first(),
        "may_organize": may_organize(request.user, campaign),
        "documents": list(MethodsForm),
    }
    return render(request, "organizer/snapshots.html", context, status=status)
