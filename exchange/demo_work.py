"""The demo's work: tasks for Ann and Ben of every stage and in every state, done by the services that desks call.

Three tasks of each stage are submitted, with the times that they took: fewer give no forecast.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User
from evaluation.blind.desk import desk_state
from evaluation.models import Assignment, Campaign, ListedNugget, SupportJudgment, Task
from evaluation.models.fields import new_uuid
from evaluation.services.desk.asked import Op
from evaluation.services.desk.finding import place_of
from evaluation.services.desk.judging import pairs_of
from evaluation.services.desk.labels import SEPARATOR
from evaluation.services.desk.opening import open_desk
from evaluation.services.desk.operating import operate
from evaluation.services.desk.progress import asked_keys
from evaluation.services.desk.submitting import submit
from evaluation.services.handing_out import hand_out
from evaluation.services.remarks import remark
from evaluation.services.task_acts import Change, Wish, change_tasks
from evaluation.services.work_plan import Order
from evaluation.terms import AssignmentLabel, JudgeKind, Origin, RemarkKind, Stage, SupportLabel
from exchange.demo_times import record_times

DRAFTS, QRELS = "draft", "NIST"
DUE_IN = timedelta(days=10)
POST_EDIT = {
    "river-02": "ann",
    "river-03": "ann",
    "river-01": "ben",
    "river-05": "ben",
    "river-06": "ben",
    "river-07": "ben",
}
MANUAL = {"river-01": "ann", "river-05": "ann", "river-07": "ann", "river-02": "ben", "river-04": "ben"}
# Ben assigns the list that he submits here, Ann a machine's. Neither judges support under the condition of which the
# files already have labels of theirs.
JUDGING = (
    (Stage.ASSIGN, "river-01", "ben", "edited-Ben Brook"),
    (Stage.ASSIGN, "river-07", "ann", "auto"),
    (Stage.SUPPORT_SCRATCH, "river-03", "ben", ""),
    (Stage.SUPPORT_POST_EDIT, "river-01", "ann", ""),
)
JUDGED = (
    (Stage.ASSIGN, "river-05", "ben", "edited-Ben Brook"),
    (Stage.ASSIGN, "river-02", "ann", "auto"),
    (Stage.ASSIGN, "river-04", "ann", "auto"),
    (Stage.SUPPORT_SCRATCH, "river-01", "ben", ""),
    (Stage.SUPPORT_SCRATCH, "river-02", "ben", ""),
    (Stage.SUPPORT_SCRATCH, "river-05", "ben", ""),
    (Stage.SUPPORT_POST_EDIT, "river-02", "ann", ""),
    (Stage.SUPPORT_POST_EDIT, "river-04", "ann", ""),
    (Stage.SUPPORT_POST_EDIT, "river-07", "ann", ""),
)
"""Judging that is done and submitted."""
OTHERWISE = 7
"""Every so many labels a person says otherwise than the machine."""
UNKNOWN = ("support", "not_support", "partial_support")
"""Labels in turn, of nuggets that the machine did not label."""
BY_HAND = (
    "Streams were buried in pipes to gain building land and to carry sewage away",
    "An open stream cools its street in summer",
    "Pipes overflow in heavy rain; an open bed has room",
)


class DemoDesk:
    """One person at one task, in a window of the demo's own."""

    def __init__(self, task: str, user: User) -> None:
        self.task, self.user, self.window, self.seq = task, user, str(new_uuid()), 0
        open_desk(task=task, user=user)

    def do(self, kind: str, **payload: Any) -> None:
        fields = {key.rstrip("_"): value for key, value in payload.items()}
        op = Op(op_id=new_uuid(), step=new_uuid(), kind=kind, payload=fields, client_at=timezone.now())
        receipt = operate(task=self.task, user=self.user, window=self.window, op=op)
        if receipt.status != "applied":
            raise RuntimeError(f"{kind}: {receipt.message}")
        self.seq = receipt.seq

    def submit(self) -> None:
        submit(task=self.task, user=self.user, window=self.window, seq=self.seq)


