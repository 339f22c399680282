"""The assessor's desk over real HTTP: saves beside the least that Django can do, and the page at two sizes.

A row is one save or one page. Each client is an assessor with a session, a desk and a connection of their own.
"""

import http.client
import random
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

import numpy as np
from django.db import connection
from django.middleware.csrf import _get_new_csrf_string
from django.test.utils import CaptureQueriesContext

from accounts.models import NOTICE_VERSION, User
from assessor.desk.apply_op import apply_op
from assessor.desk.context import open_desk
from assessor.rules.op_schemas import Op
from evaluation.campaigns.create import add_member
from evaluation.judges import add_judge
from evaluation.labelling import ensure_nugget_set
from evaluation.models import Campaign, NuggetList, Qrel, QrelSource, Segment, Task
from evaluation.stages import POST_EDIT
from evaluation.terms import JudgeKind, Origin, Role
from loadtest.bench import synthetic
from loadtest.bench.measuring import Measured
from loadtest.bench.sizes import SMALL, Size
from loadtest.desk.nugget_campaign import make_drafts
from loadtest.desk.seats import Seat
from loadtest.desk.window import operation
from loadtest.desk.wire import Browser
from loadtest.servers.sessions import new_session, session_cookie
from loadtest.servers.web import served

SLUG = "desks"
CLIENTS = (1, 8, 32)
PASSAGES = {"150": 150, "424": 424}
WORDS, DRAFTS = 150, 30
WARM = 3  # pages
WINDOW = str(uuid.UUID(int=1))
"""One window for all turns: each has a process of its own, and another window would have to take the desk over."""


@dataclass(frozen=True, slots=True)
class Client:
    """One assessor: their browser, their desk, a passage to mark, and the keys of what can be judged."""

    browser: Browser
    task: str
    pk: int
    segment: int = 0
    keys: tuple[str, ...] = ()


