"""The people page: roles given and taken within the rules, each act an event; accounts only by administrators."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from accounts.tokens import make_token, token_of
from evaluation.models import Event, Membership
from evaluation.terms import Role, TaskState
from tests.accounts.conftest import People
from tests.worlds.desk import DeskWorld
from tests.worlds.work import make_work_world

pytestmark = pytest.mark.django_db


def roles(name: str) -> set[str]:
    return set(Membership.objects.filter(user__username=name).values_list("role", flat=True))


def give(people: People, name: str, role: str, by: str = "olga") -> int:
    return people.client(by).post(people.page("give/"), {"username": name, "role": role}).status_code


def take(people: People, name: str, role: str, by: str = "olga") -> int:
    return people.client(by).post(people.page("take/"), {"username": name, "role": role}).status_code


def test_a_role_is_given_and_taken(people: People) -> None:
    assert give(people, "sam", "assessor") == 302
    assert roles("sam") == {"assessor"}
    assert take(people, "sam", "assessor") == 302
    assert roles("sam") == set()
    assert people.events() == ["member.removed", "member.added"]
    event = Event.objects.filter(kind="member.removed").get()
    assert (event.actor, event.payload["user"]) == (people.by_name["olga"], people.by_name["sam"].pk)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("olga", "assessor"),  # herself
        ("olga", "auditor"),
        ("rita", "assessor"),  # has seen whose answers they are
        ("audrey", "assessor"),
        ("ada", "assessor"),  # administers
        ("ann", "researcher"),  # judges
        ("ann", "organizer"),
        ("nobody", "assessor"),
    ],
)
def test_what_would_break_blindness_is_refused(people: People, name: str, role: str) -> None:
    before = roles(name)
    assert give(people, name, role) == 422
    assert roles(name) == before
    assert people.events() == []


@pytest.mark.parametrize(
    ("act", "typed", "error"),
    [
        (
            "give/",
            {"username": "nobody", "role": "auditor"},
            "There is no account nobody. Send an invitation instead.",
        ),
        ("language/", {"language": "english"}, "A language is a tag such as en, ar or pt-BR, found english."),
    ],
)
def test_a_refusal_stands_beside_the_field_with_what_was_typed(
    people: People, act: str, typed: dict[str, str], error: str
) -> None:
    answer = people.client("olga").post(people.page(act), typed)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert f'_error">{error}</span>' in page
    assert all(f'value="{value}"' in page for value in typed.values())
    assert people.events() == []


def test_who_has_once_seen_whose_answers_they_are_never_judges_there(people: People) -> None:
    give(people, "sam", "researcher")
    take(people, "sam", "researcher")
    assert give(people, "sam", "assessor") == 422


@pytest.mark.parametrize(("referer", "leads"), [("http://testserver", True), ("https://elsewhere.example", False)])
def test_whoever_was_refused_finds_the_way_back_to_the_form(people: People, referer: str, leads: bool) -> None:
    fields = {"username": "nobody", "role": "assessor"}
    headers = {"Referer": referer + people.page()}
    refused = people.client("olga").post(f"{people.page()}take/", fields, headers=headers)
    assert refused.status_code == 422
    assert (f'<a href="{referer}{people.page()}">Back to where you were</a>' in refused.content.decode()) is leads


def test_check_91_take_away_names_person_role_and_tasks(people: People) -> None:
    client = people.client("olga")
    page = client.get(people.page()).content.decode()
    links = re.findall(r'href="([^"]*/take/[a-z]+/)"', page)
    assert links
    assert not [link for link in links if f"/{people.by_name['olga'].pk}/take/" in link]
    [link] = [link for link in links if f"/{people.by_name['ben'].pk}/take/" in link]
    page = " ".join(client.get(link).content.decode().split())
    assert "No unfinished task." in page
    assert "Take away assessor from" in page
    assert "/take/organizer/" not in people.client("ada").get(people.page()).content.decode()


def test_a_role_is_given_from_a_list_that_filters(people: People) -> None:
    page = people.client("olga").get(people.page()).content.decode()
    assert 'list="accounts"' in page
    assert '<option value="ben">' in page
    assert '<option value="sam">' not in page  # in no campaign of Olga's


def test_the_last_organizer_stays(people: People) -> None:
    assert take(people, "olga", "organizer", by="ada") == 422
    assert give(people, "sam", "organizer") == 302
    assert take(people, "olga", "organizer") == 302
    assert people.client("olga").get(people.page()).status_code == 404


@pytest.mark.parametrize("name", ["ann", "rita", "audrey", "sam"])
def test_only_organizers_give_and_take(people: People, name: str) -> None:
    assert give(people, "sam", "assessor", by=name) in (403, 404)
    assert take(people, "ben", "assessor", by=name) in (403, 404)
    assert people.events() == []


def test_addresses_are_for_organizers(people: People) -> None:
    assert "ann@example.org" in people.client("olga").get(people.page()).content.decode()
    for name in ("rita", "audrey"):
        page = people.client(name).get(people.page()).content.decode()
        assert "ann" in page
        assert "ann@example.org" not in page
        assert "Invite" not in page
    assert people.client("ann").get(people.page()).status_code == 404


def test_who_holds_unfinished_tasks_stays_assessor(tmp_path: Path) -> None:
    world: DeskWorld = make_work_world(tmp_path)
    page = "/campaigns/river/people/"
    fields = {"username": "ann", "role": "assessor"}
    refused = world.client("olga").post(f"{page}take/", fields)
    assert refused.status_code == 422
    assert "2 unfinished tasks" in refused.content.decode()
    for task in (world.post_edit, world.manual):
        type(task).objects.filter(pk=task.pk).update(state=TaskState.SUBMITTED)
    assert world.client("olga").post(f"{page}take/", fields).status_code == 302
    assert "none any more" in world.client("olga").get(page).content.decode()
    # They have judged: what they judged stays closed to them.
    second = world.client("olga").post(f"{page}give/", {"username": "ann", "role": Role.RESEARCHER})
    assert second.status_code == 422


ACTS = ("close/", "open/", "factor/", "erase/")


@pytest.mark.parametrize("name", ["ann", "olga", "rita", "audrey", "sam", ""])
def test_only_administrators_touch_accounts(people: People, name: str) -> None:
    client = people.client(name) if name else Client()
    address = f"/accounts/people/{people.by_name['ben'].pk}/"
    assert client.get(address).status_code == (403 if name else 302)
    for act in ACTS:
        assert client.post(address + act, {"username": "ben"}).status_code == 403
    people.by_name["ben"].refresh_from_db()
    assert people.by_name["ben"].is_active
    assert people.by_name["ben"].username == "ben"


def test_a_closed_account_is_out_everywhere_and_keeps_its_data(people: People) -> None:
    ben, client = people.by_name["ben"], people.client("ben")
    _, raw = make_token(user=ben, name="n", scopes=["read"], expires_at=now() + timedelta(days=1))
    address = f"/accounts/people/{ben.pk}/"
    people.client("ada").post(f"{address}close/")
    assert client.get("/desk/").status_code == 302
    assert token_of(raw) is None
    assert roles("ben") == {"assessor"}
    assert "closed" in people.client("olga").get(people.page()).content.decode()
    people.client("ada").post(f"{address}open/")
    assert client.get("/desk/")["Location"].startswith("/accounts/login/")  # the old session stays ended
    assert token_of(raw) is None
    ben.refresh_from_db()
    assert people.client("ben").get("/desk/").status_code == 200


def test_nobody_closes_their_own_account(people: People) -> None:
    ada = people.by_name["ada"]
    for act in ACTS:
        answer = people.client("ada").post(f"/accounts/people/{ada.pk}/{act}", {"username": "ada"})
        assert answer.status_code == 422


def test_every_act_is_in_the_audit_log(people: People, settings: Settings, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    settings.AUDIT_LOG = str(log)
    give(people, "sam", "assessor")
    take(people, "sam", "assessor")
    people.client("olga").post(people.page("invite/"), {"role": "assessor", "link": "1"})
    people.client("ada").post(f"/accounts/people/{people.by_name['ben'].pk}/close/")
    kinds = {json.loads(line)["kind"] for line in log.read_text("utf-8").splitlines()}
    wanted = {"account.role_given", "account.role_taken", "account.invited", "account.closed"}
    assert wanted <= kinds


def test_an_account_closed_in_the_admin_is_closed_as_well(people: People) -> None:
    ben, client = people.by_name["ben"], people.client("ben")
    _, raw = make_token(user=ben, name="n", scopes=["read"], expires_at=now() + timedelta(days=1))
    form = {"username": "ben", "date_joined_0": "2026-01-01", "date_joined_1": "10:00:00", "email": ben.email}
    answer = people.client("ada").post(f"/admin/accounts/user/{ben.pk}/change/", form)
    assert answer.status_code == 302
    ben.refresh_from_db()
    assert (ben.is_active, ben.session_epoch) == (False, 1)
    assert token_of(raw) is None
    assert client.get("/desk/").status_code == 302
