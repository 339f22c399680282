"""Wrong files of citation judgments, whole documents and settings: the command, the wizard and the API say the same.

Each names file, line and field, and leaves everything as it was.
"""

import json
from html import unescape
from pathlib import Path
from threading import Event as Signal
from typing import Any, NamedTuple

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.models import User
from evaluation.models import Campaign
from exchange import background
from exchange.models import ImportAttempt
from tests.api.writing import program_of
from tests.worlds.cast import make_cast
from tests.worlds.imported import answer, everything, load, load_world, run, sentence, write
from tests.worlds.recorded import built_once

FILE = "wrong.jsonl"


class Case(NamedTuple):
    """What is wrong, the file, and the line, field and first words of the complaint."""

    name: str
    content: str | bytes
    line: int
    field: str
    words: str


def lines(*rows: dict[str, Any] | str) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


def answer_of(**fields: Any) -> dict[str, Any]:
    """Judgments of gamma's answer to t1; a field of None is left out."""
    row = {"topic_id": "t1", "run_id": "gamma", "sentences": []} | fields
    return {name: value for name, value in row.items() if value is not None}


def sentence_of(**fields: Any) -> str:
    return lines(answer_of(sentences=[{"sentenceID": 0, "citations": []} | fields]))


def citation(**fields: Any) -> str:
    return sentence_of(citations=[{"citationID": 0, "reference": "d1", "support": 2} | fields])


