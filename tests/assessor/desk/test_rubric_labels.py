"""Labels of criteria are the same three, with captions that say what a criterion asks."""

from pathlib import Path

import pytest

from assessor.blind.history import history_of
from assessor.blind.review import judged_summary
from evaluation.labels import NUGGET_LABELS, AssignmentLabel, unit_of
from evaluation.models import Assignment
from organizer.work.task import assessor_view
from tests.assessor.desk_client import Window
from tests.worlds.judging_desk import RUBRIC, JudgeWorld, make_judge_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def judging(db: None, tmp_path: Path) -> JudgeWorld:
    """One answer and a rubric of two criteria, the second one to avoid."""
    return make_judge_world(tmp_path, runs=1, nuggets=RUBRIC)


@pytest.mark.parametrize(
    ("weight", "captions"),
    [
        (None, ["Support", "Partial", "Not", "Can't judge"]),
        (5, ["Satisfied", "Partly", "Not", "Can't judge"]),
        (0, ["Satisfied", "Partly", "Not", "Can't judge"]),
        (-0.5, ["Does it", "Partly", "Does not", "Can't judge"]),
    ],
)
def test_captions_follow_the_sign_of_a_weight(weight: float | None, captions: list[str]) -> None:
    labels = NUGGET_LABELS.by_people
    assert [NUGGET_LABELS.caption(label, unit_of(weight)) for label in labels] == captions


def test_a_rubric_is_labelled_with_the_stored_labels_and_told_in_its_own_words(judging: JudgeWorld) -> None:
    ann = Window(judging.client("ann"), judging.assign).open()
    state = ann.state()
    by_text = {nugget["text"]: nugget for nugget in state["nuggets"]}
    assert [by_text[text]["unit"] for text, *_ in RUBRIC] == ["criterion", "avoided"]
    assert "weight" not in str(state)
    for nugget in by_text.values():
        ann.do("label", key=f"{state['answers'][0]['id']}/{nugget['key']}", label="support")
    summary = judged_summary(judging.assign.public_id, judging.people["ann"])
    assert summary.labels == (("Does it", 1), ("Satisfied", 1))
    deeds = history_of(judging.assign.public_id, judging.people["ann"], 1).deeds
    told = {deed.line.text.partition(": ")[2] for deed in deeds}
    assert told >= {"Does it", "Satisfied"}
    view = assessor_view(judging.assign, "")
    assert view is not None
    assert {line.label for line in view.lines} == {"● Does it", "● Satisfied"}
    assert ann.submit().status_code == 200
    assert set(Assignment.objects.values_list("label", flat=True)) == {AssignmentLabel.SUPPORT}
