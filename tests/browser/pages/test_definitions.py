"""Check 44: terms on report pages have their definitions by hover, focus and touch, and Escape closes them."""

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from exchange.demo_campaign import PASSWORD, SLUG
from reports.registry import pages
from tests.worlds.demo import make_demo

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

TERMS = {
    "scores": ["Score", "95 % interval", "missing", "Automatic nuggets, automatic labels"],
    "correlation": ["Rank agreement", "Over run means", "Mean over topics", "Over all topic-run pairs"],
    "confusion": ["Nugget label", "kappa", "Strictness", "Opposite labels"],
    "reports:pairs": ["Nugget label"],
    "organizer:quality": ["kappa", "Nugget labels", "Opposite labels", "Judge"],
    "organizer:cost": ["Tau over run means"],
    "reports:methods": ["protocol", "snapshot"],
    "descriptives": ["nugget labels", "Vital", "Support", "Not"],
    "nuggets": ["nugget labels", "Topic", "Unjudged"],
    "support": ["citation labels", "Precision", "Recall", "Full", "Over-citation"],
    "length": ["Run", "Vital, strict", "On the front"],
    "time": ["Write nuggets", "Label answers", "Judge citations, unaided"],
    "group-report": ["Vital, strict", "All"],
}
PAIRS = "?rows=E/A&columns=E/M&cell=differ"


def address_of(name: str) -> str:
    if ":" not in name:
        return f"{reverse(f'reports:{name}', args=[SLUG])}?{pages()[name].example}"
    return reverse(name, args=[SLUG]) + (PAIRS if name == "reports:pairs" else "")


@pytest.fixture
def signed_in(live_server: LiveServer, chromium: Browser) -> Page:
    make_demo()
    context = chromium.new_context(
        base_url=live_server.url, viewport={"width": 1280, "height": 720}, has_touch=True
    )
    page = context.new_page()
    page.goto(reverse("account_login"))
    page.get_by_label("Username or email").fill("olga")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Your account").wait_for(state="attached")
    return page


def test_check_44_terms_are_defined_by_hover_focus_and_touch(signed_in: Page) -> None:
    page = signed_in
    box = page.locator("#definition-at-hand")
    for name, words in TERMS.items():
        page.goto(address_of(name))
        shown = [" ".join(text.split()).rstrip(" ↑↓") for text in page.locator(".term").all_inner_texts()]
        assert set(words) <= set(shown), (name, shown)
        address = page.url
        for place in range(len(shown)):
            term = page.locator(".term").nth(place)
            term.focus()
            expect(box).to_be_visible()
            page.keyboard.press("Escape")
            expect(box).to_have_count(0)
        term = page.locator("main .term").first
        page.locator("h1").first.hover()
        term.hover()
        expect(box).to_be_visible()
        expect(box.get_by_role("link", name="Glossary")).to_have_attribute(
            "href", f"{term.get_attribute('data-glossary')}"
        )
        page.keyboard.press("Escape")
        expect(box).to_have_count(0)
        for place in range(min(3, len(shown))):
            page.evaluate("document.activeElement.blur()")
            page.locator(".term").nth(place).tap()
            expect(box).to_be_visible()
            assert page.url == address
            page.keyboard.press("Escape")


def test_check_44_a_heading_that_is_a_term_orders_by_the_second_tap(signed_in: Page) -> None:
    page = signed_in
    page.goto(address_of("length"))
    heading = page.locator("a.term").first
    heading.tap()
    assert "sort_" not in page.url
    heading.tap()
    page.wait_for_url("**sort_**")
