"""Every address of the API by every method, as everybody: who may, who is told that they may not, who finds nothing."""

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern
from django.utils.timezone import now

from accounts.models import ApiToken, User
from accounts.tokens import Scope, make_token, revoke_token
from api.collections import COLLECTIONS
from api.provenance import EXPLAINED
from api.urls import urlpatterns
from evaluation.models import Judge, Judgment, Segment
from evaluation.stages import GRADE
from evaluation.terms import StudyKind
from llmjobs.models import LlmJob
from reports.random_checks.drawing import RandomCheckOrder, create_random_check
from reports.registry import documents
from tests.worlds.blind import make_blind_world
from tests.worlds.cast import make_user
from tests.worlds.desk import DeskWorld

pytestmark = pytest.mark.django_db

WHO = (
    "nobody",
    "stranger",
    "assessor",
    "organizer",
    "researcher",
    "auditor",
    "admin",
    "both",
    "reads",
    "writes",
    "expired",
    "revoked",
)
"""`both`: an assessor who organizes the same campaign. After the line: tokens of the organizer's that only read, only
write, have ended, and were revoked."""

PEOPLE = {
    "stranger": "sam",
    "assessor": "ann",
    "organizer": "olga",
    "researcher": "rita",
    "auditor": "audrey",
    "admin": "ada",
    "both": "dora",
}

LIST = "401 200 200 200 200 200 200 200 | 200 403 401 401"
ROW = "401 404 404 200 200 200 200 404 | 200 403 401 401"
NEEDS_CAMPAIGN = "401 400 400 200 200 200 200 400 | 200 403 401 401"
NO_WAY = "401 405 405 405 405 405 405 405 | 403 405 401 401"
NO_READ = "401 405 405 405 405 405 405 405 | 405 403 401 401"
OPEN = "200 200 200 200 200 200 200 200 | 200 200 200 200"

# The world has no second look, and no battle that people judged; a random check has a report of its own.
NOT_HERE = {"study": NEEDS_CAMPAIGN.replace("200", "422"), "battles": NEEDS_CAMPAIGN.replace("200", "422")}
REPORTS = "\n".join(f"GET  reports-{name} {NOT_HERE.get(name, NEEDS_CAMPAIGN)}" for name in documents())