GOOD = answer_of(sentences=[{"sentenceID": 0, "citations": [{"reference": "d1", "support": 2}]}])
SENTENCE = GOOD["sentences"][0]
FIRST, CITED = "sentences.0.", "sentences.0.citations.0."
NUMBERS = "2, 1, 0, or -1 for unjudged, found "
TWICE = "one row for run gamma, topic t1, sentence 0"
TOO_LONG = "a line of at most "
BYTES = [
    Case("empty", b"", 1, "file", "the file is empty"),
    Case("blank lines", b"\n \n", 1, "file", "only blank lines"),
    Case("BOM", b"\xef\xbb\xbf{}\n", 1, "encoding", "UTF-8 without a byte order mark"),
    Case("Latin-1", b"\xe9\n", 1, "encoding", "UTF-8, found byte 0xe9"),
    Case("no gzip", b"\x1f\x8b{}\n", 0, "file", "an intact gzip, this one is corrupt"),
    Case("mixed line ends", b"{}\n{}\r\n", 2, "line", "line ends all alike"),
    Case("a list of objects", '[{"a": 1}, {"a": 2}]\n', 1, "line", "one JSON object a line, this is a list (jq"),
    Case(
        "over many lines",
        json.dumps(GOOD, indent=1),
        1,
        "line",
        "one JSON object a line, this one goes over several lines",
    ),
    Case("a bare text", '"d1"\n', 1, "line", "an object, found a string"),
    Case("null", "null\n", 1, "line", "an object, found null"),
]
SUPPORT = [
    *BYTES,
    Case("CRLF", lines(GOOD, answer_of(run_id="omega")).replace("\n", "\r\n"), 2, "run_id", "an answer that is"),
    Case("long line", lines(GOOD | {"x": "y" * 2**20}), 1, "line", TOO_LONG),
    Case("deep", lines('{"sentences": ' + "[" * 10_000 + "]" * 10_000 + "}"), 1, "line", "valid JSON: nested"),
    Case("no JSON, then judgments", lines("hello", GOOD), 1, "line", "valid JSON"),
    Case(
        "a pair below answers", lines(GOOD, {"topic_id": "t1", "run_id": "gamma"}), 2, "sentences", "a value, the"
    ),
    Case("support of 3", citation(support=3), 1, f"{CITED}support", f"{NUMBERS}3"),
    Case("support of 2.0", citation(support=2.0), 1, f"{CITED}support", f"{NUMBERS}2.0"),
    Case("support a word", citation(support="full_support"), 1, f"{CITED}support", f'{NUMBERS}"full_support"'),
    Case("support null", citation(support=None), 1, f"{CITED}support", f"{NUMBERS}null"),
    Case("support a list", citation(support=[2]), 1, f"{CITED}support", f"{NUMBERS}[2]"),
    Case("support true", citation(support=True), 1, f"{CITED}support", f"{NUMBERS}true"),
    Case("support NaN", citation(support=float("nan")), 1, f"{CITED}support", f"{NUMBERS}NaN"),
    Case(
        "no support", sentence_of(citations=[{"reference": "d1"}]), 1, f"{CITED}support", "a value, the field is"
    ),
    Case("NaN beside", citation(score=float("nan")), 1, "line", "valid JSON: NaN and Infinity are not"),
    Case("1e999 beside", citation(score=5).replace("5", "1e999"), 1, "line", "numbers of ordinary size"),
    Case("reference null", citation(reference=None), 1, f"{CITED}reference", "a string, found null"),
    Case("reference a list", citation(reference=["d1"]), 1, f"{CITED}reference", "a string, found a list"),
    Case("reference empty", citation(reference=""), 1, f"{CITED}reference", "an id, found an empty string"),
    Case("reference not cited", citation(reference="d3"), 1, f"{CITED}reference", "a docid that sentence 0 cites"),
    Case(
        "reference an index", citation(reference=0), 1, f"{CITED}reference", "a docid that sentence 0 cites, not 0"
    ),
    Case("sentence a text", sentence_of(sentenceID="0"), 1, f"{FIRST}sentenceID", "an integer, found a string"),
    Case("sentence 0.0", sentence_of(sentenceID=0.0), 1, f"{FIRST}sentenceID", "an integer, found a number"),
    Case("sentence -1", sentence_of(sentenceID=-1), 1, f"{FIRST}sentenceID", "a number of at least 0"),
    Case("sentence 3", sentence_of(sentenceID=3), 1, f"{FIRST}sentenceID", "the number, from 0, of a sentence"),
    Case("sentence 10^30", sentence_of(sentenceID=10**30), 1, f"{FIRST}sentenceID", "a number of at most"),
    Case("citations null", sentence_of(citations=None), 1, f"{FIRST}citations", "a list, found null"),
    Case(
        "citations nested",
        sentence_of(citations=[[SENTENCE]]),
        1,
        f"{FIRST}citations.0",
        "an object, found a list",
    ),
    Case(
        "citations of texts", sentence_of(citations=["d1"]), 1, f"{FIRST}citations.0", "an object, found a string"
    ),
    Case("text a number", sentence_of(text=5), 1, f"{FIRST}text", "a string, found an integer"),
    Case("sentences an object", lines(answer_of(sentences={})), 1, "sentences", "a list, found an object"),
    Case("no topic", lines(GOOD | {"topic_id": None}), 1, "topic_id", "an id (`topic_id` or `narrative_id`)"),
    Case("topic a list", lines(GOOD | {"topic_id": ["t1"]}), 1, "topic_id", "a string, found a list"),
    Case(
        "two topics", lines(GOOD | {"narrative_id": "t2"}), 1, "narrative_id", "the topic that topic_id says, t1"
    ),
    Case("topic of no answer", lines(answer_of(topic_id="t9")), 1, "run_id", "an answer that is loaded"),
    Case("run of no answer", lines(answer_of(run_id="omega")), 1, "run_id", "an answer that is loaded"),
    Case("sample of no answer", lines(GOOD | {"sample": 2}), 1, "run_id", "an answer that is loaded"),
    Case("run a formula", lines(GOOD | {"run_id": "=1+1"}), 1, "run_id", "something that does not begin with"),
    Case("answer twice", lines(GOOD, GOOD), 2, "topic_id", "the answer of run gamma, topic t1 once"),
    Case(
        *("sentence twice", lines(answer_of(sentences=[SENTENCE, SENTENCE | {"citations": []}])), 1),
        *("sentences.1.sentenceID", f"{TWICE}, it is here twice, and differs"),
    ),
    Case(
        *("citation twice", sentence_of(citations=[{"reference": "d1", "support": n} for n in (2, -1)]), 1),
        *("sentences.0.citations.1.reference", f"{TWICE}, d1, it is here twice, and differs"),
    ),
    Case("key twice", lines(GOOD).replace("{", '{"sentences": [], ', 1), 1, "sentences", "`sentences` once"),
]


def passage(**fields: Any) -> str:
    return lines({"docid": "d7", "text": "Salt."} | fields)


def candidates(*rows: Any) -> str:
    return lines({"query": {"qid": "t1"}, "candidates": list(rows)})


