"""The judging world with labels that an expert and a machine gave outside: they differ on six of nine nuggets.

Ann and Ben have had nothing of it. Of support the two differ on two of three citations.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.test import Client

from evaluation.imports.assignments import import_assignments
from evaluation.imports.support import import_support
from evaluation.models import AnswerProvenance, NuggetVersion, Study, StudyPair, Task
from evaluation.studies import StudyOrder, create_study, hand_out_study
from evaluation.terms import JudgeKind, Origin, StudyKind, SupportCondition
from tests.assessor.desk_client import Window
from tests.worlds.judging import NUGGETS, JudgingWorld, current_task, load_machine, make_judging_world
from tests.worlds.recorded import built_once

EXPERT, MACHINE, STUDY = "canary-expert", "canary-robot", "canary-study"
WORDS = ("not_support", "partial_support", "support")
GIVEN = {
    EXPERT: {"alpha": (2, 2, 0), "beta": (1, 0, 0), "gamma": (2, 1, 0)},
    MACHINE: {"alpha": (0, 1, 0), "beta": (1, 2, 1), "gamma": (1, 1, 2)},
}
"""Labels of the three nuggets by run: differing in (alpha 0, 1), (beta 1, 2), (gamma 0, 2)."""


@built_once
def make_study_world(folder: Path) -> JudgingWorld:
    world = make_judging_world(folder)
    for judge, by_run in GIVEN.items():
        load_assignments(world, judge, JudgeKind.HUMAN if judge == EXPERT else JudgeKind.LLM, by_run)
    load_expert_support(world)
    labels = (
        ("alpha", 0, "d1", "no_support"),
        ("alpha", 1, "d2", "full_support"),
        ("gamma", 1, "d2", "no_support"),
    )
    load_machine(world, *labels, name=MACHINE)
    return world


def load_assignments(
    world: JudgingWorld, judge: str, kind: JudgeKind, by_run: Mapping[str, Sequence[int | str]], topic: str = "t1"
) -> None:
    """Load somebody's labels of the edited list, in its order; a word stands for itself."""
    rows: list[dict[str, Any]] = [
        {
            "qid": topic,
            "run_id": run,
            "nuggets": [
                {"text": text, "assignment": WORDS[label] if isinstance(label, int) else label}
                for text, label in zip(NUGGETS, labels, strict=True)
            ],
        }
        for run, labels in by_run.items()
    ]
    source = world.source(f"{judge}.{topic}.jsonl", *rows)
    import_assignments(
        campaign=world.campaign, sources=[source], origin=Origin.EDITED, judge=judge, kind=kind, nuggets="edited"
    )


def load_expert_support(world: JudgingWorld) -> None:
    rows = [
        {"run_id": run, "topic_id": "t1", "sentence": sentence, "docid": docid, "label": "full_support"}
        for run, sentence, docid in (("alpha", 0, "d1"), ("alpha", 1, "d2"), ("gamma", 1, "d2"))
    ]
    import_support(
        campaign=world.campaign,
        sources=[world.source("expert.sup.jsonl", *rows)],
        judge=EXPERT,
        kind=JudgeKind.HUMAN,
        condition=SupportCondition.SCRATCH,
    )


def make_study(
    world: JudgingWorld, kind: StudyKind = StudyKind.ASSIGNMENT, name: str = STUDY, **more: Any
) -> Study:
    """Draw a study as Olga, without decoys unless some are asked for."""
    order = StudyOrder(name, kind, **{"decoys": 0} | more)
    return create_study(campaign=world.campaign, order=order, actor=world.people["olga"])


def hand_study(world: JudgingWorld, study: Study, username: str = "ann") -> Task:
    receipt = hand_out_study(study=study, assessor=username, actor=world.people["olga"])
    return current_task(receipt.tasks[0])


def window_of(world: JudgingWorld, task: Task) -> Window:
    client = Client()
    client.force_login(task.assessor)
    return Window(client, task).open()


def drawn(study: Study) -> set[tuple[str, str]]:
    runs = dict(AnswerProvenance.objects.values_list("answer", "run__run_id"))
    texts = dict(NuggetVersion.objects.values_list("pk", "text"))
    rows = StudyPair.objects.filter(study=study).values_list("answer", "nugget_version")
    return {(runs[answer], texts[wording]) for answer, wording in rows}


def judge_drawn(window: Window, label: str = "support") -> None:
    for key in keys_of(window):
        assert window.do("label", key=key, label=label)["status"] == "applied"
    assert window.submit().status_code == 200


def keys_of(window: Window) -> list[str]:
    state = window.state()
    if "pairs" in state:
        return [pair["key"] for pair in state["pairs"] if pair["judgeable"]]
    return [f"{answer['id']}/{nugget}" for answer in state["answers"] for nugget in answer["nuggets"]]
