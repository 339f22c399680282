"""The pages of prompts: who sees them, what they show, and that a refused form writes nothing."""

from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evaluation.battles import BattleOrder, draw_battles
from evaluation.models import Assignment, Campaign, Judge, SupportJudgment
from jobs.models import Job, WorkItem
from llmjobs.models import Call, Prompt, Trial, TriedLabels
from llmjobs.prompt_store import new_wording, save_prompt
from llmjobs.prompts.texts import ASSIGN, TEMPLATES
from tests.worlds.campaign import World, queries_of
from tests.worlds.jobs import make_call, make_item, make_job, make_judge

PROMPTS = "/campaigns/river/prompts/"
READ = f"{PROMPTS}read/"
NEW = f"{PROMPTS}new/?like=assign@1"
LOOKS = [("sam", 404), ("ann", 404), ("olga", 200), ("rita", 200), ("audrey", 200)]
FORMS = [("sam", 404), ("ann", 404), ("olga", 200), ("rita", 403), ("audrey", 403)]


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def olga(world: World) -> Client:
    return world.client("olga")


def strict(user: str = f"Be strict.\n{ASSIGN.user}") -> Prompt:
    return save_prompt(new_wording("assign", "strict", ASSIGN.system, user))[0]


def page(client: Client, address: str, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status
    return response.content.decode()


def row_of(listed: str, prompt: str) -> str:
    plain = listed.replace("<bdi>", "").replace("</bdi>", "")
    return next(row for row in plain.split("<tr>") if prompt in row)


@pytest.mark.parametrize(("person", "status"), LOOKS)
def test_only_unblinded_members_look(world: World, person: str, status: int) -> None:
    client = world.client(person)
    for address in (PROMPTS, f"{READ}assign@1/"):
        assert client.get(address).status_code == status


@pytest.mark.parametrize(("person", "status"), FORMS)
def test_only_organizers_write(world: World, person: str, status: int) -> None:
    client = world.client(person)
    for address in ("new/", "import/", "try/", "try/?task=support"):
        assert client.get(f"{PROMPTS}{address}").status_code == status
    response = client.post(NEW, {"name": "strict", "system": "x", "user": ASSIGN.user})
    assert response.status_code == (302 if status == 200 else status)
    assert Prompt.objects.exists() == (status == 200)


def test_the_list_says_who_asks_by_what(olga: Client) -> None:
    prompt = strict()
    make_judge("plain")
    Judge.objects.create(name="own", kind="llm", model="m", prompt_versions={"assign": "strict@1"})
    Judge.objects.create(
        name="on trial", kind="llm", model="m", aside=True, prompt_versions={"assign": "strict@1"}
    )
    listed = page(olga, PROMPTS)
    rows = {row.split("</tr>")[0].split("</a>")[0][-60:]: row for row in listed.split("<tr>")}
    own = next(row for row in rows.values() if "<bdi>strict</bdi>, version 1" in row)
    built_in = next(row for row in rows.values() if "<bdi>assign</bdi>, version 1" in row)
    assert ("<bdi>own</bdi>" in own, "<bdi>plain</bdi>" in own) == (True, False)
    assert ("<bdi>own</bdi>" in built_in, "<bdi>plain</bdi>" in built_in) == (False, True)
    assert "on trial" not in listed
    assert prompt.sha256 in page(olga, f"{READ}strict@1/")
    assert page(olga, f"{READ}strict@2/", 404)
    assert page(olga, f"{READ}nothing/", 404)


def test_more_prompts_cost_no_more_queries(olga: Client) -> None:
    strict()
    before = queries_of(olga, PROMPTS)
    for n in range(5):
        strict(f"{ASSIGN.user} {n}")
        make_judge(f"judge {n}")
    assert queries_of(olga, PROMPTS) == before


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("assign", "run alpha, nugget set auto-robot"),
        ("importance", "nugget set auto-robot"),
        ("support", "run alpha, sentence 1, d1"),
        ("relevance", "segment d1"),
        ("nuggetize", "qrels NIST"),
        ("battle", "topic t1, battle set battles"),
    ],
)
def test_a_prompt_is_shown_with_a_real_item_and_nothing_is_sent(olga: Client, task: str, text: str) -> None:
    draw_battles(campaign=Campaign.objects.get(slug="river"), order=BattleOrder())
    shown = page(olga, f"{READ}{task}@1/")
    assert text in shown
    assert "{query}" in shown or task == "support"
    assert ("&lt;query&gt;\nwhy rivers bend" in shown) == (task != "support")
    assert "Schema of the reply" not in shown
    structured = page(olga, f"{READ}{task}@1/?structured=on")
    assert "Schema of the reply" in structured
    assert "additionalProperties" in structured
    assert not Call.objects.exists()


def test_the_item_can_be_chosen_and_may_not_be_there(olga: Client) -> None:
    assert "run beta, nugget set" in page(olga, f"{READ}assign@1/?run=beta")
    assert "There is no" in page(olga, f"{READ}assign@1/?topic=t2")


