"""Win rates and ratings of battles, from files of verdicts to the report."""

from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import BadInput
from evaluation.formats.battles import parse_battles
from evaluation.formats.source import Source
from evaluation.models import AnswerProvenance, Battle, Campaign, Event, Verdict
from reports.methods.report import methods_documents
from tests.reports.battles.worlds import load_runs
from tests.worlds.imported import load, refuse, report, run, write

pytestmark = pytest.mark.django_db
BY_PEOPLE = ("--condition", "B/M")
FEW = (*BY_PEOPLE, "--least-topics", "3", "--least-battles", "1")
BATTLES = (
    *("t2 c-a", "t2 b-d", "t3 a-b", "t3 d-c", "t1 a-d", "t1 c-b"),
    *("t2 b-a", "t2 d-c", "t3 a-d", "t3 b-c", "t1 c-a", "t1 b-d"),
)
VERDICTS = "R L L R L L L R R bad R tie"
WORDS = {"R": "right", "L": "left"}


def verdicts(judge: str = "ann") -> list[dict[str, Any]]:
    rows = []
    for battle, word in zip(BATTLES, VERDICTS.split(), strict=True):
        topic, pair = battle.split()
        left, right = pair.split("-")
        row = {"topic_id": topic, "left": left, "right": right, "verdict": WORDS.get(word, word), "judge": judge}
        rows.append(row)
    return rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    load_runs(tmp_path, "abcd", ("t1", "t2", "t3"))
    load("draw_battles", "--seed", "demo", "--rounds", 2)
    return tmp_path


def test_four_runs_have_the_figures_of_the_worked_example(folder: Path) -> None:
    load("import_battles", "--by", "human", write(folder, "verdicts.jsonl", verdicts()))
    document = report("battles", *FEW)
    runs = {row["run_id"]: row for row in document["runs"]}
    assert {name: row["win_rate"] for name, row in runs.items()} == pytest.approx(
        {"a": 2 / 3, "b": 0.5, "c": 7 / 12, "d": 0.25}, abs=1e-12
    )
    ratings = {
        "a": (1095.533273, 667.870588, 1523.195957),
        "b": (1001.382930, 414.535470, 1588.230390),
        "c": (1047.812892, 949.623857, 1146.001926),
        "d": (855.270906, 385.477922, 1325.063890),
    }
    for name, expected in ratings.items():
        row = runs[name]
        assert (row["rating"], row["rating_low"], row["rating_high"]) == pytest.approx(expected, abs=1e-6)
    gap = next(gap for gap in document["differences"] if (gap["a"], gap["b"]) == ("a", "d"))
    assert (gap["value"], gap["p"]) == pytest.approx((0.416667, 0.270675), abs=1e-6)
    side = document["side"]
    assert (side["value"], side["low"], side["high"]) == pytest.approx((0.5, 0.099124, 0.900876), abs=1e-6)


def test_a_sample_corrects_an_llm_as_in_the_worked_example(folder: Path) -> None:
    load("import_battles", "--by", "human", write(folder, "verdicts.jsonl", verdicts()))
    by_llm = zip(
        verdicts("robot"), ["L", "L", "tie", "L", "L", "R", "L", "R", "tie", "bad", "R", "tie"], strict=True
    )
    rows = [row | {"verdict": WORDS.get(word, word)} for row, word in by_llm]
    load("import_battles", "--by", "llm", write(folder, "llm.jsonl", rows))
    load("sample_battles", "--n", 6)
    few = ("--by", "corrected", "--least-topics", "3", "--least-battles", "1")
    document = report("battles", "--condition", "B/A", *few)
    [run_d] = [row for row in document["runs"] if row["run_id"] == "d"]
    assert (run_d["drawn"], run_d["judged"]) == (4, 4)
    corrected = run_d["corrected"]
    assert (corrected["value"], corrected["low"], corrected["high"]) == pytest.approx(
        (0.369048, 0.25, 0.583333), abs=1e-6
    )
    assert (run_d["llm"]["value"], run_d["people"]["value"]) == pytest.approx((1 / 3, 0.375), abs=1e-12)


