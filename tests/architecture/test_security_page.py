"""docs/security.md lists requirements of OWASP ASVS, and the code and tests that it names exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (\d+\.\d+\.\d+)[^|]*\| `([^`]+)` \| `([^`]+)` \|$", re.MULTILINE)

ONCE_NOT_MET = {"2.1.1", "2.2.1", "2.5.1", "3.3.4", "3.7.1", "6.4.1", "7.2.1", "12.1.1"}


def test_each_requirement_names_code_and_a_test_that_exist() -> None:
    rows = ROW.findall((ROOT / "docs" / "security.md").read_text("utf-8"))
    assert {number for number, _, _ in rows} >= ONCE_NOT_MET
    named = {path for _, code, test in rows for path in (code, test)}
    assert sorted(path for path in named if not (ROOT / path).is_file()) == []
    assert all(re.search(r"^def test_", (ROOT / test).read_text("utf-8"), re.MULTILINE) for _, _, test in rows)
