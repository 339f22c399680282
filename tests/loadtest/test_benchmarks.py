"""What the benchmarks need before they can measure anything; they themselves take too long to be tests."""

import importlib
import subprocess
import sys

import pytest
from django.conf import settings

from loadtest.bench.plan_reports import BENCHMARKS

pytestmark = pytest.mark.slow


def test_the_bare_application_starts() -> None:
    """Settings are chosen once per process, so it needs one of its own."""
    command = [
        sys.executable,
        "-c",
        "from loadtest.bench.floor.wsgi import application; assert callable(application)",
    ]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["saves", "judging"])
def test_a_desk_is_measured_in_a_second_turn(name: str) -> None:
    """Each turn has a process of its own, and the desk was left open by the one before."""
    command = [sys.executable, "-m", "loadtest.bench", name, "--small", "--turns", "2"]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_step_can_be_taken(name: str) -> None:
    for step in (*BENCHMARKS[name].prepare, *BENCHMARKS[name].steps):
        module, _, function = step.partition(".")
        assert callable(getattr(importlib.import_module(f"loadtest.bench.{module}"), function)), step
