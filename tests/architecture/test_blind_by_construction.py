"""No attribute path and no join leads from what an assessor may see to what they may not."""

import re

import pytest
from django.core.exceptions import FieldError
from django.db import models

from accounts.models import User
from assessor.models import (
    Desk,
    MarkedPassage,
    Operation,
    PracticeAnswer,
    PracticeItem,
    TimeSegment,
    WorkingAssignment,
    WorkingNugget,
    WorkingSupport,
)
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Assignment,
    Campaign,
    Citation,
    Judge,
    ListedNugget,
    Nugget,
    NuggetList,
    NuggetSet,
    NuggetVersion,
    Protocol,
    Qrel,
    QrelSource,
    Remark,
    Run,
    Segment,
    Sentence,
    Study,
    StudyPair,
    Submission,
    SupportJudgment,
    Task,
    TaskAnswer,
    Topic,
)
from llmjobs.models import Call, CallUse, LlmJob, NuggetCalls
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
    (Topic, "task"),
    (Topic, "task__assessor"),
    (Topic, "campaign__task__assessor"),
    (Segment, "markedpassage"),
    (Segment, "markedpassage__task__assessor"),
    (User, "task"),
    (User, "task__topic"),
    (User, "remark"),
    (NuggetVersion, "workingnugget"),
    (NuggetVersion, "workingnugget__task"),
    (NuggetVersion, "nugget__workingnugget__decision"),
    (Nugget, "workingnugget__task__assessor"),
    (NuggetSet, "task__assessor"),
    (NuggetList, "submission"),
    (NuggetList, "submission__task"),
    (NuggetList, "task__assessor"),
    (QrelSource, "task"),
    (Protocol, "task__assessor"),
    (Campaign, "task__state"),
    (Answer, "topic__task__assessor"),
    (ListedNugget, "nuggetcalls__worded"),
    (Answer, "taskanswer__task"),
    (Answer, "taskanswer__task__assessor"),
    (Answer, "workingassignment__label"),
    (Answer, "workingassignment__task__assessor"),
    (NuggetVersion, "workingassignment__label"),
    (Sentence, "workingsupport__label"),
    (Segment, "workingsupport__task"),
    (Task, "taskanswer__answer"),
    (Task, "workingassignment__label"),
    (Task, "workingsupport__label"),
    (Judge, "task"),
    (TaskAnswer, "answer__answerprovenance__run"),
    (TaskAnswer, "answer__assignment__label"),
    (WorkingAssignment, "answer__answerprovenance__run__run_id"),
    (WorkingAssignment, "nugget_version__assignment__label"),
    (WorkingSupport, "sentence__supportjudgment__label"),
    (WorkingSupport, "sentence__answer__answerprovenance__run"),
    (Answer, "studypair__person_label"),
    (Answer, "randomcheckpair__machine_label"),
    (Sentence, "randomcheckpair"),
    (NuggetVersion, "randomcheckpair__chance"),
    (StudyPair, "study__randomcheckpair"),
    (Task, "study__randomcheckpair"),
    (Sentence, "studypair"),
    (NuggetVersion, "studypair__machine_label"),
    (Topic, "studypair__study"),
    (Segment, "studypair"),
    (Study, "studypair"),
    (Task, "study__studypair__person_label"),
    (Task, "workingnugget__text"),
    (Task, "operation__payload"),
    (Task, "timesegment"),
    (Task, "desk__composer"),
    (Task, "markedpassage"),
    (Campaign, "practiceitem__label"),
    (PracticeItem, "practiceanswer__label"),
    (User, "practiceanswer__item"),
    (Task, "campaign__practiceitem"),
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
    User: {
        "emailaddress_set",
        "logentry_set",
        "authenticator_set",
        "socialaccount_set",
    },  # allauth's and the admin's
    Task: {"remarks", "submissions"},
    NuggetList: {"items"},
    NuggetSet: {"lists"},
    QrelSource: {"qrels"},
    Protocol: set(),
    Submission: set(),
    Remark: set(),
    Desk: set(),
    WorkingNugget: set(),
    MarkedPassage: set(),
    Operation: set(),
    TimeSegment: set(),
    TaskAnswer: set(),
    WorkingAssignment: set(),
    WorkingSupport: set(),
    PracticeItem: set(),
    PracticeAnswer: set(),
    Study: set(),
    StudyPair: set(),
}


@pytest.mark.parametrize("model", ACCESSORS, ids=lambda model: model.__name__)
def test_no_attribute_leads_back(model: type[models.Model]) -> None:
    found = {relation.get_accessor_name() for relation in model._meta.related_objects if not relation.hidden}
    assert found == ACCESSORS[model]


WORK: list[type[models.Model]] = [
    *(Task, Submission, Remark, Desk, WorkingNugget, MarkedPassage, Operation, TimeSegment),
    *(TaskAnswer, WorkingAssignment, WorkingSupport, PracticeAnswer, StudyPair),
]
SHOWN: list[type[models.Model]] = [Answer, Sentence, Citation, NuggetVersion, Segment, Topic, User]


@pytest.mark.parametrize("secret", [AnswerProvenance, Assignment, SupportJudgment, Qrel, ListedNugget, *WORK])
def test_a_secret_s_own_relations_have_no_way_back(secret: type[models.Model]) -> None:
    relations = [field.remote_field for field in secret._meta.concrete_fields if field.remote_field]
    assert all(relation.hidden for relation in relations if relation.model in SHOWN)


@pytest.mark.parametrize(
    "shown", [*SHOWN, Nugget, NuggetSet, NuggetList, Campaign, PracticeItem], ids=lambda model: model.__name__
)
def test_no_path_however_long_leads_to_work_labels_or_calls(shown: type[models.Model]) -> None:
    """Neither attributes nor lookups: whatever can be reached in any number of steps."""
    secret = {AnswerProvenance, Assignment, SupportJudgment, Call, CallUse, LlmJob, NuggetCalls, *WORK}
    paths = paths_from(shown)
    assert {model.__name__: path for model, path in paths.items() if model in secret} == {}


@pytest.mark.parametrize("shown", [Topic, Segment, NuggetVersion], ids=lambda model: model.__name__)
def test_a_working_nugget_leads_to_its_own_task_only(shown: type[models.Model]) -> None:
    assert paths_from(WorkingNugget)[Task] == "WorkingNugget.task"
    assert Task not in paths_from(shown)


def test_no_path_leads_from_practice_to_labels_or_work() -> None:
    """So it can never count."""
    work = {Assignment, SupportJudgment, *WORK} - {PracticeAnswer}
    assert work & paths_from(PracticeAnswer).keys() == set()


def test_the_search_for_paths_can_find_one() -> None:
    assert paths_from(Task)[Remark] == "Task.remarks"
    assert paths_from(Remark)[Judge].startswith("Remark.task.judge")


def paths_from(start: type[models.Model]) -> dict[type[models.Model], str]:
    found, waiting = {start: start.__name__}, [start]
    while waiting:
        model = waiting.pop(0)
        for relation in model._meta.get_fields():
            name = getattr(relation, "get_accessor_name", lambda: None)() or relation.name
            target = relation.related_model
            if isinstance(target, type) and target not in found:
                found[target] = f"{found[model]}.{name}"
                waiting.append(target)
    return found


def test_an_answer_carries_nothing_of_its_run() -> None:
    assert {field.name for field in Answer._meta.get_fields()} == {
        "id",
        "public_id",
        "topic",
        "words",
        "sentences",
    }
