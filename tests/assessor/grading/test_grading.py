"""Relevance by people: a topic's passages are graded at the desk, and become qrels of whoever graded them."""

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from assessor.progress.pipeline import Step, pipeline_for
from evaluation.campaigns.create import CampaignFile, create_campaign
from evaluation.errors import Refused
from evaluation.imports.segments import import_segments
from evaluation.imports.topics import import_qrels
from evaluation.models import Judge, Judgment, Protocol, Qrel, QrelSource, Task
from evaluation.models.judges import source_of
from evaluation.stages import GRADE, MANUAL
from reports.quality.people import shared_by_people
from tests.assessor.desk_client import Window
from tests.worlds.cast import write_source
from tests.worlds.judging import JudgingWorld, current_task, make_judging_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(tmp_path: Path) -> JudgingWorld:
    """Topic t1: the runs cite d1 and d2, and NIST grades d2, d4 and d5, of which d5 has no text."""
    world = make_judging_world(tmp_path)
    texts = [{"docid": "d4", "title": "Dunes", "segment": "Sand blows. Dunes move."}]
    import_segments(campaign=world.campaign, sources=[world.source("more.jsonl", *texts)])
    load_grades(world, "NIST", "t1 0 d2 3\nt1 0 d4 0\nt1 0 d5 2\n")
    return world


def load_grades(world: JudgingWorld, name: str, lines: str) -> None:
    source = write_source(world.folder, f"{name}.txt", lines)
    import_qrels(campaign=world.campaign, source=source, name=name)


def window(world: JudgingWorld, name: str, **more: Any) -> Window:
    client = Client()
    client.force_login(world.people[name])
    return Window(client, world.hand(GRADE, name, **more)).open()


def docids(world: JudgingWorld, desk: Window) -> dict[str, str]:
    """Return the key of each passage of a desk by its docid."""
    rows = world.campaign.segments.filter(public_id__in=[answer["id"] for answer in desk.state()["answers"]])
    return {docid: f"{public_id}/grade" for docid, public_id in rows.values_list("docid", "public_id")}


def grade(world: JudgingWorld, name: str, grades: dict[str, int], **more: Any) -> Window:
    desk = window(world, name, **more)
    for docid, key in docids(world, desk).items():
        receipt = desk.do("label", key=key, label=f"grade_{grades[docid]}")
        assert receipt["status"] == "applied", receipt
    submit(desk)
    return desk


def submit(desk: Window) -> None:
    response = desk.post("submit/", {"window": desk.window, "seq": desk.state()["seq"]})
    assert response.status_code == 200, response.content


def qrels_of(world: JudgingWorld, name: str) -> dict[str, int]:
    rows = Qrel.objects.filter(source__campaign=world.campaign, source__name=f"grade-{name}")
    return dict(rows.values_list("segment__docid", "grade"))


def exported(*options: str) -> list[str]:
    out = StringIO()
    call_command("export", "qrels", "--campaign", "river", *options, stdout=out)
    return sorted(out.getvalue().splitlines())


ANNS = {"d1": 1, "d2": 3, "d4": 0}


def test_the_pool_is_what_is_graded_or_cited_and_has_a_text(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    assert sorted(docids(world, desk)) == ["d1", "d2", "d4"]
    assert "0 of 3 grades" in desk.client.get(reverse("assessor:home")).content.decode().replace(
        "labels", "grades"
    )


CANDIDATES = {
    "query": {"qid": "t1", "text": "why is the sky blue"},
    "candidates": [{"docid": docid, "doc": {"segment": f"Text {docid}."}} for docid in ("c1", "c2")],
}


def test_candidates_without_a_grade_are_graded_too(world: JudgingWorld) -> None:
    before = window(world, "ann")
    import_segments(campaign=world.campaign, sources=[world.source("c.jsonl", CANDIDATES)])
    assert sorted(docids(world, before)) == ["c1", "c2", "d1", "d2", "d4"]
    desk = grade(world, "ben", {**ANNS, "c1": 2, "c2": 0}, again=True)
    assert sorted(docids(world, desk)) == ["c1", "c2", "d1", "d2", "d4"]
    assert qrels_of(world, "ben") == {**ANNS, "c1": 2, "c2": 0}


def test_each_assessor_has_an_order_of_their_own_that_grades_do_not_decide(world: JudgingWorld) -> None:
    lines = "".join(f"t1 0 e{number} {number % 4}\n" for number in range(12))
    texts = [{"docid": f"e{number}", "segment": f"Text {number}."} for number in range(12)]
    import_segments(campaign=world.campaign, sources=[world.source("e.jsonl", *texts)])
    load_grades(world, "UMBRELA", lines)
    orders = [
        [answer["id"] for answer in window(world, name, again=True).state()["answers"]] for name in ("ann", "ben")
    ]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])


