"""The pictures of the report pages. Each stands beside a table with the same figures."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from reports.charts import DARK, LIGHT, NO_TASK, ROOM, SHAPES, TASKS, Palette, configured, names_axis, shortened

Rows = Sequence[dict[str, Any]]
Ends = tuple[tuple[float, float], tuple[float, float]]
"""Beginning and end of the x axis, and of the y axis."""
BAR = 22
"""The height of a bar."""
NARROW = 11
"""The height of one of many bars; then not every one has its name."""
PANEL = 90
"""The height of one of several pictures above each other."""
MOST_NAMED = 40
"""Points that still have their names beside them."""


def stacked(rows: Rows, parts: Sequence[str], title: str, *, dark: bool) -> str:
    """Return bars of shares, one per `name`, cut into `parts` (each row: name, part, share)."""
    return _drawn("stacked", {"rows": list(rows), "parts": list(parts), "title": title}, dark=dark)


def histograms(rows: Rows, title: str, counted: str, *, dark: bool) -> str:
    """Return one histogram per `name` above each other (each row: name, value, count)."""
    return _drawn("histograms", {"rows": list(rows), "title": title, "counted": counted}, dark=dark)


def side_by_side(rows: Rows, parts: Sequence[str], titles: tuple[str, str], *, dark: bool) -> str:
    """Return bars in groups: per `bin` one for each of `parts` (each row: bin, part, share)."""
    return _drawn("side_by_side", {"rows": list(rows), "parts": list(parts), "titles": titles}, dark=dark)


def plane(
    rows: Rows,
    titles: tuple[str, str],
    *,
    dark: bool,
    line: Rows = (),
    small: Rows = (),
    named: bool = True,
    ends: Ends | None = None,
) -> str:
    """Return runs as points with their names, a line behind them, and small points (each row: name, task, x, y).

    `ends`: where the axes begin and end; without it the points decide.
    """
    given = {
        "rows": list(rows),
        "titles": titles,
        "line": list(line),
        "small": list(small),
        "named": named,
        "ends": ends,
    }
    return _drawn("plane", given, dark=dark)


def spans(rows: Rows, title: str, *, dark: bool) -> str:
    """Return low, point and high per `name`, and a published figure where there is one."""
    return _drawn("spans", {"rows": list(rows), "title": title}, dark=dark)


def task_of(task: str) -> str:
    """Return a run's task as the legend names it."""
    return task or NO_TASK


def _drawn(kind: str, given: dict[str, Any], *, dark: bool) -> str:
    return _specified(kind, json.dumps(given), DARK if dark else LIGHT)


@lru_cache(maxsize=64)
def _specified(kind: str, data: str, palette: Palette) -> str:
    """Specify, keyed by the data itself: equal figures give the same picture without doing it again."""
    import altair as alt  # noqa: PLC0415  # only a process that draws pays for it

    return str(DRAW[kind](alt, json.loads(data), palette).to_json())


def _legend(alt: Any) -> Any:
    return alt.Legend(title=None, orient="top", direction="horizontal", offset=10, columnPadding=28)


def _scale(alt: Any, parts: Sequence[str], palette: Palette) -> Any:
    return alt.Scale(domain=list(parts), range=list(palette.fills[: len(parts)]))


def _names(alt: Any, rows: Rows, **given: Any) -> Any:
    order = list(dict.fromkeys(row["name"] for row in rows))
    return alt.Y("name:N", sort=order, title=None, axis=names_axis(alt, labelOverlap=True, grid=False), **given)


def _stacked(alt: Any, given: dict[str, Any], palette: Palette) -> Any:
    rows, parts = given["rows"], given["parts"]
    ranked = [
        row | {"place": parts.index(row["part"]), "said": f"{row['name']}, {row['part']}: {row['share']:.1%}"}
        for row in rows
    ]
    bars = alt.Chart(alt.Data(values=ranked)).mark_bar(stroke=palette.rule, strokeWidth=1)
    chart = bars.encode(
        x=alt.X("share:Q", title=given["title"], stack=True, axis=alt.Axis(format="%", grid=True)),
        y=_names(alt, rows),
        fill=alt.Fill("part:N", scale=_scale(alt, parts, palette), legend=_legend(alt)),
        order=alt.Order("place:Q"),
        description="said:N",
    )
    return configured(chart, palette).properties(height={"step": BAR}, padding=ROOM)


