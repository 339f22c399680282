"""A study's tasks: the pairs of one topic, for an assessor who knows of them neither label nor that they differ."""

from datetime import date

from accounts.models import User
from evaluation.errors import Refused
from evaluation.models import Assignment, NuggetSet, Study, StudyPair, SupportJudgment, Task, TaskAnswer, Topic
from evaluation.rules.studies import check_independent
from evaluation.rules.text import shuffled
from evaluation.rules.work import expected_minutes
from evaluation.services.judges import judge_of
from evaluation.services.work_plan import Roster, roster_of
from evaluation.terms import Stage, StudyKind

BATCH = 500
STAGES = {StudyKind.ASSIGNMENT: Stage.ASSIGN, StudyKind.SUPPORT: Stage.SUPPORT_SCRATCH}


def make_study_task(study: Study, topic: Topic, username: str, *, due: date | None, priority: int) -> Task:
    """Make one topic's task for somebody independent. Inside a transaction. Raises `Refused` for anybody else."""
    roster = roster_of(study.campaign, [topic])
    person = assessor_of(roster, username)
    check_assessor(study, topic, person, roster)
    pairs = StudyPair.objects.filter(study=study, topic=topic)
    stage = STAGES[StudyKind(study.kind)]
    task = Task.objects.create(
        campaign=study.campaign,
        topic=topic,
        assessor=person,
        stage=stage,
        study=study,
        second_opinion=True,
        nugget_set=study.nugget_set,
        protocol=study.campaign.protocol,
        priority=priority,
        due=due,
        expected_minutes=expected_minutes(stage, labels=pairs.count()),
    )
    judge_of(person)
    answers = dict(pairs.order_by().values_list("answer__public_id", "answer").distinct())
    # Answers of the very same text stand each for itself: other nuggets were drawn of them.
    rows = [
        TaskAnswer(task=task, answer_id=answers[public_id], position=place)
        for place, public_id in enumerate(shuffled(task.public_id, list(answers)))
    ]
    TaskAnswer.objects.bulk_create(rows, batch_size=BATCH)
    return task


def assessor_of(roster: Roster, username: str) -> User:
    """Return somebody of the campaign by user name. Raises `Refused`."""
    if username not in roster.people:
        raise Refused("not_assessor", f"{username} is no assessor of this campaign.")
    return roster.people[username]


def check_assessor(study: Study, topic: Topic, person: User, roster: Roster) -> None:
    """Raise `Refused` for somebody who is not independent of a study in a topic."""
    made = any(
        task.assessor_id == person.pk and task.nugget_set_id == study.nugget_set_id
        for task in roster.tasks.get(topic.pk, [])
        if study.nugget_set_id is not None and not Stage(task.stage).judges
    )
    check_independent(
        roster.candidate(person, topic.pk),
        gave_labels=study.person.user_id == person.pk or _gave_labels(person, topic),
        made_nuggets=made or _made_outside(study.nugget_set, person),
    )


def _gave_labels(person: User, topic: Topic) -> bool:
    """Say whether somebody's labels of a topic are here, such as those that were imported."""
    assigned = Assignment.objects.filter(judge__user=person, answer__topic=topic)
    supported = SupportJudgment.objects.filter(judge__user=person, sentence__answer__topic=topic)
    return assigned.exists() or supported.exists()


def _made_outside(nugget_set: NuggetSet | None, person: User) -> bool:
    return nugget_set is not None and nugget_set.judge.user_id == person.pk
