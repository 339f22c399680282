"""At the judging desks: whoever judges hears of no run, no machine and nobody else, wherever they go."""

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.db import transaction
from django.db.models import Model
from django.http.response import HttpResponseBase
from django.utils import timezone
from hypothesis import HealthCheck, example, given, settings

from assessor.models import Operation
from assessor.rules.op_schemas import LABEL_PAYLOADS
from evaluation.battles import BattleOrder, draw_battles
from evaluation.imports.assignments import import_assignments
from evaluation.imports.topics import import_qrels
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Assignment,
    Battle,
    BattleSet,
    Citation,
    Event,
    Judge,
    ListedNugget,
    NuggetList,
    NuggetSet,
    Qrel,
    QrelSource,
    Remark,
    Run,
    Segment,
    Study,
    SupportJudgment,
    Task,
    Topic,
    Verdict,
)
from evaluation.stages import ASSIGN, BATTLE, GRADE
from evaluation.studies import StudyOrder, create_study, hand_out_study
from evaluation.terms import BattleShow, JudgeKind, Origin, StudyKind
from reports.random_checks.drawing import RandomCheckOrder, create_random_check
from tests.assessor.desk_client import Window
from tests.crawl.addresses import addresses
from tests.crawl.canaries import GRADE as SUNG_GRADE
from tests.crawl.canaries import Canaries, body_of
from tests.crawl.desk_requests import Known
from tests.crawl.walking import DESK, STATES, Walk
from tests.worlds.cast import write_source
from tests.worlds.judging_desk import (
    MACHINE,
    NUGGETS,
    JudgeWorld,
    make_judge_world,
    make_judging_task,
)
from tests.worlds.random_campaigns import DRAWN, LABEL_LISTS, SILENT, Drawn, make_random_world, say

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("crawl")]

SECRET: tuple[type[Model], ...] = (
    Run,
    AnswerProvenance,
    Assignment,
    SupportJudgment,
    NuggetSet,
    ListedNugget,
    QrelSource,
    BattleSet,
    Verdict,
)
SECRET_OF: dict[type[Model], tuple[str, ...]] = {Citation: ("raw",), NuggetList: ("query", "extra")}
"""Tables of which a judging desk shows some columns: those that sing all the same."""


@pytest.fixture
def judging(db: None, tmp_path: Path) -> JudgeWorld:
    """Three runs. Ben assigns the same nuggets as Ann, and a machine has judged everything."""
    world = make_judge_world(tmp_path, runs=3)
    judge_with_machine(world, tmp_path, 3)
    make_judging_task(world.campaign, world.people["ben"], ASSIGN)
    grade_by_others(world, tmp_path)
    give_study(world, tmp_path)
    give_random_check(world)
    compare_by_others(world)
    return world


def judge_with_machine(world: JudgeWorld, folder: Path, runs: int) -> None:
    load_labels(world, folder, runs, MACHINE, JudgeKind.LLM, "partial_support")


def grade_by_others(world: JudgeWorld, folder: Path) -> None:
    """Let Ann grade passages that a source has graded, and Ben the same ones."""
    docids = Segment.objects.filter(has_text=True).values_list("docid", flat=True)
    lines = "".join(f"t1 0 {docid} {number % 4}\n" for number, docid in enumerate(docids))
    source = write_source(folder, "grades.txt", lines)
    import_qrels(campaign=world.campaign, source=source, name="canary-grades")
    for name in ("ann", "ben"):
        make_judging_task(world.campaign, world.people[name], GRADE)


def compare_by_others(world: JudgeWorld) -> None:
    """Let Ann compare answers, and Ben some of the same with the sides changed; a machine could not say."""
    draw_battles(
        campaign=world.campaign, order=BattleOrder("canary-battles", seed="canary-seed", show=BattleShow.PASSAGES)
    )
    for name in ("ann", "ben"):
        make_judging_task(world.campaign, world.people[name], BATTLE)
    machine = Judge.objects.filter(kind=JudgeKind.LLM)[0]
    for battle in Battle.objects.all():
        Verdict.objects.create(
            battle=battle, left_id=battle.left_id, judge=machine, label=9, raw="unsure", given_at=timezone.now()
        )


def load_labels(world: JudgeWorld, folder: Path, runs: int, judge: str, kind: JudgeKind, label: str) -> None:
    lines = "".join(
        f'{{"qid": "t1", "run_id": "canary-run-{n}", "nuggets": [{nuggets}]}}\n'
        for n in range(1, runs + 1)
        for nuggets in [", ".join(f'{{"text": "{text}", "assignment": "{label}"}}' for text, _ in NUGGETS)]
    )
    import_assignments(
        campaign=world.campaign,
        sources=[write_source(folder, "a.jsonl", lines)],
        origin=Origin.EDITED,
        judge=judge,
        kind=kind,
    )


