"""The worlds of the security tests, and the audit log that a test can read."""

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from tests.worlds.campaign import World, make_world
from tests.worlds.desk import DeskWorld, make_desk_world


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def desk_world(db: None, tmp_path: Path) -> DeskWorld:
    return make_desk_world(tmp_path)


class Audit:
    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self, kind: str = "") -> list[dict[str, Any]]:
        """Return what was recorded, `kind` only if given."""
        if not self.path.exists():
            return []
        found = [json.loads(line) for line in self.path.read_text("utf-8").splitlines() if line]
        return [line for line in found if kind in ("", line["kind"])]


@pytest.fixture
def audit_log(tmp_path: Path, settings: Settings) -> Audit:
    settings.AUDIT_LOG = str(tmp_path / "audit.jsonl")
    return Audit(Path(settings.AUDIT_LOG))


@pytest.fixture
def broken_audit_log(tmp_path: Path, settings: Settings) -> None:
    """Have the audit log lie where nothing can be written, for root neither."""
    settings.AUDIT_LOG = str(tmp_path / "not-there" / "audit.jsonl")


@pytest.fixture
def _quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait only moments between tries of LLM calls."""
    monkeypatch.setattr("llmjobs.client.FIRST_WAIT", 0.01)
    monkeypatch.setattr("llmjobs.client.LONGEST_WAIT", 0.05)
    monkeypatch.setattr("llmjobs.engine.send.LONGEST_PROBE_WAIT", 0.1)
