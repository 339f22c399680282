"""The demo's people at their desks: tasks handed out, done as far as `files/tasks.csv` says, and their time."""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from django.utils import timezone

from accounts.models import User
from assessor.blind.desk import desk_state
from assessor.blind.passages import passages_of
from assessor.desk.apply_op import apply_op
from assessor.desk.battle_labels import battles_of, sides_of
from assessor.desk.citation_labels import pairs_of
from assessor.desk.context import context_of, open_desk
from assessor.desk.desks import desk_of
from assessor.desk.submit import submit
from assessor.desk.task_labels import SEPARATOR
from assessor.models import Desk, MarkedPassage, PracticeItem, TimeSegment
from assessor.practice.items import answer_practice, practice_of
from assessor.practice.rules import word_of
from assessor.rules.op_schemas import Op
from evaluation.formats.source import Source
from evaluation.labels import AssignmentLabel
from evaluation.models import (
    AnswerProvenance,
    Assignment,
    Campaign,
    ListedNugget,
    Qrel,
    Segment,
    Study,
    Submission,
    SupportJudgment,
    Task,
    TaskAnswer,
)
from evaluation.models.fields import new_uuid
from evaluation.stages import (
    ASSIGN,
    BATTLE,
    GRADE,
    MANUAL,
    POST_EDIT,
    SUPPORT_POST_EDIT,
    SUPPORT_SCRATCH,
    Stage,
    stage_of,
)
from evaluation.studies import StudyOrder, create_study, hand_out_study
from evaluation.tasks.changes import Change, TaskChange, change_tasks
from evaluation.tasks.hand_out import hand_out
from evaluation.tasks.remarks import remark
from evaluation.tasks.units import Order
from evaluation.terms import (
    Origin,
    PassageMark,
    PracticeKind,
    RemarkKind,
    SegmentKind,
    StudyKind,
    SupportCondition,
)
from exchange.demo_campaign import HARBOUR_SLUG, SLUG
from loadtest.demo.harbour_texts import verdict
from reports.random_checks.drawing import RandomCheckOrder, create_random_check
from reports.random_checks.frame import drawn_rows
from reports.random_checks.importing import import_random_check

FILES = Path(__file__).parent / "files"
DRAFTS = "draft"
OTHERWISE = 11
"""Every so many labels a person gives another one than the label that is known."""
OTHER = {4: 3, 3: 2, 2: 1, 1: 2, 0: 1}
NUGGETS_AS, CITATIONS_AS = "word-overlap (scripted)", "Ann Archer"
"""Judges whose labels of the files people at the demo's desks follow."""


class DemoWork(NamedTuple):
    """Work of a campaign: the file of its tasks, the grades that choose passages, and whose labels of citations its
    people follow.
    """

    tasks: str
    qrels: str
    judge: str
    condition: SupportCondition


WORK = {
    SLUG: DemoWork("tasks.csv", "NIST", CITATIONS_AS, SupportCondition.SCRATCH),
    HARBOUR_SLUG: DemoWork("harbour/tasks.csv", "UMBRELA", NUGGETS_AS, SupportCondition.LLM),
}
FLAG = "Two passages are about footbridges only. Shall I count them?"
BLOCKED = "The qrels of this topic are being looked at again."
ASKED = "I rejected the draft about parking places by mistake. May I have the list back?"
REOPENED = "Here it is again; please look at the rents as well."


class PlannedTask(NamedTuple):
    """A line of `tasks.csv`. `due`: days from the loading. `done`: how far it is; empty: not begun."""

    stage: Stage
    topic: str
    assessor: str
    nuggets: str
    due: int
    done: str


@cache
def planned_tasks(slug: str) -> tuple[PlannedTask, ...]:
    with (FILES / WORK[slug].tasks).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return tuple(
        PlannedTask(**row | {"stage": stage_of(row["stage"]), "due": int(row["due"])})  # type: ignore[arg-type]
        for row in rows
    )


@cache
def _scripted() -> dict[tuple[str, str], list[dict[str, Any]]]:
    lines = (FILES / "desks.jsonl").read_text(encoding="utf-8").splitlines()
    return {(row["stage"], row["topic"]): row["ops"] for row in map(json.loads, lines)}


