"""The example that is counted by hand, by the commands: drawn, judged, reported, exported, grown, extended."""

import json
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from evaluation.labelling import touch
from evaluation.models import (
    AnswerProvenance,
    Campaign,
    Event,
    Judge,
    ListedNugget,
    NuggetList,
    NuggetVersion,
    RandomCheckPair,
    Study,
    StudyPair,
)
from reports.confusion.paired_labels import ItemKind
from reports.confusion.verdicts import Pair, adjudicate, find_pair, take_back
from reports.models import BOTH
from tests.metrics.random_check.test_example import CORRECTED
from tests.worlds.imported import answer, load, refuse, run, sentence, write
from tests.worlds.random_checks import (
    CODES,
    DRAWN,
    EXAMPLE,
    FIVE,
    MACHINE,
    add_labels,
    corrected,
    judge,
    make_example,
    people_rows,
)

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]
LOOSE = ("--least-judged", "1")


@pytest.fixture
def folder(db: None, tmp_path: Path) -> Path:
    """The example with an LLM's labels, nothing drawn."""
    return make_example(tmp_path)


@pytest.fixture
def judged(folder: Path) -> Path:
    drawn = run(*FIVE)
    assert (drawn.code, drawn.err) == (0, "check: 2 runs x 5 = 10 of 12 pairs, labelled by llm.\n")
    assert judge(folder, people_rows()).code == 0
    return folder


def of_run(document: Any, run_id: str) -> Any:
    return next(row for row in document["runs"] if row["run_id"] == run_id)


@pytest.mark.usefixtures("judged")
@pytest.mark.parametrize("score", CORRECTED)
def test_every_digit_of_the_example_comes_out(score: str) -> None:
    document = corrected("--score", score, *LOOSE)
    a, b, (gap, half) = CORRECTED[score]
    for run_id, expected in (("A", a), ("B", b)):
        found = of_run(document, run_id)["corrected"]
        assert [found[name] for name in ("value", "low", "high")] == pytest.approx(expected, abs=1e-6)
    [difference] = document["differences"]
    assert (difference["a"], difference["b"]) == ("A", "B")
    assert [difference[name] for name in ("value", "low", "high")] == pytest.approx(
        [gap, gap - half, gap + half], abs=1e-6
    )
    assert (document["seed"], document["target"], document["study"]) == ("demo", "these", "check")


@pytest.mark.usefixtures("judged")
def test_the_llm_s_own_scores_stand_beside() -> None:
    scores = {"vital_strict": (1.0, 0.25), "weighted": (0.65, 0.425), "all": (0.5, 0.416667)}
    for score, expected in scores.items():
        assert [row["llm"] for row in corrected("--score", score, *LOOSE)["runs"]] == pytest.approx(
            expected, abs=1e-6
        )


def exported(folder: Path) -> Path:
    file = folder / "out.jsonl"
    assert run("export", "random-check", "--campaign", "river", "--study", "check", "--output", file).code == 0
    return file


def test_the_drawn_pairs_leave_with_what_they_were_drawn_by(judged: Path) -> None:
    rows = [json.loads(line) for line in exported(judged).read_text("utf-8").splitlines()]
    assert len(rows) == 10
    assert not DRAWN & {(row["run_id"], row["topic_id"], row["nugget"]) for row in rows}
    first = rows[0]
    assert first["u"] == pytest.approx(0.096648, abs=1e-6)
    assert (first["x"], first["pi"], first["stratum"], first["machine"]) == (
        pytest.approx(0.2),
        1.0,
        "support",
        "support",
    )
    assert first["labels"] == {"ann, study check": "support"}
    assert corrected("--pairs", *LOOSE)["pairs"] == rows


def test_an_export_under_pseudonyms_comes_back_as_by_the_same_person(judged: Path) -> None:
    file = judged / "out.jsonl"
    run("export", "random-check", "--campaign", "river", "--study", "check", "--pseudonyms", "--output", file)
    [called] = {name for line in file.read_text("utf-8").splitlines() for name in json.loads(line)["labels"]}
    assert called.startswith("person-")
    before = list(Judge.objects.values_list("name", flat=True))
    for who in (called, called.removesuffix(", study check"), "ann"):
        receipt = run("import_random_check", "--campaign", "river", "--study", "check", "--judge", who, file)
        assert receipt.err == "Nothing changed: 10 labels already loaded.\n", who
    assert list(Judge.objects.values_list("name", flat=True)) == before


