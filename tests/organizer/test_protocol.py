"""The protocol: in words, changed in place until something was judged, then by versions; two organizers at once."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from assessor.desk.context import open_desk
from evaluation.campaigns.create import add_member
from evaluation.campaigns.protocol import protocol_hash, settings_of
from evaluation.models import Campaign, ConditionDefault, Event, Protocol
from evaluation.stages import MANUAL
from evaluation.terms import Role
from tests.worlds.campaign import World
from tests.worlds.cast import make_campaign, make_cast, make_user
from tests.worlds.desk import DeskWorld, load_corpus, make_desk_world, make_task

pytestmark = pytest.mark.postgresql

PAGE = "/campaigns/river/protocol/"
CHANGE = f"{PAGE}change/"
DEFAULTS = f"{PAGE}defaults/"


@pytest.fixture
def fresh(db: None) -> tuple[Campaign, Client]:
    campaign = make_campaign()
    client = Client()
    client.force_login(make_cast(campaign)["olga"])
    return campaign, client


def filled(campaign: Campaign, **changes: Any) -> dict[str, Any]:
    """Return the form as the browser sends it, with some fields changed."""
    values = settings_of(campaign.protocol) | changes
    sent = {key: value for key, value in values.items() if value is not None and value is not False}
    return {"seal": protocol_hash(campaign), "reason": "", "save": "1"} | sent


def test_before_anything_is_judged_a_change_is_made_in_place(fresh: tuple[Campaign, Client]) -> None:
    campaign, olga = fresh
    assert "Nothing was judged yet" in olga.get(PAGE).content.decode()
    answer = olga.post(CHANGE, filled(campaign, nugget_cap=12, guidelines="# Read\n\n**All** of it"), follow=True)
    page = answer.content.decode()
    assert (campaign.protocol.version, campaign.protocol.nugget_cap) == (1, 12)
    assert "<strong>All</strong> of it" in page
    assert "<h3>Read</h3>" in page
    event = Event.objects.get(kind="protocol.changed")
    assert event.payload["new"] is False
    changes = {change["setting"]: (change["old"], change["new"]) for change in event.payload["changes"]}
    assert changes["nugget_cap"] == (20, 12)
    olga.post(CHANGE, filled(campaign, guidelines="Read."))
    assert "1 word</summary>" in olga.get(PAGE).content.decode()


def test_a_task_that_was_started_freezes_the_protocol(fresh: tuple[Campaign, Client], tmp_path: Path) -> None:
    campaign, olga = fresh
    load_corpus(campaign, tmp_path, passages=2, sentences=1)
    task = make_task(campaign, User.objects.get(username="ann"), "t1", MANUAL)
    assert "Nothing was judged yet" in olga.get(PAGE).content.decode()
    open_desk(task=task.public_id, user=task.assessor)
    assert "frozen" in olga.get(PAGE).content.decode()
    assert olga.post(CHANGE, filled(campaign, nugget_cap=12)).status_code == 422
    assert campaign.protocol.version == 1


def test_after_the_first_judgment_a_change_is_a_reasoned_version(world: World) -> None:
    campaign, olga = world.campaign, world.client("olga")
    assert "frozen" in olga.get(PAGE).content.decode()
    refused = olga.post(CHANGE, filled(campaign, overlap=2, show_importance=True))
    assert refused.status_code == 422
    assert "Say why" in refused.content.decode()
    assert campaign.protocol.version == 1
    olga.post(CHANGE, filled(campaign, overlap=2, show_importance=True, reason="We <b>want</b> overlap"))
    assert (campaign.protocol.version, campaign.protocol.overlap, campaign.protocol.changed_by) == (
        2,
        2,
        world.people["olga"],
    )
    assert Protocol.objects.get(campaign=campaign, version=1).overlap is None
    page = olga.get(PAGE).content.decode()
    assert "We &lt;b&gt;want&lt;/b&gt; overlap" in page
    assert "hidden (blind)" in page  # what it was
    old = olga.get(f"{PAGE}?version=1").content.decode()
    assert "version 1; in force is 2" in old
    compared = olga.get(f"{PAGE}?version=2&against=1").content.decode()
    assert "Version 1 and version 2" in compared
    assert "2 and no more" in compared


def test_what_would_change_is_shown_before_it_is_saved(world: World) -> None:
    sent = filled(world.campaign, manual_cap="", guidelines="<script>x()</script> *so*")
    del sent["save"]
    page = world.client("olga").post(CHANGE, sent)
    assert page.status_code == 200
    html = page.content.decode()
    assert "at most" in html
    assert "no limit" in html
    assert "<em>so</em>" in html
    assert "<script>x()" not in html
    assert world.campaign.protocol.version == 1


def test_the_second_of_two_organizers_is_told_and_overwrites_nothing(world: World) -> None:
    campaign = world.campaign
    mine = filled(campaign, overlap=3, reason="three")
    oscar = make_user("oscar")
    add_member(campaign=campaign, user=oscar, role=Role.ORGANIZER)
    other = Client()
    other.force_login(oscar)
    other.post(CHANGE, filled(campaign, nugget_cap=11, reason="eleven"))
    answer = world.client("olga").post(CHANGE, mine)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Somebody changed the protocol while you were at it" in page
    assert (campaign.protocol.version, campaign.protocol.nugget_cap, campaign.protocol.overlap) == (2, 11, None)
    # What Olga typed is still there, under the new seal: saved again it takes her word.
    assert protocol_hash(campaign) in page
    world.client("olga").post(CHANGE, mine | {"seal": protocol_hash(campaign), "nugget_cap": 11})
    assert (campaign.protocol.version, campaign.protocol.nugget_cap, campaign.protocol.overlap) == (3, 11, 3)


def test_in_place_the_second_is_told_as_well(fresh: tuple[Campaign, Client]) -> None:
    campaign, olga = fresh
    mine = filled(campaign, overlap=3)
    olga.post(CHANGE, filled(campaign, overlap=2))
    assert olga.post(CHANGE, mine).status_code == 422
    assert campaign.protocol.overlap == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nugget_cap": 40}, "nugget_cap must not be above draft_cap"),
        ({"grade_threshold": 9}, "must not be above relevance_max"),
        ({"batch_size": "many"}, "whole number"),
        ({"passage_order": "alphabet"}, "valid choice"),
    ],
)
def test_what_does_not_go_together_is_refused(world: World, changes: dict[str, Any], message: str) -> None:
    page = world.client("olga").post(CHANGE, filled(world.campaign, reason="why not", **changes))
    assert page.status_code == 422
    assert message in page.content.decode()
    assert world.campaign.protocol.version == 1


def test_tasks_keep_the_version_they_were_handed_out_under(db: None, tmp_path: Path) -> None:
    world: DeskWorld = make_desk_world(tmp_path)
    world.client("olga").post(CHANGE, filled(world.campaign, guidelines="New words", reason="clearer"))
    world.post_edit.refresh_from_db()
    assert world.post_edit.protocol.version == 1
    assert (
        "New words"
        not in world.client("ann")
        .get(reverse("assessor:guidelines", args=[world.post_edit.public_id]))
        .content.decode()
    )


def test_the_judges_of_conditions_are_changed_with_a_reason(world: World) -> None:
    olga = world.client("olga")
    page = olga.get(DEFAULTS).content.decode()
    assert '<option value="person">person</option>' in page
    sent = {"seal": protocol_hash(world.campaign), "judge_aa": "robot", "nuggets_aa": "auto-robot"}
    assert olga.post(DEFAULTS, sent).status_code == 422
    assert not ConditionDefault.objects.exists()
    olga.post(DEFAULTS, sent | {"reason": "the only one"})
    chosen = ConditionDefault.objects.get(condition="A/A")
    assert (chosen.judge, chosen.nuggets) == ("robot", "auto-robot")
    assert "whatever fits</bdi> → <bdi>auto-robot, robot" in olga.get(PAGE).content.decode()
    # No name of a person is in an event, which nobody can change when the person is erased.
    assert "robot" not in json.dumps(Event.objects.get(kind="protocol.defaults_changed").payload)


def test_another_campaign_s_judge_cannot_be_named(world: World) -> None:
    sent = {"seal": protocol_hash(world.campaign), "judge_aa": "somebody", "reason": "x"}
    assert world.client("olga").post(DEFAULTS, sent).status_code == 422


def test_researchers_read_the_protocol_and_change_nothing(world: World) -> None:
    rita = world.client("rita")
    page = rita.get(PAGE)
    assert page.status_code == 200
    assert CHANGE not in page.content.decode()
    assert rita.post(CHANGE, filled(world.campaign, overlap=2, reason="x")).status_code == 403
    assert world.client("ann").get(PAGE).status_code == 404
