"""What hangs on a stage fits together."""

from copy import deepcopy

import pytest
from django.utils.text import slugify

from assessor.practice.rules import PRACTICE_LABELS
from evaluation.labels import NO_LABELS
from evaluation.stages import STAGES, SUPPORT_POST_EDIT, SUPPORT_SCRATCH, Stage, stage_of
from web.words import terms


@pytest.mark.parametrize("stage", [stage for stage in STAGES.values() if stage.judges])
def test_a_judging_stage_practises_its_own_labels_and_says_how_long_one_takes(stage: Stage) -> None:
    assert stage.practice or stage.dealt
    if stage.practice:
        assert PRACTICE_LABELS[stage.practice] == tuple(label.code for label in stage.labels.degrees)
    assert stage.seconds_a_label > 0


@pytest.mark.parametrize("stage", [stage for stage in STAGES.values() if not stage.judges])
def test_who_makes_a_list_gives_no_labels(stage: Stage) -> None:
    assert stage.labels is NO_LABELS


def test_nobody_is_told_under_which_condition_they_judge() -> None:
    """Both conditions have the same words on the pages of assessors."""
    for words in ("assessor_words", "question", "lede", "sample_lede"):
        assert getattr(SUPPORT_SCRATCH, words) == getattr(SUPPORT_POST_EDIT, words)


def test_a_stage_stays_itself_where_it_is_copied() -> None:
    """Forms copy their choices, and reports are kept."""
    assert deepcopy(SUPPORT_SCRATCH) is SUPPORT_SCRATCH


def test_a_code_that_is_no_stage_names_those_that_are() -> None:
    with pytest.raises(ValueError, match="'assing' is no stage; there are post-edit, manual, assign"):
        stage_of("assing")


@pytest.mark.parametrize("stage", STAGES.values())
def test_a_stage_is_a_term_of_the_glossary(stage: Stage) -> None:
    assert terms()[slugify(stage.words)].word == stage.words
