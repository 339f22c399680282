"""The pages keep to their own content security policy: nothing inline that it would refuse, and styles are quick."""

import re

from django.template.engine import Engine

from tests.architecture.tree import files, named

INLINE = {
    "script": re.compile(r"<script\b(?![^>]*\bsrc=)", re.IGNORECASE),
    "style element": re.compile(r"<style\b", re.IGNORECASE),
    "style attribute": re.compile(r"<[^>]*\sstyle\s*=", re.IGNORECASE),
    "handler": re.compile(r"<[^>]*\son[a-z]+\s*=", re.IGNORECASE),
    "htmx handler": re.compile(r"\bhx-on\b", re.IGNORECASE),
    "javascript address": re.compile(r"javascript:", re.IGNORECASE),
    "another host": re.compile(r"\b(?:src|href)\s*=\s*[\"']?(?:https?:)?//", re.IGNORECASE),
    "autoescape off": re.compile(r"{%\s*autoescape\s+off|\|\s*safe\b"),
}


def test_no_template_has_anything_inline() -> None:
    found = [
        f"{named(path)}: {what}"
        for path in files(".html")
        for what, pattern in INLINE.items()
        if pattern.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_no_script_evaluates_text() -> None:
    evaluating = re.compile(r"\beval\(|new Function\(|innerHTML\s*=|document\.write|insertAdjacentHTML")
    assert [named(path) for path in files(".js") if evaluating.search(path.read_text(encoding="utf-8"))] == []


def test_no_style_of_everything_hangs_on_what_else_is_there() -> None:
    """A `*` after a `:has()` has Chromium style the whole page again with each element that comes or goes."""
    everything = re.compile(r":has\([^{;]*\)[^{;,]*[ >+~]\*\s*[{,]")
    assert [named(path) for path in files(".css") if everything.search(path.read_text(encoding="utf-8"))] == []


def test_no_template_loads_what_every_template_has() -> None:
    everywhere = {name.rpartition(".")[2] for name in Engine.get_default().builtins}
    loads = re.compile(r"{%\s*load ([^%]+)%}")
    assert [
        named(path)
        for path in files(".html", ".txt")
        for libraries in loads.findall(path.read_text(encoding="utf-8"))
        if everywhere & set(libraries.split())
    ] == []


def test_there_are_templates() -> None:
    assert len(list(files(".html"))) > 10
