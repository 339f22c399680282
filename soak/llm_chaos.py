"""A/A of a campaign by an LLM that fails now and then, and at some texts always, by a worker that is killed twice.

Afterwards everything that came out is counted against what had to, and every call against the simulated LLM's own log.
"""

import hashlib
import json
import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Event as Signal
from threading import Thread
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.db.models import Count
from django.utils import timezone

from evaluation.models import (
    Answer,
    AnswerProvenance,
    Assignment,
    Campaign,
    Event,
    ListedNugget,
    NuggetList,
    Qrel,
    QrelSource,
    Run,
    Segment,
    Sentence,
    Topic,
)
from evaluation.services.campaigns import create_campaign
from evaluation.terms import AssignmentLabel, Condition
from jobs.models import Job, WorkItem
from llmjobs.models import Attempt, Call, CallUse, Text
from llmjobs.simulator import MODEL, Served, Simulator, running_simulator
from llmjobs.starting import Request, judge_for, plan_evaluation, start
from rig.worker import running_worker

TOPICS, SEGMENTS, RUNS = 20, 50, 20
LATENCY_MS = (20, 50)
FAULTS: dict[str, Any] = {"fail_rate": 0.05, "malformed_rate": 0.05, "retry_after": 0.2, "hang_s": 2.0}
# What stands, before the name of a fault, in a text that meets this fault each time: in one answer to each of the first
# topics, and in the last topic itself.
SPOILT = "Spoilt with"
SPOILT_ANSWERS = ("out_of_vocabulary", "bad_request", "server_error")
SPOILT_TOPIC = "out_of_vocabulary"
FAULTS |= {"always": {f"{SPOILT} {fault}": fault for fault in {*SPOILT_ANSWERS, SPOILT_TOPIC}}}
LLM_CONCURRENCY = 8
WORKER = {"JOB_LEASE_SECONDS": "5", "LLM_CONCURRENCY": str(LLM_CONCURRENCY)}
# Killed among the nuggets, and among the labels.
KILLED_AFTER = (60, 450)
MOST_SECONDS = 480.0
SHOWN = 5


@dataclass(slots=True)
class Checks:
    """What was found wrong."""

    violations: list[str] = field(default_factory=list)

    def same(self, what: str, found: object, expected: object) -> None:
        """Two figures that must be equal."""
        if found != expected:
            self.violations.append(f"{what}: {found}, not {expected}")

    def none(self, what: str, found: Sequence[object]) -> None:
        """Something that must not be there."""
        if found:
            shown = "; ".join(str(one) for one in found[:SHOWN])
            self.violations.append(f"{what}: {len(found)} ({shown})")


def run(logs: Path) -> int:
    """Have it done and count; return 1 on a violation."""
    call_command("migrate", verbosity=0)
    checks, kills = Checks(), list[datetime]()
    started = time.monotonic()
    with ExitStack() as stack:
        simulator = stack.enter_context(running_simulator(log=logs / "served.jsonl", **FAULTS))
        stack.enter_context(_changing_latency(simulator))
        os.environ |= {"OPENAI_BASE_URL": simulator.base_url, "OPENAI_MODEL": MODEL}
        job = _queue_everything()
        for served in KILLED_AFTER:
            with running_worker(logs / "worker.log", WORKER):
                _wait(started, lambda: len(simulator.log.served()) >= served)  # noqa: B023
            kills.append(timezone.now())
        with running_worker(logs / "worker.log", WORKER) as last:
            ended = _wait(started, lambda: _is_done(job))
            last.finish()
        lines = simulator.log.served()
    seconds = time.monotonic() - started
    if not ended:
        checks.violations.append(f"the job did not end within {MOST_SECONDS:g} s")
    _check_items(checks, job)
    _check_labels(checks, job)
    _check_failures(checks, job)
    _check_calls(checks)
    paid = _check_payments(checks, lines, kills)
    _report(job, lines, paid, seconds)
    for violation in checks.violations:
        print(f"  VIOLATION {violation}")
    return 1 if checks.violations else 0


