"""Gates in pytest: the fixtures `assay` and `assay_gate`, with the server of ASSAY_URL."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

from assay_client.api import Assay
from assay_client.errors import GateBroken
from assay_client.gates import Gate

BROKEN = ("assay", "broken")
MISSING = "ASSAY_URL is not set: no server of Assay to ask"


class TestedGate(Gate):
    """A gate whose undecided verdict skips the test."""

    __test__ = False

    def check(self) -> None:
        __tracebackhide__ = True  # the place is that of the test
        if self.verdict == "undecided":
            pytest.skip(f"undecided: {self.reason}")
        super().check()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("assay").addoption(
        "--assay-required",
        action="store_true",
        help="fail tests that ask a server of Assay where ASSAY_URL is not set",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "assay(campaign): the campaign of assay_gate, where it names none")


@pytest.fixture(scope="session")
def assay(pytestconfig: pytest.Config) -> Iterator[Assay]:
    """The server of ASSAY_URL. Without one the test is skipped, with --assay-required it fails."""
    if not os.environ.get("ASSAY_URL"):
        if pytestconfig.getoption("--assay-required"):
            pytest.fail(MISSING, pytrace=False)
        pytest.skip(MISSING)
    with Assay.from_env() as api:
        yield api


@pytest.fixture
def assay_gate(assay: Assay, request: pytest.FixtureRequest) -> Callable[..., Gate]:
    """Ask a gate: `assay_gate("library", "M/A", candidate="v42", baseline="v41", least=0.02).check()`."""

    def gate(*place: str, **order: Any) -> Gate:
        *campaign, condition = place
        marker = request.node.get_closest_marker("assay")
        slug = campaign[0] if campaign or marker is None else marker.kwargs["campaign"]
        return TestedGate(assay.campaign(slug).gate(condition, **order).answer)

    return gate


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, GateBroken):
        report.user_properties.append(BROKEN)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, str, str] | None:
    """Call a gate that is broken an error: nothing was compared, and nothing failed."""
    # From another process they are lists.
    properties = map(tuple, getattr(report, "user_properties", ()))
    return ("error", "E", "ERROR") if BROKEN in properties else None
