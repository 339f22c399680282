"""What a program has becomes a file of a campaign: paths, bytes, open files and rows."""

import gzip
import inspect
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from api.writes.imports import FILE_KINDS
from assay_client import AssayError, Campaign, Refused, imports
from assay_client.imports import Imports
from evaluation.models import Event, Run

pytestmark = pytest.mark.django_db(transaction=True)
TOPICS = b"t1\twhy rivers bend\nt2\thow dams fail\n"
ROWS = [
    {
        "run_id": "heron",
        "topic_id": topic,
        "references": ["d1"],
        "answer": [{"text": "Sand moves: Flüsse.", "citations": [0]}],
    }
    for topic in ("t1", "t2")
]
RUN = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
NUGGETS = [{"qid": "t1", "nuggets": [{"text": "sand moves", "importance": "vital"}]}]


def test_rows_are_a_file(lib: Campaign) -> None:
    lib.imports.topics([{"id": "t1", "text": "why rivers bend"}, {"id": "t2", "text": "how dams fail"}])
    loaded = lib.imports.run(iter(ROWS), name="heron.jsonl", group="herons", task="RAG", priority=1)
    assert (loaded.rows, loaded.changed) == (2, True)
    run = Run.objects.get()
    assert (run.run_id, run.group, run.task, run.priority) == ("heron", "herons", "RAG", 1)
    assert Event.objects.get(kind="import.run").payload["files"][0]["name"] == "heron.jsonl"