TABLE = f"""
GET  campaigns                  {LIST}
GET  topics                     {LIST}
GET  segments                   {LIST}
GET  runs                       {LIST}
GET  answers                    {LIST}
GET  nugget-sets                {LIST}
GET  nuggets                    {LIST}
GET  assignments                {LIST}
GET  support-judgments          {LIST}
GET  judgments                  {LIST}
GET  battle-sets                {LIST}
GET  battles                    {LIST}
GET  verdicts                   {LIST}
GET  grades                     {LIST}
GET  judges                     {LIST}
GET  studies                    {LIST}
GET  jobs                       {LIST}
GET  tasks                      {LIST}
GET  time                       {LIST}
GET  scores                     {NEEDS_CAMPAIGN}
GET  fingerprint                {NEEDS_CAMPAIGN}
GET  events                     {LIST}
GET  findings                   {LIST}
GET  campaigns-row              {ROW}
GET  topics-row                 {ROW}
GET  segments-row               {ROW}
GET  runs-row                   {ROW}
GET  answers-row                {ROW}
GET  nugget-sets-row            {ROW}
GET  nuggets-row                {ROW}
GET  assignments-row            {ROW}
GET  support-judgments-row      {ROW}
GET  judgments-row              {ROW}
GET  battle-sets-row            {ROW}
GET  battles-row                {ROW}
GET  verdicts-row               {ROW}
GET  battle-sets-leaderboard    {ROW.replace("200", "422")}
GET  grades-row                 {ROW}
GET  assignments-provenance     {ROW}
GET  support-judgments-provenance {ROW}
GET  nuggets-provenance         {ROW}
GET  grades-provenance          {ROW}
GET  verdicts-provenance        {ROW}
GET  studies-row                {ROW}
{REPORTS}
GET  jobs-row                   {ROW}
GET  tasks-row                  401 404 200 200 200 200 200 404 | 200 403 401 401
GET  events-row                 {ROW}
GET  findings-row               {ROW}
GET  root                       {LIST}
GET  account                    {LIST}
GET  schema                     {OPEN}
GET  docs                       {OPEN}
POST schema                    405 405 405 405 405 405 405 405 | 405 405 405 405
POST docs                      405 405 405 405 405 405 405 405 | 405 405 405 405
PUT  docs                      405 405 405 405 405 405 405 405 | 405 405 405 405
PATCH docs                      405 405 405 405 405 405 405 405 | 405 405 405 405
DELETE docs                      405 405 405 405 405 405 405 405 | 405 405 405 405
GET  nothing                    401 404 404 404 404 404 404 404 | 404 403 401 401

POST campaigns                  401 403 403 403 403 403 201 403 | 403 403 401 401
POST tasks                      401 404 404 201 403 403 201 404 | 403 201 401 401
POST jobs                       401 404 404 201 403 403 201 404 | 403 201 401 401
POST judges                     401 404 404 201 403 403 201 404 | 403 201 401 401
POST nugget-sets                401 404 404 200 403 403 200 404 | 403 200 401 401
POST import-topics              401 404 404 200 403 403 200 404 | 403 200 401 401
POST import-segments            401 404 404 422 403 403 422 404 | 403 422 401 401
POST import-qrels               401 404 404 422 403 403 422 404 | 403 422 401 401
POST import-run                 401 404 404 422 403 403 422 404 | 403 422 401 401
POST import-traces              401 404 404 422 403 403 422 404 | 403 422 401 401
POST import-nuggets             401 404 404 422 403 403 422 404 | 403 422 401 401
POST import-assignments         401 404 404 422 403 403 422 404 | 403 422 401 401
POST import-support             401 404 404 422 403 403 422 404 | 403 422 401 401
POST import-battles             401 404 404 422 403 403 422 404 | 403 422 401 401
POST import-scores              401 404 404 422 403 403 422 404 | 403 422 401 401
POST gates                      401 404 404 200 403 403 200 404 | 403 200 401 401
POST undo-import                401 404 404 422 403 403 422 404 | 403 422 401 401
POST campaign-delete            401 404 404 200 403 403 200 404 | 403 200 401 401
POST task-changes               401 404 404 200 403 403 200 404 | 403 200 401 401
POST task-reopen                401 404 404 422 403 403 422 404 | 403 422 401 401
POST task-block                 401 404 404 200 403 403 200 404 | 403 200 401 401
POST task-unblock               401 404 404 422 403 403 422 404 | 403 422 401 401
POST task-withdraw              401 404 404 200 403 403 200 404 | 403 200 401 401
POST task-reschedule            401 404 404 200 403 403 200 404 | 403 200 401 401
POST task-reassign              401 404 404 201 403 403 201 404 | 403 201 401 401
POST job-pause                  401 404 404 200 403 403 200 404 | 403 200 401 401
POST job-resume                 401 404 404 422 403 403 422 404 | 403 422 401 401
POST job-cancel                 401 404 404 200 403 403 200 404 | 403 200 401 401
POST job-retry                  401 404 404 422 403 403 422 404 | 403 422 401 401
PUT  nothing                    401 404 404 404 404 404 404 404 | 403 404 401 401
PATCH nothing                   401 404 404 404 404 404 404 404 | 403 404 401 401
DELETE nothing                  401 404 404 404 404 404 404 404 | 403 404 401 401
POST nothing                    401 404 404 404 404 404 404 404 | 403 404 401 401
"""
"""`GET tasks-row` is a task of the assessor's own. Whatever stands here under no method answers
as `NO_WAY`, a GET as `NO_READ`."""