def test_a_passage_is_read_with_its_title_and_no_docid(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    passage = docids(world, desk)["d4"].partition("/")[0]
    text = desk.client.get(desk.url(f"answers/{passage}/")).json()["html"]
    assert "Dunes" in text
    assert "Sand blows." in text
    assert "Passage " in text
    assert "d4" not in text


def test_the_desk_has_a_key_for_each_grade_of_the_protocols_scale(world: JudgingWorld) -> None:
    page = window(world, "ann").client.get(window_url(world)).content.decode()
    assert "How relevant is the passage?" in page
    assert page.count('type="radio"') == 4
    assert "Perfectly relevant" in page
    assert '"id": "label-3"' in page
    assert '"id": "label-4"' not in page
    assert '"id": "label-clear"' not in page
    assert '"id": "grade-clear", "keys": ["Backspace"]' in page


def window_url(world: JudgingWorld) -> str:
    return reverse("assessor:task", args=[current_task_of(world).public_id])


def current_task_of(world: JudgingWorld) -> Task:
    return Task.objects.get(campaign=world.campaign, stage=GRADE)


def test_a_grade_above_the_scale_is_refused(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    [key, *_] = docids(world, desk).values()
    assert desk.do("label", key=key, label="grade_4")["code"] == "no_such_label"
    assert desk.do("label", key="nothing/grade", label="grade_1")["code"] == "no_such_pair"
    assert desk.do("label", key=key, label="cant_judge")["code"] == "no_reason"
    assert desk.do("label", key=key, label="grade_1")["rows"][key]["label"] == "grade_1"
    assert desk.undo()["rows"][key]["label"] is None


def test_submitted_grades_are_qrels_of_the_assessor(world: JudgingWorld) -> None:
    grade(world, "ann", ANNS)
    assert qrels_of(world, "ann") == ANNS
    labels = Judgment.objects.current().select_related("judge", "event")
    assert {(label.judge.name, label.event.kind) for label in labels if label.event} == {("ann", "task.submitted")}
    lines = ["t1 0 d1 1", "t1 0 d2 3", "t1 0 d4 0"]
    assert exported("--judge", "ann") == exported("--source", "grade-ann") == lines


def test_a_passage_that_cannot_be_judged_has_no_grade(world: JudgingWorld) -> None:
    desk = window(world, "ann")
    first, *others = docids(world, desk).values()
    desk.do("label", key=first, label="cant_judge", reason="It is in Latin.")
    for key in others:
        desk.do("label", key=key, label="grade_2")
    submit(desk)
    assert sorted(qrels_of(world, "ann").values()) == [2, 2]
    assert Judgment.objects.current().get(raw="It is in Latin.").label > 9


def test_a_later_submission_replaces_the_grades_and_keeps_the_history(world: JudgingWorld) -> None:
    desk = grade(world, "ann", ANNS)
    world.reopen(desk.task)
    assert qrels_of(world, "ann") == ANNS
    desk.do("label", key=docids(world, desk)["d1"], label="grade_2")
    submit(desk)
    assert qrels_of(world, "ann") == ANNS | {"d1": 2}
    assert Judgment.objects.count() == 6


def test_withdrawn_grades_are_no_qrels(world: JudgingWorld) -> None:
    desk = grade(world, "ann", ANNS)
    world.withdraw(desk.task)
    assert qrels_of(world, "ann") == {}
    assert Judgment.objects.count() == 3


def test_passages_that_come_later_go_into_tasks_that_are_not_submitted(world: JudgingWorld) -> None:
    submitted, begun = grade(world, "ann", ANNS), window(world, "ben", again=True)
    texts = [{"docid": "d6", "segment": "Late."}]
    import_segments(campaign=world.campaign, sources=[world.source("late.jsonl", *texts)])
    load_grades(world, "UMBRELA", "t1 0 d6 1\n")
    assert current_task(submitted.task.public_id).state == "submitted"
    assert sorted(docids(world, submitted)) == ["d1", "d2", "d4"]
    assert sorted(docids(world, begun)) == ["d1", "d2", "d4", "d6"]


def test_a_task_that_is_reopened_asks_about_passages_that_came_since(world: JudgingWorld) -> None:
    desk = grade(world, "ann", ANNS)
    texts = [{"docid": "d6", "segment": "Late."}]
    import_segments(campaign=world.campaign, sources=[world.source("late.jsonl", *texts)])
    load_grades(world, "UMBRELA", "t1 0 d6 1\n")
    world.reopen(desk.task)
    assert sorted(docids(world, desk)) == ["d1", "d2", "d4", "d6"]
    assert qrels_of(world, "ann") == ANNS
    desk.do("label", key=docids(world, desk)["d6"], label="grade_2")
    submit(desk)
    assert qrels_of(world, "ann") == ANNS | {"d6": 2}


def test_grading_is_a_step_of_today(world: JudgingWorld) -> None:
    olga = world.people["olga"]

    def step() -> list[str]:
        states = pipeline_for(olga, world.campaign).states[Step.PASSAGES]
        return [states[topic.pk] for topic in world.campaign.topics.order_by("topic_id")]

    assert step() == ["done", "ready"]
    desk = window(world, "ann")
    assert step() == ["in progress", "ready"]
    for key in docids(world, desk).values():
        desk.do("label", key=key, label="grade_1")
    submit(desk)
    assert step() == ["done", "ready"]


def test_grades_of_a_person_may_choose_the_passages_of_a_list(world: JudgingWorld) -> None:
    grade(world, "ann", ANNS)
    # Grading shows no answer, so it keeps nobody from writing the list.
    task = world.hand(MANUAL, "ann", qrels="grade-ann")
    assert task.qrels is not None
    assert task.qrels.name == "grade-ann"


def test_a_passage_of_two_topics_is_graded_for_each(world: JudgingWorld) -> None:
    load_grades(world, "UMBRELA", "t1 0 d4 1\nt2 0 d4 2\n")
    for name, label in (("ann", "grade_0"), ("ben", "grade_2")):
        for topic in ("t1", "t2"):
            desk = window(world, name, topic=topic, again=True)
            for key in docids(world, desk).values():
                desk.do("label", key=key, label=label)
            submit(desk)
    [shared] = shared_by_people(world.people["olga"], world.campaign)
    [pair] = shared.pairs
    assert (pair.items, pair.topics) == (len(docids(world, desk)) + 3, 2)


def test_no_file_takes_the_place_of_what_a_person_grades(world: JudgingWorld) -> None:
    grade(world, "ann", ANNS)
    with pytest.raises(Refused, match="take another name"):
        load_grades(world, source_of(Judge.objects.get(name="ann")), "t1 0 d1 0\n")
    assert QrelSource.objects.filter(name__startswith="grade-").count() == 1


def test_grades_of_two_people_are_compared_on_the_quality_page(world: JudgingWorld) -> None:
    grade(world, "ann", ANNS)
    grade(world, "ben", ANNS | {"d1": 3}, again=True)
    [shared] = shared_by_people(world.people["olga"], world.campaign)
    [pair] = shared.pairs
    assert pair.items == 3
    assert pair.agreement == pytest.approx(2 / 3)
    assert len(shared.confusion(pair).labels) == 4
    olga = Client()
    olga.force_login(world.people["olga"])
    page = olga.get(reverse("organizer:quality", args=["river"])).content.decode()
    assert "Grade passages" in page
    for name in ("work", "people", "today"):
        assert olga.get(reverse(f"organizer:{name}", args=["river"])).status_code == 200


def test_the_words_of_grades_are_the_protocols(world: JudgingWorld) -> None:
    file = CampaignFile.model_validate(
        {"protocol": {"relevance_max": 2}, "grades": {"0": "No", "1": "Perhaps", "2": "Yes"}}
    )
    create_campaign(slug="river", name=world.campaign.name, file=file, replace=True)
    page = window(world, "ann").client.get(window_url(world)).content.decode()
    assert "Perhaps" in page
    assert page.count('type="radio"') == 3


@pytest.mark.parametrize("words", ["No Yes", "No Perhaps Yes Surely Really"])
def test_there_is_a_word_for_each_grade_or_none(world: JudgingWorld, words: str) -> None:
    file = CampaignFile.model_validate({"grades": dict(enumerate(words.split()))})
    with pytest.raises(Refused, match="give 4 words"):
        create_campaign(slug="other", name="Other", file=file)
    assert not Protocol.objects.filter(campaign__slug="other").exists()


def test_shares_of_more_grades_than_labels_have_columns_of_their_own(world: JudgingWorld) -> None:
    grade(world, "ann", {"d1": 3, "d2": 0, "d4": 0})
    client = Client()
    client.force_login(world.people["olga"])
    file = client.get(reverse("organizer:people_work_file", args=["river"])).content.decode()
    [row] = csv.DictReader(StringIO(file))
    assert None not in row
    assert [float(row[name]) for name in ("full", "partial", "none", "label_4")] == pytest.approx(
        [1 / 3, 0, 0, 2 / 3]
    )
    assert row["cant_judge"] == "0.0"
