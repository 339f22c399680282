"""The audit log: one whole line an act, whoever writes, and nothing unblinded is shown where it cannot be written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from evaluation.models import Event
from tests.assessor.desk_client import Window
from tests.security.conftest import Audit
from tests.worlds.campaign import World
from tests.worlds.cast import make_user
from tests.worlds.desk import DeskWorld
from tests.worlds.imported import run
from web import audit_log as audit

WRITER = """
import django
django.setup()
from web import audit_log
for n in range(200):
    audit_log.record("export", actor=f"user:{n}", path="x" * 250)
"""


def test_several_processes_write_whole_lines_to_a_file_of_the_owner(audit_log: Audit) -> None:
    setting = os.environ | {"AUDIT_LOG": str(audit_log.path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER], env=setting, cwd=settings.BASE_DIR) for _ in range(3)
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert len(audit_log.lines("export")) == 600
    assert audit_log.path.stat().st_mode & 0o777 == 0o600


def test_what_was_recorded_is_never_written_over(audit_log: Audit) -> None:
    audit.record("export", actor="user:1")
    before = audit_log.path.read_bytes()
    audit.record("import", actor="os:root", campaign=None, count=3)
    assert audit_log.path.read_bytes().startswith(before)
    assert audit_log.lines("import")[0].keys() == {"at", "kind", "actor", "count"}


def test_a_line_that_a_full_disk_cut_spoils_no_other(audit_log: Audit) -> None:
    audit_log.path.write_text('{"at": "2026-0')
    audit.record("export", actor="user:1")
    assert json.loads(audit_log.path.read_text().splitlines()[1])["kind"] == "export"


def test_a_line_break_in_a_value_makes_no_second_line(audit_log: Audit) -> None:
    audit.record("export", actor="user:1", path='/a\n{"kind": "forged"}\u2028')
    assert len(audit_log.path.read_bytes().splitlines()) == 1


def test_stderr_takes_the_log_too(settings: Settings, capfd: pytest.CaptureFixture[str]) -> None:
    settings.AUDIT_LOG = audit.STDERR
    audit.record("export", actor="user:1")
    assert json.loads(capfd.readouterr().err)["kind"] == "export"


def test_a_full_disk_is_told(settings: Settings) -> None:
    settings.AUDIT_LOG = "/dev/full"
    with pytest.raises(audit.AuditUnwritableError, match="No space left"):
        audit.record("export", actor="user:1")


def test_each_unblinded_page_is_logged_without_the_search_words(world: World, audit_log: Audit) -> None:
    client = world.client("rita")
    pages = world.pages() | {"correlation": world.pages()["correlation"] + "?x=A/A&y=A/M"}
    answers = [
        (address, client.get(address, {} if "?" in address else {"words": "sand"})) for address in pages.values()
    ]
    found = audit_log.lines("view.unblinded")
    rita = f"user:{world.people['rita'].pk}"
    shown = [line["path"] for line in found]
    hers = [address for address, answer in answers if answer.status_code == 200]
    assert [address.partition("?")[0] for address in hers] == [
        path for path in shown if path != world.pages()["scatter"]
    ] + [path for path in shown if path == world.pages()["scatter"]]
    assert {(line["actor"], line["campaign"]) for line in found} == {(rita, "river")}
    assert "sand" not in audit_log.path.read_text()


def test_what_was_asked_for_and_refused_is_recorded(world: World, audit_log: Audit) -> None:
    world.client("ann").get(world.pages()["runs"])
    found = audit_log.lines()[-1]
    assert (found["kind"], found["status"], found["view"]) == ("view.refused", 404, "organizer:runs")


def test_what_an_assessor_reads_and_writes_at_a_desk_is_not_recorded(
    desk_world: DeskWorld, audit_log: Audit
) -> None:
    client = desk_world.client()
    signed_in = len(audit_log.lines())
    window = Window(client, desk_world.post_edit).open()
    client.get(window.url())
    assert window.state()
    assert len(audit_log.lines()) == signed_in


@pytest.mark.usefixtures("broken_audit_log")
def test_nothing_unblinded_is_shown_unrecorded(world: World) -> None:
    client = world.client("olga")
    page = client.get(world.pages()["runs"], headers={"accept": "text/html"})
    assert page.status_code == 503
    assert b"audit log cannot be written" in page.content
    assert b"alpha" not in page.content
    problem = client.get(world.pages()["runs"])
    assert (problem.status_code, problem["Content-Type"]) == (503, "application/problem+json")


@pytest.mark.usefixtures("broken_audit_log")
def test_an_act_that_cannot_be_recorded_is_not_done(desk_world: DeskWorld) -> None:
    before = Event.objects.count()
    address = reverse("organizer:change_work", args=["river"])
    assert desk_world.client("olga").post(address, {"change": "withdraw"}).status_code == 503
    assert Event.objects.count() == before


@pytest.mark.usefixtures("broken_audit_log")
def test_judging_goes_on_without_the_log(desk_world: DeskWorld) -> None:
    window = Window(desk_world.client(), desk_world.post_edit).open()
    key = window.state()["rows"][0]["key"]
    assert window.do("decide", key=key, decision="kept")["status"] == "applied"


@pytest.mark.django_db
def test_the_admin_is_recorded_with_what_was_changed(audit_log: Audit) -> None:
    root, other = make_user("root", is_staff=True, is_superuser=True), make_user("other")
    client = Client()
    client.force_login(root)
    address = reverse("admin:accounts_user_delete", args=[other.pk])
    client.get(address)
    client.post(address, {"post": "yes"})
    assert not get_user_model().objects.filter(pk=other.pk).exists()
    wrote = audit_log.lines("admin.write")[-1]
    assert (wrote["actor"], wrote["path"], wrote["status"]) == (f"user:{root.pk}", address, 302)
    assert audit_log.lines("view.unblinded")[-1]["view"] == "admin:accounts_user_delete"


@pytest.mark.django_db
def test_failed_sign_ins_and_lockouts_are_logged_without_input(audit_log: Audit) -> None:
    ann = make_user("ann")
    for _ in range(6):
        Client().post(reverse("account_login"), {"login": "ann", "password": "wrong-secret"})
    Client().post(reverse("account_login"), {"login": "typed-my-password", "password": "wrong-secret"})
    failed = audit_log.lines("account.login_failed")
    assert {line["actor"] for line in failed} >= {f"user:{ann.pk}"}
    assert audit_log.lines("account.locked")[0]["actor"] == f"user:{ann.pk}"
    assert audit_log.lines()[-1]["address"] == "127.0.0.1"
    assert "secret" not in audit_log.path.read_text()
    assert "typed" not in audit_log.path.read_text()


@pytest.mark.django_db
def test_commands_are_recorded_under_the_account_of_the_system(audit_log: Audit, tmp_path: Path) -> None:
    run("create_campaign", "river", "--name", "River study")
    run("report", "descriptives", "--campaign", "river")
    run("export", "events", "--campaign", "river")
    found = [(line["kind"], line["command"], line.get("campaign")) for line in audit_log.lines()]
    assert found[1:] == [("export", "report descriptives", "river"), ("export", "export events", "river")]
    assert {line["actor"] for line in audit_log.lines()} == {audit.system_actor()}


@pytest.mark.django_db
@pytest.mark.usefixtures("broken_audit_log")
def test_nothing_is_exported_unrecorded() -> None:
    outcome = run("export", "events", "--campaign", "river")
    assert (outcome.code, outcome.out) == (1, "")
    assert "audit log cannot be written" in outcome.err


def test_a_system_without_accounts_of_unix_names_who_is_signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "pwd", None)
    monkeypatch.setattr("os.getlogin", lambda: "anna")
    assert audit.system_actor() == "os:anna"
