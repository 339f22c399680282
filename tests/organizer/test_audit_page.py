"""The audit page: who did what, from the log outside the database and the events in it; who may read it."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from evaluation.campaigns.people import give_role
from evaluation.models import Membership
from evaluation.terms import Role
from tests.security.conftest import Audit
from tests.worlds.campaign import World
from tests.worlds.cast import make_user
from web import audit_log

PAGE = "/campaigns/river/audit/"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def log(tmp_path: Path, settings: Settings) -> Audit:
    settings.AUDIT_LOG = str(tmp_path / "audit.jsonl")
    return Audit(Path(settings.AUDIT_LOG))


def line(number: int, **fields: object) -> str:
    entry = {
        "at": (NOW + timedelta(seconds=number)).isoformat(timespec="milliseconds"),
        "kind": "act",
        "actor": "os:x",
    }
    return json.dumps(entry | {"n": number} | fields)


def test_who_did_what_is_told_with_old_new_and_address(world: World, log: Audit) -> None:
    olga = world.client("olga")
    give_role(campaign=world.campaign, username="sam", role=Role.RESEARCHER, actor=world.people["olga"])
    world.client("rita").get("/campaigns/river/runs/", REMOTE_ADDR="192.0.2.7")
    page = olga.get(PAGE).content.decode()
    assert "member.added" in page
    assert "researcher" in page
    assert "view.unblinded" in page
    assert "192.0.2.7" in page
    assert "/campaigns/river/runs/" in page
    found = {row["what"]: row for row in reversed(_csv(olga))}
    assert (found["member.added"]["who"], found["member.added"]["about"]) == ("olga", "sam")
    assert found["member.added"]["new"] == "researcher"


def test_it_is_narrowed_by_person_kind_and_day(world: World, log: Audit) -> None:
    for name in ("olga", "rita"):
        world.client(name).get("/campaigns/river/topics/")
    give_role(campaign=world.campaign, username="sam", role=Role.RESEARCHER, actor=world.people["olga"])
    audrey, rita = world.client("audrey"), world.people["rita"]
    assert {row["who"] for row in _csv(audrey, person=rita.pk)} == {"rita"}
    assert {row["what"] for row in _csv(audrey, kind="member")} == {"member.added"}
    assert _csv(audrey, to="2020-01-01") == []
    assert _csv(audrey, since="2999-01-01") == []
    assert _csv(audrey, since="nonsense")


def test_another_campaign_s_lines_are_not_shown(world: World, log: Audit) -> None:
    audit_log.record("view.unblinded", actor="user:1", campaign="elsewhere", path="/campaigns/elsewhere/")
    assert "elsewhere" not in world.client("olga").get(PAGE).content.decode()
    root = make_user("root", is_staff=True, is_superuser=True)
    client = Client()
    client.force_login(root)
    assert "elsewhere" in client.get("/audit/").content.decode()


def test_who_judges_or_only_researches_does_not_read_it(world: World, log: Audit) -> None:
    assert world.client("rita").get(PAGE).status_code == 403
    assert world.client("ann").get(PAGE).status_code == 404
    Membership.objects.create(campaign=world.campaign, user=world.people["ann"], role=Role.ORGANIZER)
    assert world.client("ann").get(PAGE).status_code == 404
    assert world.client("olga").get("/audit/").status_code == 403


def test_pages_follow_each_other_without_gap_or_repetition(world: World, log: Audit) -> None:
    log.path.write_text(
        "".join(line(number, campaign="river", path=f"/n/{number}") + "\n" for number in range(250))
    )
    olga, address, seen = world.client("olga"), PAGE + "?kind=act&to=2026-03-01", []
    for _ in range(3):
        page = olga.get(address)
        seen += [row.about for row in page.context["rows"]]
        address = f"{PAGE}?{page.context['older']}"
    assert seen == [f"/n/{number}" for number in reversed(range(250))]


def test_a_cut_or_foreign_line_spoils_nothing(log: Audit) -> None:
    log.path.write_text(f'{line(1)}\n{{"at": "20\nnot json\n[1]\n{line(2)}\n{{"kind": 7, "at": 8}}\n')
    assert [row["n"] for row in audit_log.read_end().lines] == [2, 1]


def test_only_the_end_of_a_long_log_is_read(log: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "END_BYTES", 4096)
    log.path.write_text("".join(line(number) + "\n" for number in range(200)))
    end = audit_log.read_end()
    numbers = [row["n"] for row in end.lines]
    assert numbers == list(range(199, 199 - len(numbers), -1))
    assert 20 < len(numbers) < 60
    assert end.begins == NOW + timedelta(seconds=numbers[-1])


def test_a_search_beyond_the_log_says_where_older_lines_are(world: World, log: Audit) -> None:
    log.path.write_text("".join(line(number, campaign="river") + "\n" for number in range(250)))
    (log.path.parent / "audit.jsonl.1").write_text(line(-9, campaign="river", path="/rotated/") + "\n")
    olga, words = world.client("olga"), "Lines of the log are shown from"
    full, beyond = olga.get(PAGE).content.decode(), olga.get(PAGE, {"since": "2026-02-01"})
    assert words not in full
    while beyond.context["older"]:
        assert words not in beyond.content.decode()
        beyond = olga.get(f"{PAGE}?{beyond.context['older']}")
    text = beyond.content.decode()
    assert words in text
    assert "1 Mar 2026, 12:00:00" in text
    assert "docs/security.md" in text
    assert "/rotated/" not in text
    assert words not in olga.get(PAGE, {"since": "2026-03-02"}).content.decode()


def test_a_log_that_was_just_rotated_says_so(world: World, log: Audit) -> None:
    log.path.write_text("")
    (log.path.parent / "audit.jsonl.1").write_text(line(1, campaign="river") + "\n")
    assert "Lines of the log are shown from" in world.client("olga").get(PAGE).content.decode()


def test_a_log_that_is_read_whole_lacks_nothing(world: World, log: Audit) -> None:
    log.path.write_text(line(1, campaign="river") + "\n")
    assert "Lines of the log are shown from" not in world.client("olga").get(PAGE).content.decode()


def test_without_a_file_the_page_says_so(world: World, settings: Settings) -> None:
    settings.AUDIT_LOG = audit_log.STDERR
    assert "cannot be read here" in world.client("olga").get(PAGE).content.decode()


def test_a_formula_in_a_path_is_defused(world: World, log: Audit) -> None:
    log.path.write_text(line(1, campaign="river", path="=HYPERLINK(1)") + "\n")
    assert [row["about"] for row in _csv(world.client("olga"), kind="act", to="2026-03-02")] == ["'=HYPERLINK(1)"]


def _csv(client: Client, **query: str | int) -> list[dict[str, str]]:
    response = client.get(f"{PAGE}entries.csv", query)
    return list(csv.DictReader(io.StringIO(response.content.decode())))
