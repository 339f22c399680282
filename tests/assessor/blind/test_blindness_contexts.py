"""What the templates of the assessor's room are given: blind dataclasses and plain values, and never a row."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from django import forms
from django.template import Context
from django.test import Client

from accounts.models import User
from evaluation.models import Task
from tests.assessor.desk_client import Window
from tests.crawl.desk_requests import READ_ONLY
from tests.worlds.desk import DeskWorld
from tests.worlds.practice import ALL, load_practice

PLAIN = (str, int, float, bool, date, datetime, Enum, type(None), forms.BaseForm, forms.BoundField)
DJANGO_S_OWN = {
    "request",
    "user",
    "perms",
    "messages",
    "csrf_token",
    "DEFAULT_MESSAGE_LEVELS",
    "view",
    "block",
    "forloop",
}
"""Put in by the context processors and by tags; `user` is whoever is signed in."""

HOMES = ("assessor.blind.", "evaluation.rules.", "evaluation.labels", "assessor.", "accounts.desk_settings")
PATHS = {"task": "", "state": "state/"}


def addresses(world: DeskWorld) -> list[str]:
    of_tasks = [
        f"/desk/{task.public_id}/{PATHS.get(name, f'{name}/')}{query}"
        for task in (world.post_edit, world.manual)
        for name in sorted(READ_ONLY - {"state", "answer", "practice_state", "practice_answer"})
        for query in ("", "?part")
    ]
    return ["/desk/", "/desk/keys/", *of_tasks]


def given(client: Client, address: str) -> Iterator[tuple[str, Any]]:
    response = client.get(address)
    assert response.status_code == 200, address
    assert any((template.name or "").startswith("assessor/") for template in response.templates), address
    for context in contexts_of(response.context):
        for layer in context.dicts:
            yield from ((name, value) for name, value in layer.items() if name not in DJANGO_S_OWN)


def contexts_of(rendered: Any) -> list[Context]:
    """Django's test client gives a list of contexts, or the one there is."""
    return [rendered] if isinstance(rendered, Context) else list(rendered)


def unfit(value: Any, where: str) -> Iterator[str]:
    parts: list[tuple[str, Any]] = []
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [(f".{field.name}", getattr(value, field.name)) for field in dataclasses.fields(value)]
        fits = type(value).__module__.startswith(HOMES) and value.__dataclass_params__.frozen  # type: ignore[attr-defined]
    elif isinstance(value, Mapping | list | tuple):
        named = value.items() if isinstance(value, Mapping) else enumerate(value)
        parts, fits = [(f"[{name}]", part) for name, part in named], True
    else:
        fits = isinstance(value, PLAIN)
    if not fits:
        yield f"{where}: {type(value).__module__}.{type(value).__name__}"
    for name, part in parts:
        yield from unfit(part, where + name)


def found(client: Client, pages: Iterable[str]) -> set[str]:
    return {where for page in pages for name, value in given(client, page) for where in unfit(value, name)}


@pytest.fixture
def busy(world: DeskWorld, tmp_path: Path) -> DeskWorld:
    """Ann has done a little of each, submitted the first, and been answered; then practice was set."""
    for task in (world.post_edit, world.manual):
        window = Window(world.client(), task).open()
        window.do("add", key="own", text="my own words", importance=1, evidence=[], after=None)
        window.finish()
    assert Window(world.client(), world.manual, window.window).submit().status_code == 200
    load_practice(world.campaign, tmp_path, ALL)
    return world


def test_templates_get_blind_dataclasses_only(busy: DeskWorld) -> None:
    assert found(busy.client(), addresses(busy)) == set()


def test_so_does_the_page_before_a_task_is_opened(world: DeskWorld) -> None:
    pages = [f"/desk/{task.public_id}/" for task in (world.post_edit, world.manual)]
    assert found(world.client(), pages) == set()


def test_the_only_row_that_templates_reach_is_whoever_is_signed_in(busy: DeskWorld) -> None:
    response = busy.client().get(f"/desk/{busy.post_edit.public_id}/")
    users = {context.get("user") for context in contexts_of(response.context)}
    assert {user for user in users if isinstance(user, User)} == {busy.people["ann"]}


def test_a_row_among_the_values_would_be_found(busy: DeskWorld) -> None:
    task = Task.objects.all()[0]
    for value in (task, [task], {"task": task}, (Task.objects.all(),), iter([task])):
        assert list(unfit(value, "it"))
