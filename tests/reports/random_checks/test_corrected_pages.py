"""The corrected leaderboard as a page: the switch, the doubts in words, the files, more pairs by a button."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from evaluation.corpus.answers import provenance_for
from evaluation.labelling import touch
from evaluation.labels import AssignmentLabel
from evaluation.models import AnswerProvenance, Assignment, Campaign, Event, Study, StudyPair
from reports.confusion.paired_labels import ItemKind
from reports.confusion.verdicts import adjudicate, find_pair
from reports.metrics.scores import SCORE_NAMES
from tests.worlds.cast import make_cast
from tests.worlds.imported import answer, load, run, sentence, write
from tests.worlds.random_checks import (
    EXAMPLE,
    FIVE,
    LISTS,
    MACHINE,
    add_labels,
    corrected,
    judge,
    make_example,
    make_wide,
    people_rows,
)

pytestmark = pytest.mark.django_db
BOARD = "/campaigns/river/leaderboard/"
CHOSEN = "?condition=E/A&view=corrected"


@pytest.fixture
def folder(db: None, tmp_path: Path) -> Path:
    """The example with its cast and an LLM's labels; five pairs of each run are drawn and nobody judged any."""
    make_example(tmp_path)
    make_cast(Campaign.objects.get())
    assert run(*FIVE).code == 0
    return tmp_path


@pytest.fixture
def judged(folder: Path) -> Path:
    assert judge(folder, people_rows()).code == 0
    return folder


@pytest.fixture
def large(folder: Path) -> Path:
    """Another check, of which every pair is judged, so that every run has a score."""
    assert run(*EXAMPLE[:3], "all", *EXAMPLE[4:], "--per-run", "6").code == 0
    assert judge(folder, people_rows(without=()), study="all").code == 0
    return folder


@pytest.fixture
def wide(db: None, tmp_path: Path) -> Path:
    """Four runs whose complete check tells some apart and others not, and the cast."""
    make_wide(tmp_path)
    make_cast(Campaign.objects.get())
    return tmp_path


def client_of(name: str) -> Client:
    client = Client()
    assert client.login(username=name, password=name)
    return client


def page_of(query: str = CHOSEN, who: str = "olga") -> str:
    return re.sub(r"\s+", " ", unescape(client_of(who).get(BOARD + query).content.decode()))


def text_of(query: str = CHOSEN, who: str = "olga") -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page_of(query, who)))


@pytest.mark.usefixtures("large")
def test_the_switch_leads_to_corrected_scores_and_back() -> None:
    board = page_of("?condition=E/A&score=all_strict")
    assert '<a href="?condition=E%2FA&score=all_strict" aria-current="true">LLM</a>' in board
    assert "People only" not in board
    [link] = re.findall(r'href="(\?[^"]*view=corrected[^"]*)">Corrected</a>', board)
    page = text_of(link)
    assert "Corrected by 12 human judgments of 12." in page
    assert "Corrected, these topics" in page
    assert "topics like these" in text_of(f"{link}&target=new")
    assert "Holm" in text_of("?condition=E/A&score=all_strict")
    assert "Holm" not in page


@pytest.mark.usefixtures("large")
def test_runs_stand_by_the_corrected_score_with_ranks() -> None:
    page = page_of(f"{CHOSEN}&score=weighted")
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    assert re.findall(r"<bdi>(\w)</bdi></a>", body) == ["A", "B"]
    assert [re.sub(r"<[^>]+>", " ", row).split()[:3] for row in body.split("</tr>")[:2]] == [
        ["1", "A", "0.650"],
        ["2", "B", "0.425"],
    ]
    assert "The LLM alone: 0.100 too low on <bdi>B</bdi>." in page


@pytest.mark.usefixtures("large")
def test_a_heading_orders_the_corrected_table() -> None:
    page, orders = page_of(f"{CHOSEN}&score=weighted"), []
    assert re.findall(r'aria-sort="(\w+)"', page) == ["descending"]
    for column in ("run_id", "llm", "people", "corrected"):
        [link] = re.findall(rf'href="(\?[^"]*sort=-?{column}[^"]*)"', page)
        body = page_of(link).partition("<tbody>")[2].partition("</tbody>")[0]
        orders.append("".join(re.findall(r"<bdi>(\w)</bdi></a>", body)))
    assert orders == ["AB", "AB", "AB", "BA"]
    assert "sort=" not in re.findall(r'href="([^"]*)"[^>]*>LLM</a>', page_of(f"{CHOSEN}&sort=-llm"))[0]


@pytest.mark.usefixtures("large")
def test_a_page_of_other_labels_leads_to_a_complete_check() -> None:
    words = "Other corrected scores: all."
    for who in ("olga", "rita"):
        assert words in text_of("?condition=E/M", who)
        assert words not in text_of("?condition=E/A", who)
    [link] = re.findall(r'href="(/campaigns/river/leaderboard/\?[^"]*check=all[^"]*)"', page_of("?condition=E/M"))
    assert "Corrected by 12 human judgments of 12." in text_of(link.removeprefix(BOARD))
    citations = client_of("olga").get(reverse("reports:support", args=["river"])).content.decode()
    assert "Corrected scores of other labels" not in citations