SENT: dict[str, Any] = {
    "campaigns": {"slug": "lake", "name": "Lakes"},
    "tasks": {"campaign": "river", "stage": "manual", "topics": ["t3"], "assessor": "ann", "again": True},
    "jobs": {"campaign": "river", "work": "relevance", "source": "another"},
    "judges": {"campaign": "river", "name": "o3", "temperature": None},
    "nugget-sets": {"campaign": "river"},
    "gates": {"campaign": "river", "condition": "A/A", "candidate": "nobody"},
    "import-topics": b"t9\twhere springs rise\n",
    "campaign-delete": {"name": "river"},
    "job-resume": {"max_requests": 5},
    "task-reschedule": {"due": None, "priority": 1},
    "task-reassign": {"assessor": "ben", "reason": "Away."},
}
REASON = {"reason": "Because."}
QUERIES = {
    "scores": "campaign=river&condition=A/A",
    **{f"reports-{name}": "campaign=river" for name in documents()},
    "reports-corrected": "campaign=river&study=by+chance",
    "reports-scores": "campaign=river&condition=A/A",
    "reports-samples": "campaign=river&condition=A/A",
    "reports-comparisons": "campaign=river&condition=A/A",
    "reports-support-comparisons": "campaign=river&condition=llm",
    "reports-judges": "campaign=river&truth=E/M&on_missing=warn",
    "reports-support": "campaign=river&condition=llm",
    "reports-study": "campaign=river&study=by+chance",
    "reports-battles": "campaign=river&condition=B/M",
    "battle-sets-leaderboard": "condition=B/M",
    "reports-correlation": "campaign=river&x=A/A&y=E/M",
    "reports-confusion": "campaign=river&rows=E/A&columns=E/M",
    "reports-support-correlation": "campaign=river&x=llm&y=scratch",
    "reports-support-confusion": "campaign=river&rows=llm&columns=scratch",
    "fingerprint": "campaign=river&condition=A/A&run=heron",
    "import-qrels": "source=NIST",
    "import-nuggets": "origin=auto&judge=m1",
    "import-assignments": "origin=auto&judge=m1&by=llm",
    "import-support": "judge=m1&by=llm",
    "import-battles": "by=human",
    "import-scores": "condition=published",
}


@pytest.fixture
def world(tmp_path: Path) -> DeskWorld:
    made, _ = make_blind_world(tmp_path, with_canaries=False)
    made.people["ada"] = make_user("ada", is_superuser=True)
    create_random_check(campaign=made.campaign, order=RandomCheckOrder("by chance", StudyKind.ASSIGNMENT))
    return made


def numbers(row: str) -> list[int]:
    return [int(word) for word in row.split() if word != "|"]


def table() -> dict[tuple[str, str], list[int]]:
    lines = [line.split(maxsplit=2) for line in TABLE.splitlines() if line]
    return {(method, name): numbers(row) for method, name, row in lines}


def routes() -> dict[str, str]:
    """The addresses by their names; of two spellings the one with a slash at its end."""
    found = {str(route.name): f"/api/{route.pattern}" for route in urlpatterns if isinstance(route, URLPattern)}
    return dict(sorted(found.items()))


def tokens(world: DeskWorld) -> dict[str, str]:
    raws = {role: _token(world.people[name], *Scope)[1] for role, name in PEOPLE.items()}
    olga = world.people["olga"]
    raws["reads"], raws["writes"] = _token(olga, Scope.READ)[1], _token(olga, Scope.WRITE)[1]
    ended, raws["expired"] = _token(olga, *Scope)
    ApiToken.objects.filter(pk=ended.pk).update(expires_at=now())
    revoked, raws["revoked"] = _token(olga, *Scope)
    revoke_token(token=revoked)
    return raws


