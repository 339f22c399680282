"""The confusion matrix as a picture; the page has the same figures as a table."""

import json
from functools import lru_cache
from typing import Any

from reports.charts import DARK, LIGHT, Palette, configured
from reports.confusions import ConfusionReport

CELL = 120


def heat_map(report: ConfusionReport, *, dark: bool) -> str:
    """Return the specification of a confusion's heat map: counts and shares of all pairs."""
    pairs = report.confusion.pairs
    names = [label.replace("_", " ") for label in report.labels]
    cells = [
        {"row": names[row], "column": names[column], "count": count, "share": count / pairs if pairs else 0.0}
        | {"said": f"{report.rows} {names[row]}, {report.columns} {names[column]}: {count:,} pairs"}
        for row, counts in enumerate(report.confusion.counts.tolist())
        for column, count in enumerate(counts)
    ]
    data = {"cells": cells, "names": names, "titles": [report.rows, report.columns]}
    return _heat_map(json.dumps(data), DARK if dark else LIGHT)


@lru_cache(maxsize=64)
def _heat_map(data: str, palette: Palette) -> str:
    import altair as alt  # noqa: PLC0415  # only a process that draws pays for it

    given = json.loads(data)
    rows, columns = given["titles"]
    base = alt.Chart({"values": given["cells"]}).encode(
        x=alt.X(
            "column:N", sort=given["names"], title=columns, axis=alt.Axis(orient="top", labelAngle=0, ticks=False)
        ),
        y=alt.Y("row:N", sort=given["names"], title=rows, axis=alt.Axis(ticks=False, minExtent=120)),
    )
    # At most half of the fill, so that the ink of the figures keeps its contrast on every cell.
    tinted = base.mark_rect(color=palette.fills[0], stroke=palette.rule).encode(
        description="said:N",
        opacity=alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 0.5]), legend=None),
    )
    size = CELL * len(given["names"])
    chart = configured(alt.layer(tinted, *_figures(base, palette)), palette)
    return str(chart.properties(width=size, height=size * 0.6).to_json())


def _figures(base: Any, palette: Palette) -> list[Any]:
    counts = base.mark_text(color=palette.text, fontSize=15, fontWeight="bold", dy=-8, aria=False)
    shares = base.mark_text(color=palette.text, fontSize=12, dy=11, aria=False)
    return [
        counts.encode(text={"field": "count", "type": "quantitative", "format": ",d"}),
        shares.encode(text={"field": "share", "type": "quantitative", "format": ".1%"}),
    ]
