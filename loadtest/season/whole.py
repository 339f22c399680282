"""A season in fast motion: a campaign from its drafts to its last label, on the production shape, while parts restart.

Assessors post-edit, assign and judge support, two organizers hand out and start LLM jobs, all over HTTP: two web
processes behind a proxy, two workers, PostgreSQL and Redis, each of which is killed or restarted on the way. At the
end the database is compared with what everybody did and was told; backups taken meanwhile must be one state.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.conf import settings
from django.db import connection, connections

from assessor.models import Operation
from evaluation.models import Assignment, Event, NuggetList, SupportJudgment, Task
from evaluation.stages import ASSIGN, POST_EDIT, SUPPORT_POST_EDIT, SUPPORT_SCRATCH
from evaluation.terms import Origin, TaskState
from exchange.backup import read_manifest
from jobs.models import Job, WorkItem
from llmjobs.simulator.answering import MODEL
from loadtest.consistency import inconsistencies
from loadtest.desk.checks import compare
from loadtest.desk.judging_load import print_times, served_as
from loadtest.desk.plan import Plan, alongside, run_all
from loadtest.desk.seats import own_connection
from loadtest.season.people import STAGES, Organizer, Season, SeasonAssessor
from loadtest.season.world import SeasonWorld, make_season
from loadtest.servers.proxy import Proxy
from loadtest.servers.services import Services
from loadtest.servers.simulator import running_simulator
from loadtest.servers.tables import make_migrated_tables
from loadtest.servers.web import WebProcess, running_web
from loadtest.servers.worker import WorkerProcess, running_worker
from loadtest.violations import Checks, Loss, Violations, print_violations

LONGEST = 6.0
"""So many times the wished length may pass until the season counts as stuck; and some minutes."""

TOPICS, ROUNDS = 1.5, (6, 14)  # topics for each assessor; rounds of work for each list
SECONDS_AN_ANSWER, SECONDS_A_LABEL = 120.0, 1 / 240
WORKER = {"JOB_LEASE_SECONDS": "5", "LLM_CONCURRENCY": "2"}
CONSISTENT = "from loadtest.consistency import tell; tell()"


@dataclass(frozen=True, slots=True)
class Act:
    name: str
    do: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Backup:
    file: Path
    before: int
    after: int
    seconds: float


@dataclass(slots=True)
class Installation:
    services: Services
    logs: Path
    webs: list[WebProcess]
    workers: list[WorkerProcess]
    proxy: Proxy
    backups: list[Backup] = field(default_factory=list)
    happened: list[str] = field(default_factory=list)


def run(
    logs: Path,
    services: Services,
    assessors: int,
    seconds: float,
    spoil: bool,
    every: float,  # of the judging soaks; here it follows from the seconds
) -> int:
    """Have a season, of about that length on a machine that can, and compare; return 1 on a violation."""
    make_migrated_tables()
    world = make_season(assessors, round(assessors * TOPICS), max(2, round(seconds / SECONDS_AN_ANSWER)))
    connections.close_all()
    violations, refused, started = Violations(), list[str](), time.monotonic()
    with _installed(logs, services, seconds) as here:
        season = _season(world, here.proxy.address, seconds, violations, refused)
        people = [SeasonAssessor(seat, season, number) for number, seat in enumerate(world.assessors)]
        heads = _organizers(season)
        with _happening(here, seconds, season):
            run_all([*people, *heads], season.plan.stopped)
        passed = time.monotonic() - started
        for worker in here.workers:
            worker.stop()
        with own_connection():
            _compare(season, people, violations, Loss(wanted=spoil))
        for backup in here.backups:
            _check_backup(backup, services, violations)
    (logs / "violations.txt").write_text("\n".join(violations.found), encoding="utf-8")
    print_violations(violations.found)
    print_times(season.plan.times, passed)
    for line in (*here.happened, *(f"left out: {what}" for what in services.left_out)):
        print(f"  {line}")
    counts = sum([person.counts for person in people] + [head.counts for head in heads], start=Counter[str]())
    _report(season, counts, passed, f"{len(refused):,} answers of 5xx, {len(violations.found)} violations")
    return 1 if violations.found else 0


@contextmanager
def _installed(logs: Path, services: Services, seconds: float) -> Iterator[Installation]:
    """Run two web processes behind a proxy and two workers while the block runs, with an LLM that they may ask."""
    with ExitStack() as stack:
        simulator = stack.enter_context(running_simulator(log=logs / "served.jsonl", latency_ms=20))
        os.environ |= {"OPENAI_BASE_URL": simulator.base_url, "OPENAI_MODEL": MODEL, "LOG_FORMAT": "json"}
        own = served_as(seconds) | {"WEB_WORKERS": "1"}
        webs = [stack.enter_context(running_web(logs / f"web{n}.log", own=own)) for n in range(2)]
        workers = [stack.enter_context(running_worker(logs / f"worker{n}.log", WORKER)) for n in range(2)]
        proxy = Proxy(logs, [web.address for web in webs])
        stack.callback(proxy.stop)
        proxy.start()
        yield Installation(services, logs, webs, workers, proxy)


def _season(
    world: SeasonWorld, address: str, seconds: float, violations: Violations, refused: list[str]
) -> Season:
    ends = time.monotonic() + seconds * LONGEST + 240
    plan = Plan(
        address,
        ends,
        violations.add,
        refused.append,
        every=seconds * SECONDS_A_LABEL,
        rounds=ROUNDS,
        finished=1.0,
        sessions_end=False,  # the database may be away just then
    )
    return Season(world, plan)


def _organizers(season: Season) -> list[Organizer]:
    topics = list(season.world.topics)
    shown, scratch = topics[::2], topics[1::2]

    def lists(olga: Organizer) -> None:
        olga.await_job(olga.start_job("drafts", qrels="NIST"))
        olga.hand_out(POST_EDIT, topics)
        olga.hand_out(ASSIGN, topics, nuggets=f"origin:{Origin.EDITED}")
        olga.await_job(olga.start_job("E/A"))

    def citations(omar: Organizer) -> None:
        omar.hand_out(SUPPORT_SCRATCH, scratch)
        omar.await_job(omar.start_job("support"))
        omar.hand_out(SUPPORT_POST_EDIT, shown, judge=MODEL)

    return [
        Organizer(seat, season, number, duties)
        for number, (seat, duties) in enumerate(zip(season.world.organizers, (lists, citations), strict=True))
    ]


def _acts(here: Installation) -> list[Act]:
    """Return what happens, in this order: each part is restarted, and two backups are taken."""

    def restart(stop: Callable[[], None], start: Callable[[], None]) -> Callable[[], None]:
        def both() -> None:
            stop()
            start()

        return both

    def kept(name: str) -> Act:
        return Act("backup", lambda: here.backups.append(_take_backup(here.logs / name)))

    found = [
        Act("first worker killed", restart(here.workers[0].kill, here.workers[0].start)),
        Act("first web process killed", restart(here.webs[0].kill, here.webs[0].start)),
        kept("first.tar"),
        Act("second web process restarted", restart(here.webs[1].stop, here.webs[1].start)),
        Act("second worker restarted", restart(here.workers[1].stop, here.workers[1].start)),
        Act("proxy restarted", restart(here.proxy.stop, here.proxy.start)),
    ]
    if here.services.cluster:
        found.insert(
            3, Act("PostgreSQL restarted", restart(here.services.cluster.stop, here.services.cluster.start))
        )
    if here.services.redis:
        found.insert(6, Act("Redis restarted", restart(here.services.redis.stop, here.services.redis.start)))
    return [*found, kept("second.tar")]


def _happening(here: Installation, seconds: float, season: Season) -> AbstractContextManager[None]:
    """Let one thing after the other happen while the block runs: each when its share of the tasks is submitted.

    So all of it happens in the middle of the work, however fast that goes; and there is calm between.
    """
    acts = _acts(here)
    wanted = STAGES * len(season.world.topics)

    def happen() -> None:
        for number, act in enumerate(acts):
            season.begun = wanted * (number + 2) / len(acts)
            season.plan.stopped.wait(seconds / (2 * len(acts)))
            while len(season.submitted) < wanted * number / len(acts) and not season.is_over:
                time.sleep(0.1)
            began, submitted = time.monotonic(), len(season.submitted)
            try:
                act.do()
            except Exception as error:
                season.plan.violation(f"{act.name}: {type(error).__name__} {error}")
            here.happened.append(
                f"{act.name}: took {time.monotonic() - began:.1f} s, {submitted} tasks were submitted before"
            )

    return alongside(happen, end=lambda: None)


def _manage(*words: str, **own: str) -> str:
    command = [sys.executable, "manage.py", *words]
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env=os.environ | own, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{words[0]}: {done.stderr[-600:]}")
    return done.stdout


def _take_backup(file: Path) -> Backup:
    with own_connection():
        before, began = Operation.objects.count(), time.monotonic()
        _manage("backup", str(file))
        return Backup(file, before, Operation.objects.count(), time.monotonic() - began)


def _check_backup(backup: Backup, services: Services, violations: Violations) -> None:
    """It comes back into an empty database, and is one state: of a moment between its beginning and its end."""
    with psycopg.connect(services.database_url, autocommit=True) as server:
        server.execute("DROP DATABASE IF EXISTS restored WITH (FORCE)")
        server.execute("CREATE DATABASE restored")
    other = urlunsplit(urlsplit(services.database_url)._replace(path="/restored"))
    _manage("restore", str(backup.file), DATABASE_URL=other)
    restored = json.loads(_manage("shell", "--no-imports", "-c", CONSISTENT, DATABASE_URL=other))
    for violation in restored["violations"]:
        violations.add(f"{backup.file.name}: {violation}")
    rows = read_manifest(backup.file).rows
    if restored["rows"] != rows:
        violations.add(f"{backup.file.name} has other rows than it was taken with")
    if not backup.before <= rows["assessor_operation"] <= backup.after:
        violations.add(f"{backup.file.name} has {rows['assessor_operation']} operations, {backup}")


def _compare(season: Season, people: Sequence[SeasonAssessor], violations: Violations, loss: Loss) -> None:
    """What is stored is what everybody did and was told, and nothing else."""
    tasks = {task.public_id: task for task in Task.objects.all()}
    counts = Counter[str]()
    for person in people:
        for card, ledger in person.done:
            compare(tasks[card.task].pk, ledger, loss, counts, violations.of(person.seat.username, card.task))

    checks = Checks()
    checks.same("operations in the log", Operation.objects.count(), counts["operations"])
    checks.same("tasks", set(tasks), season.submitted)
    states = Counter(task.state for task in tasks.values())
    checks.same("states of tasks", states, Counter({TaskState.SUBMITTED.value: len(tasks)}))
    checks.same("tasks by stage", Counter(task.stage for task in tasks.values()), season.handed)
    checks.same("tasks handed out, by the log", Event.objects.filter(kind="task.handed_out").count(), len(tasks))
    checks.same("jobs", sorted(map(str, Job.objects.values_list("pk", flat=True))), sorted(season.jobs))
    for what in (*checks.violations, *_labels(season.world), *inconsistencies()):
        violations.add(what)


def _labels(world: SeasonWorld) -> Iterator[str]:
    """The LLM made a list of drafts for each topic, and gave each nugget of each list and each citation one label."""
    states = Counter(WorkItem.objects.values_list("state", flat=True))
    if set(states) != {WorkItem.State.DONE}:
        yield f"items of LLM jobs ended {dict(states)}"
    drafts = NuggetList.objects.filter(nugget_set__origin=Origin.DRAFT).count()
    if drafts != len(world.topics):
        yield f"{drafts} lists of drafts for {len(world.topics)} topics"
    people = Counter(Assignment.objects.current().filter(judge__model="").values_list("answer", "nugget_version"))
    llm = Counter(Assignment.objects.filter(judge__model=MODEL).values_list("answer", "nugget_version"))
    if set(people) != set(llm) or {*people.values(), *llm.values()} != {1}:
        apart = len(set(people) ^ set(llm))
        yield f"{people.total()} labels by people, {llm.total()} by the LLM, {apart} apart"
    cited: dict[str, Counter[object]] = {}
    for model in ("", MODEL):
        given = SupportJudgment.objects.current().filter(judge__model=model)
        cited[model] = Counter(given.values_list("sentence", "segment"))
    if cited[""] != cited[MODEL] or set(cited[MODEL].values()) != {1}:
        yield f"{cited[''].total()} citations judged by people, {cited[MODEL].total()} by the LLM"


def _report(season: Season, counts: Counter[str], seconds: float, ended: str) -> None:
    """Print what came out of it, in the form that tests read."""
    through = "nginx" if Proxy.program() else "a small proxy"
    wanted = STAGES * len(season.world.topics)
    with own_connection():
        operations, items = Operation.objects.count(), WorkItem.objects.count()
    print(
        f"  {connection.vendor}, {through}, {seconds:.0f} s, {len(season.world.assessors)} assessors, 2 organizers, "
        f"{len(season.world.topics)} topics: {len(season.submitted)} of {wanted} tasks submitted, {operations:,} "
        f"operations, {items:,} LLM items, {counts['unanswered']:,} requests unanswered, {ended}"
    )
