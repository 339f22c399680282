"""An import is taken back as long as nothing rests on it; else it says what does."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from evaluation.errors import Refused
from evaluation.formats.score_files import JudgeEntry
from evaluation.imports.battles import import_battles
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.segments import import_segments
from evaluation.imports.topics import import_qrels, import_topics
from evaluation.models import (
    Answer,
    Assignment,
    Battle,
    BattleSet,
    Campaign,
    Candidate,
    Event,
    Judge,
    NuggetSet,
    Qrel,
    Run,
    Segment,
    Topic,
    Verdict,
)
from evaluation.terms import JudgeKind, Origin, RagTask
from exchange.imports.kinds import IMPORT_KINDS
from exchange.imports.undo import import_named, imports_of, undo_import
from reports.judges.imports import ScoreFileOptions, load_score_files
from reports.models import ExternalScore
from tests.evaluation.imports.test_trying_out import FILES, load_of
from tests.organizer.data.test_import_wizard import loaded, page_of, sent
from tests.worlds.campaign import BETA, LABELS, NUGGETS, World, make_world
from tests.worlds.cast import write_source
from tests.worlds.imported import run

pytestmark = pytest.mark.postgresql


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    settings.FILES_DIR = tmp_path / "files"


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def contents(world: World) -> list[tuple[str, int]]:
    """Rows of everything that an import may write; of labels those that stand."""
    models = (Topic, Qrel, Run, Segment, NuggetSet)
    rows = [(model.__name__, model._default_manager.count()) for model in models]
    return [*rows, ("labels", Assignment.objects.current().count())]


@pytest.mark.parametrize("kind", FILES)
def test_every_kind_is_taken_back(world: World, tmp_path: Path, kind: str) -> None:
    before = contents(world)
    load = load_of(world, tmp_path, kind)
    event = IMPORT_KINDS[kind].load(load).event
    assert event is not None
    revision = type(world.campaign).objects.get().revision
    assert undo_import(campaign=world.campaign, event=event, actor=None).startswith("Taken back: ")
    assert contents(world) == before
    assert type(world.campaign).objects.get().revision == revision + 1
    assert Event.objects.filter(pk=event.pk).exists()
    assert Event.objects.get(kind="import.taken_back").payload["import"] == event.pk
    with pytest.raises(Refused, match="taken back already"):
        undo_import(campaign=world.campaign, event=event, actor=None)
    again = IMPORT_KINDS[kind].load(load)
    assert again.added
    assert not again.changed


def event_of(world: World, kind: str) -> Event:
    return Event.objects.filter(campaign=world.campaign, kind=f"import.{kind}").earliest("pk")


RESTING = {
    "topics": ("answers", "nugget list", "graded passages"),
    "run": ("nugget label", "citation label"),
    "nuggets": ("nugget labels",),
    "segments": ("citation label",),
}


@pytest.mark.parametrize("kind", RESTING)
def test_what_something_rests_on_stays_and_says_what_does(world: World, kind: str) -> None:
    before = contents(world)
    with pytest.raises(Refused) as refused:
        undo_import(campaign=world.campaign, event=event_of(world, kind), actor=None)
    assert all(words in refused.value.message for words in RESTING[kind])
    assert contents(world) == before


CANDIDATES = {
    "query": {"qid": "t1"},
    "candidates": [{"docid": docid, "segment": f"Text {docid}."} for docid in ("c1", "c2")],
}


def test_candidates_are_taken_back_with_their_file(world: World, tmp_path: Path) -> None:
    before = contents(world)
    source = write_source(tmp_path, "c.jsonl", json.dumps(CANDIDATES) + "\n")
    event = import_segments(campaign=world.campaign, sources=[source]).event
    assert event is not None
    with pytest.raises(Refused, match="2 candidates"):
        undo_import(campaign=world.campaign, event=event_of(world, "topics"), actor=None)
    message = undo_import(campaign=world.campaign, event=event, actor=None)
    assert message == "Taken back: 2 passages and 2 candidates taken away."
    assert (contents(world), Candidate.objects.count()) == (before, 0)


def test_topics_of_traces_stay_while_they_have_grades(world: World, tmp_path: Path) -> None:
    event = IMPORT_KINDS["traces"].load(load_of(world, tmp_path, "traces")).event
    assert event is not None
    topic = Topic.objects.get(event=event)
    source = write_source(tmp_path, "q.txt", f"{topic.topic_id} 0 d1 2\n")
    import_qrels(campaign=world.campaign, name="NIST", source=source)
    with pytest.raises(Refused, match="1 graded passage"):
        undo_import(campaign=world.campaign, event=event, actor=None)


def test_candidates_of_another_file_outlive_their_texts(world: World, tmp_path: Path) -> None:
    texts = [json.dumps({"docid": "c1", "segment": "Text c1."}), json.dumps(CANDIDATES)]
    first, second = (
        import_segments(campaign=world.campaign, sources=[write_source(tmp_path, f"{n}.jsonl", f"{text}\n")]).event
        for n, text in enumerate(texts)
    )
    assert first is not None
    assert second is not None
    undo_import(campaign=world.campaign, event=first, actor=None)
    assert set(Candidate.objects.values_list("segment__docid", "segment__has_text")) == {
        ("c1", False),
        ("c2", True),
    }
    undo_import(campaign=world.campaign, event=second, actor=None)
    assert not Candidate.objects.exists()


def test_withdrawn_labels_stay_until_their_nuggets_go(world: World) -> None:
    for event in Event.objects.filter(kind="import.assignments"):
        undo_import(campaign=world.campaign, event=event, actor=None)
    assert Assignment.objects.current().count() == 0
    assert Assignment.objects.count() == 8
    undo_import(campaign=world.campaign, event=event_of(world, "nuggets"), actor=None)
    assert (Assignment.objects.count(), NuggetSet.objects.count()) == (0, 0)
    assert Judge.objects.filter(name="robot").exists()


BATTLE = '{"topic_id": "t1", "left": "alpha", "right": "beta", "verdict": "left", "judge": "ann"}\n'


def load_battle(world: World, folder: Path) -> Event:
    source = write_source(folder, "battles.jsonl", BATTLE)
    event = import_battles(campaign=world.campaign, source=source, kind=JudgeKind.HUMAN).event
    assert event is not None
    return event


def event_of_run(run: str) -> Event:
    event = Run.objects.get(run_id=run).event
    assert event is not None
    return event


@pytest.mark.parametrize("run", ["alpha", "beta"])
def test_runs_go_after_their_battles(world: World, tmp_path: Path, run: str) -> None:
    battles = load_battle(world, tmp_path)
    for kind in ("assignments", "support"):
        for event in Event.objects.filter(kind=f"import.{kind}"):
            undo_import(campaign=world.campaign, event=event, actor=None)
    event = event_of_run(run)
    with pytest.raises(Refused, match="1 battle"):
        undo_import(campaign=world.campaign, event=event, actor=None)
    message = undo_import(campaign=world.campaign, event=battles, actor=None)
    assert message == "Taken back: 1 verdict withdrawn."
    assert (Verdict.objects.current().count(), Verdict.objects.count()) == (0, 1)
    undo_import(campaign=world.campaign, event=event, actor=None)
    assert not Run.objects.filter(run_id=run).exists()
    assert (Battle.objects.count(), Verdict.objects.count(), BattleSet.objects.count()) == (0, 0, 0)


def test_battles_stay_while_others_judged_them(world: World, tmp_path: Path) -> None:
    """The second verdict has the other run on its left."""
    first = load_battle(world, tmp_path)
    source = write_source(
        tmp_path, "more.jsonl", '{"topic_id": "t1", "left": "beta", "right": "alpha", "verdict": "tie"}\n'
    )
    import_battles(campaign=world.campaign, source=source, kind=JudgeKind.LLM, judge="robot")
    for event in [*Event.objects.filter(kind__in=("import.assignments", "import.support")), first]:
        undo_import(campaign=world.campaign, event=event, actor=None)
    with pytest.raises(Refused, match="1 battle"):
        undo_import(campaign=world.campaign, event=event_of_run("alpha"), actor=None)
    assert Verdict.objects.current().count() == 1


def test_a_file_that_was_taken_back_is_loaded_again(world: World, tmp_path: Path) -> None:
    undo_import(campaign=world.campaign, event=load_battle(world, tmp_path), actor=None)
    load_battle(world, tmp_path)
    assert [verdict.submission for verdict in Verdict.objects.current()] == [2]


def test_labels_that_were_taken_back_keep_no_file_from_a_correction(world: World, tmp_path: Path) -> None:
    undo_import(campaign=world.campaign, event=load_battle(world, tmp_path), actor=None)
    source = write_source(tmp_path, "beta.jsonl", BETA.replace("wet", "water"))
    nuggets = write_source(tmp_path, "nuggets.jsonl", NUGGETS.replace("banks", "shores"))
    options = RunOptions("team b", RagTask.AG)

    def corrected() -> None:
        import_runs(campaign=world.campaign, sources=[source], options=options, replace=True)
        import_nuggets(campaign=world.campaign, source=nuggets, origin=Origin.AUTO, judge="robot", replace=True)

    with pytest.raises(Refused, match="labels hang on it"):
        corrected()
    for event in Event.objects.filter(kind="import.assignments"):
        undo_import(campaign=world.campaign, event=event, actor=None)
    corrected()
    assert Assignment.objects.count() == 0
    assert Answer.objects.filter(sentences__text="Water is water.").exists()


def test_an_import_that_changed_something_stays(world: World, tmp_path: Path) -> None:
    source = write_source(tmp_path, "changed.tsv", "t3\thow deep\n")
    import_topics(campaign=world.campaign, source=source)
    source = write_source(tmp_path, "changed.tsv", "t3\thow very deep\n")
    event = import_topics(campaign=world.campaign, source=source, replace=True).event
    assert event is not None
    with pytest.raises(Refused, match="is not kept"):
        undo_import(campaign=world.campaign, event=event, actor=None)


def test_an_import_that_took_something_out_stays(world: World, tmp_path: Path) -> None:
    """The grade that a new file no longer has cannot be put back: its value is not kept."""
    first = write_source(tmp_path, "first.txt", "t1 0 d1 2\nt1 0 d2 1\n")
    import_qrels(campaign=world.campaign, name="pool", source=first)
    shorter = write_source(tmp_path, "shorter.txt", "t1 0 d1 2\n")
    receipt = import_qrels(campaign=world.campaign, name="pool", source=shorter, replace=True)
    assert receipt.event is not None
    with pytest.raises(Refused, match="it took 1 grade out") as refusal:
        undo_import(campaign=world.campaign, event=receipt.event, actor=None)
    assert refusal.value.code == "import_changed"


def load_scores(world: World, folder: Path, text: str) -> Event:
    source = write_source(folder, "judge.eval.txt", text)
    options = ScoreFileOptions(form="tot")
    receipt = load_score_files(campaign=world.campaign, sources=[source], judge=JudgeEntry("A"), options=options)
    assert receipt.event is not None
    return receipt.event


@pytest.mark.parametrize(
    ("first", "later", "place", "why"),
    [
        ("r1 m all 0.9\n", "r1 m t1 0.5\n", 1, "it took 1 score out"),
        ("r1 m all 0.9\n", "r1 m t1 0.5\nr1 m all 0.5\n", 1, "it took 1 score out"),
        ("r1 m t1 0.5\n", "r1 m t2 1\nr1 m all 0.75\n", 0, "rests on it: 1 score over all topics"),
    ],
    ids=["dropped for topics", "replaced by the mean of topics", "a mean of both"],
)
def test_scores_stay_where_a_judge_s_aggregate_would_be_wrong_without_them(
    world: World, tmp_path: Path, first: str, later: str, place: int, why: str
) -> None:
    events = [load_scores(world, tmp_path, text) for text in (first, later)]
    before = list(ExternalScore.objects.values())
    with pytest.raises(Refused, match=why):
        undo_import(campaign=world.campaign, event=events[place], actor=None)
    assert list(ExternalScore.objects.values()) == before


@pytest.mark.parametrize("later", ["r1 m t2 1\n", "r1 m t2 1\nr1 m all 0.75\n"])
def test_later_scores_are_taken_back_where_topics_say_the_aggregate(
    world: World, tmp_path: Path, later: str
) -> None:
    load_scores(world, tmp_path, "r1 m t1 0.5\nr1 m all 0.5\n")
    undo_import(campaign=world.campaign, event=load_scores(world, tmp_path, later), actor=None)
    assert list(ExternalScore.objects.values_list("topic_id", "value")) == [("t1", 0.5)]


@pytest.mark.parametrize("order", [(1, 0), (2, 1, 0), (0, 2, 1)], ids=str)
def test_scores_are_taken_back_whose_aggregate_went_for_that_of_later_topics(
    world: World, tmp_path: Path, order: tuple[int, ...]
) -> None:
    texts = ["r1 m t1 0.5\nr1 m all 0.5\nr2 m t1 1\n", "r1 m t2 1\n", "r1 n t1 1\n"]
    events = [load_scores(world, tmp_path, text) for text in texts]
    assert not ExternalScore.objects.filter(topic_id="").exists()
    for place in order:
        undo_import(campaign=world.campaign, event=events[place], actor=None)
    left = {events.index(event) for event in events} - set(order)
    assert set(ExternalScore.objects.values_list("event", flat=True)) == {events[place].pk for place in left}


def test_scores_that_a_later_file_changed_are_not_taken_back(world: World, tmp_path: Path) -> None:
    first = load_scores(world, tmp_path, "r1 m t1 0.5\nr1 m all 0.5\nr2 m t1 1\n")
    load_scores(world, tmp_path, "r1 m t2 1\n")
    changed = write_source(tmp_path, "judge.eval.txt", "r2 m t1 0.25\n")
    load_score_files(
        campaign=world.campaign,
        sources=[changed],
        judge=JudgeEntry("A"),
        options=ScoreFileOptions(form="tot"),
        replace=True,
    )
    with pytest.raises(Refused, match="1 of its 3 scores were changed or taken away by something later"):
        undo_import(campaign=world.campaign, event=first, actor=None)


def copied(folder: Path) -> Campaign:
    """Return a copy of the campaign from its file."""
    file = str(folder / "river.zip")
    run("export", "campaign", "--campaign", "river", "--output", file)
    loading = run("import_campaign", file, "--slug", "copy")
    assert loading.code == 0, loading.err
    return Campaign.objects.get(slug="copy")


def test_a_copy_knows_whose_aggregates_went_for_later_topics(world: World, tmp_path: Path) -> None:
    for text in ("r1 m t1 0.5\nr1 m all 0.5\n", "r1 m t2 1\n"):
        load_scores(world, tmp_path, text)
    copy = copied(tmp_path)
    undo_import(campaign=copy, event=imports_of(copy).filter(kind="import.scores").earliest("pk"), actor=None)
    scores = ExternalScore.objects.filter(condition__campaign=copy)
    assert list(scores.values_list("topic_id", "value")) == [("t2", 1)]


def test_a_copy_knows_what_was_taken_back(world: World, tmp_path: Path) -> None:
    for event in Event.objects.filter(kind="import.assignments"):
        undo_import(campaign=world.campaign, event=event, actor=None)
    copy = copied(tmp_path)
    imports = imports_of(copy)
    with pytest.raises(Refused, match="taken back already"):
        undo_import(campaign=copy, event=imports.filter(kind="import.assignments").earliest("pk"), actor=None)
    undo_import(campaign=copy, event=imports.get(kind="import.nuggets"), actor=None)
    assert not Assignment.objects.filter(answer__topic__campaign=copy).exists()


def test_a_page_takes_its_import_back(world: World) -> None:
    olga = world.client("olga")
    attempt = sent(olga, "topics", ("more.tsv", "t3\thow deep\n"))
    loaded(olga, attempt)
    assert "Take back" in page_of(olga, attempt)
    address = f"/campaigns/river/data/imports/{attempt.pk}/undo/"
    assert world.client("rita").post(address).status_code in (403, 404)
    page = olga.post(address, follow=True).content.decode()
    assert "1 topic taken away" in page
    assert "Taken back" in page_of(olga, attempt)
    assert not Topic.objects.filter(topic_id="t3").exists()


def test_a_command_lists_imports_and_takes_one_back(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("undo_import", "--campaign", "river")
    name = next(line.split("\t")[0] for line in capsys.readouterr().out.splitlines() if "\tsupport\t" in line)
    call_command("undo_import", "--campaign", "river", name)
    assert "1 label withdrawn" in capsys.readouterr().err
    with pytest.raises(Refused, match="no import"):
        import_named(world.campaign, "e999999")


def test_a_program_takes_its_import_back(world: World) -> None:
    olga = world.client("olga")
    address = "/api/v1/campaigns/river/imports/"
    kind = "application/octet-stream"
    name = olga.post(f"{address}topics/", data=b"t3\thow deep\n", content_type=kind).json()["id"]
    answer = olga.post(f"{address}{name}/undo/", content_type="application/json")
    assert (answer.status_code, answer.json()) == (200, {"message": "Taken back: 1 topic taken away."})
    again = olga.post(f"{address}{name}/undo/", content_type="application/json")
    assert (again.status_code, again.json()["code"]) == (422, "taken_back")
    resting = olga.post(f"{address}e{event_of(world, 'topics').pk}/undo/", content_type="application/json")
    assert (resting.status_code, resting.json()["code"]) == (422, "rests_on_it")
    assert world.client("rita").post(f"{address}{name}/undo/", content_type="application/json").status_code == 403


@pytest.mark.parametrize(
    ("changed", "warned"), [(("", ""), True), (('"assignment": "failed"', '"assignment": "support"'), False)]
)
def test_labels_of_another_judge_are_a_warning(world: World, changed: tuple[str, str], warned: bool) -> None:
    olga = world.client("olga")
    options = {"origin": "auto", "judge": "Wrong person", "by": "human"}
    attempt = sent(olga, "assignments", ("labels.jsonl", LABELS.replace(*changed)), **options)
    text = "all 4 labels equal those of robot"
    assert (text in page_of(olga, attempt)) is warned
