"""The gate as CI meets it: verdicts, exit codes, files, baselines, and everything that cannot be compared."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from pytest_django.fixtures import Settings

from evaluation.models import AnswerProvenance, Assignment, Campaign, Event, Judge, ListedNugget
from exchange.gates.gate import Changes, GateOrder, GateResult
from exchange.gates.outputs import gate_junit, gate_markdown
from jobs.models import Job, WorkItem
from llmjobs.models import Call, LlmJob
from reports.metrics.gate import GateRule, GateVerdict
from tests.api.writing import Program, program_of
from tests.worlds.cast import make_cast
from tests.worlds.gates import load_gate_world
from tests.worlds.imported import Outcome, run

pytestmark = pytest.mark.django_db
LEAST = ("--least", "0.05")


@pytest.fixture(autouse=True)
def campaign(db: None, tmp_path: Path) -> Campaign:
    load_gate_world(tmp_path)
    return Campaign.objects.get()


@pytest.fixture
def olga(campaign: Campaign) -> Program:
    return program_of(make_cast(campaign)["olga"])


def gate(*words: str, candidate: str = "new", judge: str = "m") -> Outcome:
    base = ("--campaign", "river", "--condition", "A/A", "--judge", judge, "--candidate", candidate)
    return run("gate", *base, *words)


def document(*words: str, code: int, **sides: str) -> Any:
    outcome = gate(*words, "--json", "-", **sides)
    assert outcome.code == code, outcome.err
    return outcome.json()


def broken(*words: str, **sides: str) -> str:
    return str(document(*words, code=3, **sides)["reason"])


def test_the_worst_of_several_scores_counts() -> None:
    scores = ("--score", "vital_strict", "--score", "all_strict", "--baseline", "old", *LEAST)
    found = document(*scores, code=2)
    assert {row["score"]: row["verdict"] for row in found["scores"]} == {
        "vital_strict": "pass",
        "all_strict": "undecided",
    }
    assert found["verdict"] == "undecided"
    assert [gate(*scores, "--undecided", word).code for word in ("pass", "fail")] == [0, 1]
    assert document(*scores, code=1, candidate="bad")["verdict"] == "fail"


def test_no_difference_is_a_pass_and_better_needs_a_gain() -> None:
    assert document("--baseline", "new", *LEAST, code=0)["scores"][0]["interval"] == [0.0, 0.0]
    better = ("--goal", "better", "--baseline", "bad", *LEAST)
    assert gate(*better).code == 0
    assert gate("--goal", "better", "--baseline", "new", *LEAST).code == 1
    assert gate("--goal", "better", "--baseline", "old", *LEAST, candidate="bad").code == 1


def test_what_was_lost_is_named_with_a_link() -> None:
    found = document("--baseline", "old", "--score", "all", *LEAST, code=2)
    [lost] = found["lost"]
    assert (lost["topic"], lost["nugget"], lost["importance"]) == ("t00", "an okay thing", "okay")
    assert (lost["from"], lost["to"], found["gained"]) == ("support", "not_support", [])
    assert lost["url"].startswith("/campaigns/river/labels/answer/")
    assert [
        row["importance"] for row in document("--baseline", "old", *LEAST, code=1, candidate="bad")["lost"]
    ] == (["vital"] * 8)


def test_new_violations_fail_whatever_the_mean_is() -> None:
    ListedNugget.objects.filter(nugget_version__text="an okay thing").update(weight=-1)
    sides = ("--baseline", "new", *LEAST)
    assert gate(*sides, candidate="old").code == 0
    found = document(*sides, "--no-new-violations", code=1, candidate="old")
    assert [row["nugget"] for row in found["violations_new"]] == ["an okay thing"]
    assert found["scores"][0]["verdict"] == "pass"
    assert found["reason"].startswith("1 newly said that an answer must avoid")


WRONG = [
    (("--baseline", "old"), "least: above 0: how large a loss would not matter?"),
    (
        ("--baseline", "old", "--min-topics", "13", *LEAST),
        "12 topics have a score vital_strict in both, at least 13",
    ),
    (("--baseline", "v40", *LEAST), "run v40 is not in river (runs: bad, new, old)"),
    (("--baseline", "accepted", *LEAST), "no baseline is accepted for A/A in river"),
    *((("--baseline", "old", "--least", word), "least: above 0") for word in ("inf", "nan")),
    *((("--baseline", "old", "--goal", "better", "--least", word), "least: 0 or more") for word in ("inf", "nan")),
    (LEAST, "baseline: a run, the accepted one, or a file"),
    (("--baseline", "old", "--alpha", "2", *LEAST), "alpha: between 0 and 1, found 2"),
    (("--baseline", "old", "--score", "weighted_precision", *LEAST), "A/A has no score weighted_precision"),
    (("--baseline", "old", "--score", "rubric", "--score", "all", *LEAST), "score: of one profile"),
]


@pytest.mark.parametrize(("words", "reason"), WRONG)
def test_what_cannot_be_compared_is_broken_and_says_why(words: tuple[str, ...], reason: str) -> None:
    assert broken(*words).startswith(reason)


def test_wrong_usage_is_never_undecided() -> None:
    outcome = run("gate", "--campaign", "nowhere", "--condition", "A/A", "--candidate", "new", "--baseline", "old")
    assert (outcome.code, outcome.err.partition(";")[0]) == (3, "There is no campaign nowhere")
    assert gate("--baseline-file", "/nowhere.json", *LEAST).code == 3


@pytest.mark.parametrize("option", ["json", "junit", "markdown", "save-baseline"])
def test_a_file_that_cannot_be_written_is_never_a_fail(option: str) -> None:
    outcome = gate("--baseline", "old", *LEAST, f"--{option}", "/nowhere/file")
    assert (outcome.code, outcome.err) == (3, "/nowhere/file cannot be written: No such file or directory\n")


def test_what_nobody_thought_of_is_never_a_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exchange.management.commands.gate.run_gate", lambda order: json.loads("{}")["verdict"])
    outcome = gate("--baseline", "old", *LEAST)
    assert outcome.code == 3
    assert "KeyError: 'verdict'" in outcome.err


def test_labels_that_are_missing_break_it() -> None:
    failed = Assignment.objects.filter(judge__name="m", nugget_version__text="an okay thing")
    failed.filter(answer__topic__topic_id__in=["t00", "t01"]).update(label=9)
    Campaign.objects.update(revision=99)
    sides = ("--baseline", "old", *LEAST)
    assert broken(*sides).startswith(
        "8.3% of the labels of run new are unjudged or failed (2 of 24), at most 5.0% may"
    )
    assert gate(*sides, "--max-missing", "0.1").code == 0


def test_a_job_that_still_labels_a_run_breaks_it(campaign: Campaign) -> None:
    job = Job.objects.create(kind="llm", title="labels")
    LlmJob.objects.create(job=job, campaign=campaign, judge=Judge.objects.get(name="m"))
    answer = AnswerProvenance.objects.filter(run__run_id="new").values_list("answer", flat=True)[0]
    WorkItem.objects.create(job=job, key="a", kind="assign", payload={"answer": answer, "nuggets": []})
    assert broken("--baseline", "old", *LEAST).startswith(f"job {job.pk} still labels these runs")
    assert gate("--baseline", "old", *LEAST, candidate="bad").code == 1
    job.items.update(state="done")
    assert gate("--baseline", "old", *LEAST).code == 0


def test_a_baseline_in_a_file_needs_no_run(tmp_path: Path) -> None:
    file = tmp_path / "assay-baseline.json"
    assert gate("--baseline", "old", *LEAST, "--save-baseline", str(file), candidate="bad").code == 1
    # The candidate is what is saved, whatever the verdict on it.
    assert json.loads(file.read_text())["run"] == "bad"
    assert gate("--baseline-file", str(file), "--rebaseline", candidate="old").code == 0
    found = document("--baseline-file", str(file), *LEAST, code=1, candidate="bad")
    assert (found["baseline"], found["lost"]) == ("old", None)
    file.write_text('{"run": 3}')
    assert f"{file}:1: run: a string" in gate("--baseline-file", str(file), *LEAST).err


def test_an_accepted_baseline_is_kept_by_campaign_and_condition(olga: Program) -> None:
    found = document("--baseline", "accepted", "--rebaseline", code=0, candidate="old")
    assert found["reason"] == "no comparison was made: old is the new baseline"
    assert found["scores"] == []
    assert document("--baseline", "accepted", *LEAST, "--accept", code=1, candidate="bad")["verdict"] == "fail"
    assert gate("--baseline", "accepted", *LEAST, "--accept").code == 0
    assert [event.payload["name"] for event in Event.objects.filter(kind="gate.accepted")] == ["new", "old"]
    [event] = olga.get("/events/?kind=gate.accepted&page_size=1").json()["results"]
    assert event["payload"]["name"] == "old"


def test_another_judge_or_prompt_is_broken_and_named(tmp_path: Path) -> None:
    for version, name in ((1, "old"), (2, "new")):
        event = Event.objects.create(kind="llm.call")
        Call.objects.create(
            sha256=str(version) * 64,
            base_url="https://llm.example",
            model="m",
            parameters={},
            messages=[],
            template="assign",
            template_version=version,
            template_sha256=f"{version}f2a91" + "0" * 58,
            event=event,
        )
        answers = AnswerProvenance.objects.filter(run__run_id=name).values("answer")
        Assignment.objects.filter(answer__in=answers, judge__name="m").update(event=event)
    reason = (
        "the judge's prompt differs (baseline assign/1 1f2a91, candidate assign/2 2f2a91); judge both with one"
    )
    assert broken("--baseline", "old", *LEAST).startswith(reason)
    file = str(tmp_path / "baseline.json")
    assert gate("--baseline-file", file, "--rebaseline").code == 0
    assert broken("--baseline-file", file, *LEAST, judge="other").startswith(
        "the judge differs (baseline m, candidate other), and its prompt"
    )


def test_a_changed_topic_list_or_policy_is_named(tmp_path: Path) -> None:
    file = str(tmp_path / "baseline.json")
    assert gate("--baseline-file", file, "--rebaseline", candidate="old").code == 0
    assert "missing zero, candidate missing skip" in broken("--baseline-file", file, *LEAST, "--missing", "skip")
    Campaign.objects.get().topics.filter(topic_id="t03").update(background="More.")
    ListedNugget.objects.filter(nugget_list__topic__topic_id="t05").update(importance=1)
    reason = broken("--baseline-file", file, *LEAST)
    assert "nuggets of these topics differ: t05" in reason
    assert "these topics differ: t03" in reason


def test_every_form_says_the_same(tmp_path: Path, settings: Settings) -> None:
    settings.PUBLIC_URL = "https://assay.example"
    files = {name: tmp_path / f"gate.{name}" for name in ("json", "junit", "markdown")}
    options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    assert gate("--baseline", "old", "--score", "all_strict", *LEAST, *options, candidate="bad").code == 1
    suite = suite_of(files["junit"])
    assert dict(suite.attrib) | {"name": "assay"} == dict(suite.attrib)
    [failure] = suite.iter("failure")
    assert failure.attrib["message"] in json.loads(files["json"].read_text())["reason"]
    lines = files["markdown"].read_text().splitlines()
    board = "https://assay.example/campaigns/river/leaderboard/?condition=A%2FA&compare=on"
    assert lines[-1] == f"[Leaderboard]({board})"
    assert lines[0].startswith("**fail**: all\\_strict \\-0.3333")
    cells = [line for line in lines if line.startswith(("| t0", "| t1"))]
    assert len(cells) == 8
    # A text with a bar or a tag leaves the table a table.
    assert all(line.replace("\\|", "").count("|") == 6 and "<" not in line for line in cells)
    broken_file = tmp_path / "broken.xml"
    gate("--baseline", "v40", *LEAST, "--junit", str(broken_file))
    assert "run v40 is not in river" in broken_file.read_text()
    assert "<error" in broken_file.read_text()
    suite_of(broken_file)
    gate("--baseline", "old", "--score", "all", "--score", "vital", *LEAST, "--junit", str(broken_file))
    assert {element.tag for element in suite_of(broken_file).iter()} == {"testsuite", "testcase", "skipped"}


JUNIT = {
    "testsuites": ("name time tests failures disabled errors", "testsuite"),
    "testsuite": ("name tests failures errors time disabled skipped timestamp hostname id package", "testcase"),
    "testcase": ("name assertions time classname status", "skipped error failure"),
    "skipped": ("message type", ""),
    "error": ("message type", ""),
    "failure": ("message type", ""),
}
"""Attributes and children of elements by junit-10.xsd, as GitLab reads it; of children those that we write."""


def suite_of(file: Path) -> Any:
    """Return the suite of a file that is as the schema has it."""
    root = ElementTree.parse(file).getroot()  # noqa: S314  # our own file
    assert root.tag == "testsuites"
    for element in root.iter():
        attributes, children = (set(words.split()) for words in JUNIT[element.tag])
        assert element.attrib.keys() <= attributes, element.tag
        assert {child.tag for child in element} <= children, element.tag
        assert element.tag not in ("testsuite", "testcase") or element.get("name")
    [suite] = root
    assert int(suite.get("tests", "")) == len(suite)
    return suite


def test_files_stay_whole_whatever_texts_say(campaign: Campaign, tmp_path: Path) -> None:
    text = "&" * 250 + "<script>alert(1)</script> | " * 170
    row = {"topic": "t00", "nugget": text, "importance": text, "from": "support", "to": "not_support"}
    order = GateOrder(campaign, "A/A", "new", "old", GateRule("no-worse", 0.05, 0.05, 0.95))
    changes = Changes(lost=[row] * 30, gained=[], violations=[row] * 30)
    result = GateResult(order, GateVerdict.FAILED, text, changes=changes, policies={"missing": "zero"})
    markdown = gate_markdown(result)
    assert len(markdown) <= 60_000
    assert "<" not in markdown
    *_, policies = lines = markdown.splitlines()
    assert {line.replace("\\|", "").count("|") for line in lines} == {0, 6}
    assert policies == "Policies: missing zero. Level 0.95, alpha 0.05."
    junit = tmp_path / "gate.xml"
    junit.write_text(gate_junit(replace(result, reason=f"{text}\0")), "utf-8")
    assert [failure.text for failure in suite_of(junit).iter("failure")] == [f"{text}\ufffd"]


def test_the_api_answers_what_the_command_says(olga: Program, campaign: Campaign) -> None:
    body = {"campaign": "river", "condition": "A/A", "judge": "m", "candidate": "bad", "least": 0.05}
    found = olga.post("/gates/", {**body, "baseline": "old"})
    assert found.status_code == 200, found.content
    assert found.json() == document("--baseline", "old", *LEAST, code=1, candidate="bad")
    kept = olga.post("/gates/", {**body, "rebaseline": True, "keep": True, "candidate": "old"}).json()["kept"]
    again = olga.post("/gates/", {**body, "baseline_document": kept})
    assert (again.json()["verdict"], again.json()["lost"]) == ("fail", None)
    assert olga.post("/gates/", {**body, "baseline": "v40"}).json()["verdict"] == "broken"
    assert olga.post("/gates/", {**body, "condition": "X"}).status_code == 400
    kept["fingerprint"]["judges"] = [{"name": "m"}]
    kept["scores"]["vital_strict"]["t00"] = 1e300
    wrong = olga.post("/gates/", {**body, "baseline_document": kept})
    assert (wrong.status_code, {name.rpartition(".")[2] for name in wrong.json()["errors"]}) == (
        400,
        {"t00", "kind", "model", "host", "parameters", "prompts"},
    )
    parts = olga.get("/fingerprint/?campaign=river&condition=A/A&judge=m&run=bad").json()
    assert parts["sha256"] == found.json()["fingerprint"]
    assert olga.get("/fingerprint/?campaign=river&condition=A/A&judge=m&run=none").status_code == 400
