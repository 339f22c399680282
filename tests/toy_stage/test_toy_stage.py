"""A judging stage that only its entry knows: handed out, judged, submitted, exported, counted and compared."""

import json
import re
from html import unescape
from io import StringIO
from operator import itemgetter
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from assessor.desk.task_progress import progress_of
from evaluation.campaigns.pseudonyms import pseudonym_of
from evaluation.domain.stage_labels import resolve_stage
from evaluation.errors import Refused
from evaluation.models import Judgment
from evaluation.stages import STAGES
from evaluation.tasks.hand_out import givers_of
from exchange.exports.lines import lines_of
from exchange.snapshots.pack import SnapshotContents, pack
from reports.quality.people import shared_by_people
from tests.assessor.desk_client import Window
from tests.toy_stage.stage import POLITE
from tests.worlds.imported import report
from tests.worlds.judging import JudgingWorld, current_task, make_judging_world


@pytest.fixture(autouse=True)
def polite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STAGES, POLITE, POLITE)


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    return make_judging_world(tmp_path)


def window(world: JudgingWorld, name: str, **more: Any) -> Window:
    client = Client()
    client.force_login(world.people[name])
    return Window(client, world.hand(POLITE, name, **more)).open()


def judge(world: JudgingWorld, name: str, **more: Any) -> Window:
    """Ann finds every answer polite, Ben all but gamma's."""
    desk = window(world, name, **more)
    for answer in desk.state()["answers"]:
        label = "no" if name == "ben" and "Bends grow." in text_of(desk, answer["id"]) else "yes"
        receipt = desk.do("label", key=f"{answer['id']}/polite", label=label)
        assert receipt["status"] == "applied", receipt
    response = desk.post("submit/", {"window": desk.window, "seq": desk.state()["seq"]})
    assert response.json() == {"version": 1, "labels": 3}
    return desk


def text_of(desk: Window, answer: str) -> str:
    return str(desk.client.get(desk.url(f"answers/{answer}/")).json()["html"])


def test_each_answer_with_a_word_is_one_unit_of_the_hand_out(world: JudgingWorld) -> None:
    task = world.hand(POLITE, "ann")
    # Those of alpha, beta and gamma; mute has no word.
    assert progress_of([current_task(task.public_id)])[task.pk].labels == 3
    assert task.expected_minutes == 1
    with pytest.raises(Refused, match="has it already"):
        world.hand(POLITE, "ann", again=True)


