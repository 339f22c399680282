"""From file and desk to support, confusion, random check, quality, prompts and exports, with a label of its own.

Not collected by name: `test_fourth_label.py` runs it in a process in which the plugin has added the label.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from assessor.keymap import default_actions
from evaluation.imports.support import import_support
from evaluation.labels import CITATION_LABELS
from evaluation.models import Assignment, RandomCheckPair, SupportJudgment
from evaluation.stages import SUPPORT_SCRATCH
from evaluation.terms import JudgeKind, StudyKind, SupportCondition
from llmjobs.prompts.texts import TEMPLATES
from reports.charts import LIGHT
from reports.metrics.label_matrix import CITATION_POINTS
from reports.metrics.random_check.draw import factors_of
from reports.models import Adjudication
from reports.random_checks.drawing import RandomCheckOrder, create_random_check
from reports.random_checks.frame import drawn_rows
from tests.worlds.imported import load, report, run, write
from tests.worlds.judging import JudgingWorld
from tests.worlds.study import MACHINE, hand_study, judge_drawn, make_study, make_study_world, window_of

SCALE = ["contradicts", "no_support", "partial_support", "full_support"]


@pytest.fixture
def world(db: None, tmp_path: Path) -> JudgingWorld:
    """Three citations: an expert gave full support to each, the machine none, full and none."""
    return make_study_world(tmp_path)


def label(world: JudgingWorld, judge: str, *labels: str, kind: JudgeKind = JudgeKind.HUMAN) -> None:
    pairs = (("alpha", 0, "d1"), ("alpha", 1, "d2"), ("gamma", 1, "d2"))
    rows = [
        {"run_id": run_id, "topic_id": "t1", "sentence": sentence, "docid": docid, "label": word}
        for (run_id, sentence, docid), word in zip(pairs, labels, strict=True)
    ]
    import_support(
        campaign=world.campaign,
        sources=[world.source(f"{judge}.jsonl", *rows)],
        judge=judge,
        kind=kind,
        condition=SupportCondition.LLM if kind is JudgeKind.LLM else SupportCondition.SCRATCH,
    )


def client_of(world: JudgingWorld) -> Client:
    client = Client()
    client.force_login(world.people["olga"])
    return client


def page_of(world: JudgingWorld, name: str, *args: Any, query: str = "") -> str:
    response = client_of(world).get(reverse(name, args=[world.campaign.slug, *args]) + query)
    assert response.status_code == 200
    return response.content.decode()


def test_its_place_and_its_worth_are_not_its_code() -> None:
    assert list(CITATION_LABELS.scale) == SCALE
    assert CITATION_POINTS.tolist() == [0, 0, 1, 2]
    assert factors_of(CITATION_POINTS).tolist() == [1, 1, 2, 1, 2]
    assert "4" in {key for action in default_actions() if action.id == "label-4" for key in action.keys}


def test_it_counts_nothing_and_stands_in_the_tables(world: JudgingWorld) -> None:
    label(world, "robot", "contradicts", "full_support", "partial_support", kind=JudgeKind.LLM)
    (alpha, gamma) = (
        row
        for row in report("support", "--condition", "llm", "--judge", "robot")["runs"]
        if row["run_id"] in ("alpha", "gamma")
    )
    assert (alpha["weighted_precision"], gamma["weighted_precision"]) == (0.5, 0.5)
    assert "Contradicts" in page_of(world, "reports:support", query="?condition=llm&judge=robot")
    assert load("export", "support", "--condition", "llm", "--judge", "robot").out.count("contradicts") == 1


def test_pictures_have_a_fill_and_a_row_for_it(world: JudgingWorld) -> None:
    label(world, "robot", "contradicts", "full_support", "partial_support", kind=JudgeKind.LLM)
    bars = picture_of(world, "support", "conditions", "?condition=llm&judge=robot")
    assert "contradicts" in bars
    assert f'fill="{LIGHT.control}"' in bars
    sides = "?rows=llm&rows_judge=robot&columns=scratch"
    assert picture_of(world, "confusion", "matrix", sides).count("contradicts") >= 2


def picture_of(world: JudgingWorld, name: str, part: str, query: str) -> str:
    address = reverse(f"reports:{name}_picture", args=[world.campaign.slug, part, "svg"])
    response = client_of(world).get(address + query)
    assert response.status_code == 200, address
    return response.content.decode()


def test_it_is_judged_at_the_desk_and_compared(world: JudgingWorld) -> None:
    judge_drawn(window_of(world, world.hand(SUPPORT_SCRATCH, "ann")), "contradicts")
    given = SupportJudgment.objects.filter(judge__user=world.people["ann"])
    assert {row.label for row in given} == {3}
    sides = (
        "--rows",
        "llm",
        "--rows-judge",
        MACHINE,
        "--columns",
        "scratch",
        "--columns-judge",
        given[0].judge.name,
    )
    found = report("support-confusion", *sides)
    assert found["labels"] == SCALE
    assert found["counts"] == [[0, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]
    assert found["harsh_conflicts"] == 1
    assert found["ordinal_strictness"] == pytest.approx((1 + 1 + 3) / 3)


def test_a_verdict_may_be_it_on_citations_alone(world: JudgingWorld) -> None:
    citation = SupportJudgment.objects.filter(judge__name=MACHINE, label=0)[0]
    nugget = Assignment.objects.filter(judge__name=MACHINE)[0]
    of_citation = ("reports:citations_pair", citation.sentence_id, citation.segment_id)
    of_nugget = ("reports:nuggets_pair", nugget.answer_id, nugget.nugget_version_id)
    assert 'value="3"' in page_of(world, *of_citation)
    assert 'value="3"' not in page_of(world, *of_nugget)
    for name, *key in (of_citation, of_nugget):
        address = reverse(name.replace("_pair", "_verdict"), args=[world.campaign.slug, *key])
        client_of(world).post(address, {"verdict": "3"})
    assert [(row.verdict, row.sentence_id) for row in Adjudication.objects.all()] == [(3, citation.sentence_id)]


def test_a_pair_of_a_list_is_decided_by_codes(world: JudgingWorld) -> None:
    label(world, "robot", "contradicts", "full_support", "full_support", kind=JudgeKind.LLM)
    sides = "?rows=llm&rows_judge=robot&columns=scratch&cell=harsh"
    pair = SupportJudgment.objects.get(judge__name="robot", label=3)
    page = page_of(world, "reports:citations_pair", pair.sentence_id, pair.segment_id, query=sides)
    assert 'value="3" data-key="1"' in page
    assert 'value="2" data-key="2"' in page
    address = reverse("reports:citations_verdict", args=[world.campaign.slug, pair.sentence_id, pair.segment_id])
    client_of(world).post(address + sides, {"verdict": "3"})
    found = json.loads(page_of(world, "reports:confusion_table", "counts", "json", query=sides))
    assert [row["rows"] for row in found["verdicts"]] == [1]


def test_a_random_check_corrects_by_it(world: JudgingWorld) -> None:
    label(world, "robot", "contradicts", "full_support", "partial_support", kind=JudgeKind.LLM)
    order = RandomCheckOrder("check", StudyKind.SUPPORT, judge="robot", per_run=10, least=1, seed="s")
    study = create_random_check(campaign=world.campaign, order=order)
    assert {row.judge_label for row in RandomCheckPair.objects.filter(study=study)} == {1, 2, 3}
    rows = drawn_rows(study)
    assert {(row["machine"], row["stratum"]) for row in rows} == {
        ("contradicts", "contradicts"),
        ("full_support", "full"),
        ("partial_support", "partial"),
    }
    judge_drawn(window_of(world, hand_study(world, study)), "contradicts")
    assert {word for row in drawn_rows(study) for word in row["labels"].values()} == {"contradicts"}
    found = {row["run_id"]: row for row in report("corrected", "--study", "check")["runs"]}
    assert [found[name]["corrected"]["value"] for name in ("alpha", "gamma")] == [0, 0]
    assert [found[name]["llm"] for name in ("alpha", "gamma")] == [0.5, 0.5]
    assert "contradicts" in page_of(world, "organizer:random_check", study.pk)


def test_labels_of_a_check_come_from_a_file(world: JudgingWorld, tmp_path: Path) -> None:
    label(world, "robot", "contradicts", "full_support", "partial_support", kind=JudgeKind.LLM)
    order = RandomCheckOrder("check", StudyKind.SUPPORT, judge="robot", per_run=10, least=1, seed="s")
    study = create_random_check(campaign=world.campaign, order=order)
    names = ("run_id", "topic_id", "sentence", "docid")
    rows = [{name: row[name] for name in names} | {"label": "contradicts"} for row in drawn_rows(study)]
    words = ("import_random_check", "--campaign", "river", "--study", "check", "--judge", "eve")
    assert run(*words, write(tmp_path, "labels.jsonl", rows)).code == 0
    found = report("corrected", "--study", "check", "--score", "weighted_recall")["runs"]
    assert {row["corrected"]["value"] for row in found if row["drawn"]} == {0}


def test_a_second_look_compares_with_it(world: JudgingWorld) -> None:
    label(world, "eve", "contradicts", "contradicts", "contradicts")
    study = make_study(world, StudyKind.SUPPORT, person="eve", judge=MACHINE)
    judge_drawn(window_of(world, hand_study(world, study)), "contradicts")
    found = report("study", "--study", study.name)
    assert found["labels"] == SCALE
    assert [row["contradicts"] for row in found["judges"]][::2] == [1.0, 1.0]


def test_quality_pages_show_it(world: JudgingWorld) -> None:
    label(world, "eve", "contradicts", "full_support", "contradicts")
    label(world, "fay", "full_support", "contradicts", "contradicts")
    assert "contradicts" in page_of(world, "organizer:quality")
    file = client_of(world).get(reverse("organizer:people_work_file", args=["river"])).content.decode()
    assert "against" in file.splitlines()[0]
    assert "Contradicts" in page_of(world, "reports:methods")


def test_llms_are_asked_for_it() -> None:
    assert "contradicts" in next(each.user for each in TEMPLATES.values() if each.task == "support")
