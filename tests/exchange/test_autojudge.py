"""A condition as a folder that AutoJudge's tools read, and that an empty campaign takes in with the same scores."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from evaluation.models import Campaign, Citation, ListedNugget, Topic
from tests.worlds.demo import make_demo
from tests.worlds.imported import ALPHA, AUTO, BY_LLM, LABELS, LISTS, QRELS, load, load_corpus, run, write

pytestmark = pytest.mark.django_db


def exported(slug: str, folder: Path, *words: str) -> str:
    outcome = run("export", "autojudge", "--campaign", slug, "--output", folder, *words)
    assert outcome.code == 0, outcome.err
    return outcome.err


def files_in(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def rows_of(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def what_answers_cite(campaign: Campaign) -> list[Any]:
    citations = Citation.objects.filter(sentence__answer__topic__campaign=campaign).exclude(segment=None)
    names = ("sentence__answer__topic__topic_id", "sentence__text", "segment__docid", "segment__text")
    return sorted(citations.values_list(*names))


def listed_nuggets(campaign: Campaign, nugget_set: str) -> list[Any]:
    listed = ListedNugget.objects.filter(nugget_list__nugget_set__campaign=campaign)
    newest = listed.filter(nugget_list__nugget_set__name=nugget_set)
    return sorted(
        newest.values_list("nugget_list__topic__topic_id", "nugget_version__text", "importance", "weight")
    )


@pytest.fixture
def river(tmp_path: Path) -> Path:
    load_corpus(tmp_path)
    load("import_run", write(tmp_path, "alpha.jsonl", ALPHA), "--group", "herons", "--task", "AG")
    beta = [{**row, "run_id": "labs/beta"} for row in ALPHA]
    load("import_run", write(tmp_path, "beta.jsonl", beta))
    load("import_nuggets", *AUTO, write(tmp_path, "nuggets.jsonl", LISTS))
    rows = [{**row, "run_id": name} for name in ("alpha", "labs/beta") for row in LABELS[:2]]
    load("import_assignments", *BY_LLM, write(tmp_path, "labels.jsonl", rows))
    return tmp_path


def test_a_condition_leaves_as_a_folder(river: Path) -> None:
    folder = river / "out"
    said = exported("river", folder, "--condition", "A/A", "--name", "truth")
    assert said == f"{folder}: 7 files.\n"
    assert files_in(folder) == {
        *(f"truth.{ending}" for ending in ("eval.txt", "nuggets.jsonl", "qrels.txt", "config.yml")),
        *("topics.jsonl", "runs/alpha.jsonl", "runs/labs%2Fbeta.jsonl"),
    }
    assert rows_of(folder / "topics.jsonl")[0] == {"request_id": "t1", "title": "why rivers bend"}
    [answer, _] = rows_of(folder / "runs/alpha.jsonl")
    assert answer["metadata"] == {"team_id": "herons", "run_id": "alpha", "topic_id": "t1", "type": "AG"}
    assert answer["responses"][0] == {"text": "Rivers bend slowly.", "citations": ["d1"]}
    assert answer["references"] == ["d1", "d2", "d3"]
    assert answer["documents"]["d1"] == {"id": "d1", "text": "A text."}
    bank = rows_of(folder / "truth.nuggets.jsonl")[0]
    assert (bank["query_id"], bank["format_version"]) == ("t1", "v3")
    assert bank["creator"] == [{"is_human": False, "llm_model": "m", "creation_date": None}]
    assert bank["claim_bank"]["bends"]["importance"] == "vital"
    assert (folder / "truth.qrels.txt").read_text("utf-8") == QRELS
    lines = (folder / "truth.eval.txt").read_text("utf-8").splitlines()
    assert "alpha\tvital_strict\tt1\t1.0" in lines
    assert lines[-1].split("\t")[2] == "all"
    config = yaml.safe_load((folder / "truth.config.yml").read_text("utf-8"))
    assert (config["campaign"], config["condition"], config["judge"]) == ("river", "A/A", "m")
    assert len(config["fingerprints"]["alpha"]) == 64


def test_what_is_not_whole_is_left_out_and_named(river: Path) -> None:
    rows = [{**row, "run_id": "gamma"} for row in ALPHA]
    load("import_run", write(river, "gamma.jsonl", rows))
    load("import_topics", write(river, "more.tsv", "t3\twhy ponds dry\n"))
    said = exported("river", river / "out", "--condition", "A/A", "--without-texts")
    assert "Left out of the leaderboard, without every score: run gamma." in said
    assert "gamma" not in (river / "out/assay.eval.txt").read_text("utf-8")
    assert "documents" not in rows_of(river / "out/runs/gamma.jsonl")[0]


def test_what_else_a_topic_says_leaves_with_it(river: Path) -> None:
    said = {"title": "why ponds dry", "narrative": "I keep frogs.", "background": "A garden.", "limit": 200}
    load("import_topics", write(river, "more.jsonl", [{"id": "t3", "qid": "7", "docid": "doc_1", **said}]))
    exported("river", river / "out", "--condition", "A/A")
    assert rows_of(river / "out/topics.jsonl")[2] == {"request_id": "t3", **said}
    assert run("create_campaign", "copy", "--name", "Copy").code == 0
    assert run("import_topics", "--campaign", "copy", river / "out/topics.jsonl").code == 0
    copied, original = Topic.objects.filter(topic_id="t3").order_by("-pk")
    assert (copied.text, copied.background) == (original.text, original.background)
    assert copied.extra == {"narrative": "I keep frogs.", "limit": 200}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--condition", "M/M", "--output", "new"), "There are no labels under M/M in river."),
        (("--condition", "A/A"), "needs --output, a new folder"),
        (("--condition", "A/A", "--output", "new", "--name", "a/b"), "a --name without slashes"),
        (("--condition", "A/A", "--output", "there"), "is there already"),
    ],
)
def test_what_is_not_clear_is_refused(
    river: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], reason: str
) -> None:
    monkeypatch.chdir(river)
    (river / "there").mkdir()
    outcome = run("export", "autojudge", "--campaign", "river", *words)
    assert outcome.code != 0
    assert reason in outcome.err
    assert not (river / "new").exists()


def test_a_question_stays_a_question_and_people_go_by_pseudonyms(river: Path) -> None:
    question = {
        "question": "Why?",
        "aggregator_type": "and",
        "answers": [{"answer": "sand", "references": ["d1"]}, {"answer": "time"}],
    }
    bank = {"metadata": {"topic_id": "t1"}, "nugget_bank": [question]}
    load("import_nuggets", "--origin", "manual", "--judge", "Sand", write(river, "bank.jsonl", [bank]))
    form = ("--nuggets", "manual-Sand", "--form", "autojudge", "--pseudonyms")
    [line] = run("export", "nuggets", "--campaign", "river", *form).out.splitlines() or [""]
    assert "person-" in json.loads(line)["creator"][0]["assessor_id"]
    asked = json.loads(line)["nugget_bank"]["Why?"]
    assert asked["answers"]["sand"]["answer"] == "sand"
    assert (asked["query_id"], asked["aggregator_type"]) == ("t1", "AND")
    assert asked["answers"]["sand"]["references"] == [{"doc_id": "d1"}]
    assert list(asked["answers"]) == ["sand", "time"]


def test_a_person_is_not_named_and_a_topic_without_labels_is(river: Path) -> None:
    by_zoe = ("--origin", "auto", "--judge", "Zoe Zander", "--by", "human")
    rows = [{**row, "run_id": name} for name in ("alpha", "labs/beta") for row in LABELS[:1]]
    load("import_assignments", *by_zoe, write(river, "zoe.jsonl", rows))
    said = exported("river", river / "out", "--condition", "A/M")
    assert "without every score: topic t2." in said
    lines = [line.split("\t") for line in (river / "out/assay.eval.txt").read_text("utf-8").splitlines()]
    assert {topic for _, _, topic, _ in lines} == {"t1", "all"}
    assert not [file for file in files_in(river / "out") if "Zoe" in (river / "out" / file).read_text("utf-8")]


def test_the_demo_comes_back_with_the_same_scores(tmp_path: Path) -> None:
    make_demo()
    original, folder = Campaign.objects.get(slug="river-study"), tmp_path / "out"
    exported(original.slug, folder, "--condition", "E/M", "--source", "NIST")
    assert not any(name in file.read_text("utf-8") for file in folder.glob("assay.*") for name in ("Ann Archer",))
    assert run("create_campaign", "copy", "--name", "Copy").code == 0

    def into_copy(command: str, *words: object) -> None:
        outcome = run(command, "--campaign", "copy", *words)
        assert outcome.code == 0, outcome.err

    into_copy("import_topics", folder / "topics.jsonl")
    for file in sorted((folder / "runs").iterdir()):
        into_copy("import_run", file)
    into_copy("import_qrels", folder / "assay.qrels.txt", "--source", "truth")
    into_copy(
        "import_nuggets", folder / "assay.nuggets.jsonl", "--origin", "edited", "--judge", "them", "--by", "human"
    )
    into_copy("import_scores", folder / "assay.eval.txt", "--form", "tot", "--judge", "truth")
    scores = ("export", "scores", "--form", "tot", "--campaign")
    leaderboard = sorted((folder / "assay.eval.txt").read_text("utf-8").splitlines())
    for slug, condition in (("copy", "truth"), (original.slug, "E/M")):
        assert sorted(run(*scores, slug, "--condition", condition).out.splitlines()) == leaderboard
    copy = Campaign.objects.get(slug="copy")
    assert listed_nuggets(copy, "edited-them") == listed_nuggets(original, "edited")
    assert what_answers_cite(copy) == what_answers_cite(original)
    assert sorted(copy.runs.values_list("run_id", "group")) == sorted(original.runs.values_list("run_id", "group"))
