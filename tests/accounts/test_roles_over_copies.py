"""A campaign and its copies are one family: whoever judges in one of them reads runs and labels in none."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from evaluation.campaigns.create import add_member
from evaluation.errors import Refused
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.topics import import_topics
from evaluation.models import Campaign, Event, Membership, Run, Task
from evaluation.terms import RagTask as TrackTask
from evaluation.terms import Role
from exchange.snapshots.pack import SnapshotContents
from exchange.snapshots.service import load_campaign, open_snapshot, take_snapshot, write_campaign
from tests.worlds.campaign import ALPHA, TOPICS, World, make_world
from tests.worlds.cast import make_campaign, make_user, write_source
from tests.worlds.imported import run
from tests.worlds.work import hand, make_work_world, more_topics

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(tmp_path: Path) -> World:
    """The small campaign with its cast, and Zed, who is in no campaign yet."""
    made = make_world(tmp_path)
    made.people["zed"] = make_user("zed")
    return made


@pytest.fixture
def opened(world: World) -> Campaign:
    return opened_as("rev1", world.campaign, world.people["olga"])


@pytest.fixture
def imported(world: World, tmp_path: Path) -> Campaign:
    return copied(world.campaign, "copy", tmp_path)


@pytest.fixture(params=["opened", "imported"])
def copy(request: pytest.FixtureRequest, world: World) -> Campaign:
    made: Campaign = request.getfixturevalue(request.param)
    add_member(campaign=made, user=world.people["olga"], role=Role.ORGANIZER)
    return made


def opened_as(name: str, campaign: Campaign, actor: User) -> Campaign:
    snapshot = take_snapshot(campaign=campaign, name=name, contents=SnapshotContents(), actor=actor)
    return open_snapshot(snapshot=snapshot, actor=actor).campaign


def copied(campaign: Campaign, slug: str, folder: Path) -> Campaign:
    file = folder / f"{slug}.zip"
    write_campaign(file, campaign, SnapshotContents())
    return load_campaign(file, slug=slug).campaign


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def give(world: World, campaign: Campaign, name: str, role: str) -> int:
    page = reverse("organizer:give_role", args=[campaign.slug])
    return client_of(world.people["olga"]).post(page, {"username": name, "role": role}).status_code


def roles(campaign: Campaign, name: str) -> set[str]:
    return set(Membership.objects.filter(campaign=campaign, user__username=name).values_list("role", flat=True))


@pytest.mark.parametrize("role", ["researcher", "auditor", "organizer"])
def test_who_judges_the_original_gets_no_sight_of_a_copy(world: World, copy: Campaign, role: str) -> None:
    assert give(world, world.campaign, "zed", "assessor") == 302
    assert give(world, copy, "zed", role) == 422
    assert roles(copy, "zed") == set()


def test_who_sees_a_copy_becomes_no_judge_of_the_original(world: World, copy: Campaign) -> None:
    assert give(world, copy, "zed", "researcher") == 302
    assert give(world, world.campaign, "zed", "assessor") == 422
    assert roles(world.campaign, "zed") == set()


def test_who_once_saw_a_copy_judges_the_original_never(world: World, copy: Campaign) -> None:
    give(world, copy, "zed", "researcher")
    page = reverse("organizer:take_role", args=[copy.slug])
    client_of(world.people["olga"]).post(page, {"username": "zed", "role": "researcher"})
    assert roles(copy, "zed") == set()
    assert give(world, world.campaign, "zed", "assessor") == 422


def test_copies_of_copies_are_of_the_family(world: World, opened: Campaign, tmp_path: Path) -> None:
    far = copied(opened, "far", tmp_path)
    sibling = copied(world.campaign, "sibling", tmp_path)
    for campaign in (far, sibling):
        add_member(campaign=campaign, user=world.people["olga"], role=Role.ORGANIZER)
    assert give(world, far, "zed", "assessor") == 302
    assert [give(world, campaign, "zed", "researcher") for campaign in (world.campaign, opened, sibling)] == [
        422
    ] * 3


def test_a_copy_stays_a_copy_without_its_original(world: World, tmp_path: Path) -> None:
    """Two copies of a campaign that was never here: the file says of which family they are."""
    file = tmp_path / "river.zip"
    write_campaign(file, world.campaign, SnapshotContents())
    Campaign.objects.filter(pk=world.campaign.pk).update(slug="elsewhere", family="another")
    first, second = (load_campaign(file, slug=slug).campaign for slug in ("one", "other"))
    for campaign in (first, second):
        add_member(campaign=campaign, user=world.people["olga"], role=Role.ORGANIZER)
    assert give(world, first, "zed", "assessor") == 302
    assert give(world, second, "zed", "researcher") == 422


def test_an_invitation_reaches_across_copies(world: World, copy: Campaign) -> None:
    add_member(campaign=world.campaign, user=world.people["zed"], role=Role.ASSESSOR)
    page = reverse("organizer:invite", args=[copy.slug])
    shown = client_of(world.people["olga"]).post(page, {"role": "researcher", "link": "1"})
    [(_, link)] = shown.context["links"]
    guest = client_of(world.people["zed"])
    guest.get(link)
    assert guest.post(reverse("organizer:accept_invitation")).status_code == 422
    assert roles(copy, "zed") == set()


def test_the_administration_keeps_judging_blind(world: World, copy: Campaign) -> None:
    ada = client_of(make_user("ada", is_staff=True, is_superuser=True))
    add_member(campaign=world.campaign, user=world.people["zed"], role=Role.ASSESSOR)
    page, zed = reverse("admin:evaluation_membership_add"), world.people["zed"]
    for campaign in (copy, world.campaign):
        refused = ada.post(page, {"campaign": campaign.pk, "user": zed.pk, "role": "researcher"})
        assert "gets no role that shows" in refused.content.decode()
    assert roles(copy, "zed") == set()
    sam = world.people["sam"]
    assert ada.post(page, {"campaign": copy.pk, "user": sam.pk, "role": "researcher"}).status_code == 302
    assert roles(copy, "sam") == {"researcher"}
    assert Event.objects.filter(campaign=copy, kind="member.added", payload__user=sam.pk).exists()
    there = Membership.objects.get(campaign=copy, user=sam)
    ada.post(reverse("admin:evaluation_membership_delete", args=[there.pk]), {"post": "yes"})
    assert roles(copy, "sam") == set()
    assert give(world, world.campaign, "sam", "assessor") == 422  # what was seen cannot be unseen


def test_roles_from_before_close_the_copy_to_its_judges(world: World, copy: Campaign) -> None:
    """Roles that were given when nobody asked about copies: the desk stays, runs and scores are closed."""
    zed = world.people["zed"]
    add_member(campaign=copy, user=zed, role=Role.RESEARCHER)
    client = client_of(zed)
    runs = reverse("organizer:runs", args=[copy.slug])
    assert client.get(runs).status_code == 200
    add_member(campaign=world.campaign, user=zed, role=Role.ASSESSOR)
    assert client.get(runs).status_code == 404
    assert client.get(reverse("reports:scores", args=[copy.slug])).status_code == 404
    assert client.get(f"/api/v1/runs?campaign={copy.slug}").json().get("results", []) == []


def test_work_goes_to_nobody_who_sees_a_copy(tmp_path: Path) -> None:
    world = make_work_world(tmp_path)
    copy = copied(world.campaign, "copy", tmp_path)
    carl = make_user("carl")
    add_member(campaign=world.campaign, user=carl, role=Role.ASSESSOR)
    add_member(campaign=copy, user=carl, role=Role.RESEARCHER)
    world.people["carl"] = carl
    with pytest.raises(Refused, match="unblinded role"):
        hand(world, more_topics(world.campaign, 1), "carl")


def test_an_opened_snapshot_lets_in_whoever_judges_in_no_copy(world: World, opened: Campaign) -> None:
    """Rita judges in the first copy since: the second one, of the original, gives her no role."""
    rita = world.people["rita"]
    Membership.objects.filter(campaign=opened, user=rita).delete()
    add_member(campaign=opened, user=rita, role=Role.ASSESSOR)
    second = opened_as("rev2", world.campaign, world.people["olga"])
    assert roles(second, "rita") == set()
    assert roles(second, "olga") == {"organizer"}


def test_an_import_gives_no_role_back_that_unblinds(world: World, tmp_path: Path) -> None:
    file = tmp_path / "river.zip"
    write_campaign(file, world.campaign, SnapshotContents())
    Membership.objects.filter(user__username="rita").delete()
    add_member(campaign=world.campaign, user=world.people["rita"], role=Role.ASSESSOR)
    done = run("import_campaign", str(file), "--slug", "copy", "--members")
    assert "Not given, because copies are judged blind too: rita as researcher." in done.err
    copy = Campaign.objects.get(slug="copy")
    assert roles(copy, "rita") == set()
    assert roles(copy, "olga") == {"organizer"}
    assert roles(copy, "ann") == {"assessor"}


def test_no_copy_shuts_somebody_out_of_what_they_see(tmp_path: Path) -> None:
    """Ben's tasks were withdrawn and he became researcher: a state in which he judges is not loaded beside."""
    world = make_work_world(tmp_path)
    file = tmp_path / "river.zip"
    write_campaign(file, world.campaign, SnapshotContents())
    ann = world.people["ann"]
    Membership.objects.filter(campaign=world.campaign, user=ann).delete()
    Task.objects.filter(assessor=ann).update(state="withdrawn")
    add_member(campaign=world.campaign, user=ann, role=Role.RESEARCHER)
    before = Campaign.objects.count()
    done = run("import_campaign", str(file), "--slug", "copy")
    assert (done.code, Campaign.objects.count()) == (1, before)
    assert "ann" in done.err
    assert "has tasks in it" in done.err


