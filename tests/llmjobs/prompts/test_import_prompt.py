"""`import_prompt`: wordings from files, and what is wrong with them by file, line and field."""

from pathlib import Path

import pytest

from llmjobs.models import Prompt
from tests.worlds.imported import Outcome, run

pytestmark = pytest.mark.django_db

WORDS = '''\
system = "You assign nuggets."
user = """
{query}

{passage}
{nuggets}
Answer with {length} labels."""
'''


def load(folder: Path, text: str, *options: str) -> Outcome:
    (folder / "strict.toml").write_text(text, "utf-8")
    return run("import_prompt", *options, str(folder / "strict.toml"))


def test_a_wording_is_loaded_once(tmp_path: Path) -> None:
    options = ("--task", "assign", "--name", "strict")
    assert load(tmp_path, WORDS, *options).err == "strict@1 for the task assign: made.\n"
    assert load(tmp_path, WORDS, *options).err == "strict@1 for the task assign: already there; nothing changed.\n"
    assert load(tmp_path, WORDS.replace("You", "We"), *options).err == "strict@2 for the task assign: made.\n"
    first, _ = Prompt.objects.order_by("version")
    assert (first.system, first.user[:10], first.made_by) == ("You assign nuggets.", "{query}\n\n{", None)


def test_the_file_may_say_task_and_name(tmp_path: Path) -> None:
    assert load(tmp_path, f'task = "assign"\nname = "published"\n{WORDS}').code == 0
    assert Prompt.objects.get().name == "published"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WORDS.replace("{passage}", "{cap}"), "2: user: {passage} is missing from the user text"),
        (WORDS.replace("{passage}", "{passage}\n{cap}"), "6: user: {cap} is not a placeholder of assign"),
        (WORDS.replace("You", "{query}"), "1: system: {query} belongs in the user text"),
        (WORDS.replace("system", "sytem"), "1: sytem: "),
        (WORDS + "{", "8: file: valid TOML: "),
        (f'task = "support"\n{WORDS}', "1: task: assign, as was said when it was loaded, found support"),
        (f'name = "other"\n{WORDS}', "1: name: strict, as was said when it was loaded, found other"),
        ("system = 1\nuser = []\n", "1: system: "),
        ("", "file"),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_field(tmp_path: Path, text: str, message: str) -> None:
    outcome = load(tmp_path, text, "--task", "assign", "--name", "strict")
    assert (outcome.code, Prompt.objects.exists()) == (1, False)
    assert "strict.toml:" in outcome.err
    assert message in outcome.err


def test_somebody_must_say_the_task_and_the_name(tmp_path: Path) -> None:
    assert "task: one of nuggetize, importance" in load(tmp_path, WORDS, "--name", "strict").err
    assert "name: letters, digits" in load(tmp_path, WORDS, "--task", "assign").err
