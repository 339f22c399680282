"""A walk through the pages of a campaign in Debian's Firefox: its console stays silent."""

from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from tests.browser.firefox.bidi import Firefox
from tests.worlds.campaign import make_world

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


def test_pages_open_without_a_complaint(firefox: Firefox, live_server: LiveServer, tmp_path: Path) -> None:
    world = make_world(tmp_path)
    firefox.sign_in(world.client("olga").cookies["sessionid"].value)
    for name, address in world.pages().items():
        if not address.endswith((".svg", ".csv")):
            firefox.goto(f"{live_server.url}{address}")
            firefox.wait_for("document.readyState === 'complete'")
            assert firefox.complaints == [], name
