"""The leaderboard as a page: everything chosen in the address, and the same figures as files."""

import csv
import html
import io
import json
import re
from itertools import combinations
from pathlib import Path

import pytest
from django.urls import reverse

from evaluation.imports.assignments import import_assignments
from evaluation.imports.runs import import_runs
from evaluation.models import Event, Protocol
from evaluation.terms import JudgeKind, Origin
from reports.metrics.scores import DOUBTS
from tests.worlds.campaign import World, make_world, queries_of
from tests.worlds.cast import write_source
from tests.worlds.imported import load, report
from tests.worlds.sized import sized

LABELS = "".join(
    json.dumps(
        {
            "qid": "t1",
            "run_id": run,
            "nuggets": [{"text": "sand moves", "assignment": sand}, {"text": "banks erode", "assignment": banks}],
        }
    )
    + "\n"
    for run, sand, banks in (("alpha", "support", "partial_support"), ("beta", "not_support", "support"))
)


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """The small campaign with its cast, and a second judge whose labels are all there."""
    world = make_world(tmp_path)
    import_assignments(
        campaign=world.campaign,
        sources=[write_source(tmp_path, "full.jsonl", LABELS)],
        origin=Origin.AUTO,
        judge="whole",
        kind=JudgeKind.LLM,
    )
    return world


def page_of(world: World, query: str = "") -> str:
    return world.client("olga").get(world.pages()["scores"] + query).content.decode()


def table_of(world: World, form: str, query: str = "?condition=A/A&judge=whole") -> str:
    address = reverse("reports:scores_table", args=[world.campaign.slug, "runs", form])
    return world.client("olga").get(address + query).content.decode()


def runs_on(page: str) -> list[str]:
    return re.findall(r'<th scope="row" class="run-name">\s*<a [^>]*><bdi>(\w+)</bdi>', page)


def test_runs_stand_by_the_chosen_score_and_by_any_other_column(world: World) -> None:
    query = "?condition=A/A&judge=whole"
    assert runs_on(page_of(world, query)) == ["alpha", "beta"]
    assert runs_on(page_of(world, f"{query}&score=all_strict&sort=-all_strict")) == ["alpha", "beta"]
    assert runs_on(page_of(world, f"{query}&sort=vital")) == ["beta", "alpha"]
    page = page_of(world, f"{query}&sort=-group&columns=group")
    assert runs_on(page) == ["beta", "alpha"]
    assert re.findall(r'aria-sort="(\w+)"', page) == ["descending"]


def test_what_is_undefined_comes_last_whichever_way_it_is_ordered(world: World) -> None:
    for sort in ("vital_strict", "-vital_strict"):
        page = page_of(world, f"?condition=A/A&judge=robot&sort={sort}")
        assert runs_on(page)[-1] == "alpha"
        assert "n = 0 topics" not in page, "words are counted in answers whose score is undefined"


def test_closing_rows_stay_those_of_all_when_a_group_is_chosen(world: World) -> None:
    page = page_of(world, "?condition=A/A&judge=whole&group=team%20b")
    assert runs_on(page) == ["beta"]
    assert "1 run of 2" in page
    assert runs_on(page_of(world, "?condition=A/A&judge=whole&task=RAG")) == ["alpha"]
    assert "Min over runs" in page
    assert page.count("mean over topics</span></th>") == 3, (
        "the most words of runs may be more than any run's mean"
    )


def test_support_of_citations_stands_beside_the_scores(world: World) -> None:
    assert "Citation precision" in page_of(world, "?condition=A/A&judge=whole&support=scratch")
    assert "Citation precision" not in page_of(world, "?condition=A/A&judge=whole&support=")
    rows = json.loads(table_of(world, "json", "?condition=A/A&judge=whole&support=scratch"))["runs"]
    assert {row["run_id"]: row["weighted_precision"] for row in rows}["alpha"] == 1.0


def test_two_judges_are_asked_about_and_a_wrong_choice_is_said(world: World) -> None:
    assert "Several judges fit A/A" in page_of(world, "?condition=A/A")
    assert "This is not a choice of this campaign." in page_of(world, "?condition=nothing")
    address = reverse("reports:scores_picture", args=[world.campaign.slug, "ranking", "svg"])
    assert world.client("olga").get(f"{address}?condition=nothing").status_code == 404


def test_the_link_with_every_choice_holds_those_of_today_s_defaults(world: World) -> None:
    (link,) = re.findall(r'href="\?([^"]+)">Link with every choice', page_of(world, "?judge=whole"))
    assert {"condition=A%2FA", "missing=zero", "unjudged=exclude", "no_vital=zero", "score=vital_strict"} <= set(
        link.split("&amp;")
    )


