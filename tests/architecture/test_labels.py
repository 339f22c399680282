"""What labels are called, look like and are given by is said in evaluation/labels.py, and nowhere else."""

import re

import pytest

from assessor.keymap import default_actions
from evaluation.labels import CITATION_LABELS, NO_LABEL, NUGGET_LABELS, AssignmentLabel, LabelSet, SupportLabel
from reports.models import BOTH, TAKEN_BACK, UNDECIDED
from tests.architecture.tree import files, named

SETS = {"assign": NUGGET_LABELS, "support": CITATION_LABELS}
CODES = {"assign": AssignmentLabel, "support": SupportLabel}
SAID = re.compile(r"[◐⊘]|[\"'](?:partial_support|not_support|no_support|full_support)[\"']|tone-[123]\b")
BESIDE = {"tests", "loadtest", "migrations"}
MAY_SAY_IT = {
    "evaluation/labels.py": "the list itself",
    "static/css/labels.css": "colours of tones",
    "client/assay_client/rows.py": "made from the schema",
    "static/css/judge.css": "widths of the buttons",
}


def test_nothing_else_says_what_a_label_is() -> None:
    product = [
        path for path in files(".py", ".html", ".js", ".css") if not BESIDE.intersection(named(path).split("/"))
    ]
    assert {named(path) for path in product if SAID.search(path.read_text(encoding="utf-8"))} == {*MAY_SAY_IT}


@pytest.mark.parametrize("name", SETS)
def test_every_code_has_one_label_and_none_is_that_of_no_label(name: str) -> None:
    assert set(SETS[name].by_code) == set(CODES[name])
    assert NO_LABEL not in SETS[name].by_code


@pytest.mark.parametrize("labels", SETS.values(), ids=SETS)
def test_labels_have_the_keys_of_the_desks(labels: LabelSet) -> None:
    keys = {action.id: action.keys for action in default_actions()}
    assert [keys[label.action] for label in labels.degrees] == [(label.key,) for label in labels.degrees]
    assert keys["cant-judge"] == (labels.cant_judge.key,)


@pytest.mark.parametrize("labels", SETS.values(), ids=SETS)
def test_axes_of_reports_rise_from_no_points_to_the_most(labels: LabelSet) -> None:
    points = [labels.by_word[word].points for word in labels.scale]
    assert points == sorted(points)
    assert points[0] == 0 < points[-1]


def test_codes_are_apart_from_those_of_verdicts_on_pairs() -> None:
    assert not {code for labels in SETS.values() for code in labels.codes} & {BOTH, TAKEN_BACK, UNDECIDED}
