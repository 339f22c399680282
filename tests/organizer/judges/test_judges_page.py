"""Judges are made and versioned in the browser, and stand with their labels and prices."""

import pytest
from django.test import Client

from evaluation.models import Event, Judge
from llmjobs.models import Connection
from llmjobs.prompt_store import new_wording, save_prompt
from llmjobs.prompts.texts import ASSIGN
from tests.organizer.judges.conftest import JUDGES, page
from tests.worlds.campaign import World, queries_of
from tests.worlds.jobs import make_judge

NEW_JUDGE = f"{JUDGES}new/"


def strict() -> None:
    save_prompt(new_wording("assign", "strict", ASSIGN.system, f"Be strict.\n{ASSIGN.user}"))


def make(browser: Client, **values: str) -> str:
    response = browser.post(NEW_JUDGE, {"name": "strict"} | values, follow=True)
    return response.content.decode()


@pytest.mark.parametrize(
    ("person", "looks", "writes"),
    [("sam", 404, 404), ("ann", 404, 404), ("olga", 200, 200), ("rita", 200, 403), ("audrey", 200, 403)],
)
def test_unblinded_members_look_and_organizers_write(world: World, person: str, looks: int, writes: int) -> None:
    browser = world.client(person)
    assert (browser.get(JUDGES).status_code, browser.get(NEW_JUDGE).status_code) == (looks, writes)


def test_a_judge_is_made_of_a_model_its_prompts_and_parameters(olga: Client) -> None:
    strict()
    far = Judge.objects.create(name="far", kind="llm", model="m", base_url="https://api.openai.com/v1")
    made = make(olga, connection=f"judge-{far.pk}", assign="strict@1", structured="on", temperature="0.7")
    assert "Made: strict. It can be chosen when a job is started." in made
    judge = Judge.objects.get(name="strict")
    assert (judge.model, judge.base_url) == ("m", "https://api.openai.com/v1")
    assert judge.prompt_versions == {"assign": "strict@1", "reply_form": "json_schema", "temperature": "0.7"}
    assert Event.objects.get(kind="judge.made").payload["name"] == "strict"
    assert "temperature 0.7" in page(olga, JUDGES)
    assert '<option value="strict"' in page(olga, "/campaigns/river/jobs/new/")


def test_another_way_is_the_next_version_and_the_first_keeps_its_own(olga: Client) -> None:
    strict()
    make(olga)
    first = Judge.objects.get(name="strict")
    assert "Made: strict@2." in make(olga, assign="strict@1")
    assert "There already, just so; nothing was changed: strict@2." in make(olga, assign="strict@1")
    assert "There already, just so; nothing was changed: strict." in make(olga)
    assert Judge.objects.get(pk=first.pk).prompt_versions == {}
    shown = page(olga, JUDGES)
    assert '<bdi>strict</bdi> <span class="small muted nowrap">version 2</span>' in shown
    begun = page(olga, f"{NEW_JUDGE}?like=strict@2")
    assert 'value="strict"' in begun
    assert '<option value="strict@1" selected>' in begun


def test_the_name_of_a_person_is_refused(olga: Client) -> None:
    Judge.objects.create(name="strict", kind="human")
    refused = olga.post(NEW_JUDGE, {"name": "strict"})
    assert refused.status_code == 422
    assert "There is another judge named strict" in refused.content.decode()


def test_a_wrong_temperature_says_so(olga: Client) -> None:
    refused = olga.post(NEW_JUDGE, {"name": "strict", "temperature": "3"})
    assert refused.status_code == 422
    assert "Expected at most 2, found 3.0." in refused.content.decode()


def test_the_table_has_the_labels_of_each_model(olga: Client) -> None:
    shown = page(olga, JUDGES)
    robot = shown.split("<bdi>robot</bdi>")[1].split("</tr>")[0]
    assert "not known" in robot
    assert '<td rowspan="1" class="n">4</td>' in robot
    assert "kim" not in shown


def test_more_judges_and_connections_cost_no_more_queries(olga: Client) -> None:
    make_judge("one")
    Connection.objects.create(name="c", endpoint="default", model="some-model")
    page(olga, JUDGES)  # agreement with people is kept until labels change
    before = queries_of(olga, JUDGES)
    for n in range(5):
        make_judge(f"judge {n}")
        Connection.objects.create(name=f"c{n}", endpoint="default", model="some-model")
    assert queries_of(olga, JUDGES) == before


def test_no_page_of_judges_jobs_and_prompts_names_a_command(world: World) -> None:
    """Check 72, for the pages of this room: neither the filled nor the empty ones, for whoever may read them."""
    for person in ("olga", "rita"):
        browser = world.client(person)
        for address in ("judges/", "judges/new/", "judges/connections/new/", "jobs/", "jobs/new/", "prompts/"):
            response = browser.get(f"/campaigns/river/{address}")
            assert "manage.py" not in response.content.decode(), address
    imports = page(world.client("olga"), "/campaigns/river/prompts/import/")
    assert "manage.py" not in imports
