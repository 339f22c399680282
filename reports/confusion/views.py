"""The confusion page, the pairs behind a cell of it, and verdicts on them."""

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.http import UserRequest
from assessor.progress.matrix import may_organize
from evaluation.corpus.answers import provenance_for
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.studies import studies_for, study_for
from reports.charts import heat_map
from reports.confusion.documents import confusion_table, filters, study_table
from reports.confusion.forms import VerdictForm
from reports.confusion.page import confusion_page
from reports.confusion.paired_labels import ItemKind
from reports.confusion.pairs import PairList, read_pairs
from reports.confusion.verdicts import Pair, adjudicate, find_pair, labels_of, verdicts_on
from reports.files import PictureForm, TableForm, downloaded
from reports.quality.studies import study_report
from reports.terms import category_text
from reports.views import get_campaign, is_dark, or_404, picture_response

PAIRS_A_PAGE = 20


@require_safe
def confusion(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request, slug)
    page = confusion_page(campaign, request.GET)
    context = {
        "campaign": campaign,
        "page": page,
        "filters": filters(page) if page.report else {},
        "studies": studies_for(request.user, campaign),
        "forms": list(TableForm),
        "pictures": list(PictureForm),
    }
    return render(request, "reports/confusion.html", context)


@require_safe
def confusion_picture(request: UserRequest, slug: str, picture: PictureForm) -> HttpResponse:
    report = or_404(confusion_page(get_campaign(request, slug), request.GET).report)
    return picture_response(heat_map(report, dark=is_dark(request)), picture)


@require_safe
def confusion_file(request: UserRequest, slug: str, table: TableForm) -> HttpResponse:
    page = confusion_page(get_campaign(request, slug), request.GET)
    or_404(page.report)
    return downloaded(confusion_table(page), table, f"{slug}-confusion")


@require_safe
def study_file(request: UserRequest, slug: str, pk: int, table: TableForm) -> HttpResponse:
    campaign = get_campaign(request, slug)
    try:
        study = study_for(request.user, campaign, pk)
    except ObjectDoesNotExist:
        raise Http404 from None
    return downloaded(study_table(study_report(study)), table, f"{slug}-study-{pk}")


@require_safe
def pairs(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request, slug)
    page = confusion_page(campaign, request.GET)
    context = {"campaign": campaign, "page": page, "filters": filters(page) if page.report else {}}
    if page.report is not None:
        found = PairList(page, request.GET.get("cell", ""))
        shown = Paginator(found.places.tolist(), PAIRS_A_PAGE).get_page(request.GET.get("page"))
        context |= {
            "found": found,
            "shown": shown,
            "rows": read_pairs(found, list(shown.object_list), provenance_for(request.user, campaign)),
        }
    return render(request, "reports/pairs.html", context)


@require_safe
def pair(request: UserRequest, slug: str, kind: ItemKind, first: int, second: int) -> HttpResponse:
    """One pair: both texts, everybody's labels, and what was said of it; the query string says which list it is of."""
    campaign = get_campaign(request, slug)
    found = _pair(request, campaign, kind, (first, second))
    page = confusion_page(campaign, request.GET)
    listed = PairList(page, request.GET.get("cell", "")) if page.report else None
    number, before, after = listed.around(found.key) if listed else (0, None, None)
    context = {
        "campaign": campaign,
        "pair": found,
        "sentences": list(found.provenance.answer.sentences.all()),
        "labels": labels_of(found),
        "verdicts": [(verdict, category_text(verdict.category)) for verdict in verdicts_on(found)],
        "form": VerdictForm(),
        "may_organize": may_organize(request.user, campaign),
        "number": number,
        "total": len(listed.places) if listed else 0,
        "before": before,
        "after": after,
    }
    return render(request, "reports/pair.html", context)


@require_POST
def adjudicate_pair(request: UserRequest, slug: str, kind: ItemKind, first: int, second: int) -> HttpResponse:
    """Say what is right of a pair; it changes no label."""
    campaign = get_campaign(request, slug)
    if not may_organize(request.user, campaign):
        raise PermissionDenied
    found = _pair(request, campaign, kind, (first, second))
    form = VerdictForm(request.POST)
    if form.is_valid():
        try:
            made = adjudicate(found, actor=request.user, **form.cleaned_data)
            messages.success(request, "Noted. No label changes by it." if made else "You had said so already.")
        except Refused as refused:
            messages.error(request, refused.message)
    else:
        messages.error(request, "Choose a verdict first; nothing was written.")
    address = reverse(f"reports:{kind.value}_pair", args=[slug, first, second])
    query = request.GET.urlencode()
    return redirect(f"{address}?{query}" if query else address)


def _pair(request: UserRequest, campaign: Campaign, kind: ItemKind, key: tuple[int, int]) -> Pair:
    try:
        return find_pair(provenance_for(request.user, campaign), campaign, kind, key)
    except ObjectDoesNotExist:
        raise Http404 from None
