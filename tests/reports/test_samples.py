"""A run's samples from trace to leaderboard: labels are of a sample, scores are means, and tests are over topics."""

import csv
import json
from pathlib import Path

import pytest
from django.test import Client

from evaluation.formats.source import read_source
from evaluation.models import AnswerProvenance, Campaign
from exchange.imports.service import preview_of
from tests.worlds.cast import make_cast
from tests.worlds.imported import Outcome, answer, everything, load, report, run, sentence, write

TOPICS = ("t1", "t2")
NUGGETS = ("one", "two", "three", "four")
WORDS = {"S": "support", "P": "partial_support", "N": "not_support"}
SAMPLES = ("SSPN", "SSSN", "NSNN")
LABELS = ("--origin", "auto", "--judge", "m", "--by", "llm")
OF = ("--condition", "A/A")
CITES = [
    answer("cites", "t1", sentence("Sand.", 0)),
    answer("cites", "t1", sentence("Sand moves.", 0), sample=2),
]


def rows(run_id: str, topic: str, samples: tuple[str, ...]) -> list[dict[str, object]]:
    return [
        {
            "qid": topic,
            "run_id": run_id,
            **({"sample": number} if number > 1 else {}),
            "nuggets": [
                {"text": text, "importance": "vital", "assignment": WORDS[code]}
                for text, code in zip(NUGGETS, codes, strict=True)
            ],
        }
        for number, codes in enumerate(samples, 1)
    ]


@pytest.fixture
def sampled(db: None, tmp_path: Path) -> Path:
    """Run `bot` answered t1 three times and t2 once, run `old` both once."""
    run("create_campaign", "river", "--name", "River")
    traces = [
        {
            "question": topic,
            "id": topic,
            "answer": [f"{topic} {number}" for number in range(samples)],
            "system": name,
        }
        for name, topic, samples in (("bot", "t1", 3), ("bot", "t2", 1), ("old", "t1", 1), ("old", "t2", 1))
    ]
    names = write(tmp_path, "map.toml", 'question = "question"\nanswer = "answer"\ntopic_id = "id"\n')
    load("import_traces", "--map", names, "--run-field", "system", write(tmp_path, "traces.jsonl", traces))
    lists = [
        {"qid": topic, "query": topic, "nuggets": [{"text": text, "importance": "vital"} for text in NUGGETS]}
        for topic in TOPICS
    ]
    load("import_nuggets", *LABELS[:4], write(tmp_path, "nuggets.jsonl", lists))
    labels = [*rows("bot", "t1", SAMPLES), *rows("bot", "t2", ("SNNN",))]
    labels += [row for topic in TOPICS for row in rows("old", topic, ("NNNN",))]
    load("import_assignments", *LABELS, write(tmp_path, "labels.jsonl", labels))
    return tmp_path


def test_a_label_says_which_of_the_run_s_answers_it_is_of(sampled: Path, client: Client) -> None:
    load("import_run", write(sampled, "cites.jsonl", CITES))
    label = {
        "run_id": "cites",
        "topic_id": "t1",
        "sample": 2,
        "sentence": 0,
        "docid": "d1",
        "label": "full_support",
    }
    load("import_support", *LABELS[2:], write(sampled, "support.jsonl", [label]))
    client.force_login(make_cast(Campaign.objects.get())["rita"])
    for path, samples in (
        ("assignments/?run=bot&topic=t1&campaign=river", {1, 2, 3}),
        ("support-judgments/?campaign=river", {2}),
    ):
        labels = client.get(f"/api/v1/{path}").json()["results"]
        assert {row["sample"] for row in labels} == samples
        public = AnswerProvenance.objects.values_list("answer__public_id", "sample")
        assert {row["answer"]: row["sample"] for row in labels}.items() <= dict(public).items()
        lines = client.get(f"/api/v1/{path}&format=csv").getvalue().decode().splitlines()
        assert {line["sample"] for line in csv.DictReader(lines)} == {str(sample) for sample in samples}
        lines = client.get(f"/api/v1/{path}&format=jsonl").getvalue().decode().splitlines()
        assert {json.loads(line)["sample"] for line in lines} == samples


