"""What machines are told: ready or not, to everybody; what was checked, and the figures, to who has the token."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from accounts.models import User
from config import monitoring
from config.monitoring import exposition
from evaluation.append_only import remove_triggers
from jobs.models import Job, Worker, WorkItem
from llmjobs.models import Attempt, Call

pytestmark = pytest.mark.django_db
TOKEN = "a token of these tests"
WITH_TOKEN = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture(autouse=True)
def token(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


@pytest.fixture(autouse=True)
def _forgets_migrations() -> None:
    monitoring._remember.cache_clear()


def details() -> dict[str, Any]:
    document: dict[str, Any] = Client().get("/readyz", headers=WITH_TOKEN).json()
    return document


def figures() -> dict[str, float]:
    return {
        f"{sample.name}{sorted(sample.labels.values())}": sample.value
        for family in text_string_to_metric_families(exposition().decode())
        for sample in family.samples
    }


@pytest.fixture
def job() -> Job:
    job = Job.objects.create(kind="llm", title="a job")
    Job.objects.update(made_at=timezone.now() - timedelta(hours=1))
    WorkItem.objects.create(job=job, key="due", kind="assign")
    ended = timezone.now() - timedelta(minutes=20)
    WorkItem.objects.create(job=job, key="done", kind="assign", state="done", ended_at=ended)
    return job


def test_it_is_ready_while_the_tables_are_of_this_version() -> None:
    assert Client().get("/readyz").content == b"ready\n"
    monitoring._remember.cache_clear()
    (newest,) = MigrationLoader(connection).graph.leaf_nodes("evaluation")
    MigrationRecorder(connection).record_unapplied(*newest)
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.content) == (503, b"not ready\n")
    assert ".".join(newest) in details()["problems"][0]


def test_details_are_for_administrators_and_the_token() -> None:
    client, person = Client(), User.objects.create(username="person")
    client.force_login(person)
    assert client.get("/readyz").content == b"ready\n"
    assert Client().get("/readyz", headers={"authorization": "Bearer another"}).content == b"ready\n"
    client.force_login(User.objects.create(username="admin", is_staff=True))
    assert client.get("/readyz").json()["checks"].keys() == details()["checks"].keys()


def test_a_queue_without_a_worker_is_told_and_leaves_the_pages_ready(job: Job) -> None:
    document = details()
    assert document["status"] == "ready"
    assert document["problems"] == ["queue: 1 items are due and no worker is alive"]
    queue = document["checks"]["queue"]
    assert 3590 < queue["oldest_due_seconds"] < 3700
    assert 1190 < queue["last_ended_seconds"] < 1300
    Worker.objects.create(name="one", started_at=timezone.now(), seen_at=timezone.now())
    assert "none ended for 12" in details()["problems"][0]
    WorkItem.objects.filter(key="done").update(ended_at=timezone.now())
    document = details()
    assert document["problems"] == []
    assert document["checks"]["queue"]["newest_heartbeat_seconds"] < 60


def test_missing_triggers_and_a_broker_that_is_away_are_told(settings: Any) -> None:
    remove_triggers()
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    document = details()
    assert document["status"] == "ready"
    assert {name for name, check in document["checks"].items() if not check["ok"]} == {"triggers", "broker"}


def test_figures_are_for_who_has_the_token(settings: Any) -> None:
    assert Client().get("/metrics").status_code == 404
    assert Client().get("/metrics", headers={"authorization": "Bearer another"}).status_code == 404
    assert Client().get("/metrics", headers=WITH_TOKEN).status_code == 200
    settings.METRICS_TOKEN = ""
    for header in ("Bearer ", "", f"Bearer {TOKEN}"):
        assert Client().get("/metrics", headers={"authorization": header}).status_code == 404


def test_figures_tell_queue_workers_and_calls(job: Job) -> None:
    Worker.objects.create(name="one", started_at=timezone.now(), seen_at=timezone.now())
    call = Call.objects.create(
        sha256="a", parameters={}, messages=[], template_version=1, state="answered", prompt_tokens=30
    )
    Attempt.objects.create(call=call, number=1, sent_at=timezone.now(), ended_at=timezone.now(), error="timeout")
    Attempt.objects.create(call=call, number=2, sent_at=timezone.now(), ended_at=timezone.now())
    found = figures()
    assert found["assay_queue_items['due']"] == 1
    assert found["assay_workers_alive[]"] == 1
    assert found["assay_saves_total[]"] == 0
    assert found["assay_llm_calls_total['answered']"] == 1
    assert found["assay_llm_attempts_total['timeout']"] == 1
    assert found["assay_llm_attempts_total['answered']"] == 1
    assert found["assay_llm_tokens_total['prompt']"] == 30
    assert found["assay_queue_oldest_due_seconds[]"] > 3590


def test_requests_are_counted_by_view_and_neither_by_id_nor_by_person() -> None:
    client, person = Client(), User.objects.create(username="canary-person")
    client.force_login(person)
    for path in ("/desk/", "/desk/canary-task/", "/desk/canary-other/", "/canary-nothing"):
        client.get(path)
    text = exposition().decode()
    assert "canary" not in text
    labels = {frozenset(re.findall(r"(\w+)=", line)) for line in text.splitlines() if "assay_http" in line}
    assert labels - {frozenset()} == {
        frozenset({"view", "method", "status"}),
        frozenset({"view"}),
        frozenset({"view", "le"}),
    }
    assert 'assay_http_requests_total{method="GET",status="404",view="none"}' in text


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db")
def test_it_is_not_ready_while_nothing_can_be_written() -> None:
    with read_only():
        assert Client().get("/healthz").content == b"ok\n"
        answer = Client().get("/readyz")
        assert (answer.status_code, answer.content) == (503, b"not ready\n")
        document = details()
        assert document["status"] == "not ready"
        assert [problem.partition(":")[0] for problem in document["problems"]] == ["writes"]
    assert Client().get("/readyz").content == b"ready\n"


@contextmanager
def read_only() -> Iterator[None]:
    """Refuse each write of this connection, as on a full disk."""
    begin, end = "PRAGMA query_only = 1", "PRAGMA query_only = 0"
    if connection.vendor == "postgresql":
        begin, end = (f"SET default_transaction_read_only = {state}" for state in ("on", "off"))
    with connection.cursor() as cursor:
        cursor.execute(begin)
        try:
            yield
        finally:
            cursor.execute(end)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("transactional_db")
def test_a_long_write_of_another_process_leaves_it_ready() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("only SQLite has one lock for all")
    other = sqlite3.connect(connection.settings_dict["NAME"])
    other.execute("BEGIN IMMEDIATE")
    try:
        assert Client().get("/readyz").content == b"ready\n"
    finally:
        other.close()
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA busy_timeout").fetchone()[0] == 20_000