def test_few_topics_and_battles_are_refused_with_the_reason(folder: Path) -> None:
    load("import_battles", "--by", "human", write(folder, "verdicts.jsonl", verdicts()))
    rows = report("battles", *BY_PEOPLE)["runs"]
    assert {(row["win_rate"], row["rating"], row["reason"]) for row in rows} == {(None, None, "too few topics")}
    rows = report("battles", *BY_PEOPLE, "--least-topics", "3")["runs"]
    assert {row["reason"] for row in rows} == {"too few battles"}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"left": "a", "right": "c"}, "left: the sides as they were drawn, not a and c on topic t2"),
        ({"right": "z"}, "right: an answer that is loaded; there is none of z for topic t2"),
        ({"verdict": "both"}, "verdict: "),
        ({"right": "c"}, "right: another run than on the left"),
        ({"judge": None}, "judge: who judged"),
        ({"round": 0}, "round: "),
        ({"round": 32_768}, "round: "),
    ],
)
def test_a_verdict_that_does_not_fit_is_refused(folder: Path, change: dict[str, Any], text: str) -> None:
    first, *others = verdicts()
    path = write(folder, "verdicts.jsonl", [first | change, *others])
    message = refuse("import_battles", "--by", "human", path)
    assert f"{path}:1: {text}" in message


def test_two_verdicts_of_one_judge_are_refused(folder: Path) -> None:
    first = verdicts()[0]
    path = write(folder, "verdicts.jsonl", [first, first])
    assert "2: verdict: one verdict of ann; it is also at" in refuse("import_battles", "--by", "human", path)


@pytest.mark.parametrize("row", ["t1,a,b,tie,c", "t1,a,b", 't1,a,b,"tie'])
def test_a_row_of_a_table_has_the_columns_of_its_header(row: str) -> None:
    lines = ["topic_id,model_a,model_b,winner", row, "t1,a,b,tie"]
    with pytest.raises(BadInput, match=r"arena\.csv:2: (columns: 4 columns|line: valid CSV)"):
        parse_battles(Source("arena.csv", "", tuple(enumerate(lines, 1))), "arena")


def test_rows_below_a_cell_over_two_lines_keep_their_lines() -> None:
    lines = ["topic_id,model_a,model_b,winner,note", 't1,a,b,tie,"so', 'so"', "t1,a,c,nobody,"]
    with pytest.raises(BadInput, match=r"arena\.csv:4: winner: model_a, model_b, tie, both_bad, found 'nobody'"):
        parse_battles(Source("arena.csv", "", tuple(enumerate(lines, 1))), "arena")


def test_a_person_says_one_verdict_of_a_battle_whatever_the_side(folder: Path) -> None:
    row = {"topic_id": "t1", "left": "a", "right": "b", "verdict": "left", "judge": "ann"}
    turned = {**row, "left": "b", "right": "a"}
    only = ("--by", "human", "--set", "imported")
    load("import_battles", *only, write(folder, "first.jsonl", [row]))
    path = write(folder, "second.jsonl", [turned])
    assert f"{path}:1: verdict: what is already loaded for b and a on topic t1" in refuse(
        "import_battles", *only, path
    )
    load("import_battles", *only, "--replace", path)
    [verdict] = Verdict.objects.current()
    assert (verdict.left.sentences.get().text, Verdict.objects.count()) == ("It is b.", 2)
    robot = ("--by", "llm", "--judge", "robot", "--set", "imported")
    load("import_battles", *robot, write(folder, "llm.jsonl", [row, turned]))
    assert Verdict.objects.current().filter(judge__kind="llm").count() == 2


def test_another_reason_why_nobody_can_judge_is_a_change(folder: Path) -> None:
    first = verdicts()[0] | {"verdict": "cant_judge", "reason": "both are empty"}
    load("import_battles", "--by", "human", write(folder, "first.jsonl", [first]))
    path = write(folder, "second.jsonl", [first | {"reason": "in a language unknown to me"}])
    assert "what is already loaded for c and a on topic t2" in refuse("import_battles", "--by", "human", path)
    assert "Nothing changed" in load("import_battles", "--by", "human", write(folder, "first.jsonl", [first])).err


@pytest.mark.parametrize("form", ["assay", "ragdoll", "arena"])
def test_no_form_names_a_person_under_pseudonyms(folder: Path, form: str, tmp_path: Path) -> None:
    path = tmp_path / "verdicts"
    load("import_battles", "--by", "human", write(folder, "verdicts.jsonl", verdicts("Ann Archer")))
    choice = ("battles", "--campaign", "river", *BY_PEOPLE, "--form", form, "--output", path)
    outcome = run("export", *choice, "--pseudonyms")
    assert outcome.code == 0, outcome.err
    text = path.read_text("utf-8")
    assert text.count("\n") == len(BATTLES) + (form == "arena")
    assert "Archer" not in text