@pytest.mark.usefixtures("folder")
def test_a_check_that_is_not_complete_says_how_far_it_is() -> None:
    words = "Random check check: 0 of 5 pairs judged of A, 0 of 5 pairs judged of B; scores are corrected when all are."
    assert words in text_of()
    for who in ("olga", "rita"):
        assert "People only" not in text_of(who=who)
        assert client_of(who).get(f"{BOARD}corrected.csv{CHOSEN}").status_code == 404
    # Researchers read what is complete, and nothing of what is under way.
    assert "Random check check" not in text_of(who="rita")


@pytest.mark.usefixtures("large")
def test_researchers_read_a_complete_check_and_draw_nothing() -> None:
    page = page_of(who="rita")
    assert "Corrected by 12 human judgments of 12." in re.sub(r"<[^>]+>", "", page)
    assert "judge-more" not in page
    address = reverse("reports:judge_more", args=["river", Study.objects.get(name="check").pk])
    assert client_of("rita").post(address, {"run": "A", "number": 6}).status_code == 403


@pytest.mark.usefixtures("large")
def test_assessors_reach_no_corrected_figure() -> None:
    client = client_of("ann")
    for name in ("", "corrected.csv", "corrected.json"):
        assert client.get(f"{BOARD}{name}{CHOSEN}").status_code == 404
    address = reverse("reports:judge_more", args=["river", Study.objects.get(name="check").pk])
    before = StudyPair.objects.count()
    assert client.post(address, {"run": "A", "number": 6}).status_code == 404
    assert StudyPair.objects.count() == before


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("score", SCORE_NAMES)
@pytest.mark.parametrize("target", ["these", "new"])
def test_files_have_the_digits_of_the_command(score: str, target: str) -> None:
    query = f"{CHOSEN}&score={score}&target={target}"
    words = ("report", "corrected", "--campaign", "river", "--study", "all", "--score", score, "--target", target)
    for form in ("csv", "json"):
        response = client_of("rita").get(f"{BOARD}corrected.{form}{query}")
        assert response.content.decode() == run(*words, "--format", form).out
    page = page_of(query)
    for row in corrected("--score", score, "--target", target, study="all")["runs"]:
        value = row["corrected"]["value"]
        assert value is None or f"{value:.3f}" in page


@pytest.mark.usefixtures("judged")
def test_a_run_s_doubts_are_in_words() -> None:
    assert "too few judgments: 5" in text_of()
    assert "Corrected by 10 human judgments of 12." in text_of()
    assert "The LLM alone" not in text_of()


def test_what_came_since_is_in_words(judged: Path) -> None:
    add_labels(judged, MACHINE | {"A": "SSNSNS"}, "--replace")
    rows = [answer("C", topic, sentence(f"C on {topic}.", 0)) for topic in LISTS]
    load("import_run", "--task", "RAG", write(judged, "C.jsonl", rows))
    page = text_of()
    assert "6 pairs came after the draw: extend the check" in page
    assert "1 LLM label changed since the draw" in page
    assert "audit" not in page.partition("Corrected by")[2].partition("</main>")[0]


@pytest.mark.usefixtures("large")
def test_topics_with_a_tag_and_words_are_not_corrected() -> None:
    assert "People only" not in text_of(f"{CHOSEN}&score=length")
    assert "People only" not in text_of("?condition=A/A&view=corrected")
    # A name that is none here leaves the newest.
    assert "Random check all" in text_of(f"{CHOSEN}&check=nothing")


def neighbours() -> list[tuple[str, str, str, str]]:
    sentence_of = (
        r"(\w+) is ahead of (\w+) by ([\d.]+) \(95 % interval .*?\)\. About (\d+) more judgments? of each"
    )
    return re.findall(sentence_of, text_of(f"{CHOSEN}&score=all"))


@pytest.mark.usefixtures("wide")
def test_runs_that_are_not_apart_share_a_band_and_say_what_would() -> None:
    document = corrected("--score", "all")
    gaps = {frozenset((gap["a"], gap["b"])): gap for gap in document["differences"]}
    found = neighbours()
    assert found
    for a, b, value, more in found:
        gap = gaps[frozenset((a, b))]
        assert (f"{abs(gap['value']):.3f}", str(gap["more"])) == (value, more)
        assert gap["low"] < 0 < gap["high"]
    body = page_of(f"{CHOSEN}&score=all").partition("<tbody>")[2].partition("</tbody>")[0]
    bars = {}
    for row in body.split("</tr>")[:-1]:
        [name] = re.findall(r"<bdi>(\w+)</bdi></a>", row)
        bars[name] = [place for place, mark in enumerate(re.findall(r"<i( class=\"in\")?>", row)) if mark]
    for pair, gap in gaps.items():
        a, b = pair
        assert bool(set(bars[a]) & set(bars[b])) == (gap["low"] <= 0 <= gap["high"])


