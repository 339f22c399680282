"""Every stage has an entry, and what hangs on it fits together."""

import pytest

from assessor.practice.rules import LABELS
from evaluation.labels import NO_LABELS
from evaluation.stages import STAGES, stage_of
from evaluation.terms import Stage


def test_every_stage_has_an_entry_in_the_order_of_the_work() -> None:
    assert [*STAGES] == [*Stage]


@pytest.mark.parametrize("stage", [stage for stage in Stage if stage.judges])
def test_a_judging_stage_practises_its_own_labels_and_says_how_long_one_takes(stage: Stage) -> None:
    entry = stage_of(stage)
    assert LABELS[entry.practice] == tuple(label.code for label in entry.labels.degrees)
    assert entry.seconds_a_label > 0


@pytest.mark.parametrize("stage", [stage for stage in Stage if not stage.judges])
def test_who_makes_a_list_gives_no_labels(stage: Stage) -> None:
    assert stage_of(stage).labels is NO_LABELS


def test_nobody_is_told_under_which_condition_they_judge() -> None:
    """Both conditions have the same words on the pages of assessors."""
    assert stage_of(Stage.SUPPORT_SCRATCH).assessor_words == stage_of(Stage.SUPPORT_POST_EDIT).assessor_words
