"""Every address, asked by every role in every method, against the table. An address without a line fails."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.db import models, transaction
from django.http import QueryDict
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import ApiToken, Invitation, User
from assessor.models import PracticeItem
from evaluation.models import (
    Answer,
    Assignment,
    Battle,
    Event,
    Judge,
    ListedNugget,
    Membership,
    NuggetList,
    Qrel,
    RandomCheckPair,
    Remark,
    Run,
    Segment,
    Study,
    StudyPair,
    SupportJudgment,
    TaskAnswer,
    Topic,
    Verdict,
)
from evaluation.terms import DrawKind, JudgeKind, PracticeKind, Role, StudyKind, SupportCondition
from exchange.models import Export, ImportAttempt
from exchange.snapshots.pack import SnapshotContents
from exchange.snapshots.service import take_snapshot
from jobs.models import Job, Notice, WorkItem
from llmjobs.models import Connection, LlmJob, NuggetCalls, Trial
from reports.leaderboard.page import LeaderboardReport, leaderboard_page
from reports.registry import pages
from tests.assessor.desk_client import Window
from tests.crawl.addresses import FILES, PARAMETER, plain
from tests.crawl.desk_requests import bodies, encoded
from tests.crawl.permissions_table import KINDS, OUTCOMES, ROLES, ROUTES
from tests.crawl.walking import FORM, JSON, known_to
from tests.worlds.blind import make_blind_world, passage_of
from tests.worlds.cast import make_user
from tests.worlds.desk import MACHINE, DeskWorld
from tests.worlds.jobs import make_call
from tests.worlds.judging_desk import make_judge_world
from web.typed import OUT

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("crawl")]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Spend no time on the log of a thousand refusals."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


Table = dict[tuple[str, str], tuple[str, ...]]
"""By kind of address and method: what each role gets."""
CAST = dict(zip(ROLES, ("", "sam", "ann", "olga", "rita", "audrey", "root", "dora"), strict=True))
REACHED = ("ok", "no", "--", "by", "in")
BODIES = {"assessor:restore": "key=d1&seq=0&text=as+before"}
JUDGING = {"assessor:answer"}
"""Addresses that only desks of labels have."""
CHOICES = {
    "reports:correlation_picture": "?x=A/A&y=A/A",
    "reports:battles_picture": "?condition=B/M",
    "reports:doubts": "?run={run}&doubt=missing",
}
"""What must be chosen: there is no picture without a nugget or a rated run, and doubts are about one run."""

WITHOUT_PICTURE = {"reports:judges_picture"}
"""Of one run no judge has a figure to draw; the address is answered by the view of all reports' pictures."""

PARTS = {
    "reports:scores_table": "runs",
    "reports:scores_picture": "ranking",
    "reports:correlation_table": "taus",
    "reports:correlation_picture": "scatter",
    "reports:confusion_table": "counts",
    "reports:confusion_picture": "matrix",
    "reports:group-report_picture": "topics",
}
"""Sections of reports whose first one is called otherwise, or has no picture."""


def table() -> Table:
    """Read the table. A line is a kind of two or more words, a method and an outcome for each role."""
    head, *lines = KINDS.strip().splitlines()
    assert tuple(head.split()) == ROLES
    read: Table = {}
    for line in lines:
        *kind, method = line.split()[: -len(ROLES)]
        read[" ".join(kind), method] = tuple(line.split()[-len(ROLES) :])
    return read


def kinds() -> dict[str, str]:
    names = (f"reports:{name}{form}" for name in pages() for form in ("", "_table", "_picture"))
    of_reports = dict.fromkeys(names, "unblinded page")
    return {name: kind for kind, names in ROUTES.items() for name in names.split()} | of_reports