def _queue_everything() -> Job:
    campaign = create_campaign(slug="soak", name="Soak")[0]
    event = Event.objects.create(campaign=campaign, kind="made")
    source = QrelSource.objects.create(campaign=campaign, name="UMBRELA")
    runs = [Run.objects.create(campaign=campaign, run_id=f"run{n}", event=event) for n in range(RUNS)]
    for number in range(TOPICS):
        _make_topic(campaign, source, runs, number)
    request = Request(campaign, judge_for(""))
    return start(request, "AutoAssign A/A", plan_evaluation(request, Condition.AA))


def _make_topic(campaign: Campaign, source: QrelSource, runs: Sequence[Run], number: int) -> None:
    """Make a topic with segments of two facts each, and answers that hold some of them, each in its own words."""
    about = f"river{number} delta{number}"
    text = f"What of {about}?" if number < TOPICS - 1 else f"What of {about}? {SPOILT} {SPOILT_TOPIC}."
    topic = Topic.objects.create(campaign=campaign, topic_id=f"topic{number}", text=text, position=number + 1)
    facts = [f"The {about} holds stone{number}x{n} and sand{number}x{n}." for n in range(2 * SEGMENTS)]
    for n in range(SEGMENTS):
        docid = f"doc{number}_{n:02}"
        text = " ".join(facts[2 * n : 2 * n + 2])
        segment = Segment.objects.create(campaign=campaign, docid=docid, document=docid, has_text=True, text=text)
        Qrel.objects.create(source=source, topic=topic, segment=segment, grade=1 + n % 3)
    draw = random.Random(number)  # noqa: S311
    for run_ in runs:
        sentences = [f"{run_.run_id} writes on {about}.", *draw.sample(facts, 10)]
        if run_ == runs[0] and number < len(SPOILT_ANSWERS):
            sentences.append(f"{SPOILT} {SPOILT_ANSWERS[number]}.")
        answer = Answer.objects.create(topic=topic, words=sum(len(one.split()) for one in sentences))
        AnswerProvenance.objects.create(answer=answer, run=run_, topic=topic)
        Sentence.objects.bulk_create(
            [Sentence(answer=answer, index=n, text=text) for n, text in enumerate(sentences)]
        )


@contextmanager
def _changing_latency(simulator: Simulator) -> Iterator[None]:
    """Draw a new latency all the time while the block runs."""
    over = Signal()
    draw = random.Random(0)  # noqa: S311

    def change() -> None:
        while not over.wait(0.05):
            simulator.chooser.switch({"latency_ms": draw.randint(*LATENCY_MS)})

    simulator.chooser.switch({"latency_ms": LATENCY_MS[0]})
    thread = Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _wait(started: float, holds: Callable[[], bool]) -> bool:
    """Look until something holds; return False where the time is up."""
    while not holds():
        if time.monotonic() - started > MOST_SECONDS:
            return False
        time.sleep(0.05)
    return True


def _is_done(job: Job) -> bool:
    return Job.objects.filter(pk=job.pk, state=Job.State.DONE).exists()


def _check_items(checks: Checks, job: Job) -> None:
    """One list a topic, one item per answer and batch of it, each with one outcome."""
    states = Counter(job.items.values_list("state", flat=True))
    checks.same(
        "items that are neither done nor failed", sum(states.values()) - states["done"] - states["failed"], 0
    )
    topics = job.items.filter(kind="nuggets")
    checks.same("items of topics", topics.count(), TOPICS)
    lists = Counter(NuggetList.objects.values_list("topic", flat=True))
    checks.none("topics with several lists", [topic for topic, number in lists.items() if number > 1])
    without = {item.payload["topic"] for item in topics.filter(state="done")} - lists.keys()
    checks.none("topics done without a list", sorted(without))
    found, wanted = _keys(job), _keys_wanted()
    checks.none("answers and nuggets without an item", sorted(wanted - found))
    checks.none("answers and nuggets in several items", sorted(found - wanted))


def _keys(job: Job) -> Counter[tuple[int, int]]:
    """Count answers' nuggets over the items."""
    items = job.items.filter(kind="assign").values_list("payload", flat=True)
    return Counter((one["answer"], wording) for one in items for wording in one["nuggets"])


