"""Settings that make no sense stop the start, in words that name them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from web.environment import Environment, one_or_more, own_folder, port


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


@pytest.mark.parametrize("number", [-1, 0, 65_536])
def test_a_port_that_no_server_has_is_refused(number: int) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"PORT is {number}; ports are from 1 to 65535"):
        port("PORT", number)


@pytest.mark.parametrize("number", [-1, 0, 0.5, float("nan"), float("inf")])
def test_workers_calls_at_once_and_leases_are_one_or_more(number: float) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"LLM_CONCURRENCY is .*; it is at least 1"):
        one_or_more("LLM_CONCURRENCY", number)


@pytest.mark.parametrize("name", ["LLM_CONCURRENCY", "WEB_WORKERS", "JOB_LEASE_SECONDS"])
def test_settings_say_so(name: str) -> None:
    refused = subprocess.run(
        [sys.executable, "-c", "import config.settings"],
        cwd=settings.BASE_DIR,
        env=os.environ | {name: "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"{name} is 0; it is at least 1." in refused.stderr


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
