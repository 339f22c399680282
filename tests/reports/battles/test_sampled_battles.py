"""Battles that people judge of those that an LLM judged: drawn, grown, and what has no corrected win rate yet."""

from pathlib import Path
from typing import Any

import pytest

from evaluation.models import Battle, Campaign, SampledBattle, Verdict
from reports.battles.samples import SampleOrder, forecast_sample
from reports.methods.report import methods_documents
from tests.reports.battles.worlds import load_runs
from tests.worlds.campaign import World
from tests.worlds.cast import make_cast
from tests.worlds.imported import answer, everything, load, refuse, report, run, sentence, write

pytestmark = pytest.mark.django_db
TOPICS = tuple(f"t{number}" for number in range(1, 7))
CORRECTED = ("--condition", "B/A", "--by", "corrected", "--least-battles", "2")
WORDS = ("left", "right", "tie", "failed")


def judged(folder: Path, name: str, battles: list[Battle], words: tuple[str, ...], by: str = "llm") -> None:
    rows = []
    for place, battle in enumerate(battles):
        left, right = (
            answer.sentences.get().text.removeprefix("It is ")[0] for answer in (battle.left, battle.right)
        )
        row: dict[str, Any] = {"topic_id": battle.topic.topic_id, "left": left, "right": right}
        rows.append(row | {"verdict": words[place % len(words)], "judge": name, "round": battle.round})
    load("import_battles", "--by", by, write(folder, f"{name}.jsonl", rows), "--replace")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """36 battles of four runs: of every four that robot judged two are decided, one is a tie, one failed."""
    load_runs(tmp_path, "abcd", TOPICS)
    load("draw_battles", "--seed", "demo", "--rounds", 3)
    judged(tmp_path, "robot", list(Battle.objects.all()), WORDS)
    return tmp_path


def drawn() -> list[Battle]:
    return [row.battle for row in SampledBattle.objects.exclude(chance=None).select_related("battle")]


@pytest.mark.usefixtures("folder")
def test_a_sample_is_drawn_by_what_the_llm_said() -> None:
    before = everything()
    said = load("sample_battles", "--judge", "robot", "--n", 12, "--dry-run").err
    assert "people judge 12 of the 36 battles that robot judged. 12 more in" in said
    assert everything() == before
    load("sample_battles", "--judge", "robot", "--n", 12)
    rows = SampledBattle.objects.exclude(chance=None).values_list("points", "chance")
    by_points = [points for points, _ in rows]
    decided = sum(points in (0.0, 1.0) for points in by_points)
    assert (decided, by_points.count(0.5), by_points.count(None)) == (6, 3, 3)
    assert {chance for _, chance in rows} == {1 / 3}
    assert SampledBattle.objects.count() == 36


@pytest.mark.usefixtures("folder")
def test_a_sample_grows_and_keeps_what_it_has() -> None:
    load("sample_battles", "--n", 8)
    few = {battle.pk for battle in drawn()}
    load("sample_battles", "--n", 20)
    assert few < {battle.pk for battle in drawn()}
    assert "none is taken back" in refuse("sample_battles", "--n", 8, code=2)
    assert "nothing was drawn" in refuse("sample_battles", "--n", 20)
    assert "1 to 36 battles. Option: --number." in refuse("sample_battles", "--number", 99, code=2)


def test_an_llm_judges_all_battles_first(folder: Path) -> None:
    Verdict.objects.filter(battle=Battle.objects.first()).update(stands=False)
    assert "1 of its battles were not judged by robot" in refuse("sample_battles", "--n", 8)
    assert "there are: robot" in refuse("sample_battles", "--judge", "other", "--n", 8)


def reasons() -> set[str | None]:
    return {run["corrected"]["reason"] for run in report("battles", *CORRECTED)["runs"]}


