"""How long topics took and what judgments cost, on pages of a campaign in which somebody has worked."""

import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.urls import reverse

from assessor.desk.context import open_desk
from evaluation.models import Event, Judge, NuggetList, Qrel, Submission, Task
from evaluation.terms import JudgeKind, SegmentKind
from jobs.models import WorkItem
from llmjobs.models import Call, LlmJob
from organizer.cost import conditions_table
from reports.charts import PAPER
from tests.assessor.timing.clock_tabs import MORNING, Tab, store
from tests.worlds.campaign import World
from tests.worlds.desk import DeskWorld, make_desk_world
from tests.worlds.jobs import make_call, make_item, make_job

pytestmark = pytest.mark.django_db

HALF_AN_HOUR = 1800


@pytest.fixture
def world(tmp_path: Path) -> DeskWorld:
    with time_machine.travel(MORNING - timedelta(hours=1), tick=False):
        made = make_desk_world(tmp_path)
        open_desk(task=made.post_edit.public_id, user=made.people["ann"])
    store(Tab(made.client("ann"), made.post_edit, words=450).then(SegmentKind.READING, HALF_AN_HOUR))
    submit(made.post_edit)
    return made


def submit(task: Task) -> None:
    """Freeze a version without a word about its list: only its time matters here."""
    made = NuggetList.objects.create(nugget_set=task.nuggets, topic=task.topic)
    event = Event.objects.create(campaign=task.campaign, kind="task.submitted")
    Submission.objects.create(task=task, version=task.version, nugget_list=made, at=MORNING, event=event)


def rows_of(world: DeskWorld, address: str) -> list[dict[str, Any]]:
    response = world.client("olga").get(address)
    assert response.status_code == 200, response.content
    found: list[dict[str, Any]] = json.loads(response.content)["rows"]
    return found


def time_rows(world: DeskWorld, part: str, query: str = "") -> list[dict[str, Any]]:
    return rows_of(world, reverse("reports:time_table", args=["river", part, "json"]) + query)


def cost_rows(world: DeskWorld, part: str, query: str = "") -> list[dict[str, Any]]:
    return rows_of(world, reverse("organizer:cost_table", args=["river", part, "json"]) + query)


def test_a_stage_stands_against_the_published_time(world: DeskWorld) -> None:
    (stage,) = time_rows(world, "overview")
    assert (stage["stage"], stage["topics"], stage["point_s"]) == ("post-edit", 1, HALF_AN_HOUR)
    assert (stage["published_s"], stage["of_published"], stage["iqr_s"]) == (3600.0, 0.5, 0.0)
    assert stage["low_s"] <= stage["point_s"] <= stage["high_s"]
    (person,) = time_rows(world, "assessors")
    assert (person["assessor"], person["point_s"]) == ("ann", HALF_AN_HOUR)
    assert time_rows(world, "submissions")[0]["submitted"] == "yes"
    page = world.client("olga").get(reverse("reports:time", args=["river"])).content.decode()
    assert "0:30:00" in page
    chart = reverse("reports:time_picture", args=["river", "overview", "svg"])
    assert world.client("olga").get(chart).content.startswith(b"<svg")


def test_the_pace_is_words_read_per_active_minute(world: DeskWorld) -> None:
    (stage,) = time_rows(world, "overview")
    read = Qrel.objects.filter(source=world.post_edit.qrels, topic=world.post_edit.topic, grade__gte=1)
    texts = read.filter(segment__has_text=True).values_list("segment__text", flat=True)
    words = sum(len(text.split()) for text in texts)
    assert stage["words_per_minute"] == pytest.approx(words / 30)


def test_a_topic_that_is_not_finished_has_no_pace(world: DeskWorld) -> None:
    open_desk(task=world.manual.public_id, user=world.people["ann"])
    tab = Tab(world.client("ann"), world.manual, words=450)
    store(tab.then(SegmentKind.READING, 20))
    rows = {row["stage"]: row for row in time_rows(world, "submissions")}
    assert (rows["manual"]["submitted"], rows["manual"]["point_s"]) == ("not yet", 20)
    assert rows["manual"]["words_per_minute"] is None
    assert rows["post-edit"]["words_per_minute"]


def test_an_idle_limit_that_is_too_short_is_said(world: DeskWorld) -> None:
    page = world.client("olga").get(reverse("reports:time", args=["river"]) + "?idle=5").content.decode()
    assert "This is not a choice of this campaign." in page


def test_an_hourly_rate_prices_measured_time_or_else_published(world: DeskWorld) -> None:
    units = {row["what"]: row for row in cost_rows(world, "units", "?rate=60")}
    edited, manual = units["edited nugget list"], units["manual nugget list"]
    assert (edited["cost"], edited["basis"], edited["units"]) == (30.0, "measured", 1)
    assert (manual["cost"], manual["basis"]) == (150.0, "published")
    assert units["nugget label"]["cost"] is None
    assert {row["cost"] for row in cost_rows(world, "units")} == {None}


