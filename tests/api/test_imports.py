"""An organizer's program loads files: as the commands do, all of a file or nothing."""

import gzip
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django.fixtures import Settings

from accounts.models import User
from evaluation.campaigns.pseudonyms import pseudonym_of
from evaluation.judges import judge_of
from evaluation.labels import BattleLabel
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    Event,
    NuggetSet,
    Qrel,
    Run,
    Segment,
    Sentence,
    Topic,
    Verdict,
)
from reports.models import ExternalCondition
from tests.api.writing import API, Program, program_of
from tests.worlds.cast import make_campaign, make_cast

pytestmark = pytest.mark.django_db
IMPORTS = "/campaigns/river/imports"
TOPICS = "t1\twhy rivers bend\nt2\thow dams fail\n"
RUN = (
    '{"run_id": "heron", "topic_id": "t1", "topic": "why rivers bend", "references": ["d#1"],'
    ' "response_length": 2, "answer": [{"text": "It bends.", "citations": [0]}]}\n'
)
NUGGETS = '{"qid": "t1", "query": "why", "nuggets": [{"text": "bends", "importance": "vital"}]}\n'
LABELS = '{"qid": "t1", "run_id": "heron", "nuggets": [{"text": "bends", "assignment": "support"}]}\n'
RATED = (("a", 0.5), ("b", 0.25))
SUPPORT = '{"run_id": "heron", "topic_id": "t1", "sentence": 0, "docid": "d#1", "label": "full_support"}\n'


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign()


@pytest.fixture
def olga(campaign: Campaign) -> Program:
    return program_of(make_cast(campaign)["olga"])


def load(program: Program, kind: str, text: str | bytes, **query: Any) -> Any:
    query_string = "&".join(f"{name}={value}" for name, value in query.items())
    response = program.load(f"{IMPORTS}/{kind}/?{query_string}", text)
    assert response.status_code == 200, response.content
    return response.json()


def test_every_kind_of_file_is_loaded(olga: Program) -> None:
    assert load(olga, "topics", TOPICS)["added"] == 2
    assert load(olga, "qrels", "t1 0 d#1 3\n", source="NIST")["added"] == 1
    assert load(olga, "segments", '{"docid": "d#1", "segment": "Water."}\n', needed_only=True)["added"] == 1
    assert load(olga, "run", RUN, group="herons", task="RAG", priority=1)["added"] == 1
    assert load(olga, "nuggets", NUGGETS, origin="auto", judge="m1")["added"] == 1
    assert load(olga, "assignments", LABELS, origin="auto", judge="m1", by="llm")["added"] == 1
    assert load(olga, "support", SUPPORT, judge="m1", by="llm")["added"] == 1
    assert load(olga, "scores", "heron f1 t1 0.5\n", condition="A", form="tot", method="pointwise")["added"] == 1
    assert load(olga, "scores", "run_id,all\nheron,0.5\n", condition="Paper")["of"] == "runs' scores"
    names = {"question": "q", "answer": "a", "contexts": "c", "keep": "v, w"}
    assert load(olga, "traces", "q,a,c,v,w\nWhy?,So [1].,Water.,2,3\n", run="bot", **names)["added"] == 1
    kept = AnswerProvenance.objects.get(run__run_id="bot").extra["trace"]["kept"]
    assert kept == {"v": "2", "w": "3"}
    assert Sentence.objects.get(text="So.").citations.count() == 1
    undone = Event.objects.get(kind="import.traces")
    assert olga.post(f"{IMPORTS}/e{undone.pk}/undo/", {}).status_code == 200
    run = Run.objects.get()
    assert (run.group, run.task, run.priority) == ("herons", "RAG", 1)
    assert AnswerProvenance.objects.count() == Assignment.objects.count() == Qrel.objects.count() == 1
    assert Segment.objects.get(docid="d#1").text == "Water."
    assert Event.objects.filter(kind="import.topics", actor__username="olga").count() == 1


def test_the_same_file_twice_changes_nothing_and_says_so(olga: Program) -> None:
    load(olga, "topics", TOPICS)
    second = load(olga, "topics", TOPICS)
    assert (second["added"], second["unchanged"]) == (0, 2)
    assert second["message"] == "Nothing changed: 2 topics already loaded."
    assert Event.objects.filter(kind="import.topics").count() == 1


def test_a_gzip_is_read_as_is(olga: Program) -> None:
    assert load(olga, "topics", gzip.compress(TOPICS.encode()))["added"] == 2


def test_a_bad_file_is_refused_whole_with_every_problem(olga: Program) -> None:
    response = olga.load(f"{IMPORTS}/qrels/?source=NIST&name=q.txt", "t1 0 d#1 3\nt1 0 d#2\n\n")
    assert response.status_code == 422
    assert response.headers["Content-Type"] == "application/problem+json"
    document = response.json()
    assert document["code"] == "bad_input"
    # Line 1 names a topic that is not loaded, line 2 has two columns.
    assert [(problem["file"], problem["line"], problem["field"]) for problem in document["problems"]] == [
        ("q.txt", 1, "topic"),
        ("q.txt", 2, "columns"),
    ]
    assert document["detail"].startswith("q.txt:1: ")
    assert not Qrel.objects.exists()


def test_a_changed_file_is_refused_without_replace(olga: Program) -> None:
    load(olga, "topics", TOPICS)
    response = olga.load(f"{IMPORTS}/topics/", "t1\twhy rivers freeze\n")
    assert response.status_code == 422
    assert load(olga, "topics", "t1\twhy rivers freeze\n", replace="true")["changed"] == 1
    assert Topic.objects.get(topic_id="t1").text == "why rivers freeze"


