"""The pages of snapshots and of the methods report: making, listing, downloading, opening; who may what."""

import re
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from threading import Event as Signal

import pytest
from django.db.models import F
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from evaluation.models import Campaign, Topic
from exchange import background
from exchange.models import Export, Snapshot
from exchange.snapshots.pack import SnapshotContents
from exchange.snapshots.service import opened_slug, take_snapshot
from tests.worlds.campaign import World, make_world, queries_of
from tests.worlds.cast import make_campaign

SNAPSHOTS = "/campaigns/river/snapshots/"
METHODS = "/campaigns/river/methods/"


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def made(client: Client, name: str, **options: str) -> Snapshot:
    client.post(f"{SNAPSHOTS}take/", {"name": name, **options})
    background.run("w", Signal())
    return Snapshot.objects.get(name=name)


def file_of(client: Client, snapshot: Snapshot) -> tuple[HttpResponseBase, bytes]:
    response = client.get(reverse("organizer:snapshot_file", args=["river", snapshot.pk]))
    return response, b"".join(response)


def test_a_snapshot_is_made_listed_downloaded_and_opened(world: World) -> None:
    olga = world.client("olga")
    assert "There is no snapshot yet" in olga.get(SNAPSHOTS).content.decode()
    kept = made(olga, "submitted", note="for the paper")
    page = olga.get(SNAPSHOTS).content.decode()
    assert all(text in page for text in ("submitted", "for the paper", kept.sha256[:12], "texts, names"))
    response, content = file_of(olga, kept)
    assert response["Content-Disposition"] == 'attachment; filename="river-submitted.zip"'
    assert sha256(content).hexdigest() == kept.sha256
    olga.post(reverse("organizer:open_snapshot", args=["river", kept.pk]))
    assert "is being opened" in olga.get(SNAPSHOTS).content.decode()
    background.run("w", Signal())
    assert 'href="/campaigns/river--submitted/"' in olga.get(SNAPSHOTS).content.decode()
    opened = olga.get("/campaigns/river--submitted/snapshots/").content.decode()
    assert "This campaign came from a file of <bdi>river</bdi>" in opened
    assert "No data was changed since" in opened


def test_the_list_says_protocol_and_changes_since_the_last(world: World) -> None:
    olga = world.client("olga")
    assert "manage.py" not in olga.get(SNAPSHOTS).content.decode()
    made(olga, "one")
    assert "the last one is current" in olga.get(SNAPSHOTS).content.decode()
    Topic.objects.create(campaign=world.campaign, topic_id="t9", text="where rivers end", position=9)
    Campaign.objects.update(revision=F("revision") + 1)
    assert "data changed since the last one" in olga.get(SNAPSHOTS).content.decode()
    made(olga, "two")
    page = olga.get(SNAPSHOTS).content.decode()
    for shown in ("<td>+1 topic</td>", "<td>the first one</td>", "<td>version 1</td>", "as the last one"):
        assert shown in page


def test_a_snapshot_waits_for_its_worker_and_the_page_says_so(world: World) -> None:
    olga = world.client("olga")
    olga.post(f"{SNAPSHOTS}take/", {"name": "later"})
    page = olga.get(SNAPSHOTS).content.decode()
    assert all(text in page for text in ("No worker runs", "Progress of later", 'hx-trigger="every 1s"'))
    background.run("w", Signal())
    page = olga.get(SNAPSHOTS).content.decode()
    assert "Progress of later" not in page
    assert "hx-trigger" not in page


def test_what_could_not_be_made_or_opened_is_said_with_its_reason(world: World) -> None:
    olga = world.client("olga")
    kept = made(olga, "one")
    olga.post(f"{SNAPSHOTS}take/", {"name": "twice"})
    take_snapshot(campaign=world.campaign, name="twice", contents=SnapshotContents())
    Export.objects.update(made_at=now() + timedelta(minutes=1))  # so that the other one is not taken for its own
    make_campaign(opened_slug(kept))
    olga.post(reverse("organizer:open_snapshot", args=["river", kept.pk]))
    background.run("w", Signal())
    page = olga.get(SNAPSHOTS).content.decode()
    assert 'was not made: <span dir="auto">There is a snapshot twice' in page
    assert "not opened:" in page
    assert "Open as a campaign" in page


def test_a_name_that_is_taken_or_none_is_said_at_the_form(world: World) -> None:
    olga = world.client("olga")
    made(olga, "one")
    for name, message in (
        ("one", "There is a snapshot one"),
        ("no name", "Expected letters, digits, - and _, found “no name”."),
    ):
        done = olga.post(f"{SNAPSHOTS}take/", {"name": name})
        assert (done.status_code, message in done.content.decode()) == (422, True)
    assert Snapshot.objects.count() == 1


def test_who_may_only_look_gets_the_file_without_names(world: World) -> None:
    whole = made(world.client("olga"), "whole")
    hidden = made(world.client("olga"), "hidden", pseudonyms="on")
    rita = world.client("rita")
    assert [file_of(rita, snapshot)[0].status_code for snapshot in (whole, hidden)] == [403, 200]
    page = rita.get(SNAPSHOTS).content.decode()
    assert page.count("Download<span") == 1
    assert "Take snapshot" not in page
    assert [file_of(world.client("ann"), snapshot)[0].status_code for snapshot in (whole, hidden)] == [404, 404]


def test_a_snapshot_s_methods_report_stays_as_it_was(world: World) -> None:
    olga = world.client("olga")
    kept = made(olga, "submitted")
    Campaign.objects.update(name="Another name")
    for form in ("html", "tex", "json"):
        address = reverse("organizer:snapshot_methods", args=["river", kept.pk, form])
        assert "River study" in olga.get(address).content.decode()
        assert "River study" not in olga.get(f"{METHODS}methods.{form}").content.decode()


def test_the_methods_report_says_what_was_done_and_names_nobody(world: World) -> None:
    page = world.client("rita").get(METHODS).content.decode()
    assert re.findall(r"<h2>([^<]+)</h2>", page) == [
        "For the paper",
        "Protocol",
        "Topics, runs and passages",
        "Assessors and judges",
        "Nuggets and labels",
        "Time",
        "Agreement",
        "Exclusions",
        "Versions",
    ]
    assert "2 topics are answered by 2 runs in 3 answers." in page
    report = world.client("rita").get(f"{METHODS}methods.json").json()
    judges = next(section for section in report["sections"] if section["title"] == "Assessors and judges")
    assert [row["judge"] for row in judges["tables"][1]["rows"]] == ["Assessor 1", "robot"]
    assert r"\begin{tabular}" in world.client("rita").get(f"{METHODS}methods.tex").content.decode()


def test_the_lists_queries_stay_the_same_with_more_snapshots(world: World) -> None:
    olga = world.client("olga")
    made(olga, "one")
    few = queries_of(olga, SNAPSHOTS)
    for name in ("two", "three"):
        made(olga, name)
    assert queries_of(olga, SNAPSHOTS) <= few + 1