@pytest.mark.parametrize("prompt", ["assign", "assign-rubric", "our-own-words"])
def test_an_llm_s_labels_cost_what_its_job_paid_by_whatever_prompt(world: DeskWorld, prompt: str) -> None:
    llm = make_job(
        World(world.campaign, world.people), Judge.objects.create(name="m", kind=JudgeKind.LLM, model="m")
    )
    LlmJob.objects.filter(pk=llm.pk).update(
        prompt_price=Decimal(1), completion_price=Decimal(2), currency="EUR", price_table="t"
    )
    item = make_item(llm, "one", WorkItem.State.DONE, payload={"nuggets": [1, 2, 3, 4]})
    make_call(item)
    Call.objects.update(template=prompt)
    (row,) = [row for row in cost_rows(world, "units") if row["by"] == "m"]
    assert (row["what"], row["units"], row["basis"]) == ("nugget label", 4, "paid")
    assert row["cost"] == pytest.approx((1234 * 1 + 5 * 2) / 1_000_000 / 4)
    page = world.client("olga").get(reverse("organizer:cost", args=["river"])).content.decode()
    assert "LLM prices in EUR." in page
    # Nobody knows what a reply without a number of tokens cost.
    Call.objects.update(completion_tokens=None)
    (row,) = [row for row in cost_rows(world, "units") if row["by"] == "m"]
    assert row["cost"] is None


@pytest.mark.parametrize(
    ("price", "shown"), [("0", "0.00"), ("0.1", "&lt;\N{NO-BREAK SPACE}0.0001"), ("1", "0.0003"), ("9000", "2.78")]
)
def test_only_what_costs_nothing_is_shown_as_nothing(world: DeskWorld, price: str, shown: str) -> None:
    llm = make_job(
        World(world.campaign, world.people), Judge.objects.create(name="m", kind=JudgeKind.LLM, model="m")
    )
    LlmJob.objects.filter(pk=llm.pk).update(
        prompt_price=Decimal(price), completion_price=Decimal(0), currency="EUR", price_table="t"
    )
    make_call(make_item(llm, "one", WorkItem.State.DONE, payload={"nuggets": [1, 2, 3, 4]}))
    page = world.client("olga").get(reverse("organizer:cost", args=["river"])).content.decode()
    row = page[page.index('id="units"') :]
    row = row[row.index(">m<") :]
    assert shown in row[: row.index("</tr>")]


def test_the_campaign_keeps_what_an_hour_costs(world: DeskWorld) -> None:
    page, keep = reverse("organizer:cost", args=["river"]), reverse("organizer:keep_rate", args=["river"])
    olga = world.client("olga")
    assert "Keep 60.00" in olga.get(f"{page}?rate=60.00").content.decode()
    assert "with two decimals" in olga.post(keep, {"rate": "much"}, follow=True).content.decode()
    assert "An assessor&#x27;s hour costs 60.00." in olga.post(keep, {"rate": "60"}, follow=True).content.decode()
    assert {row["what"]: row for row in cost_rows(world, "units")}["edited nugget list"]["cost"] == 30.0
    assert {row["what"]: row for row in cost_rows(world, "units", "?rate=90")}["manual nugget list"][
        "cost"
    ] == 225.0
    assert Event.objects.get(kind="campaign.rate").payload == {"before": "", "rate": "60"}
    assert "Forget it" in olga.get(f"{page}?rate=").content.decode()


def conditions(**costs: float | None) -> list[dict[str, Any]]:
    """Return rows of the table of conditions, each with a tau of run means over enough runs and topics."""
    common = {"run_level": 0.966, "topic_average": 0.9, "runs": 6, "topics": 7}
    return [common | {"condition": name, "cost": cost} for name, cost in costs.items()]


def test_check_81_one_known_cost_is_a_sentence_and_no_chart() -> None:
    section = conditions_table(conditions(MA=100.0, AA=None, EA=None))
    assert section.chart is not None
    assert not section.chart.shown
    note = str(section.note)
    assert "Only MA has a known cost and a tau: 100.00 a topic, tau 0.966." in note
    assert "2 of 3 conditions have no known cost: AA, EA." in note


def test_two_known_costs_are_drawn_on_fixed_axes() -> None:
    section = conditions_table(conditions(MA=100.0, AA=40.0, EA=None))
    assert section.chart is not None
    assert section.chart.shown
    assert "Only" not in str(section.note)
    assert "1 of 3 conditions have no known cost: EA." in str(section.note)
    drawn = json.loads(section.chart.draw(PAPER))
    encoding = drawn["layer"][0]["encoding"]
    assert encoding["x"]["scale"]["domain"] == [0.0, 100.0]
    assert encoding["y"]["scale"]["domain"] == [0.0, 1.0]


def test_a_negative_tau_lengthens_the_axis_to_its_end() -> None:
    rows = [row | {"run_level": -0.2} for row in conditions(MA=100.0, AA=40.0)]
    section = conditions_table(rows)
    assert section.chart is not None
    drawn = json.loads(section.chart.draw(PAPER))
    assert drawn["layer"][0]["encoding"]["y"]["scale"]["domain"] == [-1.0, 1.0]


def test_a_tau_on_few_topics_is_not_drawn() -> None:
    rows = [row | {"topics": 4} for row in conditions(MA=100.0, AA=40.0)]
    section = conditions_table(rows)
    assert section.chart is not None
    assert not section.chart.shown
    tau = next(cell for cell in next(section.cells(rows)) if cell.column.key == "run_level")
    assert tau.hidden is not None
    cost = next(cell for cell in next(section.cells(rows)) if cell.column.key == "cost")
    assert not cost.basis.is_small  # a price rests on no topics


def test_the_page_draws_no_chart_of_one_point(world: DeskWorld) -> None:
    page = world.client("olga").get(reverse("organizer:cost", args=["river"]) + "?rate=60").content.decode()
    assert 'class="plot"' not in page
