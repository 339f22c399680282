"""Support over long documents: sentences with up to three citations, each of a passage whose middle supports it."""

import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.segments import import_segments
from evaluation.imports.support import import_support
from evaluation.judges import add_judge
from evaluation.models import Campaign, Protocol
from evaluation.stages import ASSIGN, SUPPORT_POST_EDIT, SUPPORT_SCRATCH
from evaluation.terms import JudgeKind, SupportCondition
from tests.worlds.cast import make_campaign, make_cast, write_source
from tests.worlds.judging_desk import (
    MACHINE,
    NUGGETS,
    TOPIC,
    JudgeWorld,
    load_nuggets,
    load_topic,
    make_judging_task,
)
from tests.worlds.recorded import built_once

CLAIMS = (
    "Beavers slow the current of mountain streams.",
    "Gravel bars shift when glaciers melt.",
    "Willow roots bind clay against erosion.",
)
CITED = (3, 2, 1)
FILLERS = (
    "A meander forms where the slope is gentle and the bank is soft.",
    "Nobody kept a record of the floods before the bridge was built.",
    "The survey of that summer lists forty fields and two mills.",
    "Silt settles behind each weir, and the mill pond has to be cleared again.",
)


@built_once
def make_long_world(folder: Path, *, words: int = 3000, cited: Sequence[int] = CITED) -> JudgeWorld:
    """One answer, and how many citations its sentences have, each of a document of its own."""
    campaign = make_campaign()
    people = make_cast(campaign)
    Protocol.objects.filter(campaign=campaign).update(first_citations=3)
    load_topic(campaign, folder)
    load_nuggets(campaign, folder, NUGGETS)
    citing = [(at, CLAIMS[at]) for at, number in enumerate(cited) for _ in range(number)]
    load_documents(campaign, folder, [document(claim, words) for _, claim in citing])
    load_citing_run(campaign, folder, [at for at, _ in citing])
    load_long_labels(campaign, folder, [at for at, _ in citing])
    tasks = [
        make_judging_task(campaign, people[name], stage)
        for name, stage in (("ann", ASSIGN), ("ben", SUPPORT_SCRATCH), ("ann", SUPPORT_POST_EDIT))
    ]
    return JudgeWorld(campaign, people, *tasks)


def document(supporting: str, words: int) -> str:
    """Headings and paragraphs of four sentences each, with the supporting sentence in the middle."""
    paragraphs: list[str] = []
    length = 0
    for number in count(1):
        own = [f"{FILLERS[(number + at) % len(FILLERS)][:-1]}, as note {number}.{at} has it." for at in range(4)]
        paragraphs += [f"## Part {number // 10}"] if number % 10 == 0 else []
        paragraphs.append(" ".join(own))
        length += len(paragraphs[-1].split())
        if length >= words:
            break
    middle = len(paragraphs) // 2
    paragraphs[middle] += f" {supporting} Then the valley widens."
    return "\n\n".join(paragraphs)


def load_documents(campaign: Campaign, folder: Path, texts: Sequence[str]) -> None:
    lines = [
        json.dumps({"docid": f"long{number}", "title": f"Document {number}", "segment": text})
        for number, text in enumerate(texts)
    ]
    import_segments(campaign=campaign, sources=[write_source(folder, "long.jsonl", "\n".join(lines) + "\n")])


def load_citing_run(campaign: Campaign, folder: Path, citing: Sequence[int]) -> None:
    """`citing`: the number of the sentence that cites each document."""
    answer = {
        "run_id": "long-run",
        "topic_id": "t1",
        "topic": TOPIC,
        "references": [f"long{number}" for number in range(len(citing))],
        "response_length": sum(len(claim.split()) for claim in CLAIMS),
        "answer": [
            {"text": claim, "citations": [number for number, by in enumerate(citing) if by == at]}
            for at, claim in enumerate(CLAIMS)
        ],
    }
    source = write_source(folder, "long-run.jsonl", f"{json.dumps(answer)}\n")
    import_runs(campaign=campaign, sources=[source], options=RunOptions(group="team"))


def load_long_labels(campaign: Campaign, folder: Path, citing: Sequence[int]) -> None:
    add_judge(name=MACHINE, kind=JudgeKind.LLM, model=MACHINE)
    own = {"run_id": "long-run", "topic_id": "t1", "label": "full_support"}
    labels = [own | {"sentence": at, "docid": f"long{number}"} for number, at in enumerate(citing)]
    text = "".join(f"{json.dumps(label)}\n" for label in labels)
    import_support(
        campaign=campaign,
        sources=[write_source(folder, "long-support.jsonl", text)],
        judge=MACHINE,
        kind=JudgeKind.LLM,
        condition=SupportCondition.LLM,
    )
