"""A connection is made, tried, versioned and used in the browser (checks 69 and 70)."""

from decimal import Decimal

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from evaluation.errors import Refused
from evaluation.models import Assignment, Event, Judge
from jobs.models import Job
from llmjobs.budget import price_for
from llmjobs.connections import save_connection
from llmjobs.models import Call, Connection, LlmJob
from loadtest.servers.simulator import LoggedSimulator
from tests.jobs.test_queue import at_once
from tests.organizer.judges.conftest import JUDGES, KEY, NEW, Answering, List, fields, page, tried
from tests.worlds.campaign import World
from tests.worlds.cast import make_campaign
from tests.worlds.jobs import make_judge
from tests.worlds.llm import work_on
from web.outbound import ListedEndpoint


@pytest.mark.usefixtures("lab")
def test_the_form_offers_the_endpoint_s_models_and_names_its_key(olga: Client) -> None:
    shown = page(olga, f"{NEW}?endpoint=lab")
    assert '<option value="word-overlap-simulator">' in shown
    assert "LLM_KEY_LAB</code>\n  found" in shown
    assert 'href="?endpoint=default"' in shown


def test_a_key_that_is_not_there_is_said(olga: Client, list_endpoints: List) -> None:
    list_endpoints(lab="http://127.0.0.1:9/v1", key="LLM_KEY_OTHER")
    shown = page(olga, f"{NEW}?endpoint=lab")
    assert "LLM_KEY_OTHER</code> not found" in shown
    assert "The endpoint lists no models just now" in shown


@pytest.mark.usefixtures("lab")
def test_a_connection_is_tested_then_saved_with_its_test(olga: Client) -> None:
    """Check 71: reached, model answers, latency, structured output, tokens and cost."""
    shown = tried(olga)
    for words in ("Endpoint reached", "Model answers", "Structured output kept", "Tokens and price", "0.1 s"):
        assert words.removesuffix("0.1 s") in shown
    assert " in, " in shown
    assert " USD" in shown
    assert not Connection.objects.exists()
    saved = olga.post(NEW, fields() | {"save": "1"}, follow=True).content.decode()
    assert "Saved: large-model, version 1." in saved
    assert "passed" in saved
    connection = Connection.objects.get()
    assert (connection.endpoint, connection.currency, connection.prompt_price) == ("lab", "USD", Decimal("2.5"))
    assert connection.tested_at


@pytest.mark.usefixtures("lab")
def test_a_test_labels_nothing_and_is_an_event(olga: Client) -> None:
    labels = Assignment.objects.count()
    tried(olga)
    assert (Assignment.objects.count(), Call.objects.count(), Job.objects.count()) == (labels, 0, 0)
    event = Event.objects.get(kind="connection.tested")
    assert event.actor
    assert event.actor.username == "olga"
    assert (event.payload["endpoint"], event.payload["found"]) == ("lab", "passed")
    assert event.payload["prompt_tokens"] > 0


@pytest.mark.usefixtures("lab")
def test_saving_without_a_test_is_marked(olga: Client) -> None:
    saved = olga.post(NEW, fields() | {"save": "1"}, follow=True).content.decode()
    assert "It is not tested." in saved
    assert "not tested</a>" in saved


@pytest.mark.usefixtures("lab")
def test_the_test_of_another_model_is_not_kept(olga: Client) -> None:
    tried(olga)
    olga.post(NEW, fields(model="other") | {"save": "1"})
    assert Connection.objects.get().test is None


@pytest.mark.usefixtures("lab")
def test_a_changed_connection_is_the_next_version(olga: Client) -> None:
    for values in (fields(), fields(), fields(completion_price="12")):
        olga.post(NEW, values | {"save": "1"})
    first, second = Connection.objects.order_by("version")
    assert (first.completion_price, second.completion_price) == (Decimal(10), Decimal(12))
    shown = page(olga, JUDGES)
    assert "version 2" in shown
    assert "2.50, 12.00 USD" in shown
    assert "2.50, 10.00 USD" not in shown
    assert 'value="12.000000"' in page(olga, f"{NEW}?like={second.pk}")


