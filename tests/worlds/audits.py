"""The example that is counted by hand, loaded by the commands: two runs, two topics, three nuggets each."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.worlds.imported import Outcome, answer, load, run, sentence, write
from tests.worlds.recorded import built_once

LISTS = {"t1": ("vital", "vital", "okay"), "t2": ("vital", "okay", "okay")}
CODES = {"S": "support", "P": "partial_support", "N": "not_support"}
MACHINE = {"A": "SSNSNN", "B": "SPNNNS"}
PEOPLE = {"A": "SPNSSN", "B": "SSNNNS"}
DRAWN = {("A", "t2", "n2"), ("B", "t1", "n3")}
"""Pairs that are not drawn, with five a run and seed `demo`."""

EXAMPLE = ("create_study", "--campaign", "river", "check", "--kind", "assignment", "--draw", "audit")
FIVE = (*EXAMPLE, "--per-run", "5", "--least", "1", "--seed", "demo")


@built_once
def make_example(folder: Path) -> Path:
    """Load topics, runs, lists and the LLM's labels; nothing is drawn."""
    assert run("create_campaign", "river", "--name", "River study").code == 0
    load("import_topics", write(folder, "topics.tsv", "t1\twhy rivers bend\nt2\thow dams fail\n"))
    for run_id in "AB":
        rows = [answer(run_id, topic, sentence(f"{run_id} on {topic}.", 0)) for topic in LISTS]
        load("import_run", "--task", "RAG", write(folder, f"{run_id}.jsonl", rows))
    lists = [
        {"qid": topic, "nuggets": [nugget(number, word) for number, word in enumerate(words, 1)]}
        for topic, words in LISTS.items()
    ]
    load("import_nuggets", "--origin", "edited", "--judge", "people", write(folder, "nuggets.jsonl", lists))
    add_labels(folder, MACHINE)
    return folder


def nugget(number: int, importance: str, **more: Any) -> dict[str, Any]:
    """One nugget of a list."""
    return {"text": f"n{number}", "importance": importance} | more


def add_labels(folder: Path, labels: dict[str, str], *options: str, judge: str = "llm") -> None:
    """Load an LLM's labels of all pairs of some runs."""
    rows = [
        {
            "qid": topic,
            "run_id": run_id,
            "nuggets": [
                nugget(number, word, assignment=CODES[labels[run_id][3 * place + number - 1]])
                for number, word in enumerate(words, 1)
            ],
        }
        for run_id in labels
        for place, (topic, words) in enumerate(LISTS.items())
    ]
    file = write(folder, f"labels.{judge}.jsonl", rows)
    load("import_assignments", "--origin", "edited", "--judge", judge, "--by", "llm", *options, file)


def people_rows(*, without: Sequence[tuple[str, str, str]] = tuple(DRAWN)) -> list[dict[str, Any]]:
    """People's labels as `import_audit` reads them, but for some pairs."""
    return [
        {"run_id": run_id, "topic_id": topic, "nugget": f"n{number + 1}", "occurrence": 0}
        | {"label": CODES[labels[3 * place + number]]}
        for run_id, labels in PEOPLE.items()
        for place, topic in enumerate(LISTS)
        for number in range(3)
        if (run_id, topic, f"n{number + 1}") not in without
    ]


def judge(folder: Path, rows: list[dict[str, Any]], who: str = "ann", study: str = "check") -> Outcome:
    """Load somebody's labels of an audit."""
    file = write(folder, "people.jsonl", rows)
    return run("import_audit", "--campaign", "river", "--study", study, "--judge", who, file)


def corrected(*words: str, study: str = "check") -> Any:
    """The document of the corrected leaderboard."""
    shown = run("report", "corrected", "--campaign", "river", "--study", study, "--format", "json", *words)
    assert shown.code == 0, shown.err
    return json.loads(shown.out)
