"""A prompt belongs to a campaign or is common: who may not see its campaign reads neither words nor author."""

from pathlib import Path

import pytest
from django.test import Client

from evaluation.campaigns.create import add_member
from evaluation.models import Assignment, Campaign, Judge, Membership, NuggetSet
from evaluation.terms import Role
from jobs.models import Job
from llmjobs.job_status import callable_judges_for
from llmjobs.models import LlmJob, Prompt
from llmjobs.prompt_store import UnusableError, new_wording, record_judge, save_prompt
from llmjobs.prompts.texts import ASSIGN, SUPPORT
from tests.worlds.campaign import World
from tests.worlds.cast import make_campaign, make_user
from tests.worlds.imported import run

PROMPTS = "/campaigns/river/prompts/"
ELSEWHERE = "/campaigns/lake/prompts/"
SECRET = f"Never tell of the secret river.\n{ASSIGN.user}"


@pytest.fixture
def lake(world: World) -> Campaign:
    lake = make_campaign("lake", "Lake study")
    for name, role in (("sam", Role.ORGANIZER), ("rita", Role.RESEARCHER)):
        add_member(campaign=lake, user=world.people[name], role=role)
    return lake


def save(client: Client, address: str = PROMPTS, name: str = "secret", user: str = SECRET, **more: str) -> int:
    words = {"name": name, "system": ASSIGN.system, "user": user} | more
    return client.post(f"{address}new/?like=assign@1", words).status_code