@pytest.mark.usefixtures("lab")
def test_a_second_connection_to_a_model_is_refused_beside_it(olga: Client) -> None:
    judge = make_judge("mine", model="word-overlap-simulator")
    olga.post(NEW, fields("default") | {"save": "1"})
    for name in ("second", "second", "Large-Model"):
        refused = olga.post(NEW, fields("default", name=name, prompt_price="5") | {"save": "1"})
        assert refused.status_code == 422
        (words,) = refused.context["form"].errors["model"]
        assert words == (
            "There is a connection to this model at this endpoint: large-model. Change it, or its price, there."
        )
        assert f'value="{name}"' in refused.content.decode()
    assert str(Connection.objects.get()) == "large-model@1"
    olga.post(NEW, fields("default", prompt_price="5") | {"save": "1"})
    price = price_for(judge)
    assert price
    assert (price.table, price.prompt) == ("large-model@2", Decimal(5))


@pytest.mark.usefixtures("lab")
def test_a_model_that_a_connection_left_can_have_another(olga: Client) -> None:
    for values in ({}, {"model": "other"}, {"name": "second"}):
        assert olga.post(NEW, fields(**values) | {"save": "1"}).status_code == 302
    assert olga.post(NEW, fields() | {"save": "1"}).status_code == 422
    names = [str(connection) for connection in Connection.objects.all()]
    assert names == ["large-model@2", "large-model@1", "second@1"]


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db")
def test_of_two_connections_saved_at_once_one_is_refused(world: World) -> None:
    campaigns = [world.campaign, make_campaign("lake")]

    def outcome(number: int) -> str:
        connection = Connection(name=f"number {number}", endpoint="default", model="m")
        try:
            save_connection(connection, campaigns[number], world.people["olga"])
        except Refused as refusal:
            return refusal.code
        return "saved"

    assert sorted(at_once(outcome, 2)) == ["connection_there", "saved"]


@pytest.mark.usefixtures("lab")
def test_a_judge_of_a_connection_begins_with_what_its_test_found(olga: Client) -> None:
    for name, model, test in (("untested", "other", False), ("large-model", "word-overlap-simulator", True)):
        if test:
            tried(olga, name=name)
        values = fields(name=name, model=model) | {"save": "1"}
        saved = olga.post(NEW, values, follow=True).content.decode()
        key = f"connection-{Connection.objects.get(name=name).pk}"
        assert f'/judges/new/?like={key}">Make a judge of it</a>' in saved
        form = olga.get(f"{JUDGES}new/?like={key}").context["form"]
        begun = {field: form[field].value() for field in ("connection", "name", "structured")}
        assert begun == {"connection": key, "name": name, "structured": test}


def test_a_judge_leads_to_a_job_of_its_own(olga: Client) -> None:
    make_judge("plain & small")
    assert "/jobs/new/?judge=plain%20%26%20small" in page(olga, JUDGES)
    assert olga.get("/campaigns/river/jobs/new/?judge=plain%20%26%20small").context["form"]["judge"].value() == (
        "plain & small"
    )


@pytest.mark.usefixtures("lab")
def test_a_saved_connection_is_tested_again(olga: Client) -> None:
    olga.post(NEW, fields() | {"save": "1"})
    connection = Connection.objects.get()
    shown = olga.post(f"{JUDGES}connections/{connection.pk}/test/", follow=True).content.decode()
    assert "Structured output kept" in shown
    assert "Test again" in shown


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"model": ""}, "This field is required."),
        ({"completion_price": ""}, "Both prices or none."),
        ({"currency": "dollars"}, "Three capital letters, such as USD or EUR."),
        ({"prompt_price": "-1"}, "at least 0, found -1"),
    ],
)
@pytest.mark.usefixtures("lab")
def test_a_wrong_field_says_so_and_the_rest_stays(olga: Client, values: dict[str, str], words: str) -> None:
    response = olga.post(NEW, fields(**values) | {"save": "1"})
    assert response.status_code == 422
    assert words in response.content.decode()
    assert 'value="large-model"' in response.content.decode()
    assert not Connection.objects.exists()


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:5432/v1", "http://169.254.169.254/", "https://evil.example/v1"]
)
@pytest.mark.usefixtures("lab")
def test_an_address_that_is_not_listed_is_refused_in_words(olga: Client, address: str) -> None:
    """Check 70: a free address, private ones too."""
    for act in ("test", "save"):
        response = olga.post(NEW, fields(address) | {act: "1"})
        assert response.status_code == 422
        assert f"“{address}” is not in the list." in response.content.decode()
    assert not Connection.objects.exists()


