"""A gate's answer as JSON, as JUnit for CI, as Markdown for a pull request, and as lines for a terminal."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

from django.conf import settings
from django.urls import reverse

from exchange.gates.gate import GateResult
from reports.files import as_json
from reports.metrics.gate import GateVerdict
from web.text import p_value

Document = dict[str, Any]
MOST_NUGGETS, LONGEST_TEXT, LONGEST_MARKDOWN = 20, 300, 60_000
# XML has no place for these, however they are written.
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What Markdown or HTML would read as more than text.
MARKS = re.compile(r"([\\`*_{}\[\]()#+!|~$@:-])")


def gate_json(result: GateResult) -> str:
    return f"{as_json(result.document)}\n"


def gate_lines(result: GateResult) -> str:
    document = result.document
    return f"{document['verdict']}: {document['reason']}\n"


def gate_junit(result: GateResult) -> str:
    """Return a suite with a case for each score: JUnit's failure is a fail, its skipped undecided, its error broken."""
    document = result.document
    cases = [(scored["score"], scored["verdict"]) for scored in document["scores"]]
    # What was not compared is one case, and so is a verdict that no score alone gave.
    if not cases or document["verdict"] not in {verdict for _, verdict in cases}:
        cases.append(("gate", document["verdict"]))
    tags = {GateVerdict.FAILED: "failure", GateVerdict.UNDECIDED: "skipped", GateVerdict.BROKEN: "error"}
    numbers = {
        name: str(sum(tags.get(GateVerdict(verdict)) == tag for _, verdict in cases))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    counts = {"name": "assay", "tests": str(len(cases)), **numbers, "time": "0"}
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", counts)
    reasons = _reasons(document)
    for name, verdict in cases:
        class_name = _xml(f"assay.{document['campaign']}.{document['condition']}")
        case = ElementTree.SubElement(suite, "testcase", {"classname": class_name, "name": name, "time": "0"})
        if tag := tags.get(GateVerdict(verdict)):
            message = _xml(reasons.get(name, document["reason"]))
            outcome = ElementTree.SubElement(case, tag, {"message": message})
            if tag != "skipped":
                outcome.set("type", verdict)
                outcome.text = message
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, "unicode")}\n'


def _reasons(document: Document) -> dict[str, str]:
    parts = document["reason"].split("; ")
    return {part.partition(" ")[0]: part for part in parts}


def _xml(text: str) -> str:
    return NOT_IN_XML.sub("\ufffd", text)


def gate_markdown(result: GateResult) -> str:
    """Return a line of verdict, a table of scores, and the first lost nuggets. No text of an answer is in it."""
    text = ""
    for line in _markdown(result.document):
        # Half a row would be no table, so a row for which there is no room is left out whole.
        if len(text) + len(line) < LONGEST_MARKDOWN:
            text += f"{line}\n"
    return text


def _markdown(document: Document) -> Iterator[str]:
    runs = f"{_text(document['baseline'] or 'none')} and {_text(document['candidate'])}"
    yield f"**{document['verdict']}**: {_text(document['reason'])}"
    yield ""
    yield f"Campaign {_text(document['campaign'])}, {_text(document['condition'])}, runs {runs}."
    if document["scores"]:
        yield ""
        yield "| score | baseline | candidate | difference | interval | p | topics | verdict |"
        yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
        for scored in document["scores"]:
            low, high = scored["interval"]
            figures = f"{scored['baseline']:.4f} | {scored['candidate']:.4f} | {scored['difference']:+.4f}"
            p = _text(p_value(scored["p"], 4))
            rest = f"{low:.4f} to {high:.4f} | {p} | {scored['topics']} | {scored['verdict']}"
            yield f"| {_text(scored['score'])} | {figures} | {rest} |"
    for heading, changes in (("Lost", document["lost"]), ("Newly said", document["violations_new"])):
        if changes:
            yield from _nuggets(heading, changes)
    if document["policies"]:
        policies = ", ".join(f"{name} {value}" for name, value in document["policies"].items())
        yield ""
        yield f"Policies: {_text(policies)}. Level {document['level']:g}, alpha {document['alpha']:g}."
    if settings.PUBLIC_URL:
        board = reverse("reports:scores", args=[document["campaign"]])
        query = urlencode({"condition": document["condition"], "compare": "on"})
        yield ""
        yield f"[Leaderboard]({settings.PUBLIC_URL}{board}?{query})"


def _nuggets(heading: str, changes: list[Document]) -> Iterator[str]:
    more = f", {MOST_NUGGETS} of {len(changes)} shown" if len(changes) > MOST_NUGGETS else ""
    yield ""
    yield f"{heading} ({len(changes)}{more}):"
    yield ""
    yield "| topic | nugget | importance | from | to |"
    yield "| --- | --- | --- | --- | --- |"
    for change in changes[:MOST_NUGGETS]:
        cells = (_text(change[name]) for name in ("topic", "nugget", "importance", "from", "to"))
        yield f"| {' | '.join(cells)} |"


def _text(text: str) -> str:
    """Return a text in one line that no Markdown or HTML can come out of."""
    line = " ".join(text.split())
    short = line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 1]}…"
    return MARKS.sub(r"\\\1", short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


GATE_FORMS: dict[str, Callable[[GateResult], str]] = {
    "json": gate_json,
    "junit": gate_junit,
    "markdown": gate_markdown,
}
