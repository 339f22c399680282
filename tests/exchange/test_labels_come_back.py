"""What was taken out under pseudonyms and is loaded again is by the same people: nothing is added, nobody is new."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import User
from evaluation.judges import judge_of
from evaluation.models import Assignment, Campaign, Judge, NuggetList, NuggetSet, SupportJudgment
from evaluation.stages import ASSIGN, SUPPORT_SCRATCH
from evaluation.terms import JudgeKind, Origin, SupportCondition
from exchange.exports.lines import lines_of
from exchange.imports.kinds import ImportOptions
from exchange.imports.service import begin
from tests.api.writing import program_of
from tests.worlds.imported import load, write
from tests.worlds.judging import JudgingWorld, finish, make_judging_world

pytestmark = pytest.mark.django_db
Way = Callable[[JudgingWorld, str, Path, dict[str, Any]], str]


def by_command(world: JudgingWorld, kind: str, file: Path, options: dict[str, Any]) -> str:
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return load(f"import_{kind}", *words, file).err


def over_the_api(world: JudgingWorld, kind: str, file: Path, options: dict[str, Any]) -> str:
    query = "&".join(f"{name}={value}" for name, value in options.items())
    answer = program_of(world.people["olga"]).load(f"/campaigns/river/imports/{kind}/?{query}", file.read_bytes())
    assert answer.status_code == 200, answer.content
    return str(answer.json()["message"])


def in_the_browser(world: JudgingWorld, kind: str, file: Path, options: dict[str, Any]) -> str:
    sent = [SimpleUploadedFile(file.name, file.read_bytes())]
    chosen = ImportOptions(**options)
    attempt = begin(campaign=world.campaign, kind=kind, options=chosen, sent=sent, actor=world.people["olga"])
    assert not attempt.problems, attempt.problems
    return str(attempt.outcome["message"])


WAYS = (by_command, over_the_api, in_the_browser)


@pytest.fixture
def world(tmp_path: Path) -> JudgingWorld:
    """Ann has judged everything at desks; Bob, who has no account, in files."""
    world = make_judging_world(tmp_path)
    User.objects.filter(username="ann").update(first_name="Antonia", last_name="Archer")
    world.people["ann"].refresh_from_db()
    Judge.objects.filter(name="by edited").update(name="Bob Baker")
    NuggetSet.objects.filter(name="edited").update(name="edited-Bob Baker")
    for stage in (ASSIGN, SUPPORT_SCRATCH):
        finish(world.hand(stage, "ann"))
    return world


def export(campaign: Campaign, what: str, **options: str) -> str:
    # As another request has it: what is counted is kept for each revision of a campaign.
    campaign = Campaign.objects.get(pk=campaign.pk)
    return "\n".join(lines_of(what, campaign, options | {"pseudonyms": True})) + "\n"


def rows_of(campaign: Campaign) -> list[Any]:
    models = (Judge, NuggetSet, NuggetList, Assignment, SupportJudgment)
    return [list(model._default_manager.order_by("pk").values_list()) for model in models]


@pytest.mark.parametrize("way", WAYS)
def test_labels_that_somebody_gave_at_a_desk(world: JudgingWorld, tmp_path: Path, way: Way) -> None:
    before = rows_of(world.campaign)
    for kind, condition, more in (
        ("assignments", "E/M", {"origin": Origin.EDITED}),
        ("support", "scratch", {"condition": SupportCondition.SCRATCH}),
    ):
        text = export(world.campaign, kind, condition=condition)
        assert "Antonia" not in text
        [judge] = set(re.findall(r'"judge": ?"(person-[0-9a-f]{8})"', text))
        options = {"judge": judge, "by": JudgeKind.HUMAN, **more}
        assert way(world, kind, write(tmp_path, "out.jsonl", text), options).startswith("Nothing changed")
    assert rows_of(world.campaign) == before
    assert judge_of(world.people["ann"]).name == "Antonia Archer"


@pytest.mark.parametrize("way", WAYS)
def test_lists_and_labels_by_somebody_without_an_account(world: JudgingWorld, tmp_path: Path, way: Way) -> None:
    own = export(world.campaign, "assignments", condition="E/M")
    human = {"by": JudgeKind.HUMAN}
    by_command(
        world,
        "assignments",
        write(tmp_path, "own.jsonl", own),
        {"origin": "edited", "judge": "Bob Baker", **human},
    )
    before = rows_of(world.campaign)
    lists = export(world.campaign, "nuggets", nuggets="edited-Bob Baker")
    labels = export(world.campaign, "assignments", condition="E/M", judge="Bob Baker")
    assert "Bob" not in lists + labels
    [judge] = set(re.findall(r'"judge": ?"(person-[0-9a-f]{8})"', lists + labels))
    [called] = re.findall(r'"set": ?"([^"]+)"', lists)[:1]
    file = write(tmp_path, "lists.jsonl", lists)
    for more in ({}, {"set": called}):
        options = {"origin": Origin.EDITED, "judge": judge, **human, **more}
        assert way(world, "nuggets", file, options).startswith("Nothing changed")
    options = {"origin": Origin.EDITED, "judge": judge, "nuggets": called, **human}
    assert way(world, "assignments", write(tmp_path, "labels.jsonl", labels), options).startswith(
        "Nothing changed"
    )
    assert rows_of(world.campaign) == before
