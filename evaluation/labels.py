"""Labels of nuggets in answers and of cited passages: one list for desks, prompts, files, tables and reports.

A label more is an enum member and a `Label` here, and a migration for the columns that check their codes.
"""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Final

from evaluation.terms import Importance

NO_LABEL: Final = 255
"""Outside the codes of every set: stands where a label may be missing and 0 is one."""


class AssignmentLabel(IntEnum):
    """Whether an answer contains a nugget. Values are the stored codes, of one digit."""

    NOT_SUPPORT = 0
    PARTIAL_SUPPORT = 1
    SUPPORT = 2
    CANT_JUDGE = 8
    FAILED = 9


class SupportLabel(IntEnum):
    """Whether a cited segment supports a sentence."""

    NO_SUPPORT = 0
    PARTIAL_SUPPORT = 1
    FULL_SUPPORT = 2
    CANT_JUDGE = 8
    FAILED = 9


class BattleLabel(IntEnum):
    """Which of two answers is better, the left one, the right one, neither or, both being bad, none."""

    RIGHT = 0
    TIE = 1
    LEFT = 2
    BAD = 3
    CANT_JUDGE = 8
    FAILED = 9


@dataclass(frozen=True, slots=True)
class Label:
    """One label. `caption`: on buttons; `spoken`: where the set is not plain; `tone`: of static/css/labels.css.

    `meaning` tells people, in the guidelines, and `prompt` an LLM when to give it. `points`: what it counts, of those
    of its set's best.
    """

    code: IntEnum
    caption: str
    spoken: str
    glyph: str
    tone: str
    key: str = ""
    meaning: str = ""
    prompt: str = ""
    points: int = 0

    @property
    def word(self) -> str:
        """Name in files and in the API."""
        return self.code.name.lower()

    @property
    def short(self) -> str:
        return self.caption.lower()

    @property
    def action(self) -> str:
        """Action of the keymap: a key of one's own gives the label of that place in every set with keys."""
        return f"label-{self.key}" if self.key else self.word


@dataclass(frozen=True, slots=True)
class LabelSet:
    """Labels of one kind of item. `degrees`: from the fullest down, the order of desks and prompts.

    `captions`: by unit, those of the degrees in their order, where a unit has captions of its own. `refuses`: whether
    people may say that they cannot judge.
    """

    degrees: tuple[Label, ...]
    cant_judge: Label
    failed: Label
    captions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    refuses: bool = True

    def __len__(self) -> int:
        return len(self.degrees)

    @property
    def by_people(self) -> tuple[Label, ...]:
        return (*self.degrees, self.cant_judge) if self.refuses else self.degrees

    @property
    def by_word(self) -> dict[str, Label]:
        return {label.word: label for label in self.by_people}

    @property
    def by_code(self) -> dict[int, Label]:
        return {int(label.code): label for label in (*self.by_people, self.failed)}

    @property
    def choices(self) -> list[tuple[int, str]]:
        return [(code, label.word) for code, label in sorted(self.by_code.items())]

    @property
    def headings(self) -> dict[str, str]:
        return {degree.word: degree.spoken.partition(" ")[0].capitalize() for degree in self.degrees}

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(degree.word for degree in self.degrees)

    @property
    def ascending(self) -> tuple[Label, ...]:
        """Degrees as the axes of reports have them: by points, of equal ones the last of the desk first."""
        return tuple(sorted(self.degrees, key=lambda label: label.points, reverse=True)[::-1])

    @property
    def scale(self) -> tuple[str, ...]:
        return tuple(label.word for label in self.ascending)

    def place(self, code: int) -> int:
        return [int(label.code) for label in self.ascending].index(code)

    @property
    def codes(self) -> tuple[int, ...]:
        return tuple(int(degree.code) for degree in self.degrees)

    def caption(self, label: Label, unit: str) -> str:
        """Return what a label is called on buttons that are about a unit, '' being the usual one."""
        own = zip(self.degrees, dict(self.captions).get(unit, ()), strict=False)
        return next((caption for degree, caption in own if degree is label), label.caption)

    def for_page(self) -> dict[str, dict[str, Any]]:
        """For the scripts of a desk, by word in its order; captions by unit."""
        units = ("", *dict(self.captions))
        return {
            word: {
                "action": label.action,
                "glyph": label.glyph,
                "captions": {unit: self.caption(label, unit) for unit in units},
            }
            for word, label in self.by_word.items()
        }


