"""What a test needs and a newcomer's machine may not have: without it a test is skipped, or fails where CI=true."""

import os
import shutil
from typing import NoReturn

import pytest


def lacking(what: str) -> NoReturn:
    """Skip the test at hand and say what is not there; fail it in CI, where everything must be."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} was not found, and CI must have it")
    pytest.skip(f"{what} was not found")


def program(name: str) -> str:
    """Return where a program is."""
    return shutil.which(name) or lacking(name)
