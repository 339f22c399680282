"""A campaign with three judging tasks on one topic. Olga organizes.

Ann assigns nuggets and judges support with the machine's label shown, Ben judges it from scratch. Each run has one
answer of two sentences; the first cites a passage, the second one too in every other run, and in the last run a
passage without a text.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from django.test import Client

from accounts.models import User
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.segments import import_segments
from evaluation.imports.support import import_support
from evaluation.imports.topics import import_topics
from evaluation.judges import add_judge
from evaluation.models import Campaign, Task, Topic
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage
from evaluation.tasks.hand_out import hand_out
from evaluation.tasks.units import Order
from evaluation.terms import JudgeKind, Origin, SupportCondition
from tests.worlds.cast import make_campaign, make_cast, write_source
from tests.worlds.recorded import built_once

TOPIC = "why rivers bend"
Listed: TypeAlias = tuple[str, str] | tuple[str, str, float]
"""Text and importance of a nugget, and its weight in a rubric."""

NUGGETS = (("rivers carry sand", "vital"), ("the outer bank erodes", "okay"), ("bends grow", "vital"))
MACHINE = "canary-machine"
NUGGET_MAKER = "canary-maker"
RUBRIC = (("names the sand", "vital", 5.0), ("claims that rivers flow uphill", "okay", -3.0))
MACHINE_LABELS = ("full_support", "partial_support", "no_support")


@dataclass(frozen=True, slots=True)
class JudgeWorld:
    """The campaign `river`, its people by name, and the three tasks."""

    campaign: Campaign
    people: dict[str, User]
    assign: Task
    scratch: Task
    shown: Task

    def client(self, name: str = "ann") -> Client:
        client = Client()
        client.force_login(self.people[name])
        return client


@built_once
def make_judge_world(folder: Path, *, runs: int = 4, nuggets: Sequence[Listed] = NUGGETS) -> JudgeWorld:
    """Load the campaign from files, as an organizer would, and hand the three tasks out."""
    campaign = make_campaign()
    people = make_cast(campaign)
    load_topic(campaign, folder)
    for number in range(1, runs + 1):
        load_run(campaign, folder, number, last=number == runs)
    load_nuggets(campaign, folder, nuggets)
    load_machine_labels(campaign, folder, runs)
    tasks = [
        make_judging_task(campaign, people[name], stage)
        for name, stage in (
            ("ann", ASSIGN),
            ("ben", SUPPORT_SCRATCH),
            ("ann", SUPPORT_POST_EDIT),
        )
    ]
    return JudgeWorld(campaign, people, *tasks)


def load_topic(campaign: Campaign, folder: Path) -> None:
    """Load the topic, three passages with a text and one that only its id is known of."""
    import_topics(campaign=campaign, source=write_source(folder, "t.tsv", f"t1\t{TOPIC}\n"))
    texts = [
        {
            "docid": f"p{n}",
            "title": f"Passage {n}",
            "segment": f"Passage {n} speaks of water. It has a second sentence.",
        }
        for n in (1, 2, 3)
    ]
    lines = "".join(f"{json.dumps(text)}\n" for text in texts)
    import_segments(campaign=campaign, sources=[write_source(folder, "s.jsonl", lines)])


def load_run(campaign: Campaign, folder: Path, number: int, *, last: bool = False) -> None:
    second = [1] if number % 2 == 0 or last else []
    answer = {
        "run_id": f"canary-run-{number}",
        "topic_id": "t1",
        "topic": TOPIC,
        "references": [f"p{number % 3 + 1}", "p-unknown" if last else f"p{(number + 1) % 3 + 1}"],
        "response_length": 13,
        "answer": [
            {"text": f"**Rivers** of answer {number} carry sand [1].", "citations": [0]},
            {"text": f"- Their bends grow, says answer {number}.", "citations": second},
        ],
    }
    source = write_source(folder, f"r{number}.jsonl", f"{json.dumps(answer)}\n")
    import_runs(campaign=campaign, sources=[source], options=RunOptions(group="canary-team"))


def load_nuggets(campaign: Campaign, folder: Path, nuggets: Sequence[Listed]) -> None:
    listed = [dict(zip(("text", "importance", "weight"), nugget, strict=False)) for nugget in nuggets]
    line = json.dumps({"qid": "t1", "query": TOPIC, "nuggets": listed})
    import_nuggets(
        campaign=campaign,
        source=write_source(folder, "n.jsonl", f"{line}\n"),
        origin=Origin.EDITED,
        judge=NUGGET_MAKER,
        name="edited",
    )


def load_machine_labels(campaign: Campaign, folder: Path, runs: int) -> None:
    add_judge(name=MACHINE, kind=JudgeKind.LLM, model=MACHINE)
    lines = []
    for number in range(1, runs + 1):
        cited = [(0, f"p{number % 3 + 1}")]
        if number % 2 == 0 and number != runs:
            cited.append((1, f"p{(number + 1) % 3 + 1}"))
        for sentence, docid in cited:
            label = MACHINE_LABELS[(number + sentence) % 3]
            lines.append(
                {
                    "run_id": f"canary-run-{number}",
                    "topic_id": "t1",
                    "sentence": sentence,
                    "docid": docid,
                    "label": label,
                }
            )
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    import_support(
        campaign=campaign,
        sources=[write_source(folder, "sup.jsonl", text)],
        judge=MACHINE,
        kind=JudgeKind.LLM,
        condition=SupportCondition.LLM,
    )


def make_judging_task(campaign: Campaign, user: User, stage: Stage) -> Task:
    topic = Topic.objects.get(campaign=campaign, topic_id="t1")
    order = Order(stage, (topic.public_id,), user.username, again=True)
    receipt = hand_out(campaign=campaign, order=order, actor=User.objects.get(username="olga"))
    return Task.objects.select_related("topic", "assessor", "protocol").get(public_id=receipt.tasks[0])
