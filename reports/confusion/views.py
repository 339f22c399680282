"""The pairs behind a cell of the confusion, one after the other, verdicts on them, and tables of second looks."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.desk_settings import desk_settings_of
from accounts.http import UserRequest
from evaluation.campaigns.access import may_organize
from evaluation.corpus.answers import provenance_for
from evaluation.errors import Refused
from evaluation.models import Campaign, Study
from evaluation.studies import study_for
from evaluation.terms import DrawKind
from reports.confusion.page import confusion_page
from reports.confusion.paired_labels import ItemKind, Key
from reports.confusion.pairs import PairList, judge_of, read_pairs
from reports.confusion.verdicts import Pair, adjudicate, find_pair, key_of, labels_of, take_back, verdicts_on
from reports.files import FileTable, TableForm, downloaded
from reports.models import BOTH, UNDECIDED
from reports.quality.studies import StudyReport, agreement_rows, study_document, study_report
from reports.random_checks.corrected import corrected_report, primary_score
from reports.random_checks.documents import corrected_document, corrected_rows
from reports.random_checks.population import default_policies
from reports.random_checks.state import random_check_state
from reports.terms import ErrorCategory, category_text
from reports.views import get_campaign
from web.fields import TextField

PAIRS_A_PAGE = 20
IN_QUEUE = "cell"
"""The parameter by which a pair is one of a list to be judged one after the other."""


class VerdictForm(forms.Form):
    """A label of the pair, or that both are defensible, or that it cannot be decided."""

    verdict = forms.TypedChoiceField(label="Verdict", coerce=int, widget=forms.RadioSelect)
    category = forms.ChoiceField(
        required=False, label="Why they differ", choices=[("", "not said"), *ErrorCategory.choices]
    )
    note = TextField(label="Note", required=False, max_length=4000, widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, pair: Pair, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        codes = [*(int(label.code) for label in pair.labels.ascending), BOTH, UNDECIDED]
        self.fields["verdict"].choices = [(code, code) for code in codes]  # type: ignore[attr-defined]


@require_safe
def study_file(request: UserRequest, slug: str, pk: int, table: TableForm) -> HttpResponse:
    campaign = get_campaign(request, slug)
    try:
        study = study_for(request.user, campaign, pk)
    except ObjectDoesNotExist:
        raise Http404 from None
    if study.draw == DrawKind.RANDOM:
        rows = check_table(study, complete_only=not may_organize(request.user, campaign))
    else:
        rows = study_table(study_report(study))
    return downloaded(rows, table, f"{slug}-study-{pk}")


@require_safe
def pairs(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request, slug)
    page = confusion_page(campaign, request.GET)
    context = {"campaign": campaign, "page": page}
    if page.labels is not None:
        pair_list = PairList(page, request.GET.get("cell", ""))
        pairs_page = Paginator(pair_list.places.tolist(), PAIRS_A_PAGE).get_page(request.GET.get("page"))
        context |= {
            "pair_list": pair_list,
            "pairs_page": pairs_page,
            "rows": read_pairs(pair_list, list(pairs_page.object_list), provenance_for(request.user, campaign)),
        }
    return render(request, "reports/pairs.html", context)


@require_safe
def pair(request: UserRequest, slug: str, kind: ItemKind, first: int, second: int) -> HttpResponse:
    """One pair: both texts, everybody's labels, and what was said of it; the query string says which list it is of."""
    campaign = get_campaign(request, slug)
    this_pair = _pair(request, campaign, kind, (first, second))
    # The comparison of the query string is read again for the way to the pairs before and after.
    page = confusion_page(campaign, request.GET)
    listed = PairList(page, request.GET.get("cell", "")) if page.labels else None
    number, before, after = listed.around(this_pair.key) if listed else (0, None, None)
    verdicts = verdicts_on(this_pair)
    newest = verdicts[0] if verdicts else None
    context = {
        "campaign": campaign,
        "pair": this_pair,
        "sentences": list(this_pair.provenance.answer.sentences.all()),
        "labels": labels_of(this_pair),
        "verdicts": [(verdict, category_text(verdict.category)) for verdict in verdicts],
        "newest": newest,
        "form": VerdictForm(
            this_pair, initial={"category": newest.category, "note": newest.note} if newest else None
        ),
        "queue": _queue(request, listed, this_pair, number)
        if listed and number and IN_QUEUE in request.GET
        else None,
        "may_organize": may_organize(request.user, campaign),
        "pair_address": f"reports:{kind.value}_pair",
        "verdict_address": f"reports:{kind.value}_verdict",
        "label_address": f"organizer:{'assignment' if kind is ItemKind.NUGGETS else 'support'}_label",
        "number": number,
        "total": len(listed.places) if listed else 0,
        "before": before,
        "after": after,
    }
    return render(request, "reports/pair.html", context)


