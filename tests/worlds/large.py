"""A judging world of the usual size: six answers by eighteen nuggets, and 31 pairs that cite passages of 150 words."""

import json
from itertools import count
from pathlib import Path

from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.segments import import_segments
from evaluation.imports.support import import_support
from evaluation.imports.topics import import_topics
from evaluation.judges import add_judge
from evaluation.models import Campaign, Task
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT, SUPPORT_SCRATCH
from evaluation.terms import JudgeKind, SupportCondition
from tests.worlds.cast import make_campaign, make_cast, write_source
from tests.worlds.judging_desk import (
    MACHINE,
    MACHINE_LABELS,
    TOPIC,
    JudgeWorld,
    load_nuggets,
    make_judging_task,
)

NUGGETS = 18
CITED = (5, 5, 5, 5, 5, 6)
PAIRS = sum(CITED)
PASSAGES = 9
WORDS = 150
SUBJECTS = ("The river", "A wide bend", "Fine sand", "The outer bank", "Old water", "A clear channel")
HAPPENINGS = ("moves gravel far downstream in the spring months", "turns slowly where the slope grows gentle")
FLOOD = "When a flood tops the banks, silt settles on the fields."


def make_large_world(folder: Path) -> JudgeWorld:
    """Load the campaign from files and hand its three tasks out."""
    campaign = make_campaign()
    people = make_cast(campaign)
    import_topics(campaign=campaign, source=write_source(folder, "t.tsv", f"t1\t{TOPIC}\n"))
    load_passages(campaign, folder)
    for number, cited in enumerate(CITED, start=1):
        load_answer(campaign, folder, number, cited)
    nuggets = [(nugget(number), "vital" if number % 2 else "okay") for number in range(1, NUGGETS + 1)]
    load_nuggets(campaign, folder, nuggets)
    load_machine_labels(campaign, folder)
    tasks: list[Task] = [
        make_judging_task(campaign, people[name], stage)
        for name, stage in (
            ("ann", ASSIGN),
            ("ben", SUPPORT_SCRATCH),
            ("ann", SUPPORT_POST_EDIT),
        )
    ]
    return JudgeWorld(campaign, people, *tasks)


def nugget(number: int) -> str:
    """A nugget as people write them: some words more than a line takes."""
    subject, happening = SUBJECTS[number % len(SUBJECTS)], HAPPENINGS[number % len(HAPPENINGS)]
    return f"{subject} number {number} {happening}"


def passage(number: int) -> str:
    made = [FLOOD] if number % 2 else []
    for at in count():
        words = " ".join(made).split()
        if len(words) >= WORDS:
            return " ".join(words[:WORDS]).rstrip(".,") + "."
        made.append(f"{SUBJECTS[at % len(SUBJECTS)]} {HAPPENINGS[at % len(HAPPENINGS)]}.")
    raise AssertionError


def load_passages(campaign: Campaign, folder: Path) -> None:
    texts = [
        {"docid": f"p{number}", "title": f"Passage {number}", "segment": passage(number)}
        for number in range(1, PASSAGES + 1)
    ]
    lines = "".join(f"{json.dumps(text)}\n" for text in texts)
    import_segments(campaign=campaign, sources=[write_source(folder, "s.jsonl", lines)])


def load_answer(campaign: Campaign, folder: Path, number: int, cited: int) -> None:
    answer = {
        "run_id": f"canary-run-{number}",
        "topic_id": "t1",
        "topic": TOPIC,
        "references": [f"p{(number + at) % PASSAGES + 1}" for at in range(cited)],
        "response_length": 20 * cited,
        "answer": [
            {"text": f"{nugget(number + at)}, and that goes on for some years.", "citations": [at]}
            for at in range(cited)
        ],
    }
    source = write_source(folder, f"r{number}.jsonl", f"{json.dumps(answer)}\n")
    import_runs(campaign=campaign, sources=[source], options=RunOptions(group="canary-team"))


def load_machine_labels(campaign: Campaign, folder: Path) -> None:
    add_judge(name=MACHINE, kind=JudgeKind.LLM, model=MACHINE)
    labels = [
        {
            "run_id": f"canary-run-{number}",
            "topic_id": "t1",
            "sentence": at,
            "docid": f"p{(number + at) % PASSAGES + 1}",
            "label": MACHINE_LABELS[(number + at) % 3],
        }
        for number, cited in enumerate(CITED, start=1)
        for at in range(cited)
    ]
    source = write_source(folder, "sup.jsonl", "".join(f"{json.dumps(label)}\n" for label in labels))
    import_support(
        campaign=campaign,
        sources=[source],
        judge=MACHINE,
        kind=JudgeKind.LLM,
        condition=SupportCondition.LLM,
    )
