"""The gate on the list-QA study: the three verdicts that must come out, and how often its interval covers."""

import json
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from django.db import transaction
from django.test import Client
from pytest_django.plugin import DjangoDbBlocker

from assay_client.cli import main
from evaluation.domain.conditions import resolve
from evaluation.models import Campaign
from evaluation.terms import Condition
from reports.agreement.figures import table_of
from reports.metrics.intervals import student
from reports.metrics.policies import Policies
from tests.api.writing import Program, program_of
from tests.reports.test_published_list_qa import load_study
from tests.worlds.cast import make_cast
from tests.worlds.imported import Outcome, run

pytestmark = pytest.mark.django_db
DRAWS, DRAWN = 1000, 20


@pytest.fixture(scope="module")
def names(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, shared_data: Path
) -> Iterator[dict[str, str]]:
    """The study's runs by what stands before the first underscore, loaded once for this module and rolled back."""
    with django_db_blocker.unblock(), transaction.atomic():
        load_study(shared_data / "qampari-list-qa")
        runs = Campaign.objects.get(slug="river").runs.values_list("run_id", flat=True)
        yield {run_id.partition("_")[0]: run_id for run_id in runs}
        transaction.set_rollback(True)


def words_of(names: dict[str, str], baseline: str, candidate: str, *more: str) -> list[str]:
    return [
        *("gate", "--campaign", "river", "--condition", "E/M", "--score", "all_strict"),
        *("--baseline", names.get(baseline, baseline), "--candidate", names.get(candidate, candidate)),
        *("--json", "-", *more),
    ]


def gate(names: dict[str, str], baseline: str, candidate: str, *more: str) -> Outcome:
    return run(*words_of(names, baseline, candidate, *more))


@pytest.fixture
def olga(names: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Program:
    """An organizer with a token, whose client asks this process: no other one sees the study before it is committed."""
    program = program_of(make_cast(Campaign.objects.get(slug="river"))["olga"])
    here = httpx.MockTransport(answer_of)
    monkeypatch.setattr(httpx, "Client", partial(httpx.Client, transport=here))
    monkeypatch.setenv("ASSAY_URL", "http://localhost")
    monkeypatch.setenv("ASSAY_TOKEN", program.raw)
    return program


def answer_of(request: httpx.Request) -> httpx.Response:
    headers = {name: value for name, value in request.headers.items() if name != "content-length"}
    kind = headers.pop("content-type", "")
    path = request.url.raw_path.decode()
    answer = Client().generic(request.method, path, request.read(), content_type=kind, headers=headers)
    return httpx.Response(answer.status_code, headers=dict(answer.headers), content=answer.content)


EXPECTED: list[tuple[str, str, float, float, tuple[float, float], str, int]] = [
    ("RAGW4C", "RAGW8C", 0.0994, 0.0007, (0.0461, 0.1527), "pass", 0),
    ("RAGW12G", "RAGW4M", -0.1371, 0.0009, (-0.2167, -0.0575), "fail", 1),
    ("RAGW8G", "RAGW12G", -0.0061, 0.7022, (-0.0367, 0.0245), "undecided", 2),
]


@pytest.mark.parametrize(("baseline", "candidate", "difference", "p", "interval", "verdict", "code"), EXPECTED)
def test_the_reference_gates(
    names: dict[str, str],
    baseline: str,
    candidate: str,
    difference: float,
    p: float,
    interval: tuple[float, float],
    verdict: str,
    code: int,
) -> None:
    outcome = gate(names, baseline, candidate, "--least", "0.02")
    document = outcome.json()
    [scored] = document["scores"]
    assert (outcome.code, document["verdict"], scored["verdict"], scored["topics"]) == (code, verdict, verdict, 49)
    assert (scored["difference"], *scored["interval"]) == pytest.approx((difference, *interval), abs=5e-5)
    assert scored["p"] == pytest.approx(p, abs=0.002)
    assert gate(names, baseline, candidate, "--least", "0.02").out == outcome.out


def test_command_client_and_api_say_the_same_to_the_byte(
    names: dict[str, str], olga: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [(*row[:2], "0.02", row[-1]) for row in EXPECTED]
    for baseline, candidate, least, code in (
        *asked,
        ("RAGW8G", "RAGW12G", "0.04", 0),
        ("RAGW8G", "none", "0.02", 3),
    ):
        of_server = gate(names, baseline, candidate, "--least", least)
        assert of_server.code == code
        capsys.readouterr()
        assert main(words_of(names, baseline, candidate, "--least", least)) == code
        assert capsys.readouterr().out == of_server.out
        sides = {
            "baseline": names[baseline],
            "candidate": names.get(candidate, candidate),
            "scores": ["all_strict"],
        }
        order = {"campaign": "river", "condition": "E/M", "least": float(least), "forms": ["json"], **sides}
        assert olga.post("/gates/", order).json()["files"]["json"] == of_server.out


def test_an_undecided_gate_says_how_many_topics_would_decide(names: dict[str, str]) -> None:
    undecided: Any = gate(names, "RAGW8G", "RAGW12G", "--least", "0.02").json()
    assert undecided["scores"][0]["more_topics"] == 188
    assert "about 188 more topics would decide" in undecided["reason"]
    assert gate(names, "RAGW8G", "RAGW12G", "--least", "0.04").code == 0


def test_its_interval_covers_where_that_of_a_bootstrap_does_not(names: dict[str, str]) -> None:
    """Of all pairs of runs, with 20 of the 49 topics drawn anew."""
    condition = resolve(Campaign.objects.get(slug="river"), Condition.EM)
    table = table_of(condition, "all_strict", Policies())
    values = table.values[table.topics]
    values = values[~np.isnan(values).any(axis=1)]
    random = np.random.default_rng(0)
    covers: dict[str, list[bool]] = {"t": [], "bootstrap": []}
    for first, second in combinations(range(len(names)), 2):
        differences = values[:, first] - values[:, second]
        samples = random.choice(differences, size=(DRAWS, DRAWN))
        means, reach = samples.mean(axis=1), student(DRAWN - 1) * samples.std(axis=1, ddof=1) / sqrt(DRAWN)
        covers["t"] += (abs(means - differences.mean()) <= reach).tolist()
        weights = random.multinomial(DRAWN, [1 / DRAWN] * DRAWN, size=300) / DRAWN
        low, high = np.quantile(samples @ weights.T, [0.025, 0.975], axis=1)
        covers["bootstrap"] += ((low <= differences.mean()) & (differences.mean() <= high)).tolist()
    assert np.mean(covers["t"]) >= 0.92 > np.mean(covers["bootstrap"])


def test_a_run_that_is_not_there_is_broken(names: dict[str, str]) -> None:
    outcome = gate(names, "RAGW8G", "nobody", "--least", "0.02")
    assert outcome.code == 3
    assert json.loads(outcome.out)["reason"].startswith("run nobody is not in river (runs: RAGW12G")
