"""A campaign that a program fills over HTTP: members and nothing else, and the LLM that judges."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.core.cache import cache
from pytest_django.live_server_helper import LiveServer

from assay_client import Assay, Campaign
from tests.api.writing import program_of
from tests.llmjobs.conftest import point_at, simulator
from tests.worlds.cast import make_campaign, make_cast

__all__ = ["point_at", "simulator"]


@dataclass(frozen=True)
class Library:
    url: str
    tokens: dict[str, str]

    def api(self, name: str = "olga") -> Assay:
        return Assay(self.url, token=self.tokens[name])

    @property
    def environment(self) -> dict[str, str]:
        return {"ASSAY_URL": self.url, "ASSAY_TOKEN": self.tokens["olga"]}


@pytest.fixture
def library(live_server: LiveServer) -> Library:
    cache.clear()  # of what throttles counted
    cast = make_cast(make_campaign("library", "Library questions"))
    return Library(live_server.url, {name: program_of(person).raw for name, person in cast.items()})


@pytest.fixture
def lib(library: Library) -> Iterator[Campaign]:
    with library.api() as api:
        yield api.campaign("library")