def test_a_run_has_no_corrected_win_rate_before_all_of_its_battles_are_judged(folder: Path) -> None:
    assert "no battles were drawn for people" in run("report", "battles", "--campaign", "river", *CORRECTED).err
    load("sample_battles", "--n", 24)
    battles = drawn()
    judged(folder, "ann", battles[:20], ("left", "tie"), "human")
    assert any("judged" in str(reason) for reason in reasons())
    judged(folder, "ann", battles, ("left", "tie", "right", "cant_judge"), "human")
    assert reasons() == {None}
    document = report("battles", *CORRECTED)
    sample = document["sample"]
    assert (sample["drawn"], sample["judged"], sample["refused"]) == (24, 18, 6)
    judged(folder, "robot", list(Battle.objects.all()), WORDS[::-1])
    again = report("battles", *CORRECTED)
    assert again["sample"]["stale"] > 20
    assert [run["corrected"] for run in again["runs"]] == [run["corrected"] for run in document["runs"]]
    assert "too few judged by people" in str(report("battles", *CORRECTED[:-1], "20")["runs"])


def test_battles_that_came_in_later_are_outside_until_the_sample_grows(folder: Path) -> None:
    load("sample_battles", "--n", 12)
    first = {battle.pk for battle in drawn()}
    load("import_run", "--task", "RAG", run_file(folder))
    load("draw_battles", "--runs", "e")
    battles = list(Battle.objects.all())
    judged(folder, "robot", battles, WORDS)
    new = len(battles) - 36
    assert any(f"{new} battles of the set are outside the sample" in str(reason) for reason in reasons())
    load("sample_battles", "--n", 18)
    assert first < {battle.pk for battle in drawn()}
    assert set(SampledBattle.objects.values_list("block", flat=True)) == {0, 1}
    judged(folder, "ann", drawn(), ("left", "tie"), "human")
    assert reasons() == {None}


def run_file(folder: Path) -> Path:
    return write(folder, "e.jsonl", [answer("e", topic, sentence("It is e.")) for topic in TOPICS])


def test_battles_of_missing_answers_are_known(tmp_path: Path) -> None:
    load_runs(tmp_path, "abcd", TOPICS, lacking=[("t1", "a")])
    load("draw_battles", "--seed", "demo", "--rounds", 3)
    judged(tmp_path, "robot", list(Battle.objects.all()), WORDS[:3])
    load("sample_battles", "--n", Battle.objects.count())
    judged(tmp_path, "ann", drawn(), ("left",), "human")
    document = report("battles", "--condition", "B/M", "--by", "corrected", "--least-battles", "2")
    for row in document["runs"]:
        assert row["corrected"]["value"] == pytest.approx(row["win_rate"], abs=1e-12)
        assert row["people"]["value"] == pytest.approx(row["win_rate"], abs=1e-12)
        assert row["corrected"]["low"] == pytest.approx(row["corrected"]["high"], abs=1e-12)


def test_the_page_shows_people_llm_and_corrected_side_by_side(folder: Path) -> None:
    load("sample_battles", "--n", 24)
    judged(folder, "ann", drawn(), ("left", "tie"), "human")
    campaign = Campaign.objects.get()
    rita = World(campaign, make_cast(campaign)).client("rita")
    page = "/campaigns/river/reports/battles/"
    by_win = rita.get(f"{page}?condition=B/A").content.decode()
    assert all(
        words in by_win for words in ("People only", "Corrected", "robot judged 36 battles, people 24 of 24")
    )
    csv = rita.get(f"{page}corrected.csv?condition=B/A").content.decode()
    assert csv.startswith("run_id,win_rate,low,high,rating")
    assert "corrected,corrected_low,corrected_high" in csv
    document = rita.get(f"{page}overview.json?condition=B/A&by=corrected").json()
    words = ("--condition", "B/A", "--by", "corrected")
    assert document == report("battles", *words)
    wider = rita.get(f"{page}overview.json?condition=B/A&by=corrected&target=new").json()
    assert wider == report("battles", *words, "--target", "new")
    assert "Corrected win rate" in rita.get(f"{page}?condition=B/A&by=corrected").content.decode()


def test_the_text_counts_the_differences_that_are_shown(folder: Path) -> None:
    load("sample_battles", "--n", 36)
    judged(folder, "ann", drawn(), ("left", "tie"), "human")
    for by in ("win", "corrected"):
        words = ("--condition", "B/A", "--by", by)
        apart = [gap["holm"] < 0.05 for gap in report("battles", *words)["differences"]]
        text = run("report", "battles", "--campaign", "river", *words).out
        assert f"{sum(apart)} of {len(apart)} pairs of runs differ (Holm)." in text


