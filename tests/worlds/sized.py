"""A campaign of any number of topics and runs, for what pages show on few and on more of them."""

import json
from pathlib import Path

from evaluation.imports.assignments import import_assignments
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.topics import import_topics
from evaluation.terms import JudgeKind, Origin, RagTask
from tests.worlds.campaign import World
from tests.worlds.cast import make_campaign, make_cast, write_source
from tests.worlds.recorded import built_once

LABELS = ("support", "partial_support", "not_support")
JUDGES = (("robot", JudgeKind.LLM), ("person", JudgeKind.HUMAN))


@built_once
def sized(folder: Path, topics: int, runs: int) -> World:
    campaign, ids = make_campaign(), [f"t{n}" for n in range(topics)]
    import_topics(
        campaign=campaign,
        source=write_source(folder, "t.tsv", "".join(f"{topic}\ttopic {topic}\n" for topic in ids)),
    )
    for run in range(runs):
        lines = (
            json.dumps(
                {
                    "run_id": f"r{run}",
                    "topic_id": topic,
                    "topic": f"topic {topic}",
                    "references": [],
                    "response_length": 2,
                    "answer": [{"text": "Two words.", "citations": []}],
                }
            )
            for topic in ids
        )
        source = write_source(folder, f"r{run}.jsonl", "\n".join(lines))
        import_runs(campaign=campaign, sources=[source], options=RunOptions("team", RagTask.RAG))
    nuggets = [{"text": "first", "importance": "vital"}, {"text": "second", "importance": "okay"}]
    lines = (json.dumps({"query": f"topic {topic}", "qid": topic, "nuggets": nuggets}) for topic in ids)
    source = write_source(folder, "n.jsonl", "\n".join(lines))
    import_nuggets(campaign=campaign, source=source, origin=Origin.AUTO, judge="robot")
    for place, (judge, kind) in enumerate(JUDGES):
        source = write_source(folder, f"{judge}.jsonl", labels_of(ids, runs, place))
        import_assignments(campaign=campaign, sources=[source], origin=Origin.AUTO, judge=judge, kind=kind)
    return World(campaign, make_cast(campaign))


def labels_of(topics: list[str], runs: int, judge: int) -> str:
    return "\n".join(
        json.dumps(
            {
                "qid": topic,
                "run_id": f"r{run}",
                "nuggets": [
                    {"text": text, "assignment": LABELS[(run * (place + 2) + place * place + nugget * judge) % 3]}
                    for nugget, text in enumerate(("first", "second"))
                ],
            }
        )
        for place, topic in enumerate(topics)
        for run in range(runs)
    )