def test_a_new_version_begins_with_the_words_of_another(olga: Client) -> None:
    assert "You assign nuggets to an answer." in page(olga, NEW)
    assert 'value="assign-own"' in page(olga, NEW)
    words = {"system": ASSIGN.system, "user": ASSIGN.user.replace("\n", "\r\n")}
    response = olga.post(NEW, {"name": "strict", **words}, follow=True)
    assert "Saved as strict@1." in response.content.decode()
    prompt = Prompt.objects.get()
    assert (prompt.user, prompt.made_by.username if prompt.made_by else "") == (ASSIGN.user, "olga")
    repeated = olga.post(NEW, {"name": "strict", **words}, follow=True)
    assert "These are the words of strict@1; nothing was changed." in repeated.content.decode()


def test_unusable_input_is_told_at_its_field_and_nothing_written(olga: Client) -> None:
    response = olga.post(NEW, {"name": "assign", "system": "{query}", "user": "{nuggets} {cap}"})
    html = response.content.decode()
    assert response.status_code == 422
    form = response.context["form"]
    assert form.errors["name"] == ["assign is built in; choose another name."]
    assert form.errors["system"] == ["{query} belongs in the user text."]
    assert "{passage} is missing from the user text." in form.errors["user"]
    assert "{nuggets} {cap}</textarea>" in html
    assert not Prompt.objects.exists()


def look(olga: Client, **words: str) -> str:
    """The page while somebody types these words, spaces put together."""
    like = {"name": "strict", "system": ASSIGN.system, "user": ASSIGN.user}
    response = olga.post(NEW, like | words | {"preview": "1"})
    assert response.status_code == 200
    assert not Prompt.objects.exists()
    return " ".join(response.content.decode().split())


def test_the_example_follows_what_is_typed(olga: Client) -> None:
    shown = look(olga, user=f"Be brief.\r\n{ASSIGN.user}", topic="t1", run="beta")
    assert "Be brief. Label each nugget by this passage. &lt;query&gt; why rivers bend" in shown
    assert "run beta, nugget set auto-robot" in shown
    assert "Schema of the reply" in look(olga, structured="on")


def test_a_wrong_placeholder_is_told_while_typing(olga: Client) -> None:
    shown = look(olga, user="Now {pasage}: {query} {nuggets}")
    assert "Now {pasage}: {query} {nuggets}</textarea>" in shown
    errors = shown.split('id="id_user_error"')[1].split("</div>")[0]
    assert "{passage} is missing from the user text." in errors
    assert "{pasage} is not a placeholder of assign." in errors
    assert "The example follows when the placeholders are right" in shown


def test_a_form_without_fields_is_refused_beside_each(olga: Client) -> None:
    response = olga.post(f"{PROMPTS}new/", {})
    assert response.status_code == 422
    assert response.content.decode().count("This field is required.") == 3


def test_the_editor_lists_the_placeholders_and_which_are_used(olga: Client) -> None:
    shown = look(olga)
    assert "<dt><code>{passage}</code></dt> <dd> the whole answer" in shown
    assert shown.count("\u2713 in the text") == 4
    assert shown.count("may be used") == 4
    assert "must be in the user text" in look(olga, user="{nuggets}")


def test_a_wording_is_loaded_from_a_file(olga: Client) -> None:
    def send(text: str) -> str:
        file = SimpleUploadedFile("strict.toml", text.encode())
        return olga.post(f"{PROMPTS}import/", {"file": file, "name": "strict"}, follow=True).content.decode()

    text = 'task = "support"\nsystem = "Judge."\nuser = "{statement} {passage}"\n'
    assert "strict.toml:3: user: {passage} is missing from the user text" in send(text.replace("{passage}", ""))
    assert not Prompt.objects.exists()
    assert "Saved as strict@1." in send(text)


def test_prompts_are_tried_and_stand_side_by_side(olga: Client) -> None:
    strict()
    query = {"task": "assign", "prompts": "strict@1", "of": "auto-robot", "pairs": "3", "most_calls": "9"}
    response = olga.post(f"{PROMPTS}try/?{urlencode(query)}", {"start": "1"})
    trial = Trial.objects.get()
    assert response["Location"] == f"{PROMPTS}trials/{trial.pk}/"
    assert {job.llm.most_calls for job in trial.jobs.all()} == {9}
    shown = page(olga, response["Location"])
    assert "3 to come" in shown
    assert "hx-get" in shown
    labels_of_jobs = iter([[[2], [0, 1]], [[0], [0, 2]]])
    for job in trial.jobs.order_by("llm"):
        by_size = {len(labels): labels for labels in next(labels_of_jobs)}
        for item in job.llm.job.items.all():
            TriedLabels.objects.create(item=item, labels=by_size[len(item.payload["nuggets"])])
    Job.objects.update(state=Job.State.DONE)
    shown = page(olga, response["Location"])
    assert "hx-get" not in shown
    for figure in ("67\N{NO-BREAK SPACE}%", "33\N{NO-BREAK SPACE}%", "+0.33 ", "0.00 "):
        assert figure in shown
    listed = page(olga, PROMPTS)
    assert "3 labels of auto-robot" in listed
    assert f'trials/{trial.pk}/">2 of 3</a>' in row_of(listed, "assign, version 1")
    assert f'trials/{trial.pk}/">1 of 3</a>' in row_of(listed, "strict, version 1")