def _token(user: User, *scopes: Scope) -> tuple[ApiToken, str]:
    return make_token(user=user, name="program", scopes=scopes, expires_at=now() + timedelta(days=1))


def places(world: DeskWorld) -> dict[str, str]:
    olga = world.people["olga"]
    found = {}
    _grade_a_passage(world)
    for collection in COLLECTIONS:
        if collection.found_by:
            reader = collection.reader(olga, "default")
            found[f"{collection.name}-row"] = str(
                reader.rows().order_by("pk").values_list(reader.row_path, flat=True)[0]
            )
    found["tasks-row"] = world.manual.public_id
    found["battle-sets-leaderboard"] = found["battle-sets-row"]
    found |= {f"{collection.name}-provenance": found[f"{collection.name}-row"] for collection in EXPLAINED}
    return found


def _grade_a_passage(world: DeskWorld) -> None:
    passage = Segment.objects.filter(campaign=world.campaign)[0]
    Judgment.objects.get_or_create(
        stage=GRADE,
        topic=world.campaign.topics.all()[0],
        unit=passage.public_id,
        judge=Judge.objects.all()[0],
        defaults={"segment": passage, "label": 1, "given_at": now()},
    )


def address(route: str, name: str, world: DeskWorld, rows: dict[str, str]) -> str:
    values = {"slug:slug": "river", "slug:public_id": world.manual.public_id, "anything:rest": "nowhere/"}
    values["slug:number"] = "e999999"
    values["int:pk"] = rows["jobs-row"]
    if name in rows:
        values = dict.fromkeys(values, rows[name])
    for parameter, value in values.items():
        route = route.replace(f"<{parameter}>", value)
    return f"{route}?{QUERIES.get(name, '')}"


def body_for(name: str, world: DeskWorld) -> Any:
    if name == "task-changes":
        return {"campaign": "river", "change": "block", "tasks": [world.manual.public_id], **REASON}
    usual = b"" if name.startswith("import-") else REASON if name.startswith("task-") else {}
    return SENT.get(name, usual)


def status_of(client: Client, method: str, path: str, body: Any, raw: str | None) -> int:
    """Send a request of which nothing stays, and return what came of it."""
    headers = {"Authorization": f"Bearer {raw}"} if raw else {}
    binary = isinstance(body, bytes)
    kind = "application/octet-stream" if binary else "application/json"
    sent = body if binary else json.dumps(body)
    with transaction.atomic():
        response = client.generic(method, path, b"" if method == "GET" else sent, kind, headers=headers)
        transaction.set_rollback(True)
    return response.status_code


def test_every_address_has_a_row() -> None:
    assert {name for _, name in table()} == set(routes())
    assert all(len(row) == len(WHO) for row in table().values())


@pytest.mark.slow
def test_everybody_may_what_the_table_says_and_nothing_else(world: DeskWorld, client: Client) -> None:
    rows, raws, statuses = places(world), tokens(world), table()
    LlmJob.objects.get().job.items.update(state="queued")
    wrong = []
    for name, route in routes().items():
        path, body = address(route, name, world, rows), body_for(name, world)
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            for who, status in expected(statuses.get((method, name)), method).items():
                found = status_of(client, method, path, body, raws.get(who))
                if found != status:
                    wrong.append(f"{method} {name} as {who}: {found}, not {status}")
    assert not wrong, "\n".join(wrong)


def expected(row: list[int] | None, method: str) -> dict[str, int]:
    """The statuses by who asks. What nobody may is tried by whoever may most, and where there is time by everybody."""
    if row:
        everybody = dict(zip(WHO, row, strict=True))
        return everybody if set(row) != {200} else {"nobody": row[0], "admin": row[0]}
    everybody = dict(zip(WHO, numbers(NO_READ if method == "GET" else NO_WAY), strict=True))
    return {"admin": everybody["admin"]} if os.environ.get("CI") or method not in ("GET", "POST") else everybody
