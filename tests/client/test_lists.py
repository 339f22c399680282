"""Every list of a campaign has rows with their types, and goes into a DataFrame and a file."""

import dataclasses
import inspect
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from api.collections import COLLECTIONS
from assay_client import Ambiguous, Assay, AssayError, Campaign, NotAllowed, NotFound, NotSignedIn
from assay_client import rows as client_rows
from assay_client.lists import Rows
from evaluation.formats.source import Source
from evaluation.imports.assignments import import_assignments
from evaluation.terms import JudgeKind, Origin
from tests.api.conftest import hand_out_to, program_of, world
from tests.worlds.campaign import LABELS, World
from tests.worlds.cast import write_source

__all__ = ["world"]

NOT_IN_RIVER = ("battle-sets", "battles", "verdicts", "jobs", "time")
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def river(live_server: LiveServer, world: World) -> Iterator[Campaign]:
    with Assay(live_server.url, token=program_of(world, "rita").token) as api:
        yield api.campaign("river")


def all_lists(campaign: Campaign) -> dict[str, Rows[object]]:
    """Return every list, under the name that the API has for it."""
    names = {"support-judgments": "support"}
    return {
        collection.name: getattr(campaign, names.get(collection.name, collection.name.replace("-", "_")))()
        for collection in COLLECTIONS
        if collection.name not in ("campaigns", "scores")
    }


def test_every_list_of_the_api_is_there_with_its_rows(river: Campaign, world: World) -> None:
    hand_out_to(world, "ann")
    for name, rows in all_lists(river).items():
        read = list(rows)
        assert len(read) == rows.count(), name
        assert rows.first() == (read[0] if read else None), name
        assert bool(read) is (name not in NOT_IN_RIVER), name
    assert [
        row.slug for row in Assay(river._connection.url, token=program_of(world, "rita").token).campaigns()
    ] == ["river"]


def test_a_program_asks_whose_token_it_has(live_server: LiveServer, world: World) -> None:
    with Assay(live_server.url, token=program_of(world, "rita").token) as api:
        account = api.whoami()
    assert (account.user, account.scopes) == ("rita", ["read"])
    assert account.expires_at is not None
    assert account.expires_at > datetime.now(UTC)


def test_rows_have_the_types_of_the_schema(river: Campaign) -> None:
    answer = river.answers(run="alpha", topic="t1").first()
    assert answer
    assert (answer.run, answer.topic) == ("alpha", "t1")
    assert [citation.docid for citation in answer.sentences[0].citations] == ["d1", "d9"]
    label = river.assignments(judge="robot").first()
    assert label
    assert isinstance(label.given_at, datetime)
    assert label.given_at.tzinfo
    with pytest.raises(dataclasses.FrozenInstanceError):
        label.label = "support"  # type: ignore[misc]


def test_a_list_goes_into_a_dataframe_and_a_file(river: Campaign, tmp_path: Path) -> None:
    frame = river.runs().to_dataframe()
    assert list(frame["run_id"]) == ["alpha", "beta"]
    assert list(frame.columns) == [field.name for field in dataclasses.fields(client_rows.RunRow)]
    river.runs().to_jsonl(tmp_path / "runs.jsonl")
    lines = (tmp_path / "runs.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["run_id"] for line in lines] == ["alpha", "beta"]


def test_scores_are_those_of_the_report(river: Campaign) -> None:
    scores = river.scores("A/A", missing="skip", unjudged="zero")
    assert (scores["alpha"].vital_strict, scores["beta"].vital_strict) == (1.0, 0.0)
    assert scores.policies["missing"] == "skip"
    document = river.report("scores", condition="A/A", missing="skip", unjudged="zero")
    assert [run["vital_strict"] for run in document["runs"]] == [1.0, 0.0]
    with pytest.raises(KeyError, match="gamma"):
        scores["gamma"]
    support = river.support_scores("scratch", measure="pooled")
    assert support["alpha"].precision_strict is not None
    assert support.policies["measure"] == "pooled"


def test_scores_by_topic_are_a_frame(river: Campaign) -> None:
    scores = river.scores("A/A", per_topic=True, missing="skip", unjudged="zero")
    assert [(row.run, row.topic, row.vital_strict) for row in scores] == [
        ("alpha", "t1", 1.0),
        ("beta", "t1", 0.0),
    ]
    assert list(scores.to_dataframe()["topic_id"]) == ["t1", "t1"]
    assert scores.policies["missing"] == "skip"
    assert river.support_scores("scratch", per_topic=True).first()


def test_two_runs_are_compared_from_either_side(river: Campaign) -> None:
    policies = {"missing": "skip", "unjudged": "zero"}
    there = river.compare("alpha", "beta", "vital_strict", condition="A/A", **policies)
    back = river.compare("beta", "alpha", "vital_strict", condition="A/A", **policies)
    assert (there.difference, back.difference, there.topics) == (1.0, -1.0, 1)
    assert (there.low, there.high) == (back.high and -back.high, back.low and -back.low)
    assert (there.p, bool(there.reason)) == (back.p, there.low is None)
    for x, y, condition in (("beta", "gamma", "A/A"), ("alpha", "beta", "scratch")):
        with pytest.raises(KeyError, match=y):
            river.compare(x, y, condition=condition)


def test_where_several_judges_fit_they_are_named(river: Campaign, world: World, tmp_path: Path) -> None:
    another: Source = write_source(tmp_path, "another.jsonl", LABELS)
    import_assignments(
        campaign=world.campaign, sources=[another], origin=Origin.AUTO, judge="another", kind=JudgeKind.LLM
    )
    with pytest.raises(Ambiguous) as several:
        list(river.scores("A/A"))
    assert sorted(several.value.choices) == ["another", "robot"]
    assert [river.scores("A/A", judge=name)["alpha"].judge for name in several.value.choices]


def test_each_answer_of_no_is_an_error_of_its_own(river: Campaign, live_server: LiveServer, world: World) -> None:
    with pytest.raises(AssayError, match=r"mood: There is no such parameter\."):
        river.runs(mood="good").first()
    with pytest.raises(NotAllowed):
        river.imports.topics(b"t3\twhy\n")
    with pytest.raises(NotSignedIn):
        Assay(live_server.url, token="assay_nobody").campaign("river")
    for name, slug in (("rita", "nothing"), ("sam", "river"), ("rita", "../../accounts")):
        with pytest.raises(NotFound):
            Assay(live_server.url, token=program_of(world, name).token).campaign(slug)


def test_all_that_is_public_says_what_it_is() -> None:
    assert all(inspect.getdoc(row) for row in vars(client_rows).values() if dataclasses.is_dataclass(row))
