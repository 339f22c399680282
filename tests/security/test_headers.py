"""The headers of every kind of answer, the cookies, and what `check --deploy` says."""

import os
import subprocess
import sys
from pathlib import Path
from secrets import token_urlsafe

import pytest
from django.conf import settings as project
from django.core.checks import run_checks
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings
from whitenoise.middleware import WhiteNoiseMiddleware

from config.checks import (
    audit_log_is_written,
    files_are_closed,
    key_is_closed,
    listens_behind_a_proxy,
    open_files,
    safe_settings,
)
from tests.worlds.campaign import World
from tests.worlds.cast import make_user
from tests.worlds.desk import DeskWorld

EXPECTED = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
SHOW_HTTPS = """
import django; django.setup()
from django.conf import settings as s
from django.test import Client
print(Client().get("/healthz", secure=True, headers={"host": "localhost"})["Strict-Transport-Security"])
print(Client().get("/accounts/login/", headers={"host": "localhost"}).status_code)
print(s.SESSION_COOKIE_NAME, s.SESSION_COOKIE_SECURE, s.SESSION_COOKIE_HTTPONLY, s.SESSION_COOKIE_SAMESITE)
print(s.CSRF_COOKIE_NAME, s.CSRF_COOKIE_SECURE, s.SESSION_COOKIE_DOMAIN, s.CSRF_COOKIE_DOMAIN)
"""


def addresses(world: World) -> dict[str, str]:
    return {
        "page": world.pages()["runs"],
        "picture": world.pages()["scatter"] + "?x=A/A&y=A/M",
        "missing": "/nowhere/",
        "redirect": "/desk",
        "health": reverse("healthz"),
        "signing in": reverse("account_login"),
        "refused": reverse("admin:index"),
        "wrong method": reverse("assessor:session"),
    }


def test_every_kind_of_answer_has_the_headers(world: World) -> None:
    client = world.client("olga")
    for kind, address in addresses(world).items():
        response = client.post(address) if kind == "wrong method" else client.get(address)
        assert {name: response.headers.get(name) for name in EXPECTED} == EXPECTED, kind
        assert "camera=()" in response["Permissions-Policy"], kind
        assert "default-src 'none'" in response["Content-Security-Policy"], kind
        assert "no-store" in response["Cache-Control"], kind


