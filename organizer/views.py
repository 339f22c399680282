"""The organizer's pages of a campaign: topics, runs, segments, findings."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from evaluation.blind.topics import topic_head
from evaluation.models import Campaign, Topic
from evaluation.queries import answers, grids, holdings
from evaluation.queries import findings as finding_rows
from evaluation.queries import runs as run_rows
from evaluation.queries import topics as topic_rows
from evaluation.queries.campaigns import campaigns_for
from organizer import getters
from organizer.boards import board_for, scores_of_run
from organizer.forms import AnswerSearch, FindingSearch, GridSearch, RunSearch, TopicSearch
from organizer.system_state import system_state

TOPICS_A_PAGE = 50
RUNS_A_PAGE = 50
FINDINGS_A_PAGE = 100
SEGMENTS_A_PAGE = 25
ANSWERS_A_PAGE = 6
FINDINGS_ON_RUN = 8


@require_safe
def campaigns(request: UserRequest) -> HttpResponse:
    """Campaigns of the viewer; pure assessors are redirected to their tasks."""
    cards = campaigns_for(request.user)
    if cards and not any(card.unblinded for card in cards):
        return redirect("assessor:home")
    state = system_state() if request.user.is_superuser else []
    return render(request, "organizer/campaigns.html", {"cards": cards, "state": state})


@require_safe
def campaign(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, getters.get_campaign(request.user, slug)
    sets = holdings.nugget_sets_for(viewer, campaign)
    labels = holdings.assignment_counts_for(viewer, campaign)
    context = {
        "campaign": campaign,
        "holdings": holdings.holdings_for(viewer, campaign),
        "sources": holdings.sources_for(viewer, campaign),
        "sets": sets,
        "labels": labels,
        "support": holdings.support_counts_for(viewer, campaign),
        "findings": holdings.findings_by_code_for(viewer, campaign),
        "imports": holdings.imports_for(viewer, campaign),
        "chosen": board_for(campaign, request.GET, sets, labels),
        "run_pks": run_rows.run_pks_for(viewer, campaign),
    }
    return render(request, "organizer/campaign.html", context)


@require_safe
def topics(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, getters.get_campaign(request.user, slug)
    search = TopicSearch(request.GET)
    rows = topic_rows.topics_for(viewer, campaign, search.value("words"), search.value("tag"))
    page = _page(request, rows, TOPICS_A_PAGE)
    context = {
        "campaign": campaign,
        "search": search,
        "tags": topic_rows.tags_for(viewer, campaign),
        "page": page,
        "rows": topic_rows.topic_rows(page),
    }
    return render(request, "organizer/topics.html", context)


@require_safe
def topic(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    viewer = request.user
    campaign, topic = getters.get_topic(viewer, slug, public_id)
    sources = [source.name for source in campaign.qrel_sources.all()]
    graded = _page(request, topic_rows.graded_pks_of(viewer, campaign, topic), SEGMENTS_A_PAGE, "segments")
    given = _page(request, answers.answers_of_topic(viewer, campaign, topic), ANSWERS_A_PAGE, "answers")
    context = {
        "campaign": campaign,
        "topic": topic,
        "head": topic_head(campaign, topic),
        "neighbours": topic_rows.neighbours_of(viewer, campaign, topic),
        "sources": sources,
        "graded": graded,
        "segments": topic_rows.graded_segments(topic, [pk for pk, _ in graded], sources),
        "lists": topic_rows.nugget_lists_of(viewer, campaign, topic),
        "given": given,
        "answers": answers.shown_answers(given),
        "unanswered": answers.runs_without_answer(viewer, campaign, topic),
        **_grid(request, campaign, topic),
    }
    return render(request, "organizer/topic.html", context)


@require_safe
def runs(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, getters.get_campaign(request.user, slug)
    search = RunSearch(request.GET)
    rows = run_rows.runs_for(viewer, campaign, search.value("words"), search.value("task"))
    page = _page(request, rows, RUNS_A_PAGE)
    context = {"campaign": campaign, "search": search, "page": page, "rows": run_rows.run_rows(campaign, page)}
    return render(request, "organizer/runs.html", context)


@require_safe
def run(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    viewer = request.user
    campaign, run = getters.get_run(viewer, slug, pk)
    answered = run_rows.answered_topics(viewer, campaign, run)
    wanted = AnswerSearch(request.GET).value("topic")
    given = answers.answer_of_run(viewer, campaign, run, wanted or next((one.public_id for one in answered), ""))
    context = {
        "campaign": campaign,
        "run": run,
        "findings": finding_rows.findings_for(viewer, campaign, run_id=run.run_id)[:FINDINGS_ON_RUN],
        "rows": answered,
        "scores": scores_of_run(campaign, run),
        "wanted": wanted,
        "answer": next(iter(answers.shown_answers([given])), None) if given else None,
        "sheets": grids.sheets_of(viewer, campaign, given) if given else [],
    }
    return render(request, "organizer/run.html", context)


@require_safe
def segment(request: UserRequest, slug: str, public_id: str) -> HttpResponse:
    campaign, segment = getters.get_segment(request.user, slug, public_id)
    return render(request, "organizer/segment.html", {"campaign": campaign, "segment": segment})


@require_safe
def findings(request: UserRequest, slug: str) -> HttpResponse:
    viewer, campaign = request.user, getters.get_campaign(request.user, slug)
    search = FindingSearch(request.GET)
    rows = finding_rows.findings_for(viewer, campaign, search.value("code"), search.value("run"))
    page = _page(request, rows, FINDINGS_A_PAGE)
    context = {
        "campaign": campaign,
        "search": search,
        "page": page,
        "segments": finding_rows.segments_named_by(viewer, campaign, page),
    }
    return render(request, "organizer/findings.html", context)


def _page(request: UserRequest, rows: QuerySet[Any, Any], size: int, parameter: str = "page") -> Page[Any]:
    return Paginator(rows, size).get_page(request.GET.get(parameter))


def _grid(request: UserRequest, campaign: Campaign, topic: Topic) -> dict[str, Any]:
    """The labels of the judging that the query string names, else of the first one."""
    judgings = grids.judgings_of(request.user, campaign, topic)
    wanted = GridSearch(request.GET).value("labels")
    chosen = next((one for one in judgings if one.key == wanted), next(iter(judgings), None))
    grid = grids.grid_of(request.user, campaign, topic, chosen) if chosen else None
    return {"judgings": judgings, "grid": grid}
