"""Structured output: what is sent, what is read, and what an endpoint without it says. Azure speaks it too."""

import json
from dataclasses import replace

import pytest
from pydantic import SecretStr

from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.models import Assignment, Judge, Segment
from evaluation.terms import Origin
from llmjobs import client
from llmjobs.client import CallRefusal, ChatRequest, Completion, Endpoint, close_clients, send
from llmjobs.engine.calls import NewCall
from llmjobs.job_service import estimate, plan_lists, start
from llmjobs.models import Call, CallUse
from llmjobs.prompt_store import add_llm_judge
from llmjobs.prompts.template import form_of
from llmjobs.prompts.texts import ASSIGN, IMPORTANCE, NUGGETIZE, RELEVANCE, SUPPORT
from llmjobs.simulator.answering import MODEL
from llmjobs.steps.asking import Ask
from llmjobs.steps.assign import assign
from llmjobs.steps.nuggetize import DraftsInput, NuggetizeInput, nuggetize
from llmjobs.steps.single import relevance, support
from loadtest.servers.simulator import LoggedSimulator, running_simulator
from tests.llmjobs.steps.scripted import play
from tests.worlds.llm import grade_segments, make_world, scripted_endpoint, start_assigning, states_of, work_on

KEY = "azure-key-0123456789abcdef"
PAIR = ("Cats purr.", "Content cats purr.", replace(SUPPORT, structured=True))


@pytest.mark.parametrize(
    ("reply", "plain"),
    [
        ('{"labels": ["support", "not_support"]}', '["support", "not_support"]'),
        ('```json\n{"labels": ["support"]}\n```', '["support"]'),
        ('{"labels": []}', "[]"),
        ('{"labels": "support"}', None),
        ('{"labels": [1]}', None),
        ('{"labels": ["support"], "why": "x"}', None),
        ('{"labels": ["support"], "labels": ["not_support"]}', None),
        ('["support"]', None),
        ('{"labels": ["supp', None),
        ("[" * 50_000, None),
    ],
)
def test_a_reply_is_read_only_in_the_very_form(reply: str, plain: str | None) -> None:
    assert form_of("assign", {}).plain(reply) == plain


@pytest.mark.parametrize(
    ("reply", "plain"), [('{"grade": 2}', "2"), ('{"grade": true}', None), ('{"grade": "2"}', None)]
)
def test_a_grade_is_a_number(reply: str, plain: str | None) -> None:
    form = form_of("relevance", {"top": 3})
    assert form.plain(reply) == plain
    assert form.response_format["json_schema"]["schema"]["properties"]["grade"]["enum"] == [0, 1, 2, 3]


def test_every_step_reads_json_when_it_asks_for_it() -> None:
    nuggets = ("cats purr", "dogs bark")
    assigned, (request,) = play(
        assign("q", "Cats purr.", nuggets, template=replace(ASSIGN, structured=True)),
        ['{"labels": ["support", "not_support"]}'],
    )
    assert [label.label for label in assigned.labels] == [AssignmentLabel.SUPPORT, AssignmentLabel.NOT_SUPPORT]
    assert assigned.notes == ()
    assert request.messages[1].content.endswith('as a JSON object and nothing else: {"labels": ["...", ...]}')
    assert request.template_sha256 == ASSIGN.sha256
    assert play(support(*PAIR), ['{"label": "full_support"}'])[0].label == SupportLabel.FULL_SUPPORT
    graded = relevance("q", "p", template=replace(RELEVANCE, structured=True))
    assert play(graded, ['{"grade": 3}'])[0].grade == 3
    drafts = DraftsInput("q", ("s",), template=replace(NUGGETIZE, structured=True))
    work = NuggetizeInput(drafts, template=replace(IMPORTANCE, structured=True))
    made, _ = play(nuggetize(work), ['{"nuggets": ["say \\"hi\\" \\u00e9"]}', '{"labels": ["vital"]}'])
    assert [nugget.text for nugget in made.nuggets] == ['say "hi" é']


def test_a_wrong_label_is_asked_again_in_the_same_form() -> None:
    outcome, requests = play(support(*PAIR), ['{"label": "maybe"}', '{"label": "no_support"}'])
    assert outcome.label == SupportLabel.NO_SUPPORT
    assert [request.form for request in requests] == [form_of("support", {})] * 2


def test_an_endpoint_that_ignores_the_form_is_read_and_noted() -> None:
    outcome, _ = play(support(*PAIR), ["full_support"])
    assert outcome.label == SupportLabel.FULL_SUPPORT
    assert [str(note) for note in outcome.notes] == ["pair: not in the JSON that was asked for"]


def wanted(request: Ask) -> NewCall:
    return NewCall(request, Endpoint(base_url="http://llm.example/v1"), "m", 0)


