"""A campaign of 2026 from its narratives to a leaderboard by weights, by clicks that are counted once all is loaded."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.nugget_desk import CALM
from tests.browser.pages.test_axe import sign_in
from tests.browser.pages.test_whole_campaign import _worker, point_at, simulator, window
from tests.worlds.cast import make_user
from tests.worlds.imported import answer, load, run, segment, sentence, write

__all__ = ["_worker", "point_at", "simulator"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]
NARRATIVE = "How peat bogs hold water back, and which birds nest on wet bogs in spring"
DOCUMENTS = (
    "Peat bogs hold water back like a sponge: which spring is dry, the bogs keep wet.",
    "Curlews are birds that nest on wet bogs in spring, and hold their young back from water.",
)


def load_campaign(folder: Path) -> None:
    """Load a narrative, two documents with text, two runs that cite them, and a rubric."""
    assert run("create_campaign", "river", "--name", "Bogs and bees", "--like", "trec-rag-2026").code == 0
    load("import_topics", write(folder, "topics.tsv", f"901\t{NARRATIVE}\n"))
    documents = [segment(f"d{place}", text) for place, text in enumerate(DOCUMENTS)]
    load("import_segments", write(folder, "documents.jsonl", documents))
    for place, name in enumerate(("curlew", "dunlin")):
        answers = [answer(name, "901", sentence(DOCUMENTS[place], f"d{place}"))]
        load("import_run", "--task", "RAG", write(folder, f"{name}.jsonl", answers))
    criteria = [
        {"text": "bogs hold water back like a sponge", "weight": -2},
        {"text": "curlews nest on wet bogs in spring", "weight": 4},
    ]
    rubric = write(folder, "rubric.jsonl", [{"qid": "901", "query": NARRATIVE, "criteria": criteria}])
    load("import_nuggets", "--origin", "manual", "--judge", "panel", "--set", "rubric", rubric)


@pytest.mark.usefixtures("simulator", "_worker")
def test_a_leaderboard_by_a_rubric_takes_few_clicks(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    make_user("root", is_superuser=True, is_staff=True)
    load_campaign(tmp_path)
    clicked = []
    with window(chromium, live_server) as context:
        page = context.new_page()

        def click(place: Locator) -> None:
            clicked.append(place.inner_text())
            place.click()

        def start() -> None:
            click(page.get_by_role("button", name=re.compile("^Start: ")))
            expect(page.locator("#standing")).to_contain_text("Done.", timeout=4 * CALM)
            click(page.get_by_role("link", name="Back to the checklist"))

        def step(name: str) -> None:
            click(page.locator(".first-steps").get_by_role("link", name=name))

        sign_in(page, "root")
        page.goto(f"{live_server.url}/campaigns/river/")
        step("Make nuggets and labels")
        click(page.locator("label", has_text="Grade passages"))
        start()
        step("Label answers")
        start()
        step("Leaderboard")
        board = page.locator("main table").first
        expect(board).to_contain_text("curlew", timeout=CALM)
        expect(page.get_by_label("Scored")).to_have_value("rubric")
        expect(page.locator("main")).to_contain_text("Manual nuggets, automatic labels (M/A)")
        expect(board.locator("tbody tr").first).to_contain_text("dunlin")
    assert len(clicked) <= 8, clicked
