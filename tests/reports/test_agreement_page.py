"""The agreement of two conditions, everything chosen in the address, and its picture."""

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.urls import reverse

from evaluation.imports.assignments import import_assignments
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.support import import_support
from evaluation.models import Topic, TopicTag
from evaluation.terms import JudgeKind, Origin, SupportCondition
from reports.agreement import figures as agreement_figures
from reports.agreement.figures import NO_INTERVAL, Correlation, TopicPoint, TopicPoints, cells_of, is_binned
from reports.charts import PAPER, scatter
from reports.files import PictureForm, drawn
from reports.metrics.agreement import LEVELS, run_level_agreement
from reports.metrics.policies import Policies
from tests.worlds.campaign import LABELS, World, make_world
from tests.worlds.cast import write_source
from tests.worlds.imported import report
from tests.worlds.sized import sized


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def page_of(world: World, query: str = "", page: str = "correlation") -> str:
    address = reverse(f"reports:{page}", args=[world.campaign.slug])
    return world.client("olga").get(address + query).content.decode()


def test_it_starts_with_two_conditions_that_have_labels(world: World) -> None:
    """Check 42: the title is in words."""
    assert "<h1><bdi>Automatic nuggets, automatic labels against automatic nuggets, manual labels" in page_of(
        world
    )


def test_it_says_tau_what_it_rests_on_and_the_policies(world: World) -> None:
    page = page_of(world, "?x=A/A&y=A/M&unjudged=zero")
    for text in (
        "Over run means",
        "Mean over topics",
        "Over all topic-run pairs",
        "2 runs",
        "1 rule differs from TREC 2024: unjudged label counts 0.",
        "labels by robot",
    ):
        assert text in page


def test_it_compares_labels_where_both_share_the_nuggets(world: World) -> None:
    page = page_of(world, "?x=A/A&y=A/M")
    assert "3 pairs" in page
    assert "100\N{NO-BREAK SPACE}%" in page


def test_several_judges_are_said_and_one_can_be_chosen(world: World, tmp_path: Path) -> None:
    import_assignments(
        campaign=world.campaign,
        sources=[write_source(tmp_path, "other.jsonl", LABELS)],
        origin=Origin.AUTO,
        judge="other",
        kind=JudgeKind.LLM,
    )
    page = page_of(world, "?x=A/A&y=A/M")
    assert "Several judges fit A/A; choose one: other, robot." in page
    (way_out,) = re.findall(r'href="(\?[^"]*)"><bdi>other</bdi>', page)
    assert "x_judge=other" in way_out
    assert "labels by other" in page_of(world, way_out.replace("&amp;", "&"))


def test_a_choice_that_does_not_exist_is_said(world: World) -> None:
    assert "This is not a choice of this campaign." in page_of(world, "?x=nothing")


def test_the_picture_is_svg_in_both_themes_and_drawn_once(world: World) -> None:
    client, address = world.client("olga"), world.pages()["scatter"] + "?x=A/A&y=A/M&unjudged=zero"
    light, dark = client.get(address), client.get(address + "&theme=dark")
    assert light["Content-Type"] == "image/svg+xml"
    assert light.content.startswith(b"<svg")
    assert light.content != dark.content
    assert client.get(address).content == light.content


SUPPORT = "".join(
    json.dumps({"run_id": run, "topic_id": "t1", "sentence": 0, "docid": "d1", "label": label}) + "\n"
    for run, label in (("alpha", "partial_support"), ("beta", "no_support"))
)


@pytest.fixture
def supported(world: World, tmp_path: Path) -> World:
    more = SUPPORT.splitlines(keepends=True)[1]
    for judge, kind, condition, text in (
        ("robot", JudgeKind.LLM, SupportCondition.LLM, SUPPORT),
        ("person", JudgeKind.HUMAN, SupportCondition.SCRATCH, more),
    ):
        import_support(
            campaign=world.campaign,
            sources=[write_source(tmp_path, f"s-{judge}.jsonl", text)],
            judge=judge,
            kind=kind,
            condition=condition,
        )
    return world


def taus_of(world: World, query: str) -> dict[str, Any]:
    address = reverse("reports:correlation_table", args=[world.campaign.slug, "taus", "json"])
    found: dict[str, Any] = json.loads(world.client("olga").get(address + query).content)
    return found


def test_support_conditions_are_correlated_as_the_report_does(supported: World) -> None:
    for score in ("weighted_precision", "weighted_recall"):
        printed = report("support-correlation", "--x", "llm", "--y", "scratch", "--score", score)
        found = taus_of(supported, f"?x=llm&y=scratch&score={score}")
        assert {name: found[name] for name in printed} == printed
    assert found["run_level"] == 1.0
    page = page_of(supported, "?x=llm&y=scratch")
    assert "citation precision" in page
    assert "Scored as TREC 2024." in page
    assert "2 pairs" in page


def test_published_pairings_are_one_click_away(supported: World) -> None:
    page = page_of(supported, "?x=A/A&y=A/M&missing=skip")
    (link,) = re.findall(r'href="(\?[^"]+)">Citation labels by LLM against Judge citations, unaided', page)
    assert {"score=weighted_precision", "missing=skip"} <= set(link.lstrip("?").replace("&amp;", "&").split("&"))
    assert "<h1><bdi>Citation labels by LLM against judge citations, unaided" in page_of(
        supported, html.unescape(link)
    )
    assert "against Manual nuggets" not in page


def test_sides_of_two_kinds_and_scores_of_the_other_kind_are_said(supported: World) -> None:
    assert "choose both from one group" in page_of(supported, "?x=llm&y=A/A")
    assert "Citations have no nugget scores" in page_of(supported, "?x=llm&y=scratch&score=all")
    assert "is of citations: choose a nugget score" in page_of(supported, "?x=A/A&y=A/M&score=weighted_recall")


