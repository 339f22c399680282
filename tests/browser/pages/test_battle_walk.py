"""A battle set from its draw to its corrected win rates: by an organizer's clicks, and two assessors' keys."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Campaign, Task, Verdict
from evaluation.terms import JudgeKind, TaskState
from tests.browser.judge.judging_desk import JudgingDesk
from tests.browser.nugget_desk import CALM
from tests.browser.pages.test_axe import sign_in
from tests.browser.pages.test_whole_campaign import _worker, point_at, simulator, window
from tests.worlds.cast import make_cast
from tests.worlds.imported import answer, load, report, run, sentence, write

__all__ = ["_worker", "point_at", "simulator"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]
TOPICS = [f"t{number}" for number in range(1, 9)]
ANSWERS = {
    "avocet": "Peat bogs hold water back.",
    "curlew": "Peat bogs are wet.",
    "dunlin": "Bogs are old.",
    "egret": "Nothing is known.",
}
BATTLES, SAMPLED = 48, 44
MANUAL, AUTOMATIC = "Edited nuggets, manual labels (E/M)", "Edited nuggets, automatic labels (E/A)"
PEOPLE, LLMS = "Battles, by people (B/M)", "Battles, by LLMs (B/A)"
BOARDS = (
    ("Win rate", MANUAL, PEOPLE, "win"),
    ("Win rate", AUTOMATIC, LLMS, "win"),
    ("Corrected win rate", AUTOMATIC, LLMS, "corrected"),
)
"""Score and condition that are chosen, whose board that is, and how `report battles` names the order."""
VERDICTS = ("1", "ArrowRight", "1", "2", "b", "3", "ArrowLeft")


class CountedDesk(JudgingDesk):
    """A desk whose keys are counted."""

    keys = 0

    def press(self, *chords: str) -> None:
        self.keys += len(chords)
        super().press(*chords)


def load_campaign(folder: Path) -> None:
    assert run("create_campaign", "river", "--name", "Bogs").code == 0
    topics = "".join(f"{topic}\thow do peat bogs hold water, part {topic}\n" for topic in TOPICS)
    load("import_topics", write(folder, "topics.tsv", topics))
    for name, text in ANSWERS.items():
        answers = [answer(name, topic, sentence(text)) for topic in TOPICS]
        load("import_run", "--task", "RAG", write(folder, f"{name}.jsonl", answers))
    make_cast(Campaign.objects.get())


class Organizer:
    """The organizer's page, and what is done on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.acts: list[str] = []

    def click(self, place: Locator) -> None:
        self.acts.append(f"click {place.inner_text()}")
        place.click()

    def open(self, group: str, name: str) -> None:
        menu = self.page.get_by_role("navigation", name="Campaign")
        self.click(menu.locator("summary", has_text=group))
        self.click(menu.get_by_role("link", name=name, exact=True))

    def choose(self, field: str, option: str) -> None:
        """Choose of a select the first option with these words in it."""
        select = self.page.get_by_label(field, exact=True)
        select.select_option(select.locator("option", has_text=option).first.get_attribute("value"))
        self.acts.append(f"choose {option}")


def draw_and_ask(olga: Organizer) -> None:
    olga.open("Set up", "Battle sets")
    olga.click(olga.page.get_by_role("button", name=f"Draw {BATTLES} battles"))
    olga.click(olga.page.get_by_role("link", name="Ask an LLM"))
    olga.click(olga.page.get_by_role("button", name=re.compile("^Start: ")))
    expect(olga.page.locator("#standing")).to_contain_text("Done.", timeout=4 * CALM)


def sample_and_hand_out(olga: Organizer) -> None:
    olga.open("Set up", "Battle sets")
    olga.click(olga.page.locator("summary", has_text="Draw a sample"))
    olga.page.get_by_label("Battles for people, in all").fill(str(SAMPLED))
    olga.click(olga.page.get_by_role("button", name="Draw a sample", exact=True))
    expect(olga.page.locator("#samples")).to_contain_text(f"{SAMPLED} of {BATTLES}")
    olga.open("Judge", "Work")
    olga.click(olga.page.get_by_role("link", name="Hand out…").first)
    olga.click(olga.page.locator("label.kind", has_text="Compare answers"))
    olga.choose("Battles", "the sample for")
    olga.click(olga.page.get_by_role("button", name="All", exact=True))
    # The preview that all battles had is gone: some topic has fewer than six.
    expect(olga.page.get_by_role("cell", name=re.compile("^[1-5]$")).first).to_be_visible()
    olga.click(olga.page.get_by_role("button", name=f"Hand out {len(TOPICS)} tasks"))
    expect(olga.page.get_by_role("heading", name="Work", exact=True)).to_be_visible()


