"""Missing texts on the data page: what a source may have, and jobs that fetch it."""

from typing import Any, Literal

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from accounts.http import UserRequest
from evaluation.campaigns.access import may_organize
from evaluation.errors import Refused
from evaluation.models import Campaign
from exchange.fetching import Wanted, fetch_rows, fetches_of, plan_fetch, start_fetch
from exchange.text_sources import source_named
from jobs import queue
from jobs.models import Job
from jobs.queue import live_workers
from organizer.access import get_campaign, or_404
from organizer.navigation import page_in
from web.outbound import TextSource
from web.text import plural

SHOWN = 5


def missing_texts(campaign: Campaign) -> dict[str, Any]:
    jobs = fetch_rows(fetches_of(campaign).select_related("made_by")[:SHOWN])
    moves = any(row.job.state == Job.State.RUNNING for row in jobs)
    return {
        "text_sources": [_source_row(campaign, source) for source in settings.TEXT_SOURCES],
        "fetches": jobs,
        "fetching": moves,
        "no_fetching_worker": moves and not live_workers(),
    }


def _source_row(campaign: Campaign, source: TextSource) -> dict[str, Any]:
    """Return what a source may be asked for. `parts`: fewer than all, with the words for them."""
    plan = plan_fetch(campaign, source, Wanted.ALL)
    words = {Wanted.CITED: "cited", Wanted.QRELS: "graded"}
    counts = {wanted: len(plan_fetch(campaign, source, wanted).docids) for wanted in words} if plan.docids else {}
    parts = [(wanted, words[wanted], count) for wanted, count in counts.items() if 0 < count < len(plan.docids)]
    return {"name": source.name, "plan": plan, "parts": parts}


@require_POST
def fetch_texts(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    wanted = request.POST.get("wanted", Wanted.ALL)
    if wanted not in set(Wanted):
        raise Refused("usage", f"One of {', '.join(Wanted)}.", field="wanted", choices=list(Wanted))
    source = source_named(request.POST.get("source", ""))
    job = start_fetch(campaign=campaign, source=source, wanted=Wanted(wanted), actor=request.user)
    count = job.items.count()
    messages.success(request, f"{count:,} {plural(count, 'text')} to fetch from {source.name}.")
    return _back(campaign)


@require_POST
def change_fetch(
    request: UserRequest, slug: str, pk: int, act: Literal["pause", "resume", "cancel", "retry"]
) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    job = or_404(fetches_of(campaign).get, pk=pk)
    match act:
        case "pause":
            queue.pause(job.pk)
        case "resume":
            queue.resume(job.pk)
        case "cancel":
            queue.cancel(job)
        case "retry":
            queue.retry_failed(job)
    return _back(campaign)


def _back(campaign: Campaign) -> HttpResponse:
    return redirect(f"{page_in(campaign, 'data')}#h-texts")