def test_check_73_a_trial_shows_its_cost_before_it_starts(world: World, olga: Client) -> None:
    """Calls, tokens and money of the prompt and of the one in use, on the button too; looking writes nothing."""
    strict()
    assert "Try on 20 labelled pairs" in page(olga, f"{READ}strict@1/")
    labels = Assignment.objects.count(), SupportJudgment.objects.count()
    address = f"{PROMPTS}try/?task=assign&prompts=strict@1"
    shown = page(olga, address)
    estimate = shown.split('id="estimate"')[1].split("</aside>")[0]
    assert [word in estimate for word in ("assign@1", "in use", "strict@1", "Tokens in, out")] == [True] * 4
    assert estimate.count("0.0000 USD") == 2
    assert "Start: 4 calls, free of charge" in estimate
    assert (Trial.objects.exists(), Call.objects.exists()) == (False, False)
    assert not Judge.objects.filter(aside=True).exists()
    trial = olga.post(address, {"start": "1"})["Location"]
    assert [job.prompt for job in Trial.objects.get().jobs.all()] == ["assign@1", "strict@1"]
    assert (Assignment.objects.count(), SupportJudgment.objects.count()) == labels
    assert [world.client(name).get(trial).status_code for name, _ in LOOKS] == [status for _, status in LOOKS]


def test_without_labels_by_people_a_trial_is_refused_in_words(olga: Client) -> None:
    Assignment.objects.all().delete()
    shown = " ".join(page(olga, f"{PROMPTS}try/?task=assign&prompts=assign@1").split())
    assert "People have labelled nothing of this kind here yet, so there is nothing to compare with." in shown
    response = olga.post(f"{PROMPTS}try/?task=assign&prompts=assign@1", {"start": "1"})
    assert (response.status_code, Job.objects.exists()) == (422, False)


def test_a_trial_names_the_judges_that_use_each_prompt(olga: Client) -> None:
    strict()
    make_judge("plain")
    trial = olga.post(f"{PROMPTS}try/?task=assign&prompts=strict@1&judge=plain", {"start": "1"})["Location"]
    shown = " ".join(page(olga, trial).split())
    assert "in use: <bdi>plain</bdi>" in shown
    assert "used by no judge" in shown


def test_a_trial_of_relevance_shows_the_grades_of_its_scale(olga: Client) -> None:
    make_judge("plain")
    response = olga.post(f"{PROMPTS}try/?task=relevance&judge=plain&of=NIST&pairs=9", {"start": "1"})
    for item in Trial.objects.get().jobs.get().llm.job.items.all():
        TriedLabels.objects.create(item=item, labels=[3 if item.payload["people"] == [3] else -1])
    Job.objects.update(state=Job.State.DONE)
    shown = page(olga, response["Location"])
    assert all(f"grade {grade}" in shown.lower() for grade in range(4))
    # The one that differs has failed; its segment and topic are named.
    assert "Sand moves." in shown
    assert "failed" in shown


def test_a_trial_that_cannot_be_is_refused_at_the_form(olga: Client) -> None:
    response = olga.post(f"{PROMPTS}try/?prompts=assign@1&pairs=0&most_calls=7", {"start": "1"})
    html = response.content.decode()
    assert (response.status_code, 'value="0"' in html, 'value="7"' in html) == (422, True, True)
    assert html.count("Expected at least 1, found 0.") == 2
    assert not Job.objects.exists()
    assert "support, scratch" in page(olga, f"{PROMPTS}try/?task=support")


def test_a_judge_is_shown_with_what_it_asks_by(world: World, olga: Client) -> None:
    make_job(
        world, Judge.objects.create(name="own", kind="llm", model="m", prompt_versions={"assign": "strict@1"})
    )
    assert '<span class="tag"><bdi>strict@1</bdi></span>' in page(olga, "/campaigns/river/jobs/")


def test_a_call_leads_to_its_prompt_where_the_very_wording_is_there(world: World, olga: Client) -> None:
    prompt = strict()
    call = make_call(make_item(make_job(world), "1", WorkItem.State.DONE))
    address = f"/campaigns/river/calls/{call.pk}/"
    assert READ not in page(olga, address)
    Call.objects.update(template="strict", template_version=1, template_sha256=prompt.sha256)
    assert f'{READ}strict@1/">strict, version 1</a>' in " ".join(page(olga, address).split())
    Call.objects.update(template="assign", template_sha256=TEMPLATES["assign"].sha256)
    assert f"{READ}assign@1/" in page(olga, address)