def test_the_labels_lead_to_the_pairs(world: World) -> None:
    assert "/confusion/?rows=A%2FA&amp;columns=A%2FM" in page_of(world, "?x=A/A&y=A/M")


def test_tau_by_number_of_topics_is_shown_when_asked(world: World, tmp_path: Path) -> None:
    nuggets = '{"qid": "t2", "query": "how dams fail", "nuggets": [{"text": "cracks", "importance": "vital"}]}\n'
    query = "?x=A/A&y=A/M&unjudged=zero&x_nuggets=auto-robot&y_nuggets=auto-robot"
    assert "needs scores per topic" in page_of(world, f"{query}&curve=on")
    import_nuggets(
        campaign=world.campaign,
        source=write_source(tmp_path, "more.jsonl", nuggets),
        origin=Origin.AUTO,
        judge="robot",
    )
    assert "Shown from 5 runs and 5 topics on." in page_of(world, f"{query}&curve=on")
    assert "Shown from 5 runs" not in page_of(world, query)
    slug, client = world.campaign.slug, world.client("olga")
    document = json.loads(
        client.get(reverse("reports:correlation_table", args=[slug, "topics", "json"]) + query).content
    )
    (point,) = document["points"]
    assert (point["topics"], point["mean"], point["samples"]) == (2, taus_of(world, query)["run_level"], 1)
    picture = reverse("reports:correlation_picture", args=[slug, "topics", "svg"])
    assert client.get(picture + query).content.startswith(b"<svg")
    assert client.get(f"{picture}?x=nothing").status_code == 404


def test_topics_by_tag_are_a_filter_and_a_table(world: World) -> None:
    topic = Topic.objects.get(campaign=world.campaign, topic_id="t1")
    TopicTag.objects.create(topic=topic, name="rivers")
    page = page_of(world, "?x=A/A&y=A/M&unjudged=zero")
    assert "Rank agreement by topic tag</h2>" in page
    narrowed = page_of(world, "?x=A/A&y=A/M&unjudged=zero&tag=rivers")
    assert re.search("Only topics tagged .?rivers", narrowed)
    assert "Rank agreement by topic tag</h2>" not in narrowed
    assert taus_of(world, "?x=A/A&y=A/M&unjudged=zero&tag=rivers")["topics"] == 1
    assert "This is not a choice" in page_of(world, "?x=A/A&y=A/M&tag=nothing")


@pytest.mark.django_db
def test_the_interval_of_very_many_answers_follows_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = sized(tmp_path, 5, 5)
    monkeypatch.setattr(agreement_figures, "MOST_POINTS", 0)
    query = "?x=A/A&y=A/M&unjudged=zero"
    assert 'hx-select="#pooled"' in page_of(world, query)
    assert 'hx-select="#pooled"' not in page_of(world, f"{query}&whole=on")
    assert set(taus_of(world, query)["intervals"]) == set(LEVELS)


def test_every_answer_leaves_as_a_file(world: World) -> None:
    address = reverse("reports:correlation_table", args=[world.campaign.slug, "answers", "csv"])
    rows = world.client("olga").get(f"{address}?x=A/A&y=A/M&unjudged=zero").content.decode().splitlines()
    assert rows[0] == "run_id,topic_id,task,x,y"
    assert "alpha,t1,RAG,1.0,1.0" in rows


def many_points(number: int) -> TopicPoints:
    place = np.arange(number)
    runs = [(f"r{n}", "RAG") for n in range(70)]
    topics = [f"t{n}" for n in range(number // 70 + 1)]
    return TopicPoints(runs, topics, np.stack([place // 70, place % 70], axis=1), place % 8 / 7, place % 5 / 4)


def test_very_many_answers_are_drawn_as_cells_that_count_them_all() -> None:
    points = many_points(5600)
    assert is_binned(points)
    assert not is_binned(many_points(5000))
    assert points[71] == TopicPoint("r1", "t1", "RAG", 1.0, 0.25)
    assert [point.topic_id for point in points[69:71]] == ["t0", "t1"]
    cells = cells_of(points)
    assert sum(cell["count"] for cell in cells) == len(points)
    assert len(cells) == 40
    assert all(0 <= cell["x"] < cell["x2"] <= 1 for cell in cells)
    none = dict.fromkeys(LEVELS, NO_INTERVAL)
    taus = run_level_agreement({}, {})
    found = Correlation("A/A", "E/M", "all", Policies(), taus, none, (), points)
    picture = drawn(scatter(PAPER, found), PictureForm.SVG)
    assert picture.count(b"<path") < 200


def test_there_is_no_picture_of_a_choice_that_does_not_exist(world: World) -> None:
    assert world.client("olga").get(world.pages()["scatter"] + "?x=nothing").status_code == 404


def test_a_condition_without_nuggets_is_said_and_has_no_picture(world: World) -> None:
    page = page_of(world, "?x=A/A&y=M/M")
    assert "<bdi>M/M</bdi> has no nuggets yet, so there is nothing to compare." in page
    assert "img" not in re.findall(r"<(\w+)", page)
    assert world.client("olga").get(world.pages()["scatter"] + "?x=A/A&y=M/M").status_code == 404
    confusion = world.client("olga").get(reverse("reports:confusion", args=[world.campaign.slug]))
    both = confusion.client.get(f"{confusion.request['PATH_INFO']}?rows=E/A&columns=M/M").content.decode()
    assert "<bdi>E/A</bdi> and <bdi>M/M</bdi> have no nuggets yet" in both