def judge_by_keys(page: Page, name: str) -> tuple[int, int]:
    """Judge all that somebody has, task after task; return how many battles that were, and how many keys."""
    sign_in(page, name)
    page.goto("/desk/")
    tasks = Task.objects.filter(assessor__username=name)
    desk = CountedDesk(page, tasks[0])
    page.get_by_role("link", name=re.compile("^Start")).first.press("Enter")
    page.get_by_role("button", name="Start").press("Enter")
    battles = 0
    for left in range(tasks.count(), 0, -1):
        expect(page.locator("body[data-ready]:not([data-submitted])")).to_be_attached(timeout=CALM)
        desk.desk("desk.lease?.started")
        of = int(page.locator("#answer-head").inner_text().split()[-1])
        for number in range(1, of + 1):
            expect(page.locator("#answer-head")).to_have_text(f"Battle {number} of {of}")
            desk.press(VERDICTS[(battles + number) % len(VERDICTS)], "Enter")
        battles += of
        expect(page.get_by_role("heading", name="Have you completed this topic?")).to_be_focused(timeout=CALM)
        desk.tab_to("dialog [data-do=submit]")
        desk.press("Enter")
        expect(page.locator("body[data-submitted][data-ready]")).to_be_attached(timeout=CALM)
        if left > 1:
            expect(page.locator("#done").get_by_role("button", name="Start")).to_be_focused()
            desk.press("Enter")
    assert desk.console_errors == []
    assert set(tasks.values_list("state", flat=True)) == {TaskState.SUBMITTED}
    return battles, desk.keys


def shows(olga: Organizer, score: str, condition: str, by: str, order: str) -> None:
    """The leaderboard has the figures of `report battles`."""
    main = olga.page.locator("main")
    # A choice that changes nothing has no answer to wait for, and its late one would take back the next choice.
    if f"Scored: {score}." not in main.inner_text():
        olga.choose("Scored", score)
    expect(main).to_contain_text(f"Scored: {score}.", timeout=CALM)
    if f"By: {condition}." not in main.inner_text():
        olga.choose("By", condition)
    expect(main).to_contain_text(f"By: {condition}.", timeout=CALM)
    expect(main).to_contain_text(f"{by}: battles.")
    rows = report("battles", "--condition", "B/M" if by == PEOPLE else "B/A", "--by", order)["runs"]
    for row in rows:
        rate = row["corrected"]["value"] if order == "corrected" else row["win_rate"]
        expect(main.locator("table").first.locator("tr", has_text=row["run_id"])).to_contain_text(f"{rate:.3f}")


@pytest.mark.usefixtures("simulator", "_worker")
def test_battles_are_drawn_judged_by_people_and_an_llm_and_corrected(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    load_campaign(tmp_path)
    with window(chromium, live_server) as office:
        olga = Organizer(office.new_page())
        sign_in(olga.page, "olga")
        olga.page.goto("/campaigns/river/")
        draw_and_ask(olga)
        assert (
            Verdict.objects.filter(judge__kind=JudgeKind.LLM).count() == 2 * BATTLES
        )  # fewer than 100: in both orders
        sample_and_hand_out(olga)
        judged = 0
        for name in ("ann", "ben"):
            with window(chromium, live_server) as home:
                battles, keys = judge_by_keys(home.new_page(), name)
            assert battles >= 20
            tasks = Task.objects.filter(assessor__username=name).count()
            assert keys <= 2 * battles + 5 * tasks
            judged += battles
        assert judged == SAMPLED
        olga.open("Results", "Leaderboard")
        for board in BOARDS:
            shows(olga, *board)
        expect(olga.page.locator("main table thead").first).to_contain_text("People only")
    assert len(olga.acts) <= 26, olga.acts
