"""A campaign in the middle of its judging: 40 assessors, their tasks, labels and times, and millions of events."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from accounts.models import NOTICE_VERSION, User
from assessor.models import Desk, TimeSegment
from evaluation.campaigns.create import add_member
from evaluation.judges import judge_of
from evaluation.models import (
    AnswerProvenance,
    Campaign,
    Event,
    Finding,
    Judge,
    NuggetSet,
    Qrel,
    QrelSource,
    Remark,
    Segment,
    Submission,
    Task,
    TaskAnswer,
)
from evaluation.stages import ASSIGN, MANUAL
from evaluation.terms import FindingCode, JudgeKind, Origin, RemarkKind, Role, SegmentKind, TaskState
from jobs.models import Job, WorkItem
from llmjobs.models import LlmJob
from loadtest.bench import synthetic
from loadtest.bench.sizes import Size

RUNS = 45
PASSAGES = 10
STRETCHES = 200
STATES = (
    *[TaskState.SUBMITTED] * 12,
    *[TaskState.IN_PROGRESS] * 4,
    *[TaskState.NOT_STARTED] * 3,
    TaskState.BLOCKED,
)
"""Of twenty tasks, in the order of topics."""
EVENT_KINDS = (
    "llm.call",
    "desk.opened",
    "task.handed_out",
    "task.submitted",
    "remark.made",
    "label.swept",
    "member.added",
)
DUPLICATED = 5
"""Each fifth topic is assigned by two."""
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Share:
    slug: str
    topics: int
    assessors: int
    events: int


def make_share(share: Share, size: Size) -> Campaign:
    size = replace(size, topics=share.topics, runs=min(size.runs, RUNS))
    campaign = synthetic.make_campaign(share.slug, share.topics)
    organizer, _ = User.objects.get_or_create(username="organizer", notice_version=NOTICE_VERSION)
    add_member(campaign=campaign, user=organizer, role=Role.ORGANIZER)
    synthetic.make_answers(campaign, size)
    made = synthetic.make_nuggets(campaign, size, Origin.EDITED, f"{share.slug}-maker")
    robot = synthetic.store_labels(made, size, f"{share.slug}-llm", JudgeKind.LLM, 1)
    people = [_assessor(campaign, share.slug, number) for number in range(share.assessors)]
    source = _passages(campaign)
    tasks = [*_assigning(campaign, made, people), *_writing(campaign, source, people)]
    _submit(campaign, tasks, made, robot)
    _record(tasks)
    _say(campaign, tasks)
    _run_jobs(campaign, robot)
    _log(campaign, organizer, share.events)
    Campaign.objects.filter(pk=campaign.pk).update(revision=1)
    return campaign


def _assessor(campaign: Campaign, slug: str, number: int) -> User:
    user = User.objects.create(username=f"{slug}-{number}", first_name="Assessor", last_name=str(number))
    add_member(campaign=campaign, user=user, role=Role.ASSESSOR)
    judge_of(user)
    return user


def _passages(campaign: Campaign) -> QrelSource:
    source = QrelSource.objects.create(campaign=campaign, name="NIST")
    text = " ".join(["water"] * 150)
    pairs = [(topic, n) for topic in campaign.topics.all() for n in range(PASSAGES)]
    segments = [
        Segment(
            campaign=campaign, docid=f"{topic.topic_id}#{n}", document=topic.topic_id, has_text=True, text=text
        )
        for topic, n in pairs
    ]
    Segment.objects.bulk_create(segments, batch_size=synthetic.ROWS_A_BATCH)
    grades = [
        Qrel(source=source, topic=topic, segment=segment, grade=2)
        for (topic, _), segment in zip(pairs, segments, strict=True)
    ]
    Qrel.objects.bulk_create(grades, batch_size=synthetic.ROWS_A_BATCH)
    return source


def _assigning(campaign: Campaign, made: NuggetSet, people: Sequence[User]) -> list[Task]:
    now, tasks = timezone.now(), []
    for number, topic in enumerate(campaign.topics.order_by("pk")):
        for turn in range(1 + (number % DUPLICATED == 0)):
            tasks.append(
                Task(
                    campaign=campaign,
                    topic=topic,
                    assessor=people[(number + turn) % len(people)],
                    stage=ASSIGN,
                    nugget_set=made,
                    protocol=campaign.protocol,
                    second_opinion=turn > 0,
                    state=STATES[number % len(STATES)],
                    opened_at=now - timedelta(days=3),
                    due=(now + timedelta(days=number % 9 - 4)).date(),
                    expected_minutes=120,
                )
            )
    Task.objects.bulk_create(tasks)
    answers: dict[int, list[int]] = {}
    for place, answer in AnswerProvenance.objects.filter(run__campaign=campaign).values_list("topic__pk", "pk"):
        answers.setdefault(place, []).append(answer)
    rows = [
        TaskAnswer(task=task, answer_id=answer, position=place)
        for task in tasks
        for place, answer in enumerate(answers[task.topic_id])
    ]
    TaskAnswer.objects.bulk_create(rows, batch_size=synthetic.ROWS_A_BATCH)
    return tasks


def _writing(campaign: Campaign, source: QrelSource, people: Sequence[User]) -> list[Task]:
    sets = {
        user.pk: NuggetSet.objects.create(
            campaign=campaign, name=f"manual-{user.username}", origin=Origin.MANUAL, judge=judge_of(user)
        )
        for user in people
    }
    tasks = []
    for number, topic in enumerate(campaign.topics.order_by("pk")):
        user = people[(number + 7) % len(people)]
        tasks.append(
            Task(
                campaign=campaign,
                topic=topic,
                assessor=user,
                stage=MANUAL,
                nugget_set=sets[user.pk],
                qrels=source,
                protocol=campaign.protocol,
                state=STATES[(number + 3) % len(STATES)],
                opened_at=timezone.now() - timedelta(days=5),
                expected_minutes=150,
            )
        )
    Task.objects.bulk_create(tasks)
    return tasks


def _submit(campaign: Campaign, tasks: Iterable[Task], made: NuggetSet, robot: Judge) -> None:
    """Freeze what is submitted, with labels like the LLM's but for each seventh; give some of the others' labels."""
    event, now = Event.objects.create(campaign=campaign, kind="task.submitted"), timezone.now()
    done = [task for task in tasks if task.state == TaskState.SUBMITTED]
    Submission.objects.bulk_create([Submission(task=task, version=1, at=now, event=event) for task in done])
    given = "(CASE WHEN a.id %% 7 = 0 THEN (a.label + 1) %% 3 ELSE a.label END)"
    joined = """
        FROM evaluation_assignment a JOIN evaluation_answer w ON w.id = a.answer_id
        JOIN evaluation_task t ON t.topic_id = w.topic_id AND t.stage = 'assign' AND t.campaign_id = %s
    """
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute(
            f"""INSERT INTO evaluation_assignment
                (judge_id, answer_id, nugget_version_id, submission, label, raw, given_at, stands)
                SELECT j.id, a.answer_id, a.nugget_version_id, 1, {given}, '', a.given_at, TRUE {joined}
                JOIN evaluation_judge j ON j.user_id = t.assessor_id AND NOT j.aside
                WHERE a.judge_id = %s AND t.state = 'submitted'""",
            [campaign.pk, robot.pk],
        )
        cursor.execute(
            f"""INSERT INTO assessor_workingassignment (task_id, answer_id, nugget_version_id, label, version, reason)
                SELECT t.id, a.answer_id, a.nugget_version_id, {given}, 1, '' {joined}
                WHERE a.judge_id = %s AND (t.state = 'submitted' OR (t.state = 'in progress' AND a.id %% 2 = 0))""",
            [campaign.pk, robot.pk],
        )


def _record(tasks: Sequence[Task]) -> None:
    """Store what the desks recorded: two hundred stretches of half a minute or more for each task that was opened."""
    opened = [task for task in tasks if task.state != TaskState.NOT_STARTED]
    now = timezone.now()
    Desk.objects.bulk_create(
        [Desk(task=task, held_at=now - (place % 50) * 60 * MINUTE) for place, task in enumerate(opened)]
    )
    kinds = (SegmentKind.READING, SegmentKind.EDITING, SegmentKind.GAP)
    rows = []
    for place, task in enumerate(opened):
        start = now - timedelta(days=1 + place % 20, minutes=place % 400)
        for number in range(STRETCHES):
            end = start + timedelta(seconds=20 + (place + number) % 31)
            rows.append(
                TimeSegment(
                    task=task,
                    submission=1,
                    window="w",
                    number=number,
                    kind=kinds[number % 3],
                    started_at=start,
                    ended_at=end,
                    words=500,
                )
            )
            start = end
    TimeSegment.objects.bulk_create(rows, batch_size=5 * synthetic.ROWS_A_BATCH)


def _say(campaign: Campaign, tasks: Sequence[Task]) -> None:
    kinds = (RemarkKind.FLAG, RemarkKind.COMMENT, RemarkKind.REOPEN)
    remarks = [Remark(task=task, kind=kinds[n % 3], text="Is this meant?") for n, task in enumerate(tasks[::4])]
    Remark.objects.bulk_create(remarks)
    event = Event.objects.create(campaign=campaign, kind="import.run", payload={"files": [], "added": 1})
    found = [
        Finding(
            campaign=campaign,
            event=event,
            code=FindingCode.DUPLICATE_CITATION,
            file="run.jsonl",
            line=n,
            message="x",
        )
        for n in range(10 * len(tasks))
    ]
    Finding.objects.bulk_create(found, batch_size=synthetic.ROWS_A_BATCH)


def _run_jobs(campaign: Campaign, judge: Judge) -> None:
    """Note the jobs behind the LLM's labels, with their items."""
    for number in range(max(2, campaign.topics.count() // 15)):
        job = Job.objects.create(kind="assign", title=f"AutoAssign {number}", state=Job.State.DONE)
        LlmJob.objects.create(job=job, campaign=campaign, judge=judge)
        items = [
            WorkItem(job=job, key=f"item {n}", kind="assign", state=WorkItem.State.DONE, ended_at=timezone.now())
            for n in range(500)
        ]
        WorkItem.objects.bulk_create(items)


def _log(campaign: Campaign, actor: User, events: int) -> None:
    table, kinds = Event._meta.db_table, ", ".join(f"'{kind}'" for kind in EVENT_KINDS)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            # Without looking up campaign and actor for each row.
            cursor.execute("SET session_replication_role = replica")
            cursor.execute(
                f"""INSERT INTO {table} (campaign_id, kind, actor_id, at, payload)
                    SELECT %s, (ARRAY[{kinds}])[1 + n %% {len(EVENT_KINDS)}], %s, now() - n * interval '1 second',
                    jsonb_build_object('task', n %% 9973, 'topic', n %% 301) FROM generate_series(1, %s) n""",  # noqa: S608
                [campaign.pk, actor.pk, events],
            )
            cursor.execute("SET session_replication_role = origin")
            cursor.execute("VACUUM ANALYZE")
        return
    rows = [_event(campaign, actor, number) for number in range(events)]
    Event.objects.bulk_create(rows, batch_size=synthetic.ROWS_A_BATCH)


def _event(campaign: Campaign, actor: User, number: int) -> Event:
    payload: dict[str, Any] = {"task": number % 9973, "topic": number % 301}
    return Event(campaign=campaign, kind=EVENT_KINDS[number % len(EVENT_KINDS)], actor=actor, payload=payload)
