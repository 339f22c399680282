"""A real Chromium, where there is one."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests import needed
from tests.browser.nugget_desk import CALM

# The headless shell is the same engine without what draws windows: it takes a fifth less of a core.
CANDIDATES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The address bar draws its list of proposals as two web pages, made for each window though no test ever sees them: that
# takes a second of a core. The last such option counts, so what Playwright switches off is named here again.
UNUSED = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "SpareRendererForSitePerProcess",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "OptimizationHints",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
)
QUIET = [
    f"--disable-features={','.join(UNUSED)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
]


def chromium_path() -> str | None:
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
        needed.lacking("Chromium", "(CHROMIUM may name its path)")
    expect.set_options(timeout=CALM)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()
