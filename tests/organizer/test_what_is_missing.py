"""A report with nothing to show says in a sentence what is missing, and links the page where that is done."""

import html
import re
from pathlib import Path

import pytest
from django.db.models import F
from django.http import QueryDict

from evaluation.campaigns.create import add_member
from evaluation.imports.nuggets import import_nuggets
from evaluation.models import Assignment, Campaign, NuggetSet, SupportJudgment, Verdict
from evaluation.terms import Origin, Role
from organizer.navigation import RESULTS
from reports.battles.page import BattlesForm
from reports.charts import PAPER
from reports.files import PictureForm, drawn
from reports.forms import AgreementForm, ConditionForm, ConfusionForm
from reports.leaderboard.form import LeaderboardForm
from reports.registry import pages
from tests.worlds.battles import judge_battles
from tests.worlds.campaign import NUGGETS, World
from tests.worlds.cast import make_campaign, write_source

PAGES = {page.caption: page for page in RESULTS.pages}
ASKS = r'<div class="empty"><p>(.*?)</p>'


@pytest.fixture
def empty(world: World) -> World:
    campaign = make_campaign("empty")
    for name, role in (("olga", Role.ORGANIZER), ("rita", Role.RESEARCHER)):
        add_member(campaign=campaign, user=world.people[name], role=role)
    return world


def sentences_on(world: World, name: str, address: str) -> list[str]:
    page = world.client(name).get(address, follow=True)
    assert page.status_code == 200
    assert b"Nothing to show" not in page.content or b"What a judgment costs" in page.content
    return re.findall(ASKS, page.content.decode(), re.DOTALL)


@pytest.mark.parametrize("caption", PAGES)
def test_each_report_of_an_empty_campaign_says_what_is_missing(empty: World, caption: str) -> None:
    address = PAGES[caption].address("empty")
    sentences = sentences_on(empty, "olga", address)
    assert sentences
    for sentence in sentences:
        links = re.findall(r'href="(.*?)"', sentence)
        assert links
        client = empty.client("olga")
        assert {client.get(html.unescape(link)).status_code for link in links} == {200}


@pytest.mark.parametrize("caption", PAGES)
def test_who_may_not_do_it_reads_who_does(empty: World, caption: str) -> None:
    for sentence in sentences_on(empty, "rita", PAGES[caption].address("empty")):
        assert "href" not in sentence
        assert "An organizer " in sentence


def opened(form: type, campaign: Campaign, *names: str) -> list[str]:
    return [form(QueryDict(), campaign)[name].value() for name in names]


@pytest.fixture
def unlabelled(world: World, tmp_path: Path) -> Campaign:
    """A campaign whose only nuggets are a person's, without a label."""
    campaign = make_campaign("unlabelled")
    for topic in world.campaign.topics.all():
        topic.pk, topic.campaign, topic.public_id = None, campaign, f"x{topic.public_id}"[:12]
        topic.save()
    source = write_source(tmp_path, "manual.jsonl", NUGGETS)
    import_nuggets(campaign=campaign, source=source, origin=Origin.MANUAL, judge="ann")
    return campaign


def test_a_report_of_nuggets_alone_opens_at_their_condition(unlabelled: Campaign) -> None:
    assert opened(ConditionForm, unlabelled, "condition") == ["M/M"]


def test_reports_open_at_sides_that_have_labels(world: World) -> None:
    """The world has citation labels by people, and labels of automatic nuggets by both."""
    assert opened(LeaderboardForm, world.campaign, "condition", "support") == ["A/A", "scratch"]
    assert opened(AgreementForm, world.campaign, "x", "y") == ["A/A", "A/M"]
    NuggetSet.objects.update(origin=Origin.MANUAL)
    Assignment.objects.filter(judge__name="robot").delete()
    Campaign.objects.update(revision=F("revision") + 1)
    campaign = Campaign.objects.get()
    assert opened(LeaderboardForm, campaign, "condition") == ["M/M"]
    assert opened(ConfusionForm, campaign, "rows", "columns") == ["M/A", "M/M"]


@pytest.mark.parametrize(("left", "battles", "by"), [("llm", "B/A", "A/A"), ("human", "B/M", "M/M")])
def test_reports_of_battles_open_by_whoever_judged(world: World, left: str, battles: str, by: str) -> None:
    judge_battles(world.campaign, "ann", "ben", "robot")
    for labels in (Assignment, SupportJudgment):
        labels.objects.all().delete()
    Verdict.objects.exclude(judge__kind=left).delete()
    assert opened(BattlesForm, world.campaign, "condition") == [battles]
    assert opened(LeaderboardForm, world.campaign, "score", "condition") == ["win", by]


def test_no_picture_is_drawn_of_nothing(empty: World) -> None:
    campaign = Campaign.objects.get(slug="empty")
    charts = [
        section.chart
        for entry in pages().values()
        for section in entry.make(campaign, QueryDict()).sections
        if section.chart
    ]
    for chart in charts:
        assert drawn(chart.draw(PAPER), PictureForm.PNG)


def test_withdrawn_verdicts_are_none(world: World) -> None:
    judge_battles(world.campaign, "ann", "ben", "robot")
    battles = pages()["battles"]
    assert battles.lack_in(Campaign.objects.get()) is None
    Verdict.objects.update(stands=False)
    assert battles.lack_in(Campaign.objects.get()) is not None
