"""A topic's drafts on the left, its final list on the right, and lines from each draft to its nuggets."""

from dataclasses import dataclass

from evaluation.domain.lineage import Derivation, derivation_of
from evaluation.models import Submission
from evaluation.terms import Importance
from reports.metrics.edits import EDIT_CLASSES
from reports.nuggets.descriptives import edits_of

WIDTH, ROW, MARGIN = 1000, 28, 24
LEFT, RIGHT = 430, 570  # where the lines begin and end
LETTERS = 62  # of a text that fit beside them


@dataclass(frozen=True, slots=True)
class LineageBox:
    """A nugget at its height in the picture. `fate`: outcome of a draft, or origin of a nugget."""

    number: int
    text: str
    short: str
    y: int
    fate: str
    importance: Importance = Importance.UNKNOWN


@dataclass(frozen=True, slots=True)
class LineageLine:
    """A line from a draft to a nugget."""

    path: str
    relation: str


@dataclass(frozen=True, slots=True)
class LineageStep:
    """A row of the table that says the same as the picture."""

    drafts: tuple[LineageBox, ...]
    what: str
    nugget: LineageBox | None


@dataclass(frozen=True, slots=True)
class LineagePicture:
    """Everything that the page draws, and the taxonomy's classes of this topic."""

    width: int
    height: int
    drafts: tuple[LineageBox, ...]
    nuggets: tuple[LineageBox, ...]
    lines: tuple[LineageLine, ...]
    steps: tuple[LineageStep, ...]
    classes: tuple[str, ...]


def picture_of(submission: Submission) -> LineagePicture | None:
    derivation = derivation_of(submission)
    if derivation is None or derivation.parents is None or derivation.relations is None:
        return None
    children = {parent: relation for relation, *parents in _pairs(derivation) for parent in parents}
    drafts = tuple(
        _box(place, draft.text, children.get(place, "removed")) for place, draft in enumerate(derivation.drafts)
    )
    nuggets = tuple(
        _box(place, nugget.text, relation or "added", nugget.importance)
        for place, (nugget, relation) in enumerate(zip(derivation.nuggets, derivation.relations, strict=True))
    )
    found = edits_of(derivation).classes
    return LineagePicture(
        width=WIDTH,
        height=max(len(drafts), len(nuggets), 1) * ROW + MARGIN,
        drafts=drafts,
        nuggets=nuggets,
        lines=tuple(_lines(derivation, drafts, nuggets)),
        steps=_steps(derivation, drafts, nuggets),
        classes=tuple(name for name in EDIT_CLASSES if name in found),
    )


def _pairs(version: Derivation) -> list[tuple[str | int, ...]]:
    return [
        (relation, *parents)
        for relation, parents in zip(version.relations or (), version.parents or (), strict=True)
    ]


def _box(place: int, text: str, fate: str | int, importance: Importance = Importance.UNKNOWN) -> LineageBox:
    short = text if len(text) <= LETTERS else f"{text[: LETTERS - 1].rstrip()}…"
    return LineageBox(place + 1, text, short, place * ROW + MARGIN, str(fate), importance)


def _lines(
    version: Derivation, drafts: tuple[LineageBox, ...], nuggets: tuple[LineageBox, ...]
) -> list[LineageLine]:
    middle = (LEFT + RIGHT) // 2
    return [
        LineageLine(
            f"M{LEFT} {drafts[parent].y - 4} C{middle} {drafts[parent].y - 4} {middle} {nugget.y - 4} "
            f"{RIGHT} {nugget.y - 4}",
            nugget.fate,
        )
        for nugget, parents in zip(nuggets, version.parents or (), strict=True)
        for parent in parents
    ]


def _steps(
    version: Derivation, drafts: tuple[LineageBox, ...], nuggets: tuple[LineageBox, ...]
) -> tuple[LineageStep, ...]:
    made = [
        LineageStep(tuple(drafts[parent] for parent in parents), nugget.fate, nugget)
        for nugget, parents in zip(nuggets, version.parents or (), strict=True)
    ]
    return (*made, *(LineageStep((draft,), "removed", None) for draft in drafts if draft.fate == "removed"))