def test_a_judge_is_chosen_beside_the_condition_where_several_fit(world: World) -> None:
    page = page_of(world, "?condition=A/A&judge=whole")
    choice = page.partition('id="judge-choice"')[2].partition("</div>\n</div>")[0].partition("</select>")[0]
    options = re.findall(r'<option value="(\w*)"( selected)?>', choice)
    assert options == [("", ""), ("robot", ""), ("whole", " selected")]
    other = page_of(world, "?condition=M/M&judge=whole")
    assert "<select" not in other.partition('id="judge-choice"')[2].partition("</div>")[0]
    assert "note-warn" not in other, "a judge of the condition before is forgotten"
    assert "This is not a choice" in page_of(world, "?condition=A/A&judge=nobody")


def test_policies_are_one_line_and_what_differs_is_counted(world: World) -> None:
    """Check 75."""
    assert "Scored as TREC 2024." in page_of(world, "?condition=A/A&judge=whole")
    page = page_of(world, "?condition=A/A&judge=whole&unjudged=zero&no_vital=skip")
    differ = r'class="not-default">\s*2 rules differ from TREC 2024: '
    assert re.search(f"{differ}unjudged label counts 0, no vital nugget is undefined.", page)
    page = page_of(world, "?judge=whole&missing=skip")
    assert "1 rule differs from TREC 2024: missing answer is left out." in page


def test_policies_are_compared_with_the_track_that_the_campaign_is_like(world: World) -> None:
    Protocol.objects.update(first_citations=None, support_measure="sentence")
    page = page_of(world, "?condition=A/A&judge=whole")
    assert "1 rule differs from TREC 2024: citations that count" in page
    payload = {"like": "trec-rag-2026"}
    Event.objects.create(campaign=world.campaign, kind="campaign.changed", payload=payload)
    assert "Scored as TREC RAG 2026." in page_of(world, "?condition=A/A&judge=whole")
    page = page_of(world, "?condition=A/A&judge=whole&measure=first")
    assert "1 rule differs from TREC RAG 2026: citations that count" in page


def test_a_doubt_opens_exactly_its_answers(world: World) -> None:
    """Check 78."""
    query = "?condition=A/A&judge=robot"
    client, board = world.client("olga"), page_of(world, query)
    rows = json.loads(table_of(world, "json", query))["runs"]
    for row in rows:
        line = board.partition(f"<bdi>{row['run_id']}</bdi>")[2].partition("</tr>")[0]
        marks = line.partition('<td class="doubts">')[2].partition("</td>")[0]
        named = {name: row[name] for name in DOUBTS if row[name]}
        assert [text.split()[::-1] for text in re.findall(r">([\d,]+ \w+)</a>", marks)] == [
            [name, str(count)] for name, count in named.items()
        ]
        for address in re.findall(r'href="([^"]+)"', marks):
            page = client.get(html.unescape(address)).content.decode()
            name = address.rpartition("doubt=")[2]
            counts = re.findall(r'<td class="n">([\d,]+)</td>', page)
            assert sum(map(int, counts)) == named[name]
    address = reverse("reports:doubts", args=[world.campaign.slug])
    assert client.get(f"{address}{query}&run=alpha&doubt=nothing").status_code == 404
    assert client.get(f"{address}{query}&run=nothing&doubt=failed").status_code == 404


def test_chosen_columns_are_in_the_address_and_remembered(world: World) -> None:
    client, board = world.client("olga"), world.pages()["scores"]
    query = "?condition=A%2FA&judge=whole"
    assert ">Judged<" not in client.get(board + query).content.decode().partition("<table")[2]
    assert ">Judged<" in client.get(f"{board}{query}&columns=judged").content.decode().partition("<table")[2]
    assert client.get(board + query)["Location"].endswith(f"{query}&columns=judged")
    assert client.get(f"{board}{query}&columns=-").status_code == 200
    assert client.get(board + query).status_code == 200


def test_runs_are_tested_against_each_other_when_asked(world: World) -> None:
    page = page_of(world, "?condition=A/A&judge=whole&compare=on")
    assert "1 paired randomisation test over topics, every change of signs tried" in " ".join(page.split())
    document = json.loads(table_of(world, "json", "?condition=A/A&judge=whole&compare=on"))
    (pair,) = document["comparisons"]
    assert (pair["run_id"], pair["other"], pair["topics"]) == ("alpha", "beta", 1)
    assert pair["p"] == pair["adjusted"] == 1.0
    assert pair["intervals"]["difference"] == {"low": None, "high": None, "reason": "too few topics"}
    assert "paired randomisation" not in page_of(world, "?condition=A/A&judge=whole")


