"""What answers say besides rows: ETags, problems, limits."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache import cache

from api.access import PersonThrottle, TokenThrottle
from evaluation.imports.topics import import_topics
from tests.api.conftest import program_of
from tests.api.reading import PROBLEM, Program
from tests.crawl.canaries import body_of
from tests.worlds.campaign import World
from tests.worlds.cast import write_source

TAGGED = (
    "topics",
    "topics?format=jsonl",
    "topics?format=csv",
    "scores?campaign=river&condition=A/A&format=csv",
    "events?format=jsonl",
)
UNCHANGED = ("campaigns", "nugget-sets", "judges", "jobs", "tasks", "time")


def test_what_did_not_change_is_not_sent_again(olga: Program, world: World, tmp_path: Path) -> None:
    first = {path: olga.get(path)["ETag"] for path in TAGGED}
    for path, tag in first.items():
        repeated = olga.get(path, **{"if-none-match": tag})
        assert (repeated.status_code, body_of(repeated), repeated["ETag"]) == (304, b"", tag)
    import_topics(campaign=world.campaign, source=write_source(tmp_path, "more.tsv", "t3\twhat silt is\n"))
    for path, tag in first.items():
        changed = olga.get(path, **{"if-none-match": tag})
        assert changed.status_code == 200
        assert changed["ETag"] != tag


@pytest.mark.parametrize("collection", UNCHANGED)
def test_every_stream_has_a_tag(olga: Program, collection: str) -> None:
    tag = olga.get(f"{collection}?format=csv")["ETag"]
    repeated = olga.get(f"{collection}?format=csv", **{"if-none-match": tag})
    assert (repeated.status_code, body_of(repeated)) == (304, b"")
    assert olga.get(f"{collection}?format=jsonl")["ETag"] != tag


def test_one_row_has_a_tag_too(olga: Program) -> None:
    path = f"runs/{olga.json('runs')['results'][0]['id']}"
    first = olga.get(path)
    assert olga.get(path, **{"if-none-match": f'"other", {first["ETag"]}'}).status_code == 304
    assert olga.get(path, **{"if-none-match": '"other"'}).status_code == 200


def test_a_tag_tells_an_assessor_nothing(world: World, tmp_path: Path) -> None:
    ann = program_of(world, "ann")
    paths = ["topics", "topics?format=csv", "tasks", "assignments?format=jsonl"]
    before = [ann.get(path)["ETag"] for path in paths[:3]]
    import_topics(campaign=world.campaign, source=write_source(tmp_path, "more.tsv", "t3\twhat silt is\n"))
    assert [ann.get(path)["ETag"] for path in paths[:3]] == before


def test_answers_are_for_who_asked_alone(olga: Program) -> None:
    for path in ("topics", "topics?format=csv", "topics/nothing", "topics?nothing=1"):
        response = olga.get(path)
        assert set(response["Cache-Control"].split(", ")) == {"private", "no-cache"}
        assert {"Authorization", "Cookie"} <= set(response["Vary"].split(", "))


def test_every_error_is_a_problem_document(olga: Program) -> None:
    assert olga.problem("nothing", 404)["code"] == "not_found"
    assert olga.problem("topics/nothing/more", 404) == olga.problem("nothing", 404)
    assert olga.problem("campaigns/a%0A/", 404) == olga.problem("nothing", 404)
    for collection in ("runs", "jobs", "events"):
        assert olga.problem(f"{collection}/99999999999999999999999999", 404)["code"] == "not_found"
    assert olga.problem("topics/%00", 404)["code"] == "not_found"
    for method, status in (("post", 403), ("put", 403), ("options", 405)):
        response = getattr(olga.client, method)("/api/v1/topics/", headers=olga.own)
        assert (response.status_code, response["Content-Type"]) == (status, PROBLEM), method


def test_a_writing_token_meets_no_method_that_is_not_there(world: World) -> None:
    both = program_of(world, "olga", ("read", "write"))
    for method in ("post", "put", "patch", "delete"):
        response = getattr(both.client, method)("/api/v1/topics/", headers=both.own)
        assert (response.status_code, response["Content-Type"]) == (405, PROBLEM)
        assert response["Allow"] == "GET, HEAD"


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two requests a minute for a token, three for a person."""
    monkeypatch.setattr(TokenThrottle, "rate", "2/minute", raising=False)
    monkeypatch.setattr(PersonThrottle, "rate", "3/minute", raising=False)
    yield
    cache.clear()


def test_who_asks_too_often_is_told_when_to_come_back(world: World, slowly: None) -> None:
    first, other = program_of(world, "olga"), program_of(world, "olga")
    assert [first.get("runs").status_code for _ in range(3)] == [200, 200, 429]
    assert first.problem("runs", 429)["code"] == "throttled"
    assert 0 < int(first.get("runs")["Retry-After"]) <= 61
    assert other.get("runs").status_code == 429  # another token of the same person
    assert program_of(world, "rita").get("runs").status_code == 200
