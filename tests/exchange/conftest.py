"""The list-QA study, loaded by the commands that everybody uses."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command


@pytest.fixture
def load_list_qa(shared_data: Path) -> Callable[[str], None]:
    """Return a function that loads the study under a slug."""
    folder = shared_data / "qampari-list-qa"

    def command(name: str, slug: str, *words: str) -> None:
        call_command(name, *words, "--campaign", slug, stderr=StringIO())

    def load(slug: str) -> None:
        call_command("create_campaign", slug, "--name", "List QA", stderr=StringIO())
        command("import_topics", slug, str(folder / "topics.tsv"))
        command("import_run", slug, *map(str, sorted(folder.glob("runs/*.jsonl"))))
        command("import_segments", slug, str(folder / "segments.jsonl"))
        command("import_qrels", slug, str(folder / "qrels.txt"), "--source", "gold")
        nuggets = folder / "nuggets"
        command("import_nuggets", slug, str(nuggets / "auto.jsonl"), "--origin", "auto", "--judge", "llm")
        edited = ["--origin", "edited", "--judge", "people", "--drafts", "auto-llm"]
        command("import_nuggets", slug, str(nuggets / "edited.jsonl"), *edited)
        for name, origin, judge, kind in (
            ("auto-nuggets.auto-assign", "auto", "llm", "llm"),
            ("edited-nuggets.auto-assign", "edited", "llm", "llm"),
            ("edited-nuggets.manual-assign", "edited", "people", "human"),
        ):
            files = map(str, sorted((folder / "assignments" / name).glob("*.jsonl")))
            command("import_assignments", slug, *files, "--origin", origin, "--judge", judge, "--by", kind)

    return load
