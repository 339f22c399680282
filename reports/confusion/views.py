"""The pairs behind a cell of the confusion, verdicts on them, and the tables of studies of such pairs."""

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
from evaluation.studies import study_for
from reports.confusion.page import confusion_page
from reports.confusion.paired_labels import ItemKind
from reports.confusion.pairs import PairList, read_pairs
from reports.confusion.verdicts import Pair, adjudicate, find_pair, labels_of, verdicts_on
from reports.files import FileTable, TableForm, downloaded
from reports.forms import VerdictForm
from reports.quality.studies import StudyReport, agreement_rows, study_document, study_report
from reports.terms import category_text
from reports.views import get_campaign

PAIRS_A_PAGE = 20


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
    context = {"campaign": campaign, "page": page}
    if page.labels is not None:
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
    # The comparison of the query string is read again for the way to the pairs before and after.
    page = confusion_page(campaign, request.GET)
    listed = PairList(page, request.GET.get("cell", "")) if page.labels else None
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
    # 403 and not 404: whoever gets here sees the campaign, and only the verdict is not theirs to give.
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


def study_table(report: StudyReport) -> FileTable:
    headings = {"judge": "Judge", "with": "With", "pairs": "Pairs", "agreement": "Agreement"}
    headings |= {"kappa": "Kappa", "kappa_linear": "Linear-weighted kappa"}
    return FileTable(
        agreement_rows(report), headings, study_document(report), comment=f"Study {report.study.name}"
    )
