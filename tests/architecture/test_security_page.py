"""docs/security.md names twenty requirements, and what it names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (\d+\.\d+\.\d+)[^|]*\| `([^`]+)` \| `([^`]+)` \|$", re.MULTILINE)


def test_each_of_twenty_requirements_names_code_and_a_test_that_exist() -> None:
    rows = ROW.findall((ROOT / "docs" / "security.md").read_text("utf-8"))
    assert len(rows) == 20
    named = {path for _, code, test in rows for path in (code, test)}
    assert sorted(path for path in named if not (ROOT / path).is_file()) == []
    assert all(re.search(r"^def test_", (ROOT / test).read_text("utf-8"), re.MULTILINE) for _, _, test in rows)