NO_TEXT = "a text (`segment`, `text`, `contents` or `doc`)"
TEXT_OR_OBJECT = "a text or an object, found "
SEGMENTS = [
    *BYTES,
    Case("long line", passage(text="x" * 2**24), 1, "line", TOO_LONG),
    Case("a list of docids", lines({"d7": "Salt."}), 1, "docid", "a docid (`docid` or `id`)"),
    Case("docid null", passage(docid=None), 1, "docid", "a docid (`docid` or `id`)"),
    Case("docid a list", passage(docid=["d7"]), 1, "docid", "a string, found a list"),
    Case("docid with a space", passage(docid="d 7"), 1, "docid", "an id without white space"),
    Case("text a list", passage(text=["Salt."]), 1, "text", "a string, found a list"),
    Case("text blank", passage(text=" "), 1, "text", "a text that is not empty"),
    Case("text null", passage(text=None), 1, "segment", NO_TEXT),
    Case("doc a number", lines({"docid": "d7", "doc": 5}), 1, "doc", f"{TEXT_OR_OBJECT}an integer"),
    Case("doc a list", lines({"docid": "d7", "doc": ["Salt."]}), 1, "doc", f"{TEXT_OR_OBJECT}a list"),
    Case("doc empty", lines({"docid": "d7", "doc": ""}), 1, "doc", "a text that is not empty"),
    Case("doc without text", lines({"docid": "d7", "doc": {"title": "Salt"}}), 1, "segment", NO_TEXT),
    Case("doc in doc", lines({"docid": "d7", "doc": {"doc": "Salt."}}), 1, "segment", NO_TEXT),
    Case("doc's text a number", lines({"docid": "d7", "doc": {"text": 5}}), 1, "doc.text", "a string, found an"),
    Case("title a list", passage(title=["Salt"]), 1, "title", "a string, found a list"),
    Case("place a text", passage(start_char="0"), 1, "start_char", "an integer, found a string"),
    Case("place 10^30", passage(end_char=10**30), 1, "end_char", "a number of at most"),
    Case("candidates an object", lines({"candidates": {}}), 1, "candidates", "a list, found an object"),
    Case("candidate a text", candidates("d7"), 1, "candidates.0", "an object, found a string"),
    Case("candidate null", candidates(None), 1, "candidates.0", "an object, found null"),
    Case("candidate without text", candidates({"docid": "d7"}), 1, "candidates.0.segment", NO_TEXT),
    Case("candidate without docid", candidates({"doc": "Salt."}), 1, "candidates.0.docid", "a docid"),
    Case("candidate's doc a list", candidates({"docid": "d7", "doc": []}), 1, "candidates.0.doc", TEXT_OR_OBJECT),
    Case(
        *("candidate twice", candidates(*({"docid": "d7", "doc": text} for text in ("Salt.", "Sugar."))), 1),
        *("candidates.1.docid", "one row for d7, it is here twice, and differs"),
    ),
    Case("query a number", lines({"query": 5, "candidates": []}), 1, "query", f"{TEXT_OR_OBJECT}an integer"),
    Case(
        "query's id a list", lines({"query": {"qid": []}, "candidates": []}), 1, "query.qid", "a string, found a"
    ),
    Case(
        "NaN deep inside",
        candidates({"docid": "d7", "doc": "Salt.", "x": [float("inf")]}),
        1,
        "line",
        "valid JSON",
    ),
    Case(
        "two texts", passage() + passage(text="Sugar."), 2, "docid", "one row for d7, a conflicting duplicate of"
    ),
    Case("another text than loaded", passage(docid="d1"), 1, "segment", "what is already loaded for d1"),
    Case("text twice", passage().replace("{", '{"text": "Sugar.", ', 1), 1, "text", "`text` once"),
    Case("NUL", passage(text="a\0b"), 1, "line", "text without NUL characters"),
    Case("half a character", '{"docid": "d7", "text": "\\ud800"}\n', 1, "line", "valid JSON"),
]


def documents(value: Any) -> str:
    return lines(answer("web", "t1", sentence("Salt.", "w7"), references=["w7"], documents=value))