def test_an_export_goes_in_elsewhere_and_gives_the_same_digits(judged: Path) -> None:
    before = corrected(*LOOSE)
    file = exported(judged)
    assert run(*FIVE[:3], "again", *FIVE[4:]).code == 0
    receipt = run(
        "import_random_check", "--campaign", "river", "--study", "again", "--judge", "ann, study check", file
    )
    assert (receipt.code, receipt.err) == (0, "10 labels added.\n")
    assert corrected(*LOOSE, study="again")["runs"] == before["runs"]
    repeated = run(
        "import_random_check", "--campaign", "river", "--study", "again", "--judge", "ann, study check", file
    )
    assert repeated.err == "Nothing changed: 10 labels already loaded.\n"


@pytest.mark.usefixtures("judged")
def test_few_judgments_give_no_score_unless_that_is_asked_for() -> None:
    for row in corrected()["runs"]:
        assert (row["corrected"]["value"], row["reason"]) == (None, "too few judgments")
        assert row["people"]["value"] is not None
    assert {row["few"] for row in corrected(*LOOSE)["runs"]} == {True}


def test_all_judged_is_people_s_score_without_a_width(folder: Path) -> None:
    assert run(*EXAMPLE, "--per-run", "6").code == 0
    assert judge(folder, people_rows(without=())).code == 0
    for score, expected in (("all_strict", (0.5, 0.5)), ("weighted", (0.675, 0.525))):
        for row, value in zip(corrected("--score", score)["runs"], expected, strict=True):
            assert row["corrected"] | {"sd": 0} == {"value": value, "low": value, "high": value, "sd": 0}


def test_no_figure_before_all_are_judged(folder: Path) -> None:
    assert run(*FIVE).code == 0
    rows = people_rows()
    assert judge(folder, rows[1:]).code == 0
    document = corrected(*LOOSE)
    assert of_run(document, "A")["reason"] == "4 of 5 judged"
    assert of_run(document, "A")["people"]["value"] is None
    assert of_run(document, "B")["corrected"]["value"] == pytest.approx(0.5)
    assert (document["differences"], document["tau"]["value"]) == ([], None)


def test_grown_and_drawn_at_once_are_the_same(judged: Path) -> None:
    assert run(*FIVE[:3], "once", *FIVE[4:9], "6", *FIVE[10:]).code == 0
    grown = run("grow_study", "--campaign", "river", "--study", "check", "--per-run", "6")
    assert grown.err == "check: 2 pairs more to judge.\n"
    for study in ("check", "once"):
        assert judge(judged, people_rows(without=()), study=study).code == 0
    assert corrected(*LOOSE)["runs"] == corrected(*LOOSE, study="once")["runs"]
    assert "These runs have 6 pairs or more" in refuse("grow_study", "--study", "check", "--per-run", "6")
    assert Event.objects.get(kind="study.grown").payload["drawn"] == 2


def test_changed_llm_labels_change_no_digit(judged: Path) -> None:
    before = corrected(*LOOSE)
    add_labels(judged, MACHINE | {"A": "SSNSNS"}, "--replace")
    after = corrected(*LOOSE)
    assert [row["corrected"] for row in after["runs"]] == [row["corrected"] for row in before["runs"]]
    assert [row["stale"] for row in after["runs"]] == [1, 0]


def test_a_new_run_is_outside_until_it_is_taken_in(judged: Path) -> None:
    before = corrected(*LOOSE)
    rows = [answer("C", topic, sentence(f"C on {topic}.", 0)) for topic in ("t1", "t2")]
    load("import_run", "--task", "RAG", write(judged, "C.jsonl", rows))
    document = corrected(*LOOSE)
    assert document["runs"][:2] == before["runs"]
    assert (of_run(document, "C")["outside"], of_run(document, "C")["reason"]) == (
        6,
        "6 pairs of C are outside the random check: extend it",
    )
    assert load("extend_study", "--study", "check").err == "check: 5 pairs more to judge.\n"
    assert of_run(corrected(*LOOSE), "C")["reason"] == "0 of 5 judged"
    assert corrected(*LOOSE)["runs"][:2] == before["runs"]
    assert "Every pair is in check already" in refuse("extend_study", "--study", "check")


