"""A language in which everything that is translated stands in brackets, and what stands outside of them on a page.

A message is known where it is marked in the project, or is in Django's or a library's own list of messages; one that
is asked for and not marked stays as it is, so that it is found. Values stand outside the brackets of their sentence:
each has to be translated by itself, or to be data.
"""

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from html.parser import HTMLParser

from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import models
from django.utils import translation
from django.utils.translation import template, trans_real

from llmjobs.prompts import TEMPLATES
from organizer import vocabulary
from web.management.commands.makemessages import KEYWORDS

CODE = "xx"
WITHOUT_WORDS = re.compile(r"(%\(\w+\)[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]|%[sd%]|\{[^{}]*\}|<[^<>]+>|&#?\w+;|\n)")
BRACKETED = re.compile(r"⟦[^⟦⟧]*(?:⟧|$)")
WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
LIKE_A_CODE = re.compile(r"\S*[\d_@/=:.#{}]\S*|--\S+|\b(\w)\1{7,}\b")
LITERAL = re.compile(r"""u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
CALL = re.compile(rf"(?:\bn?p?gettext|\b_)\(\s*(?:{LITERAL.pattern}[\s,]*)+")
ROOMS = ("api", "accounts", "assessor", "evaluation", "exchange", "jobs", "llmjobs", "organizer", "reports", "web")
DJANGOS = {"gettext": 0, "gettext_lazy": 0, "gettext_noop": 0, "_": 0, "pgettext": 1, "pgettext_lazy": 1}
COUNTING = {"ngettext": 0, "ngettext_lazy": 0, "npgettext": 1, "npgettext_lazy": 1}
TELLING = re.compile(r"^(?=.{3})(?=.*[A-Z0-9_@.-]|.*\s\S+\s)")
OURS = {
    word
    for name, words in vars(vocabulary).items()
    if name.isupper()
    for word in (words if isinstance(words, tuple) else (words,))
}
"""States, roles and the like: never data, though columns hold them."""
SILENT = {"script", "style", "code", "kbd", "samp", "pre", "textarea", "svg"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
READ_OUT = ("aria-label", "title", "placeholder", "alt", "aria-description")


class Bracketing:
    """What Django asks for the words of a language."""

    def gettext(self, message: str) -> str:
        """Return a message in brackets, where it is known."""
        text = message.rpartition("\x04")[2]
        return bracketed(text) if is_known(text) else message

    def ngettext(self, one: str, many: str, number: int) -> str:
        """Return the form for a number in brackets, where it is known."""
        text = (one if number == 1 else many).rpartition("\x04")[2]
        return bracketed(text) if is_known(one.rpartition("\x04")[2]) else text

    def to_language(self) -> str:
        """Return the code."""
        return CODE

    def language(self) -> str:
        """Return the code."""
        return CODE


@contextmanager
def spoken() -> Iterator[None]:
    """Speak the language in brackets."""
    trans_real._translations[CODE] = Bracketing()  # type: ignore[attr-defined]
    try:
        with translation.override(CODE):
            yield
    finally:
        del trans_real._translations[CODE]  # type: ignore[attr-defined]


def bracketed(message: str) -> str:
    """Put brackets around the words of a message, and leave out values and elements."""
    parts = WITHOUT_WORDS.split(message)
    return "".join(one if number % 2 or not WORD.search(one) else f"⟦{one}⟧" for number, one in enumerate(parts))


@cache
def is_known(message: str) -> bool:
    """Say whether a translator would have been asked for a message."""
    return message in _marked() or message in _libraries() or message in _in_templates()


@cache
def _libraries() -> frozenset[str]:
    """Return the messages of Django and the libraries, as their German and French translators were asked for them."""
    lists = [one for code in ("de", "fr") for one in trans_real.DjangoTranslation(code)._catalog._catalogs]  # type: ignore[attr-defined]
    keys = {key[0] if isinstance(key, tuple) else key for one in lists for key in one}
    return frozenset(key.rpartition("\x04")[2] for key in keys)


@cache
def _marked() -> frozenset[str]:
    """Return every literal that `makemessages` takes from a module."""
    places = (
        DJANGOS | COUNTING | {name: int(at[0]) - 1 for name, _, at in (one.partition(":") for one in KEYWORDS)}
    )
    found = set()
    for room in ROOMS:
        for path in sorted((settings.BASE_DIR / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
                if isinstance(node, ast.Call) and name in places and len(node.args) > places[name]:
                    said = node.args[places[name]]
                    if isinstance(said, ast.Constant):
                        found.add(str(said.value))
    return frozenset(found)


@cache
def _in_templates() -> frozenset[str]:
    """Return every literal that templates have within their tags for translation."""
    found = set()
    for path in sorted((settings.BASE_DIR / "templates").rglob("*.*")):
        for call in CALL.finditer(template.templatize(path.read_text(encoding="utf-8"))):
            found |= {str(ast.literal_eval(one)) for one in LITERAL.findall(call[0])}
    return frozenset(found)


class Outside(HTMLParser):
    """Collect the texts of a page, and the attributes that are read out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self._left_out: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take in what is read out; leave out what is a code, a picture, or said to be English."""
        said = dict(attrs)
        if self._left_out or tag in SILENT or (tag != "html" and said.get("lang") == "en"):
            if tag not in VOID:
                self._left_out.append(tag)
            return
        self.texts += [said[name] or "" for name in READ_OUT if said.get(name)]
        if tag == "input" and said.get("type") in ("submit", "button"):
            self.texts.append(said.get("value") or "")

    def handle_endtag(self, tag: str) -> None:
        """Come back from what is left out."""
        if self._left_out and self._left_out[-1] == tag:
            self._left_out.pop()

    def handle_data(self, data: str) -> None:
        """Take in a text."""
        if not self._left_out:
            self.texts.append(data)


def outside(html: str) -> list[str]:
    """Return what stands outside of brackets on a page, a piece for each stretch with a word in it."""
    page = Outside()
    page.feed(html)
    page.close()
    pieces = (piece for text in page.texts for piece in BRACKETED.split(" ".join(text.split())))
    return [piece.strip() for piece in pieces if WORD.search(piece)]


class Data:
    """What is neither ours nor to be translated."""

    def __init__(self, kept: set[str]) -> None:
        self.values = {" ".join(one.split()) for one in kept}
        # A value that is one small word could be a word of ours, so it must be all that stands there.
        parts = {line.strip() for one in kept for line in one.splitlines()}
        self._parts = sorted({one for one in parts if TELLING.search(one)}, key=len, reverse=True)
        self._all = " ".join(self.values)

    def without(self, piece: str) -> str:
        """Return what is left of a piece without data and codes."""
        bare = piece.strip(" .·:,;…()“”\u2068\u2069")
        if self._is_name(bare) or (" " in bare and bare in self._all):
            return ""
        for one in self._parts:
            if one in piece:
                piece = piece.replace(one, " ")
        return " ".join(
            one for one in LIKE_A_CODE.sub(" ", piece).split() if not self._is_name(one.strip(",;.()"))
        )

    def _is_name(self, text: str) -> bool:
        return text in self.values and text not in OURS


def data() -> Data:
    """Return what people, files and judges brought into the database, and the words of the prompts."""
    kept = {text for one in TEMPLATES.values() for text in (one.system, one.user)}
    for model in apps.get_models():
        names = [
            one.attname
            for one in model._meta.concrete_fields
            if isinstance(one, (models.CharField, models.TextField, models.JSONField)) and not one.choices
        ]
        for row in model._default_manager.values_list(*names) if names and model is not Session else ():
            kept |= {text for one in row for text in _texts(one)}
    return Data(kept)


def _texts(value: object) -> Iterator[str]:
    """Yield the texts within a value of a column."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        yield from (text for one in value for text in _texts(one))
    elif isinstance(value, dict):
        yield from (text for one in value.values() for text in _texts(one))
