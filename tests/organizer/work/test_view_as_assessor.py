"""View as assessor: the desk as they see it, and nothing of the looking is work."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.urls import reverse

from evaluation.models import Membership, Task
from evaluation.tasks.changes import Change, TaskChange, change_tasks
from evaluation.terms import Role
from tests.assessor.desk_client import Window
from tests.crawl.desk_requests import bodies, encoded
from tests.crawl.walking import JSON, known_to
from tests.security.conftest import Audit
from tests.worlds.desk import DeskWorld, make_desk_world
from tests.worlds.judging_desk import MACHINE_LABELS, JudgeWorld, make_judge_world

ROOMS = ("evaluation", "jobs", "llmjobs", "reports", "exchange", "accounts")
WRITES = ("ops", "practice_ops", "beat", "hold", "gap", "submit", "remark")


@pytest.fixture
def desk(db: None, tmp_path: Path) -> DeskWorld:
    """Ann's tasks: one to post-edit, one by hand."""
    return make_desk_world(tmp_path)


@pytest.fixture
def judged(db: None, tmp_path: Path) -> JudgeWorld:
    return make_judge_world(tmp_path)


@pytest.fixture
def log(tmp_path: Path, settings: object) -> Audit:
    settings.AUDIT_LOG = str(tmp_path / "audit.jsonl")  # type: ignore[attr-defined]
    return Audit(tmp_path / "audit.jsonl")


def address(task: Task) -> str:
    return reverse("organizer:view_as", args=["river", task.public_id])


def everything() -> dict[str, list[object]]:
    """Return every row of every table, so that nothing can be written unnoticed."""
    return {
        model._meta.label: list(model._default_manager.order_by("pk").values())
        for room in ROOMS
        for model in apps.get_app_config(room).get_models()
    }


def test_a_list_in_the_making_is_shown_and_nothing_is_written(desk: DeskWorld, log: Audit) -> None:
    window = Window(desk.client(), desk.post_edit).open()
    rows = window.state()["rows"]
    window.do("decide", key=rows[0]["key"], decision="kept")
    window.do("edit", key=rows[1]["key"], text="in Ann's words")
    window.do("decide", key=rows[2]["key"], decision="rejected")
    olga, before = desk.client("olga"), everything()
    page = " ".join(olga.get(address(desk.post_edit)).content.decode().split())
    assert everything() == before
    assert "in Ann&#x27;s words" in page
    assert "Rejected (1)" in page
    assert "undecided" in page
    assert desk.segments()[0].text.split(".")[0] in page
    assert "as its assessor" in page
    looked = log.lines("view.as_assessor")[0]
    assert (looked["actor"], looked["about"]) == (
        f"user:{desk.people['olga'].pk}",
        f"user:{desk.people['ann'].pk}",
    )


def test_the_page_has_nothing_that_sends(desk: DeskWorld) -> None:
    Window(desk.client(), desk.post_edit).open()
    page = desk.client("olga").get(address(desk.post_edit)).content.decode()
    main = page[page.index("<main") : page.index("</main>")]
    assert "<form" not in main
    assert "<button" not in main
    assert "js/nuggets/main.js" not in page
    assert f"/desk/{desk.post_edit.public_id}" not in page


@pytest.mark.parametrize("name", WRITES)
def test_every_write_of_the_desk_refuses_the_organizer(desk: DeskWorld, name: str) -> None:
    Window(desk.client(), desk.post_edit).open()
    olga, before = desk.client("olga"), everything()
    olga.get(address(desk.post_edit))
    for body in bodies(name, desk.post_edit.public_id, known_to(desk, "ann")):
        where = reverse(f"assessor:{name}", args=[desk.post_edit.public_id])
        assert olga.post(where, encoded(body), content_type=JSON).status_code == 404
    for form in ("start", "restore"):
        where = reverse(f"assessor:{form}", args=[desk.post_edit.public_id])
        assert olga.post(where, {"key": "d1", "seq": "0"}).status_code == 404
    assert olga.post(address(desk.post_edit)).status_code == 405
    assert everything() == before


def test_a_list_by_hand_shows_nothing_machine_made(desk: DeskWorld) -> None:
    Window(desk.client(), desk.manual).open().do("add", key="n1", text="Otters eat crabs", importance=2)
    page = desk.client("olga").get(address(desk.manual)).content.decode()
    assert "Otters eat crabs" in page
    assert "undecided" not in page


def test_an_unopened_task_shows_its_first_page_and_stays_unopened(desk: DeskWorld) -> None:
    page = desk.client("olga").get(address(desk.post_edit)).content.decode()
    desk.post_edit.refresh_from_db()
    assert "It was not opened yet" in page
    assert desk.post_edit.opened_at is None


def test_every_judging_desk_is_shown_as_its_condition_has_it(judged: JudgeWorld) -> None:
    olga = judged.client("olga")
    for task, name in _with_their_judge(judged):
        Window(judged.client(name), task).open()
        before = everything()
        page = olga.get(address(task)).content.decode()
        assert everything() == before
        assert "▢ not judged" in page
        assert "Answer 1 of 4" in page
        assert ("machine:" in page) == (task == judged.shown)
        assert "canary-run" not in page
        assert ("canary-machine" in page) is False
    assert len(MACHINE_LABELS) == 3


def test_another_answer_is_chosen_by_the_address(judged: JudgeWorld) -> None:
    Window(judged.client(), judged.assign).open()
    olga = judged.client("olga")
    view = olga.get(address(judged.assign)).context["view"]
    second = view.answers[1]["id"]
    assert "Answer 2 of 4" in olga.get(address(judged.assign), {"answer": second}).content.decode()
    assert "Answer 1 of 4" in olga.get(address(judged.assign), {"answer": "nothing"}).content.decode()


def test_an_organizer_who_judges_and_everybody_else_is_refused(desk: DeskWorld) -> None:
    where = address(desk.post_edit)
    assert [desk.client(name).get(where).status_code for name in ("rita", "audrey", "ann", "sam")] == [
        403,
        403,
        404,
        404,
    ]
    Membership.objects.create(campaign=desk.campaign, user=desk.people["ben"], role=Role.ORGANIZER)
    assert desk.client("ben").get(where).status_code == 404


def test_a_withdrawn_task_is_seen_by_nobody_as_its_assessor(desk: DeskWorld) -> None:
    order = TaskChange(Change.WITHDRAW, (desk.post_edit.public_id,), reason="no more")
    change_tasks(campaign=desk.campaign, order=order, actor=desk.people["olga"])
    assert "does not see this task" in desk.client("olga").get(address(desk.post_edit)).content.decode()


def _with_their_judge(world: JudgeWorld) -> Iterator[tuple[Task, str]]:
    yield world.assign, "ann"
    yield world.scratch, "ben"
    yield world.shown, "ann"
