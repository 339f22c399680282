"""The confusion page, the pairs behind a cell of it, and verdicts on them."""

from dataclasses import asdict
from typing import Any

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
from reports.confusion.page import ConfusionPage, confusion_page, side_label
from reports.confusion.paired_labels import ItemKind, confusion_document, confusion_rows
from reports.confusion.pairs import PairList, read_pairs
from reports.confusion.verdicts import Pair, adjudicate, find_pair, labels_of, verdicts_on
from reports.files import FileTable, PictureForm, TableForm, downloaded
from reports.forms import VerdictForm
from reports.quality.studies import StudyReport, agreement_rows, study_document, study_report
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


def confusion_table(page: ConfusionPage) -> FileTable:
    """Return the counts; as JSON with all figures. Raises ValueError for a page without a report."""
    if page.report is None or page.compared is None:
        raise ValueError(page.message)
    found = page.report.confusion
    rows = [
        row | {"total": total, "rate": rate}
        for row, total, rate in zip(
            confusion_rows(page.report), found.counts.sum(axis=1).tolist(), found.row_rates, strict=True
        )
    ]
    headings = {"rows": f"{page.report.rows} / {page.report.columns}"}
    headings |= {label: label.replace("_", " ").capitalize() for label in page.report.labels}
    total = {"rows": "total", "total": found.pairs}
    total |= dict(zip(page.report.labels, found.counts.sum(axis=0).tolist(), strict=True))
    return FileTable(
        rows=rows,
        columns=headings | {"total": "Total", "rate": "Rate"},
        document=_document(page),
        closing=[total],
        comment=_comment(page),
    )


def study_table(report: StudyReport) -> FileTable:
    headings = {"judge": "Judge", "with": "With", "pairs": "Pairs", "agreement": "Agreement"}
    headings |= {"kappa": "Kappa", "kappa_linear": "Linear-weighted kappa"}
    return FileTable(
        agreement_rows(report), headings, study_document(report), comment=f"Study {report.study.name}"
    )


def _document(page: ConfusionPage) -> dict[str, Any]:
    if page.report is None or page.compared is None:
        raise ValueError(page.message)
    return confusion_document(page.report) | {
        "sides": {"rows": side_label(page.compared.rows), "columns": side_label(page.compared.columns)},
        "filters": filters(page),
        "left_out": page.report.confusion.left_out,
        "verdicts": [asdict(category) for category in page.categories],
    }


def filters(page: ConfusionPage) -> dict[str, str]:
    return {
        name: page.form.chosen[name]
        for name in ("topic", "run", "tag", "importance", "made")
        if page.form.chosen[name]
    }


def _comment(page: ConfusionPage) -> str:
    if page.report is None:
        return ""
    found = page.report.confusion
    kappas = f"kappa {_figure(found.kappa)}, linear-weighted {_figure(found.kappa_linear)}"
    sides = "; ".join(f"{name.lower()}: {side}" for name, side in page.sides)
    return f"{sides}; {found.pairs} pairs, agreement {_figure(found.agreement)}, {kappas}; filters {filters(page)}"


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
