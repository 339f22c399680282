"""Plots. Each stands beside a table with the same figures, and is made once per data and theme."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from reports.binning import cells_of, is_binned
from reports.correlation import Correlation
from reports.points import RunPoint, TopicPoint
from reports.standings import Standing, value_of

WIDTH, HEIGHT = 560, 380
FONT = "Public Sans, system-ui, Segoe UI, Roboto, sans-serif"
SHAPES = {"RAG": "circle", "AG": "square", "": "diamond"}
NO_TASK = "no task"
TASKS = ("RAG", "AG", NO_TASK)
LARGE, MANY_RUNS = 130, 60
"""The size of a run's point, and from how many runs it is half of that."""
ROW = 20
"""The height of a run in a ranking."""
ROOM = {"left": 48, "right": 64, "top": 12, "bottom": 12}
"""Around pictures with names in them: readers draw these in fonts wider than ours."""
NAME_ROOM = 340
NAME_START, NAME_END = 24, 19
"""How much of a long name is drawn. Its end is kept, where runs of one group differ."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a theme, as in static/css/tokens.css.

    A picture brings its ground: its words stay readable on whatever it is put, and while the theme around it changes.
    """

    ground: str
    ink: str
    rule: str
    control: str
    fills: tuple[str, str, str]
    text: str = "#1b1b1b"
    shades: tuple[str, str] = ("#dbe7fb", "#0050d8")


LIGHT = Palette("#ffffff", "#454545", "#dfe1e2", "#71767a", ("#0050d8", "#7a591a", "#1b1b1b"))
DARK = Palette(
    "#17191c",
    "#c9c9c9",
    "#3d4551",
    "#8d9297",
    ("#58b4ff", "#ffbe2e", "#f0f0f0"),
    "#f0f0f0",
    ("#1d3350", "#58b4ff"),
)


def scatter(found: Correlation, *, dark: bool) -> str:
    """Return the specification of the scatter of two conditions: runs in front, single answers small behind them.

    Of very many answers, cells of a grid take the place of points, shaded by how many.
    """
    sides = (found.x, found.y)
    runs = [
        {"task": one.task or NO_TASK, "x": one.x, "y": one.y, "said": f"{one.run_id}: {_both(sides, one)}"}
        for one in found.runs
        if one.x is not None and one.y is not None
    ]
    binned = is_binned(found.points)
    answers = [
        {"task": one.task or NO_TASK, "x": one.x, "y": one.y}
        | {"said": f"{one.run_id}, topic {one.topic_id}: {_both(sides, one)}"}
        for one in (() if binned else found.points)
    ]
    cells = cells_of(found.points) if binned else []
    name = found.score.replace("_", " ")
    titles = (f"{found.x}, {name}", f"{found.y}, {name}")
    return _scatter(
        json.dumps({"runs": runs, "answers": answers, "cells": cells, "titles": titles}), DARK if dark else LIGHT
    )


def ranking(found: Sequence[Standing], score: str, *, dark: bool) -> str:
    """Return the specification of runs by one score, each with its interval."""
    rows = [
        {"run": one.row.run_id, "task": one.row.task or NO_TASK, "mean": mean, "low": one.low, "high": one.high}
        | {"said": f"{one.row.run_id}: {_with_interval(mean, one)}"}
        for one in found
        if (mean := value_of(one, score)) is not None
    ]
    return _ranking(json.dumps({"runs": rows, "title": score.replace("_", " ")}), DARK if dark else LIGHT)


def _both(sides: tuple[str, str], one: RunPoint | TopicPoint) -> str:
    return f"{sides[0]} {one.x:.3f}, {sides[1]} {one.y:.3f}"


def _with_interval(mean: float, one: Standing) -> str:
    return f"{mean:.3f}" if one.low is None or one.high is None else f"{mean:.3f}, {one.low:.3f} to {one.high:.3f}"


@lru_cache(maxsize=64)
def _scatter(data: str, palette: Palette) -> str:
    """Specify, keyed by the data itself: equal figures give the same picture without doing it again."""
    import altair as alt  # noqa: PLC0415  # only a process that draws pays for it

    given = json.loads(data)
    size = LARGE if len(given["runs"]) <= MANY_RUNS else LARGE // 2
    given["tasks"] = _tasks(given["runs"] + given["answers"])
    behind = [_cells(alt, given["cells"], given["titles"], palette)] if given["cells"] else []
    layers = [
        *behind,
        _points(alt, given["answers"], given, palette, size=18, opacity=0.35),
        _points(alt, given["runs"], given, palette, size=size, opacity=1.0),
    ]
    highest = max(
        (point[axis] for part in ("runs", "answers") for point in given[part] for axis in "xy"), default=1
    )
    chart = configured(alt.layer(_diagonal(alt, max(highest, 1), palette), *layers), palette)
    return str(chart.to_json())


@lru_cache(maxsize=64)
def _ranking(data: str, palette: Palette) -> str:
    import altair as alt  # noqa: PLC0415  # only a process that draws pays for it

    given = json.loads(data)
    layers = _ranked(alt, given["runs"], given["title"], palette)
    return str(configured(alt.layer(*layers), palette).properties(height={"step": ROW}, padding=ROOM).to_json())