RUNS = [
    Case("documents a list", documents([{"docid": "w7"}]), 1, "documents", "an object, found a list"),
    Case("documents a text", documents("Salt."), 1, "documents", "an object, found a string"),
    Case("document null", documents({"w7": None}), 1, "documents.w7", "an object, found null"),
    Case("document a number", documents({"w7": 7}), 1, "documents.w7", f"{TEXT_OR_OBJECT}an integer"),
    Case("document a list", documents({"w7": ["Salt."]}), 1, "documents.w7", f"{TEXT_OR_OBJECT}a list"),
    Case("document's text a number", documents({"w7": {"text": 7}}), 1, "documents.w7.text", "a string, found an"),
    Case(
        "document's title a list", documents({"w7": {"title": []}}), 1, "documents.w7.title", "a string, found a"
    ),
    Case("docid with a space", documents({"w 7": "Salt."}), 1, "documents.w 7", "an id without white space"),
    Case("docid empty", documents({"": "Salt."}), 1, "documents.", "an id, found an empty string"),
    Case("infinite", documents({"w7": {"x": {"y": 5}}}).replace("5", "-1e999"), 1, "line", "numbers of ordinary"),
    Case(
        "document twice", documents({"w7": "a"}).replace('"w7": "a"', '"w7": "a", "w7": "b"'), 1, "w7", "`w7` once"
    ),
]
BY_EVE = {"judge": "Eve", "by": "human", "condition": "scratch"}
KINDS = [
    *(pytest.param("support", BY_EVE, case, id=f"support: {case.name}") for case in SUPPORT),
    *(pytest.param("segments", {}, case, id=f"segments: {case.name}") for case in SEGMENTS),
    *(pytest.param("run", {}, case, id=f"run: {case.name}") for case in RUNS),
]


@built_once
def make_campaign_with_gamma(folder: Path) -> None:
    """The small campaign with its people; gamma answers t1 in three sentences that cite d1 and d2, d1, and nothing."""
    load_world(folder, parts=2)
    sentences = sentence("One.", 0, 1), sentence("Two.", 0), sentence("Three.")
    load("import_run", write(folder, "gamma.jsonl", [answer("gamma", "t1", *sentences)]))
    make_cast(Campaign.objects.get())


@pytest.fixture
def folder(db: None, tmp_path: Path, settings: Settings) -> Path:
    settings.FILES_DIR = tmp_path / "files"
    make_campaign_with_gamma(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("kind", "options", "case"), KINDS)
def test_a_wrong_file_is_refused_alike_everywhere(
    folder: Path, kind: str, options: dict[str, str], case: Case
) -> None:
    before = of_campaigns()
    path = write(folder, FILE, case.content)
    named = [word for name, value in options.items() for word in (f"--{name}", value)]
    outcome = run(f"import_{kind}", "--campaign", "river", *named, path)
    assert outcome.code == 1
    start, _, expected = outcome.err.splitlines()[0].partition(f": {case.field}: ")
    assert start == f"{path}:{case.line}"
    assert expected.startswith(case.words)
    told = (FILE, case.line, case.field)
    assert told in by_api(kind, options, path.read_bytes())
    assert told in by_wizard(kind, options, path.read_bytes())
    assert of_campaigns() == before


def of_campaigns() -> dict[str, list[tuple[Any, ...]]]:
    """All rows but those of sign-in."""
    return {table: rows for table, rows in everything().items() if not table.startswith("accounts.")}


def by_api(kind: str, options: dict[str, str], content: bytes) -> list[tuple[str, int, str]]:
    olga = program_of(User.objects.get(username="olga"))
    query = "&".join(f"{name}={value}" for name, value in {**options, "name": FILE}.items())
    response = olga.load(f"/campaigns/river/imports/{kind}/?{query}", content)
    assert response.status_code == 422, response.content
    return [(problem["file"], problem["line"], problem["field"]) for problem in response.json()["problems"]]


def by_wizard(kind: str, options: dict[str, str], content: bytes) -> list[tuple[str, int, str]]:
    client = Client()
    client.force_login(User.objects.get(username="olga"))
    kind = "runs" if kind == "run" else kind
    files = {"files": [SimpleUploadedFile(FILE, content)]}
    response = client.post(f"/campaigns/river/data/load/{kind}/", files | options)
    assert response.status_code == 302, response.content.decode()
    background.run("w", Signal())  # which checks large files
    attempt = ImportAttempt.objects.latest("pk")
    assert attempt.state == "refused"
    page = client.get(f"/campaigns/river/data/imports/{attempt.pk}/").content.decode()
    assert FILE in page
    return [tuple(problem[:3]) for problem in attempt.problems]


