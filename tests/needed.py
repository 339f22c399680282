"""Programs that some tests need beyond Python, make, git and the shell's usual commands.

Without one a test is skipped with the line that installs it. With CI=true it fails, because CI must have everything.
"""

import os
import shutil
from typing import NoReturn

import pytest

PACKAGES = {
    "Chromium": "chromium chromium-headless-shell",
    "PostgreSQL": "postgresql",
    "curl": "curl",
    "docker": "docker.io docker-compose",
    "nginx": "nginx-light",
    "openssl": "openssl",
    "redis-server": "redis-server",
}
"""Debian's packages. `.ci/run` installs those that `make test` needs there."""

SYSTEM = "/usr/sbin:/usr/local/sbin:/sbin"
"""Folders of servers, which are not on everybody's path."""


def lacking(name: str, where: str = "") -> NoReturn:
    """Skip the current test and print how to install `name`; fail it in CI."""
    missing = f"{name} was not found{where and f' {where}'}; on Debian: apt-get install {PACKAGES[name]}"
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)


def program(name: str) -> str:
    """Return the path of a program."""
    return shutil.which(name) or shutil.which(name, path=SYSTEM) or lacking(name)
