"""Palette of a campaign: pages, things and acts whose words begin as what somebody types."""

from collections.abc import Iterable, Iterator
from functools import partial
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
from evaluation.stages import STAGES
from evaluation.terms import Role
from exchange.models import Snapshot
from llmjobs.job_service import Work
from llmjobs.job_status import callable_judges_for, jobs_for
from organizer.access import get_campaign
from organizer.navigation import menu_for, page_in, roles_in
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
    roles, page = roles_in(viewer, campaign), partial(page_in, campaign)
    if words.words:
        topics = _narrowed(words, topics_for(viewer, campaign), "topic_id", "text")
        yield "Topics", (Hit(topic.topic_id, page("topic", topic.public_id), topic.text) for topic in topics)
        runs = _narrowed(words, runs_for(viewer, campaign), "run_id", "group")
        yield "Runs", (Hit(run.run_id, page("run", run.pk), run.group) for run in runs)
    yield "Pages", _pages(campaign, roles)
    if Role.ORGANIZER in roles:
        yield "Do", _acts(campaign)
    if words.words:
        if roles & {Role.ORGANIZER, Role.AUDITOR}:
            people = people_for(viewer, campaign)
            yield "People", (Hit(person.name, page("people"), ", ".join(person.roles)) for person in people)
        if roles & {Role.ORGANIZER, Role.RESEARCHER}:
            judges = callable_judges_for(viewer, campaign)
            yield "Judges", (Hit(judge.name, page("judges"), judge.model) for judge in judges)
            jobs = _narrowed(words, jobs_for(viewer, campaign), "job__title", "judge__name")
            yield "Jobs", (Hit(llm.job.title, page("job", llm.pk), llm.judge.name) for llm in jobs)
            snapshots = _narrowed(words, Snapshot.objects.filter(campaign=campaign).defer("manifest"), "name")
            yield "Snapshots", (Hit(snapshot.name, page("snapshots")) for snapshot in snapshots)
        yield "Glossary", glossary_hits()


def _pages(campaign: Campaign, roles: frozenset[Role]) -> Iterator[Hit]:
    for group in menu_for(roles):
        for page in group.pages:
            yield Hit(page.caption, page.address(campaign.slug), group.caption)
    yield Hit("Glossary", reverse("glossary"))


def _acts(campaign: Campaign) -> Iterator[Hit]:
    for work in Work:
        yield Hit(f"Start a job: {work.job_title}", f"{page_in(campaign, 'new_job')}?what={work}")
    for stage in STAGES.values():
        yield Hit(f"Hand out: {stage.words}", f"{page_in(campaign, 'hand_out')}?stage={stage}")
    yield Hit("New judge", page_in(campaign, "new_judge"))
    yield Hit("New connection", page_in(campaign, "new_connection"))
    yield Hit("Take a snapshot", page_in(campaign, "snapshots"))
    yield Hit("Load data", page_in(campaign, "data"))
    yield Hit("Invite people", page_in(campaign, "people"))
    yield Hit("Change the protocol", page_in(campaign, "change_protocol"))


def _narrowed(words: Words, rows: QuerySet[Row], *fields: str) -> QuerySet[Row]:
    for word in words.words:
        anywhere = {f"{field}__icontains": word for field in fields}
        rows = rows.filter(Q(**anywhere, _connector=Q.OR))
    return rows[:MOST_READ]