GRADES = "give 4 words, a line a grade, from 0 to 3"
SETTINGS = [
    Case("empty", b"", 1, "file", "the file is empty"),
    Case("JSON", '{"like": "trec-rag-2026"}\n', 1, "file", "valid TOML"),
    Case("no gzip", b"\x1f\x8blike", 0, "file", "an intact gzip"),
    Case("BOM", b'\xef\xbb\xbflike = "trec-rag-2026"\n', 1, "encoding", "UTF-8 without a byte order mark"),
    Case("preset unknown", 'name = "x"\nlike = "trec-rag-1924"\n', 2, "like", "Input should be 'trec-rag-2024'"),
    Case("preset in capitals", 'like = "TREC-RAG-2026"\n', 1, "like", "Input should be 'trec-rag-2024'"),
    Case("presets", 'like = ["trec-rag-2026"]\n', 1, "like", "Input should be 'trec-rag-2024'"),
    Case("preset among settings", '[protocol]\nlike = "trec-rag-2026"\n', 2, "protocol.like", "Extra inputs"),
    Case("preset twice", 'like = "trec-rag-2026"\nlike = "trec-rag-2024"\n', 2, "file", "valid TOML"),
    Case("limit a text", '[protocol]\ncitation_limit = "3"\n', 2, "protocol.citation_limit", "Input should be a"),
    Case("limit 1.5", "[protocol]\ncitation_limit = 1.5\n", 2, "protocol.citation_limit", "Input should be a"),
    Case("limit nan", "[protocol]\ncitation_limit = nan\n", 2, "protocol.citation_limit", "Input should be a"),
    Case("limit below 0", "[protocol]\ncitation_limit = -1\n", 2, "protocol.citation_limit", "Input should be"),
    Case(
        "measure unknown", '[protocol]\nsupport_measure = "mean"\n', 2, "protocol.support_measure", "Input should"
    ),
    Case(
        "scoring unknown", '[protocol]\nscoring = "rubrics"\n', 2, "protocol.scoring", "Input should be 'trec-rag'"
    ),
    Case("markdown 1", "[protocol]\nmarkdown = 1\n", 2, "protocol.markdown", "Input should be a valid boolean"),
    Case(
        *("threshold above the scale", "[protocol]\n\ngrade_threshold = 7\n", 3),
        *("protocol.grade_threshold", "grade_threshold must not be above relevance_max"),
    ),
    Case(
        *("scale below the preset's threshold", 'like = "trec-rag-2026"\n[protocol]\nrelevance_max = 1\n', 3),
        *("protocol.relevance_max", "grade_threshold must not be above relevance_max"),
    ),
    Case("words for a part of the scale", '\n[grades]\n0 = "a"\n1 = "b"\n', 2, "grades", GRADES),
    Case("words from 1", '[grades]\n1 = "a"\n2 = "b"\n3 = "c"\n4 = "d"\n', 1, "grades", "give every grade a word"),
    Case("word of no grade", '[grades]\nx = "a"\n', 2, "grades.x", "Input should be a valid integer"),
    Case("name too long", f'\nname = "{"x" * 201}"\n', 2, "name", "Ensure this value has at most 200"),
]


@pytest.mark.django_db
@pytest.mark.parametrize("case", SETTINGS, ids=lambda case: case.name)
def test_wrong_settings_are_refused_alike_by_command_and_browser(tmp_path: Path, case: Case) -> None:
    root = User.objects.create_superuser("root", password=None)
    before = of_campaigns()
    path = write(tmp_path, "own.toml", case.content)
    outcome = run("create_campaign", "lake", "--from", path)
    assert outcome.code == 1
    assert outcome.err.startswith(f"{path}:{case.line}: {case.field}: {case.words}")
    client = Client()
    client.force_login(root)
    # The name typed here wins over the file's.
    fields = {"slug": "lake", "name": "x" * 201 if case.field == "name" else "Lake"}
    response = client.post(
        "/campaigns/new/", fields | {"settings": SimpleUploadedFile("own.toml", path.read_bytes())}
    )
    assert response.status_code == 422
    if case.field != "name":
        assert f"own.toml:{case.line}: {case.field}: " in unescape(response.content.decode())
    assert of_campaigns() == before
