"""Support of two real runs with up to three citations a sentence, under each measure, on every surface."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from pytest_django.plugin import DjangoDbBlocker

from evaluation.models import SupportJudgment
from tests.reports.surfaces import admin
from tests.worlds.imported import load, report, run, write

COMMAND, GPT = "baseline_rag24.test_command-r-plus_top20", "baseline_rag24.test_gpt-4o_top20"
SCORES = ("weighted_precision", "weighted_recall", "precision_strict", "recall_strict")
MEANS = {
    (COMMAND, "first"): (0.643594, 0.598587, 0.466868, 0.434767),
    (COMMAND, "sentence"): (0.663394, 0.617587, 0.508522, 0.473378),
    (COMMAND, "pooled"): (0.662909, 0.799555, 0.507758, 0.722800),
    (GPT, "first"): (0.656994, 0.408390, 0.492857, 0.309524),
    (GPT, "sentence"): (0.693337, 0.433935, 0.534507, 0.338528),
    (GPT, "pooled"): (0.656360, 0.530111, 0.499125, 0.458717),
}
OF_TOOL = {"first": "first_citation", "sentence": "all_judged_citations"}
BY_NIST = ("--judge", "NIST", "--by", "human", "--condition", "scratch")
ZERO = ("--condition", "scratch", "--no-cited", "zero")
QUERY = "?condition=scratch&no_cited=zero&measure="


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def judgments(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    shared_data: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    """Judgments of twelve topics, loaded once for this module with the two runs, and rolled back."""
    folder, file = tmp_path_factory.mktemp("judgments"), shared_data / "track-2026" / "citation_judgments.jsonl"
    topics = {line["topic_id"] for line in lines_of(file)}
    data = shared_data / "trec-rag-2024"
    texts = (data / "topics.rag24.test.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    with django_db_blocker.unblock(), transaction.atomic():
        settings = write(folder, "campaign.toml", "[protocol]\nfirst_citations = 0\n")
        assert run("create_campaign", "river", "--name", "Track", "--from", settings).code == 0
        kept = "".join(text for text in texts if text.split("\t")[0] in topics)
        load("import_topics", write(folder, "topics.tsv", kept))
        for run_id in (COMMAND, GPT):
            answers = [line for line in lines_of(data / "runs" / f"{run_id}.jsonl") if line["topic_id"] in topics]
            load("import_run", write(folder, f"{run_id}.jsonl", answers))
        load("import_support", *BY_NIST, file)
        yield file
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def client(judgments: Path) -> Client:
    return admin()


def means_of(rows: list[dict[str, Any]], run_id: str) -> list[float]:
    row = next(row for row in rows if row["run_id"] == run_id)
    return [row[score] for score in SCORES]


@pytest.mark.parametrize(("run_id", "measure"), MEANS)
def test_means_by_command_api_and_page(client: Client, run_id: str, measure: str) -> None:
    command = report("support", *ZERO, "--measure", measure)
    assert command["policies"]["measure"] == measure
    found = means_of(command["runs"], run_id)
    assert found == pytest.approx(MEANS[run_id, measure], abs=5e-7)
    scores = client.get(f"/api/v1/scores/{QUERY}{measure}&campaign=river").json()["results"]
    assert means_of(scores, run_id) == found
    page = reverse("reports:support_table", args=["river", "overview", "json"])
    assert means_of(client.get(f"{page}{QUERY}{measure}").json()["rows"], run_id) == found


@pytest.mark.parametrize("measure", OF_TOOL)
def test_each_answer_as_the_organizers_tool_has_it(client: Client, shared_data: Path, measure: str) -> None:
    page = reverse("reports:support_table", args=["river", "answers", "json"])
    rows = client.get(f"{page}{QUERY}{measure}").json()["rows"]
    found = {(row["topic_id"], row["run_id"]): [row[score] for score in SCORES[:2]] for row in rows}
    expected = {
        (line["topic_id"], line["run_id"]): [
            line[f"weighted_{part}_{OF_TOOL[measure]}"] for part in ("precision", "recall")
        ]
        for line in lines_of(shared_data / "track-2026" / "citation_judgments.expected.jsonl")
    }
    assert len(expected) == 24
    assert found.keys() == expected.keys()
    for answer, figures in expected.items():
        assert found[answer] == pytest.approx(figures, abs=1e-12)


@pytest.mark.usefixtures("judgments")
def test_without_a_choice_every_citation_counts() -> None:
    assert report("support", *ZERO) == report("support", *ZERO, "--measure", "pooled")
    text = run("report", "support", "--campaign", "river", *ZERO).out
    assert "All citations of each sentence are judged. Every judged citation counts" in text


def test_an_export_reads_back_equal(judgments: Path, tmp_path: Path) -> None:
    form = ("--condition", "scratch", "--form", "citations")
    out = run("export", "support", "--campaign", "river", *form, "--judge", "NIST").out
    exported = [json.loads(line) for line in out.splitlines()]
    numbers = {
        (line["run_id"], line["topic_id"], sentence["sentenceID"], citation["reference"]): citation["support"]
        for line in exported
        for sentence in line["sentences"]
        for citation in sentence["citations"]
    }
    for line in lines_of(judgments):
        for sentence in line["sentences"]:
            for citation in sentence["citations"]:
                key = (line["run_id"], line["topic_id"], sentence["sentenceID"], citation["reference"])
                assert numbers[key] == citation["support"]
    judge = ("--judge", "again", "--by", "human", "--condition", "scratch")
    load("import_support", *judge, write(tmp_path, "back.jsonl", out))
    labels = [
        set(SupportJudgment.objects.filter(judge__name=name).values_list("sentence", "segment", "label"))
        for name in ("NIST", "again")
    ]
    assert labels[0] == labels[1]
    assert len(labels[0]) == sum(number != "-1" for number in numbers.values())
    SupportJudgment.objects.filter(judge__name="again").delete()
