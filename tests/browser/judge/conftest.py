"""A campaign with judging tasks behind the live server, and browsers of Ann and Ben."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext
from pytest_django.live_server_helper import LiveServer

from evaluation.models import Task
from tests.browser.judge.judging_desk import NUGGETS, JudgingDesk, Visit, judge_at
from tests.browser.nugget_desk import signed_in
from tests.worlds.judging_desk import JudgeWorld, make_judge_world

ANSWERS = 6


@pytest.fixture
def world(live_server: LiveServer, tmp_path: Path) -> JudgeWorld:
    return make_judge_world(tmp_path, runs=ANSWERS, nuggets=NUGGETS)


@pytest.fixture
def visit(world: JudgeWorld, chromium: Browser, live_server: LiveServer) -> Iterator[Visit]:
    """Opens a task in a browser of its own: `with visit(task) as judge`."""
    made: list[BrowserContext] = []

    def open_in_browser(task: Task, **options: Any) -> AbstractContextManager[JudgingDesk]:
        made.append(signed_in(chromium, live_server, world.client(task.assessor.username), **options))
        return judge_at(made[-1], world, task)

    yield open_in_browser
    for context in made:
        context.close()
