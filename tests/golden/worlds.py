"""The campaigns that golden documents are of: the demo, and one whose topics two assessors share."""

import json
from collections.abc import Callable
from pathlib import Path

from assessor.desk.context import open_desk
from assessor.desk.submit import submit
from evaluation.campaigns.create import add_member, set_hourly_rate
from evaluation.formats.source import Source
from evaluation.imports.assignments import import_assignments
from evaluation.labels import AssignmentLabel
from evaluation.models import (
    AnswerProvenance,
    Campaign,
    ListedNugget,
    NuggetVersion,
    Task,
    TaskAnswer,
    TopicTag,
    fields,
)
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT, SUPPORT_SCRATCH
from evaluation.studies import StudyOrder, create_study, hand_out_study
from evaluation.terms import JudgeKind, Origin, Role, StudyKind
from exchange.demo_campaign import SLUG, load_demo
from loadtest.demo.campaign import HOURLY_RATE
from reports.confusion.paired_labels import ItemKind
from reports.confusion.verdicts import adjudicate, find_pair
from reports.judges.imports import import_scores
from reports.random_checks.drawing import RandomCheckOrder, create_random_check
from reports.random_checks.frame import drawn_rows
from reports.random_checks.importing import import_random_check
from tests.worlds.battles import judge_battles
from tests.worlds.cast import make_user, write_source
from tests.worlds.judging import (
    BENDS,
    MACHINE,
    SAND,
    JudgingWorld,
    current_task,
    give,
    load_machine,
    load_nuggets,
)
from tests.worlds.shared_topics import make_list, make_shared_world

PUBLISHED = (
    "run_id,group,task,vital_strict,all\nalpha,hill,RAG,0.5,0.75\nbeta,hill,RAG,0.25,0.5\ngamma,,AG,0.125,\n"
)
STUDY = "where they differ"
RANDOM_CHECK = "by chance"


def make_demo(_folder: Path) -> Campaign:
    """Load the demo, as `manage.py load_demo` does, and have a random check of its LLM's labels judged."""
    load_demo()
    fields._random_bytes(4 * 13_062)  # so many went into the demo's file, which is made of the same seed
    campaign = Campaign.objects.get(slug=SLUG)
    _check_by_chance(campaign)
    judge_battles(campaign, "Ben Brook", "Cleo Creek", NAMED["demo"][2])
    return Campaign.objects.get(slug=SLUG)


def make_shared(folder: Path) -> Campaign:
    """Load the campaign with shared topics, and have all of it judged: by people, a machine and for a study.

    One list holds a nugget that an answer must not contain, and one sentence cites first what is not there.
    """
    world = make_shared_world(folder)
    world.run("epsilon", (BENDS, [8, 0]), (SAND, [1]), topic="t2")
    for topic in ("t1", "t2"):
        load_nuggets(world, "auto", Origin.AUTO, topic)
    make_list(world, "ben", "t1", "something else", second=True)
    _label_as_machine(world)
    _label_as_people(world)
    rubric = ListedNugget.objects.filter(nugget_list__nugget_set__name="auto")
    rubric.update(weight=2.5)
    rubric.filter(position=2).update(weight=-1, importance=0)
    TopicTag.objects.create(topic=world.topic("t1"), name="easy")
    published = write_source(folder, "published.csv", PUBLISHED)
    import_scores(campaign=world.campaign, source=published, name="published")
    _study(world)
    _adjudicate(world)
    set_hourly_rate(campaign=world.campaign, rate=HOURLY_RATE, actor=world.people["olga"])
    judge_battles(world.campaign, "ann", "ben", MACHINE)
    return Campaign.objects.get(pk=world.campaign.pk)


WORLDS: dict[str, Callable[[Path], Campaign]] = {"demo": make_demo, "shared": make_shared}
SLUGS = {"demo": SLUG, "shared": "river"}
NAMED = {
    "demo": ("Ben Brook", "edited-Ben Brook", "word-overlap (scripted)", "draft"),
    "shared": ("ben", "edited-ann", "robot", "edited"),
}
"""Of each campaign a person, a list that the person labelled, a machine and the set of drafts."""


