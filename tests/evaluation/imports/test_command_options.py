"""Options that name things: unknown ones are refused with what there is, unfit ones are wrong usage."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluation.models import Judge
from tests.worlds.cast import make_user
from tests.worlds.imported import (
    AUTO,
    BY_LLM,
    LABELS,
    SUPPORT,
    Rows,
    answer,
    everything,
    nuggets,
    refuse,
    run,
    write,
)


@pytest.mark.django_db
def test_an_unknown_campaign_is_refused_with_those_there_are() -> None:
    run("create_campaign", "lake", "--name", "Lake")
    outcome = run("report", "scores", "--campaign", "sea", "--condition", "A/A")
    assert (outcome.code, outcome.err) == (1, "There is no campaign sea; there are: lake.\n")


def test_an_unknown_nugget_set_is_refused_with_those_there_are(lists: Path) -> None:
    message = refuse("import_assignments", *BY_LLM, "--nuggets", "other", write(lists, "l", LABELS))
    assert "there are: auto-m" in message


def test_several_nugget_sets_must_be_told_apart(lists: Path) -> None:
    run("import_nuggets", "--campaign", "river", *AUTO, "--set", "other", write(lists, "n", [nuggets("t1")]))
    labels = write(lists, "l", '{"qid": "t1", "run_id": "alpha", "nuggets": []}\n')
    outcome = run("import_assignments", "--campaign", "river", *BY_LLM, labels)
    assert (outcome.code, outcome.err) == (
        2,
        "Several nugget sets fit origin auto; choose one: auto-m, other. Option: --nuggets.\n",
    )


NAMES = ["=1+1", "@SUM(A1)", "a\0b", "a\nb", " ", "", " Ann", "x" * 300]
NAMING: dict[str, tuple[tuple[str, ...], str | Sequence[Rows]]] = {
    "import_qrels": (("--source", "{}"), "t1 0 d1 0\n"),
    "import_run": (("--group", "{}"), [answer("gamma", "t1")]),
    "import_nuggets": (("--origin", "auto", "--judge", "{}"), [nuggets("t1")]),
    "import_nuggets --set": ((*AUTO, "--set", "{}"), [nuggets("t1")]),
    "import_assignments": (("--origin", "auto", "--by", "llm", "--judge", "{}"), LABELS),
    "import_support": (("--by", "human", "--condition", "scratch", "--judge", "{}"), SUPPORT),
    "import_scores": (("--condition", "{}"), "run_id,all\nalpha,0.5\n"),
}


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:20])
@pytest.mark.parametrize("command", NAMING)
def test_a_name_that_a_spreadsheet_would_run_or_nobody_can_read(lists: Path, command: str, name: str) -> None:
    if not name and command in {"import_nuggets --set", "import_run"}:
        pytest.skip("an empty one is none")
    options, content = NAMING[command]
    path, before = write(lists, "file", content), everything()
    given = [word.format(name) for word in options]
    outcome = run(command.split(maxsplit=1)[0], "--campaign", "river", *given, path)
    assert outcome.code == 1, outcome
    assert everything() == before


@pytest.mark.django_db
@pytest.mark.parametrize("priority", [-1, 0, 40_000])
def test_a_priority_counts_from_1(tmp_path: Path, priority: int) -> None:
    run("create_campaign", "river", "--name", "River study")
    path = write(tmp_path, "run.jsonl", [answer("gamma", "t1")])
    assert run("import_run", "--campaign", "river", "--priority", priority, path).code == 2


@pytest.mark.django_db
def test_a_published_table_may_not_be_named_as_a_condition(tmp_path: Path) -> None:
    run("create_campaign", "river", "--name", "River study")
    path = write(tmp_path, "scores.csv", "run_id,all\nalpha,0.5\n")
    assert "E/M is a condition of Assay" in refuse("import_scores", "--condition", "E/M", path)


@pytest.mark.django_db
def test_a_judge_is_made_once() -> None:
    llm = ("add_judge", "gpt-4o", "--by", "llm", "--model", "gpt-4o")
    assert run(*llm).err == "gpt-4o, an LLM (gpt-4o): made.\n"
    before = everything()
    assert run(*llm).err == "gpt-4o, an LLM (gpt-4o): already there; nothing changed.\n"
    assert everything() == before
    other = run("add_judge", "gpt-4o", "--by", "llm", "--model", "o1")
    assert (other.code, other.err) == (1, "There is another judge named gpt-4o: an LLM (gpt-4o).\n")


@pytest.mark.django_db
def test_a_person_judges_with_an_account() -> None:
    make_user("ann")
    assert run("add_judge", "Ann", "--by", "human", "--user", "ann").code == 0
    assert Judge.objects.get().user is not None
    assert run("add_judge", "Ben", "--by", "human", "--user", "ben").err == "There is no account ben.\n"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "options",
    [
        ("--by", "llm"),
        ("--by", "human"),
        ("--by", "human", "--user", "ann", "--model", "m"),
        ("--by", "llm", "--model", "m", "--user", "ann"),
        ("--by", "llm", "--model", "m", "--base-url", "javascript:alert(1)"),
        ("--by", "llm", "--model", "m" * 300),
    ],
)
def test_a_judge_that_is_neither_person_nor_llm_is_refused(options: tuple[str, ...]) -> None:
    make_user("ann")
    assert run("add_judge", "Eve", *options).code in {1, 2}
    assert not Judge.objects.exists()


@pytest.mark.django_db
def test_a_second_judge_of_one_account_is_refused() -> None:
    make_user("ann")
    run("add_judge", "Ann", "--by", "human", "--user", "ann")
    outcome = run("add_judge", "Anna", "--by", "human", "--user", "ann")
    assert (outcome.code, outcome.err) == (1, "ann judges as Ann already.\n")