@pytest.mark.usefixtures("wide")
def test_judging_more_of_each_grows_the_check_once() -> None:
    page = page_of(f"{CHOSEN}&score=all")
    form = re.search(r'<form method="post" action="([^"]*judge-more[^"]*)">(.*?)</form>', page)
    assert form
    runs = re.findall(r'name="run" value="(\w+)"', form[2])
    numbers = re.findall(r'name="number" value="(\d+)"', form[2])
    [more] = re.findall(r"<button>Judge (\d+) more of each</button>", form[2])
    assert {int(number) for number in numbers} == {24 + int(more)}
    client, before = client_of("olga"), StudyPair.objects.count()
    response = client.post(form[1], {"run": runs, "number": numbers}, follow=True)
    came = StudyPair.objects.count() - before
    assert came == sum(min(int(more), 24) for _ in runs)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", response.content.decode()))
    assert f"Drawn for check: {came} pairs more of {runs[0]} and {runs[1]}." in text
    assert "24 of " in text
    assert (
        f'href="{reverse("organizer:study", args=["river", Study.objects.get().pk])}"' in response.content.decode()
    )
    event = Event.objects.get(kind="study.grown")
    assert (event.payload["runs"], event.actor) == (sorted(runs), response.context["user"])
    repeated = client.post(form[1], {"run": runs, "number": numbers})
    assert repeated.status_code == 422
    assert StudyPair.objects.count() == before + came


WRONG: list[dict[str, str]] = [
    {},
    {"run": "alpha"},
    {"run": "zeta", "number": "40"},
    *({"run": "alpha", "number": number} for number in ("many", "-3", "0", "999999999")),
]


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("sent", WRONG)
def test_a_wrong_order_for_more_draws_nothing(sent: dict[str, str]) -> None:
    before = StudyPair.objects.count()
    address = reverse("reports:judge_more", args=["river", Study.objects.get().pk])
    assert client_of("olga").post(address, sent).status_code == 422
    assert StudyPair.objects.count() == before


@pytest.mark.usefixtures("wide")
def test_methods_have_a_paragraph_for_each_complete_check() -> None:
    paragraph = (
        "Of the 192 pairs that llm labelled, 96 were drawn within run and label with chances proportional to their "
        "weight (sequential Poisson sampling, seed demo) and judged blind by 1 person. Scores are post-stratified "
        "(Dirichlet 1/2); 95 % intervals, for these topics."
    )
    page = client_of("rita").get(reverse("reports:methods", args=["river"])).content.decode()
    text, latex = map(unescape, re.findall(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL))
    assert paragraph in text.split("\n\n")
    assert paragraph.replace("%", r"\%") in latex.split("\n\n")
    address = reverse("reports:methods_file", args=["river", "json"])
    sections = json.loads(client_of("rita").get(address).content)["sections"]
    assert [section["sentences"] for section in sections if section["title"] == "Random checks"] == [[paragraph]]


@pytest.mark.usefixtures("folder")
def test_methods_say_nothing_of_a_check_under_way() -> None:
    page = client_of("olga").get(reverse("reports:methods", args=["river"])).content.decode()
    assert "sequential Poisson" not in page


@pytest.mark.usefixtures("wide")
def test_many_refusals_show_both_bounds() -> None:
    answers = AnswerProvenance.objects.filter(run__run_id="alpha").values("answer")
    given = Assignment.objects.filter(judge__name="ann, study check", answer__in=answers)
    Assignment.objects.filter(pk__in=given.values_list("pk", flat=True)[:3]).update(
        label=AssignmentLabel.CANT_JUDGE
    )
    touch(Campaign.objects.get().pk)
    [alpha] = (row for row in corrected("--score", "all")["runs"] if row["run_id"] == "alpha")
    low, high = (alpha["warning"][name] for name in ("low", "high"))
    words = f"3 of 24 could not be judged: {low:.3f} with none supported, {high:.3f} with all"
    assert words in text_of(f"{CHOSEN}&score=all")
    text = client_of("rita").get(reverse("reports:methods", args=["river"])).content.decode()
    assert "3 of them could not be judged." in text


def test_a_verdict_counts_at_once_where_people_differ(large: Path) -> None:
    rows = [row | {"label": "not_support"} for row in people_rows()[:1]]
    assert judge(large, rows, who="ben", study="all").code == 0
    query = f"{CHOSEN}&score=vital_strict"
    assert "0.625" in page_of(query)
    assert "1 pair judged by several people, alpha" in text_of(query)
    olga, campaign = User.objects.get(username="olga"), Campaign.objects.get()
    row = Assignment.objects.get(judge__name="ben, study all")
    key = (row.answer_id, row.nugget_version_id)
    pair = find_pair(provenance_for(olga, campaign), campaign, ItemKind.NUGGETS, key)
    adjudicate(pair, verdict=AssignmentLabel.SUPPORT, category="", note="", actor=olga)
    assert "0.750" in page_of(query)
    assert "0.625" not in page_of(query)
