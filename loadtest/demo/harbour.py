"""The demo's campaign "Harbour study", in the form of TREC RAG 2026: its texts, and its people at their desks."""

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from accounts.models import User
from evaluation.battles import BattleOrder, draw_battles
from evaluation.campaigns.create import add_member, create_campaign, read_campaign_file, set_hourly_rate
from evaluation.campaigns.people import set_languages
from evaluation.formats.source import Source
from evaluation.imports.assignments import import_assignments
from evaluation.imports.battles import import_battles
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import import_runs
from evaluation.imports.segments import import_segments
from evaluation.imports.support import import_support
from evaluation.imports.topics import import_qrels, import_topics
from evaluation.judges import add_judge
from evaluation.models import AnswerProvenance, Campaign, fields
from evaluation.stages import BATTLE
from evaluation.terms import JudgeKind, Origin, Role
from exchange.demo_campaign import HARBOUR, HARBOUR_PEOPLE, HARBOUR_SLUG
from exchange.snapshots.pack import SnapshotContents
from exchange.snapshots.service import write_campaign
from loadtest.demo import harbour_texts as texts
from loadtest.demo.desks import judge_answers, make_lists, mark_read, planned_tasks, record_times
from loadtest.demo.jobs import HARBOUR_JOB, load_job

SEED = 20260505
PANEL, RUBRIC, DRAFTS = "Harbour panel", "rubric", "draft"
LLMS = {"word-overlap (scripted)": 12, "alder-70b (scripted)": 5}
"""Each differs from what is true in one of so many cases."""
GRADERS = {"UMBRELA": 9, "sub-narratives": 4}
OTHER_VERDICT = {"satisfied": "partially_satisfied", "partially_satisfied": "not_satisfied"}
OTHER_SUPPORT = {2: 1, 1: 0, 0: 1}
SUPPORT = ("no_support", "partial_support", "full_support")


def make_harbour(folder: Path, organizer: User, rate: Any) -> None:
    # Ids of its own: those of the other campaign stay as they are whatever is done here.
    with patch.object(fields, "_random_bytes", Random(SEED).randbytes):  # noqa: S311
        file = read_campaign_file(texts.FILES / "campaign.toml")
        file.protocol.guidelines = (texts.FILES / "guidelines.md").read_text(encoding="utf-8")
        campaign, _ = create_campaign(slug=HARBOUR_SLUG, name=file.name, file=file)
        _add_people(campaign, organizer)
        _load_texts(campaign)
        _load_rubrics(campaign)
        _load_labels(campaign)
        _judge_battles(campaign)
        make_lists(campaign, organizer)
        judge_answers(campaign, organizer)
        record_times(campaign)
        mark_read(campaign)
        load_job(HARBOUR_JOB, campaign, organizer)
        set_hourly_rate(campaign=campaign, rate=rate, actor=organizer)
        write_campaign(folder / HARBOUR, campaign, SnapshotContents())


def _add_people(campaign: Campaign, organizer: User) -> None:
    add_member(campaign=campaign, user=organizer, role=Role.ORGANIZER)
    for username, (full_name, role) in HARBOUR_PEOPLE.items():
        user = User.objects.get(username=username)
        add_member(campaign=campaign, user=user, role=role)
        add_judge(name=full_name, kind=JudgeKind.HUMAN, user=user)
        set_languages(campaign=campaign, username=username, languages="en", actor=None)


def _load_texts(campaign: Campaign) -> None:
    topics = texts.topics()
    narratives = [{"narrative_id": topic.id, "narrative": topic.narrative} for topic in topics]
    import_topics(campaign=campaign, source=_source("topics", narratives))
    for run_id in texts.RUNS:
        import_runs(campaign=campaign, sources=[_source(run_id, texts.run_lines(run_id))])
    documents = [document for topic in topics for document in texts.documents(topic)]
    import_segments(campaign=campaign, sources=[_source("documents", documents)])
    for name, off in GRADERS.items():
        lines = tuple(enumerate(texts.graded(off, name), start=1))
        import_qrels(campaign=campaign, source=Source("qrels.txt", "", lines), name=name)


