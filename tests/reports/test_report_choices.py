"""Which judge and nugget set a condition means: the named ones, the campaign's default, or the report asks."""

import re
from pathlib import Path

import pytest
from django import forms
from django.http import QueryDict
from django.urls import reverse

from evaluation.models import Campaign
from reports.forms import ChoicesForm
from reports.registry import pages
from tests.reports.conftest import settle
from tests.worlds.blind import make_blind_world
from tests.worlds.imported import AUTO, LABELS, LISTS, SUPPORT, Outcome, labels, load, report, run, write


@pytest.fixture
def two_judges(labelled: Path) -> Path:
    """Labels of a second LLM, n, and of a second assessor, Ben, both harsher; and citation labels of two LLMs."""
    given = [labels("alpha", "t1", ("bends", "not_support"), ("sand", "not_support"))]
    load("import_assignments", "--origin", "auto", "--judge", "n", "--by", "llm", write(labelled, "n", given))
    harsh = [row | {"label": "no_support"} for row in SUPPORT]
    by_ben = ("--judge", "Ben", "--by", "human", "--condition", "scratch")
    load("import_support", *by_ben, write(labelled, "ben", harsh))
    for llm in ("m", "n"):
        load("import_support", "--judge", llm, "--by", "llm", write(labelled, f"cited-{llm}", SUPPORT))
    return labelled


@pytest.fixture
def two_sets(labelled: Path) -> Path:
    """A second automatic set, also labelled by m."""
    load("import_nuggets", *AUTO, "--set", "other", write(labelled, "o", LISTS))
    by_m = ("--origin", "auto", "--judge", "m", "--by", "llm", "--nuggets", "other")
    load("import_assignments", *by_m, write(labelled, "ol", LABELS))
    return labelled


def ask(kind: str, *args: str) -> Outcome:
    return run("report", kind, "--campaign", "river", *args)


@pytest.mark.usefixtures("two_judges")
@pytest.mark.parametrize(
    ("kind", "args", "message"),
    [
        ("scores", ("--condition", "A/A"), "Several judges fit A/A; choose one: m, n. Option: --judge.\n"),
        (
            "support",
            ("--condition", "llm"),
            "Several judges fit llm; choose one: m, n. Option: --judge.\n",
        ),
        ("correlation", ("--x", "A/A", "--y", "A/A"), "Option: --x-judge.\n"),
        ("correlation", ("--x", "A/A", "--y", "A/A", "--x-judge", "m"), "Option: --y-judge.\n"),
        ("confusion", ("--rows", "A/A", "--columns", "A/A"), "Option: --rows-judge.\n"),
        ("support-confusion", ("--rows", "llm", "--columns", "scratch"), "Option: --rows-judge.\n"),
        ("support-correlation", ("--x", "scratch", "--y", "llm"), "Option: --y-judge.\n"),
    ],
)
def test_several_judges_are_asked_for(kind: str, args: tuple[str, ...], message: str) -> None:
    outcome = ask(kind, *args)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err


@pytest.mark.usefixtures("two_sets")
def test_several_sets_are_asked_for() -> None:
    outcome = ask("scores", "--condition", "A/A")
    assert (outcome.code, outcome.err) == (
        2,
        "Several nugget sets fit A/A; choose one: auto-m, other. Option: --nuggets.\n",
    )


@pytest.mark.usefixtures("two_sets")
def test_the_named_set_is_used() -> None:
    assert report("scores", "--condition", "A/A", "--nuggets", "other")["nuggets"] == "other"


@pytest.mark.usefixtures("two_judges")
def test_the_named_judge_is_used() -> None:
    document = report("scores", "--condition", "A/A", "--judge", "n", "--missing", "skip")
    assert document["judge"] == "n"
    assert {row["run_id"]: row["judged"] for row in document["runs"]} == {"alpha": 2, "beta": 0}


@pytest.mark.usefixtures("two_judges")
def test_two_judges_of_one_condition_are_compared() -> None:
    sides = ("--rows", "A/A", "--rows-judge", "n", "--columns", "A/A", "--columns-judge", "m")
    document = report("confusion", *sides)
    assert document["counts"] == [[1, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert (document["pairs"], document["harsh_conflicts"]) == (2, 1)


def test_the_campaign_s_default_is_used(two_judges: Path) -> None:
    settle(two_judges, '[defaults."A/A"]\njudge = "n"\n\n[defaults.scratch]\njudge = "Ben"\n')
    assert report("scores", "--condition", "A/A")["judge"] == "n"
    assert report("support", "--condition", "scratch")["judge"] == "Ben"


def test_a_default_yields_to_a_name(two_judges: Path) -> None:
    settle(two_judges, '[defaults."A/A"]\njudge = "n"\n')
    assert report("scores", "--condition", "A/A", "--judge", "m")["judge"] == "m"


def test_a_default_set_is_used(two_sets: Path) -> None:
    settle(two_sets, '[defaults."A/A"]\nnuggets = "other"\n')
    assert report("scores", "--condition", "A/A")["nuggets"] == "other"


@pytest.mark.usefixtures("labelled")
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--judge", "Zoe"), "Zoe has no labels under A/A; there are: m."),
        (("--nuggets", "other"), "A/A has no nugget set other in river; there are: auto-m."),
    ],
)
def test_an_unknown_name_is_refused_with_those_there_are(args: tuple[str, ...], message: str) -> None:
    outcome = ask("scores", "--condition", "A/A", *args)
    assert (outcome.code, outcome.err) == (1, f"{message}\n")


@pytest.mark.usefixtures("labelled")
def test_people_s_labels_of_automatic_nuggets_are_another_condition(labelled: Path) -> None:
    by_ann = ("--origin", "auto", "--judge", "Ann", "--by", "human")
    load("import_assignments", *by_ann, write(labelled, "a", LABELS))
    assert report("scores", "--condition", "A/M")["judge"] == "Ann"
    assert report("scores", "--condition", "A/A")["judge"] == "m"


class LengthsForm(ChoicesForm):
    """A page whose `measure` is no measure of citations."""

    measure = forms.ChoiceField(choices=[("words", "words"), ("sentences", "sentences")], initial="words")


@pytest.mark.usefixtures("labelled")
def test_another_page_s_measure_has_its_own_default() -> None:
    form = LengthsForm(QueryDict(), Campaign.objects.get())
    assert form.is_valid()
    assert (form.chosen["measure"], form.changed_rules) == ("words", [])


@pytest.mark.slow
@pytest.mark.django_db
def test_no_choice_of_nonsense_or_of_nothing_breaks_a_page(tmp_path: Path) -> None:
    world, _ = make_blind_world(tmp_path, with_canaries=False)
    client = world.client("olga")
    for name, entry in pages().items():
        fields = entry.make(world.campaign, QueryDict()).form.fields
        choices = [
            *({field: word} for field in fields for word in ("nonsense", "")),
            dict.fromkeys(fields, "nonsense"),
        ]
        for choice in choices:
            page = client.get(reverse(f"reports:{name}", args=["river"]), choice, follow=True)
            assert page.status_code in {200, 422}, (name, choice)
            described = set(re.findall(r'aria-describedby="(\w+_error)"', page.text))
            assert described <= set(re.findall(r' id="(\w+)"', page.text)), (name, choice)