def test_the_desk_asks_one_question_of_each_answer(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    page = desk.client.get(desk.url()).content.decode()
    assert "Is the answer polite?" in page
    assert 'value="yes"' in page
    assert "Where in the answer" not in page
    [row] = desk.state()["nuggets"]
    assert row["text"] == "Is the answer polite?"


def test_only_labels_of_the_stage_are_taken_and_can_be_undone(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    key = f"{desk.state()['answers'][0]['id']}/polite"
    assert desk.do("label", key=key, label="support")["code"] == "no_such_label"
    assert desk.do("label", key=key, label="yes", sentence=0)["code"] == "bad_operation"
    assert desk.do("label", key=key, label="cant_judge")["code"] == "no_reason"
    assert desk.do("label", key="nobody/polite", label="yes")["code"] == "no_such_pair"
    assert desk.do("label", key=key, label="yes")["rows"][key]["label"] == "yes"
    assert desk.undo()["rows"][key]["label"] is None


def test_what_a_label_says_beside_its_word_is_of_the_stages_schema(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    key = f"{desk.state()['answers'][0]['id']}/polite"
    assert desk.do("label", key=key, label="no", extras={"worse": "Hey."})["code"] == "bad_operation"
    receipt = desk.do("label", key=key, label="no", extras={"better": "Please."})
    assert receipt["rows"][key]["extras"] == {"better": "Please."}
    assert desk.state()["rows"][0]["extras"] == {"better": "Please."}


def test_a_submission_is_frozen(world: JudgingWorld) -> None:
    judge(world, "ann")
    rows = Judgment.objects.current().values_list("label", "judge__name", "topic__topic_id")
    assert list(rows) == [(1, "ann", "t1")] * 3


def test_submitted_labels_are_exported(world: JudgingWorld) -> None:
    judge(world, "ben")
    with pytest.raises(SystemExit):
        call_command("export", "judgments", "--campaign", "river")
    out = StringIO()
    call_command("export", "judgments", "--campaign", "river", "--stage", "polite", stdout=out)
    lines = [json.loads(line) for line in out.getvalue().splitlines() if line.startswith("{")]
    assert [
        (line["run_id"], line["label"], line["judge"]) for line in sorted(lines, key=itemgetter("run_id"))
    ] == [
        ("alpha", "yes", "ben"),
        ("beta", "yes", "ben"),
        ("gamma", "no", "ben"),
    ]


def test_submitted_labels_are_a_collection_of_the_api(world: JudgingWorld) -> None:
    judge(world, "ben")
    olga = Client()
    olga.force_login(world.people["olga"])
    rows = olga.get("/api/v1/judgments/", {"campaign": "river"}).json()["results"]
    assert sorted((row["stage"], row["run_id"], row["label"], row["docid"]) for row in rows) == [
        ("polite", "alpha", "yes", None),
        ("polite", "beta", "yes", None),
        ("polite", "gamma", "no", None),
    ]
    [row] = olga.get("/api/v1/judgments/", {"campaign": "river", "run": "gamma"}).json()["results"]
    assert row["judge"] == pseudonym_of(world.campaign, world.people["ben"].pk)
    assert olga.get(f"/api/v1/judgments/{row['id']}/").json() == row


def test_what_leaves_under_hidden_names_names_nobody(world: JudgingWorld, tmp_path: Path) -> None:
    desk = window(world, "ben")
    key = f"{desk.state()['answers'][0]['id']}/polite"
    desk.do("label", key=key, label="cant_judge", reason="Ask Ben.")
    for answer in desk.state()["answers"][1:]:
        desk.do("label", key=f"{answer['id']}/polite", label="no", extras={"better": "Thanks, BEN."})
    assert desk.post("submit/", {"window": desk.window, "seq": desk.state()["seq"]}).status_code == 200
    file = "\n".join(lines_of("judgments", world.campaign, {"stage": "polite", "pseudonyms": True}))
    olga = Client()
    olga.force_login(world.people["olga"])
    sent = olga.get("/api/v1/judgments/", {"campaign": "river"}).content.decode()
    for text in (file, sent):
        assert text.count(pseudonym_of(world.campaign, world.people["ben"].pk)) == 6
    pack(tmp_path / "river.zip", world.campaign, SnapshotContents(names=False))
    with ZipFile(tmp_path / "river.zip") as archive:
        snapshot = "\n".join(archive.read(name).decode() for name in archive.namelist())
    for text in (file, sent, snapshot):
        assert not re.search(r"\bben\b", text, re.IGNORECASE)


def test_nothing_is_submitted_while_a_label_is_missing(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    response = desk.post("submit/", {"window": desk.window, "seq": 0})
    assert response.json()["code"] == "undecided"
    assert not Judgment.objects.exists()


def test_a_withdrawn_task_counts_nowhere(world: JudgingWorld) -> None:
    desk = judge(world, "ann")
    world.withdraw(desk.task)
    assert not Judgment.objects.current().exists()


def test_a_run_that_comes_later_reopens_the_task(world: JudgingWorld) -> None:
    desk = judge(world, "ann")
    world.run("late", ("Go away.", []))
    assert current_task(desk.task.public_id).state == "reopened"


def test_progress_is_told_on_the_pages_of_assessor_and_organizer(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    desk.do("label", key=f"{desk.state()['answers'][0]['id']}/polite", label="yes")
    assert "1 of 3 labels" in desk.client.get(reverse("assessor:home")).content.decode()
    olga = Client()
    olga.force_login(world.people["olga"])
    work = olga.get(reverse("organizer:work", args=["river"])).content.decode()
    assert "Judge politeness" in work
    assert "1/3" in work
    for page in ("people", "quality", "today"):
        assert olga.get(reverse(f"organizer:{page}", args=["river"])).status_code == 200
    task = olga.get(reverse("organizer:task", args=["river", desk.task.public_id])).content.decode()
    assert "judge politeness" in task
    view = olga.get(reverse("organizer:view_as", args=["river", desk.task.public_id])).content.decode()
    assert "● Yes" in view


def test_it_is_a_step_of_today_from_its_first_task_on(world: JudgingWorld) -> None:
    olga = Client()
    olga.force_login(world.people["olga"])
    today = reverse("organizer:today", args=["river"])
    assert "<h2>Judge politeness</h2>" not in olga.get(today).content.decode()
    judge(world, "ann")
    page = olga.get(today).content.decode()
    card = page[page.index("<h2>Judge politeness</h2>") :]
    assert "1 of 2 topics" in card
    assert "Hand out t2" in card
    link = re.search(r'href="([^"]*step=polite%3Adone[^"]*)"', card)
    assert link
    rows = olga.get(unescape(link[1])).content.decode()
    assert "why rivers bend" in rows
    assert "how dams fail" not in rows


def test_labels_of_two_people_are_compared(world: JudgingWorld) -> None:
    judge(world, "ann")
    judge(world, "ben", again=True)
    [shared] = shared_by_people(world.people["olga"], world.campaign)
    [pair] = shared.pairs
    assert (pair.first.name, pair.second.name, pair.items) == ("ann", "ben", 3)
    report = shared.confusion(pair)
    assert report.labels == ("no", "yes")
    # Rows are Ann's, who never says no.
    assert report.confusion.counts.tolist() == [[0, 0], [1, 2]]
    olga = Client()
    olga.force_login(world.people["olga"])
    page = olga.get(reverse("organizer:quality", args=["river"])).content.decode()
    assert "Judge politeness" in page
    assert "Is the answer polite?" in page


SIDES = {"rows": "polite", "rows_judge": "ann", "columns": "polite", "columns_judge": "ben"}


def test_labels_of_two_people_give_one_matrix_on_the_page_by_the_command_and_the_api(world: JudgingWorld) -> None:
    judge(world, "ann")
    judge(world, "ben", again=True)
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SIDES.items()]
    printed = report("confusion", *options)
    assert printed["labels"] == ["no", "yes"]
    assert printed["counts"] == [[0, 0], [1, 2]]
    assert (printed["pairs"], printed["agreement"]) == (3, pytest.approx(2 / 3))
    olga = Client()
    olga.force_login(world.people["olga"])
    sent = olga.get("/api/v1/reports/confusion/", {"campaign": "river", **SIDES})
    assert sent.json() == printed
    page = olga.get(reverse("reports:confusion", args=["river"]), SIDES).content.decode()
    assert "Politeness label: <bdi>ann</bdi> by <bdi>ben</bdi>" in page
    assert "67\N{NO-BREAK SPACE}%" in page
    pairs = olga.get(reverse("reports:pairs", args=["river"]), {**SIDES, "cell": "differ"}).content.decode()
    assert "Bends grow." in pairs
    assert "<dd>yes</dd>" in pairs


def test_a_side_without_labels_is_told_whose_there_are(world: JudgingWorld) -> None:
    judge(world, "ann")
    with pytest.raises(Refused, match="ben has no labels under polite; there are: ann"):
        resolve_stage(world.campaign, POLITE, judge="ben")
    assert not list(givers_of([world.topic("t2")]))
    assert (world.people["ann"].pk, world.topic().pk) in givers_of([world.topic()])


def test_the_page_of_keys_says_what_they_do_at_the_stage(world: JudgingWorld) -> None:
    ann = Client()
    ann.force_login(world.people["ann"])
    page = ann.get(reverse("assessor:keys")).content.decode()
    assert "Yes in Judge politeness" in page
