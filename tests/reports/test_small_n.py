"""Small n: pages show a figure on few topics or pairs in grey, with two decimals and its n; files keep all digits."""

import re
from pathlib import Path

import pytest
from django.template import Context, Template
from django.test import Client
from django.urls import reverse

from accounts.models import User
from evaluation.models import Run, Topic, TopicTag
from exchange.demo_campaign import SLUG
from reports.metrics.intervals import Interval
from reports.metrics.sample_size import has_tau
from tests.worlds.campaign import World
from tests.worlds.demo import make_demo
from tests.worlds.sized import sized


def page_of(world: World, name: str, query: str = "") -> str:
    views = {"quality": "organizer:quality", "campaign": "organizer:campaign"}
    response = world.client("olga").get(address(world, views.get(name, f"reports:{name}")) + query)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def address(world: World, view: str, *rest: object) -> str:
    return reverse(view, args=[world.campaign.slug, *rest])


def drawn(tag: str, **values: object) -> str:
    return Template("{% load reports %}" + tag).render(Context(values))


@pytest.mark.parametrize(("topics", "grey"), [(0, True), (4, True), (5, False), (None, False)])
def test_a_figure_on_fewer_than_five_topics_is_grey(topics: int | None, grey: bool) -> None:
    html = drawn("{% figure value 'fine_score' topics=topics %}", value=0.12345, topics=topics)
    assert html == "0.1235" if not grey else 'class="small-n"' in html and ">0.12 <" in html


@pytest.mark.parametrize(("pairs", "grey"), [(9, True), (10, False)])
def test_a_figure_on_fewer_than_ten_pairs_is_grey(pairs: int, grey: bool) -> None:
    html = drawn("{% figure value 'signed' pairs=pairs %}", value=-0.0351, pairs=pairs)
    assert html == "\N{MINUS SIGN}0.035" if not grey else "\N{MINUS SIGN}0.04 <" in html
    assert ("n = 9 pairs" in html) is grey


def test_grey_is_said_in_words_too() -> None:
    html = drawn("{% figure value 'percent' topics=1 pairs=40 %}", value=0.8125)
    assert "81\N{NO-BREAK SPACE}%" in html
    words = "fewer than 5 topics are too few to be evidence"
    assert f'n = 1 topic<span class="visually-hidden">, {words}</span>' in html
    assert f'title="{words}"' in html


@pytest.mark.parametrize(
    ("topics", "shown", "faint"), [(4, False, False), (5, True, True), (9, True, True), (10, True, False)]
)
def test_intervals_are_absent_then_grey_then_plain(topics: int, shown: bool, faint: bool) -> None:
    html = drawn("{% interval ends topics=topics %}", ends=Interval(0.1, 0.9), topics=topics)
    assert ("0.100 to 0.900" in html) is shown
    assert ("small-n" in html) is (faint or not shown)


@pytest.mark.parametrize(
    ("runs", "topics", "shown"), [(5, 5, True), (4, 5, False), (5, 4, False), (5, None, True)]
)
def test_tau_of_run_means_needs_five_runs_and_topics(runs: int, topics: int | None, shown: bool) -> None:
    assert has_tau(runs, topics) is shown


def board_of(page: str) -> str:
    """Return the table without its drawings, whose places are numbers too."""
    board = page.partition('<table class="board">')[2].partition("</table>")[0]
    return re.sub(r"<svg.*?</svg>", "", board, flags=re.DOTALL)


@pytest.mark.django_db
def test_four_topics_make_a_grey_leaderboard(tmp_path: Path) -> None:
    world = sized(tmp_path, 4, 5)
    page = page_of(world, "scores", "?condition=A/A")
    board = board_of(page)
    figures = re.findall(r'<td class="n(?: primary-column)?"> ?(<span class="small-n".*?) ?</td>', board)
    assert len(figures) >= 5 + 3  # runs, and the closing rows
    assert all("n = 4 topics" in figure for figure in figures)
    assert not re.search(r"\d\.\d{3}", board)
    assert not re.search(r"\d\.\d+ to ", board)
    assert "score-interval" not in page
    file = (
        world.client("olga").get(address(world, "reports:scores_table", "runs", "json") + "?condition=A/A").json()
    )
    assert all(row["vital_strict"] is not None for row in file["runs"])


@pytest.mark.django_db
def test_seven_topics_make_a_board_with_grey_intervals(tmp_path: Path) -> None:
    page = page_of(sized(tmp_path, 7, 5), "scores", "?condition=A/A")
    assert "n = 7" not in board_of(page)
    assert page.count('<g class="score-interval faint">') == 2
    # The other runs have the same score in five topics or more.
    assert page.count('aria-label="no interval: too many equal scores"') == 3


@pytest.mark.django_db
@pytest.mark.parametrize(("topics", "runs"), [(4, 5), (5, 4)])
def test_no_tau_of_run_means_on_few_runs_or_topics(tmp_path: Path, topics: int, runs: int) -> None:
    world = sized(tmp_path, topics, runs)
    page = page_of(world, "correlation", "?x=A/A&y=A/M")
    run_level = page.partition(">Over run means<")[2].partition("</div>")[0]
    assert f"shown from 5 runs and 5 topics on; here {runs} and {topics}" in run_level
    assert not re.search(r"\d\.\d", run_level)
    average = page.partition(">Mean over topics<")[2].partition("</div>")[0]
    assert (f"n = {topics} topics" in average) is (topics < 5)
    # Five topics' taus of four runs are not all defined: those that are make no interval.
    assert "no interval: too few topics" in average
    file = (
        world.client("olga")
        .get(address(world, "reports:correlation_table", "taus", "json") + "?x=A/A&y=A/M")
        .json()
    )
    assert file["run_level"] is not None


