"""A run's score and the agreement of two conditions, read from every surface that has them, and compared."""

import json
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.models import Campaign
from exchange.exports.score_files import score_fields
from organizer.campaigns.views import scores_of_run
from organizer.today.summary import Results, results_of
from reports.methods.report import methods_report
from reports.metrics.registry import Profile, names_of
from tests.worlds.cast import make_user
from tests.worlds.imported import run

PRIMARY = "vital_strict"
SCORE_NAMES, ALL_SCORES = names_of(Profile.TREC_RAG), names_of(Profile.TREC_RAG, sizes=True)
SCORE_FIELDS = score_fields(Profile.TREC_RAG)


def report(kind: str, *words: object, slug: str = "river") -> Any:
    outcome = run("report", kind, "--campaign", slug, "--format", "json", *words)
    assert outcome.code == 0, outcome.err
    return outcome.json()


def admin() -> Client:
    client = Client()
    client.force_login(make_user("root", is_superuser=True, is_staff=True))
    return client


def text_of(client: Client, address: str) -> str:
    page = client.get(address).content.decode()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def check_scores(campaign: Campaign, client: Client, condition: str) -> dict[str, tuple[float, int]]:
    """Compare each run's primary score and the topics it is over, wherever they stand; return them."""
    slug = campaign.slug
    document = report("scores", "--condition", condition, slug=slug)
    expected = {
        row["run_id"]: (row[PRIMARY], row["topics"]) for row in document["runs"] if row[PRIMARY] is not None
    }
    assert expected
    board = client.get(
        f"{reverse('reports:scores_table', args=[slug, 'runs', 'json'])}?condition={condition}"
    ).json()
    api = client.get(f"/api/v1/scores/?campaign={slug}&condition={condition}").json()
    found = {
        "leaderboard": {row["run_id"]: (row[PRIMARY], row["topics"]) for row in board["runs"]},
        "api": {row["run_id"]: (row[PRIMARY], row["topics"]) for row in api["results"]},
    }
    for surface, scores in found.items():
        assert {run: scores[run] for run in expected} == expected, surface
    page = text_of(client, f"{reverse('reports:scores', args=[slug])}?condition={condition}")
    assert f"{board['topics']} topics with nuggets" in page
    for score, topics in expected.values():
        assert (f"{score:.3f} {topics} topics" in page) is (topics != board["topics"])
    for scored in campaign.runs.filter(run_id__in=expected):
        table = scores_of_run(campaign, scored)
        place = [str(choice) for choice, _ in table.choices].index(condition)
        mean, topics = table.means[place]
        assert (pytest.approx(mean, abs=1e-12), topics) == expected[scored.run_id]
    check_exports(campaign, document)
    check_group_reports(campaign, client, document)
    return expected


def check_exports(campaign: Campaign, document: Any) -> None:
    """Compare all scores of the report with those of `export scores`, and its topics with the lines of each run."""
    outcome = run("export", "scores", "--campaign", campaign.slug, "--condition", document["condition"])
    assert outcome.code == 0, outcome.err
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    means = {line["run_id"]: line for line in lines if line["qid"] == "all"}
    for row in document["runs"]:
        mine = [line for line in lines if line["run_id"] == row["run_id"] and line["qid"] != "all"]
        assert [means[row["run_id"]][SCORE_FIELDS[name]] for name in SCORE_NAMES] == [
            row[name] for name in SCORE_NAMES
        ]
        assert sum(line[SCORE_FIELDS[PRIMARY]] is not None for line in mine) == row["topics"]


def check_group_reports(campaign: Campaign, client: Client, document: Any) -> None:
    """Compare all scores of the report with those of each group's files, page and lines by topic."""
    by_run = {row["run_id"]: row for row in document["runs"]}
    for group in set(campaign.runs.exclude(group="").values_list("group", flat=True)):
        query = {"group": group, "condition": document["condition"]}
        files = {
            part: client.get(
                reverse("reports:group-report_table", args=[campaign.slug, part, "json"], query=query)
            ).json()["rows"]
            for part in ("overview", "topics")
        }
        page = text_of(client, reverse("reports:group-report", args=[campaign.slug], query=query))
        assert files["overview"]
        for row in files["overview"]:
            assert {name: row[name] for name in ALL_SCORES} == {
                name: by_run[row["run_id"]][name] for name in ALL_SCORES
            }
            mine = [line for line in files["topics"] if line["run_id"] == row["run_id"]]
            assert sum(line[PRIMARY] is not None for line in mine) == by_run[row["run_id"]]["topics"]
            assert row[PRIMARY] is None or f"{row[PRIMARY]:.3f}" in page
            assert row["topics"] == by_run[row["run_id"]]["topics"]


def check_today(campaign: Campaign, client: Client, expected: dict[str, dict[str, tuple[float, int]]]) -> Results:
    results = results_of(campaign)
    assert results
    assert {line.run_id: (line.score, line.topics) for line in results.runs}.items() <= expected[
        str(results.choice)
    ].items()
    assert f"{results.topics} topics with nuggets" in text_of(
        client, reverse("organizer:today", args=[campaign.slug])
    )
    return results


def check_taus(campaign: Campaign, client: Client, x: str, y: str) -> Any:
    """Compare three taus and what they are over, wherever they stand; return the command's document."""
    slug, query = campaign.slug, f"?x={x}&y={y}&score={PRIMARY}"
    document = report("correlation", "--x", x, "--y", y, "--score", PRIMARY, slug=slug)
    assert document["policies"]["topics"] == "common"
    file = client.get(reverse("reports:correlation_table", args=[slug, "taus", "json"]) + query).json()
    assert {name: file[name] for name in document} == document
    api = f"/api/v1/reports/correlation/{query}&campaign={slug}"
    assert client.get(api).json() == document
    whole = report("correlation", "--x", x, "--y", y, "--score", PRIMARY, "--topics", "all", slug=slug)
    assert client.get(f"{api}&topics=all").json() == whole
    sides = f"?campaign={slug}&rows={x}&columns={y}"
    matrix = report("confusion", "--rows", x, "--columns", y, slug=slug)
    assert client.get(f"/api/v1/reports/confusion/{sides}").json() == matrix
    page = text_of(client, reverse("reports:correlation", args=[slug]) + query)
    averaged = document["topics"] - document["undefined_topics"]
    over = {"run_level": document["runs"], "topic_average": averaged, "all_topic_run": document["pairs"]}
    words = {"run_level": "runs", "topic_average": "topics", "all_topic_run": "pairs"}
    for level, number in over.items():
        assert re.search(
            rf"{document[level]:.3f} {number:,} {words[level]}", page.replace("\N{MINUS SIGN}", "-")
        ), level
    rows = [
        row
        for section in methods_report(campaign).sections
        for table in section.tables
        for row in table.rows
        if (row.get("x"), row.get("y"), row.get("score")) == (x, y, PRIMARY)
    ]
    assert {row["level"]: (row["tau_b"], row["n"], row["topics"]) for row in rows} == {
        level: (document[level], number, document["topics"]) for level, number in over.items()
    }
    return document