def test_a_redirect_is_refused_and_the_key_goes_nowhere(
    olga: Client, answering: Answering, lab: LoggedSimulator, list_endpoints: List
) -> None:
    """Check 70: a redirect out of the endpoint."""
    answering.status, answering.location = 307, f"{lab.base_url}/chat/completions"
    list_endpoints(lab=answering.base_url)
    shown = tried(olga)
    assert "redirects are never followed: nothing was sent there (307)." in shown
    assert len(answering.heard) == 1
    assert lab.chooser._seen == {}


def test_a_name_that_stands_for_a_metadata_service_is_refused(
    olga: Client, list_endpoints: List, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check 70: a listed name that a name server points into the network of the cloud."""
    list_endpoints(lab="http://llm.lab.example/v1")
    monkeypatch.setattr(
        "web.transport.socket.getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("169.254.169.254", 80))]
    )
    assert "llm.lab.example stands for 169.254.169.254, where no LLM can be" in tried(olga)


def test_an_endpoint_that_left_the_list_is_refused_in_words(
    olga: Client, lab: LoggedSimulator, settings: Settings
) -> None:
    olga.post(NEW, fields() | {"save": "1"})
    connection = Connection.objects.get()
    for listed in ((), (ListedEndpoint("lab", f"{lab.base_url}/other"),)):
        settings.LLM_ENDPOINTS = listed
        assert "not in the list any more" in page(olga, JUDGES)
        refused = olga.post(f"{JUDGES}connections/{connection.pk}/test/")
        assert refused.status_code == 422
        assert "is not in the administrators&#x27; list any more" in refused.content.decode()


def test_only_who_may_makes_connections(world: World, settings: Settings) -> None:
    statuses = {name: world.client(name).get(NEW).status_code for name in ("sam", "ann", "olga", "rita", "audrey")}
    assert statuses == {"sam": 404, "ann": 404, "olga": 200, "rita": 403, "audrey": 403}
    settings.ORGANIZERS_MAKE_CONNECTIONS = False
    assert world.client("olga").get(NEW).status_code == 403
    assert "For a new connection ask an administrator." in page(world.client("olga"), JUDGES)
    world.people["olga"].is_superuser = True
    world.people["olga"].save()
    assert world.client("olga").get(NEW).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db")
def test_a_judge_of_a_connection_labels_with_its_key_and_price(world: World, lab: LoggedSimulator) -> None:
    """Check 69: a connection made, tried, and used by a judge in the browser."""
    olga = world.client("olga")
    tried(olga)
    olga.post(NEW, fields() | {"save": "1"})
    way = f"connection-{Connection.objects.get().pk}"
    values = {"name": "lab judge", "connection": way, "temperature": "0.5", "structured": "on"}
    assert "Made: lab judge." in olga.post(f"{JUDGES}new/", values, follow=True).content.decode()
    started = olga.post("/campaigns/river/jobs/new/", {"what": "support", "judge": "lab judge", "start": "1"})
    assert started.status_code == 302, started.content.decode()
    llm = LlmJob.objects.get()
    assert (llm.price_table, llm.prompt_price, llm.currency) == ("large-model@1", Decimal("2.5"), "USD")
    work_on(seconds=20)
    call = Call.objects.all()[0]
    assert (call.base_url, call.state, call.parameters["temperature"]) == (lab.base_url, "answered", 0.5)
    assert "json_schema" in str(call.parameters)
    shown = page(olga, JUDGES)
    assert "lab judge" in shown
    assert "temperature 0.5" in shown
    assert KEY not in shown


@pytest.mark.django_db
def test_the_newest_connection_to_a_model_prices_its_judges() -> None:
    judge = make_judge("any", model="m")
    assert price_for(judge) is None
    for version, amount in ((1, 1), (2, 3)):
        prices = {"currency": "EUR", "prompt_price": amount, "completion_price": amount}
        Connection.objects.create(name="m", version=version, endpoint="default", model="m", **prices)
    price = price_for(judge)
    assert price
    assert (price.table, price.currency, price.prompt) == ("m@2", "EUR", Decimal(3))
    assert Judge.objects.count() == 1
