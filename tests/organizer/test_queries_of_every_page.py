"""Every page of the dashboard asks as often for a large campaign as for a small one (ux.md, check 35)."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import User
from loadtest.bench.dashboard_world import Share, make_share
from loadtest.bench.plan_reports import DASHBOARD
from loadtest.bench.sizes import SMALL

SHARES = (Share("tenth", 40, 4, 60), Share("whole", 80, 8, 600))


def queries_of(client: Client, address: str) -> list[str]:
    """Return what a page asks the database, once what it keeps is kept."""
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return [query["sql"] for query in queries]


@pytest.mark.slow
@pytest.mark.django_db
def test_a_larger_campaign_costs_no_more_queries() -> None:
    for share in SHARES:
        make_share(share, SMALL)
    client = Client()
    client.force_login(User.objects.get(username="organizer"))
    more = {}
    for name in DASHBOARD:
        small, large = (queries_of(client, reverse(f"organizer:{name}", args=[share.slug])) for share in SHARES)
        if len(large) > len(small):
            more[name] = f"{len(small)} queries for a small campaign, {len(large)} for a large one"
    assert more == {}
