"""What reports print: JSON without NaN, CSV that no spreadsheet runs, tables that say where nothing is."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from evaluation.models import Judge, NuggetSet, Run
from reports import charts
from reports.charts import LIGHT
from reports.files import PictureForm, as_csv, drawn, escaped
from reports.methods.document import MethodsReport, MethodsSection, MethodsTable, methods_json, methods_latex
from tests.worlds.imported import LISTS, load, nuggets, report, run, write
from web.csv_response import safe_cell

ALL = [
    ("scores", "--condition", "A/A"),
    ("correlation", "--x", "A/A", "--y", "A/A", "--resamples", "5"),
    ("confusion", "--rows", "A/A", "--columns", "A/A"),
    ("descriptives",),
    ("support", "--condition", "scratch"),
    ("support-correlation", "--x", "scratch", "--y", "scratch", "--resamples", "5"),
    ("support-confusion", "--rows", "scratch", "--columns", "llm"),
]


@pytest.mark.usefixtures("labelled")
@pytest.mark.parametrize("words", ALL, ids=[words[0] for words in ALL])
@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_every_report_prints_in_every_format(words: tuple[str, ...], form: str) -> None:
    outcome = run("report", *words, "--campaign", "river", "--format", form)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.strip()


@pytest.mark.django_db
@pytest.mark.parametrize("words", ALL, ids=[words[0] for words in ALL])
@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_an_empty_campaign_has_reports_too(words: tuple[str, ...], form: str) -> None:
    run("create_campaign", "river", "--name", "River study")
    assert run("report", *words, "--campaign", "river", "--format", form).code == 0


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_a_spreadsheet_would_run_is_quoted(start: str) -> None:
    assert safe_cell(f"{start}SUM(A1)") == f"'{start}SUM(A1)"


def test_negative_numbers_stay_numbers() -> None:
    assert as_csv([{"a": -0.5, "b": None}]) == "a,b\n-0.5,"


@pytest.mark.usefixtures("labelled")
def test_names_in_the_database_that_no_import_would_take_are_quoted() -> None:
    Run.objects.filter(run_id="alpha").update(group="=HYPERLINK(A1)", run_id="@alpha")
    out = run("report", "scores", "--campaign", "river", "--condition", "A/A", "--format", "csv").out
    [alpha] = [row for row in csv.DictReader(io.StringIO(out)) if row["run_id"].endswith("alpha")]
    assert (alpha["run_id"], alpha["group"]) == ("'@alpha", "'=HYPERLINK(A1)")


@pytest.mark.usefixtures("labelled")
def test_names_of_sets_and_judges_are_quoted() -> None:
    NuggetSet.objects.update(name="-set")
    Judge.objects.filter(name="m").update(name="+m")
    out = run("report", "descriptives", "--campaign", "river", "--format", "csv").out
    cells = {cell for line in csv.reader(io.StringIO(out)) for cell in line}
    assert {"'-set", "'+m"} <= cells


@pytest.mark.usefixtures("labelled")
def test_the_descriptives_of_a_set_and_of_its_labels() -> None:
    first, second = report("descriptives")["rows"]
    assert (first["nuggets"], first["topics"], first["nuggets_per_topic"], first["words_per_nugget"]) == (
        *("auto-m", 2),
        *(1.5, 1.0),
    )
    assert (first["vital"], first["okay"], first["unknown"]) == pytest.approx((2 / 3, 1 / 3, 0))
    assert (second["condition"], second["judge"]) == ("A/A", "m")
    shares = (second["not_support"], second["partial_support"], second["support"])
    assert shares == pytest.approx((2 / 5, 1 / 5, 2 / 5))


@pytest.mark.usefixtures("labelled")
def test_conditions_on_different_nuggets_have_no_pairs(labelled: Path) -> None:
    load("import_nuggets", "--origin", "edited", "--judge", "Ann", write(labelled, "e", LISTS))
    words = ("--rows", "A/A", "--columns", "E/A")
    document = report("confusion", *words)
    assert (document["pairs"], document["kappa"], document["agreement"]) == (0, None, None)
    assert "no pair is in both" in run("report", "confusion", "--campaign", "river", *words).out


@pytest.fixture
def edited(labelled: Path) -> Path:
    """Drafts, and an edited set made from them: one topic changed, one as it was."""
    drafts = [nuggets("t1", ("rivers bend", ""), ("sand moves", "")), nuggets("t2", ("dams fail", ""))]
    load("import_nuggets", "--origin", "draft", "--judge", "m", write(labelled, "d", drafts))
    after = [nuggets("t1", ("rivers bend", "vital"), ("mud", "okay")), nuggets("t2", ("dams fail", "vital"))]
    load(
        "import_nuggets",
        "--origin",
        "edited",
        "--judge",
        "Ann",
        "--drafts",
        "draft-m",
        write(labelled, "e", after),
    )
    return labelled


@pytest.mark.usefixtures("edited")
def test_edits_are_inferred_against_the_drafts() -> None:
    document = report("edits")
    shares = {row["edit"]: row["share"] for row in document["rows"]}
    assert (document["nuggets"], document["drafts"], document["inferred"]) == ("edited-Ann", "draft-m", True)
    assert (shares["add_nugget"], shares["remove_nugget"], shares["no_edit"]) == (0.5, 0.5, 0.5)
    assert all(row["authors_share"] is None for row in document["rows"])


@pytest.mark.usefixtures("labelled")
def test_edits_without_an_edited_set_are_refused() -> None:
    outcome = run("report", "edits", "--campaign", "river")
    assert (outcome.code, outcome.err) == (1, "There is no edited nugget set.\n")


def test_long_names_keep_their_ends_in_pictures() -> None:
    names = [f"university-of-the-long-name_reranked-with-a-large-model_{end}" for end in ("first", "second")]
    rows = [{"name": name, "low": 0.1, "point": 0.2, "high": 0.3, "published": None} for name in names]
    picture = drawn(charts.spans(charts.PAPER, rows, "score"), PictureForm.SVG).decode()
    assert re.findall(r">(university[^<]*)<", picture) == [
        f"university-of-the-long-n…{name[-19:]}" for name in names
    ]


@pytest.mark.parametrize("tasks", [("RAG", "AG"), ("AG", "RAG"), ("AG", "RAG", "topic")])
def test_a_task_has_the_same_colour_in_every_picture(tasks: tuple[str, ...]) -> None:
    rows = [{"name": task, "task": task, "x": place, "y": place} for place, task in enumerate(tasks)]
    scale = json.loads(charts.plane(charts.PAPER, rows, ("x", "y")))["layer"][0]["encoding"]["fill"]["scale"]
    colours = dict(zip(scale["domain"], scale["range"], strict=True))
    assert (colours["RAG"], colours["AG"]) == LIGHT.fills[:2]
    assert len(set(colours.values())) == len(tasks)


@pytest.mark.parametrize("palette", [charts.PAPER, charts.LIGHT])
def test_a_name_covers_no_point_and_no_other_name(palette: charts.Palette) -> None:
    """Beside the first point, on its right, stands the second: the usual place of the first one's name."""
    at = {"first": (0.5, 0.5), "second": (0.55, 0.52), "third": (0.9, 0.9), "fourth": (0.1, 0.1)}
    rows = [{"name": name, "task": "RAG", "x": x, "y": y} for name, (x, y) in at.items()]
    layers = json.loads(charts.plane(palette, rows, ("x", "y")))["layer"]
    texts = [layer for layer in layers if layer["mark"]["type"] == "text"]
    places = {
        row["name"]: (layer["mark"]["align"], layer["mark"]["dy"])
        for layer in texts
        for row in layer["data"]["values"]
    }
    usual = ("left", -8)
    assert places == {"first": ("left", 8), "second": usual, "third": usual, "fourth": usual}
    assert sum(len(layer["data"]["values"]) for layer in texts) == 2 * len(rows)


def test_the_methods_report_lines_numbers_up() -> None:
    table = MethodsTable(
        "Runs", {"run": "Run", "score": "Score"}, [{"run": "alpha", "score": 0.5}, {"run": "beta"}]
    )
    assert table.headings == [("Run", False), ("Score", True)]
    assert table.cells == [[("alpha", False), ("0.500", True)], [("beta", False), ("\N{EN DASH}", True)]]


def test_the_methods_report_calls_a_score_by_its_name() -> None:
    table = MethodsTable("Tau", {"score": "Score"}, [{"score": "vital_strict"}])
    assert table.cells == [[("vital, strict", False)]]
    report = MethodsReport("River", "river", 1, [MethodsSection("Agreement", [], [table])])
    assert "vital, strict" in methods_latex(report)
    assert '"vital_strict"' in methods_json(report)  # programs compare codes


def test_signs_that_latex_prints_as_others_are_escaped() -> None:
    assert escaped("a<b>c|d") == r"a\textless{}b\textgreater{}c\textbar{}d"