@pytest.mark.django_db
def test_an_error_has_the_headers_too(client: Client, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["assay.example.org"]
    response = client.get("/", headers={"host": "evil.example"})
    assert response.status_code == 400
    assert {name: response.headers.get(name) for name in EXPECTED} == EXPECTED


@pytest.mark.django_db
def test_static_files_are_kept_and_have_the_headers(tmp_path: Path, settings: Settings) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.WHITENOISE_AUTOREFRESH = False  # the scan of production, which other tests leave out
    (tmp_path / "session.js").write_text("export {};\n", "utf-8")
    response = Client().get("/static/session.js")
    assert (response.status_code, b"".join(response)) == (200, b"export {};\n")
    assert "max-age" in response["Cache-Control"]
    assert {name: response.headers.get(name) for name in EXPECTED} == EXPECTED


def test_test_clients_scan_no_static_files(tmp_path: Path, settings: Settings) -> None:
    settings.STATIC_ROOT = tmp_path
    (tmp_path / "session.js").write_text("export {};\n", "utf-8")
    assert WhiteNoiseMiddleware().files == {}


def test_the_back_button_shows_nobody_a_desk_or_a_page(world: World) -> None:
    client = world.client("olga")
    shown = client.get(world.pages()["topic"])
    assert shown["Cache-Control"] == "no-store, private"


def test_the_desk_is_not_kept_either(desk_world: DeskWorld) -> None:
    response = desk_world.client().get(f"/desk/{desk_world.post_edit.public_id}/")
    assert "no-store" in response["Cache-Control"]


@pytest.mark.django_db
def test_the_admin_has_no_inline_script_or_style() -> None:
    make_user("root", is_staff=True, is_superuser=True)
    client = Client()
    client.login(username="root", password="root")
    for name in ("admin:index", "admin:accounts_user_changelist", "admin:accounts_user_add"):
        text = client.get(reverse(name)).content.decode()
        assert "<script>" not in text, name
        assert "<style" not in text, name
        assert " onclick=" not in text, name
        assert " style=" not in text, name


@pytest.mark.slow
def test_https_brings_hsts_and_cookies_that_no_sibling_host_can_plant(tmp_path: Path) -> None:
    shown = run_with(tmp_path, ["-c", SHOW_HTTPS]).stdout.splitlines()
    assert shown == [
        "max-age=31536000; includeSubDomains; preload",
        "301",
        "__Host-sessionid True True Lax",
        "__Host-csrftoken True None None",
    ]


def run_with(tmp_path: Path, words: list[str]) -> "subprocess.CompletedProcess[str]":
    own = {"HTTPS": "1", "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3", "SECRET_KEY": token_urlsafe(48)}
    environ = os.environ | own | {"DJANGO_SETTINGS_MODULE": "config.settings", "AUDIT_LOG": "-"}
    environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)  # the tests set it for Playwright
    command = [sys.executable, *words]
    done = subprocess.run(command, env=environ, cwd=project.BASE_DIR, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_check_deploy_is_clean(tmp_path: Path) -> None:
    words = ["manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    assert "no issues" in run_with(tmp_path, words).stdout


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [("DEBUG", True, "assay.E001"), ("DEMO", True, "assay.E002"), ("ALLOWED_HOSTS", ["*"], "assay.E003")],
)
def test_settings_of_a_trial_fail_the_check(name: str, value: object, code: str, settings: Settings) -> None:
    settings.DEBUG, settings.DEMO = False, False
    setattr(settings, name, value)
    assert [found.id for found in safe_settings(None)] == [code]


@pytest.mark.usefixtures("broken_audit_log")
def test_an_audit_log_that_cannot_be_written_fails_the_check() -> None:
    assert [found.id for found in audit_log_is_written(None)] == ["assay.E004"]


def test_a_key_that_others_can_read_is_warned_of(tmp_path: Path, settings: Settings) -> None:
    settings.VAR_DIR = tmp_path
    (tmp_path / "secret-key").write_text("k")
    (tmp_path / "secret-key").chmod(0o644)
    assert [found.id for found in key_is_closed(None)] == ["assay.W001"]
    (tmp_path / "secret-key").chmod(0o600)
    assert key_is_closed(None) == []


def test_an_open_database_or_audit_log_is_warned_of(tmp_path: Path, settings: Settings) -> None:
    folder = tmp_path / "var"
    folder.mkdir(mode=0o755)
    audit, database = folder / "audit.jsonl", folder / "assay.sqlite3"
    settings.AUDIT_LOG = str(audit)
    for file in (audit, database):
        file.touch(mode=0o644)
        file.chmod(0o644)
    assert [found.id for found in open_files([str(database), str(audit)])] == ["assay.W002", "assay.W002"]
    folder.chmod(0o700)  # what nobody else can enter keeps what is in it
    assert open_files([str(database), str(audit)]) == []
    folder.chmod(0o755)
    database.chmod(0o600)
    assert [found.id for found in open_files([str(database), "-"])] == []
    assert [found for found in files_are_closed(None) if found.msg.startswith(str(audit))]


@pytest.mark.parametrize(
    ("host", "https", "refused"),
    [("0.0.0.0", "0", True), ("::", "0", True), ("192.0.2.7", "0", True), ("", "0", True), ("0.0.0.0", "1", False)]  # noqa: S104
    + [(host, "0", False) for host in ("127.0.0.1", "127.0.1.1", "::1", "localhost")],
)
def test_a_bare_server_listens_to_this_machine_only(
    host: str, https: str, refused: bool, settings: Settings
) -> None:
    settings.HOST, settings.HTTPS = host, https == "1"
    assert [found.id for found in listens_behind_a_proxy(None)] == ["assay.E005"] * refused


def test_nothing_is_migrated_for_a_bare_server_in_the_network(tmp_path: Path) -> None:
    own = {"HOST": "0.0.0.0", "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3", "AUDIT_LOG": "-"}  # noqa: S104
    words = [sys.executable, "manage.py", "migrate", "--check"]
    done = subprocess.run(
        words, env=os.environ | own, cwd=project.BASE_DIR, check=False, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "assay.E005" in done.stderr


@pytest.mark.django_db
def test_a_demo_account_fails_the_check() -> None:
    make_user("demo", demo=True)
    found = run_checks(include_deployment_checks=True)
    assert "accounts.E001" in [message.id for message in found]