def load_work(campaign: Campaign) -> None:
    """Hand out tasks and do some of them: three of each stage submitted, two under way, one blocked, others not begun.

    Judging tasks come last: some are about lists that are submitted here.
    """
    people = {name: User.objects.get(username=name) for name in ("olga", "ann", "ben")}
    tasks = dict(_handed_out(campaign, people["olga"]))
    submitted = [*_submitted_lists(campaign, tasks, people)]
    begun = [
        DemoDesk(tasks[Stage.POST_EDIT, "river-03"], people["ann"]),
        DemoDesk(tasks[Stage.MANUAL, "river-04"], people["ben"]),
    ]
    _half_edited(begun[0])
    _begun_by_hand(begun[1])
    blocked = tasks[Stage.POST_EDIT, "river-07"]
    text = "Two passages are about footbridges only. Shall I count them?"
    remark(task=blocked, user=people["ben"], kind=RemarkKind.FLAG, about="river-07", text=text)
    wish = Wish(Change.BLOCK, (blocked,), reason="The qrels of this topic are being looked at again.")
    change_tasks(campaign=campaign, wish=wish, actor=people["olga"])
    for stage, topic, assessor, nuggets in JUDGED:
        task = _hand_out(campaign, people["olga"], stage, topic, assessor, nuggets)
        submitted.append(_judged(DemoDesk(task, people[assessor])))
    for stage, topic, assessor, nuggets in JUDGING:
        _hand_out(campaign, people["olga"], stage, topic, assessor, nuggets)
    record_times(submitted, [_task(desk) for desk in begun])


def _submitted_lists(
    campaign: Campaign, tasks: dict[tuple[Stage, str], str], people: dict[str, User]
) -> Iterator[Task]:
    desk = DemoDesk(tasks[Stage.POST_EDIT, "river-01"], people["ben"])
    _submitted(desk)
    yield _task(desk)
    for topic, assessor in (("river-02", "ann"), ("river-05", "ben")):
        desk = DemoDesk(tasks[Stage.POST_EDIT, topic], people[assessor])
        _kept(desk)
        yield _task(desk)
    for topic, assessor in (("river-01", "ann"), ("river-07", "ann"), ("river-02", "ben")):
        desk = DemoDesk(tasks[Stage.MANUAL, topic], people[assessor])
        _written(desk, campaign, topic)
        yield _task(desk)


def _task(desk: DemoDesk) -> Task:
    return Task.objects.select_related("assessor", "topic", "protocol").get(public_id=desk.task)


def _kept(desk: DemoDesk) -> None:
    drafts = [row["key"] for row in desk_state(desk.task, desk.user)["rows"]]
    for number, key in enumerate(drafts, start=1):
        desk.do("decide", key=key, decision="kept" if number % 5 else "rejected")
        if number % 5:
            desk.do("importance", key=key, importance=2 if number % 3 else 1)
    desk.submit()


def _written(desk: DemoDesk, campaign: Campaign, topic: str) -> None:
    # In other words of the same facts as the file's list by hand.
    listed = ListedNugget.objects.filter(
        nugget_list__nugget_set__campaign=campaign,
        nugget_list__nugget_set__name=Origin.MANUAL,
        nugget_list__topic__topic_id=topic,
    )
    rows = listed.order_by("position").values_list("nugget_version__text", "importance")
    for number, (text, importance) in enumerate(rows[:9], start=1):
        desk.do("add", key=f"n{number}", text=text, importance=importance or 1)
    desk.submit()


