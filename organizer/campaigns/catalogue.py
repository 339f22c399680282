"""Data catalogue of a campaign: the API's collections with their numbers of rows, and the snapshots."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from accounts.models import User
from assessor.progress.matrix import may_organize
from evaluation.campaigns.access import within
from evaluation.campaigns.contents import (
    assignment_counts_for,
    holdings_for,
    nugget_sets_for,
    sources_for,
    support_counts_for,
)
from evaluation.models import AnswerProvenance, Campaign
from exchange.models import Snapshot
from exchange.snapshots.archive import FORMAT
from organizer import access as organizer_access

API_VERSION = "1"


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One collection of the API. `count`: how many rows of this campaign it has, None where nobody counted."""

    name: str
    what: str
    count: int | None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Collections and the snapshots that keep them unchanged."""

    holdings: tuple[CatalogueEntry, ...]
    snapshots: tuple[Snapshot, ...]
    revision: int
    api_version: str
    snapshot_form: int


def catalogue_for(viewer: User, campaign: Campaign) -> Catalogue:
    snapshots = Snapshot.objects.filter(campaign__in=within(viewer, campaign)).defer("manifest")
    return Catalogue(tuple(_holdings(viewer, campaign)), tuple(snapshots), campaign.revision, API_VERSION, FORMAT)


def _holdings(viewer: User, campaign: Campaign) -> Iterator[CatalogueEntry]:
    held, answers = (
        holdings_for(viewer, campaign),
        AnswerProvenance.objects.filter(run__campaign__in=within(viewer, campaign)),
    )
    sets = nugget_sets_for(viewer, campaign)
    assigned, support = assignment_counts_for(viewer, campaign), support_counts_for(viewer, campaign)
    yield CatalogueEntry("topics", "the questions", held.topics)
    yield CatalogueEntry("segments", "passages that answers cite or qrels grade", held.segments)
    yield CatalogueEntry("runs", "systems, with group and task", held.runs)
    yield CatalogueEntry(
        "answers", "what the systems wrote, sentence by sentence, with citations", answers.count()
    )
    yield CatalogueEntry(
        "grades", "relevance of segments", sum(source.qrels for source in sources_for(viewer, campaign))
    )
    yield CatalogueEntry("nugget-sets", "lists of nuggets by origin and maker", len(sets))
    yield CatalogueEntry(
        "nuggets", "of the newest submitted lists", sum(nugget_set.nuggets for nugget_set in sets)
    )
    yield CatalogueEntry(
        "assignments", "whether an answer contains a nugget, by judge", sum(count.total for count in assigned)
    )
    yield CatalogueEntry(
        "support-judgments", "whether a passage supports a sentence", sum(count.total for count in support)
    )
    yield CatalogueEntry("scores", "run by run and topic by topic, computed when asked for", None)
    yield CatalogueEntry("time", "how long people worked, under pseudonyms", None)
    yield CatalogueEntry("events", "what happened, under pseudonyms", None)
    yield CatalogueEntry("findings", "what imports noticed", None)


@require_safe
def catalogue(request: UserRequest, slug: str) -> HttpResponse:
    campaign = organizer_access.get_campaign(request.user, slug)
    context = {
        "campaign": campaign,
        "catalogue": catalogue_for(request.user, campaign),
        "server": request.build_absolute_uri("/").rstrip("/"),
        "may_organize": may_organize(request.user, campaign),
    }
    return render(request, "organizer/catalogue.html", context)
