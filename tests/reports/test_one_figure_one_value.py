"""A figure has one value and one basis: Today, pages, their files, the API, commands and the methods text agree."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import transaction
from django.urls import reverse
from pytest_django.plugin import DjangoDbBlocker

from evaluation.models import Campaign, Judge, Run
from exchange.demo_campaign import SLUG
from reports.methods.page import prose
from reports.methods.report import methods_report
from reports.quality.judges import trust_of
from tests.reports.surfaces import PRIMARY, admin, check_scores, check_taus, check_today, report, text_of
from tests.reports.test_published_list_qa import load_study
from tests.worlds.cast import make_cast
from tests.worlds.demo import make_demo

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def list_qa(django_db_setup: None, django_db_blocker: DjangoDbBlocker, shared_data: Path) -> Iterator[Campaign]:
    """The list-QA study: A/A is of 99 topics, E/A and E/M are of 49 of them."""
    with django_db_blocker.unblock(), transaction.atomic():
        load_study(shared_data / "qampari-list-qa")
        Run.objects.filter(run_id__startswith="RAGW1").update(group="twelve")
        yield Campaign.objects.get()
        transaction.set_rollback(True)


def test_on_list_qa_with_unequal_topics(list_qa: Campaign) -> None:
    client = admin()
    make_cast(list_qa)
    expected = {condition: check_scores(list_qa, client, condition) for condition in ("A/A", "E/A", "E/M")}
    results = check_today(list_qa, client, expected)
    assert f"{check_taus(list_qa, client, 'A/A', 'E/M')['run_level']:.3f}" == "0.714"
    same = check_taus(list_qa, client, "E/A", "E/M")
    assert results.ranks
    [trust] = trust_of(list_qa)[Judge.objects.get(name="llm").pk]
    assert (results.ranks.tau, results.ranks.runs, results.ranks.topics) == (same["run_level"], 7, 49)
    assert (trust.rank.tau, trust.rank.runs, trust.rank.topics) == (same["run_level"], 7, 49)
    page = text_of(client, reverse("organizer:today", args=["river"]))
    assert "with people, E/A with E/M: 0.714 (7 runs, 49 topics in common)" in page
    text = " ".join(prose(list_qa, methods_report(list_qa)))
    assert re.search(r"0\.\d{3} \([^)]*\) averaged over 38 topics \(11 more have none\)", text)


def test_all_topics_of_each_condition_are_a_choice_that_says_so(list_qa: Campaign) -> None:
    client = admin()
    address = f"{reverse('reports:correlation', args=['river'])}?x=A/A&y=E/M&score={PRIMARY}"
    beside = "7 runs, over all topics of each condition: 99 and 49"
    assert beside not in text_of(client, address)
    page = text_of(client, f"{address}&topics=all")
    assert f"0.810 {beside}" in page
    assert report("correlation", "--x", "A/A", "--y", "E/M", "--topics", "all")["policies"]["topics"] == "all"
    menu = client.get(address).content.decode()
    published = re.findall(r'href="(\?[^"]*)"[^>]*>Automatic nuggets, automatic labels against', menu)
    assert published
    assert all("topics=all" in link for link in published)
    assert "As in the papers, run means are over all topics of each condition." in page
    cost = client.get(reverse("organizer:cost_table", args=["river", "overview", "json"])).json()
    assert {row["condition"]: row["run_level"] for row in cost["rows"]}["A/A"] == pytest.approx(0.714, abs=1e-3)


@pytest.mark.slow
def test_on_the_demo() -> None:
    make_demo()
    campaign, client = Campaign.objects.get(slug=SLUG), admin()
    for condition in ("A/A", "E/M"):
        check_scores(campaign, client, condition)
    for x, y in (("A/A", "E/M"), ("E/A", "E/M")):
        check_taus(campaign, client, x, y)