@pytest.mark.django_db
def test_tau_of_five_runs_and_topics_has_a_grey_interval(tmp_path: Path) -> None:
    page = page_of(sized(tmp_path, 5, 5), "correlation", "?x=A/A&y=A/M")
    run_level = page.partition(">Over run means<")[2].partition("</div>")[0]
    assert re.search(r'<dd class="figure">\s*.?\d\.\d{3}\s*</dd>', run_level)
    assert 'class="small-n" title="fewer than 10 topics"' in run_level


@pytest.mark.django_db
def test_a_tag_of_one_topic_is_grey_and_has_no_tau(tmp_path: Path) -> None:
    world = sized(tmp_path, 6, 5)
    TopicTag.objects.create(topic=Topic.objects.get(topic_id="t3"), name="history")
    for name, query in (
        ("correlation", "?x=A/A&y=A/M"),
        ("confusion", "?rows=A/A&columns=A/M"),
        ("scores", ""),
    ):
        tags = page_of(world, name, query).partition('id="h-tags"')[2].partition("</section>")[0]
        assert "n = 1" in tags, name
        assert not re.search(r"\d\.\d{3}", tags), name
    for name, query in (("correlation", "?x=A/A&y=A/M"), ("scores", "")):
        tags = page_of(world, name, query).partition('id="h-tags"')[2].partition("</section>")[0]
        assert "n = 1" in tags.partition("<summary>Small tags (1)</summary>")[2], "check 80"


@pytest.mark.django_db
def test_labels_of_few_topics_or_pairs_are_compared_in_grey(tmp_path: Path) -> None:
    world, query = sized(tmp_path, 5, 2), "?rows=A/A&columns=A/M"
    facts = page_of(world, "confusion", query).partition('<dl class="facts">')[2].partition("</dl>")[0]
    assert "n = 5" not in facts
    assert 'class="small-n" title="fewer than 10 topics"' in facts
    facts = (
        page_of(world, "confusion", f"{query}&topic=t1").partition('<dl class="facts">')[2].partition("</dl>")[0]
    )
    assert "n = 1 topic" in facts
    few = page_of(world, "confusion", f"{query}&importance=vital&run=r1").partition('<dl class="facts">')[2]
    assert "n = 5 pairs" in few.partition("</dl>")[0]


@pytest.mark.django_db
def test_an_llm_s_agreement_on_few_pairs_is_grey(tmp_path: Path) -> None:
    table = page_of(sized(tmp_path, 2, 2), "quality").partition('id="h-figures"')[2]
    assert "n = 2 topics" in table.partition("</table>")[0]


@pytest.mark.django_db
def test_report_pages_grey_small_figures(tmp_path: Path) -> None:
    world = sized(tmp_path, 4, 2)
    page = page_of(world, "length")
    assert "n = 4 topics" in page
    assert not re.search(r"<td class=\"n primary-column\">\d\.\d{3}", page)
    run = world.client("olga").get(address(world, "organizer:run", Run.objects.all()[0].pk)).content.decode()
    assert "n = 4 topics" in run.partition("<tfoot>")[2].partition("</tfoot>")[0]
    file = world.client("olga").get(address(world, "reports:length_table", "overview", "json")).json()
    assert {row["per_100_words"] for row in file["rows"]} <= {12.5, 25.0, 37.5, 50.0, 0.0}


@pytest.mark.django_db
def test_tau_by_number_of_topics_begins_at_five(tmp_path: Path) -> None:
    world, query = sized(tmp_path, 6, 5), "?x=A/A&y=A/M&curve=on"
    table = page_of(world, "correlation", query).partition('id="h-topics"')[2].partition("</table>")[0]
    assert re.findall(r'<th scope="row" class="nowrap"><bdi>(\d+)</bdi></th>', table) == ["5", "6"]
    file = world.client("olga").get(address(world, "reports:correlation_table", "topics", "json") + query).json()
    assert {point["topics"] for point in file["points"]} >= {2, 3, 4, 5, 6}
    picture = address(world, "reports:correlation_picture", "topics", "svg") + query
    whole, shown = (world.client("olga").get(picture + more).content for more in ("", "&theme=light"))
    assert shown.count(b" topics: ") == 2 < whole.count(b" topics: ")


INTERVAL = re.compile(r"[^\s(]*\d\S* to [^\s)]*\d[^\s)]*")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("leaderboard/?condition=E/M", 6),
        ("agreement/?x=E/A&y=E/M", 3),
        ("confusion/?rows=E/A&columns=E/M", 3),
        ("reports/support/?condition=llm", 10),
    ],
)
def test_a_tag_of_all_topics_has_the_page_s_intervals(client: Client, page: str, least: int) -> None:
    make_demo()
    TopicTag.objects.bulk_create(
        TopicTag(topic=topic, name="every") for topic in Topic.objects.filter(campaign__slug=SLUG)
    )
    client.force_login(User.objects.get(username="olga"))
    text = " ".join(client.get(f"/campaigns/{SLUG}/{page}").content.decode().split())
    before, _, tags = text.partition('<h2 id="h-tags">')
    found = INTERVAL.findall(re.sub(r"<[^>]+>", " ", tags.partition("</section>")[0]))
    assert len(found) >= least
    there = " ".join(re.sub(r"<[^>]+>", " ", before.replace('aria-label="', "> ").replace('">', " <i>")).split())
    assert [ends for ends in found if ends not in there] == []
