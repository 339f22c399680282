"""What came out of the soak of LLM jobs, counted against what had to, and against the simulated LLM's own log."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from evaluation.labels import AssignmentLabel
from evaluation.models import Answer, Assignment, Event, ListedNugget, NuggetList, Sentence, Topic
from jobs.models import Job, WorkItem
from llmjobs.models import Attempt, Call, CallUse, Text
from loadtest.llm.world import SPOILT, SPOILT_ANSWERS
from loadtest.servers.simulator import Served, most_within
from loadtest.violations import Checks

SHOWN = 5


def check_items(checks: Checks, job: Job) -> None:
    """One list a topic, one item per answer and batch of it, each with one outcome."""
    states = Counter(job.items.values_list("state", flat=True))
    checks.same(
        "items that are neither done nor failed", sum(states.values()) - states["done"] - states["failed"], 0
    )
    topics = job.items.filter(kind="nuggets")
    checks.same("items of topics", topics.count(), Topic.objects.count())
    lists = Counter(NuggetList.objects.values_list("topic", flat=True))
    checks.none("topics with several lists", [topic for topic, number in lists.items() if number > 1])
    without = {item.payload["topic"] for item in topics.filter(state="done")} - lists.keys()
    checks.none("topics done without a list", sorted(without))
    found, wanted = _keys(job), _keys_wanted()
    checks.none("answers and nuggets without an item", sorted(wanted - found))
    checks.none("answers and nuggets in several items", sorted(found - wanted))


def _keys(job: Job) -> Counter[tuple[int, int]]:
    items = job.items.filter(kind="assign").values_list("payload", flat=True)
    return Counter((payload["answer"], wording) for payload in items for wording in payload["nuggets"])


def _keys_wanted() -> Counter[tuple[int, int]]:
    listed: dict[int, list[int]] = defaultdict(list)
    for topic, wording in ListedNugget.objects.values_list("nugget_list__topic_id", "nugget_version_id"):
        listed[topic].append(wording)
    answers = Answer.objects.values_list("pk", "topic_id")
    return Counter((answer, wording) for answer, topic in answers for wording in listed[topic])


def check_labels(checks: Checks, job: Job) -> None:
    labels = Counter(Assignment.objects.values_list("answer", "nugget_version"))
    checks.none("labels doubled", [pair for pair, number in labels.items() if number > 1])
    wanted = _keys_wanted()
    checks.none("labels of nothing that was asked", sorted(labels.keys() - wanted.keys()))
    real = set(Assignment.objects.exclude(label=AssignmentLabel.FAILED).values_list("answer", "nugget_version"))
    done = job.items.filter(kind="assign", state="done").values_list("payload", flat=True)
    pairs = {(payload["answer"], wording) for payload in done for wording in payload["nuggets"]}
    checks.none("labels lost", sorted(pairs - real))
    checks.none(
        "labels without a call", list(Assignment.objects.exclude(event__kind__startswith="llm.call")[:SHOWN])
    )
    _check_that_none_is_invented(checks)


def _check_that_none_is_invented(checks: Checks) -> None:
    replies = dict(Call.objects.filter(state=Call.State.ANSWERED).values_list("event", "reply"))
    given = Assignment.objects.exclude(label=AssignmentLabel.FAILED).values_list("pk", "label", "event")
    invented = [
        pk for pk, label, event in given if AssignmentLabel(label).name.lower() not in replies.get(event, "")
    ]
    checks.none("labels that their reply does not have", invented)


def check_limit(checks: Checks, lines: Sequence[Served], per_minute: int) -> int:
    """No minute of the endpoint's log has more requests than the limit; return how many the fullest has."""
    most = most_within(lines, 60.0)
    if most > per_minute:
        checks.violations.append(f"{most} requests in one minute, {per_minute} are allowed")
    return most


@dataclass(frozen=True, slots=True)
class Stop:
    reason: str
    spent: int
    budget: int
    most_over: int


