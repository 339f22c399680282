"""No attribute path and no join leads from what an assessor may see to what they may not."""

import re

import pytest
from django.core.exceptions import FieldError
from django.db import models

from accounts.models import User
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Assignment,
    Citation,
    Judge,
    ListedNugget,
    Nugget,
    NuggetVersion,
    Qrel,
    Run,
    Segment,
    Sentence,
    SupportJudgment,
    Topic,
)
from tests.architecture.tree import files, named

JOINS: list[tuple[type[models.Model], str]] = [
    (Answer, "answerprovenance"),
    (Answer, "answerprovenance__run"),
    (Answer, "answerprovenance__run__run_id"),
    (Answer, "provenance__run"),
    (Answer, "run"),
    (Answer, "assignment"),
    (Answer, "assignment__label"),
    (Answer, "topic__answerprovenance__run"),
    (Sentence, "answer__answerprovenance__run"),
    (Sentence, "supportjudgment"),
    (Sentence, "supportjudgment__label"),
    (Citation, "sentence__answer__answerprovenance__run"),
    (Citation, "sentence__supportjudgment"),
    (NuggetVersion, "assignment"),
    (NuggetVersion, "listednugget__importance"),
    (Nugget, "versions__assignment__label"),
    (Topic, "answers__answerprovenance__run"),
    (Topic, "answerprovenance__run"),
    (Segment, "supportjudgment"),
    (Segment, "qrel__grade"),
    (Run, "answerprovenance__answer"),
    (User, "judge"),
    (User, "membership__role"),
    (User, "event"),
    (Judge, "assignment__label"),
]


@pytest.mark.parametrize(("model", "lookup"), JOINS, ids=[f"{model.__name__} {lookup}" for model, lookup in JOINS])
def test_the_join_is_refused(model: type[models.Model], lookup: str) -> None:
    with pytest.raises(FieldError):
        model._default_manager.filter(**{lookup: 1})
    with pytest.raises(FieldError):
        model._default_manager.values_list(lookup)
    with pytest.raises(FieldError):
        str(model._default_manager.order_by(lookup).query)


def test_no_code_joins_over_a_hidden_relation() -> None:
    """Django resolves a relation that is named `+` by that very name: spelled out in a dict, it is a way back."""
    spelled = re.compile(r"""["'](?:\w+__)*\+(?:__\w+)+["']|__\+["']""")
    code = [path for path in files(".py") if "tests" not in path.parts]
    assert [named(path) for path in code if spelled.search(path.read_text(encoding="utf-8"))] == []


ACCESSORS: dict[type[models.Model], set[str]] = {
    Answer: {"sentences"},
    Sentence: {"citations"},
    Citation: set(),
    NuggetVersion: {"lineage", "evidence"},
    Nugget: {"versions"},
    ListedNugget: set(),
    Segment: set(),
    Run: set(),
    Judge: set(),
    Topic: {"tags", "answers"},
    User: {"emailaddress_set", "logentry_set"},  # allauth's and the admin's
}


@pytest.mark.parametrize("model", ACCESSORS, ids=lambda model: model.__name__)
def test_no_attribute_leads_back(model: type[models.Model]) -> None:
    found = {relation.get_accessor_name() for relation in model._meta.related_objects if not relation.hidden}
    assert found == ACCESSORS[model]


@pytest.mark.parametrize("secret", [AnswerProvenance, Assignment, SupportJudgment, Qrel, ListedNugget])
def test_a_secret_s_own_relations_have_no_way_back(secret: type[models.Model]) -> None:
    relations = [field.remote_field for field in secret._meta.concrete_fields if field.remote_field]
    shown = {Answer, Sentence, Citation, NuggetVersion, Segment, Topic, User}
    assert all(relation.hidden for relation in relations if relation.model in shown)


def test_an_answer_carries_nothing_of_its_run() -> None:
    assert {field.name for field in Answer._meta.get_fields()} == {
        "id",
        "public_id",
        "topic",
        "words",
        "sentences",
    }
