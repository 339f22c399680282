"""Texts from outside are shown as text on every page, whatever they hold, and Markdown only as what can be read."""

import re
from pathlib import Path

import pytest
from django.db.models import Value
from django.http.response import HttpResponseBase
from django.test import Client

from assessor.blind.guidelines import clean_html
from assessor.models import WorkingNugget
from evaluation.models import Campaign, NuggetVersion, Remark, Run, Segment, Sentence, Topic
from llmjobs.models import Call, Text
from tests.crawl.addresses import addresses
from tests.crawl.canaries import body_of
from tests.crawl.walking import candidates_of
from tests.worlds.blind import make_blind_world

NASTY = "\"'><img src=x onerror=alert(1)><script>alert(2)</script>{{ 7|add:7 }}\u202egnp.exe\u200b" + "w" * 400
TEXTS = (
    (Segment, ("text", "title")),
    (Sentence, ("text",)),
    (NuggetVersion, ("text",)),
    (WorkingNugget, ("text",)),
    (Topic, ("text",)),
    (Remark, ("text", "about", "answer")),
    (Campaign, ("description",)),
)


def plant() -> None:
    """Write the same hostile text into every column that holds texts from outside."""
    for model, columns in TEXTS:
        known = {field.name: field for field in model._meta.concrete_fields}
        values = {
            name: Value(NASTY[: known[name].max_length] if known[name].max_length else NASTY)
            for name in columns
            if name in known
        }
        rows = model._default_manager.filter(has_text=True) if model is Segment else model._default_manager.all()
        rows.update(**values)
    Run.objects.update(group=NASTY[:60])
    # The calls of this world hold what no engine writes: give them a question, with the same text in it.
    Text.objects.update(content=NASTY)
    Call.objects.update(messages=[{"role": "user", "sha256": "t" * 64}], reply=NASTY)


@pytest.mark.django_db
@pytest.mark.slow
@pytest.mark.parametrize("person", ["olga", "ann"])
def test_hostile_texts_are_shown_as_text(person: str, tmp_path: Path) -> None:
    world, _ = make_blind_world(tmp_path, with_canaries=False)
    plant()
    client, shown = Client(raise_request_exception=False), 0
    client.force_login(world.people[person])
    for address in addresses(candidates_of(world)):
        if not address.startswith(("/admin/", "/accounts/")) and "sealed" not in address:
            response = client.get(address)
            assert response.status_code < 500, address
            assert not live(response), address
            shown += b"&lt;script&gt;alert(2)" in body_of(response)
    assert shown > 3


def live(response: HttpResponseBase) -> bool:
    """Say whether a page holds the planted tags as tags. JSON is not a page."""
    if "html" not in response.headers.get("Content-Type", ""):
        return False
    return bool(re.search(rb"<img src=x|<script>alert", body_of(response)))


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("<script>alert(1)</script>", "script"),
        ('<img src="https://evil.example/x.png">', "img"),
        ("![x](https://evil.example/x.png)", "img"),
        ("[x](javascript:alert(1))", "javascript"),
        ("[x](data:text/html;base64,PHNjcmlwdD4=)", "data:"),
        ('<a href="https://a.example" onclick="x()">a</a>', "onclick"),
        ('<p style="position:fixed">a</p>', "style"),
        ('<iframe src="//evil.example"></iframe>', "iframe"),
        ('<svg onload="alert(1)">', "svg"),
        ('<form action="//evil.example"><input name="x"></form>', "form"),
        ('<a href="jAvAsCrIpT&colon;alert(1)">x</a>', "colon"),
    ],
)
def test_guidelines_can_do_nothing_but_be_read(text: str, gone: str) -> None:
    assert gone not in clean_html(f"before\n\n{text}\n\nafter").lower()


def test_a_link_in_guidelines_tells_nobody_where_it_was() -> None:
    made = clean_html("[a](https://a.example/)")
    assert 'rel="noopener noreferrer"' in made
    assert 'target="_blank"' in made
