"""A campaign whose runs answer topics in a word or two, for battles of them."""

from collections.abc import Iterable
from pathlib import Path

from tests.worlds.imported import answer, load, run, sentence, write


def load_runs(
    folder: Path, runs: Iterable[str], topics: Iterable[str], lacking: Iterable[tuple[str, str]] = ()
) -> None:
    """Load the campaign `river`. `lacking`: topics and runs without an answer."""
    listed, without = list(topics), set(lacking)
    assert run("create_campaign", "river", "--name", "Battles").code == 0
    load("import_topics", write(folder, "topics.tsv", "".join(f"{topic}\twhat is {topic}\n" for topic in listed)))
    files = [
        write(
            folder,
            f"{name}.jsonl",
            [answer(name, topic, sentence(f"It is {name}.")) for topic in listed if (topic, name) not in without],
        )
        for name in runs
    ]
    load("import_run", "--task", "RAG", *files)
