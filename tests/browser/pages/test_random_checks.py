"""Random checks in a real browser: the form, and a check from its button to its growth, judged blind on the way."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Campaign, Study, StudyPair, Task
from tests.browser.judge.judging_desk import JudgingDesk
from tests.browser.pages.test_axe import sign_in
from tests.worlds.cast import make_cast
from tests.worlds.random_checks import load_world
from tests.worlds.study import EXPERT, make_study_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


def test_ctrl_enter_draws_what_the_preview_shows(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    make_study_world(tmp_path)
    page = chromium.new_page(base_url=live_server.url)
    sign_in(page, "olga")
    page.goto("/campaigns/river/random-checks/new/")
    preview, button = page.locator("#preview"), page.locator("#preview button")
    expect(button).to_contain_text("Draw 9 pairs")
    page.fill("[name=per_run]", "19")
    expect(preview).to_contain_text("Expected at least 20, found")
    expect(button).to_be_disabled()
    page.fill("[name=per_run]", "20")
    expect(button).to_contain_text("Draw 9 pairs")
    page.click("summary:has-text('Known labels')")
    page.check(f"text={EXPERT}")
    expect(preview).to_contain_text("beside 9 known")
    page.uncheck(f"text={EXPERT}")
    page.click("summary:has-text('Runs')")
    page.check("#id_runs_0")
    page.keyboard.press("Control+Enter")
    expect(page.locator("h1")).to_have_text("Check 1")
    assert Study.objects.get().design["runs"] == ["alpha"]


def test_without_a_script_a_button_previews(chromium: Browser, live_server: LiveServer, tmp_path: Path) -> None:
    make_study_world(tmp_path)
    page = chromium.new_context(java_script_enabled=False, base_url=live_server.url).new_page()
    sign_in(page, "olga")
    page.goto("/campaigns/river/random-checks/new/")
    page.fill("[name=seed]", "rivers")
    page.click("summary:has-text('Runs')")
    page.check("#id_runs_0")
    page.click("button:has-text('Preview')")
    expect(page.locator("#preview button")).to_contain_text("Draw 3 pairs")
    expect(page.locator("[name=seed]")).to_have_value("rivers")
    expect(page.locator("#id_runs_0")).to_be_checked()
    assert not Study.objects.exists()


MACHINE = "canary-robot"
NEVER_SENT = (MACHINE, "audit", "random check", "stratum", "by chance")
LISTS = dict.fromkeys(("t1", "t2"), ("vital", "okay") * 10)
GUESSES = {"alpha": "SSNN" * 10, "beta": "SNNP" * 10}
KEYS = "1321331"
"""Support, not, partial: what Ann presses, over and over."""


def test_a_check_is_drawn_judged_blind_shown_and_grown(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    load_world(tmp_path, LISTS, GUESSES, judge=MACHINE)
    make_cast(Campaign.objects.get())
    olga = signed_in(chromium, live_server, "olga")
    check = draw_and_hand_out(olga)
    judge_as_ann(chromium, live_server)
    olga.goto(check)
    expect(olga.locator("main")).to_contain_text("40 of 40 drawn, of 80 pairs, by ann")
    more = switch_to_corrected(olga)
    expect(olga.locator("main")).to_contain_text(f"Drawn for Check 1: {2 * more} pairs more of")
    expect(olga.locator("main")).to_contain_text(f"20 of {20 + more} pairs judged of alpha")
    expect(olga.locator("main")).not_to_contain_text("People only")
    assert StudyPair.objects.count() == 40 + 2 * more
    ann = signed_in(chromium, live_server, "ann")
    ann.goto("/")
    expect(ann.locator("main")).to_contain_text("New pairs to judge")


def signed_in(chromium: Browser, live_server: LiveServer, who: str) -> Page:
    page = chromium.new_context(base_url=live_server.url).new_page()
    sign_in(page, who)
    return page


def draw_and_hand_out(olga: Page) -> str:
    """Draw a check as the form proposes it, hand all of it to Ann, and return its address."""
    olga.goto("/campaigns/river/")
    olga.get_by_text("Judge", exact=True).first.click()
    olga.get_by_role("link", name="Random checks").first.click()
    olga.get_by_role("link", name="Draw a random check").click()
    olga.wait_for_load_state("networkidle")  # the preview listens from then on
    olga.get_by_label("Pairs a run").fill("20")
    expect(olga.locator("#preview")).to_contain_text("2 runs x 20 = 40 of 80 pairs")
    olga.get_by_role("button", name="Draw 40 pairs").click()
    expect(olga.locator("main")).to_contain_text("0 of 40 drawn, of 80 pairs")
    olga.locator("summary", has_text="Hand out").click()
    olga.get_by_label("Assessor").select_option("ann")
    olga.get_by_role("button", name="Hand out").click()
    expect(olga.locator("main")).to_contain_text("Tasks handed out: 2.")
    return olga.url


def switch_to_corrected(olga: Page) -> int:
    """Go to the corrected leaderboard, back to the LLM's, and press the button that grows; return its number."""
    olga.get_by_role("link", name="Leaderboard with corrected scores").click()
    expect(olga.locator("main")).to_contain_text("Corrected by 40 human judgments of 80.")
    olga.get_by_role("link", name="LLM", exact=True).first.click()
    expect(olga.locator("main")).not_to_contain_text("People only")
    olga.get_by_role("link", name="Corrected", exact=True).click()
    button = olga.get_by_role("button", name="more of each")
    number = int(button.inner_text().split()[1])
    button.click()
    return number


def judge_as_ann(chromium: Browser, live_server: LiveServer) -> None:
    page = signed_in(chromium, live_server, "ann")
    bodies: list[str] = []

    def read(route: Route) -> None:
        response = route.fetch(max_redirects=0)
        bodies.append(response.text().lower())
        route.fulfill(response=response)

    page.route(lambda address: "/static/" not in address, read)
    for task in Task.objects.select_related("assessor").order_by("pk"):
        page.goto("/")
        page.locator(f"a.button[href*='{task.public_id}']").click()
        page.get_by_role("button", name="Start").click()
        judge_task(page, task)
    assert len(bodies) > 8
    assert any("alpha on t1" in body for body in bodies)
    assert [(word, body) for body in bodies for word in NEVER_SENT if word in body] == []


def judge_task(page: Page, task: Task) -> None:
    desk = JudgingDesk(page, task)
    desk.ready()
    for number in (1, 2):
        desk.answer_is(number)
        rows = page.locator("#label-rows .row:visible").count()
        desk.press("w", *(KEYS * rows)[:rows])
    desk.saved()
    desk.submit()
    assert desk.console_errors == []