CANT_JUDGE: Final = "cant_judge"
"""Word of the one label that needs a reason, in every set."""


def label_set(codes: type[IntEnum], *degrees: Label) -> LabelSet:
    """Return a set of labels, fullest first; `codes` has `CANT_JUDGE` and `FAILED` beside those of the degrees."""
    meaning = "Nobody could say: unreadable, a text that is missing, another language. Say why."
    return LabelSet(
        degrees,
        Label(codes["CANT_JUDGE"], "Can't judge", "can't judge", "⊘", "cant", key="x", meaning=meaning),
        Label(codes["FAILED"], "Failed", "failed", "✕", "failed"),
    )


NO_LABELS: Final = label_set(AssignmentLabel)
IMPORTANCE_LABELS: Final = replace(
    NO_LABELS,
    degrees=(
        Label(Importance.VITAL, caption="Vital", spoken="vital", glyph="◆", tone="vital"),
        Label(Importance.OKAY, caption="Okay", spoken="okay", glyph="◇", tone="okay"),
    ),
)
CRITERION, AVOIDED = "criterion", "avoided"


def unit_of(weight: float | None) -> str:
    if weight is None:
        return ""
    return AVOIDED if weight < 0 else CRITERION


_NUGGET_DEGREES = label_set(
    AssignmentLabel,
    Label(
        AssignmentLabel.SUPPORT,
        caption="Support",
        spoken="support",
        glyph="●",
        tone="1",
        key="1",
        meaning="The answer says all of what the nugget says, in whatever words.",
        prompt="the passage fully captures the nugget.",
        points=2,
    ),
    Label(
        AssignmentLabel.PARTIAL_SUPPORT,
        caption="Partial",
        spoken="partial support",
        glyph="◐",
        tone="2",
        key="2",
        meaning="The answer says part of what the nugget says.",
        prompt="the passage captures a part of the nugget, but not all of it.",
        points=1,
    ),
    Label(
        AssignmentLabel.NOT_SUPPORT,
        caption="Not",
        spoken="not support",
        glyph="○",
        tone="3",
        key="3",
        meaning="The answer does not say what the nugget says.",
        prompt="the passage does not capture the nugget.",
    ),
)
NUGGET_LABELS: Final = replace(
    _NUGGET_DEGREES,
    captions=(
        (CRITERION, ("Satisfied", "Partly", "Not")),
        (AVOIDED, ("Does it", "Partly", "Does not")),
    ),
)
CITATION_LABELS: Final = label_set(
    SupportLabel,
    Label(
        SupportLabel.FULL_SUPPORT,
        caption="Full",
        spoken="full support",
        glyph="●",
        tone="1",
        key="1",
        meaning="Everything that the sentence says is in the passage.",
        prompt="all that the statement says is borne out by the passage.",
        points=2,
    ),
    Label(
        SupportLabel.PARTIAL_SUPPORT,
        caption="Partial",
        spoken="partial support",
        glyph="◐",
        tone="2",
        key="2",
        meaning="Part of what the sentence says is in the passage, part is not.",
        prompt="a part of what the statement says is borne out by the passage, another part is not.",
        points=1,
    ),
    Label(
        SupportLabel.NO_SUPPORT,
        caption="None",
        spoken="no support",
        glyph="○",
        tone="3",
        key="3",
        meaning="The passage does not say what the sentence says.",
        prompt="nothing of what the statement says is borne out by the passage.",
    ),
)
BATTLE_LABELS: Final = label_set(
    BattleLabel,
    Label(
        BattleLabel.LEFT,
        caption="Left better",
        spoken="left better",
        glyph="◀",
        tone="1",
        key="1",
        meaning="The answer on the left is better.",
        points=2,
    ),
    Label(
        BattleLabel.TIE,
        caption="Tie",
        spoken="tie",
        glyph="=",
        tone="2",
        key="2",
        meaning="Tie: neither answer is better.",
        points=1,
    ),
    Label(
        BattleLabel.RIGHT,
        caption="Right better",
        spoken="right better",
        glyph="▶",
        tone="3",
        key="3",
        meaning="The answer on the right is better.",
    ),
    Label(
        BattleLabel.BAD,
        caption="Both bad",
        spoken="both bad",
        glyph="✕",
        tone="3",
        key="b",
        meaning="Both bad: neither answer is of use.",
        points=1,
    ),
)
LEFT_POINTS: Final = {label.code: label.points / 2 for label in BATTLE_LABELS.degrees}
"""Points of the left answer; of the other labels there are none."""
