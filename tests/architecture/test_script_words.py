"""What scripts say is marked for translation, and their pages load the words."""

import re
from pathlib import Path

from django.conf import settings

from tests.architecture.script_texts import SCRIPTS, messages, scripts, unmarked
from tests.architecture.tree import named

TEMPLATES: Path = settings.BASE_DIR / "templates"
KEYS = {
    *(
        "Alt",
        "AltGraph",
        "Arrow",
        "ArrowLeft",
        "ArrowUp",
        "CapsLock",
        "Control",
        "Control+",
        "Ctrl",
        "Ctrl+",
        "Ctrl+S",
    ),
    *("Dead", "End", "Enter", "Esc", "Escape", "Home", "Meta", "Process", "Shift", "Space", "Tab", "Unidentified"),
}
# What is stored, sent or asked for: names of places to keep things in, kinds, headers, selectors.
CODES = {
    *("parting … …", "place …", "reason …", "remark …", "server …"),
    *("interrupted … min", "nothing new", "reopen request"),
    *("Content-Type", "Files", "not all", "(prefers-color-scheme: dark)"),
    "[data-define], .tag, legend, label, [aria-pressed]",
}
NUMBERED = {"… S…"}  # P12 S3, which is called so in every language
MODULE = re.compile(r"""<script type="module" src="{% static 'js/([^']+)' %}">""")
IMPORT = re.compile(r"""(?:from|import)\s*\(?"(\.[^"]+)\"""")
WORDS, THEIR_WORDS = SCRIPTS / "gettext.js", '{% include "components/script_words.html" %}'


def needed(script: Path, known: set[Path]) -> set[Path]:
    """A script and everything that it imports."""
    if script not in known:
        known.add(script)
        for name in IMPORT.findall(script.read_text(encoding="utf-8")):
            needed((script.parent / name).resolve(), known)
    return known


def test_scripts_say_nothing_that_is_not_marked() -> None:
    allowed = KEYS | CODES | NUMBERED
    found = {named(path): set(unmarked(path.read_text(encoding="utf-8"))) - allowed for path in scripts()}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_what_is_not_marked_is_found() -> None:
    assert list(unmarked('say("left");')) == ["left"]
    assert list(unmarked("const text = `${count} undecided`;")) == ["… undecided"]
    assert list(unmarked("const text = `Saved ${at({ now: true })}`;")) == ["Saved …"]
    assert list(unmarked('return isDone ? gettext("Yes") : "Not yet"; // it is not done')) == ["Not yet"]
    assert list(unmarked('ngettext("%(count)s hit", `${count} hits`, count)')) == ["… hit", "… hits"]
    assert list(unmarked('document.querySelector(".row .name").textContent = gettext("A name");')) == []


def test_every_plural_says_how_many() -> None:
    plurals = [one for path in scripts() for one in messages(path.read_text(encoding="utf-8")) if one.plural]
    assert len(plurals) > 20
    assert [one for one in plurals if "%(count)s" not in one.plural] == []


def test_a_page_with_a_script_that_speaks_loads_its_words_first() -> None:
    speaking = 0
    for template in sorted(TEMPLATES.rglob("*.html")):
        source = template.read_text(encoding="utf-8")
        for module in MODULE.finditer(source):
            if WORDS not in needed(SCRIPTS / module[1], set()):
                continue
            speaking += 1
            above = source[: module.start()]
            if template.name == "judge.html":  # it puts its script in the place of the desk's
                above = (template.parent / "desk.html").read_text(encoding="utf-8").split("block main_script")[0]
            assert THEIR_WORDS in above, template
    assert speaking == 5