def test_a_reworded_nugget_is_outside_until_it_is_taken_in(judged: Path) -> None:
    before = NuggetList.objects.get(topic__topic_id="t2")
    after = NuggetList.objects.create(nugget_set=before.nugget_set, topic=before.topic, version=2, submitted=True)
    for item in before.items.order_by("position"):
        wording = item.nugget_version
        if wording.text == "n2":
            wording = NuggetVersion.objects.create(nugget=wording.nugget, number=2, text="n2, said otherwise")
        ListedNugget.objects.create(
            nugget_list=after, nugget_version=wording, position=item.position, importance=item.importance
        )
    touch(before.topic.campaign_id)
    document = corrected(*LOOSE)
    assert [row["outside"] for row in document["runs"]] == [1, 1]
    assert {row["corrected"]["value"] for row in document["runs"]} == {None}
    load("extend_study", "--study", "check")
    assert [row["outside"] for row in corrected(*LOOSE)["runs"]] == [0, 0]


def test_several_people_count_by_their_mean(judged: Path) -> None:
    rows = [row | {"label": "not_support"} for row in people_rows()[:1]]
    assert judge(judged, rows, who="ben").code == 0
    document = corrected("--score", "vital_strict", *LOOSE)
    # Half of one of two vital nuggets, of one of two topics.
    assert of_run(document, "A")["corrected"]["value"] == pytest.approx(0.75 - 0.125)
    assert (document["judged_twice"], document["judges"]) == (1, ["ann, study check", "ben, study check"])


def pair_of(run_id: str, nugget: str) -> Pair:
    answers = AnswerProvenance.objects.filter(run__run_id=run_id, topic__topic_id="t1")
    wording = NuggetVersion.objects.get(text=nugget, nugget__topic__topic_id="t1")
    return find_pair(answers, Campaign.objects.get(), ItemKind.NUGGETS, (answers.get().answer_id, wording.pk))


def decide(run_id: str, nugget: str, *, verdict: int) -> None:
    adjudicator, _ = User.objects.get_or_create(username="olga")
    adjudicate(pair_of(run_id, nugget), verdict=verdict, category="", note="", actor=adjudicator)


def test_a_verdict_replaces_labels_that_differ_and_no_others(judged: Path) -> None:
    before = of_run(corrected("--score", "vital_strict", *LOOSE), "A")["corrected"]["value"]
    decide("A", "n1", verdict=0)
    assert of_run(corrected("--score", "vital_strict", *LOOSE), "A")["corrected"]["value"] == before
    assert judge(judged, [people_rows()[0] | {"label": "partial_support"}], who="ben").code == 0
    # Two who differ, and a verdict that is neither's: the vital nugget, of two in one of two topics, counts 0.
    assert of_run(corrected("--score", "vital_strict", *LOOSE), "A")["corrected"]["value"] == pytest.approx(0.5)
    decide("A", "n1", verdict=2)
    after = of_run(corrected("--score", "vital_strict", *LOOSE), "A")["corrected"]["value"]
    assert after == pytest.approx(before)
    decide("A", "n1", verdict=BOTH)
    mean = of_run(corrected("--score", "vital_strict", *LOOSE), "A")["corrected"]["value"]
    assert mean == pytest.approx(0.75 - 0.125)
    take_back(pair_of("A", "n1"), actor=User.objects.get(username="olga"))
    assert of_run(corrected("--score", "vital_strict", *LOOSE), "A")["corrected"]["value"] == after


BAD_FILES = [
    ({"run_id": "A", "topic_id": "t2", "nugget": "n2"}, "a pair that was drawn for check, not run A, topic t2"),
    ({"run_id": "Z", "topic_id": "t1", "nugget": "n1"}, "a pair that was drawn for check, not run Z, topic t1"),
    ({"run_id": "A", "topic_id": "t1", "nugget": "n1", "label": "maybe"}, "found 'maybe'"),
    ({"run_id": "A", "topic_id": "t1", "nugget": "n1", "label": "refused"}, "cant_judge, found 'refused'"),
    ({"run_id": "A", "topic_id": "t1", "nugget": "n2", "label": "support"}, "conflicting duplicate of line 2"),
]