def _judged(desk: DemoDesk) -> Task:
    # Every seventh label differs from the machine's.
    task = _task(desk)
    known = _assigned(task) if task.stage == Stage.ASSIGN else _supported(task)
    for number, key in enumerate(asked_keys(place_of(task)), start=1):
        label = known.get(key, UNKNOWN[number % 3] if task.stage == Stage.ASSIGN else "no_support")
        desk.do("label", key=key, label="partial_support" if number % OTHERWISE == 0 else label)
    desk.submit()
    return task


def _assigned(task: Task) -> dict[str, str]:
    given = Assignment.objects.filter(answer__topic=task.topic, judge__kind=JudgeKind.LLM, label__lte=2)
    fields = ("answer__public_id", "nugget_version__nugget__public_id", "label")
    return {
        f"{answer}{SEPARATOR}{nugget}": AssignmentLabel(label).name.lower()
        for answer, nugget, label in given.values_list(*fields)
    }


def _supported(task: Task) -> dict[str, str]:
    given = SupportJudgment.objects.filter(
        sentence__answer__topic=task.topic, judge__kind=JudgeKind.LLM, label__lte=2
    )
    labels = {
        (sentence, segment): label
        for sentence, segment, label in given.values_list("sentence", "segment", "label")
    }
    return {
        pair.key: SupportLabel(label).name.lower()
        for pair in pairs_of(place_of(task))
        if (label := labels.get((pair.sentence_pk, pair.segment_pk or 0))) is not None
    }


def _handed_out(campaign: Campaign, organizer: User) -> Iterator[tuple[tuple[Stage, str], str]]:
    for stage, given in ((Stage.POST_EDIT, POST_EDIT), (Stage.MANUAL, MANUAL)):
        for topic, assessor in given.items():
            yield (stage, topic), _hand_out(campaign, organizer, stage, topic, assessor)


def _hand_out(
    campaign: Campaign, organizer: User, stage: Stage, topic: str, assessor: str, nuggets: str = ""
) -> str:
    order = Order(
        stage=stage,
        topics=(campaign.topics.get(topic_id=topic).public_id,),
        assessor=assessor,
        drafts=DRAFTS if stage is Stage.POST_EDIT else "",
        qrels=QRELS,
        due=timezone.localdate() + DUE_IN,
        nuggets=nuggets,
    )
    return hand_out(campaign=campaign, order=order, actor=organizer).tasks[0]


def _submitted(desk: DemoDesk) -> None:
    desk.do(
        "merge",
        key="m1",
        from_=["d3", "d4"],
        text="Natural levees grow until the river stands above its plain",
        importance=2,
    )
    desk.do(
        "split",
        from_="d6",
        into=[
            {"key": "s1", "text": "A new course is steeper than the old one", "importance": 2},
            {"key": "s2", "text": "A new course is a shorter way to the sea", "importance": 1},
        ],
    )
    desk.do("edit", key="d1", text="A river that suddenly leaves its course makes an avulsion")
    for number in (1, 2, 5, *range(7, 18)):
        desk.do("decide", key=f"d{number}", decision="kept")
        desk.do("importance", key=f"d{number}", importance=2 if number % 3 else 1)
    for number in range(18, 25):
        desk.do("decide", key=f"d{number}", decision="rejected")
    desk.do("add", key="a1", text="Levees put off a change of course and make it larger", importance=2)
    desk.submit()


def _half_edited(desk: DemoDesk) -> None:
    for number in range(1, 9):
        desk.do("decide", key=f"d{number}", decision="rejected" if number in (4, 7) else "kept")
        desk.do("importance", key=f"d{number}", importance=2 if number % 2 else 1)
    desk.do("edit", key="d9", text="Salmon return by themselves, without being stocked")
    desk.do(
        "merge", key="m1", from_=["d10", "d11"], text="Insects and birds of fast water return and lake fish go"
    )


def _begun_by_hand(desk: DemoDesk) -> None:
    for number, text in enumerate(BY_HAND, start=1):
        desk.do("add", key=f"n{number}", text=text, importance=2 if number == 1 else 1)
