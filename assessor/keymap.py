"""Keys of the desks: the defaults, a user's own, and those that nobody may have.

static/js/desk/keymap.json is the only list, but for keys of labels, which are those of evaluation/labels.py. The page's
script gets it with the user's own keys already in it.
"""

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import combinations
from typing import Any

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field

from accounts.desk_settings import DeskSettings
from evaluation.labels import IMPORTANCE_LABELS, NO_LABELS
from evaluation.stages import MANUAL, STAGES, Stage

ANYWHERE = "anywhere"
NAMED = frozenset({"Enter", "Escape", "Space", "Backspace", "Home", "End", "PageUp", "PageDown"})
ARROWS = frozenset({"ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"})
BROWSERS_OWN = frozenset("ACFLNPQRTVWX")  # with Ctrl: copy, paste, find, close, reload and the like
CHORD = re.compile(r"(?P<ctrl>Ctrl\+)?(?P<alt>Alt\+)?(?P<shift>Shift\+)?(?P<key>\S[^+]*|\+)")
ONLY = {
    ("post-edit",): "Edit drafts only",
    ("manual",): "Write nuggets only",
    ("assign",): "assigning only",
    ("support",): "support only",
    ("support-post-edit",): "support only",
    ("grade",): "grading only",
    ("battle",): "comparing only",
}
WHEN = {"manual": "in Write nuggets", "support": "in Judge citations"}


def names_of(stage: Stage) -> set[str]:
    return {stage, "judging" if stage.judges else "nuggets", *stage.keys}


class BadKey(Exception):
    """No key, or a key that the desk may not take."""


