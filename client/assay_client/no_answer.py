"""A gate's files where no server decided: CI shows them as it shows those of a server, with the reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

Document = dict[str, Any]
PLACE = ("campaign", "condition", "baseline", "candidate")
# What Markdown or HTML would read as more than text.
MARKS = re.compile(r"([\\`*_{}\[\]()#+!|~$@:<>&-])")


def no_answer(reason: str, options: Document, forms: list[str]) -> Document:
    """Return a broken verdict as a server's answer has it."""
    # Neither XML nor a line of Markdown has a place for other characters.
    line = "".join(sign if sign.isprintable() else " " for sign in reason)
    place = {name: options.get(name) or "" for name in PLACE}
    document: Document = {"verdict": "broken", "reason": line, **place, "scores": []}
    return {**document, "files": {form: FORMS[form](document) for form in forms}}


def _json(document: Document) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _junit(document: Document) -> str:
    root = ElementTree.Element("testsuites")
    counts = {"tests": "1", "failures": "0", "errors": "1", "skipped": "0", "time": "0"}
    suite = ElementTree.SubElement(root, "testsuite", {"name": "assay", **counts})
    class_name = f"assay.{document['campaign']}.{document['condition']}"
    case = ElementTree.SubElement(suite, "testcase", {"classname": class_name, "name": "gate", "time": "0"})
    error = ElementTree.SubElement(case, "error", {"message": document["reason"], "type": "broken"})
    error.text = document["reason"]
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, "unicode")}\n'


def _markdown(document: Document) -> str:
    texts = {name: MARKS.sub(r"\\\1", text) for name, text in document.items() if isinstance(text, str)}
    runs = f"{texts['baseline'] or 'none'} and {texts['candidate']}"
    return f"**broken**: {texts['reason']}\n\nCampaign {texts['campaign']}, {texts['condition']}, runs {runs}.\n"


FORMS: dict[str, Callable[[Document], str]] = {"json": _json, "junit": _junit, "markdown": _markdown}
