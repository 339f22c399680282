"""The report pages: one view each for a page, a table and a picture, whichever report it is."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_POST, require_safe

from accounts.http import UserRequest
from evaluation.campaigns.access import may_organize, unblinded_campaign_for
from evaluation.corpus.topics import topics_for
from evaluation.errors import Refused
from evaluation.models import Campaign
from evaluation.studies import study_for
from evaluation.terms import DrawKind, StudyKind
from reports.charts import DARK, LIGHT, PAPER
from reports.files import PICTURE_TYPES, PictureForm, TableForm, downloaded, drawn
from reports.leaderboard.page import doubtful_answers, leaderboard_page
from reports.metrics.scores import DOUBTS
from reports.random_checks.drawing import grow_runs
from reports.registry import pages
from reports.report import NOTHING, Report, counted


def get_campaign(request: UserRequest, slug: str) -> Campaign:
    """Return a campaign that the viewer may see unblinded, or answer 404: a 403 would say that it exists."""
    try:
        return unblinded_campaign_for(request.user, slug)
    except ObjectDoesNotExist:
        raise Http404 from None


@require_safe
def report(request: UserRequest, slug: str, report: str) -> HttpResponse:
    campaign, entry = get_campaign(request, slug), pages()[report]
    if entry.kept and (address := _with_kept(request, entry.kept)):
        return redirect(address)
    page = entry.make(campaign, request.GET)
    more = {"lack": entry.lack_in(campaign), **page.more(request.user, campaign)}
    return page_response(request, campaign, page, report, entry.template, more)


def _with_kept(request: UserRequest, name: str) -> str | None:
    """Keep a choice that the address names for the person; without any, return the address with the one kept."""
    if name in request.GET:
        request.session[name] = request.GET[name]
        return None
    kept = request.session.get(name, NOTHING)
    if kept == NOTHING:
        return None
    query = request.GET.copy()
    query[name] = kept
    return f"{request.path}?{query.urlencode()}"


@require_safe
def doubts(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request, slug)
    page = leaderboard_page(campaign, request.GET)
    run = get_object_or_404(campaign.runs, run_id=request.GET.get("run", ""))
    doubt = request.GET.get("doubt", "")
    if doubt not in DOUBTS:
        raise Http404
    topics = {topic.topic_id: topic for topic in topics_for(request.user, campaign)}
    counts = doubtful_answers(page, run.run_id, doubt)
    answers = [(topics[topic], count) for topic, count in counts if topic in topics]
    context = {"campaign": campaign, "page": page, "run": run, "doubt": doubt, "answers": answers}
    return render(request, "reports/doubts.html", context)


@require_POST
def judge_more(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    campaign = get_campaign(request, slug)
    if not may_organize(request.user, campaign):
        raise PermissionDenied
    try:
        check = study_for(request.user, campaign, pk)
    except ObjectDoesNotExist:
        raise Http404 from None
    runs, numbers = request.POST.getlist("run"), request.POST.getlist("number")
    are_numbers = len(runs) == len(numbers) and all(map(str.isdecimal, numbers))
    if check.draw != DrawKind.RANDOM or not runs or not are_numbers:
        raise Refused("usage", "Say of which runs of a random check how many pairs are to be drawn.")
    # A number to reach and not one to add: pressed twice, the button draws once.
    came = grow_runs(study=check, numbers=dict(zip(runs, map(int, numbers), strict=True)), actor=request.user)
    messages.success(request, f"Drawn for {check}: {counted(came, 'pair')} more of {' and '.join(runs)}.")
    is_support = check.kind == StudyKind.SUPPORT
    view = "reports:support" if is_support else "reports:scores"
    return redirect(f"{reverse(view, args=[slug])}?{request.GET.urlencode()}")


@require_safe
def report_table(request: UserRequest, slug: str, report: str, part: str, table: TableForm) -> HttpResponse:
    page = pages()[report].make(get_campaign(request, slug), request.GET)
    return table_response(page, part, table, slug, report)


@require_safe
def report_picture(request: UserRequest, slug: str, report: str, part: str, picture: PictureForm) -> HttpResponse:
    page = pages()[report].make(get_campaign(request, slug), request.GET)
    return part_picture(request, page, part, picture)


def page_response(
    request: UserRequest, campaign: Campaign, page: Report, name: str, template: str, more: Mapping[str, Any]
) -> HttpResponse:
    """Return a report as a page, whose files lie below its address; `more` is what its template shows besides."""
    context: dict[str, Any] = {
        "campaign": campaign,
        "page": page,
        "file_name": f"{campaign.slug}-{name}",
        # Most pages name runs or topics, not both: keys that no cell asks for cost no query.
        "run_keys": SimpleLazyObject(lambda: dict(campaign.runs.values_list("run_id", "pk"))),
        "topic_keys": SimpleLazyObject(
            lambda: dict(topics_for(request.user, campaign).values_list("topic_id", "public_id"))
        ),
        "forms": list(TableForm),
        "pictures": list(PictureForm),
        **more,
    }
    return render(request, template, context)


def table_response(page: Report, part: str, form: TableForm, slug: str, name: str) -> HttpResponse:
    """Return a section as a file. Raises `Http404` where there is none."""
    section = page.section(part)
    return downloaded(page.table(section), form, f"{slug}-{name}-{part}")


def part_picture(request: UserRequest, page: Report, part: str, form: PictureForm) -> HttpResponse:
    """Return a section's picture. Raises `Http404` where there is none."""
    chart = page.section(part).chart
    if chart is None:
        raise Http404
    # The theme is in the address: a page names the pictures of both, and the browser keeps them apart.
    palette = {"dark": DARK, None: PAPER}.get(request.GET.get("theme"), LIGHT)
    return HttpResponse(drawn(chart.draw(palette), form), content_type=PICTURE_TYPES[form])
