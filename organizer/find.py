"""Palette of a campaign: pages, things and acts whose words begin as what somebody types."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from django.db.models import Model, Q, QuerySet
from django.http import JsonResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import UserRequest
from accounts.models import User
from evaluation.campaigns.people import people_for
from evaluation.corpus.runs import runs_for
from evaluation.corpus.topics import topics_for
from evaluation.models import Campaign
from evaluation.terms import Role, Stage
from exchange.models import Snapshot
from llmjobs.job_service import Work
from llmjobs.job_status import callable_judges_for, jobs_for
from organizer.access import get_campaign
from organizer.navigation import menu_for, roles_in
from web.finding import Hit, Words, glossary_hits, groups_of_hits

Row = TypeVar("Row", bound=Model)

MOST_READ = 200
"""Rows that the database's plain search hands on; a word inside another one is found by it, and is no hit."""


@require_safe
@never_cache
def find(request: UserRequest, slug: str) -> JsonResponse:
    """Groups of hits for `?words=`, as JSON; without words the pages and acts of the viewer's roles."""
    viewer, campaign = request.user, get_campaign(request.user, slug)
    words = Words(request.GET.get("words", ""))
    return JsonResponse({"groups": groups_of_hits(words, _groups(viewer, campaign, words))})


def _groups(viewer: User, campaign: Campaign, words: Words) -> Iterator[tuple[str, Iterable[Hit]]]:
    roles = roles_in(viewer, campaign)
    if words.words:
        yield "Topics", _topics(viewer, campaign, words)
        yield "Runs", _runs(viewer, campaign, words)
    yield "Pages", _pages(campaign, roles)
    if Role.ORGANIZER in roles:
        yield "Do", _acts(campaign)
    if words.words:
        if roles & {Role.ORGANIZER, Role.AUDITOR}:
            yield "People", _people(viewer, campaign)
        if roles & {Role.ORGANIZER, Role.RESEARCHER}:
            yield "Judges", _judges(viewer, campaign)
            yield "Jobs", _jobs(viewer, campaign, words)
            yield "Snapshots", _snapshots(campaign, words)
        yield "Glossary", glossary_hits()


def _topics(viewer: User, campaign: Campaign, words: Words) -> Iterator[Hit]:
    for topic in _narrowed(words, topics_for(viewer, campaign), "topic_id", "text"):
        yield Hit(topic.topic_id, reverse("organizer:topic", args=[campaign.slug, topic.public_id]), topic.text)


def _runs(viewer: User, campaign: Campaign, words: Words) -> Iterator[Hit]:
    for run in _narrowed(words, runs_for(viewer, campaign), "run_id", "group"):
        yield Hit(run.run_id, reverse("organizer:run", args=[campaign.slug, run.pk]), run.group)


def _pages(campaign: Campaign, roles: frozenset[Role]) -> Iterator[Hit]:
    for group in menu_for(roles):
        for page in group.pages:
            yield Hit(page.caption, page.address(campaign.slug), group.caption)
    yield Hit("Glossary", reverse("glossary"))


def _acts(campaign: Campaign) -> Iterator[Hit]:
    start = reverse("organizer:new_job", args=[campaign.slug])
    for work in Work:
        yield Hit(f"Start a job: {work.job_title}", f"{start}?what={work}")
    hand_out = reverse("organizer:hand_out", args=[campaign.slug])
    for stage in Stage:
        yield Hit(f"Hand out: {stage.words}", f"{hand_out}?stage={stage}")
    yield Hit("New judge", reverse("organizer:new_judge", args=[campaign.slug]))
    yield Hit("New connection", reverse("organizer:new_connection", args=[campaign.slug]))
    yield Hit("Take a snapshot", reverse("organizer:snapshots", args=[campaign.slug]))
    yield Hit("Load data", reverse("organizer:data", args=[campaign.slug]))
    yield Hit("Invite people", reverse("organizer:people", args=[campaign.slug]))
    yield Hit("Change the protocol", reverse("organizer:change_protocol", args=[campaign.slug]))


def _people(viewer: User, campaign: Campaign) -> Iterator[Hit]:
    address = reverse("organizer:people", args=[campaign.slug])
    for person in people_for(viewer, campaign):
        yield Hit(person.name, address, ", ".join(person.roles))


def _judges(viewer: User, campaign: Campaign) -> Iterator[Hit]:
    address = reverse("organizer:judges", args=[campaign.slug])
    for judge in callable_judges_for(viewer, campaign):
        yield Hit(judge.name, address, judge.model)


def _jobs(viewer: User, campaign: Campaign, words: Words) -> Iterator[Hit]:
    for llm in _narrowed(words, jobs_for(viewer, campaign), "job__title", "judge__name"):
        yield Hit(llm.job.title, reverse("organizer:job", args=[campaign.slug, llm.pk]), llm.judge.name)


def _snapshots(campaign: Campaign, words: Words) -> Iterator[Hit]:
    address = reverse("organizer:snapshots", args=[campaign.slug])
    for snapshot in _narrowed(words, Snapshot.objects.filter(campaign=campaign).defer("manifest"), "name"):
        yield Hit(snapshot.name, address)


def _narrowed(words: Words, rows: QuerySet[Row], *fields: str) -> QuerySet[Row]:
    for word in words.words:
        anywhere = Q()
        for field in fields:
            anywhere |= Q(**{f"{field}__icontains": word})
        rows = rows.filter(anywhere)
    return rows[:MOST_READ]
