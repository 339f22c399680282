"""Check 82: charts have fixed axes with ticks enough to read, and their marks open what they show."""

import re
from typing import Literal

import pytest
from django.http import QueryDict
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Campaign
from exchange.demo_campaign import PASSWORD, SLUG
from reports.registry import pages
from tests.browser.pages.every_page import make_every_page
from tests.browser.pages.test_axe import sign_in

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

COST = "reports/cost/"
TICKS = """(chart) => [...chart.querySelectorAll(".role-axis")]
    .map((axis) => [...axis.querySelectorAll(".role-axis-label text")].map((text) => text.textContent))
    .filter((ticks) => ticks.length)"""
GAPS = """(chart) => [...chart.querySelectorAll(".role-axis-label text[text-anchor=end]")]
    .map((text) => -text.transform.baseVal.consolidate().matrix.e)
    .filter((gap) => gap > 0)"""
LETTERS = """(chart) => [...chart.querySelectorAll("text")]
    .filter((text) => text.textContent.trim())
    .map((text) => [parseFloat(getComputedStyle(text).fontSize), text.getScreenCTM()])
    .map(([size, { a, b }]) => size * Math.hypot(a, b))"""
NUMBER = re.compile(r"\W?[\d,.]+%?")
OPENS = (
    """() => location.pathname + location.search + (document.activeElement.matches("tr, .scroll") ? " row" : "")"""
)


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer) -> Page:
    make_every_page()
    page = chromium.new_page(base_url=live_server.url, viewport={"width": 1440, "height": 900})
    sign_in(page, "olga", PASSWORD)
    return page


def charts() -> dict[str, int]:
    campaign, numbers = Campaign.objects.get(slug=SLUG), {COST: 1}
    for report in pages().values():
        made = report.make(campaign, QueryDict(report.example))
        numbers[f"{report.address}?{report.example}"] = sum(
            bool(section.shown and section.chart and section.chart.shown) for section in made.sections
        )
    return {address: number for address, number in numbers.items() if number}


def charts_on(page: Page, address: str, number: int) -> Locator:
    page.goto(f"/campaigns/{SLUG}/{address}")
    drawn = page.locator("figure .drawn")
    expect(drawn).to_have_count(number)
    return drawn


def test_check_82_axes_are_whole_and_have_three_ticks(page: Page) -> None:
    problems = []
    for address, number in charts().items():
        for chart in charts_on(page, address, number).all():
            for ticks in chart.evaluate(TICKS):
                if not all(map(NUMBER.fullmatch, ticks)):
                    continue  # names
                if len(ticks) < 3:
                    problems.append(f"{address}: only {ticks}")
                if "." in ticks[0] and float(ticks[-1]) <= 1 and ticks[-1] != "1.0":
                    problems.append(f"{address}: a share ends at {ticks[-1]}")
                if "%" in ticks[0] and (ticks[0], ticks[-1]) != ("0%", "100%"):
                    problems.append(f"{address}: a share goes from {ticks[0]} to {ticks[-1]}")
    assert not problems


def test_words_beside_an_axis_do_not_touch_it(page: Page) -> None:
    gaps = [
        gap
        for address, number in charts().items()
        for chart in charts_on(page, address, number).all()
        for gap in chart.evaluate(GAPS)
    ]
    assert gaps
    assert min(gaps) > 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_of_charts_are_large_enough_on_a_phone(page: Page, scheme: Literal["light", "dark"]) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme=scheme)
    for address, number in charts().items():
        for chart in charts_on(page, address, number).all():
            assert min(chart.evaluate(LETTERS)) >= 11, address
        assert page.evaluate("document.documentElement.scrollWidth") == 390, address


def test_charts_are_as_large_where_no_script_draws_them(
    chromium: Browser, live_server: LiveServer, page: Page
) -> None:
    plain = chromium.new_page(
        base_url=live_server.url, viewport={"width": 390, "height": 844}, java_script_enabled=False
    )
    plain.context.add_cookies(page.context.cookies())  # type: ignore[arg-type]  # what one reads the other takes
    plain.goto(f"/campaigns/{SLUG}/reports/length/")
    figure = plain.locator("figure").first
    assert figure.evaluate("figure => figure.scrollWidth") > 600
    assert figure.evaluate("figure => figure.clientWidth") < 390


def opened_by(page: Page, address: str, number: int, place: int, mark: int, how: str) -> str:
    found = charts_on(page, address, number).nth(place).locator("[tabindex]").nth(mark)
    before = page.url
    if how == "Enter":
        found.press("Enter")
    else:
        found.dispatch_event("click")
    page.wait_for_function(
        "(before) => location.href !== before || document.activeElement.matches('tr, .scroll')", arg=before
    )
    page.wait_for_load_state()
    return str(page.evaluate(OPENS))


def test_check_82_marks_open_their_thing_by_key_and_click(page: Page) -> None:
    opened: dict[str, list[str]] = {}
    for address, number in charts().items():
        for place in range(number):
            first, last = (opened_by(page, address, number, place, mark, "Enter") for mark in (0, -1))
            assert last == opened_by(page, address, number, place, -1, "click"), (address, place)
            opened.setdefault(address.partition("?")[0], []).extend([first, last])
    assert opened["reports/cost/"][0] == f"/campaigns/{SLUG}/leaderboard/?condition=A/A"
    assert opened["reports/time/"][0] == f"/campaigns/{SLUG}/work/?stage=post-edit"
    assert "/topics/" in opened["reports/group-report/"][0]
    assert "/runs/" in opened["reports/length/"][0]
    assert opened["reports/descriptives/"][2:] == [f"/campaigns/{SLUG}/reports/descriptives/ row"] * 4


def test_check_43_the_words_of_charts_are_those_of_pages(page: Page) -> None:
    retired = re.compile(r"post-edit|by hand|\bscratch|\bassign|segments?|qrels|run level|topic average|pooled")
    found = []
    for address, number in charts().items():
        for chart in charts_on(page, address, number).all():
            words = chart.evaluate(
                """(chart) => [...chart.querySelectorAll("text, title, desc, [aria-label]")]
                    .map((part) => part.getAttribute("aria-label") ?? part.textContent)"""
            )
            found += [f"{address}: {text}" for text in words if retired.search(text)]
    assert not found