def test_several_runs_come_as_the_parts_of_a_form(olga: Program) -> None:
    load(olga, "topics", TOPICS)
    files = [
        SimpleUploadedFile(f"{name}.jsonl", RUN.replace("heron", name).encode()) for name in ("heron", "egret")
    ]
    headers = {"Authorization": f"Bearer {olga.raw}"}
    response = olga.client.post(f"{API}{IMPORTS}/run/", {"file": files}, headers=headers)
    assert response.status_code == 200, response.content
    assert set(Run.objects.values_list("run_id", flat=True)) == {"heron", "egret"}
    event = Event.objects.get(kind="import.run")
    assert [file["name"] for file in event.payload["files"]] == ["heron.jsonl", "egret.jsonl"]


def test_score_files_of_several_judges_come_with_a_judges_yml(olga: Program) -> None:
    load(olga, "topics", TOPICS)
    scores = [SimpleUploadedFile(f"{name}.txt", f"heron f1 t1 {value}\n".encode()) for name, value in RATED]
    judges = b"judges:\n  a.txt: {name: A, method: pointwise}\n  b: {name: B}\n"

    def send(text: bytes, query: str = "", files: list[SimpleUploadedFile] = scores) -> Any:
        for file in files:
            file.seek(0)
        sent = {"file": [SimpleUploadedFile("judges.yml", text), *files]}
        headers = {"Authorization": f"Bearer {olga.raw}"}
        return olga.client.post(f"{API}{IMPORTS}/scores/{query}", sent, headers=headers)

    assert send(judges).status_code == 200
    tables = ExternalCondition.objects.order_by("name")
    assert list(tables.values_list("name", "method")) == [("A", "pointwise"), ("B", "")]
    broken = send(judges.replace(b"name: B", b"nam: B"))
    assert broken.status_code == 422
    assert broken.json()["detail"].startswith("judges.yml:3: judges.b.name: a value, the field is missing")
    assert send(b"judges: {a: {name: A}}").json()["problems"][0]["file"] == "b.txt"
    for refused in (send(judges, "?condition=A"), send(judges, files=[]), send(judges + b"# so\n" * 2**18)):
        assert refused.status_code == 422
    assert "whose scores" in olga.load(f"{IMPORTS}/scores/", "heron f1 t1 0.5\n").json()["detail"]


def test_verdicts_of_battles_are_loaded_by_their_looks(olga: Program) -> None:
    load(olga, "topics", TOPICS)
    for text in (RUN, RUN.replace("heron", "egret")):
        load(olga, "run", text)
    arena = "topic_id,model_a,model_b,winner\nt1,heron,egret,model_a\n"
    assert load(olga, "battles", arena, by="human", judge="Eve", battle_set="imported")["added"] == 1
    ragdoll = {"qid": "t1", "assistant_a_run_id": "egret", "assistant_b_run_id": "heron", "judge_verdict": "Tie"}
    assert load(olga, "battles", json.dumps({**ragdoll, "model": "m1"}), by="llm")["added"] == 1
    verdicts = Verdict.objects.order_by("pk").values_list("judge__name", "judge__kind", "label")
    assert list(verdicts) == [("Eve", "human", BattleLabel.LEFT), ("m1", "llm", BattleLabel.TIE)]
    refused = olga.load(f"{IMPORTS}/battles/?by=human&name=v.jsonl", LABELS)
    assert "verdicts of battles; these are JSON lines that look like nugget labels" in refused.json()["detail"]


def test_topics_come_in_one_file(olga: Program) -> None:
    files = [SimpleUploadedFile(f"{name}.tsv", TOPICS.encode()) for name in ("a", "b")]
    headers = {"Authorization": f"Bearer {olga.raw}"}
    response = olga.client.post(f"{API}{IMPORTS}/topics/", {"file": files}, headers=headers)
    assert response.status_code == 400
    assert "file" in response.json()["errors"]


def test_what_a_form_of_a_shell_sends_is_a_file_too(olga: Program) -> None:
    kind = "application/x-www-form-urlencoded"  # of curl --data-binary
    assert olga.post(f"{IMPORTS}/topics/", TOPICS.encode(), kind).status_code == 200
    assert Topic.objects.count() == 2


@pytest.mark.parametrize(
    ("query", "named"),
    [("", "source"), ("source=a&source=b", "source"), ("source=NIST&sauce=x", "sauce"), ("source=%00", "source")],
)
def test_wrong_options_are_named(olga: Program, query: str, named: str) -> None:
    response = olga.load(f"{IMPORTS}/qrels/?{query}", "t1 0 d#1 3\n")
    assert response.status_code == 400
    assert named in response.json()["errors"]


def test_more_than_the_limit_is_not_read(olga: Program, settings: Settings) -> None:
    settings.API_UPLOAD_MAX_BYTES = 1000
    assert olga.load(f"{IMPORTS}/topics/", "x" * 1001).status_code == 413
    unpacked = olga.load(f"{IMPORTS}/topics/", gzip.compress(b"t1\t" + b"x" * 5000))
    assert unpacked.status_code == 422
    assert "at most 1,000 bytes" in unpacked.json()["detail"]


def test_an_empty_body_is_an_empty_file(olga: Program) -> None:
    response = olga.load(f"{IMPORTS}/topics/", "")
    assert response.status_code == 422
    assert "the file is empty" in response.json()["detail"]


def test_a_person_is_named_by_pseudonym_as_in_what_was_downloaded(olga: Program) -> None:
    campaign = Campaign.objects.get()
    ann = judge_of(User.objects.get(username="ann"))
    load(olga, "topics", TOPICS)
    load(olga, "nuggets", NUGGETS, origin="manual", judge=pseudonym_of(campaign, ann.user_id or 0), by="human")
    assert NuggetSet.objects.get(origin="manual").judge == ann