def _load_rubrics(campaign: Campaign) -> None:
    rows = [{"qid": topic.id, "criteria": texts.criteria(topic)} for topic in texts.topics()]
    for origin, judge, name in ((Origin.MANUAL, PANEL, RUBRIC), (Origin.DRAFT, next(iter(LLMS)), DRAFTS)):
        import_nuggets(campaign=campaign, source=_source(name, rows), origin=origin, judge=judge, name=name)


def _load_labels(campaign: Campaign) -> None:
    for judge, off in LLMS.items():
        random = Random(judge)  # noqa: S311
        import_assignments(
            campaign=campaign,
            sources=[_source("graded", [_verdicts(run, place, random, off) for run, place in _answers()])],
            origin=Origin.MANUAL,
            judge=judge,
            kind=JudgeKind.LLM,
            nuggets=RUBRIC,
        )
        support = [row for run, place in _answers() for row in _supported(run, place, random, off)]
        import_support(campaign=campaign, sources=[_source("support", support)], judge=judge, kind=JudgeKind.LLM)


def _answers() -> Iterable[tuple[str, int]]:
    return ((run_id, place) for run_id in texts.RUNS for place in range(len(texts.topics())))


def _verdicts(run_id: str, place: int, random: Random, off: int) -> dict[str, Any]:
    topic = texts.topics()[place]
    verdicts = [texts.MARKS[mark] for mark in texts.marks_of(texts.RUNS[run_id], place)]
    told = [OTHER_VERDICT.get(verdict, verdict) if random.randrange(off) == 0 else verdict for verdict in verdicts]
    rows = zip(texts.criteria(topic), told, strict=True)
    return {
        "qid": topic.id,
        "run_id": run_id,
        "criteria": [criterion | {"verdict": verdict} for criterion, verdict in rows],
    }


def _supported(run_id: str, place: int, random: Random, off: int) -> Iterable[dict[str, Any]]:
    topic = texts.topics()[place]
    for index, said in enumerate(texts.answer(texts.RUNS[run_id], place)):
        for number, support in said.cited:
            told = OTHER_SUPPORT[support] if random.randrange(off) == 0 else support
            yield {
                "topic_id": topic.id,
                "run_id": run_id,
                "sentence": index,
                "docid": topic.docid(number),
                "label": SUPPORT[told],
            }


def _judge_battles(campaign: Campaign) -> None:
    """Draw battles, with verdicts of an LLM in both orders and, of the topics that no desk gets, of the panel.

    But for upsets the better run wins.
    """
    draw = draw_battles(campaign=campaign, order=BattleOrder(name="side by side", seed="harbour"))
    runs = dict(AnswerProvenance.objects.filter(run__campaign=campaign).values_list("answer", "run__run_id"))
    drawn: list[dict[str, Any]] = [
        {"topic_id": battle.topic.topic_id, "left": runs[battle.left_id], "right": runs[battle.right_id]}
        | {"round": battle.round}
        for battle in draw.battle_set.battles.select_related("topic")
    ]
    turned = [battle | {"left": battle["right"], "right": battle["left"]} for battle in drawn]
    at_desks = {task.topic for task in planned_tasks(HARBOUR_SLUG) if task.stage == BATTLE}
    by_panel = [battle for battle in drawn if battle["topic_id"] not in at_desks]
    for judge, kind, battles in (
        (PANEL, JudgeKind.HUMAN, by_panel),
        (next(iter(LLMS)), JudgeKind.LLM, [*drawn, *turned]),
    ):
        random = Random(f"battles {judge}")  # noqa: S311
        verdicts = [
            battle | {"verdict": texts.verdict(battle["left"], battle["right"], random), "judge": judge}
            for battle in battles
        ]
        import_battles(campaign=campaign, source=_source("battles", verdicts), kind=kind)


def _source(name: str, rows: Iterable[dict[str, Any]]) -> Source:
    return Source(f"{name}.jsonl", "", tuple(enumerate(map(json.dumps, rows), start=1)))
