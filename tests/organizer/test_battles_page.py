"""The page of battles: what a draw asks for is seen before it, and more is drawn into a set that is there."""

from pathlib import Path

import pytest

from evaluation.models import AnswerProvenance, Battle, BattleSet, Campaign, Event, SampledBattle
from tests.reports.battles.worlds import load_runs
from tests.worlds.campaign import World
from tests.worlds.cast import make_cast
from tests.worlds.imported import answer, everything, load, sentence, write

pytestmark = pytest.mark.django_db
PAGE = "/campaigns/river/battles/"


@pytest.fixture
def world(tmp_path: Path) -> World:
    load_runs(tmp_path, "abcd", ("t1", "t2", "t3"), lacking=[("t1", "a")])
    campaign = Campaign.objects.get()
    return World(campaign, make_cast(campaign))


def test_a_preview_says_what_a_draw_asks_for_and_draws_nothing(world: World) -> None:
    olga = world.client("olga")
    before = everything()
    page = olga.post(PAGE, {"name": "side", "rounds": "2"})
    text = page.content.decode()
    assert "4 runs, 3 topics, 2 rounds" in text
    assert "Draw 10 battles" in text
    assert "2 more are decided by rule" in text
    assert "Win rates</dt><dd>±" in text
    assert everything() == before


def test_a_preview_counts_answers_that_name_their_run(world: World, tmp_path: Path) -> None:
    olga = world.client("olga")
    assert "own run or group" not in olga.post(PAGE, {"name": "side"}).content.decode()
    lines = [answer("hydra", topic, sentence("By Hydra.")) for topic in ("t1", "t2")]
    load("import_run", "--task", "RAG", write(tmp_path, "hydra.jsonl", lines))
    page = olga.post(PAGE, {"name": "side", "topics": ["t1", "t3"]}).content.decode()
    assert "1 warning of answers that name their own run or group." in page
    assert "own run or group" not in olga.post(PAGE, {"name": "side", "runs": ["a", "b"]}).content.decode()
    assert "sentence 0 names hydra" in olga.get("/campaigns/river/findings/?code=names_its_run").content.decode()


def test_a_preview_counts_controls_beside_the_runs_that_are_named(world: World, tmp_path: Path) -> None:
    lines = [answer("hydra", topic, sentence("By Hydra.")) for topic in ("t1", "t2")]
    load("import_run", "--task", "RAG", "--control", write(tmp_path, "hydra.jsonl", lines))
    page = world.client("olga").post(PAGE, {"name": "side", "runs": ["a", "b"], "controls": "on"}).content.decode()
    assert "3 runs, 3 topics" in page
    assert "2 warnings of answers that name their own run or group." in page


def test_a_set_is_drawn_and_grows_by_its_name(world: World) -> None:
    olga = world.client("olga")
    olga.post(PAGE, {"name": "side", "rounds": "1", "draw": "1"})
    assert Battle.objects.count() == 5
    page = olga.post(PAGE, {"name": "side", "rounds": "2", "draw": "1"}, follow=True).content.decode()
    assert "Drawn: 5 battles." in page
    assert "0 of 10" in page
    assert 'href="/campaigns/river/jobs/new/?what=battle&amp;set=side">Ask an LLM</a>' in page
    assert BattleSet.objects.get().rounds == 2
    assert Event.objects.filter(kind__startswith="battles", actor=world.people["olga"]).count() == 2


def test_what_cannot_be_drawn_is_said_where_it_was_asked(world: World) -> None:
    olga = world.client("olga")
    assert "Rounds of 4 runs: from 1 to 3" in olga.post(PAGE, {"name": "side", "rounds": "9"}).content.decode()
    refused = olga.post(PAGE, {"name": "side", "runs": ["a"], "draw": "1"})
    assert refused.status_code == 422
    assert "needs two runs or more" in refused.content.decode()
    assert not BattleSet.objects.exists()


@pytest.mark.parametrize(("person", "status"), [("rita", 403), ("ann", 404), ("sam", 404)])
def test_only_organizers_draw(world: World, person: str, status: int) -> None:
    assert world.client(person).post(PAGE, {"name": "side", "draw": "1"}).status_code == status
    assert not BattleSet.objects.exists()


def test_a_sample_is_drawn_where_an_llm_judged_all_battles(world: World, tmp_path: Path) -> None:
    olga = world.client("olga")
    olga.post(PAGE, {"name": "side", "rounds": "2", "draw": "1"})
    assert "Samples for people" not in olga.get(PAGE).content.decode()
    runs = dict(AnswerProvenance.objects.values_list("answer", "run__run_id"))
    rows = [
        {"topic_id": battle.topic.topic_id, "left": runs[battle.left_id], "right": runs[battle.right_id]}
        | {"verdict": "left", "judge": "robot"}
        for battle in Battle.objects.select_related("topic")
    ]
    load("import_battles", "--by", "llm", write(tmp_path, "llm.jsonl", rows))
    assert "Samples for people" in olga.get(PAGE).content.decode()
    order = {"sampled": "1", "sample": "side\trobot"}
    page = olga.post(PAGE, order | {"number": "4"}, follow=True).content.decode()
    assert "Drawn for people: 4 battles, 4 in all." in page
    assert "4 of 10" in page
    refused = olga.post(PAGE, order | {"number": "11"})
    assert refused.status_code == 422
    assert "1 to 10 battles" in refused.content.decode()
    assert SampledBattle.objects.exclude(chance=None).count() == 4
    assert world.client("rita").post(PAGE, order | {"number": "6"}).status_code == 403
