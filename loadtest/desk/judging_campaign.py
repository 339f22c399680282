"""Campaigns whose answers are judged: topics of any size, with citations, nuggets and a machine's labels."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib.auth.hashers import make_password

from accounts.models import NOTICE_VERSION, User
from evaluation.campaigns.create import add_member, create_campaign
from evaluation.formats.source import Source, read_source
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import import_runs
from evaluation.imports.segments import import_segments
from evaluation.imports.support import import_support
from evaluation.imports.topics import import_topics
from evaluation.judges import add_judge
from evaluation.models import Campaign, Task, Topic
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from evaluation.tasks.hand_out import hand_out
from evaluation.tasks.units import Order
from evaluation.terms import JudgeKind, Origin, Role, SupportCondition
from loadtest.desk.seats import PASSWORD, Card, Seat

MACHINE, EDITOR, ORGANIZER = "machine", "an editor", "organizer"
SUPPORT_WORDS = ("full_support", "partial_support", "no_support")
PASSAGES = 12


@dataclass(frozen=True, slots=True)
class Extent:
    """How large a topic is: answers, sentences of each, of which every other one cites two passages, and nuggets."""

    answers: int
    sentences: int
    nuggets: int


TRACK = Extent(answers=45, sentences=12, nuggets=16)
BRIEF = Extent(answers=5, sentences=6, nuggets=6)
"""So short that it is finished and submitted while others are at their first answers."""


def make_judging_campaign(slug: str, extents: Sequence[Extent]) -> Campaign:
    campaign = create_campaign(slug=slug, name=slug.capitalize())[0]
    with TemporaryDirectory() as folder:
        for number, extent in enumerate(extents):
            _load_topic(campaign, Path(folder), number, extent)
    organizer = User.objects.create(username=ORGANIZER)
    add_member(campaign=campaign, user=organizer, role=Role.ORGANIZER)
    return campaign


def hand_all(campaign: Campaign, user: User, stage: Stage) -> tuple[str, ...]:
    add_member(campaign=campaign, user=user, role=Role.ASSESSOR)
    topics = tuple(
        Topic.objects.filter(campaign=campaign).order_by("position").values_list("public_id", flat=True)
    )
    order = Order(stage, topics, user.username, again=True)
    return hand_out(campaign=campaign, order=order, actor=User.objects.get(username=ORGANIZER)).tasks


STAGES = (ASSIGN, SUPPORT_SCRATCH, ASSIGN, SUPPORT_POST_EDIT)
"""What assessors do, by turns: one half assigns, the other judges support, in either condition."""


def seat_judges(assessors: int, extents: Sequence[Extent]) -> list[Seat]:
    campaign = make_judging_campaign("judging", extents)
    secret = make_password(PASSWORD)
    return [_seat(campaign, n, secret) for n in range(assessors)]


def _seat(campaign: Campaign, number: int, secret: str) -> Seat:
    user = User.objects.create(username=f"judge{number}", password=secret, notice_version=NOTICE_VERSION)
    made = hand_all(campaign, user, STAGES[number % len(STAGES)])
    pks = dict(Task.objects.filter(assessor=user).values_list("public_id", "pk"))
    return Seat(user.username, user.pk, tuple(Card(task, pks[task], {}, None) for task in made))


def _load_topic(campaign: Campaign, folder: Path, number: int, extent: Extent) -> None:
    topic = f"t{number}"

    def written(name: str, rows: Iterable[Any]) -> Source:
        path = folder / f"{topic}-{name}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return read_source(path)

    title = {"id": topic, "title": f"why river {number} bends"}
    import_topics(campaign=campaign, source=written("topics", [title]))
    docids = [f"{topic}p{n}" for n in range(PASSAGES)]
    texts = [{"docid": docid, "title": docid, "segment": _passage(docid)} for docid in docids]
    import_segments(campaign=campaign, sources=[written("segments", texts)])
    runs = [written(f"run{n}", [_answer(topic, n, docids, extent)]) for n in range(extent.answers)]
    import_runs(campaign=campaign, sources=runs)
    nuggets = [
        {"text": f"fact {n} of river {number}", "importance": ("vital", "okay")[n % 2]}
        for n in range(extent.nuggets)
    ]
    import_nuggets(
        campaign=campaign,
        source=written("nuggets", [{"qid": topic, "query": title["title"], "nuggets": nuggets}]),
        origin=Origin.EDITED,
        judge=EDITOR,
        name="edited",
    )
    _load_machine(campaign, written("support", _machine_labels(topic, docids, extent)))


def _passage(docid: str) -> str:
    return " ".join(f"Sentence {n} of {docid} tells what the river carries and where it goes." for n in range(10))


def _cited(sentence: int, answer: int) -> list[int]:
    return [(sentence + answer) % PASSAGES, (sentence + answer + 5) % PASSAGES] if sentence % 2 == 0 else []


def _answer(topic: str, number: int, docids: Sequence[str], extent: Extent) -> dict[str, Any]:
    sentences = [
        {
            "text": f"Sentence {n} of answer {number} says that **rivers** carry sand and bend [1].",
            "citations": _cited(n, number),
        }
        for n in range(extent.sentences)
    ]
    return {"run_id": f"{topic}run{number}", "topic_id": topic, "references": list(docids), "answer": sentences}


def _machine_labels(topic: str, docids: Sequence[str], extent: Extent) -> list[dict[str, Any]]:
    return [
        {
            "run_id": f"{topic}run{number}",
            "topic_id": topic,
            "sentence": sentence,
            "docid": docids[cited],
            "label": SUPPORT_WORDS[(number + sentence + cited) % 3],
        }
        for number in range(extent.answers)
        for sentence in range(extent.sentences)
        for cited in _cited(sentence, number)
    ]


def _load_machine(campaign: Campaign, source: Source) -> None:
    add_judge(name=MACHINE, kind=JudgeKind.LLM, model=MACHINE)
    import_support(
        campaign=campaign, sources=[source], judge=MACHINE, kind=JudgeKind.LLM, condition=SupportCondition.LLM
    )
