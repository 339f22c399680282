"""The keys of the desks: no two meanings in one place, none in the way of typing, and those that were promised."""

import re

import pytest

from accounts.desk_settings import DeskSettings
from assessor.keymap import (
    Action,
    actions_of,
    collisions,
    default_actions,
    fault_of,
    groups,
    is_single,
    keymap_json,
)
from evaluation.stages import (
    ASSIGN,
    BATTLE,
    GRADE,
    MANUAL,
    POST_EDIT,
    STAGES,
    SUPPORT_POST_EDIT,
    SUPPORT_SCRATCH,
    Stage,
)
from tests.architecture.tree import ROOT

# ux.md 3.7, by stage: what each key does there. An action may have more keys.
BOTH = {
    "ArrowUp": "row-previous",
    "k": "row-previous",
    "ArrowDown": "row-next",
    "j": "row-next",
    "1": "vital",
    "2": "okay",
    "0": "clear",
    "Enter": "edit",
    "e": "edit",
    "x": "reject",
    "z": "restore",
    "m": "mark",
    "Shift+M": "merge",
    "s": "split",
    "n": "new",
    "l": "link",
    "g": "evidence-go",
    "b": "evidence-back",
    "[": "passage-previous",
    "]": "passage-next",
    "r": "read",
    "/": "search",
    "w": "pane",
    "f": "flag",
    "c": "comment",
    "Alt+ArrowUp": "move-up",
    "Alt+ArrowDown": "move-down",
    "Ctrl+Z": "undo",
    "Ctrl+Shift+Z": "redo",
    "Ctrl+S": "save",
    "Ctrl+Enter": "submit",
    "?": "keys",
    "p": "pause",
}
JUDGING = {
    "ArrowUp": "judge-previous",
    "k": "judge-previous",
    "ArrowDown": "judge-next",
    "j": "judge-next",
    "1": "label-1",
    "2": "label-2",
    "3": "label-3",
    "0": "label-clear",
    "x": "cant-judge",
    "g": "place-go",
    "b": "place-back",
    "[": "answer-previous",
    "]": "answer-next",
    "/": "answer-search",
    "u": "next-unjudged",
    "w": "pane",
    "f": "flag",
    "c": "comment",
    "i": "define",
    "Ctrl+Z": "undo",
    "Ctrl+Shift+Z": "redo",
    "Ctrl+S": "save",
    "Ctrl+Enter": "finish",
    "?": "keys",
    "p": "pause",
}
SUPPORT = JUDGING | {"Enter": "note", "e": "note"}
PROMISED = {
    POST_EDIT: BOTH | {"a": "keep", "u": "next-undecided", "d": "diff"},
    MANUAL: BOTH | {"u": "next-unread"},
    ASSIGN: JUDGING | {"Enter": "place", "e": "place"},
    SUPPORT_SCRATCH: SUPPORT,
    SUPPORT_POST_EDIT: SUPPORT | {"a": "accept"},
    GRADE: JUDGING | {str(grade): f"label-{grade}" for grade in range(10)} | {"Backspace": "grade-clear"},
}
IN_A_FIELD = {"Escape": ("edit-leave", "editor"), "Enter": ("search-next", "search")}
IN_A_FIELD |= {"Shift+Enter": ("search-previous", "search")}
IN_A_FIELD |= {"Alt+1": ("composer-vital", "composer"), "Alt+2": ("composer-okay", "composer")}
IN_A_FIELD |= {"Alt+3\u20139": ("merge-insert", "merge")}


def actions(stage: str) -> dict[str, Action]:
    return {action.id: action for action in default_actions() if stage in action.stages}


def test_no_key_means_two_things_in_one_place() -> None:
    assert [(chord, action.id, other.id) for chord, action, other in collisions(default_actions())] == []


@pytest.mark.parametrize(
    ("stage", "key", "name"),
    [(stage, key, name) for stage, keys in PROMISED.items() for key, name in keys.items()],
)
def test_a_promised_key_is_there(stage: Stage, key: str, name: str) -> None:
    assert key in actions(stage)[name].keys


@pytest.mark.parametrize("key", IN_A_FIELD)
def test_a_promised_key_of_a_text_field_is_there(key: str) -> None:
    name, where = IN_A_FIELD[key]
    action = actions(MANUAL)[name]
    assert key in action.keys
    assert action.in_fields
    assert action.where == (where,)


@pytest.mark.parametrize(
    "action", [action for action in default_actions() if not action.fixed], ids=lambda action: action.id
)
def test_a_default_key_is_one_that_the_desk_may_take(action: Action) -> None:
    """No Ctrl+Alt, Alt and a letter, Backspace, function key or key of the browser; nothing typed inside a field."""
    assert [fault_of(chord, action) for chord in action.keys] == [""] * len(action.keys)


@pytest.mark.parametrize("action", default_actions(), ids=lambda action: action.id)
def test_a_character_key_needs_the_focus_on_a_row_or_sentence(action: Action) -> None:
    if any(is_single(chord) for chord in action.keys):
        assert set(action.where) <= {"row", "sentence", "passage"}
        assert not action.in_fields


def test_ids_are_said_once_and_every_action_has_a_place_in_the_sheet() -> None:
    ids = [action.id for action in default_actions()]
    assert len(ids) == len(set(ids))
    assert {action.group for action in default_actions()} == set(groups())
    assert all(action.label for action in default_actions())


def test_undo_stays_the_field_s_own_inside_a_text_field() -> None:
    assert not actions(POST_EDIT)["undo"].in_fields
    assert not actions(POST_EDIT)["redo"].in_fields


def test_a_page_gets_the_account_s_own_keys() -> None:
    own = DeskSettings(single_keys=False, keys={"keep": ("q",)})
    page = keymap_json(own, POST_EDIT)
    assert page["single"] is False
    assert {action["id"]: action["keys"] for action in page["actions"]}["keep"] == ["q"]
    assert {action["id"] for action in keymap_json(own, MANUAL)["actions"]} == set(actions(MANUAL))


def test_what_shows_the_machines_label_has_no_key_where_none_is_shown() -> None:
    shown = [stage for stage in STAGES.values() if "accept" in actions(stage)]
    assert shown == [SUPPORT_POST_EDIT]


def test_a_label_is_called_what_its_stage_calls_it() -> None:
    full = {stage: actions(stage)["label-1"].label_in(stage) for stage in STAGES.values() if stage.judges}
    assert full == {
        ASSIGN: "Support",
        SUPPORT_SCRATCH: "Full support",
        SUPPORT_POST_EDIT: "Full support",
        GRADE: "Grade 1",
        BATTLE: "Left better",
    }


def test_fixed_keys_cannot_be_changed() -> None:
    fixed = [action for action in default_actions() if action.fixed]
    own = DeskSettings(keys={action.id: ("q",) for action in fixed})
    assert [action for action in actions_of(own) if action.fixed] == fixed


def test_every_hint_on_a_screen_names_a_key_of_the_list() -> None:
    known = {action.id for action in default_actions()}
    hints = {
        name
        for path in (ROOT / "templates" / "assessor").glob("*.html")
        for name in re.findall(r'<kbd data-key="([\w-]+)"', path.read_text(encoding="utf-8"))
    }
    assert len(hints) > 10
    assert hints <= known


def test_every_key_that_a_script_gives_a_meaning_is_in_the_list() -> None:
    known = {action.id for action in default_actions()}
    defined = {
        name
        for path in (ROOT / "static" / "js").glob("*/*.js")
        for name in re.findall(r'define\(\{ id: "([^"]+)"', path.read_text(encoding="utf-8"))
    }
    assert len(defined) > 10
    assert defined <= known
