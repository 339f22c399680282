"""Tau by the number of topics as a picture; the page has the same figures as a table."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache

from reports.charts import DARK, LIGHT, Palette, configured
from reports.metrics.subsampling import CurvePoint


def curve(points: Sequence[CurvePoint], *, dark: bool) -> str:
    """Return the specification of run-level tau by the number of topics: the mean, and the central 95 %."""
    rows = [
        asdict(one) | {"said": f"{one.topics:,} topics: {one.mean:.3f}, {one.low:.3f} to {one.high:.3f}"}
        for one in points
    ]
    return _curve(json.dumps(rows), DARK if dark else LIGHT)


@lru_cache(maxsize=64)
def _curve(data: str, palette: Palette) -> str:
    import altair as alt  # noqa: PLC0415  # only a process that draws pays for it

    axis = alt.Axis(tickMinStep=1, format="d")
    base = alt.Chart({"values": json.loads(data)}).encode(x=alt.X("topics:Q", title="Topics", axis=axis))
    low = alt.Y("low:Q", title="Kendall's tau-b, run level", scale=alt.Scale(zero=False))
    band = base.mark_area(color=palette.fills[0], opacity=0.2, aria=False).encode(y=low, y2="high:Q")
    line = base.mark_line(color=palette.fills[0], aria=False).encode(y="mean:Q")
    points = base.mark_point(color=palette.fills[0], filled=True, size=40, opacity=1)
    layers = (band, line, points.encode(y="mean:Q", description="said:N"))
    return str(configured(alt.layer(*layers), palette).to_json())
