"""Files that each import must refuse, with the line and field that it must name. The world is `labelled`."""

import gzip
import json
import zlib
from typing import Any, NamedTuple

from tests.worlds.imported import (
    ALPHA,
    AUTO,
    BY_ANN,
    BY_LLM,
    LISTS,
    answer,
    judged,
    labels,
    nuggets,
    segment,
    sentence,
)


class Case(NamedTuple):
    """One bad file: for which command, what is in it, and the line, field and words of the complaint."""

    name: str
    command: tuple[str, ...]
    content: bytes | str | list[dict[str, Any]]
    line: int
    field: str
    words: str


TOPICS = ("import_topics",)
SEGMENTS = ("import_segments",)
NEEDED = ("import_segments", "--needed-only")
QRELS = ("import_qrels", "--source", "NIST")
RUN = ("import_run",)
NUGGETS = ("import_nuggets", *AUTO, "--set", "other")
LABELS = ("import_assignments", *BY_LLM)
SUPPORT = ("import_support", *BY_ANN)
SCORES = ("import_scores", "--condition", "Paper")

GAMMA = answer("gamma", "t1", sentence("New."))
DEEP = '{"qid": "t1", "nuggets": [], "deep": ' + "[" * 100_000 + "]" * 100_000 + "}\n"


def gz_bomb() -> bytes:
    """80 MB of one letter, in lines short enough, packed into a few dozen kilobytes."""
    packer = zlib.compressobj(9, wbits=31)
    line = b"a" * 1_000_000 + b"\n"
    return b"".join(packer.compress(line) for _ in range(80)) + packer.flush()


def lines(*rows: dict[str, Any] | str) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


def without(row: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != key}


