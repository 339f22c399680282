"""Where organizers need a second factor, their tokens open nothing without one either."""

import json

import pytest
from allauth.mfa.models import Authenticator
from pytest_django.fixtures import Settings

from tests.api.conftest import program_of
from tests.crawl.canaries import body_of
from tests.worlds.campaign import World

pytestmark = pytest.mark.django_db

PATHS = ("/api/v1/runs", "/api/v1/campaigns")


def test_a_token_does_not_go_round_the_second_factor(world: World, settings: Settings) -> None:
    program = program_of(world, "olga", ("read", "write"))
    settings.REQUIRE_MFA = True
    refused = [program.get(path) for path in PATHS]
    refused.append(program.client.post("/api/v1/jobs?dry_run=1", headers=program.own))
    assert [response.status_code for response in refused] == [403, 403, 403]
    assert {json.loads(body_of(response))["code"] for response in refused} == {"second_factor_needed"}


@pytest.mark.parametrize("kind", [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN])
def test_a_token_of_somebody_with_a_factor_works(world: World, settings: Settings, kind: str) -> None:
    settings.REQUIRE_MFA = True
    Authenticator.objects.create(user=world.people["olga"], type=kind, data={})
    assert [program_of(world, "olga").get(path).status_code for path in PATHS] == [200, 200]


def test_recovery_codes_alone_are_no_second_factor(world: World, settings: Settings) -> None:
    settings.REQUIRE_MFA = True
    Authenticator.objects.create(user=world.people["olga"], type=Authenticator.Type.RECOVERY_CODES, data={})
    assert program_of(world, "olga").get(PATHS[0]).status_code == 403


@pytest.mark.parametrize("name", ["rita", "ann"])
def test_tokens_of_others_need_none(world: World, settings: Settings, name: str) -> None:
    settings.REQUIRE_MFA = True
    assert program_of(world, name).get(PATHS[0]).status_code == 200
