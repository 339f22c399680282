"""Answers to judge: two topics, four runs of three groups, an edited list of nuggets and an LLM's support labels.

To t1 `alpha` and `beta` answer with the same two sentences, of which `beta` cites nothing, `gamma` with others, and
`mute` without a word. To t2 only `alpha` answers, and cites what has no text.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils import timezone

from accounts.models import User
from assessor.desk.context import open_desk
from assessor.desk.submit import submit
from assessor.models import WorkingAssignment, WorkingSupport
from evaluation.domain.counted_pairs import counted_citations
from evaluation.formats.source import Source
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.segments import import_segments
from evaluation.imports.support import import_support
from evaluation.imports.topics import import_topics
from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.models import Campaign, ListedNugget, NuggetSet, Task, TaskAnswer, Topic
from evaluation.stages import ASSIGN, Stage
from evaluation.tasks.changes import Change, TaskChange, change_tasks
from evaluation.tasks.hand_out import hand_out
from evaluation.tasks.units import Order
from evaluation.terms import JudgeKind, Origin, SupportCondition, TaskState
from tests.worlds.cast import make_campaign, make_cast, write_source
from tests.worlds.recorded import built_once

BENDS, SAND = "Rivers bend slowly.", "They carry sand."
NUGGETS = ("bends grow", "sand moves", "banks erode")
MACHINE = "robot"


@dataclass(frozen=True, slots=True)
class JudgingWorld:
    """The campaign `river`, its people by name, and a folder for files."""

    campaign: Campaign
    people: dict[str, User]
    folder: Path

    def source(self, name: str, *rows: dict[str, Any]) -> Source:
        return write_source(self.folder, name, "".join(f"{json.dumps(row)}\n" for row in rows))

    def topic(self, topic_id: str = "t1") -> Topic:
        return Topic.objects.get(campaign=self.campaign, topic_id=topic_id)

    def run(
        self, run_id: str, *sentences: tuple[str, list[int]], topic: str = "t1", replace: bool = False
    ) -> None:
        """Load a run of one answer; its sentences cite d1, d2 and d3 by number."""
        answer = [{"text": text, "citations": cited} for text, cited in sentences]
        row = {"run_id": run_id, "topic_id": topic, "references": ["d1", "d2", "d3"], "answer": answer}
        import_runs(
            campaign=self.campaign,
            sources=[self.source(f"{run_id}.jsonl", row)],
            options=RunOptions(group=f"of {run_id}"),
            replace=replace,
        )

    def hand(self, stage: Stage, username: str, topic: str = "t1", **more: Any) -> Task:
        order = Order(stage, (self.topic(topic).public_id,), username, **more)
        receipt = hand_out(campaign=self.campaign, order=order, actor=self.people["olga"])
        return current_task(receipt.tasks[0])

    def withdraw(self, task: Task) -> None:
        order = TaskChange(Change.WITHDRAW, (task.public_id,), "Somebody else does it.")
        change_tasks(campaign=self.campaign, order=order, actor=self.people["olga"])
        task.refresh_from_db()

    def reopen(self, task: Task) -> None:
        order = TaskChange(Change.REOPEN, (task.public_id,), "Look at it again.")
        change_tasks(campaign=self.campaign, order=order, actor=self.people["olga"])
        task.refresh_from_db()


@built_once
def make_judging_world(folder: Path) -> JudgingWorld:
    campaign = make_campaign()
    world = JudgingWorld(campaign, make_cast(campaign), folder)
    topics = [{"id": "t1", "title": "why rivers bend"}, {"id": "t2", "title": "how dams fail"}]
    import_topics(campaign=campaign, source=world.source("t.jsonl", *topics))
    texts = [{"docid": docid, "segment": f"The text of {docid}."} for docid in ("d1", "d2")]
    import_segments(campaign=campaign, sources=[world.source("s.jsonl", *texts)])
    world.run("alpha", (BENDS, [0]), (SAND, [1, 0]))
    world.run("beta", (BENDS, []), (SAND, []))
    world.run("gamma", ("Bends grow.", [2, 1]), ("Sand.", [1]))
    world.run("mute", ("", []))
    world.run("delta", ("Dams fail.", [2]), topic="t2")
    load_nuggets(world, "edited", Origin.EDITED)
    return world


def load_nuggets(world: JudgingWorld, name: str, origin: Origin, topic: str = "t1") -> NuggetSet:
    listed = [{"text": text, "importance": "vital"} for text in NUGGETS]
    source = world.source(f"{name}.jsonl", {"qid": topic, "nuggets": listed})
    import_nuggets(campaign=world.campaign, source=source, origin=origin, judge=f"by {name}", name=name)
    return NuggetSet.objects.get(campaign=world.campaign, name=name)


def load_machine(world: JudgingWorld, *pairs: tuple[str, int, str, str], name: str = MACHINE) -> None:
    rows = [
        {"run_id": run, "topic_id": "t1", "sentence": sentence, "docid": docid, "label": label}
        for run, sentence, docid, label in pairs
    ]
    import_support(
        campaign=world.campaign,
        sources=[world.source(f"{name}.sup.jsonl", *rows)],
        judge=name,
        kind=JudgeKind.LLM,
        condition=SupportCondition.LLM,
    )


def current_task(public_id: str) -> Task:
    return Task.objects.select_related("topic", "assessor", "protocol", "campaign", "nugget_set").get(
        public_id=public_id
    )


def finish(task: Task, label: int = 2, *, answers: Sequence[int] | None = None, **more: Any) -> None:
    """Give every label that is asked and submit, the work at the desk left out."""
    open_desk(task=task.public_id, user=task.assessor)
    give(task, label, answers=answers, **more)
    submit(task=task.public_id, user=task.assessor, window="w", seq=0)
    task.refresh_from_db()


def give(task: Task, label: int = 2, *, answers: Sequence[int] | None = None, **more: Any) -> None:
    """Give labels of all answers that are judged, or of some; what is labelled already changes."""
    judged = TaskAnswer.objects.filter(task=task, same_as=None).values_list("answer", flat=True)
    wanted = [pk for pk in judged if answers is None or pk in answers]
    if task.stage == ASSIGN:
        listed = ListedNugget.objects.filter(
            nugget_list__nugget_set=task.nugget_set, nugget_list__topic=task.topic
        )
        for answer in wanted:
            for wording in listed.values_list("nugget_version", flat=True):
                WorkingAssignment.objects.update_or_create(
                    task=task,
                    answer_id=answer,
                    nugget_version_id=wording,
                    defaults={"label": AssignmentLabel(label), **more},
                )
        return
    pairs = counted_citations(task.protocol.first_citations).filter(sentence__answer__in=wanted)
    for sentence, segment in pairs.values_list("sentence", "segment"):
        WorkingSupport.objects.update_or_create(
            task=task, sentence_id=sentence, segment_id=segment, defaults={"label": SupportLabel(label), **more}
        )


def as_submitted(task: Task) -> None:
    Task.objects.filter(pk=task.pk).update(state=TaskState.SUBMITTED, opened_at=timezone.now())
    task.refresh_from_db()
