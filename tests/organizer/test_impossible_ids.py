"""An address with a number that no key can be is an address of nothing, not an error."""

from pathlib import Path

import pytest

from tests.worlds.campaign import make_world

HUGE = "9" * 26


@pytest.mark.django_db
@pytest.mark.parametrize("place", ["jobs", "calls", "runs", "studies", "labels/nugget", "labels/grade"])
def test_nothing_is_there(place: str, tmp_path: Path) -> None:
    client = make_world(tmp_path).client("olga")
    assert client.get(f"/campaigns/river/{place}/{HUGE}/").status_code == 404
