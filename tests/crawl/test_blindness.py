"""In one campaign: whoever assesses hears no canary, wherever they go and whatever they send."""

from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db.models import Q
from django.test import override_settings

from assessor.blind.desk import desk_state
from assessor.models import Operation, WorkingNugget
from assessor.rules.op_schemas import PAYLOADS
from assessor.urls import task_urls
from assessor.urls import urlpatterns as desk_urls
from assessor.views import desk as desk_views
from evaluation.campaigns.create import add_member
from evaluation.models import (
    AnswerProvenance,
    Campaign,
    NuggetSet,
    NuggetVersion,
    Protocol,
    QrelSource,
    Run,
    Task,
    Topic,
)
from evaluation.terms import Role
from exchange.models import LoadedCampaign
from exchange.snapshots.pack import SnapshotContents
from exchange.snapshots.service import load_campaign, write_campaign
from reports.models import ExternalCondition
from tests.assessor.desk_client import Window
from tests.crawl.addresses import API, addresses
from tests.crawl.canaries import Canaries
from tests.crawl.desk_requests import OF_NO_TASK, POSTED, READ_ONLY
from tests.crawl.leaks import LEAKS
from tests.crawl.walking import DESK, STATES, Walk, candidates_of, known_to
from tests.worlds.blind import KNOWN_TO_SOME, SECRET, make_blind_world
from tests.worlds.desk import DeskWorld

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("crawl")]

OURS = ("accounts", "jobs", "evaluation", "reports", "llmjobs", "assessor", "exchange", "organizer")
ASSESSING = ["", "ann", "ben", "dora", "sam"]


@pytest.fixture
def blind(tmp_path: Path) -> tuple[DeskWorld, Canaries]:
    return make_blind_world(tmp_path)


def at_own_desks(world: DeskWorld, canaries: Canaries) -> Walk:
    """Ann's walk over her two desks alone."""
    own = candidates_of(world) | {"public_id": [world.post_edit.public_id, world.manual.public_id]}
    return Walk(canaries, "ann").everywhere(own, known_to(world, "ann"), under=DESK)


@pytest.mark.slow
@pytest.mark.parametrize("person", ASSESSING)
def test_nobody_hears_what_they_may_not(person: str, blind: tuple[DeskWorld, Canaries]) -> None:
    world, canaries = blind
    walk = Walk(canaries, person).everywhere(candidates_of(world), known_to(world, person))
    assert walk.problems == []


def test_the_walk_reaches_every_page_and_operation_of_the_desk(blind: tuple[DeskWorld, Canaries]) -> None:
    walk = at_own_desks(*blind)
    done = {name for name, answers in walk.answers.items() if answers & {200, 302}}
    assert {f"assessor:{name}" for name in POSTED | READ_ONLY - {"answer"} | OF_NO_TASK} <= done
    applied = Operation.objects.filter(task__in=[blind[0].post_edit, blind[0].manual])
    assert set(applied.values_list("kind", flat=True)) == PAYLOADS.keys()


def test_every_address_of_the_desk_is_known_to_the_walk() -> None:
    """A new one says in `desk_bodies` what may be sent to it."""
    of_tasks, others = (
        {pattern.name for pattern in task_urls},
        {getattr(pattern, "name", None) for pattern in desk_urls},
    )
    assert of_tasks == POSTED | READ_ONLY
    assert others - {None} == OF_NO_TASK


def test_every_table_is_secret_or_known_to_sing_for_some() -> None:
    """A new table says in `blind_world` which it is."""
    ours = {model.__name__ for model in apps.get_models() if model._meta.app_label in OURS}
    assert ours == {model.__name__ for model in SECRET} | KNOWN_TO_SOME


def copy_with_secrets(folder: Path, canaries: Canaries, campaign: Campaign) -> Campaign:
    """Load a copy beside a campaign, and let what its runs and nuggets are called sing."""
    file = folder / "river.zip"
    write_campaign(file, campaign, SnapshotContents())
    copy = load_campaign(file, slug="copy").campaign
    for model in (Run, QrelSource, NuggetSet, ExternalCondition, LoadedCampaign):
        canaries.plant(model._default_manager.filter(campaign=copy), kind="a secret of the copy")
    canaries.plant(AnswerProvenance.objects.filter(run__campaign=copy), kind="a secret of the copy")
    return copy


@pytest.mark.slow
def test_a_copy_tells_no_more_than_its_original(tmp_path: Path) -> None:
    """Sam judges the original since the copy was made, and got a role in the copy before anybody asked about copies."""
    world, canaries = make_blind_world(tmp_path, with_canaries=False)
    copy = copy_with_secrets(tmp_path, canaries, world.campaign)
    add_member(campaign=world.campaign, user=world.people["sam"], role=Role.ASSESSOR)
    runs = [str(pk) for pk in Run.objects.filter(campaign=copy).values_list("pk", flat=True)]
    topics = list(Topic.objects.filter(campaign=copy).values_list("public_id", flat=True)[:1])
    candidates = {"slug": [copy.slug], "pk": runs[:1], "public_id": topics}
    for name in ("rita", "sam"):
        add_member(campaign=copy, user=world.people[name], role=Role.RESEARCHER)
    reader, judge = Walk(canaries, "rita", slugs=[copy.slug]), Walk(canaries, "sam", slugs=[copy.slug])
    reader.read(f"/campaigns/{copy.slug}/runs/")
    assert any(problem.endswith("a secret of the copy") for problem in reader.problems)
    for address in addresses(candidates):
        if address.startswith((f"/campaigns/{copy.slug}/", API)):
            judge.read(address)
    assert [problem for problem in judge.problems if problem.endswith("a secret of the copy")] == []


