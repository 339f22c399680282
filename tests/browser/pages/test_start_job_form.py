"""The form that starts a job, in a real browser: the estimate follows, and Ctrl+Enter starts what is shown."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Run, Topic
from jobs.models import Job
from tests.browser.pages.test_axe import sign_in
from tests.worlds.campaign import make_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


def test_ctrl_enter_starts_what_the_estimate_shows(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    """Check 64."""
    make_world(tmp_path)
    page = chromium.new_page(base_url=live_server.url)
    sign_in(page, "olga")
    page.goto("/campaigns/river/jobs/new/")
    page.check("#kind-support")
    expect(page.locator("#estimate")).to_contain_text("Start: 2 calls")
    expect(page.locator("[name=condition]")).to_have_count(0)
    assert "condition=" not in page.url
    page.click("summary:has-text('Limits')")
    page.fill("[name=most_calls]", "9")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/jobs/*/")
    assert Job.objects.get().llm.most_calls == 9


@pytest.mark.parametrize("kind", ["labels", "nuggets", "drafts", "support", "relevance"])
def test_check_68_the_one_primary_button_of_a_job_is_in_view(
    chromium: Browser, live_server: LiveServer, tmp_path: Path, kind: str
) -> None:
    world = make_world(tmp_path)
    for number in range(40):
        Topic.objects.create(campaign=world.campaign, topic_id=f"n{number:02}", text="more", position=number + 50)
    page = chromium.new_page(base_url=live_server.url, viewport={"width": 1440, "height": 900})
    sign_in(page, "olga")
    page.goto(f"/campaigns/river/jobs/new/?what={kind}")
    expect(page.locator(".go")).to_have_count(1)
    expect(page.locator("[data-primary]")).to_be_in_viewport(ratio=1)


def test_check_41_labels_are_started_from_today_by_six_keys(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    make_world(tmp_path)
    page = chromium.new_page(base_url=live_server.url)
    sign_in(page, "olga")
    page.goto("/campaigns/river/")
    keys = ["Control+k", "l", "a", "b", "Enter", "Control+Enter"]
    for key in keys:
        page.keyboard.press(key)
        if key == "b":
            expect(page.locator("#palette [aria-selected=true]")).to_contain_text("Start a job: Label answers")
        if key == "Enter":
            page.wait_for_url("**/jobs/new/**")
            expect(page.locator("[data-primary]")).to_be_enabled()
    page.wait_for_url(re.compile(r"/jobs/\d+/$"))
    job = Job.objects.get()
    assert job.title == "Label answers, automatic nuggets"
    # One topic has an automatic list; the other's is made first, and all its answers are labelled by it.
    first, second = Topic.objects.order_by("position")
    kinds_and_topics = [(item.kind, item.payload.get("topic")) for item in job.items.order_by("pk")]
    assert kinds_and_topics == [("assign", None), ("assign", None), ("nuggets", second.pk)]
    labelled = [item.payload["answer"] for item in job.items.filter(kind="assign")]
    assert set(labelled) == set(first.answers.values_list("pk", flat=True))
    assert set(job.items.get(kind="nuggets").payload["then_runs"]) == set(Run.objects.values_list("pk", flat=True))


def test_check_65_the_estimate_is_asked_for_within_200_ms(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    """By the page's own clock, which the test moves: what is left of 500 ms is for the answer."""
    make_world(tmp_path)
    page = chromium.new_page(base_url=live_server.url)
    page.clock.install()
    sign_in(page, "olga")
    page.goto("/campaigns/river/jobs/new/?what=support")
    page.clock.pause_at("2100-01-01")
    with page.expect_request("**/jobs/new/?*topics=t2*"):
        page.click("[name=topics][value=t2]")
        page.clock.run_for(200)
    page.clock.resume()
    expect(page.locator("[data-primary]")).to_be_enabled()


def test_check_65_a_late_estimate_never_replaces_a_newer_one(
    chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    make_world(tmp_path)
    page = chromium.new_page(base_url=live_server.url)
    sign_in(page, "olga")
    page.goto("/campaigns/river/jobs/new/?what=support")
    estimate = page.locator("#estimate")
    expect(estimate).to_contain_text("Start: 2 calls")
    held: list[Route] = []

    def delay_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    for first, second in (
        ("[name=topics][value=t1]", "[name=topics][value=t1]"),
        ("#kind-relevance", "#kind-support"),
    ):
        held.clear()
        page.route("**/jobs/new/?*", delay_first)
        with page.expect_request("**/jobs/new/?*"):
            page.click(first)
        with page.expect_response("**/jobs/new/?*"):
            page.click(second)
        expect(estimate).to_contain_text("Start: 2 calls")
        held[0].continue_()
        page.unroute("**/jobs/new/?*")
        page.wait_for_load_state("networkidle")
        expect(estimate).to_contain_text("Start: 2 calls")