@pytest.mark.django_db
def test_check_79_bars_of_the_page_are_those_of_its_p_table(tmp_path: Path) -> None:
    """Each of six runs has its vital nugget in three topics of twenty more than the one before it."""
    world = sized(tmp_path, 20, 6)
    labels = "".join(
        json.dumps(
            {
                "qid": f"t{topic}",
                "run_id": f"r{run}",
                "nuggets": [
                    {"text": "first", "assignment": "support" if topic < 3 * run + 3 else "not_support"},
                    {"text": "second", "assignment": "not_support"},
                ],
            }
        )
        + "\n"
        for topic in range(20)
        for run in range(6)
    )
    source = write_source(tmp_path, "steps.jsonl", labels)
    import_assignments(
        campaign=world.campaign, sources=[source], origin=Origin.AUTO, judge="steps", kind=JudgeKind.LLM
    )
    address = reverse("reports:scores", args=[world.campaign.slug])
    page = world.client("olga").get(f"{address}?condition=A/A&judge=steps&compare=on").content.decode()
    bars = dict(zip(runs_on(page), re.findall(r'<td class="bars"><span>(.*?)</span></td>', page), strict=True))
    groups = {
        run: {place for place, bar in enumerate(drawn.split("</i>")) if "in" in bar} for run, drawn in bars.items()
    }
    table = page.partition('<table class="tests">')[2].partition("</table>")[0]
    rows = re.findall(r'<th scope="row" class="nowrap"><bdi>(\w+)</bdi></th>(.*?)</tr>', table, re.DOTALL)
    order, different_pairs = [run for run, _ in rows], set()
    for run, row in rows:
        cells = re.findall(r"<td(?: class=\"n (\w*)\")?>(.*?)</td>", row, re.DOTALL)
        for other, (verdict, cell) in zip(order, cells, strict=True):
            if other == run:
                continue
            [p, *_] = re.findall(r"\b[01]\.\d+", cell)
            assert (float(p) < 0.05) is bool(verdict)
            if verdict:
                different_pairs.add(frozenset((run, other)))
    assert 0 < len(different_pairs) < 15
    assert len(set().union(*groups.values())) > 1
    for first, second in combinations(order, 2):
        assert bool(groups[first] & groups[second]) is not ({first, second} in different_pairs), (first, second)


def test_the_files_have_the_figures_of_the_report(world: World) -> None:
    printed = report("scores", "--condition", "A/A", "--judge", "whole")
    document = json.loads(table_of(world, "json"))
    figures = [{name: row[name] for name in printed["runs"][0]} for row in document["runs"]]
    for row, run in zip(figures, printed["runs"], strict=True):
        # The page's file has the intervals of citation support too.
        row["intervals"] = {name: row["intervals"][name] for name in run["intervals"]}
    assert figures == printed["runs"]
    assert document["summary"] == printed["summary"]
    rows = list(csv.DictReader(io.StringIO(table_of(world, "csv"))))
    assert [row["run_id"] for row in rows] == ["alpha", "beta"]
    latex = table_of(world, "tex")
    assert r"alpha & 1.000 &" in latex
    assert r"\bottomrule" in latex


def test_the_csv_correlates_at_one_with_where_it_came_from(world: World, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(table_of(world, "csv"), encoding="utf-8")
    load("import_scores", "--condition", "own", tmp_path / "own.csv")
    found = report("correlation", "--x", "A/A", "--x-judge", "whole", "--y", "own", "--score", "all")
    assert found["run_level"] == 1.0


@pytest.mark.parametrize(("form", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_picture_leaves_in_three_forms(world: World, form: str, start: bytes) -> None:
    address = reverse("reports:scores_picture", args=[world.campaign.slug, "ranking", form])
    response = world.client("olga").get(f"{address}?condition=A/A&judge=whole")
    assert response.content.startswith(start)


@pytest.mark.parametrize(("query", "ground"), [("", "#ffffff"), ("&theme=dark", "#17191c")])
def test_a_picture_brings_its_own_background(world: World, query: str, ground: str) -> None:
    address = reverse("reports:scores_picture", args=[world.campaign.slug, "ranking", "svg"])
    picture = world.client("olga").get(f"{address}?condition=A/A&judge=whole{query}").content.decode()
    assert f'fill="{ground}"' in picture


def test_the_figures_of_an_agreement_leave_too(world: World) -> None:
    for form, text in (("csv", "run_level,"), ("json", '"by_run"'), ("tex", r"run\_level &")):
        address = reverse("reports:correlation_table", args=[world.campaign.slug, "taus", form])
        answer = world.client("olga").get(f"{address}?x=A/A&x_judge=whole&y=A/M").content.decode()
        assert text in answer


def test_the_queries_of_the_page_do_not_grow_with_its_runs(world: World, tmp_path: Path) -> None:
    client, address = world.client("olga"), world.pages()["scores"] + "?condition=A/A&judge=whole"
    before = queries_of(client, address)
    more = (
        '{"run_id": "more", "topic_id": "t1", "topic": "why rivers bend", "references": [], "response_length": 1, '
        '"answer": [{"text": "Yes.", "citations": []}]}\n'
    )
    import_runs(campaign=world.campaign, sources=[write_source(tmp_path, "more.jsonl", more)])
    assert queries_of(client, address) <= before + 2