def give_study(world: JudgeWorld, folder: Path) -> None:
    """Let Ben have a study of what an expert and the machine differ on; that he is not independent matters nothing."""
    load_labels(world, folder, 3, "canary-expert", JudgeKind.HUMAN, "support")
    order = StudyOrder("canary-study", StudyKind.ASSIGNMENT, per_topic=3)
    study = create_study(campaign=world.campaign, order=order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evaluation.tasks.hand_out.check_assessor", lambda *_: None)
        hand_out_study(study=study, assessor="ben", actor=world.people["olga"])


def give_random_check(world: JudgeWorld) -> None:
    order = RandomCheckOrder(
        "canary-check", StudyKind.ASSIGNMENT, judge=MACHINE, per_run=2, least=1, seed="canary-seed"
    )
    study = create_random_check(campaign=world.campaign, order=order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evaluation.tasks.hand_out.check_assessor", lambda *_: None)
        hand_out_study(study=study, assessor="ann", actor=world.people["olga"])


def windows(world: JudgeWorld) -> Iterator[Window]:
    for task in Task.objects.select_related("assessor").order_by("pk"):
        yield Window(world.client(task.assessor.username), task).open()


def at_work(world: JudgeWorld, canaries: Canaries) -> None:
    """Everybody gives one label with a reason, searches, and flags something, in words of their own."""
    for window in windows(world):
        name = window.task.assessor.username
        own = [canaries.canary(f"{name}'s {what}", of=name) for what in ("reason", "search", "remark")]
        state = window.state()
        key = (
            state["pairs"][0]["key"]
            if "pairs" in state
            else f"{state['answers'][0]['id']}/{state['answers'][0].get('nuggets', [state['nuggets'][0]['key']])[0]}"
        )
        assert window.do("label", key=key, label="cant_judge", reason=own[0])["status"] == "applied"
        window.do("search", words=own[1])
        window.post(
            "remarks/", {"kind": "flag", "about": "N1", "text": own[2], "public_id": f"remark-{window.task.pk}"}
        )


def plant(world: JudgeWorld, canaries: Canaries) -> None:
    """Let everything sing that says whose an answer is, what a machine said, or who the others are."""
    for model in SECRET:
        canaries.plant(model._default_manager.all())
    for model, columns in SECRET_OF.items():
        canaries.plant(model._default_manager.all(), *columns)
    Qrel.objects.update(grade=SUNG_GRADE)
    # Ann sees what the machine quotes for the labels that she is shown.
    quotes = canaries.plant(SupportJudgment.objects.all(), "quote")
    canaries.allow("ann", quotes, at=f"/desk/{world.shown.public_id}/")
    canaries.plant(Judge.objects.all(), "name", "prompt_versions")
    canaries.plant(Study.objects.all(), "name", "design")
    canaries.plant(Judge.objects.filter(kind=JudgeKind.LLM), "model", "base_url")
    canaries.plant(Segment.objects.all(), "docid", "document", "url")
    canaries.plant(Topic.objects.all(), "extra")
    Event.objects.create(campaign=world.campaign, kind="note", payload={"said": canaries.canary("Event.payload")})
    for name in ("ann", "ben"):
        who = world.people[name].__class__.objects.filter(username=name)
        canaries.allow(name, canaries.plant(who, "first_name", "last_name", "email", kind=f"{name}'s name"))


@pytest.fixture
def planted(judging: JudgeWorld) -> tuple[JudgeWorld, Canaries]:
    canaries = Canaries()
    at_work(judging, canaries)
    plant(judging, canaries)
    return judging, canaries


def candidates(world: JudgeWorld) -> dict[str, list[str]]:
    """Ids for addresses: own and others' tasks, answers, topics, and some that are nobody's."""
    answers = list(Answer.objects.values_list("public_id", flat=True))
    tasks = list(Task.objects.values_list("public_id", flat=True))
    topics = list(Topic.objects.values_list("public_id", flat=True))
    return {
        "slug": [world.campaign.slug],
        "public_id": [*tasks, *topics, *answers[:1], "nothing"],
        "answer_id": [*answers, *Battle.objects.values_list("public_id", flat=True), "nothing"],
        "pk": [str(Run.objects.values_list("pk", flat=True)[0]), "999999"],
        "object_id": ["1"],
        "app_label": ["evaluation"],
        "url": ["nothing"],
    }


@pytest.mark.slow
@pytest.mark.parametrize("person", ["ann", "ben"])
def test_nobody_who_judges_hears_what_they_may_not(person: str, planted: tuple[JudgeWorld, Canaries]) -> None:
    world, canaries = planted
    others = Remark.objects.exclude(task__assessor__username=person).values_list("public_id", flat=True)
    walk = Walk(canaries, person).everywhere(candidates(world), Known(remarks=tuple(others[:1])), under=DESK)
    for address in addresses(candidates(world)):
        if not address.startswith(DESK):  # what is sent there, test_blindness sends as an assessor
            walk.go(address)
            walk.sign_in()
    assert walk.problems == []
    done = {name for name, answers in walk.answers.items() if answers & {200}}
    assert {"assessor:answer", "assessor:ops", "assessor:review", "assessor:history", "assessor:state"} <= done
    kinds = Operation.objects.filter(task__assessor__username=person).values_list("kind", flat=True)
    assert {"label", "open", "search"} <= set(kinds) <= LABEL_PAYLOADS.keys()


@pytest.mark.slow
def test_no_state_of_a_judging_task_tells_more(planted: tuple[JudgeWorld, Canaries]) -> None:
    _world, canaries = planted
    for fields in STATES:
        Task.objects.update(**fields)
        walk = Walk(canaries, "ann")
        for task in Task.objects.values_list("public_id", flat=True):
            for name in ("", "state/", "review/", "history/"):
                walk.read(f"{DESK}{task}/{name}")
        assert walk.problems == []


@pytest.mark.slow
def test_the_same_walk_hears_the_canaries_where_they_may_be_heard(planted: tuple[JudgeWorld, Canaries]) -> None:
    """An organizer reads them, so they would be heard."""
    world, canaries = planted
    walk = Walk(canaries, "olga")
    for address in addresses(candidates(world)):
        if address.startswith("/campaigns/"):
            walk.go(address)
    problems = " ".join(walk.problems)
    for kind in ("Run.run_id", "Run.group", "Judge.name", "NuggetSet.name", "Study.name"):
        assert f"tells {kind}" in problems


CHANGING = re.compile(
    rb'name="csrfmiddlewaretoken" value="[^"]+|data-csrf="[^"]+|"server_time": "[^"]+|"age_s": \d+'
)
"""What differs between two answers to the same question: the token and the clock."""

CLOCKED = {"Expires", "Date", "X-Request-ID"}


def stable_bytes(response: HttpResponseBase) -> bytes:
    """Return status, headers and body without what differs anyway."""
    headers = "".join(f"{name}: {value}\n" for name, value in response.items() if name not in CLOCKED)
    return f"{response.status_code}\n{headers}\n".encode() + CHANGING.sub(b"", body_of(response))


BLIND_NAMES = ("", "state/", "review/", "review/?part", "history/", "guidelines/")


def blind_answers(world: JudgeWorld) -> list[bytes]:
    answered = []
    for task in (world.assign, world.scratch):
        client = world.client(task.assessor.username)
        answers = Answer.objects.order_by("pk").values_list("public_id", flat=True)
        names = [*BLIND_NAMES, *(f"answers/{answer}/" for answer in answers)]
        addresses = [DESK, *(f"{DESK}{task.public_id}/{name}" for name in names)]
        answered += [stable_bytes(client.get(address)) for address in addresses]
    return answered


@example(drawn=SILENT, machine_labels=[0, 1, 2])
@given(drawn=DRAWN, machine_labels=LABEL_LISTS)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_blind_answer_is_byte_equal_whatever_machines_say(
    drawn: Drawn, machine_labels: list[int | None]
) -> None:
    """Of any campaign: labels that are others, failed or not there change nothing that a blind stage answers."""
    with transaction.atomic(), TemporaryDirectory() as folder:
        world = make_random_world(drawn, Path(folder))
        for task in (world.assign, world.scratch):
            Window(world.client(task.assessor.username), task).open()
        before = blind_answers(world)
        say(world.campaign, machine_labels)
        assert blind_answers(world) == before
        transaction.set_rollback(True)


def test_the_comparison_sees_a_machines_label_where_it_is_shown(judging: JudgeWorld) -> None:
    """The same change does show at the desk of the condition that shows labels: so the comparison can fail."""
    window = Window(judging.client("ann"), judging.shown).open()
    before = window.state()["pairs"]
    SupportJudgment.objects.filter(judge__kind=JudgeKind.LLM).update(label=9)
    assert window.state()["pairs"] != before
