"""Every command explains itself, and the contract names it."""

import pytest
from django.core.management import get_commands, load_command_class

from evaluation.management.base import AssayCommand
from tests.architecture.tree import DJANGOS, ROOT

CONTRACT = {
    "create_campaign",
    "add_judge",
    "import_topics",
    "import_segments",
    "import_qrels",
    "import_run",
    "import_nuggets",
    "import_assignments",
    "import_support",
    "import_scores",
    "import_campaign",
    *("create_study", "judge_study"),  # for the report of a study; the contract may be extended
    "draft_nuggets",
    "evaluate",
    "judge_support",
    "judge_relevance",
    "report",
    "export",
    "simulate_llm",
}
# What came later.
MORE = {
    "import_practice",
    "import_prompt",
    "undo_import",
    "delete_campaign",
    "job",
    "check_texts",
    "grow_study",
    "extend_study",
    "import_random_check",
    "take_drafts",
    "draw_battles",
    "import_battles",
    "sample_battles",
    "fetch_segments",
    "draft_rubrics",
    "judge_battles",
    "gate",
    "import_traces",
}
# What `make run` and an operator use, and no study does.
HOUSE = {
    "load_demo",
    "settings",
    "apply_retention",
    "backup",
    "restore",
    "limit_endpoint",
    "create_token",
}
OURS = sorted(name for name, app in get_commands().items() if (ROOT / app).is_dir() and name not in DJANGOS)


@pytest.mark.parametrize("name", OURS)
def test_a_command_says_what_it_does_with_an_example(name: str) -> None:
    command = load_command_class(get_commands()[name], name)
    assert isinstance(command, AssayCommand)
    assert command.help.strip().endswith(".")
    assert f"manage.py {name}" in command.example
    shown = command.create_parser("manage.py", name).format_help()
    assert command.example in shown
    assert command.help.split(maxsplit=1)[0] in shown


@pytest.mark.parametrize("name", OURS)
def test_a_command_is_in_the_contract_or_of_the_house(name: str) -> None:
    assert name in CONTRACT | MORE | HOUSE


@pytest.mark.parametrize("name", OURS)
def test_every_option_says_what_it_is_for(name: str) -> None:
    command = load_command_class(get_commands()[name], name)
    parser = command.create_parser("manage.py", name)
    assert all(action.help or action.choices or action.metavar for action in parser._actions)


def test_there_are_commands() -> None:
    assert {"create_campaign", "add_judge", "report", "import_scores", "import_run"} <= set(OURS)
