"""Settings that make no sense stop the start, in words that name them."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from web.environment import Environment, own_folder


@pytest.mark.parametrize("word", ["ture", "enabled", "2"])
def test_a_switch_with_a_word_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("REQUIRE_MFA", word)
    with pytest.raises(ImproperlyConfigured, match=f"REQUIRE_MFA is '{word}', and not true or false"):
        Environment().bool("REQUIRE_MFA", default=False)


@pytest.mark.parametrize(("word", "on"), [("1", True), ("On", True), (" yes ", True), ("0", False), ("", False)])
def test_a_switch_takes_the_usual_words(monkeypatch: pytest.MonkeyPatch, word: str, on: bool) -> None:
    monkeypatch.setenv("REQUIRE_MFA", word)
    assert Environment().bool("REQUIRE_MFA", default=not on) is on


def test_a_number_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_TIMEOUT_SECONDS", "2m")
    monkeypatch.setenv("WEB_WORKERS", "2.5")
    with pytest.raises(ImproperlyConfigured, match="LLM_TIMEOUT_SECONDS is '2m', and not a number"):
        Environment().float("LLM_TIMEOUT_SECONDS", default=120.0)
    with pytest.raises(ImproperlyConfigured, match=r"WEB_WORKERS is '2\.5', and not a whole number"):
        Environment().int("WEB_WORKERS", default=2)


def test_a_number_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_TIMEOUT_SECONDS", "1e3")
    assert Environment().float("LLM_TIMEOUT_SECONDS", default=120.0) == 1000


def read(name: str) -> Any:
    """Read the settings again, as a start does."""
    return runpy.run_path(str(settings.BASE_DIR / "config" / "settings.py"))[name]


NUMBERS = sorted(
    name
    for name, value in settings.ENVIRONMENT.in_force.items()
    if isinstance(value, int | float) and not isinstance(value, bool)
)
NONE_AT_ALL = {"TRUSTED_PROXIES", "LLM_REQUESTS_PER_MINUTE", "LLM_TOKENS_PER_MINUTE", "LLM_MOST_AT_ONCE"}


@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_has_a_least_and_a_most(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    least = 0 if name in NONE_AT_ALL else 1
    monkeypatch.setenv(name, str(least - 1))
    with pytest.raises(ImproperlyConfigured, match=f"^{name} is {least - 1}; it is at least {least}"):
        read(name)
    monkeypatch.setenv(name, "1" + 12 * "0")
    with pytest.raises(ImproperlyConfigured, match=f"^{name} is 1000000000000; it is at most [0-9]+"):
        read(name)


def test_a_limit_of_0_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_MOST_AT_ONCE", "0")
    assert read("LLM_MOST_AT_ONCE") is None


@pytest.mark.parametrize("name", ["JOB_LEASE_SECONDS", "JOB_STUCK_MINUTES", "LLM_TIMEOUT_SECONDS"])
@pytest.mark.parametrize("word", ["nan", "inf", "0.5"])
def test_a_time_is_a_number_of_at_least_one(monkeypatch: pytest.MonkeyPatch, name: str, word: str) -> None:
    monkeypatch.setenv(name, word)
    with pytest.raises(ImproperlyConfigured, match=f"^{name} is {word}; it is at "):
        read(name)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("ALLOWED_HOSTS", "https://assay.example.org"),
        ("ALLOWED_HOSTS", "assay.example.org:8000"),
        ("ALLOWED_HOSTS", "::1"),
        ("ALLOWED_HOSTS", "*.example.org"),
        ("API_TOKEN_RATE", "600/month"),
        ("API_USER_RATE", "1200"),
        ("API_USER_RATE", "-1/minute"),
        ("AUDIT_LOG", "~nobody-of-that-name/audit.jsonl"),
        ("CSRF_TRUSTED_ORIGINS", "https://assay.example.org/"),
        ("CSRF_TRUSTED_ORIGINS", "https://a.example.org,assay.example.org"),
        ("FILES_DIR", "~nobody-of-that-name/files"),
        ("LLM_ALLOWED_HOSTS", "http://ollama:11434"),
        ("LLM_ALLOWED_HOSTS", "ollama:port"),
        ("LLM_PRICES", "~nobody-of-that-name/prices.toml"),
        ("LOG_FORMAT", "jsonl"),
        ("LOG_LEVEL", "debug"),
        ("OIDC_SERVER_URL", "https:id.example.org"),
        ("PUBLIC_URL", "assay.example.org"),
        ("PUBLIC_URL", "https://assay.example.org/"),
        ("SECURITY_CONTACT", "security@example.org"),
        ("TIME_ZONE", "Europe"),
        ("TIME_ZONE", "Europe/Berln"),
        ("TIME_ZONE", ""),
        ("REQUIRE_MFA", "$ANOTHER"),
    ],
)
def test_what_would_be_misread_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, wrong: str) -> None:
    monkeypatch.setenv(name, wrong)
    with pytest.raises(ImproperlyConfigured, match=f"^{name}\\b"):
        read(name)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("DATABASE_URL", "mysql://assay:canary@127.0.0.1/assay"),
        ("DATABASE_URL", "//assay:canary@127.0.0.1/assay"),
        ("DATABASE_URL", "postgres://assay:canary@127.0.0.1:54x2/assay"),
        ("DATABASE_URL", "sqlite://canary/assay.sqlite3"),
        ("DATABASE_URL", "sqlite://"),
        ("EMAIL_URL", "mail.example.org:canary"),
        ("EMAIL_URL", "smtp://user:canary@[mail.example.org"),
        ("EMAIL_URL", "smtp+tls://user:canary@mail.example.org:5x7"),
        ("EMAIL_URL", "smtp:canary.example.org"),
        ("REDIS_URL", "canary:6379"),
    ],
)
def test_an_address_that_may_hold_a_password_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, name: str, wrong: str
) -> None:
    monkeypatch.setenv(name, wrong)
    with pytest.raises(ImproperlyConfigured, match=f"^{name} is not such as ") as refused:
        read(name)
    assert "canary" not in str(refused.value)


def test_a_switch_is_not_what_another_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANOTHER", "true")
    monkeypatch.setenv("REQUIRE_MFA", "$ANOTHER")
    with pytest.raises(ImproperlyConfigured, match=r"REQUIRE_MFA is '\$ANOTHER', and not true or false"):
        Environment().bool("REQUIRE_MFA", default=False)


def test_spaces_between_the_hosts_of_a_list_are_none_of_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", "assay.example.org, .lab.example.org ,[::1]")
    monkeypatch.setenv("LLM_ALLOWED_HOSTS", "ollama:11434, llm.example.org")
    assert read("ALLOWED_HOSTS") == ["assay.example.org", ".lab.example.org", "[::1]"]
    assert read("LLM_ALLOWED_HOSTS") == ["ollama:11434", "llm.example.org"]


def test_a_home_folder_is_meant_by_its_sign_and_nothing_by_an_empty_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("FILES_DIR", "~/files")
    assert read("FILES_DIR") == tmp_path / "files"
    monkeypatch.setenv("FILES_DIR", "")
    assert read("FILES_DIR") == read("VAR_DIR") / "files"


def test_mail_over_tls_from_the_first_byte_is_read_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_URL", "smtps://mail.example.org:465")
    assert read("EMAIL_USE_SSL") is True


def test_a_folder_of_data_is_absolute_and_the_owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = own_folder(Path("my data") / "assay")
    assert folder == tmp_path / "my data" / "assay"
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("below", ["", "folder"])
def test_a_file_in_place_of_the_folder_of_data_is_named(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ImproperlyConfigured, match=f"ASSAY_HOME: {tmp_path}/file.* cannot be made: "):
        own_folder(tmp_path / "file" / below)


@pytest.mark.slow
@pytest.mark.parametrize("command", [("demo",), ("manage", "check")])
def test_the_command_says_it_in_one_line(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "file").touch()
    refused = subprocess.run(
        [sys.executable, settings.BASE_DIR / "assay.py", *command],
        env=os.environ | {"ASSAY_HOME": str(tmp_path / "file" / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert refused.stderr == f"ASSAY_HOME: {tmp_path}/file/home cannot be made: Not a directory.\n"


@pytest.mark.parametrize("words", [("where",), ("manage", "check")])
def test_a_home_folder_of_nobody_is_told_in_one_line(words: tuple[str, ...]) -> None:
    refused = subprocess.run(
        [sys.executable, settings.BASE_DIR / "assay.py", *words],
        env=os.environ | {"ASSAY_HOME": "~nobody-of-that-name/assay"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    told = "ASSAY_HOME: ~nobody-of-that-name/assay is in a home folder that is not there.\n"
    assert refused.stderr == told