BYTES = [
    Case("empty", TOPICS, b"", 1, "file", "empty"),
    Case("empty gz", QRELS, gzip.compress(b""), 1, "file", "empty"),
    Case("blank lines only", RUN, b"\n \n\t\n", 1, "file", "only blank lines"),
    Case("BOM", TOPICS, b"\xef\xbb\xbft3\tthree\n", 1, "encoding", "byte order mark"),
    Case("Latin-1", TOPICS, b"t3\tthree\nt4\tcaf\xe9\n", 2, "encoding", "0xe9"),
    Case("UTF-16", QRELS, "t1 0 d1 2\n".encode("utf-16"), 1, "encoding", "UTF-16"),
    Case("mixed line ends", QRELS, b"t1 0 d1 2\nt2 0 d2 0\r\n", 2, "line", "CRLF after LF"),
    Case("NUL byte", SUPPORT, b'{"run_id": "alpha\0"}\n', 1, "line", "NUL byte"),
    Case("escaped NUL", NUGGETS, [nuggets("t1", ("a\0b", "vital"))], 1, "line", "\\u0000"),
    Case("terminal escape", TOPICS, b"t3\t\x1b[2Jthree\n", 1, "line", "0x1b"),
    Case("2 MB line", TOPICS, b"t3\tthree\n" + b"x" * 2_000_000, 2, "line", "1,048,576 bytes"),
    Case("truncated gz", LABELS, gzip.compress(b"{}\n" * 5000)[:-9], 0, "file", "truncated"),
    Case("corrupt gz", SEGMENTS, gzip.compress(b"{}\n")[:-8] + b"\1" * 8, 0, "file", "corrupt"),
    Case("gz bomb", QRELS, gz_bomb(), 0, "file", "bomb"),
    Case("gz that is text", SCORES, b"\x1f\x8b nonsense", 0, "file", "corrupt"),
    Case("binary", SCORES, bytes(range(256)), 1, "line", "NUL byte"),
]
JSON = [
    Case("no JSON", RUN, lines(GAMMA, "hello"), 2, "line", "valid JSON"),
    Case("JSON cut off", LABELS, '{"qid": "t1", ', 1, "line", "valid JSON: EOF"),
    Case("a list", NUGGETS, "[]\n", 1, "line", "an object, found a list"),
    Case("deep nesting", NUGGETS, DEEP, 1, "line", "nested too deep"),
    Case("NaN", RUN, lines(GAMMA).replace('"New."', '"New.", "p": NaN'), 1, "line", "NaN"),
    Case("lone surrogate", NUGGETS, '{"qid": "t1", "nuggets": [], "x": "\\ud800"}', 1, "line", "valid JSON"),
]
TOPIC_FILES = [
    Case("topic twice", TOPICS, "t3\tthree\nt3\tdrei\n", 2, "id", "line 1"),
    Case("topic id a formula", TOPICS, "=1+1\tone\n", 1, "id", "spreadsheet"),
    Case("topic without text", TOPICS, "t3\t \n", 1, "text", "not empty"),
    Case("three columns", TOPICS, "t3\tthree\tdrei\n", 1, "columns", "found 3"),
    Case("topic line of an id", TOPICS, lines({"id": "t3"}), 1, "text", "missing"),
]
SEGMENT_FILES = [
    Case("segment without docid", SEGMENTS, [{"segment": "x"}], 1, "docid", "missing"),
    Case("one docid, two texts", SEGMENTS, [segment("d9", "a"), segment("d9", "b")], 2, "docid", "line 1"),
    Case("segment of a number", SEGMENTS, [{"docid": "d9", "segment": 5}], 1, "segment", "a string"),
    Case("needed, without text", NEEDED, [segment("d9"), {"docid": "d1"}], 2, "segment", "missing"),
]
QREL_FILES = [
    Case("unknown topic", QRELS, "t1 0 d1 2\nt9 0 d1 2\n", 2, "topic", "not t9"),
    Case("conflicting grades", QRELS, "t2 0 d1 0\nt2 0 d1 1\n", 2, "grade", "conflicting duplicate of line 1"),
    Case("a word for a grade", QRELS, "t2 0 d1 high\n", 1, "grade", "an integer"),
    Case("a fraction for a grade", QRELS, "t2 0 d1 1.0\n", 1, "grade", "an integer"),
    Case("a retrieval run", QRELS, "t2 Q0 d1 17 2.5 bm25\n", 1, "grade", "retrieval run"),
]
RUN_FILES = [
    Case("run on an unknown topic", RUN, [GAMMA, answer("gamma", "t9")], 2, "topic_id", "not t9"),
    Case("run with a topic twice", RUN, [GAMMA, GAMMA], 2, "topic_id", "line 1"),
    Case("two runs in a file", RUN, [GAMMA, answer("delta", "t2")], 2, "run_id", "one run per file"),
    Case("run id a formula", RUN, [answer("@SUM(A1)", "t1")], 1, "run_id", "spreadsheet"),
    Case("team of 201 letters", RUN, [GAMMA | {"team_id": "x" * 201}], 1, "team_id", "at most 200 characters"),
    Case("team a formula", RUN, [GAMMA | {"team_id": "=1+1"}], 1, "team_id", "spreadsheet"),
    Case("run without answer", RUN, [without(GAMMA, "answer")], 1, "answer", "missing"),
    Case("citation of a float", RUN, [answer("gamma", "t1", sentence("A.", 0.5))], 1, "answer.0.citations", "int"),  # type: ignore[arg-type]
    Case("answer a string", RUN, [GAMMA | {"answer": "New."}], 1, "answer", "a list, found a string"),
    Case("changed run", RUN, ALPHA[:1], 1, "run", "alpha"),
]
NUGGET_FILES = [
    Case("nuggets of an unknown topic", NUGGETS, [*LISTS, nuggets("t9")], 3, "qid", "not t9"),
    Case("list twice", NUGGETS, [LISTS[0], LISTS[0]], 2, "qid", "line 1"),
    Case("nugget without text", NUGGETS, [nuggets("t1", (" ", "vital"))], 1, "nuggets.0.text", "not empty"),
    Case("nuggets an object", NUGGETS, [{"qid": "t1", "nuggets": {}}], 1, "nuggets", "a list"),
]
LABEL_FILES = [
    Case("unknown run", LABELS, [labels("nobody", "t1", ("bends", "support"))], 1, "run_id", "not nobody"),
    Case("labels on an unknown topic", LABELS, [labels("alpha", "t9")], 1, "qid", "not t9"),
    Case("no answer there", LABELS, [labels("beta", "t2", ("dams", "support"))], 1, "qid", "no answer for t2"),
    Case("unknown nugget", LABELS, [labels("alpha", "t1", ("mud", "support"))], 1, "nuggets.0.text", "not 'mud'"),
    Case(
        *("nugget of another topic", LABELS, [labels("alpha", "t1", ("bends", "support"), ("dams", "support"))]),
        *(1, "nuggets.1.text", "not 'dams'"),
    ),
    Case(
        *("nugget once too often", LABELS, [labels("alpha", "t1", ("bends", "support"), ("bends", "support"))]),
        *(1, "nuggets.1.text", "not 'bends'"),
    ),
    Case("answer twice", LABELS, [labels("alpha", "t1"), labels("alpha", "t1")], 2, "run_id", "line 1"),
    Case(
        *(
            "label of a number",
            LABELS,
            [{"qid": "t1", "run_id": "alpha", "nuggets": [{"text": "a", "assignment": 1}]}],
        ),
        *(1, "nuggets.0.assignment", "a string"),
    ),
]
TWO_LABELS = [judged("alpha", "t2", 0, "d3", label) for label in ("full_support", "no_support")]
SUPPORT_FILES = [
    Case(
        "sentence out of range", SUPPORT, [judged("alpha", "t1", 3, "d1", "full_support")], 1, "sentence", "from 0"
    ),
    Case("docid not cited", SUPPORT, [judged("alpha", "t1", 0, "d2", "full_support")], 1, "docid", "not d2"),
    Case("support of no answer", SUPPORT, [judged("beta", "t2", 0, "d1", "full_support")], 1, "run_id", "none of"),
    Case("pair with two labels", SUPPORT, TWO_LABELS, 2, "label", "conflicting duplicate of line 1"),
    Case(
        *("another condition", SUPPORT, [judged("alpha", "t2", 0, "d3", "full_support", condition="post-edit")]),
        *(1, "condition", "scratch"),
    ),
]
SCORE_FILES = [
    Case("scores without header", SCORES, "alpha,0.5\n", 1, "header", "run_id"),
    Case("scores of a formula", SCORES, "run_id,all\n=1+1,0.5\n", 2, "run_id", "spreadsheet"),
    Case("score of a word", SCORES, "run_id,all\nalpha,high\n", 2, "all", "a finite number"),
    Case("score of infinity", SCORES, "run_id,all\nalpha,inf\n", 2, "all", "a finite number"),
    Case("score file of an unknown topic", SCORES, "alpha f1 t1 1\nalpha f1 t9 1\n", 2, "topic", "found 't9'"),
    Case("score file of infinity", SCORES, "alpha f1 t1 inf\n", 1, "value", "a finite number"),
    Case("score file with a row twice", SCORES, "alpha f1 t1 1\nalpha f1 t1 1\n", 2, "row", "line 1"),
    Case("scores of a run twice", SCORES, "run_id,all\nalpha,1\nalpha,0\n", 3, "run_id", "line 2"),
]
CASES = [
    *(*BYTES, *JSON, *TOPIC_FILES, *SEGMENT_FILES, *QREL_FILES),
    *(*RUN_FILES, *NUGGET_FILES, *LABEL_FILES, *SUPPORT_FILES, *SCORE_FILES),
]
