"""What must hold is held by the database: each constraint refuses a bad row, whoever writes it."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, models, transaction
from django.utils import timezone

from accounts.models import User
from assessor.models import (
    MarkedPassage,
    Operation,
    PracticeAnswer,
    PracticeItem,
    TimeSegment,
    WorkingAssignment,
    WorkingJudgment,
    WorkingNugget,
    WorkingSupport,
)
from evaluation.labels import AssignmentLabel, SupportLabel
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Assignment,
    Battle,
    BattleSet,
    Campaign,
    Candidate,
    Citation,
    ConditionDefault,
    Event,
    Judge,
    Judgment,
    ListedNugget,
    Membership,
    Nugget,
    NuggetEvidence,
    NuggetLineage,
    NuggetList,
    NuggetSet,
    NuggetVersion,
    Protocol,
    Qrel,
    QrelSource,
    RandomCheckPair,
    Remark,
    Run,
    SampledBattle,
    Segment,
    Sentence,
    Study,
    StudyPair,
    Submission,
    SupportJudgment,
    Task,
    TaskAnswer,
    Topic,
    TopicTag,
    Verdict,
)
from reports.models import Adjudication, ExternalCondition, ExternalScore
from tests.worlds.cast import make_user

pytestmark = pytest.mark.postgresql

Make = Callable[[], models.Model]


def copied(row: models.Model, **changes: Any) -> Make:
    """A second row like one that is there, with some values changed."""
    skipped = {"id", "public_id"}
    values = {
        field.attname: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if field.name not in skipped
    }
    return lambda: type(row)(**values | changes)


def first(model: type[models.Model], **changes: Any) -> Callable[[], Make]:
    """A copy of the first row of a table, with some values changed."""
    return lambda: copied(model._default_manager.order_by("pk")[0], **changes)


def new_answer() -> Answer:
    return Answer.objects.create(topic=Topic.objects.order_by("pk")[0], words=1)


def passage_of_task() -> TaskAnswer:
    """A passage that the task asks about beside its answer."""
    return TaskAnswer.objects.create(
        task=TaskAnswer.objects.get().task, segment=Segment.objects.order_by("pk")[0], position=1
    )


def battle_of_task() -> TaskAnswer:
    """A battle that the task asks about beside its answer."""
    return TaskAnswer.objects.create(task=TaskAnswer.objects.get().task, battle=Battle.objects.get(), position=1)


def another_segment() -> Segment:
    return Segment.objects.order_by("-pk")[0]


def first_task(stage: str) -> Task:
    return Task.objects.get(stage=stage, study=None)


def another_list() -> NuggetList:
    there = NuggetList.objects.order_by("pk")[0]
    return NuggetList.objects.create(nugget_set=there.nugget_set, topic=there.topic, version=there.version + 9)


BAD_ROWS: dict[str, Callable[[], Make]] = {
    "campaign slug": first(Campaign),
    "membership_once": first(Membership),
    "membership_role": first(Membership, role="boss"),
    "protocol_version": first(Protocol),
    "protocol_version_from_1": first(Protocol, version=0),
    "protocol_sizes": first(Protocol, version=2, window_size=0),
    "protocol_caps": first(Protocol, version=2, nugget_cap=31),
    "protocol_threshold_on_scale": first(Protocol, version=2, grade_threshold=4),
    "protocol_scale": first(Protocol, version=2, relevance_max=10),
    "protocol_overlap": first(Protocol, version=2, overlap=0),
    "protocol_first_citations": first(Protocol, version=2, first_citations=0),
    "protocol_battle_words": first(Protocol, version=2, battle_show="all"),
    "protocol_battle_overlap": first(Protocol, version=2, battle_overlap=1.1),
    "protocol_battle_task": first(Protocol, version=2, battle_task=0),
    "protocol_scoring": first(Protocol, version=2, scoring="points"),
    "protocol_support_measure": first(Protocol, version=2, support_measure="best"),
    "condition_default_once": first(ConditionDefault),
    "condition_default_condition": first(ConditionDefault, condition="X/Y"),
    "topic_once": first(Topic),
    "topic_not_empty": first(Topic, topic_id="new", text=""),
    "topic_tag_once": first(TopicTag),
    "segment_once": first(Segment),
    "segment_text_said": first(Segment, docid="new", has_text=False, text="words"),
    "candidate_once": first(Candidate),
    "qrel_source_once": first(QrelSource),
    "qrel_once": first(Qrel),
    "qrel_grade": first(Qrel, grade=-3),
    "run_once": first(Run),
    "run_task": first(Run, run_id="new", task="QA"),
    "answer_sample": lambda: copied(
        AnswerProvenance.objects.order_by("pk")[0], answer_id=new_answer().pk, sample=0
    ),
    "answer_once": lambda: copied(AnswerProvenance.objects.order_by("pk")[0], answer_id=new_answer().pk),
    "sentence_once": first(Sentence),
    "citation_once": first(Citation),
    "judge name": first(Judge),
    "judge_per_user": lambda: copied(Judge.objects.get(name="Olga"), name="new"),
    "judge_person_or_llm": lambda: copied(Judge.objects.get(name="Olga"), name="new", user_id=None, model="m"),
    "judge_per_study_and_user": lambda: copied(Judge.objects.get(name="Olga, study"), name="new"),
    "judge_of_a_study_is_aside": lambda: copied(
        Judge.objects.get(name="Olga, study"), name="new", user_id=None, aside=False
    ),
    "study_once": first(Study),
    "study_has_name": first(Study, name=""),
    "study_draws": first(Study, name="new", per_topic=0),
    "study_of_two_judges": lambda: copied((study := Study.objects.get()), name="new", judge_id=study.person_id),
    "study_has_what_its_kind_needs": first(Study, name="new", kind="support"),
    "study_has_what_its_draw_needs": first(Study, name="new", draw="random"),
    "study_nugget_once": lambda: copied(StudyPair.objects.get(sentence=None)),
    "study_citation_once": lambda: copied(StudyPair.objects.get(nugget_version=None)),
    "study_pair_is_one_of_two": lambda: copied(StudyPair.objects.get(nugget_version=None), segment_id=None),
    "study_has_few_decoys": first(Study, name="new", decoys=76),
    "study_pair_has_both_labels": lambda: copied(
        StudyPair.objects.get(nugget_version=None), segment_id=another_segment().pk, person_label=None
    ),
    "random_check_nugget_once": lambda: copied(RandomCheckPair.objects.get(sentence=None)),
    "random_check_citation_once": lambda: copied(RandomCheckPair.objects.get(nugget_version=None)),
    "random_check_pair_is_one_of_two": lambda: copied(
        RandomCheckPair.objects.get(nugget_version=None), segment_id=None
    ),
    "random_check_pair_is_drawable": lambda: copied(
        RandomCheckPair.objects.get(nugget_version=None), segment_id=another_segment().pk, size=0
    ),
    "random_check_chance_is_a_probability": lambda: copied(
        RandomCheckPair.objects.get(nugget_version=None), segment_id=another_segment().pk, chance=1.5
    ),
    "battle_set_once": first(BattleSet),
    "battle_set_has_name": first(BattleSet, name=""),
    "sampled_battle_once": first(SampledBattle),
    "sampled_battle_points": first(SampledBattle, points=1.5),
    "sampled_battle_chance_is_a_probability": first(SampledBattle, chance=0.0),
    "battle_once": lambda: copied(
        battle := Battle.objects.get(), left_id=battle.right_id, right_id=battle.left_id
    ),
    "battle_of_two_answers": lambda: copied(battle := Battle.objects.get(), right_id=battle.left_id),
    "verdict_once": first(Verdict),
    "verdict_label": first(Verdict, submission=2, label=7),
    "nugget_set_once": first(NuggetSet),
    "nugget_set_origin": first(NuggetSet, name="new", origin="guess"),
    "nugget_set_drafts_of_edited": lambda: copied(
        the_set := NuggetSet.objects.get(), name="new", drafts_id=the_set.pk
    ),
    "nugget_list_version": first(NuggetList),
    "nugget_version_number": first(NuggetVersion),
    "nugget_not_empty": first(NuggetVersion, number=2, text=""),
    "listed_nugget_position": lambda: copied(
        ListedNugget.objects.order_by("pk")[0], nugget_version_id=NuggetVersion.objects.order_by("-pk")[0].pk
    ),
    "listed_nugget_once": first(ListedNugget, position=9),
    "listed_nugget_importance": lambda: copied(
        ListedNugget.objects.order_by("pk")[0],
        nugget_version_id=NuggetVersion.objects.order_by("-pk")[0].pk,
        position=9,
        importance=3,
    ),
    "listed_nugget_weight": lambda: copied(
        ListedNugget.objects.order_by("pk")[0],
        nugget_version_id=NuggetVersion.objects.order_by("-pk")[0].pk,
        position=9,
        weight=100.5,
    ),
    "nugget_lineage_once": first(NuggetLineage),
    "nugget_lineage_relation": lambda: copied(
        NuggetLineage.objects.get(), parent_id=NuggetVersion.objects.order_by("-pk")[0].pk, relation="copied"
    ),
    "nugget_evidence_once": lambda: copied(NuggetEvidence.objects.get(sentence=1)),
    "nugget_evidence_segment_once": lambda: copied(NuggetEvidence.objects.get(sentence=None)),
    "judgment_once": first(Judgment),
    "judgment_of_something": first(Judgment, unit="new", answer_id=None),
    "assignment_once": first(Assignment),
    "assignment_label": first(Assignment, submission=2, label=5),
    "support_judgment_once": first(SupportJudgment),
    "support_judgment_label": first(SupportJudgment, submission=2, label=5),
    "support_judgment_condition": first(SupportJudgment, submission=2, condition="guess"),
    "protocol_nugget_search": first(Protocol, version=2, nugget_search="sometimes"),
    "protocol_passage_order": first(Protocol, version=2, passage_order="alphabet"),
    "task_once": first(Task, second_opinion=True),
    "task_one_that_counts": lambda: copied(first_task("post-edit"), assessor_id=make_user("other").pk),
    "task_assign_one_that_counts": lambda: copied(first_task("assign"), assessor_id=make_user("other").pk),
    "task_state": first(Task, stage="manual", drafts_id=None, state="lost"),
    "task_assign_once": lambda: copied(first_task("assign"), second_opinion=True),
    "task_study_once": lambda: copied(Task.objects.get(study__isnull=False)),
    "task_study_judges_blind": first(Task, study_id=1, state="withdrawn"),
    "task_has_what_its_stage_needs": first(Task, stage="manual"),
    "task_answer_once": first(TaskAnswer, position=1),
    "task_answer_of_one": lambda: copied(
        TaskAnswer.objects.get(), position=1, segment_id=Segment.objects.order_by("pk")[0].pk
    ),
    "task_answer_segment_once": lambda: copied(passage_of_task(), position=2),
    "task_answer_battle_once": lambda: copied(battle_of_task(), position=2),
    "task_answer_position": lambda: copied(TaskAnswer.objects.get(), answer_id=new_answer().pk),
    "working_judgment_once": first(WorkingJudgment),
    "working_judgment_of_something": first(WorkingJudgment, unit="new", answer_id=None),
    "working_assignment_once": first(WorkingAssignment),
    "working_assignment_label": lambda: copied(
        WorkingAssignment.objects.get(), answer_id=new_answer().pk, label=AssignmentLabel.FAILED
    ),
    "working_support_once": first(WorkingSupport),
    "working_support_label": lambda: copied(
        WorkingSupport.objects.get(), segment_id=another_segment().pk, label=SupportLabel.FAILED
    ),
    "working_support_accepted_of_shown": lambda: copied(
        WorkingSupport.objects.get(), segment_id=another_segment().pk, accepted=True
    ),
    "practice_item_kind": first(PracticeItem, kind="relevance"),
    "practice_item_label": first(PracticeItem, label=0),
    "practice_item_shown": first(PracticeItem, shown_label=2),
    "practice_answer_once": first(PracticeAnswer),
    "practice_answer_label": lambda: copied(PracticeAnswer.objects.get(), user_id=make_user("pat").pk, label=10),
    "submission_version": lambda: copied(Submission.objects.get(), nugget_list_id=another_list().pk),
    "remark_kind": first(Remark, kind="rumour"),
    "working_nugget_once": first(WorkingNugget, number=99),
    "working_nugget_number": first(WorkingNugget, key="new"),
    "working_nugget_decision": first(WorkingNugget, key="new", number=99, decision="maybe"),
    "working_nugget_making": first(WorkingNugget, key="new", number=99, draft_id=None, making="found"),
    "working_nugget_importance": first(WorkingNugget, key="new", number=99, importance=3),
    "working_nugget_weight": first(WorkingNugget, key="new", number=99, weight=-101),
    "working_nugget_draft_importance": first(WorkingNugget, key="new", number=99, draft_importance=3),
    "working_nugget_draft_of_proposed": first(WorkingNugget, key="new", number=99, draft_id=None),
    "marked_passage_once": first(MarkedPassage),
    "marked_passage_mark": lambda: copied(
        MarkedPassage.objects.get(), segment_id=Segment.objects.order_by("-pk")[0].pk, mark="skimmed"
    ),
    "operation_seq": first(Operation, op_id=uuid.uuid4()),
    "operation_once": first(Operation, seq=2),
    "time_segment_once": first(TimeSegment),
    "time_segment_not_negative": first(TimeSegment, number=2, ended_at=timezone.now() - timedelta(days=1)),
    "time_segment_kind": first(TimeSegment, number=2, kind="dreaming"),
    "time_segment_gap_answer": first(TimeSegment, number=2, gap_answer="asleep"),
    "external_condition_once": first(ExternalCondition),
    "external_score_once": first(ExternalScore),
    "adjudication_is_of_one_pair": first(Adjudication, answer_id=None),
    "adjudication_verdict": first(Adjudication, verdict=5),
    "adjudication_category": first(Adjudication, category="whim"),
}


CONSTRAINTS = [
    constraint
    for app in ("assessor", "evaluation", "reports")
    for model in apps.get_app_config(app).get_models()
    for constraint in model._meta.constraints
]
CHECKS = {constraint.name for constraint in CONSTRAINTS if isinstance(constraint, models.CheckConstraint)}


def make_work(campaign: Campaign, user: User, draft: NuggetVersion) -> None:
    nugget_list, now = NuggetList.objects.order_by("pk")[0], timezone.now()
    task = Task.objects.create(
        campaign=campaign,
        topic=nugget_list.topic,
        assessor=user,
        stage="post-edit",
        nugget_set=nugget_list.nugget_set,
        drafts=nugget_list,
        qrels=QrelSource.objects.get(),
        protocol=campaign.protocol,
    )
    event = Event.objects.create(kind="test")
    Submission.objects.create(task=task, version=1, nugget_list=nugget_list, at=now, event=event)
    Remark.objects.create(task=task, kind="flag")
    WorkingNugget.objects.create(
        task=task, key="d1", number=1, position=1, text="a fact", making="proposed", draft=draft
    )
    MarkedPassage.objects.create(task=task, segment=Segment.objects.order_by("pk")[0], mark="read")
    ids = {"op_id": uuid.uuid4(), "step": uuid.uuid4()}
    Operation.objects.create(task=task, seq=1, submission=1, kind="add", window="w", client_at=now, **ids)
    TimeSegment.objects.create(
        task=task, submission=1, window="w", number=1, kind="reading", started_at=now, ended_at=now
    )


def make_judging(campaign: Campaign, user: User, wording: NuggetVersion) -> None:
    """A task of judging, and a row in each table that its desk fills."""
    sentence = Sentence.objects.order_by("pk")[0]
    task = Task.objects.create(
        campaign=campaign,
        topic=sentence.answer.topic,
        assessor=user,
        stage="assign",
        nugget_set=wording.nugget.nugget_set,
        protocol=campaign.protocol,
    )
    TaskAnswer.objects.create(task=task, answer=sentence.answer, position=0)
    answer = {"answer": sentence.answer, "unit": sentence.answer.public_id, "label": 1}
    WorkingJudgment.objects.create(task=task, **answer)
    Judgment.objects.create(
        stage=task.stage, topic=task.topic, judge=Judge.objects.get(name="Olga"), given_at=timezone.now(), **answer
    )
    WorkingAssignment.objects.create(task=task, answer=sentence.answer, nugget_version=wording, label=2)
    WorkingSupport.objects.create(task=task, sentence=sentence, segment=Segment.objects.order_by("pk")[0], label=2)


def make_practice(campaign: Campaign, user: User) -> None:
    item = PracticeItem.objects.create(
        campaign=campaign, kind="importance", position=1, label=2, event=Event.objects.order_by("pk")[0]
    )
    PracticeAnswer.objects.create(item=item, user=user, label=2, given_at=timezone.now())


def make_study(campaign: Campaign, user: User, wording: NuggetVersion) -> None:
    sentence, event = Sentence.objects.order_by("pk")[0], Event.objects.create(kind="test")
    study = Study.objects.create(
        campaign=campaign,
        name="study",
        kind="assignment",
        person=Judge.objects.get(name="Olga"),
        judge=Judge.objects.filter(kind="llm").order_by("pk")[0],
        nugget_set=wording.nugget.nugget_set,
        event=event,
    )
    pair = {"study": study, "topic": sentence.answer.topic, "answer": sentence.answer}
    StudyPair.objects.create(**pair, nugget_version=wording, person_label=1, judge_label=0)
    cited = {"sentence": sentence, "segment": Segment.objects.order_by("pk")[0]}
    StudyPair.objects.create(**pair, **cited, person_label=1, judge_label=0)
    framed = {"study": study, "answer": sentence.answer, "judge_label": 0, "size": 0.1, "place": 0.5}
    RandomCheckPair.objects.create(**framed, nugget_version=wording)
    RandomCheckPair.objects.create(**framed, **cited)
    Judge.objects.create(name="Olga, study", kind="human", user=user, study=study, aside=True)
    Task.objects.create(
        campaign=campaign,
        topic=sentence.answer.topic,
        assessor=user,
        stage="assign",
        study=study,
        second_opinion=True,
        nugget_set=study.nugget_set,
        protocol=campaign.protocol,
    )


def make_battle(campaign: Campaign) -> None:
    left, right = Answer.objects.filter(topic=Topic.objects.order_by("pk")[0]).order_by("pk")
    event = Event.objects.create(kind="test")
    battle_set = BattleSet.objects.create(campaign=campaign, name="battles", rounds=1, event=event)
    pair = {"topic": left.topic, "left": left, "right": right}
    battle = Battle.objects.create(battle_set=battle_set, **pair, event=event)
    judge = Judge.objects.get(name="Olga")
    SampledBattle.objects.create(battle=battle, judge=judge)
    Verdict.objects.create(battle=battle, judge=judge, left=left, label=2, given_at=timezone.now())


@pytest.fixture
def everything_once(labelled: Path) -> None:
    """The small campaign, and a row in each table that imports leave empty."""
    campaign, [wording, *_] = Campaign.objects.get(), NuggetVersion.objects.order_by("pk")
    olga = make_user("olga")
    Membership.objects.create(campaign=campaign, user=olga, role="organizer")
    ConditionDefault.objects.create(campaign=campaign, condition="A/A", judge="m")
    TopicTag.objects.create(topic=Topic.objects.order_by("pk")[0], name="tag")
    topic, segment = Topic.objects.order_by("pk")[0], Segment.objects.order_by("pk")[0]
    Candidate.objects.create(topic=topic, segment=segment)
    Judge.objects.create(name="Olga", kind="human", user=olga)
    NuggetLineage.objects.create(child=wording, parent=wording, relation="kept")
    for sentence in (None, 1):
        NuggetEvidence.objects.create(
            nugget_version=wording, segment=Segment.objects.order_by("pk")[0], sentence=sentence
        )
    make_work(campaign, olga, wording)
    make_judging(campaign, olga, wording)
    make_practice(campaign, olga)
    make_study(campaign, olga, wording)
    make_battle(campaign)
    verdict = {"campaign": campaign, "actor": olga, "event": Event.objects.create(kind="test"), "verdict": 2}
    Adjudication.objects.create(answer=Answer.objects.order_by("pk")[0], nugget_version=wording, **verdict)
    table = ExternalCondition.objects.create(campaign=campaign, name="Paper")
    ExternalScore.objects.create(condition=table, run_id="alpha", score="all", value=0.5)


@pytest.mark.usefixtures("everything_once")
def test_bad_rows_are_refused() -> None:
    """Each by the constraint that it is named after. SQLite names the columns of a unique one, and not itself."""
    for name, bad in BAD_ROWS.items():
        pattern = name if name in CHECKS else "(?i)unique"
        with transaction.atomic():
            make = bad()
            with pytest.raises(IntegrityError, match=pattern), transaction.atomic():
                make().save(force_insert=True)
            transaction.set_rollback(True)


@pytest.mark.usefixtures("everything_once")
def test_bad_rows_are_refused_in_bulk_too() -> None:
    for name in [name for name in BAD_ROWS if name.startswith(("assignment", "support", "nugget_l"))]:
        with transaction.atomic():
            row = BAD_ROWS[name]()()
            with pytest.raises(IntegrityError), transaction.atomic():
                type(row)._default_manager.bulk_create([row])
            transaction.set_rollback(True)


def test_every_constraint_is_tried() -> None:
    assert {constraint.name for constraint in CONSTRAINTS} - BAD_ROWS.keys() == set()


def test_a_label_of_nobody_is_refused(labelled: Path) -> None:
    Assignment.objects.create(answer_id=0, nugget_version_id=0, judge_id=0, label=2, given_at=timezone.now())
    with pytest.raises(IntegrityError, match=r"(?i)foreign key"), transaction.atomic():
        connection.check_constraints()
    Assignment.objects.filter(judge_id=0).delete()


@pytest.mark.parametrize("model", [Run, Nugget, Topic, Judge])
def test_what_labels_rest_on_cannot_be_deleted(labelled: Path, model: type[models.Model]) -> None:
    with pytest.raises(models.ProtectedError):
        model._default_manager.order_by("pk")[0].delete()
