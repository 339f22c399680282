"""The page of one's own keys: a plain form that refuses what cannot work, and keeps the rest on the account."""

import json
import re
from typing import Any

import pytest

from accounts.desk_settings import DeskSettings, desk_settings_of, save_desk_settings
from assessor.keymap import default_actions
from tests.worlds.desk import DeskWorld

ADDRESS = "/desk/keys/"


def typed(**changes: str) -> dict[str, str]:
    """The form as it stands for somebody new, with some fields typed over."""
    keys = {f"key-{action.id}": " ".join(action.keys) for action in default_actions() if not action.fixed}
    form = {"reading_size": "17", "single_keys": "on", "hints": "on", "move_on": "on", **keys}
    return form | {name.replace("__", "-"): value for name, value in changes.items()}


def saved(world: DeskWorld) -> DeskSettings:
    ann = world.people["ann"]
    ann.refresh_from_db()
    return desk_settings_of(ann)


def page_keys(world: DeskWorld) -> dict[str, Any]:
    """The keymap that Ann's desk gets, once the task is opened."""
    client = world.client()
    client.post(f"/desk/{world.post_edit.public_id}/start/")
    html = client.get(f"/desk/{world.post_edit.public_id}/").content.decode()
    found = re.search(r'<script id="desk-keys" type="application/json">(.*?)</script>', html)
    assert found
    return dict(json.loads(found[1]))


def test_the_form_shows_the_keys_in_force(world: DeskWorld) -> None:
    save_desk_settings(world.people["ann"], DeskSettings(reading_size=19, keys={"keep": ("q",)}))
    html = world.client().get(ADDRESS).content.decode()
    assert re.search(r'name="key-keep" value="q"', html)
    assert re.search(r'name="key-reject" value="x"', html)
    assert '<option value="19" selected>' in html


def test_changed_keys_are_kept_and_reach_the_desk(world: DeskWorld) -> None:
    answer = world.client().post(ADDRESS, typed(key__keep="q", key__merge="Shift+g", reading_size="20"))
    assert answer.status_code == 302
    assert saved(world) == DeskSettings(reading_size=20, keys={"keep": ("q",), "merge": ("Shift+G",)})
    keys = {action["id"]: action["keys"] for action in page_keys(world)["actions"]}
    assert keys["keep"] == ["q"]
    assert keys["merge"] == ["Shift+G"]
    assert keys["reject"] == ["x"]


def test_an_answer_may_start_at_its_text(world: DeskWorld) -> None:
    world.client().post(ADDRESS, typed(start_at_text="on"))
    assert saved(world).start_at_text
    client = world.client()
    client.post(f"/desk/{world.post_edit.public_id}/start/")
    assert "data-start-at-text" in client.get(f"/desk/{world.post_edit.public_id}/").content.decode()


def test_single_keys_can_be_switched_off(world: DeskWorld) -> None:
    form = typed()
    del form["single_keys"]
    world.client().post(ADDRESS, form)
    assert not saved(world).single_keys
    assert page_keys(world)["single"] is False


def test_an_action_may_have_no_key(world: DeskWorld) -> None:
    world.client().post(ADDRESS, typed(key__flag=""))
    assert saved(world).keys == {"flag": ()}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("key__keep", "x", "also the key of"),
        ("key__keep", "Ctrl+Alt+K", "belongs to menus"),
        ("key__keep", "Alt+k", "belongs to menus"),
        ("key__keep", "Alt+ArrowLeft", "belongs to menus"),
        ("key__keep", "Delete", "is no key"),
        ("key__keep", "F6", "is no key"),
        ("key__keep", "Tab", "is no key"),
        ("key__keep", "nonsense", "is no key"),
        ("key__keep", "Ctrl+W", "belongs to the browser"),
        ("key__undo", "z", "get in the way of typing"),
        ("key__submit", "Shift+S", "get in the way of typing"),
        ("key__keep", "Ctrl+S", "also the key of"),
        ("key__next-undecided", "w", "also the key of"),
    ],
)
def test_a_key_that_cannot_work_is_refused_beside_its_field(
    world: DeskWorld, field: str, value: str, message: str
) -> None:
    answer = world.client().post(ADDRESS, typed(**{field: value}))
    html = answer.content.decode()
    name = field.replace("__", "-")
    assert answer.status_code == 422
    assert re.search(rf'id="id_{name}_error">[^<]*{message}', html)
    assert f'<a href="#id_{name}">' in html
    assert re.search(rf'name="{name}" value="{re.escape(value)}"[^>]*aria-invalid="true"', html)
    assert saved(world) == DeskSettings()


def test_a_key_may_mean_different_things_at_different_stages(world: DeskWorld) -> None:
    keys = {action.id: action.keys for action in default_actions()}
    assert keys["next-undecided"] == keys["next-unread"] == ("u",)
    assert world.client().post(ADDRESS, typed()).status_code == 302
    assert saved(world).keys == {}


def test_the_defaults_come_back_with_one_button(world: DeskWorld) -> None:
    save_desk_settings(
        world.people["ann"], DeskSettings(reading_size=20, single_keys=False, keys={"keep": ("q",)})
    )
    assert world.client().post(ADDRESS, {"defaults": "1"}).status_code == 302
    assert saved(world) == DeskSettings()


def test_settings_are_one_s_own(world: DeskWorld) -> None:
    world.client("ben").post(ADDRESS, typed(key__keep="q"))
    assert saved(world) == DeskSettings()


@pytest.mark.parametrize(
    "stored", [{"reading_size": 99, "keys": "x"}, {"keys": {"keep": "q"}}, [], {"single_keys": 1}]
)
def test_settings_that_make_no_sense_break_nothing(world: DeskWorld, stored: object) -> None:
    world.people["ann"].desk_settings = stored
    assert desk_settings_of(world.people["ann"]) == DeskSettings()


@pytest.mark.parametrize("address", ["https://example.org/", "//example.org/", "javascript:alert(1)"])
def test_the_way_back_leads_only_to_our_own_pages(world: DeskWorld, address: str) -> None:
    html = world.client().get(ADDRESS, {"next": address}).content.decode()
    assert "example.org" not in html
    assert "alert(1)" not in html


def test_the_way_back_to_the_task_is_kept(world: DeskWorld) -> None:
    back = f"/desk/{world.post_edit.public_id}/"
    client = world.client()
    assert f'<a href="{back}">' in client.get(ADDRESS, {"next": back}).content.decode()
    answer = client.post(ADDRESS, typed(next=back), follow=True)
    assert f'<a href="{back}">' in answer.content.decode()


def test_a_key_of_another_alphabet_is_kept_as_it_is_pressed(world: DeskWorld) -> None:
    answer = world.client().post(ADDRESS, typed(key__flag="ф Shift+ж", key__reject="e\u0301"))
    assert answer.status_code == 302
    assert saved(world).keys == {"flag": ("ф", "Shift+Ж"), "reject": ("é",)}


@pytest.mark.parametrize("key", ["\u200b", "لا", "\u00ad"])
def test_what_no_key_types_or_nobody_sees_is_refused(world: DeskWorld, key: str) -> None:
    answer = world.client().post(ADDRESS, typed(key__flag=key))
    assert answer.status_code == 422
    assert "is no key that can be used here" in answer.content.decode()
