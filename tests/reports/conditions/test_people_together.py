"""Labels of several people who share the topics and were handed none of them count together, as desk work does."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.urls import reverse

from evaluation.domain.conditions import ALL_PEOPLE
from evaluation.imports.assignments import import_assignments
from evaluation.imports.nuggets import import_nuggets
from evaluation.models import Finding
from evaluation.terms import FindingCode, JudgeKind, Origin
from tests.reports.conftest import settle
from tests.worlds.campaign import World, make_world
from tests.worlds.cast import write_source
from tests.worlds.imported import SUPPORT, load, report, run, write

pytestmark = pytest.mark.django_db
T1, T2 = ("t1", ("sand moves", "banks erode")), ("t2", ("cracks",))


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = make_world(tmp_path)
    lists = [
        {"qid": topic, "query": topic, "nuggets": [{"text": text, "importance": "vital"} for text in texts]}
        for topic, texts in (T1, T2)
    ]
    source = write_source(tmp_path, "edited.jsonl", "".join(json.dumps(row) + "\n" for row in lists))
    import_nuggets(campaign=world.campaign, source=source, origin=Origin.EDITED, judge="editors")
    return world


def label(world: World, tmp_path: Path, judge: str, label: str, *topics: tuple[str, tuple[str, ...]]) -> None:
    """Load a person's labels of alpha's answers to some topics, all alike."""
    rows = [
        {"qid": topic, "run_id": "alpha", "nuggets": [{"text": text, "assignment": label} for text in texts]}
        for topic, texts in topics
    ]
    source = write_source(tmp_path, f"{judge}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    import_assignments(
        campaign=world.campaign, sources=[source], origin=Origin.EDITED, judge=judge, kind=JudgeKind.HUMAN
    )


def lists(world: World, tmp_path: Path, judge: str, *topics: tuple[str, tuple[str, ...]]) -> None:
    """Load a person's own lists of some topics, all vital."""
    rows = [
        {"qid": topic, "query": topic, "nuggets": [{"text": text, "importance": "vital"} for text in texts]}
        for topic, texts in topics
    ]
    source = write_source(tmp_path, f"lists-{judge}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    import_nuggets(campaign=world.campaign, source=source, origin=Origin.MANUAL, judge=judge)


def label_own(world: World, tmp_path: Path, judge: str, label: str, *topics: tuple[str, tuple[str, ...]]) -> None:
    """Load a person's labels of alpha's answers by that person's own lists."""
    rows = [
        {"qid": topic, "run_id": "alpha", "nuggets": [{"text": text, "assignment": label} for text in texts]}
        for topic, texts in topics
    ]
    source = write_source(tmp_path, f"own-{judge}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    import_assignments(
        campaign=world.campaign,
        sources=[source],
        origin=Origin.MANUAL,
        judge=judge,
        kind=JudgeKind.HUMAN,
        nuggets=f"manual-{judge}",
    )


def manual(*words: str) -> Any:
    return report("scores", "--condition", "M/M", *words)


def share_lists(world: World, tmp_path: Path) -> None:
    """Let two people have lists and labels of different topics."""
    for judge, label, topic in (("Ada", "support", T1), ("Bob", "not_support", T2)):
        lists(world, tmp_path, judge, topic)
        label_own(world, tmp_path, judge, label, topic)


def test_lists_of_people_who_have_different_topics_count_together(world: World, tmp_path: Path) -> None:
    share_lists(world, tmp_path)
    document = manual()
    assert (document["nuggets"], document["judge"]) == ("manual-Ada, manual-Bob", "Ada, Bob")
    assert (document["topics"], alpha(document)) == (2, (0.5, 3))
    assert not Finding.objects.filter(code=FindingCode.LISTED_BY_OTHERS).exists()


def test_where_lists_overlap_the_list_loaded_first_counts(world: World, tmp_path: Path) -> None:
    lists(world, tmp_path, "Zoe", T1)
    lists(world, tmp_path, "Ann", ("t1", ("gulls cry",)), T2)
    label_own(world, tmp_path, "Zoe", "support", T1)
    label_own(world, tmp_path, "Ann", "not_support", ("t1", ("gulls cry",)), T2)
    assert alpha(manual()) == (0.5, 3)
    assert alpha(manual("--nuggets", "manual-Ann")) == (0, 2)
    found = Finding.objects.get(code=FindingCode.LISTED_BY_OTHERS)
    assert (found.topic_id, found.file) == ("t1", "lists-Ann.jsonl")
    assert found.message.startswith("Zoe has a list of this topic that was there first; it counts")


def test_two_versions_of_all_lists_stay_a_choice_that_all_people_answers(world: World, tmp_path: Path) -> None:
    for judge, label in (("Zoe", "support"), ("Ann", "not_support")):
        lists(world, tmp_path, judge, T1, T2)
        label_own(world, tmp_path, judge, label, T1, T2)
    outcome = run("report", "scores", "--campaign", "river", "--condition", "M/M")
    assert outcome.err == "Several nugget sets fit M/M; choose one: manual-Ann, manual-Zoe. Option: --nuggets.\n"
    document = manual("--nuggets", ALL_PEOPLE)
    assert (document["nuggets"], alpha(document)) == ("manual-Zoe", (1, 3))


def test_all_people_is_a_choice_of_lists_that_beats_the_default_everywhere(world: World, tmp_path: Path) -> None:
    share_lists(world, tmp_path)
    settle(tmp_path, '[defaults."M/M"]\nnuggets = "manual-Ada"\n')
    assert manual()["nuggets"] == "manual-Ada"
    assert manual("--nuggets", ALL_PEOPLE)["nuggets"] == "manual-Ada, manual-Bob"
    client, everybody = world.client("olga"), quote(ALL_PEOPLE)
    for name, query in (
        ("scores", "condition=M/M&nuggets="),
        ("correlation", "x=M/M&y=E/M&x_nuggets="),
        ("confusion", "rows=M/M&columns=M/M&nuggets="),
    ):
        page = client.get(f"{reverse(f'reports:{name}', args=['river'])}?{query}{everybody}").content.decode()
        assert f'<option value="{ALL_PEOPLE}" selected>{ALL_PEOPLE}</option>' in page
    answer = client.get(f"/api/v1/scores/?campaign=river&condition=M/M&nugget_set={everybody}").json()
    assert next(row for row in answer["results"] if row["run_id"] == "alpha")["judged"] == 3
    form = client.get(
        reverse("organizer:new_export", args=["river"]) + "?what=scores&condition=M/M"
    ).content.decode()
    defaults = client.get(reverse("organizer:change_defaults", args=["river"])).content.decode()
    for page, field in ((form, "nuggets"), (defaults, "nuggets_mm")):
        select = page[page.index(f'name="{field}"') :]
        assert f'<option value="{ALL_PEOPLE}">' in select[: select.index("</select>")]


def scores(*words: str) -> Any:
    return report("scores", "--condition", "E/M", *words)


def alpha(document: Any) -> tuple[float, int]:
    row = next(row for row in document["runs"] if row["run_id"] == "alpha")
    return row["vital_strict"], row["judged"]


def test_people_who_have_different_topics_count_together(world: World, tmp_path: Path) -> None:
    label(world, tmp_path, "Assessor A", "support", T1)
    label(world, tmp_path, "Assessor B", "not_support", T2)
    document = scores()
    assert document["judge"] == "Assessor A, Assessor B"
    assert (document["topics"], alpha(document)) == (2, (0.5, 3))
    assert not Finding.objects.filter(code=FindingCode.LABELLED_BY_OTHERS).exists()
    page = world.client("olga").get(world.pages()["scores"] + "?condition=E/M").content.decode()
    assert "labels by <b><bdi>Assessor A, Assessor B</bdi></b>" in page


def test_where_topics_overlap_the_labels_loaded_first_count(world: World, tmp_path: Path) -> None:
    label(world, tmp_path, "Zoe", "support", T1)
    label(world, tmp_path, "Ann", "not_support", T1, T2)
    assert alpha(scores()) == (0.5, 3)
    assert alpha(scores("--judge", "Ann")) == (0, 3)
    found = Finding.objects.get(code=FindingCode.LABELLED_BY_OTHERS)
    assert (found.topic_id, found.file) == ("t1", "Ann.jsonl")
    assert found.message.startswith("Zoe has labels of this topic that were there first; these count")


def test_all_people_is_a_choice_that_beats_the_default_everywhere(world: World, tmp_path: Path) -> None:
    label(world, tmp_path, "Assessor A", "support", T1)
    label(world, tmp_path, "Assessor B", "not_support", T2)
    settle(tmp_path, '[defaults."E/M"]\njudge = "Assessor A"\n')
    assert scores()["judge"] == "Assessor A"
    assert scores("--judge", ALL_PEOPLE)["judge"] == "Assessor A, Assessor B"
    client, everybody = world.client("olga"), quote(ALL_PEOPLE)
    for name, query in (
        ("scores", "condition=E/M&judge="),
        ("correlation", "x=A/A&y=E/M&y_judge="),
        ("confusion", "rows=E/A&columns=E/M&columns_judge="),
    ):
        page = client.get(f"{reverse(f'reports:{name}', args=['river'])}?{query}{everybody}").content.decode()
        assert f'<option value="{ALL_PEOPLE}" selected>{ALL_PEOPLE}</option>' in page
        assert name == "confusion" or "Assessor A, Assessor B" in page
    answer = client.get(f"/api/v1/scores/?campaign=river&condition=E/M&judge={everybody}").json()
    assert next(row for row in answer["results"] if row["run_id"] == "alpha")["judged"] == 3
    form = client.get(
        reverse("organizer:new_export", args=["river"]) + "?what=scores&condition=E/M"
    ).content.decode()
    assert f'<option value="{ALL_PEOPLE}">' in form
    defaults = client.get(reverse("organizer:change_defaults", args=["river"])).content.decode()
    assert f'<option value="{ALL_PEOPLE}">' in defaults


def test_no_llm_is_among_all_people(world: World) -> None:
    outcome = run("report", "scores", "--campaign", "river", "--condition", "A/A", "--judge", ALL_PEOPLE)
    assert (outcome.code, outcome.err) == (1, "all people has no labels under A/A; there are: robot.\n")


def test_citation_labels_of_several_people_count_together(labelled: Path) -> None:
    harsh = [row | {"label": "no_support"} for row in SUPPORT]
    load(
        "import_support", "--judge", "Ben", "--by", "human", "--condition", "scratch", write(labelled, "b", harsh)
    )
    both = report("support", "--condition", "scratch")["runs"]
    assert both == report("support", "--condition", "scratch", "--judge", "Ann")["runs"]
    assert both != report("support", "--condition", "scratch", "--judge", "Ben")["runs"]
    assert Finding.objects.filter(code=FindingCode.LABELLED_BY_OTHERS).exists()