def _histograms(alt: Any, given: dict[str, Any], palette: Palette) -> Any:
    order = list(dict.fromkeys(row["name"] for row in given["rows"]))
    counted = [row | {"said": f"{row['name']}, {_bin_text(row)}: {row['count']:,}"} for row in given["rows"]]
    bars = alt.Chart(alt.Data(values=counted)).mark_bar(color=palette.fills[0])
    header = alt.Header(
        labelColor=palette.ink, labelAnchor="start", labelFontSize=12, labelOrient="top", labelPadding=4
    )
    chart = bars.encode(
        x=alt.X(
            "value:Q",
            title=given["title"],
            bin=alt.Bin(binned=True, step=given["rows"][0]["step"]),
            axis=alt.Axis(labelOverlap=True, format=",d", tickMinStep=1),
        ),
        x2="end:Q",
        y=alt.Y("count:Q", title=given["counted"], axis=alt.Axis(tickMinStep=1)),
        row=alt.Row("name:N", sort=order, title=None, header=header),
        description="said:N",
    )
    return configured(chart, palette).properties(height=PANEL)


def _bin_text(row: dict[str, Any]) -> str:
    last = row["end"] - 1
    return str(row["value"]) if last == row["value"] else f"{row['value']} to {last}"


def _side_by_side(alt: Any, given: dict[str, Any], palette: Palette) -> Any:
    order = list(dict.fromkeys(row["bin"] for row in given["rows"]))
    described = [row | {"said": f"{row['bin']}, {row['part']}: {row['share']:.1%}"} for row in given["rows"]]
    bars = alt.Chart(alt.Data(values=described)).mark_bar(stroke=palette.ink, strokeWidth=0.5)
    chart = bars.encode(
        x=alt.X("bin:N", sort=order, title=given["titles"][0], axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("part:N", sort=given["parts"]),
        y=alt.Y("share:Q", title=given["titles"][1], axis=alt.Axis(format="%")),
        fill=alt.Fill("part:N", scale=_scale(alt, given["parts"], palette), legend=_legend(alt)),
        description="said:N",
    )
    return configured(chart, palette)


def _plane(alt: Any, given: dict[str, Any], palette: Palette) -> Any:
    layers = []
    if given["line"]:
        line = alt.Chart(alt.Data(values=given["line"]))
        mark = line.mark_line(color=palette.control, strokeDash=[5, 3], interpolate="step-after", aria=False)
        layers.append(mark.encode(x="x:Q", y="y:Q", order="x:Q"))
    if given["small"]:
        layers.append(_points(alt, given["small"], given, palette, size=26))
    layers.append(_points(alt, given["rows"], given, palette, size=120))
    if given["named"] and len(given["rows"]) <= MOST_NAMED:
        layers += [_named(alt, given["rows"], palette, halo=halo) for halo in (True, False)]
    return configured(alt.layer(*layers), palette).properties(padding=ROOM)


def _named(alt: Any, rows: Rows, palette: Palette, *, halo: bool) -> Any:
    """Return the names beside their points, or the ground behind them, which keeps lines from striking them out."""
    edge = {"stroke": palette.ground, "strokeWidth": 4} if halo else {}
    text = alt.Chart(alt.Data(values=rows)).transform_calculate(short=shortened("datum.name"))
    mark = text.mark_text(align="left", dx=9, dy=-8, fontSize=11, color=palette.ink, aria=False, **edge)
    return mark.encode(x="x:Q", y="y:Q", text="short:N")


def _points(alt: Any, rows: Rows, given: dict[str, Any], palette: Palette, *, size: int) -> Any:
    tasks = list(dict.fromkeys(row["task"] for row in (*given["rows"], *given["small"])))
    tasks.sort(key=lambda task: TASKS.index(task) if task in TASKS else len(TASKS))
    shapes = [SHAPES.get(task, SHAPES[""]) for task in tasks]
    legend = _legend(alt) if len(tasks) > 1 else None
    is_small = size < 100
    figures = [row | {"said": _point_text(row, given["titles"])} for row in rows]
    mark = alt.Chart(alt.Data(values=figures)).mark_point(
        filled=True, size=size, opacity=0.45 if is_small else 1, stroke=None if is_small else palette.ink
    )
    drawn = [*given["rows"], *given["small"]]
    x, y = (_axis_scale(alt, ends) for ends in given["ends"] or (_ends_of(drawn, "x"), _ends_of(drawn, "y")))
    return mark.encode(
        x=alt.X("x:Q", title=given["titles"][0], scale=x),
        y=alt.Y("y:Q", title=given["titles"][1], scale=y),
        description="said:N",
        shape=alt.Shape("task:N", scale=alt.Scale(domain=tasks, range=shapes), legend=legend),
        fill=alt.Fill("task:N", scale=alt.Scale(domain=tasks, range=_task_fills(tasks, palette)), legend=legend),
    )


def _ends_of(rows: Rows, axis: str) -> tuple[float, float] | None:
    """Return where an axis ends whose values do not differ: a scale by them alone would have no length."""
    values = {row[axis] for row in rows}
    if len(values) != 1:
        return None
    [value] = values
    if value < 0:
        return (min(value, -1.0), 1.0)
    return (0.0, 1.0 if value <= 1 else 2 * value)


def _axis_scale(alt: Any, ends: Sequence[float] | None) -> Any:
    if ends is None:
        return alt.Scale(zero=False, nice=True, padding=12)
    return alt.Scale(domain=list(ends), nice=True)


def _task_fills(tasks: Sequence[str], palette: Palette) -> list[str]:
    """Return each task's colour, the same in every picture; what is no task takes one that is left."""
    left = [fill for task, fill in zip(TASKS, palette.fills, strict=True) if task not in tasks] or [palette.ink]
    others = [task for task in tasks if task not in TASKS]
    return [
        left[others.index(task) % len(left)] if task in others else palette.fills[TASKS.index(task)]
        for task in tasks
    ]


def _point_text(row: dict[str, Any], titles: Sequence[str]) -> str:
    figures = f"{titles[0]} {row['x']:,.4g}, {titles[1]} {row['y']:,.4g}"
    return f"{row['name']}: {figures}" if "name" in row else figures


def _spans(alt: Any, given: dict[str, Any], palette: Palette) -> Any:
    rows = given["rows"]
    described = [row | {"said": f"{row['name']}: {_span_text(row)}"} for row in rows]
    base = alt.Chart(alt.Data(values=described))
    lines = base.mark_rule(color=palette.control, strokeWidth=3, aria=False)
    points = base.mark_point(filled=True, size=90, opacity=1, fill=palette.fills[0], stroke=palette.ink)
    published = base.transform_filter("datum.published != null").mark_tick(
        color=palette.fills[1], thickness=3, size=NARROW - 3, opacity=1, aria=False
    )
    layers = [
        lines.encode(x=alt.X("low:Q", title=given["title"]), x2="high:Q", y=_names(alt, rows)),
        points.encode(x=alt.X("point:Q"), y=_names(alt, rows), description="said:N"),
        published.encode(x=alt.X("published:Q"), y=_names(alt, rows)),
    ]
    step = BAR if len(rows) <= MOST_NAMED else NARROW
    return configured(alt.layer(*layers), palette).properties(height={"step": step}, padding=ROOM)


def _span_text(row: dict[str, Any]) -> str:
    return f"{row['point']:.2f}, {row['low']:.2f} to {row['high']:.2f}"


DRAW = {
    "stacked": _stacked,
    "histograms": _histograms,
    "side_by_side": _side_by_side,
    "plane": _plane,
    "spans": _spans,
}
