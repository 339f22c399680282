"""The example that is counted by hand, loaded by the commands: two runs, two topics, three nuggets each."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.worlds.imported import Outcome, answer, load, run, sentence, write
from tests.worlds.recorded import built_once

Lists = Mapping[str, tuple[str, ...]]
LISTS: Lists = {"t1": ("vital", "vital", "okay"), "t2": ("vital", "okay", "okay")}
CODES = {"S": "support", "P": "partial_support", "N": "not_support"}
MACHINE = {"A": "SSNSNN", "B": "SPNNNS"}
PEOPLE = {"A": "SPNSSN", "B": "SSNNNS"}
DRAWN = {("A", "t2", "n2"), ("B", "t1", "n3")}
"""Pairs that are not drawn, with five a run and seed `demo`."""

EXAMPLE = ("create_study", "--campaign", "river", "check", "--kind", "assignment", "--draw", "random")
FIVE = (*EXAMPLE, "--per-run", "5", "--least", "1", "--seed", "demo")


WIDE = {f"t{place:02}": ("vital", "vital", "okay", "okay") for place in range(1, 13)}
"""Lists of a larger example, whose runs are near each other."""


@built_once
def make_example(folder: Path) -> Path:
    """Load topics, runs, lists and the LLM's labels; nothing is drawn."""
    return load_world(folder, LISTS, MACHINE)


@built_once
def make_wide(folder: Path) -> Path:
    """Four runs of 48 pairs, of which 24 each are drawn, and judged by ann; the LLM is wrong on one of six."""
    chosen = random.Random(7)  # noqa: S311  # the same labels every time
    people = {
        run_id: "".join(chosen.choices("SPN", (share, 1, 6 - share), k=48))
        for run_id, share in (("alpha", 4), ("beta", 4), ("gamma", 3), ("delta", 1))
    }
    load_world(
        folder,
        WIDE,
        {
            run_id: "".join(chosen.choice((*5 * label, "S")) for label in labels)
            for run_id, labels in people.items()
        },
    )
    assert run(*EXAMPLE, "--per-run", "24", "--seed", "demo").code == 0
    file = folder / "drawn.jsonl"
    assert run("export", "random-check", "--campaign", "river", "--study", "check", "--output", file).code == 0
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    names = ("run_id", "topic_id", "nugget", "occurrence")
    assert (
        judge(
            folder,
            [
                {name: row[name] for name in names}
                | {
                    "label": CODES[
                        people[row["run_id"]][4 * [*WIDE].index(row["topic_id"]) + int(row["nugget"][1:]) - 1]
                    ]
                }
                for row in rows
            ],
        ).code
        == 0
    )
    return folder


def load_world(folder: Path, given: Lists, machine: dict[str, str], *, judge: str = "llm") -> Path:
    assert run("create_campaign", "river", "--name", "River study").code == 0
    load("import_topics", write(folder, "topics.tsv", "".join(f"{topic}\twhy rivers bend\n" for topic in given)))
    for run_id in machine:
        rows = [answer(run_id, topic, sentence(f"{run_id} on {topic}.", 0)) for topic in given]
        load("import_run", "--task", "RAG", write(folder, f"{run_id}.jsonl", rows))
    lists = [
        {"qid": topic, "nuggets": [nugget(number, word) for number, word in enumerate(words, 1)]}
        for topic, words in given.items()
    ]
    load("import_nuggets", "--origin", "edited", "--judge", "people", write(folder, "nuggets.jsonl", lists))
    add_labels(folder, machine, judge=judge, lists=given)
    return folder


def nugget(number: int, importance: str, **more: Any) -> dict[str, Any]:
    return {"text": f"n{number}", "importance": importance} | more


def add_labels(
    folder: Path, labels: dict[str, str], *options: str, judge: str = "llm", lists: Lists = LISTS
) -> None:
    rows = [
        {
            "qid": topic,
            "run_id": run_id,
            "nuggets": [
                nugget(number, word, assignment=CODES[labels[run_id][len(words) * place + number - 1]])
                for number, word in enumerate(words, 1)
            ],
        }
        for run_id in labels
        for place, (topic, words) in enumerate(lists.items())
    ]
    file = write(folder, f"labels.{judge}.jsonl", rows)
    load("import_assignments", "--origin", "edited", "--judge", judge, "--by", "llm", *options, file)


def people_rows(*, without: Sequence[tuple[str, str, str]] = tuple(DRAWN)) -> list[dict[str, Any]]:
    """People's labels as `import_random_check` reads them, but for some pairs."""
    return [
        {"run_id": run_id, "topic_id": topic, "nugget": f"n{number + 1}", "occurrence": 0}
        | {"label": CODES[labels[3 * place + number]]}
        for run_id, labels in PEOPLE.items()
        for place, topic in enumerate(LISTS)
        for number in range(3)
        if (run_id, topic, f"n{number + 1}") not in without
    ]


def judge(folder: Path, rows: list[dict[str, Any]], who: str = "ann", study: str = "check") -> Outcome:
    file = write(folder, "people.jsonl", rows)
    return run("import_random_check", "--campaign", "river", "--study", study, "--judge", who, file)


def corrected(*words: str, study: str = "check") -> Any:
    shown = run("report", "corrected", "--campaign", "river", "--study", study, "--format", "json", *words)
    assert shown.code == 0, shown.err
    return json.loads(shown.out)
