"""The demo's work: tasks for Ann and Ben of every stage and in every state, done by the services that desks call."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User
from evaluation.models import Campaign
from evaluation.services.desk.asked import Op
from evaluation.services.desk.opening import open_desk
from evaluation.services.desk.operating import operate
from evaluation.services.desk.submitting import submit
from evaluation.services.handing_out import hand_out
from evaluation.services.remarks import remark
from evaluation.services.task_acts import Change, Wish, change_tasks
from evaluation.services.work_plan import Order
from evaluation.terms import RemarkKind, Stage

DRAFTS, QRELS = "draft", "NIST"
DUE_IN = timedelta(days=10)
POST_EDIT = {"river-02": "ann", "river-03": "ann", "river-01": "ben", "river-06": "ben", "river-07": "ben"}
MANUAL = {"river-05": "ann", "river-04": "ben"}
# Ben assigns the list that he submits here, Ann a machine's. Neither judges support under the condition of which the
# files already have labels of theirs.
JUDGING = (
    (Stage.ASSIGN, "river-01", "ben", "edited-Ben Brook"),
    (Stage.ASSIGN, "river-07", "ann", "auto"),
    (Stage.SUPPORT_SCRATCH, "river-03", "ben", ""),
    (Stage.SUPPORT_POST_EDIT, "river-01", "ann", ""),
)
BY_HAND = (
    "Streams were buried in pipes to gain building land and to carry sewage away",
    "An open stream cools its street in summer",
    "Pipes overflow in heavy rain; an open bed has room",
)


class Desk:
    """One person at one task, in a window of the demo's own."""

    def __init__(self, task: str, user: User) -> None:
        self.task, self.user, self.window, self.seq = task, user, str(uuid.uuid4()), 0
        open_desk(task=task, user=user)

    def do(self, kind: str, **payload: Any) -> None:
        """Do one thing."""
        said = {key.rstrip("_"): value for key, value in payload.items()}
        op = Op(op_id=uuid.uuid4(), step=uuid.uuid4(), kind=kind, payload=said, client_at=timezone.now())
        receipt = operate(task=self.task, user=self.user, window=self.window, op=op)
        if receipt.status != "applied":
            raise RuntimeError(f"{kind}: {receipt.message}")
        self.seq = receipt.seq


def load_work(campaign: Campaign) -> None:
    """Hand out tasks and do some of them: one submitted, two under way, one blocked, the others not started.

    Judging tasks come last: one is about the list that is submitted here.
    """
    people = {name: User.objects.get(username=name) for name in ("olga", "ann", "ben")}
    tasks = dict(_handed_out(campaign, people["olga"]))
    _submitted(Desk(tasks["river-01"], people["ben"]))
    _half_edited(Desk(tasks["river-03"], people["ann"]))
    _begun_by_hand(Desk(tasks["river-04"], people["ben"]))
    text = "Two passages are about footbridges only. Shall I count them?"
    remark(task=tasks["river-07"], user=people["ben"], kind=RemarkKind.FLAG, about="river-07", text=text)
    wish = Wish(Change.BLOCK, (tasks["river-07"],), reason="The qrels of this topic are being looked at again.")
    change_tasks(campaign=campaign, wish=wish, actor=people["olga"])
    for stage, topic, assessor, nuggets in JUDGING:
        _hand_out(campaign, people["olga"], stage, topic, assessor, nuggets)


def _handed_out(campaign: Campaign, organizer: User) -> Iterator[tuple[str, str]]:
    for stage, given in ((Stage.POST_EDIT, POST_EDIT), (Stage.MANUAL, MANUAL)):
        for topic, assessor in given.items():
            yield topic, _hand_out(campaign, organizer, stage, topic, assessor)


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


def _submitted(desk: Desk) -> None:
    """Decide about all 24 drafts: most kept, some reworded, merged, split and rejected."""
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
    submit(task=desk.task, user=desk.user, window=desk.window, seq=desk.seq)


def _half_edited(desk: Desk) -> None:
    for number in range(1, 9):
        desk.do("decide", key=f"d{number}", decision="rejected" if number in (4, 7) else "kept")
        desk.do("importance", key=f"d{number}", importance=2 if number % 2 else 1)
    desk.do("edit", key="d9", text="Salmon return by themselves, without being stocked")
    desk.do(
        "merge", key="m1", from_=["d10", "d11"], text="Insects and birds of fast water return and lake fish go"
    )


def _begun_by_hand(desk: Desk) -> None:
    for number, text in enumerate(BY_HAND, start=1):
        desk.do("add", key=f"n{number}", text=text, importance=2 if number == 1 else 1)