@pytest.mark.slow
def test_no_state_of_a_task_tells_more(blind: tuple[DeskWorld, Canaries]) -> None:
    world, canaries = blind
    for task in (world.post_edit, world.manual):
        window = Window(world.client(), task)
        window.post("hold/", {"window": window.window, "want": "take"})
        window.finish()
        assert window.submit().status_code == 200
    for fields in STATES:
        Task.objects.filter(pk__in=[world.post_edit.pk, world.manual.pk]).update(**fields)
        assert at_own_desks(world, canaries).problems == []


def addresses_with(walk: Walk, text: str) -> set[str]:
    matching = [problem for problem in walk.problems if problem.endswith(f"tells {text}")]
    return {
        problem.split(" tells ")[0].removeprefix("GET ").split("?")[0]
        for problem in matching
        if problem.startswith("GET /")
    }


def test_the_walk_hears_a_leak_wherever_it_is(blind: tuple[DeskWorld, Canaries]) -> None:
    """Headers, ETags, file names, streams, cookies, redirects, errors, answers to JSON, fragments."""
    with override_settings(ROOT_URLCONF="tests.crawl.leaks"):
        walk = Walk(blind[1], "ann").everywhere({}, known_to(blind[0], "ann"), under="/leaks/")
    deaf = [
        leak.__name__
        for leak in LEAKS
        if not any(f"/leaks/{leak.__name__}/" in problem for problem in walk.problems)
    ]
    assert deaf == []


@pytest.mark.slow
def test_the_walk_hears_what_is_shown_by_mistake(blind: tuple[DeskWorld, Canaries]) -> None:
    """A secret text in each field that the desk shows: the walk names the pages where it can be read."""
    world, canaries = blind
    by_hand, auto = f"{DESK}{world.manual.public_id}/", canaries.canary("a leaked nugget")
    topic, guideline = canaries.canary("a leaked topic"), canaries.canary("a leaked guideline")
    Topic.objects.filter(topic_id="t2").update(text=topic)
    Protocol.objects.update(guidelines=guideline)
    WorkingNugget.objects.filter(task=world.manual).update(text=auto)
    walk = at_own_desks(world, canaries)
    assert addresses_with(walk, "a leaked topic") == {
        DESK,
        f"{DESK}find/",
        by_hand,
        f"{by_hand}history/",
        f"{by_hand}review/",
    }
    assert addresses_with(walk, "a leaked guideline") >= {f"{by_hand}guidelines/"}
    assert addresses_with(walk, "a leaked nugget") >= {by_hand, f"{by_hand}state/", f"{by_hand}history/"}
    assert any(problem.startswith(f"POST {by_hand}ops/ tells") for problem in walk.problems)


@pytest.mark.slow
def test_the_walk_hears_a_blind_read_that_tells_too_much(
    blind: tuple[DeskWorld, Canaries], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, canaries = blind

    def telling(task: str, user: Any) -> dict[str, Any]:
        return desk_state(task, user) | {"sets": list(NuggetSet.objects.values_list("name", flat=True))}

    monkeypatch.setattr(desk_views, "desk_state", telling)
    walk = at_own_desks(world, canaries)
    assert addresses_with(walk, "NuggetSet.name") == {
        f"{DESK}{task.public_id}/state/" for task in (world.post_edit, world.manual)
    }


def test_a_draft_may_be_read_where_it_is_edited_and_nowhere_else(blind: tuple[DeskWorld, Canaries]) -> None:
    world, canaries = blind
    draft = NuggetVersion.objects.filter(Q(pk__in=world.drafts().items.values("nugget_version")))[0].text
    page = world.client().get(f"{DESK}{world.post_edit.public_id}/")
    assert draft in page.content.decode()
    assert canaries.leaks(page, "ann", f"{DESK}{world.post_edit.public_id}/") == []
    assert set(canaries.leaks(page, "ann", f"{DESK}{world.manual.public_id}/")) == {"a draft of t1"}
    assert canaries.leaks(page, "sam", f"{DESK}{world.post_edit.public_id}/") != []


def test_ones_own_data_tell_of_nobody_else(blind: tuple[DeskWorld, Canaries]) -> None:
    walk = Walk(blind[1], "ann")
    walk.client.post("/accounts/reauthenticate/", {"password": "ann"})
    walk.go("/your-data/", "", "application/x-www-form-urlencoded")
    assert walk.answers["organizer:own_data"] == {200}
    assert walk.problems == []
