"""One list of settings: what is read, what is documented, what is shown, and what containers are handed agree."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from django.conf import settings

from assay import SERVERS
from tests.architecture.test_docs import rows_of
from tests.worlds.imported import run

ROOT = Path(settings.BASE_DIR)
SECRET = "canary-of-a-secret"
KEYS = ("LLM_KEY_", "TEXT_KEY_")
"""How the names of keys begin, which a team chooses."""


def listed() -> dict[str, list[str]]:
    return {line.split()[0]: line.split()[1:] for line in run("settings").out.splitlines()}


def test_documents_and_command_name_the_same_settings() -> None:
    example = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text("utf-8"), re.MULTILINE))
    documented = {name for name in rows_of(ROOT / "docs" / "settings.md") if re.fullmatch("[A-Z_]+", name)}
    plain = {name for name in example if not name.startswith(KEYS) and not name.endswith("_FILE")}
    assert {name for name in documented if not name.endswith("_FILE")} == plain
    assert listed().keys() - {name for name in listed() if name.startswith(KEYS)} == plain


def test_every_container_of_assay_is_handed_all_of_them() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
    ours = {name: service for name, service in services.items() if "ASSAY_IMAGE" in service["image"]}
    assert len(ours) == 4
    assert {name: service["env_file"] for name, service in ours.items()} == {name: [".env"] for name in ours}
    # What is set here too cannot be set in .env: only what the shape of the file fixes, and files of secrets.
    fixed = {"HTTPS", "HOST", "PORT", "AUDIT_LOG"}
    from_env_file = {
        name for service in ours.values() for name, value in service["environment"].items() if "${" in value
    }
    others = {name for service in ours.values() for name in service["environment"] if not name.endswith("_FILE")}
    assert others - from_env_file == fixed


def test_secrets_are_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECRET_KEY", "OPENAI_API_KEY", "LLM_KEY_LAB", "METRICS_TOKEN", "OIDC_CLIENT_SECRET"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("DATABASE_URL", f"postgres://assay:{SECRET}@127.0.0.1/assay")
    monkeypatch.setenv("EMAIL_URL", f"smtp+tls://user:{SECRET}@mail.example.org:587")
    monkeypatch.setenv("REDIS_URL", f"redis://:{SECRET}@127.0.0.1:6379/1")
    assert SECRET not in run("settings").out
    assert listed()["LLM_KEY_LAB"][:3] == ["(set", "by", "LLM_KEY_LAB)"]
    assert "mail.example.org:587" in listed()["EMAIL_URL"][0]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """An installation with a `.env` of its own."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copy(ROOT / "manage.py", tmp_path)
    for path in ROOT.iterdir():
        if path.name not in {"config", "manage.py", "var", ".env", ".git"}:
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / ".env").write_text("TIME_ZONE=Europe/Berlin\nSIMULATOR_PORT=8621\nLOG_LEVEL=ERROR\n", "utf-8")
    return tmp_path


def begun(folder: Path, *words: str) -> "subprocess.Popen[str]":
    environment = {"PATH": "/usr/bin:/bin", "LOG_LEVEL": "INFO"}
    command = [sys.executable, "manage.py", *words]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_it_says_where_a_setting_is_from(elsewhere: Path) -> None:
    shown = begun(elsewhere, "settings").communicate()[0]
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines()}
    assert rows["TIME_ZONE"] == ["Europe/Berlin", ".env"]
    assert rows["SIMULATOR_PORT"] == ["8621", ".env"]
    assert rows["LOG_LEVEL"] == ["INFO", "shell"]
    assert rows["LLM_CONCURRENCY"] == ["16", "default"]


@pytest.mark.slow
def test_the_simulated_llm_of_the_demo_is_where_calls_go(elsewhere: Path) -> None:
    with begun(elsewhere, *SERVERS["llm"].split()[1:]) as process:
        assert process.stdout
        assert process.stdout.readline() == "http://127.0.0.1:8621/v1\n"
        process.terminate()