def prepare(size: Size, _turn: int) -> Measured:
    campaign = synthetic.make_campaign(SLUG, len(PASSAGES))
    source = QrelSource.objects.create(campaign=campaign, name="NIST")
    for topic, (name, passages) in zip(campaign.topics.all(), PASSAGES.items(), strict=True):
        count = 5 if size is SMALL else passages
        segments = [
            Segment(
                campaign=campaign,
                docid=f"{name}_{n:04}#1",
                document=f"{name}_{n:04}",
                has_text=True,
                title=synthetic.phrase(n, 5),
                text=" ".join(
                    f"{synthetic.phrase(n * 20 + s, 14).capitalize()} done." for s in range(WORDS // 15)
                ),
            )
            for n in range(count)
        ]
        Segment.objects.bulk_create(segments)
        Qrel.objects.bulk_create(
            [Qrel(source=source, topic=topic, segment=segment, grade=2) for segment in segments]
        )
    texts = [synthetic.phrase(position, 9) for position in range(DRAFTS)]
    make_drafts(campaign, [(topic, texts) for topic in campaign.topics.all()])
    for number in range(max(CLIENTS)):
        _assessor(campaign, source, number)
    return Measured(rows=max(CLIENTS))


def _assessor(campaign: Campaign, source: QrelSource, number: int) -> None:
    user = User.objects.create(username=f"assessor-{number}", notice_version=NOTICE_VERSION)
    add_member(campaign=campaign, user=user, role=Role.ASSESSOR)
    judge, _ = add_judge(name=user.username, kind=JudgeKind.HUMAN, user=user)
    made = ensure_nugget_set(campaign, judge, Origin.EDITED)
    for topic in campaign.topics.all():
        task = Task.objects.create(
            campaign=campaign,
            topic=topic,
            assessor=user,
            stage=POST_EDIT,
            nugget_set=made,
            drafts=NuggetList.objects.get(topic=topic, nugget_set__origin=Origin.DRAFT),
            qrels=source,
            protocol=campaign.protocol,
            second_opinion=number > 0,
        )
        open_desk(task=task.public_id, user=user)


def _clients(address: str, backend: str) -> list[Client]:
    topic = Campaign.objects.get(slug=SLUG).topics.all()[0]
    segment = Segment.objects.filter(campaign__slug=SLUG)[0].pk
    tasks = Task.objects.filter(topic=topic).select_related("assessor").order_by("pk")
    return [Client(browser_of(task, address, backend), task.public_id, task.pk, segment) for task in tasks]


def browser_of(task: Task, address: str, backend: str = "") -> Browser:
    """Return a browser of a task's assessor, signed in by the first or a named backend. An answer of 5xx ends all."""
    user, token = task.assessor, _get_new_csrf_string()
    seat, session = Seat(user.username, user.pk), new_session(user, backend)
    return Browser(urlsplit(address).netloc, seat, Counter(), _stop, random.Random(0), session, token)  # noqa: S311


def _stop(text: str) -> None:
    raise SystemExit(text)


def saves(size: Size, _turn: int) -> Measured:
    """Save with Assay and with a bare view, by turns, so that both meet the machine in the same mood."""
    with served() as address, served("loadtest.bench.floor") as floor:
        measured = measured_of(size, nugget_sides(address, floor))
    measured.seconds["statements"] = statements(
        Task.objects.filter(campaign__slug=SLUG)[0], Op.model_validate(_op(1))
    )
    return measured


def nugget_sides(address: str, floor: str) -> dict[str, "Side"]:
    """Return Assay's save, the importance of one nugget after the other, and the bare view's, a mark of one passage."""

    def ours(client: Client, number: int) -> tuple[str, object]:
        return f"/desk/{client.task}/ops/", {"window": WINDOW, "ops": [_op(number)]}

    def bare(client: Client, number: int) -> tuple[str, object]:
        return "/save", {"task": client.pk, "segment": client.segment, "mark": ("read", "nothing new")[number % 2]}

    return {
        "": Side(_clients(address, ""), ours),
        "bare ": Side(_clients(floor, "django.contrib.auth.backends.ModelBackend"), bare),
    }


def _op(number: int) -> dict[str, object]:
    return op_of("importance", {"key": f"d{number % 5 + 1}", "importance": 1 + number // 5 % 2})


def op_of(kind: str, payload: dict[str, object]) -> dict[str, object]:
    return operation(kind, payload, str(uuid.uuid4()), str(uuid.uuid4()))


def statements(task: Task, op: Op) -> int:
    """Return how many statements a save takes past the session and the user, BEGIN and COMMIT left out."""
    with CaptureQueriesContext(connection) as captured:
        apply_op(task=task.public_id, user=task.assessor, window=WINDOW, op=op)
    return sum(not query["sql"].startswith(("BEGIN", "COMMIT", "SAVEPOINT")) for query in captured)


@dataclass(frozen=True, slots=True)
class Side:
    """Clients of one of the servers that are compared, and what they send: path and body, by number."""

    clients: list[Client]
    body: Callable[[Client, int], tuple[str, object]]

    def times(self, clients: int, each: int) -> list[float]:
        """Have so many clients save so often each, at once; return how long each save took."""
        with ThreadPoolExecutor(clients) as pool:
            done = pool.map(partial(self._save, each), self.clients[:clients])
            return [seconds for times in done for seconds in times]

    def _save(self, each: int, client: Client) -> list[float]:
        times = []
        for number in range(each):
            path, body = self.body(client, number)
            started = time.perf_counter()
            answer = client.browser.post(path, body)
            times.append(time.perf_counter() - started)
            receipts = answer.body.get("receipts", []) if isinstance(answer.body, dict) else []
            if answer.status != 200 or any(receipt["status"] in ("refused", "moved") for receipt in receipts):
                raise SystemExit(f"{path}: {answer}"[:300])
        return times


def measured_of(size: Size, sides: dict[str, Side]) -> Measured:
    blocks, each = (1, 3) if size is SMALL else (8, 15)
    for side in sides.values():
        side.times(max(CLIENTS), 3)  # every worker warm
    measured = Measured(rows=blocks * each)
    for count in CLIENTS:
        found: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(blocks):
            for name, side in sides.items():
                found[name] += side.times(count, each)
        for name, times in found.items():
            measured.seconds[f"{name}p50 {count}"] = float(np.percentile(times, 50))
            measured.seconds[f"{name}p95 {count}"] = float(np.percentile(times, 95))
    return measured


def pages(size: Size, _turn: int) -> Measured:
    each = 3 if size is SMALL else 40
    measured = Measured(rows=each)
    with served() as address:
        for name, topic in zip(PASSAGES, Campaign.objects.get(slug=SLUG).topics.all(), strict=True):
            task = Task.objects.filter(topic=topic).select_related("assessor")[0]
            times, length = page_times(address, task, [f"/desk/{task.public_id}/"] * each)
            measured.seconds[f"p50 {name}"] = float(np.percentile(times, 50))
            measured.seconds[f"p95 {name}"] = float(np.percentile(times, 95))
            measured.seconds[f"size {name}"] = length / 1024
    return measured


def page_times(address: str, task: Task, paths: Sequence[str]) -> tuple[list[float], int]:
    """Fetch pages as a task's assessor, the first three twice; return how long each took, and the last one's bytes."""
    cookie = session_cookie(task.assessor)
    connected = http.client.HTTPConnection(urlsplit(address).netloc)
    times, page = [], b""
    for path in [*paths[:WARM], *paths]:
        started = time.perf_counter()
        connected.request("GET", path, headers={"Cookie": cookie})
        reply = connected.getresponse()
        page = reply.read()
        times.append(time.perf_counter() - started)
        if reply.status != 200:
            raise SystemExit(f"{path}: {reply.status}")
    connected.close()
    return times[len(paths[:WARM]) :], len(page)
