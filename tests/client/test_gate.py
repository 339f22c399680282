"""A gate in a user's own pipeline: command, files, exit codes, pyproject.toml and pytest; the server's own answer."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from django.conf import settings
from pytest_django.live_server_helper import LiveServer

from assay_client import Assay, Campaign, GateBroken, GateFailed, GateUndecided, connection
from assay_client.cli import main
from evaluation.models import AnswerProvenance, Judge, NuggetVersion
from evaluation.models import Campaign as Stored
from jobs.models import Job, WorkItem
from llmjobs.models import LlmJob
from tests.api.writing import program_of
from tests.client.servers import serving
from tests.worlds.cast import make_cast
from tests.worlds.gates import load_gate_world
from tests.worlds.imported import run
from tests.worlds.llm import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
SIDES = ("--campaign", "river", "--condition", "A/A", "--judge", "m", "--baseline", "old", "--least", "0.05")
TABLE = """
[tool.assay.gate]
campaign = "river"
condition = "A/A"
judge = "m"
baseline = "old"
candidate = "bad"
score = ["vital_strict", "all_strict"]
least = 0.05
min_topics = 12
no-new-violations = false
"""


@pytest.fixture(autouse=True)
def river(live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    load_gate_world(tmp_path)
    token = program_of(make_cast(Stored.objects.get())["olga"]).raw
    monkeypatch.setenv("ASSAY_URL", live_server.url)
    monkeypatch.setenv("ASSAY_TOKEN", token)
    monkeypatch.chdir(tmp_path)
    return Assay.from_env().campaign("river")


def gate(*words: str, candidate: str = "new") -> int:
    return main(["gate", *SIDES, "--candidate", candidate, *words])


def test_verdicts_are_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    undecided = ("--score", "vital_strict", "--score", "all_strict")
    assert [gate(), gate(candidate="bad"), gate(*undecided), gate(candidate="v40")] == [0, 1, 2, 3]
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in said] == ["pass", "fail", "undecided", "broken"]
    assert said[3] == "broken: run v40 is not in river (runs: bad, new, old)"
    assert [gate(*undecided, "--undecided", word) for word in ("pass", "fail")] == [0, 1]


def test_its_files_are_those_of_the_server_s_command(tmp_path: Path) -> None:
    for command, folder in ((main, tmp_path / "client"), (None, tmp_path / "server")):
        folder.mkdir()
        files = [word for form in ("json", "junit", "markdown") for word in (f"--{form}", str(folder / form))]
        words = [*SIDES, "--candidate", "bad", *files, "--save-baseline", str(folder / "baseline.json")]
        assert (command(["gate", *words]) if command else run("gate", *words).code) == 1
    for file in (tmp_path / "client").iterdir():
        assert file.read_text("utf-8") == (tmp_path / "server" / file.name).read_text("utf-8"), file.name
    assert ElementTree.parse(tmp_path / "client" / "junit").getroot().find(".//failure") is not None  # noqa: S314


def test_a_baseline_in_a_file_is_kept_compared_and_made_anew(tmp_path: Path) -> None:
    sides = [word for word in SIDES if word not in ("--baseline", "old")]
    of_file = ["gate", *sides, "--baseline-file", str(tmp_path / "baseline.json"), "--candidate"]
    assert main([*of_file, "old"]) == 3
    assert main([*of_file, "old", "--rebaseline"]) == 0
    assert json.loads((tmp_path / "baseline.json").read_text("utf-8"))["run"] == "old"
    assert [main([*of_file, run_id]) for run_id in ("new", "bad")] == [0, 1]
    (tmp_path / "baseline.json").write_text("[]", "utf-8")
    assert main([*of_file, "new"]) == 3


def test_options_stand_in_pyproject_and_words_count_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(TABLE, "utf-8")
    from_file = ["gate", "--from", str(file)]
    assert main(from_file) == 1
    assert main([*from_file, "--candidate", "new", "--score", "vital_strict"]) == 0
    assert main([*from_file, "--baseline-file", "/nowhere.json"]) == 3
    file.write_text(TABLE.replace("least", "leest"), "utf-8")
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(from_file)
    assert ended.value.code == 3
    assert capsys.readouterr().err == "broken: unrecognized arguments: --leest=0.05\n"
    file.write_text("[project]\n", "utf-8")
    assert main(from_file) == 3
    assert "pyproject.toml has no table [tool.assay.gate]" in capsys.readouterr().err


def test_the_workflow_asks_a_gate_that_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workflow = yaml.safe_load((settings.BASE_DIR / "docs/example/pipeline/answers.yml").read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    [job] = workflow["jobs"].values()
    assert job["env"].keys() >= {"ASSAY_URL", "ASSAY_TOKEN"}
    [line] = [step["run"] for step in job["steps"] if step.get("run", "").startswith("assay-client ")]
    (tmp_path / "pyproject.toml").write_text(TABLE, "utf-8")
    assert main(shlex.split(line.replace("$RUN", "new"))[1:]) == 0
    assert (tmp_path / "gate.md").read_text("utf-8").startswith("**undecided**")
    # What a pull request says is never part of a line that a shell reads.
    assert not any("${{" in step.get("run", "") for step in job["steps"])


def test_what_is_no_verdict_is_broken(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        gate("--goal", "best")
    assert ended.value.code == 3
    assert gate("--score", "beauty") == gate("--least", "-1") == 3
    monkeypatch.setattr(connection, "FIRST_WAIT", 0.01)
    with serving() as server:
        monkeypatch.setenv("ASSAY_URL", server.url)
    capsys.readouterr()
    assert gate() == 3
    assert capsys.readouterr().err.startswith(f"broken: {server.url} did not answer")
    monkeypatch.delenv("ASSAY_TOKEN")
    assert gate() == 3


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({}, ("--from", "latin.toml")),
        ({}, ("--baseline-file", "latin.toml")),
        ({}, ("--baseline-file", "deep.json")),
        ({"ASSAY_URL": "http://localhost:80a"}, ()),
        ({"ASSAY_URL": "https://assay.example.org/\x01"}, ()),
        ({"ALL_PROXY": "socks9://localhost:1"}, ()),
        ({"SSL_CERT_FILE": "/nowhere.pem"}, ()),
    ],
)
def test_what_no_server_sees_is_broken_too(
    environment: dict[str, str],
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "latin.toml").write_bytes(TABLE.replace("bad", "b\xe4d").encode("latin-1"))
    (tmp_path / "deep.json").write_text("[" * 100_000, "utf-8")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    sides = [word for word in SIDES if word not in ("--baseline", "old") or not words]
    assert main(["gate", *sides, "--candidate", "bad", *words]) == 3
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("broken: ")


def test_what_nobody_thought_of_is_no_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("assay_client.cli.ask", lambda *words: json.loads("{}")["verdict"])
    assert gate(candidate="bad") == 3
    assert "KeyError: 'verdict'" in capsys.readouterr().err


def test_a_terminal_without_a_sign_gets_a_verdict(river: Campaign) -> None:
    NuggetVersion.objects.update(text="\u5bdd")
    command = [sys.executable, "-c", "from assay_client.cli import main; raise SystemExit(main())", "gate"]
    environment = {**os.environ, "PYTHONPATH": str(settings.BASE_DIR / "client"), "PYTHONIOENCODING": "cp1252"}
    words = [*SIDES, "--candidate", "bad", "--json", "-"]
    asked = subprocess.run([*command, *words], capture_output=True, check=False, env=environment)
    assert asked.returncode == 1
    assert json.loads(asked.stdout)["lost"][0]["nugget"] == "\u5bdd"


def test_files_are_written_where_nobody_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {form: tmp_path / form for form in ("json", "junit", "markdown")}
    words = [word for form, file in files.items() for word in (f"--{form}", str(file))]
    assert gate(*words, candidate="v40") == 3
    capsys.readouterr()
    by_server = ElementTree.parse(files["junit"]).getroot()  # noqa: S314
    monkeypatch.setattr(connection, "FIRST_WAIT", 0.01)
    with serving() as server:
        monkeypatch.setenv("ASSAY_URL", server.url)
    assert gate(*words, candidate="v40") == 3
    reason = capsys.readouterr().err.strip().removeprefix("broken: ")
    assert reason.startswith(f"{server.url} did not answer")
    document = json.loads(files["json"].read_text("utf-8"))
    assert (document["verdict"], document["reason"], document["candidate"]) == ("broken", reason, "v40")
    assert files["markdown"].read_text("utf-8").startswith("**broken**: http")
    suite = ElementTree.parse(files["junit"]).getroot()  # noqa: S314
    assert [element.tag for element in suite.iter()] == [element.tag for element in by_server.iter()]
    for before, after in zip(by_server.iter(), suite.iter(), strict=True):
        assert before.attrib | {"message": ""} == after.attrib | {"message": ""}
    assert suite.findtext(".//error") == reason
    assert gate("--junit", str(tmp_path / "nowhere" / "gate.xml")) == 3


def test_a_job_is_waited_for(river: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_client.gates.POLL", 0.05)
    job = Job.objects.create(kind="llm", title="labels")
    LlmJob.objects.create(job=job, campaign=Stored.objects.get(), judge=Judge.objects.get(name="m"))
    answer = AnswerProvenance.objects.filter(run__run_id="new").values_list("answer", flat=True)[0]
    item = WorkItem.objects.create(job=job, key="a", kind="assign", payload={"answer": answer, "nuggets": []})
    assert gate("--wait", "0.1") == 3
    codes: list[int] = []
    with in_thread(lambda: codes.append(gate("--wait", "20"))):
        WorkItem.objects.filter(pk=item.pk).update(state="done")
    wait_until(lambda: codes == [0])


def test_a_program_asks_for_the_same(river: Campaign) -> None:
    def asked(candidate: str, **options: Any) -> Any:
        return river.gate("A/A", judge="m", baseline="old", candidate=candidate, least=0.05, **options)

    asked("new").check()
    for candidate, error in (("bad", GateFailed), ("v40", GateBroken)):
        with pytest.raises(error, match=asked(candidate).verdict):
            asked(candidate).check()
    with pytest.raises(GateUndecided):
        asked("new", score="all_strict").check()
    lost = asked("bad").document.lost[0]
    assert (lost.topic, lost.from_, lost.to) == ("t01", "support", "not_support")
    assert river.fingerprint("A/A", run="bad", judge="m").sha256 == asked("bad").document.fingerprint


def test_a_gate_is_a_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "test_answers.py").write_text(TESTS, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers -rs\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(settings.BASE_DIR / "client"))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def outcome(*words: str) -> str:
        command = [sys.executable, "-m", "pytest", "-p", "assay_client.pytest_plugin", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    assert "1 failed, 2 passed, 1 skipped, 1 error in" in (asked := outcome())
    assert "SKIPPED [1] test_answers.py" in asked
    assert "ERROR at call of test_broken" in asked
    monkeypatch.delenv("ASSAY_URL")
    assert "5 skipped in" in (skipped := outcome())
    assert "ASSAY_URL is not set: no server of Assay to ask" in skipped
    assert "5 errors in" in outcome("--assay-required")


TESTS = """
import pytest


def check(assay_gate, candidate, **options):
    assay_gate("river", "A/A", judge="m", baseline="old", candidate=candidate, least=0.05, **options).check()


def test_pass(assay_gate):
    check(assay_gate, "new")


def test_fail(assay_gate):
    check(assay_gate, "bad")


def test_undecided(assay_gate):
    check(assay_gate, "new", score="all_strict")


def test_broken(assay_gate):
    check(assay_gate, "v40")


@pytest.mark.assay(campaign="river")
def test_the_campaign_of_a_mark(assay_gate, assay):
    assay_gate("A/A", judge="m", baseline="old", candidate="new", least=0.05).check()
    assert assay.campaigns().count() == 1
"""
