"""Where the names of a picture's points stand: beside their points, and if possible over no point and no other name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

LETTER_SIZE: Final = 11
LETTER_WIDTH: Final = 6
"""About how wide a letter of that size is."""
POINT_RADIUS: Final = 6


class NamePlace(NamedTuple):
    """How a name is aligned at its point, and by how many pixels it is moved to the right and down."""

    align: str
    right: int
    down: int


PLACES: Final = (
    NamePlace("left", 9, -8),
    NamePlace("left", 9, 8),
    NamePlace("right", -9, -8),
    NamePlace("right", -9, 8),
    NamePlace("center", 0, -14),
    NamePlace("center", 0, 14),
)
"""The best first."""


@dataclass(frozen=True, slots=True)
class PointName:
    """A point in pixels from the upper left corner, and the number of letters of its name."""

    x: float
    y: float
    letters: int


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def places_of(names: Sequence[PointName], width: float) -> list[NamePlace]:
    """Return the place of each name: the first that is free, or else the one that overlaps least."""
    points = [
        Box(name.x - POINT_RADIUS, name.y - POINT_RADIUS, name.x + POINT_RADIUS, name.y + POINT_RADIUS)
        for name in names
    ]
    boxes, places = points, []
    for name in names:
        candidates = [_box(name, place) for place in PLACES]
        overlaps = [sum(map(box.overlaps, boxes)) + (box.right > width or box.left < 0) for box in candidates]
        best = overlaps.index(min(overlaps))
        boxes.append(candidates[best])
        places.append(PLACES[best])
    return places


def _box(name: PointName, place: NamePlace) -> Box:
    width = LETTER_WIDTH * name.letters
    left = name.x + place.right - {"left": 0, "center": width / 2, "right": width}[place.align]
    middle = name.y + place.down
    return Box(left, middle - LETTER_SIZE / 2, left + width, middle + LETTER_SIZE / 2)