def test_the_preview_of_a_file_says_which_sample_a_row_is_of(tmp_path: Path) -> None:
    files = {"assignments": rows("bot", "t1", SAMPLES), "runs": CITES}
    for kind, content in files.items():
        source = read_source(write(tmp_path, "file.jsonl", content))
        topics = [row[1] for row in preview_of(kind, [source])["rows"]]
        assert {*topics} >= {"t1", "t1, sample 2"}, kind


def exported(what: str, *words: str) -> str:
    outcome = run("export", what, "--campaign", "river", *words)
    assert outcome.code == 0, outcome.err
    return outcome.out


def gate(*words: str) -> Outcome:
    return run(
        *("gate", "--campaign", "river", *OF, "--baseline", "old", "--candidate", "bot", "--score", "all_strict"),
        *("--least", "0.05", "--min-topics", "2", "--json", "-", *words),
    )


@pytest.mark.postgresql
def test_a_score_is_the_mean_over_samples_and_a_gate_counts_topics(sampled: Path) -> None:
    bot, old = sorted(report("scores", *OF)["runs"], key=lambda row: str(row["run_id"]))
    assert (bot["all_strict"], old["all_strict"]) == ((0.5 + 0.25) / 2, 0)
    assert (bot["topics"], bot["judged"], bot["missing"]) == (2, 16, 0)
    [score] = gate().json()["scores"]
    assert (score["topics"], score["difference"]) == (2, 0.375)
    lost = {(row["topic"], row["nugget"]) for row in gate().json()["gained"]}
    assert lost == {("t1", "one"), ("t1", "two"), ("t1", "three"), ("t2", "one")}
    [found] = report("samples", *OF, "--score", "all_strict")["runs"]
    assert found == {
        "run_id": "bot",
        "topics": 1,
        "samples": 3,
        "mean": 0.5,
        "sd": 0.25,
        "pass_all": 0,
        "consistency": pytest.approx((1 / 3 + 1 + 0 + 1) / 4),
    }
    assert report("samples", *OF, "--score", "all_strict", "--threshold", ".25")["runs"][0]["pass_all"] == 1
    refused = run("report", "samples", "--campaign", "river", *OF, "--threshold", "half")
    assert "A number, found half." in refused.err


def test_labels_leave_and_come_back_with_their_sample(sampled: Path) -> None:
    lines = [json.loads(line) for line in exported("assignments", *OF).splitlines()]
    assert [(line["run_id"], line["qid"], line.get("sample")) for line in lines][:4] == [
        ("bot", "t1", None),
        ("bot", "t1", 2),
        ("bot", "t1", 3),
        ("bot", "t2", None),
    ]
    before = everything()
    path = write(sampled, "back.jsonl", lines)
    assert "Nothing changed" in load("import_assignments", *LABELS, path).err
    assert everything() == before
    lines[1]["sample"] = 4
    outcome = run("import_assignments", "--campaign", "river", *LABELS, write(sampled, "wrong.jsonl", lines))
    assert "it has no answer for t1, sample 4" in outcome.err


def test_pages_tell_samples_apart(sampled: Path) -> None:
    campaign = Campaign.objects.get()
    client = Client()
    client.force_login(make_cast(campaign)["olga"])
    board = client.get("/campaigns/river/leaderboard/", {"condition": "A/A", "score": "all_strict"})
    assert "several answers to a topic" in board.content.decode()
    answer = AnswerProvenance.objects.select_related("answer", "topic").get(sample=2)
    address = f"/campaigns/river/runs/{answer.run_id}/"
    page = client.get(address).content.decode()
    # The score is the topic's, so it stands beside the first of its samples alone.
    assert page.count('<td class="n">0.500</td>') == 1
    assert f"?topic={answer.topic.public_id}&amp;answer={answer.answer.public_id}#h-answer" in page
    second = client.get(address, {"topic": answer.topic.public_id, "answer": answer.answer.public_id})
    second_answer = second.context["answer"]
    assert (second_answer.sample, second_answer.answer.sentences.all()[0].text) == (2, "t1 1")
    grid = client.get(f"/campaigns/river/topics/{answer.topic.public_id}/").content.decode()
    assert "sample 3" in grid