def _queue(request: UserRequest, listed: PairList, this_pair: Pair, number: int) -> dict[str, Any]:
    """Both sides of a pair that is judged one after the other, and the verdicts that can be given by a key."""
    left, right = listed.label_codes(number)
    topic = this_pair.provenance.topic_id
    last = listed.last_verdict_by(request.user)
    return {
        "sides": [
            ("First", judge_of(listed.compared.rows, topic), left),
            ("Second", judge_of(listed.compared.columns, topic), right),
        ],
        "left": left,
        "right": right,
        "differ": left != right,
        "neither": [code for code in listed.compared.matched.codes if code not in (left, right)],
        "open": len(listed.open_numbers),
        "last": last,
        "last_address": _pair_address(request, this_pair, key_of(last, this_pair.kind), "take_back")
        if last
        else "",
        "single_keys": desk_settings_of(request.user).single_keys,
    }


@require_safe
def next_pair(request: UserRequest, slug: str) -> HttpResponse:
    """The pair of a list that comes next without a verdict; the list itself where every pair has one."""
    campaign = get_campaign(request, slug)
    page = confusion_page(campaign, request.GET)
    query = request.GET.copy()
    after = query.pop("after", [""])[-1]
    listed = PairList(page, query.get(IN_QUEUE, "")) if page.labels else None
    if listed and page.has_verdicts:
        key = listed.next_open(int(after) if after.isdecimal() else 0)
        if key is None and after:
            messages.success(
                request, f"Every pair here has a verdict: {len(listed.places)} of {len(listed.places)}."
            )
        elif key := key or listed.first:
            kind = listed.compared.matched.kind
            return redirect(f"{reverse(f'reports:{kind.value}_pair', args=[slug, *key])}?{query.urlencode()}")
    return redirect(f"{reverse('reports:pairs', args=[slug])}?{query.urlencode()}")


@require_POST
def adjudicate_pair(request: UserRequest, slug: str, kind: ItemKind, first: int, second: int) -> HttpResponse:
    """Say what is right of a pair; it changes no label. In a queue the next pair without a verdict is shown."""
    this_pair = _pair_to_judge(request, slug, kind, (first, second))
    form = VerdictForm(this_pair, request.POST)
    if form.is_valid():
        try:
            verdict = adjudicate(this_pair, actor=request.user, **form.cleaned_data)
            if IN_QUEUE in request.GET:
                number = urlencode({"after": request.POST.get("number", "")})
                return redirect(f"{reverse('reports:next_pair', args=[slug])}?{request.GET.urlencode()}&{number}")
            messages.success(request, "Noted. No label changes by it." if verdict else "You had said so already.")
        except Refused as refused:
            messages.error(request, refused.message)
    else:
        messages.error(request, "Choose a verdict first; nothing was written.")
    return redirect(_pair_address(request, this_pair, this_pair.key))


@require_POST
def take_back_verdict(request: UserRequest, slug: str, kind: ItemKind, first: int, second: int) -> HttpResponse:
    this_pair = _pair_to_judge(request, slug, kind, (first, second))
    try:
        take_back(this_pair, actor=request.user)
        messages.success(request, "The verdict on this pair is taken back.")
    except Refused as refused:
        messages.error(request, refused.message)
    return redirect(_pair_address(request, this_pair, this_pair.key))


def _pair_to_judge(request: UserRequest, slug: str, kind: ItemKind, key: Key) -> Pair:
    campaign = get_campaign(request, slug)
    # 403 and not 404: whoever gets here sees the campaign, and only the verdict is not theirs to give.
    if not may_organize(request.user, campaign):
        raise PermissionDenied
    return _pair(request, campaign, kind, key)


def _pair_address(request: UserRequest, pair: Pair, key: Key, act: str = "pair") -> str:
    """Return the address of a pair of a campaign, or of an act on it, with the query string of this one."""
    address = reverse(f"reports:{pair.kind.value}_{act}", args=[pair.campaign.slug, *key])
    query = request.GET.urlencode()
    return f"{address}?{query}" if query else address


def _pair(request: UserRequest, campaign: Campaign, kind: ItemKind, key: Key) -> Pair:
    try:
        return find_pair(provenance_for(request.user, campaign), campaign, kind, key)
    except ObjectDoesNotExist:
        raise Http404 from None


def check_table(study: Study, *, complete_only: bool) -> FileTable:
    """Return a random check's corrected leaderboard by the primary score, for these topics."""
    state = random_check_state(study, default_policies(study))
    report = corrected_report(state, primary_score(study), complete_only=complete_only)
    headings = {"run_id": "Run", "llm": "LLM", "people": "People only", "corrected": "Corrected", "low": "Low"}
    headings |= {"high": "High", "best_rank": "Best rank", "worst_rank": "Worst rank", "judged": "Judged"}
    comment = f"Random check {study.name}"
    return FileTable(corrected_rows(report), headings, corrected_document(report), comment=comment)


def study_table(report: StudyReport) -> FileTable:
    headings = {"judge": "Judge", "with": "With", "pairs": "Pairs", "agreement": "Agreement"}
    headings |= {"kappa": "Kappa", "kappa_linear": "Linear-weighted kappa"}
    comment = f"Study {report.study.name}"
    return FileTable(agreement_rows(report), headings, study_document(report), comment=comment)
