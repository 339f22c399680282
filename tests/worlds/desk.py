"""A campaign with two tasks of Ann's: topic t1 to post-edit, topic t2 to write by hand. Olga organizes.

Passages come two to a document and say one thing each, so that a test can tell from a text where it stands.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.test import Client

from accounts.models import User
from evaluation.formats.source import Source
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.segments import import_segments
from evaluation.imports.topics import import_qrels, import_topics
from evaluation.judges import add_judge
from evaluation.models import Campaign, NuggetList, Segment, Task, Topic
from evaluation.stages import MANUAL, POST_EDIT, Stage
from evaluation.tasks.hand_out import hand_out
from evaluation.tasks.units import Order
from evaluation.terms import JudgeKind, Origin
from tests.worlds.cast import make_campaign, make_cast, write_source
from tests.worlds.recorded import built_once

TOPICS = {"t1": "why rivers bend", "t2": "how dams fail", "t3": "what otters eat", "t4": "who names streams"}
MACHINE = "drafting-machine"
WORDS_OF_A_SENTENCE = 12
GROUPS = ("content", "content", "form", "form")


@dataclass(frozen=True, slots=True)
class DeskWorld:
    """The campaign `river`, its people by name, and Ann's tasks."""

    campaign: Campaign
    people: dict[str, User]
    post_edit: Task
    manual: Task

    def client(self, name: str = "ann") -> Client:
        client = Client()
        client.force_login(self.people[name])
        return client

    def topic(self, topic_id: str) -> Topic:
        """One of the topics t1 to t4. Only t1 has drafts; t4 has no passage with text."""
        return Topic.objects.get(campaign=self.campaign, topic_id=topic_id)

    def segments(self, topic_id: str = "t1") -> list[Segment]:
        found = Segment.objects.filter(campaign=self.campaign, docid__startswith=f"{topic_id}-")
        return list(found.order_by("docid"))

    def drafts(self) -> NuggetList:
        return NuggetList.objects.get(nugget_set__origin=Origin.DRAFT, topic__topic_id="t1")


@built_once
def make_desk_world(
    folder: Path,
    *,
    passages: int = 6,
    drafts: int = 5,
    sentences: int = 3,
    weights: Sequence[float] = (),
    groups: Sequence[str] = GROUPS,
) -> DeskWorld:
    """Load the campaign from files, as an organizer would, and hand Ann her two tasks.

    `weights` and `groups`: of the drafts.
    """
    campaign = make_campaign()
    people = make_cast(campaign)
    load_corpus(campaign, folder, passages, sentences)
    load_drafts(campaign, folder, drafts, weights, groups)
    post_edit = make_task(campaign, people["ann"], "t1", POST_EDIT)
    manual = make_task(campaign, people["ann"], "t2", MANUAL)
    return DeskWorld(campaign, people, post_edit, manual)


def load_corpus(campaign: Campaign, folder: Path, passages: int, sentences: int) -> None:
    """Load topics, grades and texts. The first three topics have `passages` each; t4 has one, without a text."""

    def source(name: str, lines: list[str]) -> Source:
        return write_source(folder, name, "".join(f"{line}\n" for line in lines))

    docids = {topic: [docid_of(topic, n) for n in range(1, passages + 1)] for topic in ("t1", "t2", "t3")}
    grades = [f"{topic} 0 {docid} {3 - n % 3}" for topic, ids in docids.items() for n, docid in enumerate(ids)]
    texts = [
        json.dumps({"docid": docid, "title": f"On {topic}", "segment": text_of(topic, n, sentences)})
        for topic, ids in docids.items()
        for n, docid in enumerate(ids, start=1)
    ]
    import_topics(campaign=campaign, source=source("t.tsv", [f"{k}\t{v}" for k, v in TOPICS.items()]))
    grades.append("t4 0 t4-001#1 2")
    import_qrels(campaign=campaign, source=source("q.txt", grades), name="NIST")
    import_segments(campaign=campaign, sources=[source("s.jsonl", texts)])


def load_drafts(
    campaign: Campaign,
    folder: Path,
    drafts: int,
    weights: Sequence[float] = (),
    groups: Sequence[str] = GROUPS,
) -> None:
    add_judge(name=MACHINE, kind=JudgeKind.LLM, model=MACHINE)
    nuggets: list[dict[str, object]] = [{"text": draft_of(n)} for n in range(1, drafts + 1)]
    for nugget, weight, group in zip(nuggets, weights, groups, strict=False):
        nugget |= {"weight": weight, "axis": group}
    line = json.dumps({"qid": "t1", "query": TOPICS["t1"], "nuggets": nuggets})
    import_nuggets(
        campaign=campaign,
        source=write_source(folder, "d.jsonl", f"{line}\n"),
        origin=Origin.DRAFT,
        judge=MACHINE,
        name="drafts",
    )


def docid_of(topic_id: str, number: int) -> str:
    return f"{topic_id}-{(number + 1) // 2:03}#{2 - number % 2}"


def text_of(topic_id: str, number: int, sentences: int = 3) -> str:
    filler = " ".join(["water"] * (WORDS_OF_A_SENTENCE - 5))
    return " ".join(f"Passage {number} of {topic_id} {filler} s{s}." for s in range(1, sentences + 1))


def draft_of(number: int) -> str:
    return f"draft fact number {number}"


def make_task(campaign: Campaign, user: User, topic_id: str, stage: Stage) -> Task:
    topic = Topic.objects.get(campaign=campaign, topic_id=topic_id)
    order = Order(stage, (topic.public_id,), user.username, again=True)
    receipt = hand_out(campaign=campaign, order=order, actor=User.objects.get(username="olga"))
    return Task.objects.select_related("topic", "assessor").get(public_id=receipt.tasks[0])
