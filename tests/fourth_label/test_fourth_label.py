"""A label more in a set is one entry: the product takes a fourth label of citations from the set alone."""

import subprocess
import sys
from pathlib import Path

import pytest

WALK = Path(__file__).with_name("walk.py")


@pytest.mark.slow
def test_a_fourth_label_needs_its_entry_alone() -> None:
    words = ("pytest", "-n", "0", "-q", "-p", "no:cacheprovider", "-p", "tests.fourth_label.plugin")
    done = subprocess.run(
        [sys.executable, "-m", *words, str(WALK)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
