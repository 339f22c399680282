"""Small campaigns for LLM jobs, made straight in the database, and engines that work on them over real HTTP.

Every answer is one made-up sentence, and every nugget three made-up words, so that no two questions are alike unless
a test wants them to be.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event as Signal
from threading import Thread
from typing import Any

from django.db import connections

from evaluation.campaigns.create import create_campaign
from evaluation.judges import add_judge
from evaluation.labelling import GivenNugget, ensure_nugget_set, give_nugget_list
from evaluation.models import (
    Answer,
    AnswerProvenance,
    Campaign,
    Event,
    Judge,
    NuggetList,
    Qrel,
    QrelSource,
    Run,
    Segment,
    Sentence,
    Topic,
)
from evaluation.terms import Condition, Importance, JudgeKind, Origin
from jobs.models import Job, WorkItem
from llmjobs.engine.loop import Engine
from llmjobs.job_service import JobRequest, plan_evaluation, start
from llmjobs.models import Call
from llmjobs.simulator.answering import MODEL
from loadtest.servers.simulator import Served


@dataclass(frozen=True, slots=True)
class World:
    campaign: Campaign
    judge: Judge
    topics: list[Topic]
    runs: list[Run]

    @property
    def request(self) -> JobRequest:
        return JobRequest(self.campaign, self.judge)


def make_world(*, topics: int = 1, runs: int = 2, nuggets: int = 3) -> World:
    campaign = create_campaign(slug="river", name="River study")[0]
    judge = add_judge(name=MODEL, kind=JudgeKind.LLM, model=MODEL)[0]
    event = Event.objects.create(campaign=campaign, kind="made")
    made = [
        Topic.objects.create(campaign=campaign, topic_id=f"t{n}", text=f"what is topic{n}", position=n)
        for n in range(1, topics + 1)
    ]
    its_runs = [Run.objects.create(campaign=campaign, run_id=f"r{n}", event=event) for n in range(1, runs + 1)]
    for topic in made:
        for run in its_runs:
            answer_with(
                topic, run, f"In {topic.topic_id} the run {run.run_id} says word{topic.pk}a word{topic.pk}b."
            )
        if nuggets:
            list_nuggets(campaign, judge, topic, nuggets, event)
    return World(campaign, judge, made, its_runs)


def answer_with(topic: Topic, run: Run, text: str) -> Answer:
    answer = Answer.objects.create(topic=topic, words=len(text.split()))
    AnswerProvenance.objects.create(answer=answer, run=run, topic=topic)
    Sentence.objects.create(answer=answer, index=0, text=text)
    return answer


def list_nuggets(
    campaign: Campaign, judge: Judge, topic: Topic, number: int, event: Event, origin: Origin = Origin.AUTO
) -> NuggetList:
    texts = [GivenNugget(f"word{topic.pk}a word{topic.pk}{n} thing{n}", Importance.VITAL) for n in range(number)]
    made = give_nugget_list(ensure_nugget_set(campaign, judge, origin), topic, texts, event)
    assert made
    return made


def grade_segments(world: World, number: int, source: str = "UMBRELA") -> list[Segment]:
    """Load segments with text and grade them as related to the first topic, best first by docid."""
    by = QrelSource.objects.create(campaign=world.campaign, name=source)
    segments = [
        Segment.objects.create(
            campaign=world.campaign, docid=f"d{n:02}", document=f"d{n:02}", has_text=True, text=f"Text number {n}."
        )
        for n in range(1, number + 1)
    ]
    for segment in segments:
        Qrel.objects.create(source=by, topic=world.topics[0], segment=segment, grade=2)
    return segments


def start_assigning(world: World) -> Job:
    """Queue AutoAssign of everything that has no label yet."""
    return start(world.request, "AutoAssign A/A", plan_evaluation(world.request, Condition.AA))


def work_on(*, worker: str = "tester", concurrency: int = 4, seconds: float = 30) -> None:
    stopping = Signal()
    with in_thread(lambda: _stop_after(stopping, seconds)):
        engine = Engine(worker, concurrency)
        try:
            while not stopping.is_set() and WorkItem.objects.filter(state__in=["queued", "leased"]).exists():
                engine.work(stopping)
                time.sleep(0.02)
        finally:
            timed_out = stopping.is_set()
            stopping.set()
            engine.close()
    assert not timed_out, "the engine did not come to its end"


def work_until_it_rests(job: Job, *, workers: int = 1, concurrency: int = 4) -> str:
    stopping = Signal()

    def work(name: str) -> None:
        engine = Engine(name, concurrency)
        try:
            while not stopping.is_set():
                engine.work(stopping)
                stopping.wait(0.02)
        finally:
            engine.close()

    def rests() -> bool:
        job.refresh_from_db()
        return job.state != Job.State.RUNNING

    with in_thread(lambda: work("first")), in_thread(lambda: work("second") if workers > 1 else None):
        try:
            wait_until(rests)
        finally:
            stopping.set()
    return str(job.state)


def _stop_after(stopping: Signal, seconds: float) -> None:
    stopping.wait(seconds)
    stopping.set()


@contextmanager
def in_thread(act: Callable[[], object]) -> Iterator[Thread]:
    def act_and_hang_up() -> None:
        try:
            act()
        finally:
            connections.close_all()  # from Python 3.13 on, a connection that ends with its thread warns

    thread = Thread(target=act_and_hang_up)
    thread.start()
    try:
        yield thread
    finally:
        thread.join()


def wait_until(holds: Callable[[], bool], seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def states_of(job: Job) -> dict[str, int]:
    return dict(Counter(job.items.values_list("state", flat=True)))


def repeated_requests(served: Sequence[Served]) -> list[str]:
    """Return the requests that were sent again after their answer had gone out, by the simulator's own log.

    Malformed replies are answers too; a page that is no completion is none.
    """
    answered: dict[str, float] = {}
    repeated = []
    for reply in sorted(served, key=lambda sent: sent.at):
        if reply.hash in answered and reply.at > answered[reply.hash]:
            repeated.append(reply.hash)
        if reply.status == 200 and reply.fault not in {"not_json"}:
            answered.setdefault(reply.hash, reply.until)
    return repeated


def assert_calls_are_sound() -> None:
    for call in Call.objects.exclude(state=Call.State.SENT):
        assert call.event_id is not None
        assert call.holder == ""
        if call.state == Call.State.ANSWERED:
            assert call.attempts.filter(error="", status=200, ended_at__isnull=False).count() == 1
    ended = Call.objects.exclude(state=Call.State.SENT).count()
    assert Event.objects.filter(kind__startswith="llm.call").count() == ended


class Scripted(ThreadingHTTPServer):
    """An endpoint that answers by a function of the messages' texts, and keeps what it was asked."""

    daemon_threads = False

    def __init__(self, reply_to: Callable[[list[str]], str], **extra: Any) -> None:
        super().__init__(("127.0.0.1", 0), _ScriptedHandler)
        self.reply_to, self.extra = reply_to, extra
        self.calls: list[list[str]] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _ScriptedHandler(BaseHTTPRequestHandler):
    server: Scripted

    def do_POST(self) -> None:
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [message["content"] for message in call["messages"]]
        self.server.calls.append(texts)
        reply = {
            "model": "scripted-2024-05-13",
            "choices": [{"message": {"content": self.server.reply_to(texts)}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7},
        }
        body = json.dumps(reply | self.server.extra).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal quiet."""


@contextmanager
def scripted_endpoint(reply_to: Callable[[list[str]], str], **extra: Any) -> Iterator[Scripted]:
    """Serve written replies while the block runs. `extra` goes into the completion as it is."""
    server = Scripted(reply_to, **extra)
    with in_thread(lambda: server.serve_forever(poll_interval=0.05)):
        try:
            yield server
        finally:
            server.shutdown()
    server.server_close()
