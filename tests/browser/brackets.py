"""A language in which every text is English in brackets: what stands outside of them was not marked for translation.

Scripts get it as any language, from a compiled catalogue; templates and Python from one that brackets what it is asked
for, so that what a script copies out of a template stands in brackets too.
"""

import re
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from django.utils.translation import trans_real
from playwright.sync_api import Page
from pytest_django.fixtures import Settings

from tests.architecture.script_texts import Message, messages, scripts

LANGUAGE = "eo"  # one that Django knows and we do not
HEAD = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=(n != 1);\n"
MAGIC, HEADER = 0x950412DE, struct.Struct("<7I")
INNERMOST = re.compile(r"⟦[^⟦⟧]*⟧")
# N7, P12 and S3 number things in every language; Assay is a name.
NAMES = re.compile(r"\b[NPS]\d+\b|\bAssay\b")
WORD = re.compile(r"[^\W\d_]{2,}")

# From when the page is parsed on, every text that comes into it is one that a script put there.
WATCH = """(() => {
  const ATTRIBUTES = ["aria-label", "aria-valuetext", "title", "placeholder", "alt"];
  const DATA = "[dir=auto], .s, .sentence-text, kbd, script, style, template, textarea";
  globalThis.written = new Set();
  globalThis.data = new Set(); // what people wrote, and may be read out
  const note = (text) => text?.trim() && written.add(text.trim());
  const read = (text) => data.add(text.trim());
  const takeText = (node, parent) => (parent.closest(DATA) ? read(node.data) : note(node.data));
  const takeElement = (element) => {
    for (const name of ATTRIBUTES) note(element.getAttribute(name));
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) takeText(walker.currentNode, walker.currentNode.parentElement);
    for (const one of element.querySelectorAll("*")) for (const name of ATTRIBUTES) note(one.getAttribute(name));
  };
  const take = (node, parent) => {
    if (node.nodeType === Node.TEXT_NODE) takeText(node, parent);
    if (node.nodeType === Node.ELEMENT_NODE) takeElement(node);
  };
  const watch = () => new MutationObserver((changes) => {
    for (const { type, target, addedNodes, attributeName } of changes) {
      if (type === "attributes") note(target.getAttribute(attributeName));
      else if (type === "characterData") takeText(target, target.parentElement ?? document.body);
      else addedNodes.forEach((node) => take(node, target));
    }
  }).observe(document, { subtree: true, childList: true, characterData: true, attributeFilter: ATTRIBUTES });
  document.addEventListener("readystatechange", () => {
    if (document.readyState !== "interactive") return;
    for (const one of document.querySelectorAll(DATA)) read(one.textContent);
    watch();
  });
})()"""


def bracketed(text: str) -> str:
    """A text in this language."""
    return f"⟦{text}⟧"


class Bracketing(trans_real.DjangoTranslation):
    """What templates and Python say. A context goes before the text, as in a catalogue."""

    def gettext(self, message: str) -> str:
        """Give a text."""
        return bracketed(message.rpartition("\x04")[2])

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """Give one of two."""
        return self.gettext(msgid1 if n == 1 else msgid2)


def speak_in_brackets(folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this the language of the installation."""
    catalogue = folder / LANGUAGE / "LC_MESSAGES" / "djangojs.mo"
    catalogue.parent.mkdir(parents=True)
    said = [one for script in scripts() for one in messages(script.read_text(encoding="utf-8"))]
    catalogue.write_bytes(compiled(said))
    settings.LOCALE_PATHS = [folder]
    settings.LANGUAGE_CODE = LANGUAGE
    translations: dict[str, Any] = vars(trans_real)["_translations"]
    monkeypatch.setitem(translations, LANGUAGE, Bracketing(LANGUAGE))


def compiled(said: Iterable[Message]) -> bytes:
    """A catalogue as GNU gettext's `msgfmt` writes it."""
    texts = {"": HEAD}
    for one in said:
        key = f"{one.context}\x04{one.text}" if one.context else one.text
        plural = [one.plural] if one.plural else []
        texts["\0".join([key, *plural])] = "\0".join(bracketed(text) for text in (one.text, *plural))
    pairs = sorted((key.encode(), text.encode()) for key, text in texts.items())
    tables, offset = [b"", b""], HEADER.size + 16 * len(pairs)
    for place in (0, 1):
        for pair in pairs:
            tables[place] += struct.pack("<2I", len(pair[place]), offset)
            offset += len(pair[place]) + 1
    header = HEADER.pack(MAGIC, 0, len(pairs), HEADER.size, HEADER.size + 8 * len(pairs), 0, 0)
    return header + b"".join(tables) + b"".join(pair[place] + b"\0" for place in (0, 1) for pair in pairs)


def watch(page: Page) -> None:
    """Note from the next page on what its scripts write."""
    page.add_init_script(WATCH)


def written(page: Page) -> set[str]:
    """What the scripts of the page wrote."""
    return set(page.evaluate("[...written]"))


def outside(page: Page, *typed: str) -> list[str]:
    """What they wrote outside of brackets, but for what people wrote: texts, nuggets, answers, and what was typed."""
    data = sorted({*page.evaluate("[...data]"), *typed} - {""}, key=len, reverse=True)
    return [text for text in sorted(written(page)) if WORD.search(_left(text, data))]


def _left(text: str, data: list[str]) -> str:
    while INNERMOST.search(text):
        text = INNERMOST.sub("", text)
    for one in data:
        text = text.replace(one, "")
    return NAMES.sub("", text)
