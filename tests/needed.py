"""Programs and services that tests need beyond Python, make, git and the shell's usual commands.

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
    "firefox-esr": "firefox-esr",
    "docker": "docker.io docker-compose",
    "nginx": "nginx-light",
    "openssl": "openssl",
    "redis-server": "redis-server",
}
"""Debian's packages. `.ci/run` installs them."""

NEVER_IN_CI = {"docker"}
"""A container of CI may not start containers, so this one is skipped there too."""

POSTGRESQL = os.environ.get("TEST_POSTGRESQL_URL", "postgres://postgres@127.0.0.1:5432/postgres")

SYSTEM = "/usr/sbin:/usr/local/sbin:/sbin"
"""Folders of servers, which are not on everybody's path."""


def how_to_get(name: str, where: str = "") -> str:
    """Return that `name` is missing, and the line that installs it."""
    return f"{name} was not found{where and f' {where}'}; on Debian: apt-get install {PACKAGES[name]}"


def is_ci() -> bool:
    return os.environ.get("CI") == "true"


def lacking(name: str, where: str = "") -> NoReturn:
    """Skip the current test and print how to install `name`; fail it in CI."""
    if is_ci() and name not in NEVER_IN_CI:
        pytest.fail(how_to_get(name, where))
    pytest.skip(how_to_get(name, where))


def program(name: str) -> str:
    return shutil.which(name) or shutil.which(name, path=SYSTEM) or lacking(name)