@pytest.mark.parametrize("form", ["assay", "ragdoll", "arena"])
def test_verdicts_of_two_people_on_one_battle_come_back_as_theirs(folder: Path, form: str) -> None:
    of_ben = [row | {"verdict": "tie"} for row in verdicts("Ben, B.")[:4]]
    load("import_battles", "--by", "human", write(folder, "verdicts.jsonl", verdicts("ann") + of_ben))
    here, path = report("battles", *FEW), folder / "out"
    load("export", "battles", *BY_PEOPLE, "--form", form, "--output", path)
    load("undo_import", Event.objects.filter(kind="import.battles").latest("pk").pk)
    assert "16 verdicts added" in load("import_battles", "--by", "human", "--form", form, path).err
    assert report("battles", *FEW) == here
    assert report("battles", *FEW, "--judge", "ann")["runs"] != here["runs"]


@pytest.mark.parametrize(
    ("header", "judge", "words"),
    [
        ("judge", "=ann", "2: judge: something that does not begin with"),
        ("judge,judge", "ann,ben", "1: judge: a column of this name once"),
    ],
)
def test_a_judge_of_a_table_is_a_name_that_it_has_once(header: str, judge: str, words: str) -> None:
    lines = [f"topic_id,model_a,model_b,winner,{header}", f"t1,a,b,tie,{judge}"]
    with pytest.raises(BadInput, match=words):
        parse_battles(Source("arena.csv", "", tuple(enumerate(lines, 1))), "arena")


def test_an_import_of_verdicts_is_taken_back(folder: Path) -> None:
    load("import_battles", "--by", "human", write(folder, "verdicts.jsonl", verdicts()))
    [line] = [line for line in run("undo_import", "--campaign", "river").out.splitlines() if "\tbattles\t" in line]
    undone = run("undo_import", "--campaign", "river", line.split("\t")[0])
    assert "12 verdicts withdrawn" in undone.out + undone.err
    assert "No battle of battles was judged" in run("report", "battles", "--campaign", "river", *BY_PEOPLE).err
    load("import_battles", "--by", "human", write(folder, "verdicts.jsonl", verdicts()))
    assert report("battles", *FEW)["runs"][0]["win_rate"] == pytest.approx(2 / 3)


def test_a_run_that_won_every_battle_has_a_win_rate_and_no_rating(folder: Path) -> None:
    rows = [
        row | {"verdict": "left" if row["left"] == "a" else "right"} for row in verdicts() if "a" in row.values()
    ]
    others = [row | {"verdict": "tie"} for row in verdicts() if "a" not in row.values()]
    load("import_battles", "--by", "human", write(folder, "verdicts.jsonl", [*rows, *others]))
    runs = {row["run_id"]: row for row in report("battles", *FEW)["runs"]}
    assert (runs["a"]["win_rate"], runs["a"]["rating"], runs["a"]["reason"]) == (1.0, None, "won every battle")
    assert runs["a"]["low"] < 1
    assert runs["b"]["rating"] is not None
    assert {row["few"] for row in runs.values()} == {True}


def test_the_methods_say_how_battles_were_drawn_and_judged(folder: Path) -> None:
    load("import_battles", "--by", "human", write(folder, "verdicts.jsonl", verdicts()))
    text = methods_documents(Campaign.objects.get())["methods.json"]
    drawn = "12 battles over 3 topics (round robin dealt over topics, seed demo), sides drawn, judged blind by 1 person"
    assert drawn in text
    assert "No run's name was shown; its style may still have been known again." in text


def test_a_correlation_with_battles_leads_to_their_report(folder: Path) -> None:
    words = ("--x", "B/M", "--y", "E/M")
    outcome = run("report", "correlation", "--campaign", "river", *words)
    assert outcome.code == 2
    assert "B/M is of battles: their report has the tau with another condition." in outcome.err


@pytest.mark.parametrize(("in_both", "is_said"), [(99, False), (100, True), (110, False)])
def test_orders_that_differ_ask_for_the_rest_in_both(tmp_path: Path, in_both: int, is_said: bool) -> None:
    """Of few battles nothing follows, and where all were judged in both orders no rest is left."""
    load_runs(tmp_path, "abcde", [f"t{number}" for number in range(11)])
    load("draw_battles", "--seed", "demo")
    runs = dict(AnswerProvenance.objects.values_list("answer", "run__run_id"))
    rows = [
        {"topic_id": battle.topic.topic_id, "left": runs[battle.left_id], "right": runs[battle.right_id]}
        | {"verdict": "left", "judge": "robot"}
        for battle in Battle.objects.select_related("topic")
    ]
    turned = [row | {"left": row["right"], "right": row["left"]} for row in rows[:in_both]]
    load("import_battles", "--by", "llm", write(tmp_path, "llm.jsonl", [*rows, *turned]))
    text = run("report", "battles", "--campaign", "river", "--condition", "B/A").out
    assert ("The two orders of robot agree in 0.00 of battles: judge the rest in both." in text) is is_said
