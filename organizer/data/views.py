"""Data in and out: the import wizard, its attempts, and exports that are written in the background."""

from typing import Any, Literal
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns import contents
from evaluation.campaigns.access import may_organize
from evaluation.campaigns.findings import findings_for, kinds_of_findings
from evaluation.errors import Refused, by_kind
from evaluation.models import Campaign
from exchange.exports.service import content, order_export
from exchange.imports.kinds import IMPORT_KINDS
from exchange.imports.service import begin, change_loaded, commit, discard, take_up
from exchange.imports.undo import taken_back, undo_import, undo_problem
from exchange.models import Export, ImportAttempt, Snapshot
from jobs.queue import live_workers
from organizer.access import get_campaign, or_404
from organizer.data.forms import EXPORT_KINDS, ExportForm, ImportForm, is_too_large, takes_large_files
from organizer.data.texts import missing_texts
from organizer.forms import errors_text, refusals_on
from organizer.navigation import page_in
from organizer.today.acts import next_step_of
from web.csv_response import csv_response

SHOWN = 30
PROBLEM_COLUMNS = ("file", "line", "field", "expected")


@require_safe
def data(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug)
    organizes = may_organize(request.user, campaign)
    ordered = Export.objects.filter(campaign=campaign).select_related("made_by", "snapshot")
    # With names only organizers may take one.
    exports = list((ordered if organizes else ordered.filter(names=False))[:SHOWN])
    waits = any(export.state == Export.State.WAITING for export in exports)
    context = {
        "campaign": campaign,
        "kinds": IMPORT_KINDS.values(),
        **_held(request.user, campaign),
        "attempts": ImportAttempt.objects.filter(campaign=campaign).select_related("made_by")[:SHOWN],
        "exports": exports,
        "import_words": {kind.key: kind.caption for kind in IMPORT_KINDS.values()},
        "export_words": {kind.value: words for kind, (words, _) in EXPORT_KINDS.items()},
        "waits": waits,
        "no_worker": waits and not live_workers(),
        "may_organize": organizes,
        **(missing_texts(campaign) if organizes else {}),
    }
    return render(request, "organizer/data.html", context)


