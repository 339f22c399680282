"""Answers as their Markdown reads, at the desks: alike for every run, and nothing of them is loaded or linked."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evaluation.imports.runs import import_runs
from evaluation.models import Answer, Task
from tests.browser.accessibility import axe
from tests.browser.judge.judging_desk import JudgingDesk, Visit
from tests.worlds.cast import write_source
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

OBJECTS = [
    "## Why rivers **bend**",
    "| Bank | Speed |",
    "|---|---|",
    "| outer | *fast* |",
    "- Sand is carried [0].",
    "<script>fetch('/stolen')</script><img src='/stolen'>",
    "![A bend](https://images.example/bend.png) as in [this book](https://books.example/).",
]
READ = [
    "Why rivers bend",
    "Bank Speed",
    "",
    "outer fast",
    "Sand is carried [0].",
    "<script>fetch('/stolen')</script><img src='/stolen'>",
    "A bend as in this book.",
]
TEXTS = """() => [...document.querySelectorAll("#answer-text .sentence-text")]
  .map((text) => text.textContent.trim().replace(/\\s+/g, " "))"""
LOOK = """() => [...document.querySelectorAll("#answer-text .sentence-text *")]
  .map((element) => `${element.className} ${getComputedStyle(element).font} ${getComputedStyle(element).display}`)"""
COLUMNS = """() => [...document.querySelectorAll("#answer-text .md-row")].filter((row) => row.childElementCount)
  .map((row) => [...row.children].map((cell) => Math.round(cell.getBoundingClientRect().x)))"""
GAPS = """() => {
  const rows = [...document.querySelectorAll("#answer-text .md-row")].map((row) => row.getBoundingClientRect());
  return rows.slice(1).map((row, index) => Math.round(row.top - rows[index].bottom));
}"""


@pytest.fixture
def written(world: JudgeWorld, tmp_path: Path) -> JudgeWorld:
    """Two runs more, which wrote the same in Markdown."""
    for run in ("r8", "r9"):
        answer = [
            {"text": f"{text}" if number else f"{text} {run}", "citations": [0]}
            for number, text in enumerate(OBJECTS)
        ]
        line = {"run_id": run, "topic_id": "t1", "topic": "", "references": ["p1"], "answer": answer}
        import_runs(
            campaign=world.campaign, sources=[write_source(tmp_path, f"{run}.jsonl", f"{json.dumps(line)}\n")]
        )
    world.campaign.protocol.__class__.objects.update(markdown=True)
    return world


def go_to_written(judge: JudgingDesk, run: str) -> None:
    answer = Answer.objects.get(sentences__text__endswith=f"bend** {run}").public_id
    judge.desk(f"desk.go('{answer}')")
    expect(judge.page.locator("#answer-text")).to_contain_text(run)


def requests_of(page: Page) -> list[str]:
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    return urls


@pytest.mark.parametrize("desk", ["assign", "scratch"])
def test_answers_are_read_as_their_markdown_means(written: JudgeWorld, visit: Visit, desk: str) -> None:
    task: Task = getattr(written, desk)
    looks = []
    with visit(task) as judge:
        urls = requests_of(judge.page)
        for run in ("r8", "r9"):
            go_to_written(judge, run)
            assert judge.page.evaluate(TEXTS) == [f"{READ[0]} {run}", *READ[1:]]
            looks.append(judge.page.evaluate(LOOK))
            assert judge.page.locator("#answer-text").locator("script, img, a").count() == 0
            numbers = judge.page.locator("#answer-text .sentence-number").all_inner_texts()
            assert numbers == [f"S{number}" for number in range(1, len(OBJECTS) + 1)]
            left, other = judge.page.evaluate(COLUMNS)
            assert left == other
            assert max(judge.page.evaluate(GAPS)) <= 1
        assert looks[0] == looks[1]
        expect(judge.page.get_by_role("heading", name="Why rivers bend r9").first).to_be_visible()
        for scheme in ("light", "dark"):
            judge.page.emulate_media(color_scheme=scheme)
            assert axe(judge.page) == []
        assert not [url for url in urls if "stolen" in url or ".example" in url]


def test_search_and_labels_work_on_what_is_read(written: JudgeWorld, visit: Visit) -> None:
    with visit(written.assign) as judge:
        go_to_written(judge, "r8")
        judge.press("/")
        judge.type("rivers bend")
        expect(judge.page.locator("#text-hits")).to_have_text("1 hit")
    with visit(written.scratch) as judge:
        go_to_written(judge, "r8")
        expect(judge.page.locator("#pair-sentence strong")).to_have_text("bend")
        expect(judge.page.locator("#pair-sentence .citation-mark")).to_have_count(0)
