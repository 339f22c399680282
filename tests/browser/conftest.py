"""A real Chromium, where there is one."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

CANDIDATES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
]


def chromium_path() -> str | None:
    """Return where Chromium is: named by CHROMIUM, on the path, or installed by Playwright."""
    named = os.environ.get("CHROMIUM")
    found = named or next(filter(None, map(shutil.which, CANDIDATES)), None)
    if found:
        return found
    with sync_playwright() as playwright:
        bundled = playwright.chromium.executable_path
    return bundled if Path(bundled).exists() else None


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser for the session. Without one the tests are skipped, or fail where CI=true says there must be one."""
    path = chromium_path()
    if path is None:
        reason = "no Chromium was found; set CHROMIUM to its path"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()
