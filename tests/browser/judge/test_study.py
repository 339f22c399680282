"""A study's desk by keyboard: each answer has a few nuggets of its own. And the pages that organizers see of it."""

import json
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from evaluation.campaigns.create import add_member
from evaluation.imports.assignments import import_assignments
from evaluation.models import Assignment, Study, StudyPair, Task
from evaluation.studies import StudyOrder, create_study, hand_out_study
from evaluation.terms import JudgeKind, Origin, Role, StudyKind
from tests.browser.accessibility import axe, drawn
from tests.browser.judge.judging_desk import NUGGETS, Visit
from tests.browser.nugget_desk import signed_in
from tests.worlds.cast import make_user, write_source
from tests.worlds.judging_desk import JudgeWorld

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser")]

DIFFER = {"canary-run-1": (1, 4, 9), "canary-run-2": (4,)}
"""Nuggets, by place, of which the two say something else."""


def make_study(world: JudgeWorld, folder: Path) -> Study:
    """Load labels of an expert and of a machine, and draw all pairs on which they differ."""
    for judge, kind in (("expert", JudgeKind.HUMAN), ("robot", JudgeKind.LLM)):
        rows = [
            {
                "qid": "t1",
                "run_id": run,
                "nuggets": [
                    {
                        "text": text,
                        "assignment": "support" if kind == "human" or n not in places else "not_support",
                    }
                    for n, (text, _) in enumerate(NUGGETS)
                ],
            }
            for run, places in DIFFER.items()
        ]
        source = write_source(folder, f"{judge}.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
        import_assignments(campaign=world.campaign, sources=[source], origin=Origin.EDITED, judge=judge, kind=kind)
    return create_study(campaign=world.campaign, order=StudyOrder("study", StudyKind.ASSIGNMENT))


def hand_to_cid(world: JudgeWorld, study: Study) -> Task:
    world.people["cid"] = make_user("cid")
    add_member(campaign=world.campaign, user=world.people["cid"], role=Role.ASSESSOR)
    olga = User.objects.get(username="olga")
    [task] = hand_out_study(study=study, assessor="cid", actor=olga).tasks
    return Task.objects.select_related("assessor").get(public_id=task)


def test_the_pairs_of_a_study_by_keyboard_and_its_pages(
    world: JudgeWorld, visit: Visit, chromium: Browser, live_server: LiveServer, tmp_path: Path
) -> None:
    study = make_study(world, tmp_path)
    task = hand_to_cid(world, study)
    pairs = StudyPair.objects.filter(study=study)
    with visit(task) as cid:
        for number in (1, 2):
            cid.answer_is(number)
            answer = cid.desk("desk.answers.current")
            mine = pairs.filter(answer__public_id=answer).count()
            assert cid.page.locator("#label-rows .row:visible").count() == mine
            cid.press("w", *"3" * mine)
        cid.saved()
        assert cid.page.locator("#sweep-offer").is_hidden()
        assert axe(cid.page) == []
        cid.submit()
        assert cid.console_errors == []
    assert Assignment.objects.filter(judge__study=study, stands=True, label=0).count() == pairs.count() == 6
    assert pairs.counted().count() == 4  # and 2 decoys
    assert problems_on_pages(chromium, live_server, world, study) == []


def problems_on_pages(chromium: Browser, server: LiveServer, world: JudgeWorld, study: Study) -> list[str]:
    """What axe finds on the organizer's pages in both themes, at a desk and on a phone."""
    context, found = signed_in(chromium, server, world.client("olga")), []
    page = context.new_page()
    for name in ("", "new/", f"{study.pk}/"):
        page.goto(f"/campaigns/river/studies/{name}")
        page.evaluate("document.querySelectorAll('main details').forEach((one) => (one.open = true))")
        for width, scheme in product((1440, 390), ("light", "dark")):
            page.set_viewport_size({"width": width, "height": 844})
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            drawn(page)
            found += [
                f"{name} {width} {scheme}: {problem}" for problem in axe(page, only_contrast=scheme == "dark")
            ]
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append(f"{name} {width}: scrolls sideways")
    context.close()
    return found