def page(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def test_a_prompt_is_read_where_its_campaign_is(world: World, lake: Campaign) -> None:
    assert "belongs to <bdi>River study</bdi>" in page(world.client("olga"), f"{PROMPTS}new/?like=assign@1")
    assert save(world.client("olga")) == 302
    assert Prompt.objects.get().campaign == world.campaign
    assert "River study" in page(world.client("olga"), f"{PROMPTS}read/secret@1/")
    sam = world.client("sam")
    assert "secret" not in page(sam, ELSEWHERE)
    for address in ("read/secret@1/", "new/?like=secret@1"):
        assert sam.get(f"{ELSEWHERE}{address}").status_code == 404
    for address in ("try/", "read/assign@1/"):
        assert "secret@1" not in page(sam, f"{ELSEWHERE}{address}")
    assert "secret@1" not in page(sam, ELSEWHERE.replace("prompts/", "judges/new/"))
    assert "secret" in page(world.client("rita"), ELSEWHERE)  # she may see both campaigns


def test_a_common_prompt_is_read_everywhere(world: World, lake: Campaign) -> None:
    assert save(world.client("olga"), common="on") == 302
    assert Prompt.objects.get().campaign is None
    sam = world.client("sam")
    assert "Never tell of the secret river." in page(sam, f"{ELSEWHERE}read/secret@1/")
    assert "common" in page(sam, f"{ELSEWHERE}read/secret@1/")
    assert "secret@1" in page(sam, ELSEWHERE.replace("prompts/", "judges/new/"))


def test_an_author_is_named_to_who_shares_a_campaign(world: World, lake: Campaign) -> None:
    olga = world.people["olga"]
    olga.first_name, olga.last_name = "Olga", "Organizer"
    olga.save()
    save(world.client("olga"), common="on")
    for address in ("", "read/secret@1/"):
        assert "Olga Organizer" in page(world.client("olga"), f"{PROMPTS}{address}")
        assert "Olga Organizer" in page(world.client("rita"), f"{ELSEWHERE}{address}")
        assert "Olga Organizer" not in page(world.client("sam"), f"{ELSEWHERE}{address}")
    Membership.objects.filter(user=world.people["rita"], campaign=world.campaign).delete()
    assert "Olga Organizer" not in page(world.client("rita"), ELSEWHERE)


def test_a_taken_name_tells_nothing_of_whose_it_is(world: World, lake: Campaign) -> None:
    save(world.client("olga"))
    words = {"name": "secret", "system": ASSIGN.system, "user": SECRET}
    refused = world.client("sam").post(f"{ELSEWHERE}new/?like=assign@1", words)
    assert refused.status_code == 422
    html = refused.content.decode()
    assert "The name secret is taken; choose another one." in html
    assert not any(word in html for word in ("River", "olga"))
    with pytest.raises(UnusableError, match="is taken"):  # of another task too
        save_prompt(new_wording("support", "secret", SUPPORT.system, SUPPORT.user), campaign=lake)
    assert save(world.client("sam"), ELSEWHERE, common="on") == 422
    assert Prompt.objects.count() == 1


def test_versions_of_a_name_are_all_common_or_none(world: World) -> None:
    olga = world.client("olga")
    save(olga, common="on")
    assert save(olga, user=f"{SECRET} Again.") == 422
    assert save(olga, user=f"{SECRET} Again.", common="on") == 302
    assert [str(prompt) for prompt in Prompt.objects.filter(campaign=None)] == ["secret@1", "secret@2"]
    assert "checked" in page(olga, f"{PROMPTS}new/?like=secret@2")


def test_a_judge_is_offered_where_its_prompts_may_be_read(world: World, lake: Campaign) -> None:
    save(world.client("olga"))
    Judge.objects.create(name="keeper", kind="llm", model="m", prompt_versions={"assign": "secret@1"})
    Judge.objects.create(name="plain", kind="llm", model="m", prompt_versions={"reply": "json"})

    def offered(name: str, campaign: Campaign) -> list[str]:
        return [judge.name for judge in callable_judges_for(world.people[name], campaign)]

    assert offered("olga", world.campaign) == ["keeper", "plain"]
    assert offered("sam", lake) == ["plain"]
    assert "keeper" not in page(world.client("sam"), ELSEWHERE)


@pytest.mark.parametrize("work", ["job", "list", "labels", "nothing"])
def test_a_judge_of_another_campaign_is_named_to_nobody_here(world: World, lake: Campaign, work: str) -> None:
    judge = Judge.objects.create(name="osprey", kind="llm", model="model-of-river")
    Judge.objects.create(name="plain", kind="llm", model="m")
    match work:
        case "job":
            LlmJob.objects.create(
                job=Job.objects.create(kind="llm", title="x"), campaign=world.campaign, judge=judge
            )
        case "list":
            NuggetSet.objects.create(campaign=world.campaign, name="auto", origin="auto", judge=judge)
        case "nothing":
            record_judge(world.campaign, judge, world.people["olga"])
        case _:
            Assignment.objects.filter(pk=Assignment.objects.values("pk")[:1]).update(judge=judge)
    places = [
        "judges/",
        "judges/new/",
        "jobs/new/",
        "prompts/",
        "prompts/try/",
        "find/?words=o",
        "find/?words=m",
        "today/",
    ]
    for name, slug, is_named in (("sam", "lake", False), ("olga", "river", True)):
        pages = {place: page(world.client(name), f"/campaigns/{slug}/{place}") for place in places}
        named = {place for place, text in pages.items() if "osprey" in text or "model-of-river" in text}
        assert bool(named) is is_named, named
        assert "plain" in pages["judges/"]
    fields = {"campaign": "lake", "what": "labels", "judge": "osprey"}
    answer = world.client("sam").post("/api/v1/jobs/?dry_run=1", fields, "application/json")
    unknown = world.client("sam").post("/api/v1/jobs/?dry_run=1", fields | {"judge": "nobody"}, "application/json")
    assert (answer.status_code, answer.json()["errors"]) == (unknown.status_code, unknown.json()["errors"])
    assert "osprey" not in page(world.client("sam"), "/api/v1/judges/?campaign=lake")
    add_member(campaign=world.campaign, user=world.people["sam"], role=Role.RESEARCHER)
    assert "osprey" in page(world.client("sam"), "/campaigns/lake/judges/")  # she may see both campaigns


def test_a_command_says_of_which_campaign_a_prompt_is(world: World, lake: Campaign, tmp_path: Path) -> None:
    file = tmp_path / "strict.toml"
    file.write_text(f'system = "{ASSIGN.system[:20]}"\nuser = """{ASSIGN.user}"""\n', encoding="utf-8")
    words = ("import_prompt", "--task", "assign", str(file))
    assert run(*words, "--name", "strict").code == 0
    assert run(*words, "--name", "own", "--campaign", "lake").code == 0
    assert {prompt.name: prompt.campaign for prompt in Prompt.objects.all()} == {"strict": None, "own": lake}
    assert "<bdi>strict</bdi>" in page(world.client("olga"), PROMPTS)
    assert "<bdi>own</bdi>" not in page(world.client("olga"), PROMPTS)


def test_a_prompt_that_is_not_there_names_no_hidden_one(world: World, lake: Campaign) -> None:
    save(world.client("olga"))
    done = run("add_judge", "new", "--by", "llm", "--model", "m", "--prompt", "assign=nothing@1")
    assert done.code != 0
    assert "secret@1" not in done.err


def test_an_administrator_sees_every_prompt_and_author(world: World, lake: Campaign) -> None:
    save(world.client("olga"))
    ada = Client()
    ada.force_login(make_user("ada", is_staff=True, is_superuser=True))
    assert "secret" in page(ada, ELSEWHERE)
    assert "olga" in page(ada, ELSEWHERE)
