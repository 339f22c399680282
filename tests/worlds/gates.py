"""Twelve topics and three runs for gates: `old`, `new` that lost little, and `bad` that lost the vital nuggets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.worlds.imported import answer, labels, load, nuggets, run, sentence, write

TOPICS = [f"t{number:02}" for number in range(12)]
RUNS = ("old", "new", "bad")
VITAL, OKAY = "a | <b>vital</b> thing", "an okay thing"


def load_gate_world(folder: Path, *, topics: int = len(TOPICS)) -> None:
    chosen = TOPICS[:topics]
    assert run("create_campaign", "river", "--name", "River study").code == 0
    load("import_topics", write(folder, "topics.tsv", "".join(f"{topic}\twhy {topic}\n" for topic in chosen)))
    for name in RUNS:
        answers = [answer(name, topic, sentence("It is so.")) for topic in chosen]
        load("import_run", write(folder, f"{name}.jsonl", answers))
    lists = [nuggets(topic, (VITAL, "vital"), (OKAY, "okay")) for topic in chosen]
    load("import_nuggets", "--origin", "auto", "--judge", "m", write(folder, "nuggets.jsonl", lists))
    for judge in ("m", "other"):
        rows = [row for name in RUNS for row in _labels(name, chosen)]
        judged = ("--origin", "auto", "--judge", judge, "--by", "llm")
        load("import_assignments", *judged, write(folder, f"{judge}.jsonl", rows))


def _labels(name: str, topics: list[str]) -> Iterator[Any]:
    for place, topic in enumerate(topics):
        vital = "not_support" if name == "bad" and place % 3 else "support"
        okay = "not_support" if name == "new" and place == 0 else "support"
        yield labels(name, topic, (VITAL, vital), (OKAY, okay))