def _keys_wanted() -> Counter[tuple[int, int]]:
    """Return every answer with every nugget of its topic, once."""
    listed: dict[int, list[int]] = defaultdict(list)
    for topic, wording in ListedNugget.objects.values_list("nugget_list__topic_id", "nugget_version_id"):
        listed[topic].append(wording)
    answers = Answer.objects.values_list("pk", "topic_id")
    return Counter((answer, wording) for answer, topic in answers for wording in listed[topic])


def _check_labels(checks: Checks, job: Job) -> None:
    """A label for every nugget of every item that is done, and none that nobody asked for."""
    labels = Counter(Assignment.objects.values_list("answer", "nugget_version"))
    checks.none("labels doubled", [pair for pair, number in labels.items() if number > 1])
    wanted = _keys_wanted()
    checks.none("labels of nothing that was asked", sorted(labels.keys() - wanted.keys()))
    real = set(Assignment.objects.exclude(label=AssignmentLabel.FAILED).values_list("answer", "nugget_version"))
    done = job.items.filter(kind="assign", state="done").values_list("payload", flat=True)
    pairs = {(one["answer"], wording) for one in done for wording in one["nuggets"]}
    checks.none("labels lost", sorted(pairs - real))
    checks.none(
        "labels without a call", list(Assignment.objects.exclude(event__kind__startswith="llm.call")[:SHOWN])
    )


def _check_failures(checks: Checks, job: Job) -> None:
    """What had to fail did, with a reason and all its labels failed; and nothing else did."""
    spoilt = set(Sentence.objects.filter(text__startswith=SPOILT).values_list("answer", flat=True))
    topics = list(Topic.objects.filter(text__contains=SPOILT).values_list("pk", flat=True))
    checks.same("spoilt answers and topics", (len(spoilt), len(topics)), (len(SPOILT_ANSWERS), 1))
    failed = list(job.items.filter(state=WorkItem.State.FAILED))
    checks.none("failed without a reason", [item.key for item in failed if not item.reason])
    lists = [item.payload["topic"] for item in failed if item.kind == "nuggets"]
    checks.same("topics that failed", lists, topics)
    checks.none("lists of topics that failed", list(NuggetList.objects.filter(topic__in=topics)))
    assigned = {item.pk for item in failed if item.kind == "assign"}
    had_to = {item.pk for item in job.items.filter(kind="assign") if item.payload["answer"] in spoilt}
    checks.none("failed and had not to", sorted(assigned - had_to))
    checks.none("had to fail and did not", sorted(had_to - assigned))
    wanted = {pair for pair in _keys_wanted() if pair[0] in spoilt}
    labels = Assignment.objects.filter(label=AssignmentLabel.FAILED).values_list("answer", "nugget_version")
    checks.none("labels that failed and had not to, or the other way round", sorted(set(labels) ^ wanted))


def _check_calls(checks: Checks) -> None:
    """Every call has one outcome, with one event, and one attempt that brought it; every item its calls in order."""
    checks.same("calls without an outcome", Call.objects.filter(state=Call.State.SENT).count(), 0)
    checks.same("calls held", Call.objects.exclude(holder="").count(), 0)
    events = Event.objects.filter(kind__startswith="llm.call").count()
    checks.same("events of calls", events, Call.objects.exclude(event=None).count())
    answered = Attempt.objects.filter(error="", status=200, ended_at__isnull=False)
    per_call = Counter(answered.values_list("call", flat=True))
    checks.none("calls answered and not so recorded", sorted(set(per_call) ^ set(_pks(Call.State.ANSWERED))))
    checks.none("calls answered twice", [pk for pk, number in per_call.items() if number > 1])
    uses: dict[int, list[int]] = defaultdict(list)
    for item, number in CallUse.objects.order_by("item", "number").values_list("item", "number"):
        uses[item].append(number)
    checks.none(
        "items with gaps in their calls", [pk for pk, found in uses.items() if found != [*range(len(found))]]
    )
    done = WorkItem.objects.filter(state="done").values_list("pk", flat=True)
    checks.none("items done without a call", sorted(set(done) - uses.keys()))


def _pks(state: str) -> list[int]:
    return list(Call.objects.filter(state=state).values_list("pk", flat=True))


@dataclass(slots=True)
class Paid:
    """Answers beyond the first of a call, and what was under way at the kills."""

    repeats: int = 0
    under_way: int = 0
    gone: int = 0


