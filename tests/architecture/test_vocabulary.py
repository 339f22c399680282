"""Every word of the vocabulary has its place: in the database, in the arrays, in the code that says it."""

from enum import IntEnum, StrEnum
from itertools import product

import pytest
from django.apps import apps
from django.db import models

from evaluation.formats import assignments, support
from evaluation.labels import CITATION_LABELS, AssignmentLabel, SupportLabel
from evaluation.models import ConditionDefault, NuggetLineage
from evaluation.terms import Condition, FindingCode, JudgeKind, Origin, RagTask, SupportCondition
from reports.frames import ASSIGNMENT_CELLS, SUPPORT_CELLS
from reports.metrics import label_matrix
from tests.architecture.tree import ROOT, files


def test_every_label_has_a_cell() -> None:
    left = {label: int(ASSIGNMENT_CELLS[label]) for label in AssignmentLabel}
    assert left == {
        AssignmentLabel.NOT_SUPPORT: label_matrix.NOT,
        AssignmentLabel.PARTIAL_SUPPORT: 1,
        AssignmentLabel.SUPPORT: label_matrix.FULL,
        AssignmentLabel.CANT_JUDGE: label_matrix.UNJUDGED,
        AssignmentLabel.FAILED: label_matrix.FAILED,
    }


def test_every_support_label_has_a_cell() -> None:
    assert [int(SUPPORT_CELLS[label]) for label in SupportLabel] == [
        *map(CITATION_LABELS.place, sorted(CITATION_LABELS.codes)),
        *(label_matrix.UNJUDGEABLE, label_matrix.FAILED),
    ]


@pytest.mark.parametrize("name", ["CANT_JUDGE", "FAILED"])
def test_both_kinds_of_labels_share_the_codes_off_their_scales(name: str) -> None:
    assert AssignmentLabel[name].value == SupportLabel[name].value


def test_a_code_that_is_no_label_is_unjudged() -> None:
    codes = set(range(256)) - {label.value for label in AssignmentLabel}
    assert {int(ASSIGNMENT_CELLS[code]) for code in codes} == {label_matrix.UNJUDGED}


@pytest.mark.parametrize(
    ("read", "labels"), [(assignments.LABELS_BY_WORD, AssignmentLabel), (support.LABELS_BY_WORD, SupportLabel)]
)
def test_every_label_but_failed_is_read_from_files(read: dict[str, IntEnum], labels: type[IntEnum]) -> None:
    assert set(read.values()) == set(labels) - {labels["FAILED"]}


def test_every_origin_and_kind_of_judge_make_one_condition() -> None:
    scored = [origin for origin in Origin if origin is not Origin.DRAFT]
    made = [(condition.origin, condition.judge_kind) for condition in Condition]
    assert sorted(made) == sorted(product(scored, JudgeKind))


@pytest.mark.parametrize("code", FindingCode)
def test_every_finding_is_made_somewhere(code: FindingCode) -> None:
    reference = f"FindingCode.{code.name}"
    places = [path for path in files(".py") if path.relative_to(ROOT).parts[0] in ("evaluation", "reports")]
    assert any(reference in path.read_text(encoding="utf-8") for path in places)


def test_a_default_may_be_named_for_every_condition() -> None:
    [check] = [
        constraint
        for constraint in ConditionDefault._meta.constraints
        if constraint.name == "condition_default_condition"
    ]
    assert isinstance(check, models.CheckConstraint)
    assert f"{[*map(str, Condition), *map(str, SupportCondition)]}" in str(check.condition)


def test_every_relation_of_lineage_is_allowed() -> None:
    [check] = [
        constraint
        for constraint in NuggetLineage._meta.constraints
        if constraint.name == "nugget_lineage_relation"
    ]
    assert isinstance(check, models.CheckConstraint)
    assert f"{list(NuggetLineage.RELATIONS)}" in str(check.condition)


def test_every_choice_fits_its_column() -> None:
    fields = [
        field
        for name in ("accounts", "evaluation", "reports")
        for model in apps.get_app_config(name).get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, models.CharField) and field.choices and field.max_length
    ]
    assert fields
    for field in fields:
        assert max(len(str(value)) for value, _ in field.flatchoices) <= (field.max_length or 0), field


@pytest.mark.parametrize("words", [RagTask, Origin, JudgeKind, SupportCondition, FindingCode])
def test_words_are_spelled_as_in_files(words: type[StrEnum]) -> None:
    assert all(word.value and " " not in word.value for word in words)
