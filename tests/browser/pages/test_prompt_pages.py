"""The pages of prompts, in both themes and on a narrow screen: nothing that axe finds, nothing sticking out."""

import pytest
from playwright.sync_api import Page

from evaluation.models import Judge
from jobs.models import Job
from llmjobs.models import Trial, TriedLabels
from llmjobs.prompt_store import new_wording, save_prompt
from llmjobs.prompts.texts import ASSIGN
from llmjobs.trials import TrialOrder, start_trial
from tests.browser.accessibility import axe
from tests.browser.pages import test_axe
from tests.browser.pages.test_axe import problems_on, sign_in
from tests.worlds.campaign import World

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]
PROMPTS = "/campaigns/river/prompts/"
world, page, console = test_axe.world, test_axe.page, test_axe.console


def finished_trial(world: World) -> Trial:
    """A trial of two prompts, the second of which differs from people."""
    user = f"Be strict.\n{ASSIGN.user}"
    save_prompt(new_wording("assign", "strict", ASSIGN.system, user), actor=world.people["olga"])
    like = Judge(name="m", kind="llm", model="word-overlap-simulator")
    trial = start_trial(world.campaign, TrialOrder("assign", ("assign@1", "strict@1"), like, "auto-robot"), None)
    for number, job in enumerate(trial.jobs.all()):
        for item in job.llm.job.items.all():
            labels = [(label + number) % 3 for label in item.payload["people"]]
            TriedLabels.objects.create(item=item, labels=labels)
    Job.objects.update(state=Job.State.DONE)
    return trial


def test_pages_of_prompts_are_accessible(world: World, page: Page, console: list[str]) -> None:
    trial = finished_trial(world)
    sign_in(page, "olga")
    addresses = [
        "",
        "read/strict@1/?structured=on",
        "new/?like=strict@1",
        "import/",
        "try/",
        f"trials/{trial.pk}/",
    ]
    assert [problem for address in addresses for problem in problems_on(page, f"{PROMPTS}{address}")] == []
    assert console == []


def test_what_is_wrong_with_a_text_is_said_with_its_field(world: World, page: Page) -> None:
    sign_in(page, "olga")
    page.goto(f"{PROMPTS}new/?like=assign@1")
    page.get_by_label("User text").fill("{nuggets} {cap}")
    page.get_by_role("button", name="Save").click()
    described = page.get_by_label("User text").get_attribute("aria-describedby")
    assert described
    assert "{passage} is missing from the user text." in page.locator(f"#{described}").inner_text()
    assert axe(page) == []
