"""What is read in one block comes from one state, while somebody else commits."""

from collections.abc import Callable
from threading import Thread

import pytest
from django.db import connections

from evaluation.models import Campaign
from tests.worlds.cast import make_campaign
from web.consistent_read import consistent_read

pytestmark = [
    pytest.mark.postgresql,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("transactional_db"),
]


def elsewhere(act: Callable[[], object]) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            act()
        except BaseException as error:
            failures.append(error)
        finally:
            connections.close_all()

    thread = Thread(target=work)
    thread.start()
    thread.join(10)
    assert not thread.is_alive(), "the write waited for the read"
    assert not failures, failures


def names(alias: str) -> list[str]:
    return list(Campaign.objects.using(alias).order_by("slug").values_list("slug", flat=True))


def test_a_commit_in_between_is_not_seen() -> None:
    make_campaign("before")
    with consistent_read() as alias:
        assert names(alias) == ["before"]
        elsewhere(lambda: make_campaign("meanwhile"))
        assert names(alias) == ["before"]
    with consistent_read() as alias:
        assert names(alias) == ["before", "meanwhile"]


def test_outside_of_it_a_commit_is_seen() -> None:
    make_campaign("before")
    elsewhere(lambda: make_campaign("meanwhile"))
    assert names("default") == ["before", "meanwhile"]
