"""Very many points as cells of a grid, each with how many points are in it."""

import numpy as np

from reports.points import TopicPoints

CELLS = 40
MOST_POINTS = 5000
"""Up to here each answer is a point of its own."""


def is_binned(points: TopicPoints) -> bool:
    """Say whether there are too many points to draw each."""
    return len(points) > MOST_POINTS


def cells_of(points: TopicPoints) -> list[dict[str, float]]:
    """Return the cells that have a point: their edges `x`, `x2`, `y`, `y2`, and the `count`."""
    top = max(float(points.x.max(initial=0)), float(points.y.max(initial=0)), 1.0)
    counts, edges, _ = np.histogram2d(points.x, points.y, bins=CELLS, range=[[0, top], [0, top]])
    return [
        {
            "x": float(edges[column]),
            "x2": float(edges[column + 1]),
            "y": float(edges[row]),
            "y2": float(edges[row + 1]),
            "count": int(counts[column, row]),
        }
        for column, row in np.argwhere(counts)
    ]