def addresses(patterns: list[Any], space: str = "", prefix: str = "") -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        route = prefix + plain(str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from addresses(
                pattern.url_patterns, f"{space}{pattern.namespace}:" if pattern.namespace else space, route
            )
        elif isinstance(pattern, URLPattern) and pattern.name:
            yield f"{space}{pattern.name}", route


def every_address() -> dict[str, str]:
    """Return the route of every name, those of the API left out: tests/api/test_permissions.py has their table."""
    found = addresses(get_resolver().url_patterns)
    return {name: route for name, route in found if not name.startswith("api:")}


def is_of_models(name: str) -> bool:
    """Say whether an address is one of Django's admin, which makes some for each model: one rule is for all of them."""
    return name.startswith("admin:")


def outcome(response: HttpResponseBase) -> str:
    context = getattr(response, "context", None)  # of a page that a template made
    signed_out = context is not None and context.get("sentence") == OUT
    if response.status_code == 401 or "/login/" in response.headers.get("Location", "") or signed_out:
        return "in"
    broken = "broken" if response.status_code >= 500 else "ok"
    return {403: "no", 404: "--", 405: "by"}.get(response.status_code, broken)


def client_of(user: User | None) -> Client:
    client = Client(raise_request_exception=False)
    if user:
        client.force_login(user)
    return client


def outcomes_of(clients: Mapping[str, Client], method: str, address: str, body: str = "{}") -> tuple[str, ...]:
    """Ask as each role. What the request changed is taken back."""
    kind, found = JSON if body.startswith("{") else FORM, []
    for client in clients.values():
        with transaction.atomic():
            response = client.generic(method, address, body, content_type=kind)
            found.append(outcome(response))
            for close in vars(response)[
                "_resource_closers"
            ]:  # a file's; to close the response would close the database
                close()
            transaction.set_rollback(True)
    return tuple(found)


def differing(
    clients: Mapping[str, Client], name: str, address: str, expected: Table, body: str = "{}"
) -> list[str]:
    kind, found = kinds()[name], []
    for method in ("GET", "POST"):
        line = dict(zip(ROLES, expected[kind, method], strict=True))
        wanted = tuple(line[role] for role in clients)
        got = outcomes_of(clients, method, address, body)
        if got != wanted:
            found.append(f"{method} {name}, {kind}: {' '.join(got)} and not {' '.join(wanted)}")
    return found


def test_every_address_has_a_line_and_every_line_an_address() -> None:
    named = {name for name in every_address() if not is_of_models(name)}
    missing, stale = sorted(named - kinds().keys()), sorted(kinds().keys() - named)
    assert not missing, f"add to ROUTES in tests/crawl/permissions_table.py, each under its kind: {missing}"
    assert not stale, f"no address has these names of ROUTES any more: {stale}"
    assert [name for name, count in Counter(" ".join(ROUTES.values()).split()).items() if count > 1] == []


def test_the_table_is_whole() -> None:
    lines = table()
    assert {kind for kind, _ in lines} >= set(ROUTES)
    assert {word for line in lines.values() for word in line} <= set(OUTCOMES)


@pytest.mark.parametrize(
    "roles",
    [
        ("nobody", "stranger"),
        ("assessor", "both"),
        pytest.param(("organizer", "researcher", "auditor", "administrator"), marks=pytest.mark.slow),
    ],
    ids="-".join,
)
def test_each_role_gets_what_the_table_says(roles: tuple[str, ...], tmp_path: Path) -> None:
    world, _ = make_blind_world(tmp_path, with_canaries=False)
    world.people["root"] = make_user("root", is_staff=True, is_superuser=True)
    clients = {role: client_of(world.people.get(CAST[role])) for role in roles}
    ids, task, found, expected = ids_of(world), world.post_edit.public_id, [], table()
    item = PracticeItem.objects.filter(kind=PracticeKind.IMPORTANCE)[0].public_id
    run = world.campaign.runs.all()[0].run_id
    for name, route in every_address().items():
        if name not in JUDGING | WITHOUT_PICTURE and name in kinds():
            filling = {
                "slug": "river",
                "public_id": ids.get(name, task),
                "pk": ids.get(name, 999999),  # no row's, so that no line holds by the order of tests
                "answer_id": item,
                "role": "researcher",
            }
            filling |= {kind: forms[0] for kind, forms in FILES.items()} | pair_at(name)
            filling["part"] = PARTS.get(name, filling["part"])
            body = body_for(name, task, world) if kinds()[name] == "desk act" else BODIES.get(name, "{}")
            found += differing(
                clients, name, filled(route, filling) + CHOICES.get(name, "").format(run=run), expected, body
            )
    assert not found, "\n".join(found)


def body_for(name: str, task: str, world: DeskWorld) -> str:
    """Return what a desk's page would send, so that it is the rules that answer."""
    return encoded(next(bodies(name.partition(":")[2], task, known_to(world, "ann"))))


def test_answers_of_a_judging_desk_are_their_judge_s(tmp_path: Path) -> None:
    world = make_judge_world(tmp_path)
    world.people["root"] = make_user("root", is_staff=True, is_superuser=True)
    world.people["dora"] = world.people["ben"]
    Membership.objects.create(campaign=world.campaign, user=world.people["ben"], role=Role.ORGANIZER)
    Window(world.client(), world.assign).open()
    clients = {role: client_of(world.people.get(name)) for role, name in CAST.items()}
    answer = TaskAnswer.objects.filter(task=world.assign).values_list("answer__public_id", flat=True)[0]
    filling = {"public_id": world.assign.public_id, "answer_id": answer}
    address = filled(every_address()["assessor:answer"], filling)
    assert differing(clients, "assessor:answer", address, table()) == []


def test_nobody_but_an_administrator_gets_into_the_admin() -> None:
    clients = {"nobody": client_of(None), "organizer": client_of(make_user("olga"))}
    got = {
        f"{method} {name}": outcomes_of(clients, method, filled(route, {}))
        for name, route in every_address().items()
        for method in ("GET", "POST")
        if is_of_models(name) and name != "admin:logout"
    }
    assert {name: outcomes for name, outcomes in got.items() if outcomes not in {("in", "in"), ("in", "no")}} == {}


@pytest.mark.slow
def test_staff_without_rights_see_no_rows_in_the_admin() -> None:
    staff, root = make_user("stan", is_staff=True), make_user("root", is_staff=True, is_superuser=True)
    clients = {"staff": client_of(staff), "administrator": client_of(root)}
    heads = [filled(route, {}) for name, route in every_address().items() if name.endswith("_changelist")]
    assert {outcomes_of(clients, "GET", head) for head in heads} == {("no", "ok")}


def test_other_methods_do_nothing() -> None:
    client = client_of(make_user("root", is_staff=True, is_superuser=True))
    own = ("organizer:", "reports:", "assessor:")
    routes = {name: route for name, route in every_address().items() if name.startswith(own)}
    for method in ("PUT", "PATCH", "DELETE", "TRACE"):
        got = {name: outcomes_of({"": client}, method, filled(route, {}))[0] for name, route in routes.items()}
        assert {name: answer for name, answer in got.items() if answer not in ("by", "--", "no", "in")} == {}, (
            method
        )


def study_of_a_pair(world: DeskWorld, topic: Topic) -> Study:
    event = Event.objects.create(campaign=world.campaign, kind="note", payload={})
    expert = Judge.objects.create(name="expert", kind=JudgeKind.HUMAN)
    study = Study.objects.create(
        campaign=world.campaign,
        name="who is right",
        kind=StudyKind.SUPPORT,
        condition=SupportCondition.SCRATCH,
        person=expert,
        judge=Judge.objects.get(name=MACHINE),
        event=event,
    )
    answer = Answer.objects.filter(topic=topic)[0]
    StudyPair.objects.create(
        study=study,
        topic=topic,
        answer=answer,
        sentence=answer.sentences.all()[0],
        segment=Segment.objects.get(docid="t1-001#1"),
        person_label=0,
        judge_label=2,
    )
    return study


def check_of_the_leaderboard(world: DeskWorld, event: Event) -> Study:
    """A random check of which nothing is left to judge, of the labels that the leaderboard opens with."""
    page = leaderboard_page(world.campaign, QueryDict())
    assert isinstance(page, LeaderboardReport)
    assert page.standings, page.message
    choice = page.standings.board.choice
    return Study.objects.create(
        campaign=world.campaign,
        name="by chance",
        kind=StudyKind.ASSIGNMENT,
        draw=DrawKind.RANDOM,
        judge=choice.judges[0],
        nugget_set=choice.nugget_sets[0],
        per_topic=None,
        design={"seed": "s", "least": 5, "runs": [], "topics": [], "per_run": {}, "known": [], "sample": ""},
        event=event,
    )


def check_of_nothing(study: Study) -> Study:
    """A random check of the same judge, of which no pair was drawn: it is complete, so that researchers see it."""
    design = {"seed": "s", "least": 5, "per_run": {}, "runs": [], "topics": [], "known": [], "sample": ""}
    check = Study.objects.create(
        campaign=study.campaign,
        name="is it right",
        kind=study.kind,
        draw=DrawKind.RANDOM,
        condition=study.condition,
        judge=study.judge,
        per_topic=None,
        design=design,
        event=Event.objects.create(campaign=study.campaign, kind="note", payload={"per_run": 50}),
    )
    pair = StudyPair.objects.get(study=study)
    RandomCheckPair.objects.create(
        study=check,
        answer=pair.answer,
        sentence=pair.sentence,
        segment=pair.segment,
        judge_label=2,
        size=1,
        place=0.5,
    )
    return check


def ids_of(world: DeskWorld) -> dict[str, object]:
    """Return what stands in an address, by its name, where it is not a task of Ann's."""
    topic = world.topic("t1")
    study = study_of_a_pair(world, topic)
    check = check_of_nothing(study)
    leading = check_of_the_leaderboard(world, study.event)
    listed = ListedNugget.objects.exclude(pk__in=NuggetCalls.objects.values("listed"))[0]
    call = make_call(WorkItem.objects.all()[0], number=9)
    snapshot = take_snapshot(campaign=world.campaign, name="whole", contents=SnapshotContents())
    attempt, export = ImportAttempt.objects.all()[0], Export.objects.all()[0]
    sam = world.people["sam"].pk
    fetch = Job.objects.create(
        kind="texts", title="texts", options={"campaign": world.campaign.pk, "source": "Lab"}
    )
    return {
        "accounts:revoke_token": ApiToken.objects.get(user=world.people["olga"]).pk,
        "organizer:account": sam,
        "organizer:revoke_invitation": Invitation.objects.get(campaign=world.campaign).pk,
        "organizer:snapshot_file": snapshot.pk,
        "organizer:snapshot_methods": snapshot.pk,
        "organizer:open_snapshot": snapshot.pk,
        "organizer:export_file": export.pk,
        "organizer:topic": topic.public_id,
        "organizer:segment": passage_of(topic),
        "organizer:answer": Remark.objects.filter(task__campaign=world.campaign)[0].public_id,
        "organizer:ask_to_take_role": User.objects.get(username="rita").pk,
        "organizer:run": Run.objects.all()[0].pk,
        "organizer:study": study.pk,
        "organizer:hand_out_study": study.pk,
        "organizer:judge_study": study.pk,
        "reports:study_table": study.pk,
        "reports:judge_more": leading.pk,
        "reports:battle": Battle.objects.all()[0].public_id,
        **{f"organizer:{act}": check.pk for act in ("random_check", "grow_check", "extend_check")},
        "organizer:assignment_label": Assignment.objects.all()[0].pk,
        "organizer:support_label": SupportJudgment.objects.all()[0].pk,
        "organizer:answer_labels": Answer.objects.all()[0].pk,
        "organizer:list_origin": NuggetList.objects.all()[0].pk,
        "organizer:nugget_origin": listed.pk,
        "organizer:grade_origin": Qrel.objects.all()[0].pk,
        "organizer:verdict_origin": Verdict.objects.all()[0].pk,
        "organizer:call": call.pk,
        "organizer:prompt": "assign@1",
        "organizer:test_connection": Connection.objects.all()[0].pk,
        "organizer:trial": Trial.objects.all()[0].pk,
        "organizer:read_notice": Notice.objects.all()[0].pk,
        **{f"organizer:{act}": sam for act in ("close_account", "open_account", "drop_factor", "erase_account")},
        **{f"organizer:{act}_fetch": fetch.pk for act in ("cancel", "pause", "resume", "retry")},
        **{f"organizer:{act}_import": attempt.pk for act in ("commit", "discard", "change", "take_up", "undo")},
        **{f"organizer:import_{part}": attempt.pk for part in ("attempt", "problems")},
    } | {
        f"organizer:{act}": LlmJob.objects.all()[0].pk
        for act in ("job", "cancel_job", "retry_job", "pause_job", "resume_job")
    }


def pair_at(name: str) -> dict[str, object]:
    """Return the primary keys of a pair of the kind that an address is of; none for other addresses."""
    kinds: dict[str, tuple[type[models.Model], str, str]] = {
        "nuggets": (Assignment, "answer", "nugget_version"),
        "citations": (SupportJudgment, "sentence", "segment"),
    }
    found = kinds.get(name.removeprefix("reports:").partition("_")[0])
    if found is None:
        return {}
    model, first, second = found
    return dict(zip(("first", "second"), model._default_manager.values_list(first, second)[0], strict=True))


def filled(route: str, filling: Mapping[str, object]) -> str:
    return "/" + PARAMETER.sub(lambda match: str(filling.get(match["name"] or match["named"], 1)), route)
