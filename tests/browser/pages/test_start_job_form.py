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
    asked = [(item.kind, item.payload.get("topic")) for item in job.items.order_by("pk")]
    assert asked == [("assign", None), ("assign", None), ("nuggets", second.pk)]
    labelled = [item.payload["answer"] for item in job.items.filter(kind="assign")]
    assert set(labelled) == set(first.answers.values_list("pk", flat=True))
    assert set(job.items.get(kind="nuggets").payload["then_runs"]) == set(Run.objects.values_list("pk", flat=True))


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