def check_budgets(checks: Checks, stops: Sequence[Stop], wanted: int) -> None:
    """Each budget stopped the job, and what was spent beyond it was under way."""
    checks.same("stops for a budget", len(stops), wanted)
    for stop in stops:
        if not stop.budget <= stop.spent <= stop.budget + stop.most_over:
            checks.violations.append(f"{stop.reason} {stop.spent:,} spent, {stop.most_over:,} may be over")


def check_failures(checks: Checks, job: Job) -> None:
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


def check_calls(checks: Checks) -> None:
    """Every call has one outcome, with one event, and one attempt that brought it; every item its calls in order."""
    wanted = Call.objects.exclude(template="control")  # for that no item waits: cut by a kill, it stays open
    checks.none(
        "calls without an outcome", list(wanted.filter(state=Call.State.SENT).values_list("pk", "template"))
    )
    checks.none("calls held", list(wanted.exclude(holder="").values_list("pk", "template")))
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


def check_payments(checks: Checks, lines: Sequence[Served], kills: Sequence[datetime], at_once: int) -> Paid:
    """Compare the log with the attempts: an answer came again only where a kill lost the one before.

    `kills` are when a worker or its database was killed, `at_once` is how many requests that can have cut.
    """
    attempts: dict[int, list[Attempt]] = defaultdict(list)
    for attempt in Attempt.objects.order_by("call", "number"):
        attempts[attempt.call_id].append(attempt)
    calls = _calls_by_messages()
    served: dict[str, list[Served]] = defaultdict(list)
    for line in sorted(lines, key=lambda request: request.at):
        served[line.hash].append(line)
    checks.none("requests without a call", sorted(served.keys() - calls.keys()))
    paid = Paid(gone=sum(line.status == 499 for line in lines))
    for messages, pk in calls.items():
        lost = [attempt for attempt in attempts[pk] if attempt.ended_at is None]
        checks.none(
            f"call {pk}, open attempts of no kill",
            [attempt for attempt in lost if not _at_kill(attempt, attempts[pk], kills)],
        )
        recorded = [
            attempt.ended_at.timestamp() for attempt in attempts[pk] if attempt.ended_at and not attempt.error
        ]
        answers = _answers(served[messages])
        if answers - len(recorded) > len(lost):
            checks.violations.append(f"call {pk} was answered {answers} times, {len(lost)} lost at kills")
        late = [line.n for line in served[messages] if recorded and line.at > min(recorded)]
        checks.none(f"call {pk}, requests after its answer was recorded", late)
        if len(served[messages]) > len(attempts[pk]):
            checks.violations.append(f"call {pk} was sent without an attempt")
        paid.repeats += max(0, answers - 1)
        paid.under_way += len(lost)
    most = len(kills) * at_once
    if paid.under_way > most:
        checks.violations.append(f"{paid.under_way} attempts under way at kills, {most} are possible")
    return paid


def _calls_by_messages() -> dict[str, int]:
    texts = dict(Text.objects.values_list("sha256", "content"))
    found = {}
    for pk, messages in Call.objects.values_list("pk", "messages"):
        pairs = [[message["role"], texts[message["sha256"]]] for message in messages]
        written = json.dumps(pairs, ensure_ascii=False, separators=(",", ":"))
        found[hashlib.sha256(written.encode()).hexdigest()] = pk
    return found


def _answers(served: Sequence[Served]) -> int:
    """Count the answers that went out to one request. Malformed replies are answers too, cut ones are none."""
    return sum(line.status == 200 and line.fault not in {"not_json", "dropped"} for line in served)


def _at_kill(lost: Attempt, attempts: Sequence[Attempt], kills: Sequence[datetime]) -> bool:
    later = [attempt.sent_at for attempt in attempts if attempt.number > lost.number]
    return any(lost.sent_at <= kill <= min([*later, kill]) for kill in kills)