def _check_payments(checks: Checks, lines: Sequence[Served], kills: Sequence[datetime]) -> Paid:
    """Compare the log with the attempts: an answer came again only where a kill lost the one before."""
    attempts: dict[int, list[Attempt]] = defaultdict(list)
    for attempt in Attempt.objects.order_by("call", "number"):
        attempts[attempt.call_id].append(attempt)
    calls = _calls_by_messages()
    served: dict[str, list[Served]] = defaultdict(list)
    for line in sorted(lines, key=lambda one: one.at):
        served[line.hash].append(line)
    checks.none("requests without a call", sorted(served.keys() - calls.keys()))
    paid = Paid(gone=sum(line.status == 499 for line in lines))
    for messages, pk in calls.items():
        lost = [one for one in attempts[pk] if one.ended_at is None]
        checks.none(
            f"call {pk}, open attempts of no kill", [one for one in lost if not _at_kill(one, attempts[pk], kills)]
        )
        recorded = [one.ended_at.timestamp() for one in attempts[pk] if one.ended_at and not one.error]
        answers = _answers(served[messages])
        if answers - len(recorded) > len(lost):
            checks.violations.append(f"call {pk} was answered {answers} times, {len(lost)} lost at kills")
        late = [line.n for line in served[messages] if recorded and line.at > min(recorded)]
        checks.none(f"call {pk}, requests after its answer was recorded", late)
        if len(served[messages]) > len(attempts[pk]):
            checks.violations.append(f"call {pk} was sent without an attempt")
        paid.repeats += max(0, answers - 1)
        paid.under_way += len(lost)
    most = len(kills) * 2 * LLM_CONCURRENCY
    if paid.under_way > most:
        checks.violations.append(f"{paid.under_way} attempts under way at kills, {most} are possible")
    return paid


def _calls_by_messages() -> dict[str, int]:
    """Return calls by what the simulated LLM logs of them."""
    texts = dict(Text.objects.values_list("sha256", "content"))
    found = {}
    for pk, messages in Call.objects.values_list("pk", "messages"):
        pairs = [[one["role"], texts[one["sha256"]]] for one in messages]
        written = json.dumps(pairs, ensure_ascii=False, separators=(",", ":"))
        found[hashlib.sha256(written.encode()).hexdigest()] = pk
    return found


def _answers(served: Sequence[Served]) -> int:
    """Count the answers that went out to one request. Malformed replies are answers too, cut ones are none."""
    return sum(line.status == 200 and line.fault not in {"not_json", "dropped"} for line in served)


def _at_kill(lost: Attempt, attempts: Sequence[Attempt], kills: Sequence[datetime]) -> bool:
    """Say whether an attempt was the last one of its call before a kill."""
    later = [one.sent_at for one in attempts if one.number > lost.number]
    return any(lost.sent_at <= kill <= min([*later, kill]) for kill in kills)


def _report(job: Job, lines: Sequence[Served], paid: Paid, seconds: float) -> None:
    states = Counter(job.items.values_list("state", flat=True))
    errors = Counter(Attempt.objects.exclude(error="").values_list("error", flat=True))
    faults = Counter(line.fault for line in lines if line.fault)
    nuggets = ListedNugget.objects.values("nugget_list").annotate(n=Count("pk")).values_list("n", flat=True)
    print(f"  {connection.vendor}, {seconds:.0f} s, workers killed with SIGKILL: {len(KILLED_AFTER)}")
    print(f"  lists {len(nuggets)} of {min(nuggets, default=0)} to {max(nuggets, default=0)} nuggets")
    print(
        f"  items {sum(states.values())}: {_shown(states)}; claimed again: {job.items.filter(attempt__gt=1).count()}"
    )
    print(f"  labels {Assignment.objects.count():,}")
    print(f"  calls {Call.objects.count()}, attempts {Attempt.objects.count()}, refused: {_shown(errors)}")
    print(f"  served {len(lines)}, faults: {_shown(faults)}")
    print(f"  in flight at kills {paid.under_way}, of them cut before the answer {paid.gone}")
    print(f"  answers served a second time {paid.repeats}")
    for item in job.items.filter(state=WorkItem.State.FAILED).order_by("pk")[:SHOWN]:
        print(f"  failed: {item.key}: {item.reason}")


def _shown(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "none"