def _label_as_machine(world: JudgingWorld) -> None:
    for origin, name in ((Origin.AUTO, "auto"), (Origin.EDITED, "edited-ann"), (Origin.EDITED, "edited-ben")):
        listed = ListedNugget.objects.filter(nugget_list__nugget_set__name=name).order_by("pk")
        rows = []
        for answer in AnswerProvenance.objects.filter(answer__words__gt=0).order_by("pk"):
            texts = listed.filter(nugget_list__topic=answer.topic).values_list("nugget_version__text", flat=True)
            rows.append(
                {
                    "qid": answer.topic.topic_id,
                    "run_id": answer.run.run_id,
                    "nuggets": [
                        {"text": text, "assignment": _label(answer.pk + place)} for place, text in enumerate(texts)
                    ],
                }
            )
        import_assignments(
            campaign=world.campaign,
            sources=[world.source(f"{name}.labels.jsonl", *[row for row in rows if row["nuggets"]])],
            origin=origin,
            judge=MACHINE,
            kind=JudgeKind.LLM,
            nuggets=name,
        )
    labelled = (
        ("alpha", 0, "d1", "full_support"),
        ("alpha", 1, "d2", "no_support"),
        ("gamma", 1, "d2", "no_support"),
    )
    load_machine(world, *labelled)
    load_machine(world, ("gamma", 1, "d2", "partial_support"), name="another robot")


def _label(number: int) -> str:
    return AssignmentLabel(number % 3).name.lower()


def _label_as_people(world: JudgingWorld) -> None:
    """Let each assign and judge the support of an own topic, and Ben the other's as a second opinion."""
    for username, topic, nuggets in (
        ("ann", "t1", "edited-ann"),
        ("ben", "t2", "edited-ben"),
        ("ben", "t1", "edited-ann"),
    ):
        second_opinion = username == "ben" and topic == "t1"
        _finish(
            world.hand(ASSIGN, username, topic, nuggets=nuggets, again=second_opinion),
            first=2 * second_opinion,
        )
        _finish(world.hand(SUPPORT_SCRATCH, username, topic, again=second_opinion), first=2 * second_opinion)
    add_member(campaign=world.campaign, user=world.people["sam"], role=Role.ASSESSOR)
    _finish(world.hand(SUPPORT_POST_EDIT, "sam", "t1", judge=MACHINE), first=1)


def _finish(task: Task, first: int = 0) -> None:
    open_desk(task=task.public_id, user=task.assessor)
    answers = TaskAnswer.objects.filter(task=task, same_as=None).order_by("position")
    for place, answer in enumerate(answers.values_list("answer", flat=True)):
        give(task, (first + place) % 3, answers=[answer])
    submit(task=task.public_id, user=task.assessor, window="w", seq=0)


def _study(world: JudgingWorld) -> None:
    add_member(campaign=world.campaign, user=make_user("dora"), role=Role.ASSESSOR)
    order = StudyOrder(STUDY, StudyKind.ASSIGNMENT, person="ann", judge=MACHINE, nuggets="edited-ann", seed=7)
    study = create_study(campaign=world.campaign, order=order, actor=world.people["olga"])
    receipt = hand_out_study(study=study, assessor="dora", actor=world.people["olga"])
    _finish(current_task(receipt.tasks[0]), first=1)


def _check_by_chance(campaign: Campaign) -> None:
    machine = NAMED["demo"][2]
    order = RandomCheckOrder(
        RANDOM_CHECK, StudyKind.ASSIGNMENT, judge=machine, nuggets="edited", per_run=6, least=2, seed="river"
    )
    study = create_random_check(campaign=campaign, order=order)
    words = ("support", "not_support", "partial_support", "support", "not_support", "cant_judge")
    rows = [
        {name: row[name] for name in ("run_id", "topic_id", "nugget", "occurrence")} | {"label": words[place % 6]}
        for place, row in enumerate(drawn_rows(study))
    ]
    lines = tuple((place, json.dumps(row)) for place, row in enumerate(rows, 1))
    import_random_check(study=study, source=Source("labels.jsonl", "", lines), judge="Cleo Creek")


def _adjudicate(world: JudgingWorld) -> None:
    """Let Olga decide of two pairs who is right."""
    answers = AnswerProvenance.objects.filter(run__run_id__in=("alpha", "gamma"), topic=world.topic("t1"))
    wording = NuggetVersion.objects.get(text="bends grow", nugget__nugget_set__name="edited-ann")
    for answer, category in zip(answers.order_by("run__run_id"), ("overlooked", ""), strict=True):
        pair = find_pair(answers, world.campaign, ItemKind.NUGGETS, (answer.answer_id, wording.pk))
        adjudicate(pair, verdict=2, category=category, note="As the text says.", actor=world.people["olga"])
