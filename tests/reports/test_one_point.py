"""A picture of one point, or of points that do not differ, has axes that tell where the point is."""

import json
from typing import Any

import pytest

from reports.charts import PAPER, plane


def axis_ends(points: list[tuple[float, float]]) -> tuple[Any, Any]:
    """Where the axes of a picture end; None: the points decide."""
    rows = [{"name": f"r{x}{y}", "task": "RAG", "x": x, "y": y} for x, y in points]
    encoding = json.loads(plane(PAPER, rows, ("words", "score")))["layer"][0]["encoding"]
    return encoding["x"]["scale"].get("domain"), encoding["y"]["scale"].get("domain")


@pytest.mark.parametrize(
    ("point", "ends"),
    [
        ((312.0, 0.412), ([0, 624], [0, 1])),
        ((0.0, 1.0), ([0, 1], [0, 1])),
        ((1.5, -0.2), ([0, 3], [-1, 1])),
        ((-3.0, 0.0), ([-3, 1], [0, 1])),
    ],
)
def test_axes_of_one_point_have_two_ends(
    point: tuple[float, float], ends: tuple[list[float], list[float]]
) -> None:
    assert axis_ends([point]) == ends


def test_only_the_axis_without_spread_gets_its_ends() -> None:
    assert axis_ends([(100.0, 0.4), (200.0, 0.4)]) == (None, [0, 1])
    assert axis_ends([(100.0, 0.4), (200.0, 0.5)]) == (None, None)
