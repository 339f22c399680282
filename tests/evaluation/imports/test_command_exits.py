"""Exit codes, what goes to stderr and what to stdout, standard input and gz: as a shell sees them."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.worlds.installation import new_database

Finished = subprocess.CompletedProcess[bytes]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory, django_db_setup: None) -> dict[str, str]:
    """The environment of a fresh installation with the campaign `river`."""
    database = new_database(tmp_path_factory.mktemp("shell") / "assay.sqlite3")
    environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    environment |= {"DATABASE_URL": database, "PYTHONWARNINGS": "error"}
    made = manage(environment, "create_campaign", "river", "--name", "River study")
    assert made.returncode == 0, made.stderr
    return environment


def manage(environment: dict[str, str], *words: object, stdin: bytes = b"") -> Finished:
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), *map(str, words)]
    return subprocess.run(command, env=environment, input=stdin, capture_output=True, check=False)


TOPICS = ("import_topics", "--campaign", "river")


def test_standard_input_is_read_plain_and_packed(shell: dict[str, str]) -> None:
    first = manage(shell, *TOPICS, "-", stdin=b"t1\tone\n")
    assert (first.returncode, first.stdout, first.stderr) == (0, b"", b"1 topic added.\n")
    second = manage(shell, *TOPICS, "-", stdin=gzip.compress(b"t1\tone\n"))
    assert (second.returncode, second.stderr) == (0, b"Nothing changed: 1 topic already loaded.\n")


def test_a_refusal_is_1_and_on_stderr(shell: dict[str, str]) -> None:
    found = manage(shell, *TOPICS, "-", stdin=b"t9\n")
    assert (found.returncode, found.stdout) == (1, b"")
    assert found.stderr == b"<stdin>:1: columns: 2 columns, id<TAB>text, found 1\n"


def test_a_gz_file_is_read_as_is(shell: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "topics.tsv.gz"
    path.write_bytes(gzip.compress(b"t2\ttwo\n"))
    assert manage(shell, *TOPICS, path).stderr == b"1 topic added.\n"


@pytest.mark.parametrize(
    "words",
    [
        ("import_topics", "-"),
        ("import_qrels", "--campaign", "river", "-"),
        ("import_nuggets", "--campaign", "river", "--origin", "guessed", "--judge", "m", "-"),
        ("import_run", "--campaign", "river", "--priority", "high", "-"),
        ("report", "scores", "--campaign", "river"),
        ("report", "correlation", "--campaign", "river", "--x", "A/A", "--y", "Nobody"),
    ],
    ids=["no campaign", "no source", "no such origin", "a word for a priority", "no condition", "no such table"],
)
def test_wrong_usage_is_2_and_on_stderr(shell: dict[str, str], words: tuple[str, ...]) -> None:
    found = manage(shell, *words)
    assert (found.returncode, found.stdout) == (2, b"")
    assert found.stderr


def test_data_go_to_stdout(shell: dict[str, str]) -> None:
    found = manage(shell, "report", "descriptives", "--campaign", "river", "--format", "json")
    assert (found.returncode, found.stdout, found.stderr) == (0, b'{\n  "rows": []\n}\n', b"")


def test_help_has_the_example(shell: dict[str, str]) -> None:
    found = manage(shell, "import_topics", "--help")
    assert found.returncode == 0
    assert b"manage.py import_topics --campaign rag24 topics.rag24.test.tsv" in found.stdout