@pytest.mark.parametrize(("row", "problem"), BAD_FILES)
def test_a_wrong_line_refuses_the_whole_file(folder: Path, row: dict[str, Any], problem: str) -> None:
    assert run(*FIVE).code == 0
    rows = [*people_rows(), {"label": "support"} | row]
    file = write(folder, "wrong.jsonl", rows)
    text = refuse("import_random_check", "--study", "check", "--judge", "ann", file)
    assert problem in text
    assert f"wrong.jsonl:{len(rows)}:" in text


def test_other_labels_of_the_same_person_are_refused(judged: Path) -> None:
    rows = people_rows()
    rows[3]["label"] = "not_support"
    file = write(judged, "other.jsonl", rows)
    text = refuse("import_random_check", "--study", "check", "--judge", "ann", file)
    assert "other.jsonl:4: label: support, which ann, study check has given run A, topic t2, nugget 'n1'" in text


WRONG = [
    (("--seed", "s" * 61), "A seed has 1 to 60 characters", 2),
    (("--seed", ""), "A seed has 1 to 60 characters", 2),
    (("--per-run", "0"), "Pairs per run: from 1", 2),
    (("--judge", "people"), "people has no such labels here; there are: llm.", 1),
    (("--runs", "A", "Z"), "There is no run Z in river.", 1),
    (("--runs", "silent"), "silent has no answer with words here", 1),
    (("--topics", "t9"), "There is no topic t9 in river.", 1),
    (("--known", "nobody"), "No person or study nobody has such labels here.", 1),
]


@pytest.mark.parametrize(("words", "problem", "code"), WRONG)
def test_a_wrong_order_is_refused_and_writes_nothing(
    folder: Path, words: tuple[str, ...], problem: str, code: int
) -> None:
    load("import_run", "--task", "RAG", write(folder, "silent.jsonl", [answer("silent", "t1", sentence("", 0))]))
    assert problem in refuse(EXAMPLE[0], *EXAMPLE[3:], *words, code=code)


def test_without_llm_labels_nothing_is_drawn(folder: Path) -> None:
    text = refuse(EXAMPLE[0], *EXAMPLE[3:], "--judge", "gpt")
    assert "gpt has no such labels here; there are: llm." in text
    text = refuse(EXAMPLE[0], "check", "--kind", "support", "--draw", "random")
    assert "No LLM has such labels here" in text


@pytest.mark.usefixtures("folder")
def test_a_dry_run_says_what_would_be_drawn_and_draws_nothing() -> None:
    shown = run(*FIVE, "--dry-run").err
    assert shown.startswith(
        "check: 2 runs x 5 = 10 of 12 pairs, labelled by llm. Hours of judging are not known yet"
    )
    assert [model.objects.count() for model in (Study, RandomCheckPair, StudyPair)] == [0, 0, 0]


@pytest.mark.usefixtures("folder")
def test_a_dry_run_says_the_hours_of_judging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assessor.timing.times.seconds_a_label", lambda *_: 540.0)
    shown = run(*FIVE, "--dry-run").err
    assert shown.endswith("About 1 h 30 min of judging, by the median time of a label in this campaign.\n")


@pytest.mark.usefixtures("judged")
def test_the_table_and_the_csv_have_the_same_figures() -> None:
    words = ("report", "corrected", "--campaign", "river", "--study", "check", "--score", "weighted", *LOOSE)
    table = run(*words).out
    assert "0.5774" in table
    assert "weighted, corrected by 10 human judgments of 12; 95 % intervals, for these topics." in table
    rows = run(*words, "--format", "csv").out.splitlines()
    assert rows[0].startswith(
        "run_id,llm,people,people_low,people_high,corrected,low,high,sd,best_rank,worst_rank"
    )
    assert rows[1].startswith("A,0.65,")
    assert CODES["S"] == "support"
