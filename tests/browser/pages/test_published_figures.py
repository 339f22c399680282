"""Method, section 10, read on the pages: what must come out of the published data, in a browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from tests.browser.pages.test_axe import sign_in
from tests.reports.test_published_list_qa import TAUS, load_study
from tests.reports.test_published_rag24 import AUTO, COMMAND, FILES, GPT, load_topics_and_runs
from tests.worlds.cast import make_user
from tests.worlds.imported import load

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

SPLIT = ("no_edit", "minor_edit", "major_edit", "add_nugget", "remove_nugget")


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer) -> Iterator[Page]:
    make_user("root", is_superuser=True, is_staff=True)
    context = chromium.new_context(base_url=live_server.url)
    made = context.new_page()
    sign_in(made, "root")
    yield made
    context.close()


def text_on(page: Page, address: str, **query: str) -> str:
    page.goto(f"/campaigns/river/{address}/?{urlencode(query)}")
    return re.sub(r"\s+", " ", page.locator("main").inner_text())


def row_of(page: Page, name: str) -> list[str]:
    found = page.locator("tr").filter(has=page.locator("th", has_text=name)).first
    return [re.sub(r"\s+", " ", cell.strip()) for cell in found.locator("th, td").all_inner_texts()]


def taus_on(page: Page, **query: str) -> list[str]:
    text_on(page, "agreement", **query)
    return page.locator(".taus .figure").all_inner_texts()


def test_the_list_qa_study(page: Page, shared_data: Path) -> None:
    load_study(shared_data / "qampari-list-qa")
    for policies, score, expected in TAUS:
        chosen = {
            name.removeprefix("--"): value for name, value in zip(policies[::2], policies[1::2], strict=True)
        }
        assert taus_on(page, x="A/A", y="E/M", score=score, **chosen) == [f"0{figure}" for figure in expected], (
            policies
        )
    for score, expected in (
        ("vital_strict", ["0.714", "0.881", "0.880"]),
        ("all_strict", ["0.714", "0.851", "0.865"]),
    ):
        assert taus_on(page, x="E/A", y="E/M", score=score) == expected
        assert "343 pairs" in page.locator(".taus").inner_text()
    check_confusion(page)
    check_descriptives_and_edits(page)


def check_confusion(page: Page) -> None:
    """Counts, shares and coefficients of both assigners."""
    text = text_on(page, "confusion", rows="E/A", columns="E/M")
    cells = [
        re.sub(r"\D.*", "", cell.replace(",", "")) for cell in page.locator(".heat a.cell b").all_inner_texts()
    ]
    assert cells == ["1683", "36", "25", "10", "34", "83", "2", "5", "642"]
    for figure in ("2,520 pairs", "93.61", "0.860", "linear-weighted 0.911", "0.0595", "5.04", "2.98"):
        assert figure in text


def check_descriptives_and_edits(page: Page) -> None:
    """The lists of both sets, and what the authors say of their edits beside what is inferred."""
    text_on(page, "reports/descriptives")
    assert row_of(page, "auto-llm")[3:7] == ["100", "7.64", "7.24", "71.6 %"]
    assert row_of(page, "edited-authors")[3:7] == ["50", "7.20", "9.05", "80.8 %"]
    text_on(page, "reports/nuggets")
    shares = {name: row_of(page, name.replace("_", " "))[-1] for name in SPLIT}
    assert shares == dict(zip(SPLIT, ("32.0 %", "16.0 %", "28.0 %", "34.0 %", "34.0 %"), strict=True))


def test_the_2024_track(page: Page, shared_data: Path) -> None:
    data = shared_data / "trec-rag-2024"
    load_topics_and_runs(data, "runs")
    for code in ("response_length", "answer_too_long", "too_many_references", "duplicate_reference"):
        assert findings(page, code, "") == 0
    load("import_nuggets", *AUTO, data / "nuggets.mistral.jsonl")
    load("import_assignments", *AUTO, "--by", "llm", *(data / "assignments.mistral" / name for name in FILES))
    check_leaderboard(page)
    text_on(page, "reports/support", condition="scratch")
    assert {"13.21", "3,975", "1,662"} <= set(row_of(page, GPT))
    assert {"12.26", "3,690", "329"} <= set(row_of(page, COMMAND))


EVERY_SCORE = "vital.weighted_strict.weighted.all_strict.all.topics.judged.failed.unjudged.excluded.missing"


def check_leaderboard(page: Page) -> None:
    """Scores, lengths and counts under both policies about unjudged labels; the files have four decimals and more."""
    text_on(page, "leaderboard", condition="A/A", unjudged="zero", columns=EVERY_SCORE)
    gpt, command = row_of(page, GPT), row_of(page, COMMAND)
    assert {"0.408", "0.470", "0.303", "0.365", "0.340", "300.93", "25"} <= set(gpt)
    assert {"0.403", "0.481", "0.307", "0.385", "0.340", "251.75", "26"} <= set(command)
    text_on(page, "leaderboard", condition="A/A", unjudged="exclude", columns=EVERY_SCORE)
    # These means are over fewer topics than the heading says, and the cell says over how many.
    assert {"0.414 291 topics", "291"} <= set(row_of(page, GPT))
    assert {"0.407 290 topics", "290"} <= set(row_of(page, COMMAND))


def test_the_2024_runs_as_their_system_wrote_them(page: Page, shared_data: Path) -> None:
    load_topics_and_runs(shared_data / "trec-rag-2024", "runs-as-submitted")
    codes = ("response_length", "answer_too_long", "duplicate_citation")
    assert [findings(page, code, GPT) for code in codes] == [53, 30, 5]
    assert [findings(page, code, COMMAND) for code in codes] == [44, 10, 0]


def findings(page: Page, code: str, run_id: str) -> int:
    """How many findings the page counts; a code that no finding has is no choice, and filters nothing away."""
    text_on(page, "findings", code=code, run=run_id)
    offered = page.locator("select[name=code] option").evaluate_all("all => all.map(one => one.value)")
    return int(page.locator(".page-head .muted").inner_text().replace(",", "")) if code in offered else 0