def test_corrected_win_rates_are_set_beside_another_board(folder: Path) -> None:
    """Where people judged all battles, corrected win rates are those of people, and order the runs as these do."""
    load("sample_battles", "--n", 36)
    judged(folder, "ann", drawn(), ("left", "tie"), "human")
    few = ("--condition", "B/A", "--against", "B/M", "--least-battles", "2")
    [by_llm] = report("battles", *few)["boards"]
    [corrected] = report("battles", *few, "--by", "corrected")["boards"]
    assert by_llm["tau"] < 1
    assert corrected["tau"] == 1
    assert "Tau with B/M win_rate: " in run("report", "battles", "--campaign", "river", *few).out
    text = run("report", "battles", "--campaign", "river", *few, "--by", "corrected").out
    assert "Tau of corrected win rates with B/M win_rate: 1.000." in text
    campaign = Campaign.objects.get()
    rita = World(campaign, make_cast(campaign)).client("rita")
    page = "/campaigns/river/reports/battles/?condition=B/A&against=B/M"
    for by, is_said in (("win", False), ("corrected", True)):
        text = rita.get(f"{page}&by={by}").content.decode()
        assert "Apart: pairs of runs that differ on both boards" in text
        assert ("Corrected win rate beside the board" in text) is is_said


def test_runs_that_share_no_topic_are_not_told_apart_for_new_topics(tmp_path: Path) -> None:
    lacking = [*((topic, "a") for topic in TOPICS[:3]), *((topic, "b") for topic in TOPICS[3:])]
    load_runs(tmp_path, "abc", TOPICS, lacking=lacking)
    load("draw_battles", "--seed", "demo", "--rounds", 3, "--missing", "skip")
    judged(tmp_path, "robot", list(Battle.objects.all()), WORDS[:3])
    load("sample_battles", "--n", 6)
    judged(tmp_path, "ann", drawn(), ("left", "right", "tie"), "human")
    few = (*CORRECTED, "--target", "new", "--least-topics", "2")
    document = report("battles", *few)
    assert all(None not in (run["corrected"]["low"], run["corrected"]["high"]) for run in document["runs"])
    gaps = {(gap["a"], gap["b"]): (gap["low"], gap["p"], gap["holm"]) for gap in document["differences"]}
    assert gaps["a", "b"] == (None, None, None)
    assert None not in (*gaps["a", "c"], *gaps["b", "c"])
    assert "of 3 pairs of runs differ (Holm)." in run("report", "battles", "--campaign", "river", *few).out
    campaign = Campaign.objects.get()
    rita = World(campaign, make_cast(campaign)).client("rita")
    query = "condition=B/A&by=corrected&target=new&least_topics=2&least_battles=2"
    assert "All pairs of runs" in rita.get(f"/campaigns/river/reports/battles/?{query}").content.decode()


def test_the_methods_say_how_the_sample_was_drawn(folder: Path) -> None:
    load("sample_battles", "--n", 12)
    judged(folder, "ann", drawn(), ("left",), "human")
    text = str(methods_documents(Campaign.objects.get()))
    assert "Of the 36 battles that robot judged, 12 were drawn in proportion to what it said" in text


def test_hours_of_a_sample_are_of_the_answers_that_are_compared(tmp_path: Path) -> None:
    """A further sample of a run is in no battle, however long it is."""
    load_runs(tmp_path, "bcd", TOPICS)
    first = [answer("a", topic, sentence("It is a.")) for topic in TOPICS]
    further = [{**answer("a", topic, sentence("It is a. " * 500)), "sample": 2} for topic in TOPICS]
    load("import_run", "--task", "RAG", write(tmp_path, "a.jsonl", [*first, *further]))
    load("draw_battles", "--seed", "demo", "--rounds", 3)
    judged(tmp_path, "robot", list(Battle.objects.all()), WORDS)
    draw = forecast_sample(campaign=Campaign.objects.get(), order=SampleOrder(36))
    # Two minutes a topic, one a battle, and a few words.
    assert draw.hours * 60 == pytest.approx(2 * 6 + 36, abs=1)
