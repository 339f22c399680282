"""docs/troubleshooting.md quotes messages that Assay still gives."""

import re
from pathlib import Path

import pytest

from tests.architecture.test_docs import ROOT

PAGE = ROOT / "docs" / "troubleshooting.md"
ROOMS = (
    "accounts",
    "api",
    "assessor",
    "config",
    "evaluation",
    "exchange",
    "jobs",
    "llmjobs",
    "organizer",
    "reports",
    "web",
)
FOLDERS = (*ROOMS, "static/js", "templates", "tests")
KINDS = {".py", ".js", ".html"}
COMMANDS = re.compile(r"make|[A-Z_]+$|/|[a-z_]+ ?[a-z_]*$")  # backticks around what is typed, set or asked for


def quoted() -> list[str]:
    """The messages in the first cells: what stands in backticks and is a sentence of ours."""
    cells = re.findall(r"^\| ([^|]*) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    found = [quote for cell in cells for quote in re.findall(r"`([^`]+)`", cell)]
    return [quote for quote in found if not COMMANDS.match(quote) and not quote.startswith("FILE:")]


@pytest.fixture(scope="module")
def sources() -> str:
    """All code and templates, one text, with every run of white space as one space."""
    files = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in KINDS)
    text = "\n".join(path.read_text("utf-8") for path in [ROOT / "assay.py", *files] if path != Path(__file__))
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("message", quoted())
def test_a_message_is_still_in_the_code(message: str, sources: str) -> None:
    pieces = [piece.strip() for piece in message.split("…")]
    assert any(len(piece) > 8 for piece in pieces)
    assert [piece for piece in pieces if piece not in sources] == []
