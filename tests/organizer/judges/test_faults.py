"""Each fault of a tested endpoint has its own sentence and its remedy (check 71)."""

import json

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from loadtest.servers.simulator import LoggedSimulator
from tests.organizer.judges.conftest import KEY, Answering, List, tried

REFUSED = "Nothing that may be called answers at this address."
WRONG_KEY = "The endpoint does not accept the key (401)."
NO_MODEL = "The endpoint has no such model (404)."
TIMEOUT = "No answer in time."
BAD_JSON = "The reply begins as JSON and cannot be read"
IGNORED = "Structured output ignored: the reply does not keep to the schema."
SENTENCES = (REFUSED, WRONG_KEY, NO_MODEL, TIMEOUT, BAD_JSON, IGNORED)


def only(shown: str, sentence: str, remedy: str) -> None:
    assert [words for words in SENTENCES if words in shown] == [sentence]
    assert remedy in shown


def test_a_refused_connection(olga: Client, list_endpoints: List) -> None:
    list_endpoints(lab="http://127.0.0.1:9/v1")
    only(tried(olga), REFUSED, "Is the server running?")


def test_a_wrong_key_which_the_endpoint_repeats(olga: Client, lab: LoggedSimulator) -> None:
    lab.chooser.switch({"next": ["auth"]})
    shown = tried(olga)
    only(shown, WRONG_KEY, "Ask an administrator to set the right key.")
    assert "Incorrect API key provided: ***" in shown
    assert KEY not in shown


def test_a_model_that_is_not_there(olga: Client, answering: Answering, list_endpoints: List) -> None:
    list_endpoints(lab=answering.base_url)
    answering.status, answering.body = 404, '{"error": {"message": "The model `gpt-9` does not exist."}}'
    only(tried(olga, model="gpt-9"), NO_MODEL, "Choose one from its list of models")


def test_a_model_that_a_gateway_does_not_know(olga: Client, answering: Answering, list_endpoints: List) -> None:
    list_endpoints(lab=answering.base_url)
    answering.status, answering.body = 400, '{"error": {"message": "Invalid model name passed in model=gpt-9"}}'
    assert "The endpoint has no such model (400)." in tried(olga, model="gpt-9")


def test_an_address_without_its_path(olga: Client, answering: Answering, list_endpoints: List) -> None:
    list_endpoints(lab=answering.base_url)
    answering.status, answering.body = 404, '{"detail": "Not Found"}'
    shown = tried(olga)
    assert "There is no chat API at this address (404)." in shown
    assert "The path may be missing, often /v1." in shown


def test_no_answer_in_time(olga: Client, lab: LoggedSimulator, settings: Settings) -> None:
    settings.LLM_TIMEOUT_SECONDS = 0.3
    lab.chooser.switch({"next": ["timeout"]})
    only(tried(olga), TIMEOUT, "The model may still be loading")


@pytest.mark.parametrize(
    ("reply", "reason"), [('{"labels": ["support", "not', "length"), ('{"labels": [}', "stop")]
)
def test_json_that_is_broken(
    olga: Client, answering: Answering, list_endpoints: List, reply: str, reason: str
) -> None:
    list_endpoints(lab=answering.base_url)
    answering.reply(reply, reason)
    shown = tried(olga)
    only(shown, BAD_JSON, "Make judges without structured output")
    assert "200 in, 10 out" in shown


@pytest.mark.parametrize(
    "reply", ["Sure! The first is supported.", '["support", "support"]', '{"labels": ["yes", "no"]}', '{"a": 1}']
)
def test_a_schema_that_is_ignored(olga: Client, answering: Answering, list_endpoints: List, reply: str) -> None:
    list_endpoints(lab=answering.base_url)
    answering.reply(reply)
    shown = tried(olga)
    only(shown, IGNORED, "Make judges without structured output")
    assert "200 in, 10 out; 0.000600 USD" in shown


def test_what_is_no_chat_api(olga: Client, lab: LoggedSimulator) -> None:
    lab.chooser.switch({"next": ["not_json"]})
    shown = tried(olga)
    assert "The answer is not the JSON of a chat API." in shown
    assert "Please sign in to this network." in shown


@pytest.mark.parametrize(
    ("switch", "sentence"),
    [
        ({"plain_only": True}, "The endpoint refuses structured output (400)."),
        ({"next": ["rate_limited"]}, "too many requests, or its account no credit (429)."),
        ({"next": ["server_error"]}, "The endpoint failed with an error of its own (500)."),
        ({"next": ["bad_request"]}, "The endpoint refuses the request (400)."),
    ],
)
def test_other_refusals(olga: Client, lab: LoggedSimulator, switch: dict[str, object], sentence: str) -> None:
    lab.chooser.switch(switch)
    assert sentence in tried(olga)


def test_a_server_error_about_the_form_is_no_structured_output(
    olga: Client, answering: Answering, list_endpoints: List
) -> None:
    """A server of llama.cpp answers so, and a gateway before it passes it on."""
    list_endpoints(lab=answering.base_url)
    answering.status = 500
    why = "1 validation error: ('body', 'response_format', 'type') Input should be 'text' or 'json_object'"
    answering.body = json.dumps({"error": {"message": why, "type": "internal_server_error"}})
    shown = tried(olga)
    assert "The endpoint refuses structured output (500)." in shown
    assert "Make judges without structured output" in shown


def test_a_gateway_without_a_database_that_does_not_know_the_key(
    olga: Client, answering: Answering, list_endpoints: List
) -> None:
    list_endpoints(lab=answering.base_url)
    answering.status, answering.body = (
        400,
        '{"error": {"message": "No connected db.", "type": "no_db_connection"}}',
    )
    shown = tried(olga)
    assert "The endpoint does not accept the key (400)." in shown
    assert "Ask an administrator to set the right key." in shown


def test_without_a_price_the_cost_says_so(olga: Client, lab: LoggedSimulator) -> None:
    assert lab
    shown = tried(olga, model="unknown", prompt_price="", completion_price="", currency="")
    assert "no price set" in shown