def test_paths_bytes_and_open_files_are_the_same_file(lib: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "topics.tsv.gz"
    path.write_bytes(gzip.compress(TOPICS))
    assert lib.imports.topics(path).changed
    assert not lib.imports.topics(TOPICS).changed
    with path.open("rb") as file:
        assert not lib.imports.topics(file).changed
    again = lib.imports.topics(BytesIO(TOPICS))
    assert again.message == "Nothing changed: 2 topics already loaded."
    assert (again.rows, again.changed, again.id) == (2, False, None)


def test_each_kind_is_loaded_and_taken_back(lib: Campaign) -> None:
    imports = lib.imports
    imports.topics(TOPICS)
    imports.qrels(b"t1 0 d1 3\n", source="NIST")
    imports.segments([{"docid": "d1", "segment": "Sand moves."}], needed_only=True)
    imports.run(ROWS)
    imports.nuggets(NUGGETS, origin="manual", judge="mara", by="human", set="ours")
    labels = [{"qid": "t1", "run_id": "heron", "nuggets": [{"text": "sand moves", "assignment": "support"}]}]
    imports.assignments(labels, origin="manual", judge="robot", by="llm")
    support = {"run_id": "heron", "topic_id": "t1", "sentence": 0, "docid": "d1", "label": "full_support"}
    loaded = imports.support([support], judge="robot", by="llm")
    imports.scores(b"run_id,vital_strict\nheron,0.5\negret,0.25\n", condition="published")
    assert lib.support().count() == lib.assignments().count() == 1
    assert loaded.id
    assert "1" in imports.undo(loaded.id)
    assert lib.support().count() == 0


def test_traces_are_a_run_of_their_own_topics(lib: Campaign) -> None:
    trace = {"Question": "Why do rivers bend?", "Bot": "Sand moves [1].", "Sources": ["Sand moves in bends."]}
    loaded = lib.imports.traces([trace], run="bot", question="Question", answer="Bot", contexts="Sources")
    assert (loaded.rows, loaded.changed) == (1, True)
    answer = lib.answers(run="bot").first()
    assert answer
    assert [sentence.text for sentence in answer.sentences] == ["Sand moves."]


def test_a_judge_s_score_files_are_one_table(lib: Campaign, tmp_path: Path) -> None:
    lib.imports.topics(TOPICS)
    judge: dict[str, Any] = {"condition": "GRADE", "method": "pointwise", "model": "gpt-4o"}
    for run_id, value in (("heron", 0.5), ("egret", 0.25), ("stork", 0.75)):
        (tmp_path / run_id).write_text(f"GRADE\tt1\t{value}\nGRADE\tall\t{value}\n", "utf-8")
        assert lib.imports.scores(tmp_path / run_id, form="trec_eval", **judge).changed
    truth = [
        {"run_id": name, "topic_id": "t9", "measure": "GRADE", "value": 1} for name in ("heron", "egret", "stork")
    ]
    with pytest.raises(Refused) as refusal:
        lib.imports.scores(truth, condition="truth")
    assert refusal.value.problems[0].field == "topic"
    assert lib.imports.scores(truth, condition="truth", topics_as_they_are=True).rows == 3
    [row] = lib.report("judges", truth="truth")["judges"]
    assert (row["judge"], row["method"], row["model"], row["runs"]) == ("GRADE", "pointwise", "gpt-4o", 3)


def test_several_runs_are_one_import(lib: Campaign, tmp_path: Path) -> None:
    lib.imports.topics(TOPICS)
    (tmp_path / "heron.jsonl").write_bytes(RUN)
    egret = [{**row, "run_id": "egret"} for row in ROWS]
    loaded = lib.imports.run(tmp_path / "heron.jsonl", egret, RUN.replace(b"heron", b"stork"), group="ours")
    assert (loaded.rows, loaded.changed) == (6, True)
    assert {run.run_id: run.group for run in Run.objects.all()} == dict.fromkeys(
        ["heron", "egret", "stork"], "ours"
    )
    [event] = Event.objects.filter(kind="import.run")
    assert [file["name"] for file in event.payload["files"]] == ["heron.jsonl", "body-2", "body-3"]
    assert not lib.imports.run(egret, tmp_path / "heron.jsonl", group="ours").changed


def test_rows_of_several_runs_that_fill_more_than_the_memory_are_sent_whole(
    lib: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "IN_MEMORY", 10)
    lib.imports.topics(TOPICS)
    assert lib.imports.run(ROWS, iter([{**row, "run_id": "egret"} for row in ROWS])).rows == 4


def test_a_file_that_is_wrong_among_several_is_named_and_none_is_loaded(lib: Campaign) -> None:
    lib.imports.topics(TOPICS)
    wrong = [{**ROWS[0], "run_id": "egret", "topic_id": "t9"}]
    with pytest.raises(Refused) as refusal:
        lib.imports.run(ROWS, wrong, name=["heron.jsonl", "egret.jsonl"])
    assert [(problem.file, problem.line) for problem in refusal.value.problems] == [("egret.jsonl", 1)]
    with pytest.raises(AssayError, match="name: one for each of 2 files, found 1"):
        lib.imports.run(ROWS, wrong, name="heron.jsonl")
    assert not Run.objects.exists()


def test_a_judges_yml_says_whose_each_score_file_is(lib: Campaign, tmp_path: Path) -> None:
    lib.imports.topics(TOPICS)
    (tmp_path / "judges.yml").write_text(
        "judges:\n  first.eval: {name: GRADE, method: pointwise}\n  second.eval.txt: {name: UMBRELA}\n", "utf-8"
    )
    for name, value in (("first", 0.5), ("second", 0.25)):
        rows = "".join(f"{run}\tGRADE\tt1\t{value}\n" for run in ("heron", "egret", "stork"))
        (tmp_path / f"{name}.eval.txt").write_text(rows, "utf-8")
    names = ("judges.yml", "first.eval.txt", "second.eval.txt")
    loaded = lib.imports.scores(*(tmp_path / name for name in names), form="tot")
    assert (loaded.rows, loaded.changed) == (6, True)
    judges = lib.report("judges", truth="UMBRELA")["judges"]
    assert [(row["judge"], row["method"]) for row in judges] == [("GRADE", "pointwise")]
    assert lib.report("judges", truth="UMBRELA", method=["spearman", "rbo"])["methods"] == ["spearman", "rbo"]
    with pytest.raises(Refused, match=r"judges\.yml"):
        lib.imports.scores(tmp_path / "first.eval.txt", form="tot")


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_several_files_go_where_the_server_takes_several(kind: str) -> None:
    parameters = inspect.signature(getattr(Imports, kind)).parameters.values()
    assert any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters) == FILE_KINDS[kind].several


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_the_options_of_an_import_are_those_of_the_server(kind: str) -> None:
    keywords = {
        name
        for name, parameter in inspect.signature(getattr(Imports, kind)).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    assert keywords == FILE_KINDS[kind].options.model_fields.keys()


def test_what_is_wrong_with_a_file_has_a_line_and_a_field(lib: Campaign, tmp_path: Path) -> None:
    lib.imports.topics(TOPICS)
    broken = [*ROWS, {**ROWS[0], "answer": [{"text": 7, "citations": []}]}]
    path = tmp_path / "broken.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in broken), "utf-8")
    with pytest.raises(Refused) as refusal:
        lib.imports.run(path)
    assert str(refusal.value.problems[0]) == "broken.jsonl:3: answer.0.text: a string, found an integer"
    assert not Run.objects.exists()
