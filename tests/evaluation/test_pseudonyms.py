"""People's names in data: the same within a campaign, another in each."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from evaluation.domain.pseudonyms import pseudonym_of
from tests.factories import make_campaign

pytestmark = pytest.mark.django_db


def test_a_pseudonym_is_stable_and_belongs_to_one_campaign() -> None:
    river, lake = make_campaign(), make_campaign("lake", "Lake study")
    assert pseudonym_of(river, 1) == pseudonym_of(river, 1)
    assert len({pseudonym_of(river, 1), pseudonym_of(river, 2), pseudonym_of(lake, 1)}) == 3


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_campaigns_that_were_there_before_get_a_salt_each() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate([("evaluation", "0006_study")])
    try:
        old = executor.loader.project_state([("evaluation", "0006_study")]).apps
        old.get_model("evaluation", "Campaign").objects.bulk_create(
            old.get_model("evaluation", "Campaign")(slug=slug, name=slug) for slug in ("river", "lake")
        )
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
    apps = executor.loader.project_state(executor.loader.graph.leaf_nodes()).apps
    salts = set(apps.get_model("evaluation", "Campaign").objects.values_list("salt", flat=True))
    assert len(salts) == 2
    assert "" not in salts
