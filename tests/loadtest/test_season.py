"""The season in its short form: a whole campaign on the production shape while each part of it restarts."""

import re
import subprocess
import sys

import pytest
from django.conf import settings

from tests import needed

FIGURES = re.compile(
    r"(\d+) of (\d+) tasks submitted, ([\d,]+) operations, ([\d,]+) LLM items, .* (\d+) violations"
)


@pytest.mark.slow
def test_a_season_keeps_all_work_and_each_backup_is_one_state() -> None:
    command = [
        sys.executable,
        "-m",
        "loadtest.soak",
        "postgresql",
        "--only",
        "season",
        "--assessors",
        "4",
        "--seconds",
        "20",
    ]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    if "skipped" in output:
        needed.lacking("PostgreSQL", f"({output.strip().splitlines()[-1]})")
    found = FIGURES.search(output)
    assert found, output
    submitted, tasks, operations, items, violations = (int(figure.replace(",", "")) for figure in found.groups())
    assert (done.returncode, violations, submitted) == (0, 0, tasks), output
    assert min(operations, items) > 0, output
    assert output.count("backup: took") == 2, output
