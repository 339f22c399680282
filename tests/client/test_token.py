"""The token goes to its server alone, and stands in no message, repr or line of a log."""

import json
import logging
import traceback

import pytest

from assay_client import Assay, AssayError, ServerError, Unreachable, connection
from tests.client.servers import says, serving
from tests.client.test_streams import CAMPAIGN

TOKEN = "assay_very_secret"


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_WAIT", 0.01)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"ASSAY_URL": "https://assay.example.org"}, "ASSAY_TOKEN is not set (make one at /accounts/tokens/)"),
        ({"ASSAY_TOKEN": TOKEN}, "ASSAY_URL is not set (the server's address, such as https://assay.example.org)"),
        (
            {"ASSAY_TOKEN": TOKEN, "ASSAY_URL": "http://assay.example.org"},
            "refused to send a token over http to assay.example.org (allow_http=True if you must)",
        ),
        (
            {"ASSAY_TOKEN": TOKEN, "ASSAY_URL": "assay.example.org"},
            "url: an address such as https://assay.example.org, found 'assay.example.org'",
        ),
        (
            {"ASSAY_TOKEN": TOKEN, "ASSAY_URL": "https://[::1"},
            "url: an address such as https://assay.example.org, found 'https://[::1'",
        ),
        (
            {"ASSAY_TOKEN": f"{TOKEN}\n", "ASSAY_URL": "https://assay.example.org"},
            "token: visible ASCII characters without spaces",
        ),
    ],
)
def test_what_is_wrong_with_the_environment_is_said(
    environment: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ASSAY_URL", "ASSAY_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(AssayError) as said:
        Assay.from_env()
    assert str(said.value) == message
    assert TOKEN not in str(said.value)


def test_http_is_for_ones_own_machine_or_on_demand() -> None:
    for url in ("http://127.0.0.1:8000", "http://localhost:8000", "http://[::1]:8000"):
        Assay(url, token=TOKEN).close()
    Assay("http://assay.example.org", token=TOKEN, allow_http=True).close()


def test_a_redirect_is_not_followed() -> None:
    with serving(rest=says()) as elsewhere:
        moved = says(302, Location=f"{elsewhere.url}/api/v1/campaigns/library/")
        with (
            serving(rest=moved) as server,
            pytest.raises(ServerError, match=f"no token goes there: {elsewhere.url}"),
        ):
            Assay(server.url, token=TOKEN).campaign("library")
    assert elsewhere.requests == []


def test_the_token_is_told_nobody(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    told = []
    with serving(says(500), says(body=b"no JSON"), says(401, b'{"detail": "No."}')) as server:
        api = Assay(server.url, token=TOKEN)
        assert server.requests == []
        for _ in range(3):
            with pytest.raises(AssayError) as said:
                api.campaign("library")
            told += ["".join(traceback.format_exception(said.value)), repr(said.value)]
    with pytest.raises(Unreachable) as gone:
        api.campaign("library")
    told += ["".join(traceback.format_exception(gone.value)), repr(api), repr(api.campaigns()), caplog.text]
    assert server.requests[0].headers["Authorization"] == f"Bearer {TOKEN}"
    assert [text for text in told if TOKEN in text] == []


def test_an_older_server_is_named_with_both_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "VERSION", "0.10.0")
    older = says(body=json.dumps(CAMPAIGN).encode(), Assay_Version="0.9.1")
    with serving(rest=older) as server:
        api = Assay(server.url, token=TOKEN)
        with pytest.warns(UserWarning, match=r"is Assay 0\.9\.1, older than this client, 0\.10\.0"):
            api.campaign("library")
        api.campaign("library")  # once is enough: another warning would fail here
