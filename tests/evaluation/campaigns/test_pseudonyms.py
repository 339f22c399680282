"""People's names in data: the same within a campaign, another in each."""

import pytest

from evaluation.campaigns.pseudonyms import pseudonym_of
from tests.worlds.cast import make_campaign

pytestmark = pytest.mark.django_db


def test_a_pseudonym_is_stable_and_belongs_to_one_campaign() -> None:
    river, lake = make_campaign(), make_campaign("lake", "Lake study")
    assert pseudonym_of(river, 1) == pseudonym_of(river, 1)
    assert len({pseudonym_of(river, 1), pseudonym_of(river, 2), pseudonym_of(lake, 1)}) == 3
