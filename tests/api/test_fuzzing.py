"""Whatever is sent to the API, as whomever: no fault, nothing outside its schema, no row of another's.

Requests are made up from the schema, sensible ones and wrong ones, half of them about what there is. `FUZZ_EXAMPLES`
says how many there are of each address and method for each person.
"""

import os
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.http import HttpResponse
from django.utils.timezone import now
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from accounts.tokens import Scope, make_token
from evaluation.campaigns.create import add_member
from evaluation.terms import Role
from reports.random_checks.drawing import create_random_check
from tests.api.conftest import CHECK
from tests.api.test_permissions import places
from tests.api.throttling import unlimited
from tests.crawl.canaries import Canaries, canaries_in
from tests.worlds.blind import make_blind_world
from tests.worlds.cast import make_campaign, make_user
from tests.worlds.desk import DeskWorld

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "6"))
CHECKED = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
UNBLINDED, BLINDED = ("olga", "rita", "audrey", "ada"), ("ann", "ben", "dora", "sam")


@pytest.fixture
def natural(tmp_path: Path) -> tuple[DeskWorld, Canaries]:
    """The world of the blind walks with texts as they are, so that they fit the schema."""
    return made(tmp_path, with_canaries=False)


@pytest.fixture
def planted(tmp_path: Path) -> tuple[DeskWorld, Canaries]:
    """The same, and whatever an assessor may not see carries a canary."""
    return made(tmp_path, with_canaries=True)


def made(folder: Path, *, with_canaries: bool) -> tuple[DeskWorld, Canaries]:
    """Make the world; Sam organizes another campaign. Requests will share the test's transaction."""
    world, canaries = make_blind_world(folder, with_canaries=with_canaries)
    world.people["ada"] = make_user("ada", is_superuser=True)
    create_random_check(campaign=world.campaign, order=CHECK)
    add_member(campaign=make_campaign("lake", "Lakes"), user=world.people["sam"], role=Role.ORGANIZER)
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)  # Django's own client connects it again
    return world, canaries


@cache
def schema() -> BaseSchema:
    """Read the schema, and once a process the constants in Assay's code, of which requests are made up too."""
    return schemathesis.openapi.from_wsgi("/api/schema/?format=json", get_wsgi_application())


def fuzz(world: DeskWorld, canaries: Canaries, person: str) -> list[str]:
    """Send what the schema makes up as one person; return what is wrong with the answers."""
    user = world.people[person]
    raw = make_token(user=user, name="fuzz", scopes=tuple(Scope), expires_at=now() + timedelta(hours=5))[1]
    known, wrong = places(world), dict[str, str]()
    allowed = {canary for canary, _ in canaries.may.get(person, [])}
    # In this process nobody unpacks an answer.
    headers = {"Authorization": f"Bearer {raw}", "Accept-Encoding": "identity"}
    for operation in (found.ok() for found in schema().get_all_operations() if isinstance(found, Ok)):
        ours = place_of(operation.path, known)
        for mode in GenerationMode:
            try_out(operation.as_strategy(generation_mode=mode), ours, headers, person, allowed, wrong)
    return [f"{request_line}: {why}" for request_line, why in wrong.items()]


def try_out(
    strategy: Any,
    ours: Mapping[str, str],
    headers: dict[str, str],
    person: str,
    allowed: set[str],
    wrong: dict[str, str],
) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize="FUZZ_EXAMPLES" not in os.environ,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy, aims=st.booleans())
    def send(case: Case[Any], aims: bool) -> None:
        if aims:
            aim(case, ours)
        with transaction.atomic():
            response = case.call(headers=headers)
            transaction.set_rollback(True)
        request_line = f"{person}: {case.method} {case.formatted_path}"
        try:
            case.validate_response(response, checks=CHECKED)
        except (AssertionError, FailureGroup) as error:
            wrong[f"{request_line} {case.query!r} {case.body!r}"[:400]] = str(error)[:1500]
        if person not in UNBLINDED:
            leaked = canaries_in(HttpResponse(response.content)) - allowed
            sent = f"{case.formatted_path}{case.query!r}{case.body!r}"
            if hidden := sorted(canary for canary in leaked if canary not in sent):
                wrong[request_line] = f"tells {hidden}"

    send()


def aim(case: Case[Any], ours: Mapping[str, str]) -> None:
    for name, value in ours.items():
        if name in case.path_parameters:
            case.path_parameters[name] = value
    if isinstance(case.query, dict) and "campaign" in case.query:
        case.query["campaign"] = "river"
    if isinstance(case.body, dict):
        known: dict[str, Any] = {
            "campaign": "river",
            "topics": ["t1"],
            "tasks": [ours.get("public_id", "?")],
            "assessor": "ben",
        }
        case.body.update({name: value for name, value in known.items() if name in case.body})


def place_of(path: str, known: Mapping[str, str]) -> dict[str, str]:
    collection = path.split("/")[3]
    row = known.get(f"{collection}-row", "river")
    return {"slug": "river", "pk": row, "public_id": row}


@pytest.fixture(autouse=True)
def _unthrottled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a person ask as often as it takes."""
    unlimited(monkeypatch)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.parametrize("person", UNBLINDED)
def test_nothing_that_is_sent_breaks_it(natural: tuple[DeskWorld, Canaries], person: str) -> None:
    assert fuzz(*natural, person) == []


@pytest.mark.parametrize("person", BLINDED)
def test_nothing_that_is_sent_makes_it_tell(planted: tuple[DeskWorld, Canaries], person: str) -> None:
    assert fuzz(*planted, person) == []