class Action(BaseModel):
    """One thing a key does. `where`: what must have the focus; `fixed`: the field itself sees to it."""

    model_config = ConfigDict(frozen=True, validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    id: str
    keys: tuple[str, ...]
    where: tuple[str, ...]
    group: str
    label: str
    in_fields: bool = Field(default=False, alias="inFields")
    repeats: bool = False
    fixed: bool = False
    labels: Mapping[str, str] = Field(default={}, exclude=True)
    named: tuple[str, ...] = Field(default=(), alias="stages", exclude=True)
    """Stages that have it, each by its code or under a name that it shares with others; none: all."""
    but: tuple[str, ...] = Field(default=(), exclude=True)
    """Codes of stages that have another in its place."""

    @property
    def stages(self) -> tuple[Stage, ...]:
        stages = (stage for stage in STAGES.values() if stage not in self.but)
        return tuple(stage for stage in stages if not self.named or names_of(stage) & {*self.named})

    def label_in(self, stage: Stage) -> str:
        return next((self.labels[name] for name in names_of(stage) & {*self.labels}), self.label)

    @property
    def full_label(self) -> str:
        differing = [f"{label} {_when(name)}" for name, label in self.labels.items()]
        more = [*differing, *([ONLY[self.named]] if self.named in ONLY else [])]
        return f"{self.label} ({', '.join(more)})" if more else self.label


def _when(name: str) -> str:
    return WHEN.get(name) or f"in {STAGES[name].words}"


@cache
def groups() -> tuple[str, ...]:
    return tuple(_file()["groups"])


def default_actions() -> tuple[Action, ...]:
    return _actions(tuple(STAGES.values()))


@cache
def _actions(stages: tuple[Stage, ...]) -> tuple[Action, ...]:
    lines = _file()["actions"]
    return tuple(Action.model_validate(action) for line in lines for action in _with_labels(line, stages))


def _with_labels(line: dict[str, Any], stages: Iterable[Stage]) -> Iterator[dict[str, Any]]:
    """Fill in what label sets say: an action for each place of a label, and the key of "can't judge"."""
    if line["id"] == "cant-judge":
        yield line | {"keys": [NO_LABELS.cant_judge.key]}
    elif line["id"] == "label":
        judging = [stage for stage in stages if stage.judges]
        sets = {(stage.keys or (stage,))[0]: stage.labels for stage in judging}
        for key in dict.fromkeys(label.key for labels in sets.values() for label in labels.degrees):
            by_stage = {
                name: label.spoken.capitalize()
                for name, labels in sets.items()
                for label in labels.degrees
                if label.key == key
            }
            usual = next(iter(by_stage.values()))
            others = {name: spoken for name, spoken in by_stage.items() if spoken != usual}
            own = {"id": f"label-{key}", "keys": [key], "label": usual, "labels": others, "stages": [*by_stage]}
            yield line | own
    else:
        yield line


@cache
def _file() -> dict[str, Any]:
    path = settings.BASE_DIR / "static" / "js" / "desk" / "keymap.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def actions_of(own: DeskSettings) -> list[Action]:
    return [
        action if action.fixed else action.model_copy(update={"keys": own.keys.get(action.id, action.keys)})
        for action in default_actions()
    ]


def keymap_json(own: DeskSettings, stage: Stage, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the keys of a stage for the page's script. `without`: actions that the protocol forbids."""
    return {
        "single": own.single_keys,
        "hints": own.hints,
        "groups": list(groups()),
        "actions": [
            action.model_dump(mode="json") | {"label": action.label_in(stage)}
            for action in actions_of(own)
            if stage in action.stages and action.id not in without
        ],
    }


NOT_PRACTISED = ("cant-judge", "note", "evidence", "flag", "comment", "pause")
OF_ANSWERS = ("place", "record", "place-go", "answer-search")


def importance_keymap(own: DeskSettings, keymap: dict[str, Any]) -> dict[str, Any]:
    """Keys of a judging desk at which importance is practised; vital and okay have those of the nugget desks."""
    labels = [label.action for stage in STAGES.values() for label in stage.labels.degrees]
    others = [action for action in keymap["actions"] if action["id"] not in (*OF_ANSWERS, *labels)]
    of_nuggets = keymap_json(own, MANUAL)["actions"]
    importance = [action for action in of_nuggets if action["id"] in IMPORTANCE_LABELS.words]
    return keymap | {"actions": [*importance, *others]}


def is_single(chord: str) -> bool:
    """Say whether a chord types a character, so that WCAG 2.1.4 speaks of it."""
    return len(chord.removeprefix("Shift+") or "+") == 1


def parse_keys(text: str, action: Action) -> tuple[str, ...]:
    """Return the keys that somebody typed into a form for an action. Raises `BadKey` with what is wrong."""
    chords = tuple(dict.fromkeys(_normal(word) for word in unicodedata.normalize("NFC", text).split()))
    for chord in chords:
        if fault := fault_of(chord, action):
            raise BadKey(fault)
    return chords


def _normal(word: str) -> str:
    *modifiers, key = re.split(r"(?<=.)\+(?=.)", word)
    spelled = {"esc": "Escape", "up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight"}
    spelled |= {name.lower(): name for name in NAMED | ARROWS}
    if len(key) == 1:
        key = key.upper() if modifiers or (key.isalpha() and key != key.lower()) else key
        modifiers = modifiers or (["Shift"] if key.isalpha() and key.isupper() else [])
    else:
        key = spelled.get(key.lower(), key)
    order = {"Ctrl": 0, "Alt": 1, "Shift": 2}
    names = [
        {"control": "Ctrl", "strg": "Ctrl"}.get(modifier.lower(), modifier.capitalize()) for modifier in modifiers
    ]
    return "+".join([*sorted(names, key=lambda key: order.get(key, 9)), key])


def fault_of(chord: str, action: Action) -> str:
    """Return why an action may not have a key, '' where it may."""
    match = CHORD.fullmatch(chord)
    key = match["key"] if match else ""
    if not match or not ((len(key) == 1 and key.isprintable()) or key in NAMED | ARROWS):
        return f"“{chord}” is no key that can be used here."
    # Ctrl+Alt is AltGr on many keyboards, where it types letters.
    if match["alt"] and (match["ctrl"] or key not in ("ArrowUp", "ArrowDown")):
        return f"“{chord}” belongs to menus, screen readers and letters of other languages."
    # Chromium keeps Ctrl+N, T and W from every page; taking the others would break copy and find.
    if match["ctrl"] and not match["shift"] and key in BROWSERS_OWN:
        return f"“{chord}” belongs to the browser."
    if is_single(chord) and (action.in_fields or ANYWHERE in action.where):
        return f"“{chord}” would get in the way of typing; this needs Ctrl."
    return ""


def collisions(actions: Iterable[Action]) -> Iterator[tuple[str, Action, Action]]:
    """Yield each key that means two things in one place, with both."""
    for pair, other in combinations(actions, 2):
        if set(pair.stages) & set(other.stages) and _overlap(pair, other):
            for chord in sorted(set(pair.keys) & set(other.keys)):
                yield chord, pair, other


def _overlap(key: Action, other: Action) -> bool:
    shared = set(key.where) & set(other.where)
    return bool(shared) or ANYWHERE in key.where or ANYWHERE in other.where
