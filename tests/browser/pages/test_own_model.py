"""An own model, from Today to its labels, by clicks that are counted; and a prompt that is written with its example."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Assignment, Judge
from llmjobs.client import close_clients
from llmjobs.models import Prompt
from loadtest.servers.simulator import LoggedSimulator, running_simulator
from tests.browser.nugget_desk import CALM
from tests.browser.pages import test_axe
from tests.browser.pages.test_axe import sign_in
from tests.browser.pages.test_whole_campaign import _worker, window
from tests.organizer.judges.conftest import KEY, List, _no_endpoint, list_endpoints
from tests.worlds.campaign import World

__all__ = ["_no_endpoint", "_worker", "list_endpoints"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]
world, page = test_axe.world, test_axe.page


@pytest.fixture
def lab(list_endpoints: List) -> Iterator[LoggedSimulator]:
    """The simulated LLM as the listed endpoint `lab`, with a key of its own."""
    with running_simulator() as simulator:
        list_endpoints(lab=simulator.base_url)
        yield simulator
        close_clients()


def type_in(page: Page, first: str, key: str, then: str) -> None:
    page.keyboard.type(first)
    page.keyboard.press(key)
    page.keyboard.type(then)


@pytest.mark.usefixtures("lab", "_worker")
def test_walk_b_an_own_model_labels_after_twelve_clicks(
    world: World, chromium: Browser, live_server: LiveServer
) -> None:
    """Check 69: a connection is made, tested and used by a judge; the key's value is on none of the pages."""
    clicked, pages = [], []
    with window(chromium, live_server) as context:
        page = context.new_page()

        def click(place: Locator) -> None:
            pages.append(page.content())
            clicked.append(place.inner_text())
            place.click()

        sign_in(page, "olga")
        page.goto("/campaigns/river/")
        click(page.locator("summary", has_text="Set up"))
        click(page.get_by_role("link", name="Judges", exact=True).first)
        click(page.get_by_role("link", name="New connection"))
        click(page.locator(".endpoints").get_by_role("link", name="lab"))
        click(page.get_by_label("Model", exact=True))
        type_in(page, "word-overlap-simulator", "Tab", "large model")
        click(page.get_by_role("button", name="Test", exact=True))
        expect(page.get_by_role("status")).to_contain_text("Structured output kept")
        click(page.get_by_role("button", name="Save", exact=True))
        click(page.get_by_role("link", name="Make a judge of it"))
        click(page.get_by_role("button", name="Make the judge"))
        click(page.get_by_role("link", name="Start a job by large model"))
        click(page.locator("[data-primary]"))
        expect(page.locator("#standing")).to_contain_text("Done.", timeout=4 * CALM)
        pages.append(page.content())
    assert len(clicked) <= 12, clicked
    assert KEY not in "".join(pages)
    judge = Judge.objects.get(name="large model")
    assert judge.prompt_versions == {"reply_form": "json_schema"}
    assert Assignment.objects.filter(judge=judge).exists()


def test_the_example_beside_a_prompt_follows_the_typing(world: World, page: Page) -> None:
    sign_in(page, "olga")
    page.goto("/campaigns/river/prompts/new/?like=assign@1")
    text = page.get_by_label("User text")
    text.press("Control+Home")
    text.press_sequentially("Be strict about floods. ")
    expect(page.locator("#example")).to_contain_text("Be strict about floods. Label each nugget")
    text.press_sequentially("{pasage}")
    expect(page.locator("#id_user_error")).to_have_text("{pasage} is not a placeholder of assign.")
    expect(page.locator("#example")).to_contain_text("The example follows when the placeholders are right")
    assert text.input_value().startswith("Be strict about floods. {pasage}Label each nugget")
    for _ in "{pasage}":
        text.press("Backspace")
    expect(page.locator("#id_user_error")).to_have_text("")
    page.get_by_label("Run", exact=True).select_option("beta")
    expect(page.locator("#example")).to_contain_text("run beta")
    assert not Prompt.objects.exists()


def test_without_script_a_button_shows_the_example(
    world: World, chromium: Browser, live_server: LiveServer
) -> None:
    context = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    sign_in(page, "olga")
    page.goto("/campaigns/river/prompts/new/?like=assign@1")
    page.get_by_label("User text").fill("Shortly: {query} {passage} {nuggets}")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#example")).to_contain_text("Shortly: <query> why rivers bend")
    expect(page.get_by_label("User text")).to_have_value("Shortly: {query} {passage} {nuggets}")
    context.close()
