"""What the scripts in static/js say: texts that are marked for translation, and those that look so and are not."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.tree import ROOT

SCRIPTS = ROOT / "static" / "js"
STRING = r'"(?:\\.|[^"\\\n])*"'
CALLS = re.compile(
    rf"\b(?:gettext(?:_noop)?\(\s*(?P<text>{STRING})"
    rf"|ngettext\(\s*(?P<one>{STRING}),\s*(?P<many>{STRING}),"
    rf"|pgettext\(\s*(?P<context>{STRING}),\s*(?P<said>{STRING}))"
)
LITERALS = re.compile(rf"//[^\n]*|/\*.*?\*/|(?P<said>{STRING}|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)", re.DOTALL)
BRACES, VALUE = re.compile(r"(?<!\$)\{[^{}]*\}"), re.compile(r"\$\{[^{}]*\}|%\(\w+\)s")
FILLED = "\0"  # stands for a value within a text

# A sentence or a part of one: two words, a word beside a value, or a capital letter with others behind it.
WORDS = re.compile(rf"[A-Za-z]{{2,}}[,.:;]? [A-Za-z]+|{FILLED} [A-Za-z]+\b|[A-Za-z]+:? {FILLED}|^[A-Z][a-z]+")
LETTERS = re.compile(r"[^\W\d_]{2,}")
# Where a text goes that is read or heard.
SHOWN = re.compile(
    r"(?:\b(?:textContent|title|alt|placeholder)\s*[:=]|\bannounce\(|\bsay\(|setAttribute\(\"aria-(?:label|valuetext)\",)\s*$"
)
# Where a text is a selector, the name of a class, or for developers.
SILENT = re.compile(r"(?:\b(?:querySelector(?:All)?|closest|matches|Error)\(|\bput\(item,|\bclassName =)\s*$")


@dataclass(frozen=True, slots=True)
class Message:
    """A text that is marked, as a catalogue knows it."""

    text: str
    plural: str = ""
    context: str = ""


def scripts() -> list[Path]:
    """Every script of ours."""
    return sorted(SCRIPTS.rglob("*.js"))


def messages(source: str) -> list[Message]:
    """Every text that is marked."""
    found = (
        {name: json.loads(text) for name, text in call.groupdict().items() if text}
        for call in CALLS.finditer(source)
    )
    return [
        Message(one.get("text") or one.get("one") or one["said"], one.get("many", ""), one.get("context", ""))
        for one in found
    ]


def unmarked(source: str) -> Iterator[str]:
    """What looks like words for people and stands in no call for translation; a value in it is a `…`."""
    rest = CALLS.sub("marked(", source)
    for literal in LITERALS.finditer(rest):
        text = VALUE.sub(FILLED, BRACES.sub("", literal["said"] or ""))[1:-1]
        before = rest[: literal.start()]
        if SILENT.search(before[-40:]):
            continue
        if WORDS.search(text) or (SHOWN.search(before[-40:]) and LETTERS.search(text)):
            yield text.replace(FILLED, "…")