@takes_large_files
@require_http_methods(["GET", "HEAD", "POST"])
def new_import(request: UserRequest, slug: str, kind: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    if kind not in IMPORT_KINDS:
        raise Http404
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = ImportForm(campaign, IMPORT_KINDS[kind], *sent)
    form.fields["replace"].initial = "replace" in request.GET
    if is_too_large(request):
        # None of the files has arrived, which the field would call a missing choice.
        form.errors.pop("files", None)
        most = settings.API_UPLOAD_MAX_BYTES // 1024**2
        form.add_error(None, f"At most {most} MB can be sent at once. Ask an administrator to load larger files.")
    elif form.is_valid():
        attempt = begin(campaign=campaign, kind=kind, options=form.chosen, sent=form.sent, actor=request.user)
        return redirect("organizer:import_attempt", slug, attempt.pk)
    context = {"campaign": campaign, "kind": IMPORT_KINDS[kind], "form": form}
    return render(request, "organizer/new_import.html", context, status=422 if form.errors else 200)


@require_safe
def import_attempt(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    attempt = _attempt(request, slug, pk)
    conflicts = [row for row in attempt.problems if len(row) > len(PROBLEM_COLUMNS)]
    context = {
        "campaign": attempt.campaign,
        "attempt": attempt,
        "kind": IMPORT_KINDS[attempt.kind],
        # Only a conflict's row has also what is loaded and what the file has: to replace it is the way out.
        "broken": by_kind(
            [row for row in attempt.problems if len(row) == len(PROBLEM_COLUMNS)], lambda row: (row[2], row[3])
        ),
        "conflicts": by_kind(conflicts, lambda row: (row[2], "")),
        "conflicting": len(conflicts),
        "also": [IMPORT_KINDS[kind] for kind in attempt.outcome.get("also", [])],
        "next": IMPORT_KINDS.get(contents.missing_after(request.user, attempt.campaign, attempt.kind)),
        "taken_back": taken_back(attempt.campaign).get(attempt.event_id or 0),
        "undo_problem": attempt.event and undo_problem(attempt.campaign, attempt.event),
        "next_step": attempt.event and next_step_of(request.user, attempt.campaign),
        # Small files are loaded while the page waits; only large ones wait for a worker.
        "no_worker": attempt.is_open and attempt.job is not None and not live_workers(),
    }
    return render(request, "organizer/import_attempt.html", context)


@require_safe
def import_problems(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    attempt = _attempt(request, slug, pk)
    rows = [(*PROBLEM_COLUMNS, "loaded", "in_file"), *attempt.problems]
    return csv_response(f"{slug}-{attempt.kind}-problems.csv", rows)


@require_POST
def carry_on_import(
    request: UserRequest, slug: str, pk: int, act: Literal["commit", "change", "take_up"]
) -> HttpResponse:
    attempt = _attempt(request, slug, pk)
    match act:
        case "commit":
            commit(attempt=attempt, actor=request.user)
        case "change":
            change_loaded(attempt=attempt, actor=request.user)
        case "take_up":
            take_up(attempt=attempt)
    return redirect("organizer:import_attempt", slug, pk)


@require_POST
def discard_import(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    attempt = _attempt(request, slug, pk)
    discard(attempt=attempt)
    messages.success(request, "Discarded. Nothing was loaded, and the files are gone.")
    return redirect("organizer:data", slug)


@require_POST
def take_import_back(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    attempt = _attempt(request, slug, pk)
    if attempt.event is None:
        raise Refused("not_loaded", "These files were not loaded, so there is nothing to take back.")
    messages.success(request, undo_import(campaign=attempt.campaign, event=attempt.event, actor=request.user))
    return redirect("organizer:import_attempt", slug, pk)


@require_http_methods(["GET", "HEAD", "POST"])
def new_export(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    # The page's own button sends nothing but the address of what is shown; programs send the fields.
    by_program = "what" in request.POST
    chosen = request.POST if by_program else request.GET
    form = ExportForm(request.user, campaign, chosen, proposes=not by_program)
    if request.method == "POST" and form.is_valid():
        # Another window may have taken the name of a snapshot since the form was checked.
        with refusals_on(form):
            order_export(campaign=campaign, order=form.order, actor=request.user)
            return redirect(f"{page_in(campaign, 'data')}#h-exports")
    context = {
        "campaign": campaign,
        "form": form,
        "address": urlencode({name: value for name, value in form.data.items() if name != "csrfmiddlewaretoken"}),
        **_foreseen(campaign, form),
    }
    return render(request, "organizer/export_new.html", context, status=422 if request.method == "POST" else 200)


def _foreseen(campaign: Campaign, form: ExportForm) -> dict[str, Any]:
    """Reason why nothing can be exported; else what will be, in words."""
    if form.errors:
        return {"reason": errors_text(form)}
    order, amount = form.order, form.amount
    exact = order.snapshot if order.is_whole else None
    earlier = Export.objects.filter(
        campaign=campaign, what=order.what, snapshot=None, options=order.options, size__isnull=False
    )
    sizes = Snapshot.objects.filter(campaign=campaign, texts=order.texts) if order.is_whole else earlier
    size = exact.size if exact else sizes.values_list("size", flat=True).first()
    return {"amount": amount, "size": size, "is_exact": exact, "order": order}


@require_safe
def export_file(request: UserRequest, slug: str, pk: int) -> FileResponse:
    campaign = get_campaign(request.user, slug)
    export = or_404(Export.objects.select_related("campaign", "snapshot").get, campaign=campaign, pk=pk)
    # Others get exports with pseudonyms only.
    if export.names and not may_organize(request.user, campaign):
        raise PermissionDenied
    return FileResponse(content(export), as_attachment=True, filename=export.name)


def _attempt(request: UserRequest, slug: str, pk: int) -> ImportAttempt:
    campaign = get_campaign(request.user, slug, may_organize)
    return or_404(ImportAttempt.objects.select_related("campaign", "made_by").get, campaign=campaign, pk=pk)


def _held(viewer: User, campaign: Campaign) -> dict[str, Any]:
    return {
        "holdings": contents.holdings_for(viewer, campaign),
        "sources": contents.sources_for(viewer, campaign),
        "sets": contents.nugget_sets_for(viewer, campaign),
        "labels": contents.assignment_counts_for(viewer, campaign),
        "support": contents.support_counts_for(viewer, campaign),
        "findings": kinds_of_findings(findings_for(viewer, campaign)),
    }