class DemoDesk:
    def __init__(self, public_id: str) -> None:
        tasks = Task.objects.select_related("assessor", "topic", "protocol", "campaign")
        self.task = tasks.get(public_id=public_id)
        self.user, self.window, self.seq = self.task.assessor, str(new_uuid()), 0
        open_desk(task=public_id, user=self.user)

    def do(self, kind: str, **payload: Any) -> None:
        op = Op(op_id=new_uuid(), step=new_uuid(), kind=kind, payload=payload, client_at=timezone.now())
        receipt = apply_op(task=self.task.public_id, user=self.user, window=self.window, op=op)
        if receipt.status != "applied":
            raise RuntimeError(f"{kind}: {receipt.message}")
        self.seq = receipt.seq

    def work(self, *, whole: bool) -> None:
        script = _scripted().get((self.task.stage, self.task.topic.topic_id))
        if self.task.stage.judges:
            self._judge(whole=whole)
        elif script:
            for op in script:
                self.do(**op)
        elif self.task.stage.shows_drafts:
            self._keep()
        else:
            self._write()
        if whole:
            submit(task=self.task.public_id, user=self.user, window=self.window, seq=self.seq)

    def _keep(self) -> None:
        drafts = [row["key"] for row in desk_state(self.task.public_id, self.user)["rows"]]
        for number, key in enumerate(drafts, start=1):
            self.do("decide", key=key, decision="kept" if number % 5 else "rejected")
            if number % 5:
                self.do("importance", key=key, importance=2 if number % 3 else 1)

    def _write(self) -> None:
        # In other words of the same facts as the file's list by hand.
        listed = ListedNugget.objects.filter(
            nugget_list__nugget_set__name=Origin.MANUAL, nugget_list__topic=self.task.topic
        )
        rows = listed.order_by("position").values_list("nugget_version__text", "importance")
        for number, (text, importance) in enumerate(rows[:9], start=1):
            self.do("add", key=f"n{number}", text=text, importance=importance or 1)

    def _judge(self, *, whole: bool) -> None:
        labels = KNOWN[self.task.stage](self.task)
        pairs = list(desk_of(self.task.stage).read(context_of(self.task)).judgeable)
        for number, key in enumerate(pairs if whole else pairs[: len(pairs) // 2], start=1):
            label = labels[key] if number % OTHERWISE else OTHER[labels[key]]
            self.do("label", key=key, label=self.task.stage.labels.by_code[label].word)


def _assigned(task: Task) -> dict[str, int]:
    """Return a label for each pair: that of a nugget with the same words in a file, else one by its place."""
    judgments = Assignment.objects.filter(answer__topic=task.topic, judge__name=NUGGETS_AS, label__lte=2)
    rows = judgments.values_list("answer__public_id", "nugget_version__text", "label")
    labels = {(answer, text): label for answer, text, label in rows}
    listed = ListedNugget.objects.filter(nugget_list__nugget_set=task.nugget_set, nugget_list__topic=task.topic)
    wordings = list(listed.values_list("nugget_version__nugget__public_id", "nugget_version__text", "position"))
    answers = TaskAnswer.objects.filter(task=task).values_list("answer__public_id", flat=True)
    return {
        f"{answer}{SEPARATOR}{nugget}": labels.get((answer, text), 0 if position % 3 else 2)
        for answer in answers
        for nugget, text, position in wordings
    }


def _supported(task: Task) -> dict[str, int]:
    work = WORK[task.campaign.slug]
    judgments = SupportJudgment.objects.filter(
        sentence__answer__topic=task.topic, judge__name=work.judge, condition=work.condition
    )
    rows = judgments.values_list("sentence", "segment", "label")
    labels = {(sentence, segment): label for sentence, segment, label in rows}
    pairs = pairs_of(context_of(task))
    return {pair.key: labels.get((pair.sentence_pk, pair.segment_pk or 0), 0) for pair in pairs}


def _graded(task: Task) -> dict[str, int]:
    qrels = Qrel.objects.filter(topic=task.topic_id, source__name=WORK[task.campaign.slug].qrels)
    rows = qrels.values_list("segment__public_id", "grade")
    return {f"{segment}{SEPARATOR}{task.stage}": grade for segment, grade in rows}


def _compared(task: Task) -> dict[str, int]:
    runs = dict(AnswerProvenance.objects.filter(topic=task.topic).values_list("answer", "run__run_id"))
    random = Random(f"battles {task.topic.topic_id}")  # noqa: S311
    verdicts: dict[str, int] = {}
    for row in battles_of(task.pk):
        left, right = (runs[answer] for answer in sides_of(row))
        word = verdict(left, right, random)
        verdicts[f"{row.battle.public_id}{SEPARATOR}{task.stage}"] = task.stage.labels.by_word[word].code
    return verdicts


KNOWN = {
    ASSIGN: _assigned,
    SUPPORT_SCRATCH: _supported,
    SUPPORT_POST_EDIT: _supported,
    GRADE: _graded,
    BATTLE: _compared,
}


def make_lists(campaign: Campaign, organizer: User) -> None:
    tasks = [task for task in planned_tasks(campaign.slug) if not task.stage.judges]
    # All are handed out before anybody begins: whoever edits a topic's drafts must write no list of it.
    for task, public_id in [(task, _hand_out(campaign, organizer, task)) for task in tasks]:
        _do(campaign, organizer, task, public_id)


def judge_answers(campaign: Campaign, organizer: User) -> None:
    """Hand out the tasks that judge, one after the other: some are about lists that were submitted."""
    for task in planned_tasks(campaign.slug):
        if task.stage.judges:
            _do(campaign, organizer, task, _hand_out(campaign, organizer, task))


def _hand_out(campaign: Campaign, organizer: User, task: PlannedTask) -> str:
    order = Order(
        stage=task.stage,
        topics=(campaign.topics.get(topic_id=task.topic).public_id,),
        assessor=task.assessor,
        drafts=DRAFTS if task.stage.shows_drafts else "",
        qrels=WORK[campaign.slug].qrels,
        due=timezone.localdate() + timedelta(days=task.due),
        nuggets=task.nuggets,
        again=True,
    )
    return hand_out(campaign=campaign, order=order, actor=organizer).tasks[0]


def _do(campaign: Campaign, organizer: User, task: PlannedTask, public_id: str) -> None:
    if task.done == "blocked":
        _ask(public_id, RemarkKind.FLAG, task.topic, FLAG)
        _change(campaign, organizer, Change.BLOCK, public_id, BLOCKED)
    elif task.done:
        DemoDesk(public_id).work(whole=task.done != "begun")
    if task.done == "reopened":
        _ask(public_id, RemarkKind.REOPEN, "", ASKED)
        _change(campaign, organizer, Change.REOPEN, public_id, REOPENED)


def _ask(public_id: str, kind: RemarkKind, about: str, text: str) -> None:
    user = Task.objects.select_related("assessor").get(public_id=public_id).assessor
    remark(task=public_id, user=user, kind=kind, about=about, text=text)


def _change(campaign: Campaign, organizer: User, change: Change, public_id: str, reason: str) -> None:
    change_tasks(campaign=campaign, order=TaskChange(change, (public_id,), reason=reason), actor=organizer)


STUDY = StudyOrder(
    "Ann and alder",
    StudyKind.ASSIGNMENT,
    person="Ann Archer",
    judge="alder-70b (scripted)",
    nuggets="edited",
    per_topic=5,
    seed=8,
    topics=("river-01", "river-02", "river-04", "river-07"),
)
STUDY_ASSESSOR = "ewan"
NUGGET_CHECK = RandomCheckOrder(
    "Nugget check", StudyKind.ASSIGNMENT, judge=NUGGETS_AS, nuggets="edited", seed="demo"
)
CHECKED_BY = "Iris Inlet"
"""Somebody without an account, whose labels of that check come from a file: those that Ann gave."""
CITATION_CHECK = RandomCheckOrder("Citation check", StudyKind.SUPPORT, judge=NUGGETS_AS, per_run=20, seed="demo")
CHECK_ASSESSOR = "cleo"


def draw_studies(campaign: Campaign, organizer: User) -> None:
    """Draw a second look and a random check of citations, which are half done, and a complete check of nuggets."""
    _judge_half(create_study(campaign=campaign, order=STUDY, actor=organizer), STUDY_ASSESSOR, organizer)
    study = create_random_check(campaign=campaign, order=NUGGET_CHECK, actor=organizer)
    label_of = _labels_by_name(campaign)
    drawn = drawn_rows(study)
    lines = [json.dumps(row | {"label": label_of[row["run_id"], row["topic_id"], row["nugget"]]}) for row in drawn]
    import_random_check(
        study=study, source=Source("check.jsonl", "", tuple(enumerate(lines, 1))), judge=CHECKED_BY
    )
    _judge_half(
        create_random_check(campaign=campaign, order=CITATION_CHECK, actor=organizer), CHECK_ASSESSOR, organizer
    )


def _labels_by_name(campaign: Campaign) -> dict[tuple[str, str, str], str]:
    runs = dict(AnswerProvenance.objects.filter(run__campaign=campaign).values_list("answer", "run__run_id"))
    judgments = Assignment.objects.filter(
        judge__name=CITATIONS_AS, nugget_version__nugget__nugget_set__name=NUGGET_CHECK.nuggets
    )
    rows = judgments.values_list("answer", "answer__topic__topic_id", "nugget_version__text", "label")
    return {
        (runs[answer], topic, text): AssignmentLabel(label).name.lower() for answer, topic, text, label in rows
    }


def _judge_half(study: Study, assessor: str, organizer: User) -> None:
    due = timezone.localdate() + timedelta(days=8)
    receipt = hand_out_study(study=study, assessor=assessor, actor=organizer, due=due)
    for public_id in receipt.tasks[: len(receipt.tasks) // 2]:
        DemoDesk(public_id).work(whole=True)


SLIPS = {"ann": {"full_support": "partial_support"}, "ben": {"okay": "vital", "partial_support": "support"}}
"""Answers in practice that are not the known ones: each is given once."""


def practise(campaign: Campaign) -> None:
    slips = {name: dict(words) for name, words in SLIPS.items()}
    for task in Task.objects.filter(campaign=campaign).select_related("assessor").order_by("pk"):
        for pk in practice_of(task.assessor, [campaign.pk]).left(task):
            item = PracticeItem.objects.get(pk=pk)
            right = word_of(PracticeKind(item.kind), item.label)
            label = slips.get(task.assessor.username, {}).pop(right, right)
            answer_practice(task=task.public_id, user=task.assessor, item=item.public_id, label=label)


MINUTES = {
    POST_EDIT: 52,
    MANUAL: 118,
    ASSIGN: 64,
    SUPPORT_SCRATCH: 38,
    SUPPORT_POST_EDIT: 26,
    GRADE: 14,
    BATTLE: 17,
}
"""Active minutes of a whole task, before anybody's own pace."""
PACE = {"ann": 94, "ben": 112, "cleo": 78, "dalal": 126, "ewan": 101, "finn": 88, "greta": 109}
"""Per cent of them that each person takes."""
STRETCHES = (95, 210, 64, 141, 180, 77, 120)
"""Seconds of one reading or writing after the other."""
WORDS = 420
BREAK, INTERRUPTION = timedelta(seconds=48), timedelta(minutes=19)
INTERRUPTED, OFFLINE = ("post-edit", "river-05"), ("support-post-edit", "river-03")


def record_times(campaign: Campaign) -> None:
    """Store the stretches of each task that was opened: a task a morning or an afternoon, each person's last yesterday.

    A task that is not submitted has a third of its time.
    """
    today = timezone.localtime().replace(hour=9, minute=0, second=0, microsecond=0)
    opened = Task.objects.filter(campaign=campaign, opened_at__isnull=False)
    by_person = defaultdict[int, list[Task]](list)
    for task in opened.select_related("assessor", "topic").order_by("pk"):
        by_person[task.assessor_id].append(task)
    for tasks in by_person.values():
        for half_days, task in enumerate(reversed(tasks), start=1):
            start = today - timedelta(days=(half_days + 1) // 2, hours=-5 * (half_days % 2))
            _record(task, start)


def mark_read(campaign: Campaign) -> None:
    """Mark the passages of lists as read: all where the list was submitted, half where it was begun.

    Stored straight, as times are: operations of desks would take further random ids and so change all of the demo.
    """
    segments = dict(Segment.objects.filter(campaign=campaign).values_list("public_id", "pk"))
    opened = Task.objects.filter(campaign=campaign, opened_at__isnull=False).select_related("topic", "protocol")
    for task in opened.making():
        passages = passages_of(task)
        submitted = Submission.objects.filter(task=task).exists()
        MarkedPassage.objects.bulk_create(
            MarkedPassage(task=task, segment_id=segments[passage.public_id], mark=PassageMark.READ)
            for passage in (passages if submitted else passages[: len(passages) // 2])
        )


def _record(task: Task, start: datetime) -> None:
    submissions = Submission.objects.filter(task=task)
    rows = [*_stretches(task, start, 1 if submissions.exists() else 3)]
    TimeSegment.objects.bulk_create(rows)
    end = rows[-1].ended_at
    Task.objects.filter(pk=task.pk).update(created_at=start - timedelta(days=1), opened_at=start)
    Desk.objects.filter(task=task).update(held_at=end)
    submissions.update(at=end)


def _stretches(task: Task, start: datetime, share: int) -> Iterator[TimeSegment]:
    left = MINUTES[task.stage] * 60 * PACE[task.assessor.username] // 100 // share
    interrupted = (task.stage, task.topic.topic_id) == INTERRUPTED
    number = 0
    while left > 0:
        seconds = min(left, STRETCHES[number % len(STRETCHES)])
        kind = SegmentKind.EDITING if number % 3 == 1 else SegmentKind.READING
        yield _row(task, number, kind, start, start + timedelta(seconds=seconds))
        start, left, number = start + timedelta(seconds=seconds), left - seconds, number + 1
        if number % 8 == 0 and left > 0:
            pause = INTERRUPTION if interrupted and number == 8 else BREAK
            yield _row(task, number, SegmentKind.GAP, start, start + pause)
            start, number = start + pause, number + 1


def _row(task: Task, number: int, kind: SegmentKind, start: datetime, end: datetime) -> TimeSegment:
    return TimeSegment(
        task=task,
        submission=1,
        window=f"demo-{task.pk}",
        number=number,
        kind=kind,
        started_at=start,
        ended_at=end,
        words=WORDS,
        offline=(task.stage, task.topic.topic_id) == OFFLINE and number > 8,
        gap_answer="away" if end - start == INTERRUPTION else "",
    )