def _ranked(alt: Any, rows: list[dict[str, Any]], title: str, palette: Palette) -> list[Any]:
    """Return the intervals as lines, and the means in front of them, in the order of the rows."""
    order = [row["run"] for row in rows]
    runs = alt.Y("run:N", sort=order, title=None, axis=names_axis(alt, grid=True))
    base = alt.Chart(alt.Data(values=rows))
    lines = base.transform_filter("datum.low != null").mark_rule(color=palette.control, strokeWidth=2, aria=False)
    return [
        lines.encode(x=alt.X("low:Q", title=title), x2="high:Q", y=runs),
        _marks(alt, base, _tasks(rows), palette).encode(x=alt.X("mean:Q"), y=runs),
    ]


def names_axis(alt: Any, **given: Any) -> Any:
    """Return an axis of names, long ones without their middle."""
    return alt.Axis(labelExpr=shortened("datum.label"), labelLimit=NAME_ROOM, ticks=False, **given)


def shortened(name: str) -> str:
    """Return the Vega expression of a name without its middle where it is long."""
    short = f"slice({name}, 0, {NAME_START}) + '…' + slice({name}, -{NAME_END})"
    return f"length({name}) > {NAME_START + NAME_END + 1} ? {short} : {name}"


def _tasks(rows: list[dict[str, Any]]) -> list[str]:
    """Return the tasks that occur, always in the same order."""
    there = {row["task"] for row in rows}
    return [task for task in TASKS if task in there]


def _shapes(alt: Any, tasks: list[str]) -> Any:
    return alt.Scale(domain=tasks, range=[SHAPES.get(task, SHAPES[""]) for task in tasks])


def _fills(alt: Any, tasks: list[str], palette: Palette) -> Any:
    return alt.Scale(domain=tasks, range=[palette.fills[TASKS.index(task)] for task in tasks])


def _marks(alt: Any, base: Any, tasks: list[str], palette: Palette) -> Any:
    """Return points whose shape and colour are those of their task."""
    legend = alt.Legend(title=None, orient="top", direction="horizontal", offset=10)
    return base.mark_point(filled=True, size=90, opacity=1, stroke=palette.ink, strokeWidth=1).encode(
        description="said:N",
        shape=alt.Shape("task:N", scale=_shapes(alt, tasks), legend=legend),
        fill=alt.Fill("task:N", scale=_fills(alt, tasks, palette), legend=legend),
    )


def _points(
    alt: Any, rows: list[dict[str, Any]], given: dict[str, Any], palette: Palette, *, size: int, opacity: float
) -> Any:
    titles = given["titles"]
    shapes, fills = _shapes(alt, given["tasks"]), _fills(alt, given["tasks"], palette)
    legend = alt.Legend(title=None, orient="top", direction="horizontal", offset=10)
    stroke = palette.ink if opacity == 1 else None
    mark = alt.Chart(alt.Data(values=rows)).mark_point(
        filled=True, size=size, opacity=opacity, stroke=stroke or "transparent", strokeWidth=1.5
    )
    return mark.encode(
        x=alt.X("x:Q", title=titles[0]),
        y=alt.Y("y:Q", title=titles[1]),
        description="said:N",
        shape=alt.Shape("task:N", scale=shapes, legend=legend),
        fill=alt.Fill("task:N", scale=fills, legend=legend),
    )


def _cells(alt: Any, rows: list[dict[str, Any]], titles: list[str], palette: Palette) -> Any:
    """Return the cells of a grid, shaded by how many answers are in them, on a logarithmic scale."""
    most = max(2, *(row["count"] for row in rows))
    described = [row | {"said": f"{row['count']:,} answers"} for row in rows]
    shades = alt.Scale(type="log", domain=[1, most], range=list(palette.shades))
    legend = alt.Legend(
        title="answers per cell",
        orient="top",
        gradientLength=160,
        titleColor=palette.ink,
        titleFontWeight="normal",
    )
    return (
        alt.Chart(alt.Data(values=described))
        .mark_rect()
        .encode(
            x=alt.X("x:Q", title=titles[0]),
            x2="x2:Q",
            y=alt.Y("y:Q", title=titles[1]),
            y2="y2:Q",
            color=alt.Color("count:Q", scale=shades, legend=legend),
            description="said:N",
        )
    )


def _diagonal(alt: Any, highest: float, palette: Palette) -> Any:
    rows = [{"x": 0, "y": 0}, {"x": highest, "y": highest}]
    line = alt.Chart(alt.Data(values=rows)).mark_line(
        color=palette.control, strokeDash=[4, 4], strokeWidth=1, aria=False
    )
    return line.encode(x="x:Q", y="y:Q")


def configured(chart: Any, palette: Palette) -> Any:
    """Return a chart in our size, fonts and colours."""
    axis = {
        "gridColor": palette.rule,
        "domainColor": palette.control,
        "tickColor": palette.control,
        "labelColor": palette.ink,
        "titleColor": palette.ink,
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "tickCount": 5,
    }
    return (
        chart.properties(width=WIDTH, height=HEIGHT, background=palette.ground, padding=12)
        .configure(font=FONT)
        .configure_axis(**axis)
        .configure_legend(labelColor=palette.ink, labelFontSize=12, symbolSize=110, symbolOpacity=1)
        .configure_view(stroke=None)
    )