def test_the_form_is_part_of_what_makes_two_calls_the_same() -> None:
    plain_request, form_request = (next(support(*PAIR[:2], template)) for template in (SUPPORT, PAIR[2]))
    assert wanted(plain_request).parameters == {"temperature": 0.0}
    assert wanted(form_request).parameters["response_format"]["type"] == "json_schema"
    unspoken = replace(form_request, messages=plain_request.messages)
    assert len({wanted(request).sha256 for request in (plain_request, form_request, unspoken)}) == 3


@pytest.mark.usefixtures("transactional_db")
def test_a_structured_judge_labels_and_drafts_and_every_call_says_how(simulator: LoggedSimulator) -> None:
    world = make_world(nuggets=12)
    judge, _ = add_llm_judge(name="json", model=MODEL, structured=True)
    world = replace(world, judge=judge)
    grade_segments(world, 2)
    Segment.objects.update(text="The topic1 is made of sand and water.")
    drafts = plan_lists(world.request, Origin.DRAFT, qrels="UMBRELA")
    assert estimate(drafts, judge).calls == 1
    start(world.request, "drafts", drafts)
    start_assigning(world)
    simulator.chooser.switch({"next": ["wrong_length"]})
    work_on()
    assert Assignment.objects.filter(judge=judge).count() == 24
    assert not Assignment.objects.filter(label=AssignmentLabel.FAILED).exists()
    assert world.campaign.nugget_sets.filter(origin=Origin.DRAFT, lists__items__isnull=False).exists()
    for call in Call.objects.all():
        assert json.loads(call.reply).keys() <= {"labels", "nuggets"}
        assert call.parameters["response_format"]["json_schema"]["strict"] is True
    notes = [note for use in CallUse.objects.all() for note in use.notes]
    assert len(notes) == 1
    assert notes[0].startswith("wrong: ")


@pytest.mark.usefixtures("transactional_db")
def test_an_endpoint_that_refuses_it_fails_the_items_with_the_reason(simulator: LoggedSimulator) -> None:
    world = make_world(runs=1)
    simulator.chooser.switch({"plain_only": True})
    Judge.objects.update(prompt_versions={"reply_form": "json_schema"})
    job = start_assigning(world)
    work_on()
    assert states_of(job) == {"failed": 1}
    reason = job.items.get().reason
    assert "The endpoint refuses structured output; use a judge without it. It says: " in reason
    assert len(simulator.log.served()) == 1


def test_what_a_model_says_when_it_declines_is_kept() -> None:
    form = form_of("support", {}).response_format
    chat_request = ChatRequest("m", (("user", "x"),), response_format=form)
    message = {"message": {"content": None, "refusal": "I cannot judge this."}}
    with scripted_endpoint(lambda _: "", choices=[message]) as endpoint:
        answer = send(Endpoint(base_url=endpoint.base_url), chat_request)
        close_clients()
    assert isinstance(answer, Completion)
    assert answer.text == "I cannot judge this."


def azure_at(simulator: LoggedSimulator, version: str = "2024-10-21") -> Endpoint:
    base_url = simulator.base_url.removesuffix("/v1")
    return Endpoint(base_url=base_url, api_key=SecretStr(KEY), deployment="judge", api_version=version)


def test_the_simulator_speaks_azures_form_and_no_other_there() -> None:
    chat_request = ChatRequest(
        "gpt-4o", tuple((message.role, message.content) for message in next(support(*PAIR)).messages)
    )
    with running_simulator() as simulator:
        answer = send(
            azure_at(simulator), replace(chat_request, response_format=form_of("support", {}).response_format)
        )
        refused = send(azure_at(simulator, version=""), chat_request)
        close_clients()
    assert isinstance(answer, Completion)
    assert json.loads(answer.text) == {"label": "full_support"}
    assert isinstance(refused, CallRefusal)
    assert (refused.status, "api-version is missing" in refused.message) == (404, True)


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize("structured", [False, True])
def test_azure_labels_by_deployment_version_and_key_header(
    simulator: LoggedSimulator, monkeypatch: pytest.MonkeyPatch, structured: bool
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", simulator.base_url.removesuffix("/v1"))
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_DEPLOYMENT", "judge")
    client._endpoint.cache_clear()
    world = make_world(runs=1)
    judge, _ = add_llm_judge(name="azure", model="gpt-4o", structured=structured)
    start_assigning(replace(world, judge=judge))
    work_on()
    call = Call.objects.get()
    assert Assignment.objects.filter(judge=judge).count() == 3
    assert call.base_url.endswith("/openai/deployments/judge")
    assert call.reply.startswith('{"labels"' if structured else '["')
    assert KEY not in json.dumps([call.base_url, call.parameters, call.reply])
