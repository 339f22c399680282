"""LLM_ENDPOINTS binds a key to an address, and no other secret can be sent anywhere (checks 69 and 70)."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django.fixtures import Settings

from evaluation.errors import Refused
from evaluation.judges import add_judge
from evaluation.terms import JudgeKind
from llmjobs import client
from llmjobs.client import endpoint_at
from web.outbound import ListedEndpoint, address_problem, listed_endpoints

LAB = "https://llm.lab.example/team/v1"


def read(text: str, **more: str) -> tuple[ListedEndpoint, ...]:
    return listed_endpoints({"LLM_ENDPOINTS": text} | more)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://llm.own:9000/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-default")
    monkeypatch.setenv("LLM_KEY_LAB", "sk-canary-lab")
    client._endpoint.cache_clear()
    yield
    client._endpoint.cache_clear()


def test_endpoints_are_read_with_and_without_a_key() -> None:
    listed = read(f"Lab gateway = {LAB}/ LLM_KEY_LAB; Local=http://127.0.0.1:8080/v1 ;")
    assert listed == (
        ListedEndpoint("Lab gateway", LAB, "LLM_KEY_LAB"),
        ListedEndpoint("Local", "http://127.0.0.1:8080/v1"),
    )
    assert listed_endpoints({}) == ()


@pytest.mark.parametrize(
    "key",
    ["OPENAI_API_KEY", "SECRET_KEY", "LLM_KEY_", "llm_key_lab", "LLM_KEY_LAB_FILE", "sk-canary-value", "A B"],
)
def test_a_key_of_another_name_is_refused_in_words(key: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"Lab: the key is named by .* begins with LLM_KEY_") as error:
        read(f"Lab={LAB} {key}")
    assert "canary" not in str(error.value)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "llm.lab.example/v1",
        "ftp://llm.lab.example",
        "https://me:canary@llm.lab.example/v1",
        f"{LAB}?key=canary",
        f"{LAB}#x",
        "https://" + "x" * 200,
    ],
)
def test_an_address_with_a_trick_is_refused(address: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="Lab: the address is") as error:
        read(f"Lab={address}")
    assert "canary" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"={LAB}", "a name of at most"),
        (f"default={LAB}", "has this name"),
        (f"Lab={LAB};LAB=https://other.example/v1", "has this name"),
        (f"Lab={LAB};Other={LAB}/", "only one key can belong to it"),
        ("Lab=http://llm.own:9000/v1", "only one key can belong to it"),
    ],
)
def test_a_name_and_an_address_stand_once(text: str, words: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=words):
        read(text, OPENAI_BASE_URL="http://llm.own:9000/v1/")


def test_openai_s_address_is_the_default_one_where_its_key_is_set() -> None:
    with pytest.raises(ImproperlyConfigured, match="has this address"):
        read("OpenAI=https://api.openai.com/v1 LLM_KEY_O", OPENAI_API_KEY="sk-x")
    assert read("OpenAI=https://api.openai.com/v1 LLM_KEY_O")


def test_a_key_file_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"LLM_KEY_LAB_FILE: .* cannot be read"):
        read(f"Lab={LAB} LLM_KEY_LAB", LLM_KEY_LAB_FILE=str(tmp_path / "nowhere"))


def test_the_start_stops_with_the_sentence() -> None:
    environ = os.environ | {"LLM_ENDPOINTS": f"Lab={LAB} SECRET_KEY"}
    command = [sys.executable, "manage.py", "check"]
    outcome = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert outcome.returncode != 0
    assert (
        "LLM_ENDPOINTS: Lab: the key is named by an environment variable that begins with LLM_KEY_"
        in outcome.stderr
    )


def test_each_address_gets_the_key_that_is_bound_to_it(settings: Settings, tmp_path: Path) -> None:
    settings.LLM_ENDPOINTS = read(f"Lab={LAB} LLM_KEY_LAB; Open=https://open.example/v1")
    settings.LLM_ALLOWED_HOSTS = ["llm.lab.example"]
    keys = {
        address: endpoint_at(address).api_key.get_secret_value()
        for address in ("", LAB, f"{LAB}/", "https://open.example/v1", "https://llm.lab.example/other/v1")
    }
    assert keys == {
        "": "sk-canary-default",
        LAB: "sk-canary-lab",
        f"{LAB}/": "sk-canary-lab",
        "https://open.example/v1": "",
        "https://llm.lab.example/other/v1": "",
    }


def test_only_the_whole_address_is_listed(settings: Settings) -> None:
    settings.LLM_ENDPOINTS = read(f"Lab={LAB} LLM_KEY_LAB")
    assert address_problem(LAB) == ""
    assert "is not allowed" in address_problem("https://llm.lab.example/v1")
    with pytest.raises(Refused, match="is not allowed"):
        endpoint_at("https://llm.lab.example/team/v1/more")


@pytest.mark.django_db
def test_a_command_makes_a_judge_of_a_listed_endpoint(settings: Settings) -> None:
    settings.LLM_ENDPOINTS = read(f"Lab={LAB} LLM_KEY_LAB")
    assert add_judge(name="lab", kind=JudgeKind.LLM, model="m", base_url=LAB)[1]