def test_a_task_of_a_copy_keeps_no_role_from_being_taken(tmp_path: Path) -> None:
    world = make_work_world(tmp_path)
    copied(world.campaign, "copy", tmp_path)
    ann = world.people["ann"]
    Task.objects.filter(campaign=world.campaign, assessor=ann).update(state="submitted")
    page = reverse("organizer:take_role", args=[world.campaign.slug])
    done = world.client("olga").post(page, {"username": "ann", "role": "assessor"})
    assert done.status_code == 302


def make_other(folder: Path, answers: str = ALPHA) -> Campaign:
    other = make_campaign("other", "Other study")
    import_topics(campaign=other, source=write_source(folder, "topics.tsv", TOPICS))
    options = RunOptions("team a", TrackTask.RAG)
    import_runs(campaign=other, sources=[write_source(folder, "again.jsonl", answers + "\n")], options=options)
    return other


def test_shared_runs_are_a_warning_where_people_are_chosen(world: World, tmp_path: Path) -> None:
    """The same runs loaded twice are no copy: nothing is refused, and the people page says who reads them there."""
    other = make_other(tmp_path)
    for name, campaign, role in (("zed", world.campaign, Role.ASSESSOR), ("zed", other, Role.RESEARCHER)):
        add_member(campaign=campaign, user=world.people[name], role=role)
    page = reverse("organizer:people", args=[world.campaign.slug])
    seen = client_of(world.people["olga"]).get(page).content.decode()
    assert "1 run of this campaign is in another campaign too" in seen
    assert "<bdi>zed</bdi> judges here and may read runs there" in seen
    assert "Other study" not in seen  # Olga has no role there
    add_member(campaign=other, user=world.people["olga"], role=Role.ORGANIZER)
    assert "Other study" in client_of(world.people["olga"]).get(page).content.decode()


def test_a_run_of_that_name_with_other_answers_is_no_warning(world: World, tmp_path: Path) -> None:
    other = make_other(tmp_path, answers=ALPHA.replace("Sand moves.", "Mud stays."))
    assert Run.objects.filter(campaign=other, run_id="alpha").exists()
    page = reverse("organizer:people", args=[world.campaign.slug])
    assert "is in another campaign too" not in client_of(world.people["olga"]).get(page).content.decode()
