"""Plots. Each stands beside a table with the same figures, and is made once per data and theme.

A function without an underscore returns a Vega-Lite specification as JSON; one that is `drawn` takes plain rows.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec

from reports.agreement.figures import Correlation, RunPoint, TopicPoint, cells_of, is_binned
from reports.confusion.paired_labels import ConfusionReport
from reports.files import with_code
from reports.metrics.bootstrap import CurvePoint
from reports.metrics.registry import BY_NAME
from reports.name_places import LETTER_SIZE, NamePlace, PointName, places_of
from web.words import word_of

Figures = ParamSpec("Figures")
Rows = Sequence[dict[str, Any]]
Ends = tuple[tuple[float, float], tuple[float, float]]
"""Beginning and end of the x axis, and of the y axis."""
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
NAME_GAP = 8
"""From a name to its axis, on which a point at 0 has half of its size."""
NAME_START, NAME_END = 24, 19
"""How much of a long name is drawn. Its end is kept, where runs of one group differ."""
CELL = 120
BAR = 22
"""The height of a bar."""
NARROW = 11
"""The height of one of many bars; then not every one has its name."""
PANEL = 90
"""The height of one of several pictures above each other."""
MOST_NAMED = 40
"""Points that still have their names beside them."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a theme, as in static/css/tokens.css.

    A picture brings its ground: its words stay readable on whatever it is put, and while the theme around it changes.
    `fits`: axes fit the figures, as in a file; on pages they are of the whole measure.
    """

    ground: str
    ink: str
    rule: str
    control: str
    fills: tuple[str, str, str]
    text: str = "#1b1b1b"
    shades: tuple[str, str] = ("#dbe7fb", "#0050d8")
    fits: bool = False


LIGHT = Palette("#ffffff", "#454545", "#dfe1e2", "#71767a", ("#0050d8", "#7a591a", "#1b1b1b"))
DARK_FILLS, DARK_SHADES = ("#58b4ff", "#ffbe2e", "#f0f0f0"), ("#1d3350", "#58b4ff")
DARK = Palette("#17191c", "#c9c9c9", "#3d4551", "#8d9297", DARK_FILLS, "#f0f0f0", DARK_SHADES)
PAPER = replace(LIGHT, fits=True)
"""Of pictures as files, which name codes beside their words."""


def drawn(
    draw: Callable[Concatenate[Any, Palette, Figures], Any],
) -> Callable[Concatenate[Palette, Figures], str]:
    """Return a function to the specification as JSON, made once for equal figures in one palette."""

    # Keyed by the figures as text, not by campaign and revision: a new label that changes no figure draws nothing.
    @lru_cache(maxsize=64)
    def specified(data: str, palette: Palette) -> str:
        import altair as alt  # noqa: PLC0415  # only a process that draws pays for it

        figures, options = json.loads(data)
        return str(draw(alt, palette, *figures, **options).to_json())

    @wraps(draw)
    def picture(palette: Palette, /, *figures: Figures.args, **options: Figures.kwargs) -> str:
        return specified(json.dumps([figures, options]), palette)

    return picture


def scatter(palette: Palette, correlation: Correlation) -> str:
    """Return the scatter of two conditions: runs in front, single answers small behind them.

    Of very many answers, cells of a grid take the place of points, shaded by how many.
    """
    sides = (correlation.x, correlation.y)
    runs = [
        {"task": run.task or NO_TASK, "x": run.x, "y": run.y, "description": f"{run.run_id}: {_both(sides, run)}"}
        for run in correlation.runs
        if run.x is not None and run.y is not None
    ]
    binned = is_binned(correlation.points)
    answers = [
        {"task": point.task or NO_TASK, "x": point.x, "y": point.y}
        | {"description": f"{point.run_id}, topic {point.topic_id}: {_both(sides, point)}"}
        for point in (() if binned else correlation.points)
    ]
    cells = cells_of(correlation.points) if binned else []
    name = BY_NAME[correlation.score].spoken
    titles = (f"{with_code(correlation.x)}, {name}", f"{with_code(correlation.y)}, {name}")
    return _scatter(palette, runs, answers, cells, titles)


def _both(sides: tuple[str, str], point: RunPoint | TopicPoint) -> str:
    return f"{sides[0]} {point.x:.3f}, {sides[1]} {point.y:.3f}"


def ranking(palette: Palette, rows: Sequence[Mapping[str, Any]], score: str, title: str) -> str:
    runs = [
        {"run": row["run_id"], "task": row["task"] or NO_TASK, "mean": row[score]}
        | {"low": row["low"], "high": row["high"], "description": f"{row['run_id']}: {_with_interval(row, score)}"}
        for row in rows
        if row[score] is not None
    ]
    return _ranking(palette, runs, title)


def _with_interval(row: Mapping[str, Any], score: str) -> str:
    mean = f"{row[score]:.3f}"
    return mean if row["low"] is None or row["high"] is None else f"{mean}, {row['low']:.3f} to {row['high']:.3f}"


def heat_map(palette: Palette, report: ConfusionReport) -> str:
    pairs = report.confusion.pairs
    names = [word_of(label) for label in report.labels]
    cells = [
        {"row": names[row], "column": names[column], "count": count, "share": count / pairs if pairs else 0.0}
        | {"description": f"{report.rows} {names[row]}, {report.columns} {names[column]}: {count:,} pairs"}
        for row, counts in enumerate(report.confusion.counts.tolist())
        for column, count in enumerate(counts)
    ]
    return _heat_map(palette, cells, names, (with_code(report.rows), with_code(report.columns)))


def curve(palette: Palette, points: Sequence[CurvePoint]) -> str:
    rows = [
        asdict(point)
        | {"description": f"{point.topics:,} topics: {point.mean:.3f}, {point.low:.3f} to {point.high:.3f}"}
        for point in points
    ]
    return _curve(palette, rows)


def named(rows: Rows, words: Mapping[str, str], palette: Palette) -> Rows:
    """Return rows whose names begin with a code under its words; in files that stands in brackets behind them."""
    parted = [row["name"].partition(",") for row in rows]
    shown = {code: f"{word} ({code})" if palette is PAPER else word for code, word in words.items()}
    names = [shown.get(code, code) for code, _, _ in parted]
    return [
        row | {"name": f"{name}{comma}{rest}"}
        for row, name, (_, comma, rest) in zip(rows, names, parted, strict=True)
    ]


def task_of(task: str) -> str:
    return task or NO_TASK


@drawn
def _scatter(alt: Any, palette: Palette, runs: Rows, answers: Rows, cells: Rows, titles: tuple[str, str]) -> Any:
    size = LARGE if len(runs) <= MANY_RUNS else LARGE // 2
    points = [*runs, *answers]
    tasks = _tasks(points)
    layers = [
        *([_cells(alt, cells, titles, palette)] if cells else []),
        _points(alt, answers, tasks, titles, palette, size=18, opacity=0.35),
        _points(alt, runs, tasks, titles, palette, size=size, opacity=1.0),
    ]
    highest = max([*(point[axis] for point in points for axis in "xy"), 1])
    ends = [{"x": highest, "y": highest}]
    scales = [_measure(alt, palette, [*ends, *points, *cells], axis, f"{axis}2") for axis in "xy"]
    return configured(alt.layer(_diagonal(alt, highest, scales, palette), *layers), palette)


@drawn
def _ranking(alt: Any, palette: Palette, rows: Rows, title: str) -> Any:
    """Draw the intervals as lines, and the means in front of them, in the order of the rows."""
    runs = alt.Y("run:N", sort=[row["run"] for row in rows], title=None, axis=names_axis(alt, grid=True))
    base = alt.Chart(alt.Data(values=rows))
    lines = base.transform_filter("datum.low != null").mark_rule(color=palette.control, strokeWidth=2, aria=False)
    marks = base.mark_point(filled=True, size=90, opacity=1, stroke=palette.ink, strokeWidth=1)
    whole = _measure(alt, palette, rows, "low", "mean", "high")
    tasks = _tasks(rows)
    layers = [
        lines.encode(x=alt.X("low:Q", title=title, scale=whole), x2="high:Q", y=runs),
        marks.encode(x=alt.X("mean:Q"), y=runs, **_by_task(alt, tasks, _legend_of_tasks(alt, tasks), palette)),
    ]
    return configured(alt.layer(*layers), palette).properties(height={"step": ROW}, padding=ROOM)


def _measure(alt: Any, palette: Palette, rows: Rows, *fields: str, least: float = 1, **of_figures: Any) -> Any:
    """Scale of an axis with these fields of the rows, on pages from 0, and to at least `least`."""
    numbers = [row[name] for row in rows for name in fields if row.get(name) is not None]
    if palette.fits or not numbers:
        return alt.Scale(**of_figures) if of_figures else alt.Undefined
    low, high = min([0, *numbers]), max([least, *numbers])
    return alt.Scale(domain=[-1 if -1 < low < 0 else low, high], nice=True)


def names_axis(alt: Any, **options: Any) -> Any:
    return alt.Axis(
        labelExpr=shortened("datum.label"), labelLimit=NAME_ROOM, ticks=False, labelPadding=NAME_GAP, **options
    )


def shortened(name: str) -> str:
    short = f"slice({name}, 0, {NAME_START}) + '…' + slice({name}, -{NAME_END})"
    return f"length({name}) > {NAME_START + NAME_END + 1} ? {short} : {name}"


def _tasks(rows: Rows) -> list[str]:
    tasks = dict.fromkeys(row["task"] for row in rows)
    return sorted(tasks, key=lambda task: TASKS.index(task) if task in TASKS else len(TASKS))


def _legend_of_tasks(alt: Any, tasks: list[str]) -> Any:
    is_named = tasks != [NO_TASK]
    return alt.Legend(title=None, orient="top", direction="horizontal", offset=10) if is_named else None


def _by_task(alt: Any, tasks: list[str], legend: Any, palette: Palette) -> dict[str, Any]:
    """Return what gives a point the shape and the colour of its task: colour alone would be lost in grey print."""
    # The domain is given, so that a task keeps its mark where a filter leaves only that task's runs.
    shapes = alt.Scale(domain=tasks, range=[SHAPES.get(task, SHAPES[""]) for task in tasks])
    fills = alt.Scale(domain=tasks, range=_task_fills(tasks, palette))
    return {
        "description": "description:N",
        "shape": alt.Shape("task:N", scale=shapes, legend=legend),
        "fill": alt.Fill("task:N", scale=fills, legend=legend),
    }


def _points(
    alt: Any, rows: Rows, tasks: list[str], titles: Sequence[str], palette: Palette, *, size: int, opacity: float
) -> Any:
    stroke = palette.ink if opacity == 1 else "transparent"
    points = alt.Chart(alt.Data(values=rows))
    mark = points.mark_point(filled=True, size=size, opacity=opacity, stroke=stroke, strokeWidth=1.5)
    x, y = alt.X("x:Q", title=titles[0]), alt.Y("y:Q", title=titles[1])
    return mark.encode(x=x, y=y, **_by_task(alt, tasks, _legend_of_tasks(alt, tasks), palette))


def _cells(alt: Any, rows: Rows, titles: Sequence[str], palette: Palette) -> Any:
    """Return the cells of a grid, shaded by how many answers are in them, on a logarithmic scale."""
    # At least 2: a logarithmic scale from 1 to 1 has no length.
    most = max(2, *(row["count"] for row in rows))
    described = [row | {"description": f"{row['count']:,} answers"} for row in rows]
    shades = alt.Scale(type="log", domain=[1, most], range=list(palette.shades))
    words = {"titleColor": palette.ink, "titleFontWeight": "normal"}
    legend = alt.Legend(title="answers per cell", orient="top", gradientLength=160, **words)
    x, y = alt.X("x:Q", title=titles[0]), alt.Y("y:Q", title=titles[1])
    color = alt.Color("count:Q", scale=shades, legend=legend)
    cells = alt.Chart(alt.Data(values=described)).mark_rect()
    return cells.encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=color, description="description:N")


def _diagonal(alt: Any, highest: float, scales: Sequence[Any], palette: Palette) -> Any:
    rows = [{"x": 0, "y": 0}, {"x": highest, "y": highest}]
    line = alt.Chart(alt.Data(values=rows))
    mark = line.mark_line(color=palette.control, strokeDash=[4, 4], strokeWidth=1, aria=False)
    return mark.encode(x=alt.X("x:Q", scale=scales[0]), y=alt.Y("y:Q", scale=scales[1]))


def configured(chart: Any, palette: Palette) -> Any:
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


@drawn
def _heat_map(alt: Any, palette: Palette, cells: Rows, names: Sequence[str], titles: tuple[str, str]) -> Any:
    rows, columns = titles
    lines = re.split("(?<=,) ", rows)  # upright, one line would be longer than the picture is high
    above = alt.Axis(orient="top", labelAngle=0, ticks=False)
    beside = alt.Axis(ticks=False, labelPadding=NAME_GAP, minExtent=120)
    base = alt.Chart({"values": cells}).encode(
        x=alt.X("column:N", sort=names, title=columns, axis=above),
        y=alt.Y("row:N", sort=names, title=lines, axis=beside),
    )
    # At most half of the fill, so that the ink of the figures keeps its contrast on every cell.
    tinted = base.mark_rect(color=palette.fills[0], stroke=palette.rule).encode(
        description="description:N",
        opacity=alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 0.5]), legend=None),
    )
    counts = base.mark_text(color=palette.text, fontSize=15, fontWeight="bold", dy=-8, aria=False)
    shares = base.mark_text(color=palette.text, fontSize=12, dy=11, aria=False)
    figures = (
        counts.encode(text={"field": "count", "type": "quantitative", "format": ",d"}),
        shares.encode(text={"field": "share", "type": "quantitative", "format": ".1%"}),
    )
    size = CELL * len(names)
    return configured(alt.layer(tinted, *figures), palette).properties(width=size, height=size * 0.6)


@drawn
def _curve(alt: Any, palette: Palette, rows: Rows) -> Any:
    axis = alt.Axis(tickMinStep=1, format="d")
    topics = _measure(alt, palette, rows, "topics", least=2)
    base = alt.Chart({"values": rows}).encode(x=alt.X("topics:Q", title="Topics", axis=axis, scale=topics))
    taus = _measure(alt, palette, rows, "low", "mean", "high", zero=False)
    low = alt.Y("low:Q", title="Kendall's tau-b over run means", scale=taus)
    band = base.mark_area(color=palette.fills[0], opacity=0.2, aria=False).encode(y=low, y2="high:Q")
    line = base.mark_line(color=palette.fills[0], aria=False).encode(y="mean:Q")
    points = base.mark_point(color=palette.fills[0], filled=True, size=40, opacity=1)
    layers = (band, line, points.encode(y="mean:Q", description="description:N"))
    return configured(alt.layer(*layers), palette)


def _legend(alt: Any) -> Any:
    return alt.Legend(title=None, orient="top", direction="horizontal", offset=10, columnPadding=28)


def _scale(alt: Any, parts: Sequence[str], palette: Palette) -> Any:
    return alt.Scale(domain=list(parts), range=[*palette.fills, palette.control, palette.rule][: len(parts)])


def _names(alt: Any, rows: Rows, **options: Any) -> Any:
    order = list(dict.fromkeys(row["name"] for row in rows))
    return alt.Y("name:N", sort=order, title=None, axis=names_axis(alt, labelOverlap=True, grid=False), **options)


@drawn
def stacked(alt: Any, palette: Palette, rows: Rows, parts: Sequence[str], title: str) -> Any:
    ranked = [
        row
        | {"place": parts.index(row["part"]), "description": f"{row['name']}, {row['part']}: {row['share']:.1%}"}
        for row in rows
    ]
    bars = alt.Chart(alt.Data(values=ranked)).mark_bar(stroke=palette.rule, strokeWidth=1)
    chart = bars.encode(
        x=alt.X(
            "share:Q",
            title=title,
            stack=True,
            axis=alt.Axis(format="%", grid=True),
            scale=_measure(alt, palette, rows, "share"),
        ),
        y=_names(alt, rows),
        fill=alt.Fill("part:N", scale=_scale(alt, parts, palette), legend=_legend(alt)),
        order=alt.Order("place:Q"),
        description="description:N",
    )
    return configured(chart, palette).properties(height={"step": BAR}, padding=ROOM)


@drawn
def histograms(alt: Any, palette: Palette, rows: Rows, title: str, counted: str) -> Any:
    order = list(dict.fromkeys(row["name"] for row in rows))
    described = [row | {"description": f"{row['name']}, {_bin_text(row)}: {row['count']:,}"} for row in rows]
    bars = alt.Chart(alt.Data(values=described)).mark_bar(color=palette.fills[0])
    header = alt.Header(
        labelColor=palette.ink, labelAnchor="start", labelFontSize=12, labelOrient="top", labelPadding=4
    )
    chart = bars.encode(
        x=alt.X(
            "value:Q",
            title=title,
            bin=alt.Bin(binned=True, step=rows[0]["step"]),
            axis=alt.Axis(labelOverlap=True, format=",d", tickMinStep=1),
        ),
        x2="end:Q",
        y=alt.Y(
            "count:Q",
            title=counted,
            axis=alt.Axis(tickMinStep=1),
            scale=_measure(alt, palette, rows, "count", least=2),
        ),
        row=alt.Row("name:N", sort=order, title=None, header=header),
        description="description:N",
    )
    return configured(chart, palette).properties(height=PANEL)


def _bin_text(row: dict[str, Any]) -> str:
    last = row["end"] - 1
    return str(row["value"]) if last == row["value"] else f"{row['value']} to {last}"


@drawn
def side_by_side(alt: Any, palette: Palette, rows: Rows, parts: Sequence[str], titles: tuple[str, str]) -> Any:
    order = list(dict.fromkeys(row["bin"] for row in rows))
    described = [row | {"description": f"{row['bin']}, {row['part']}: {row['share']:.1%}"} for row in rows]
    bars = alt.Chart(alt.Data(values=described)).mark_bar(stroke=palette.ink, strokeWidth=0.5)
    chart = bars.encode(
        x=alt.X("bin:N", sort=order, title=titles[0], axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("part:N", sort=parts),
        y=alt.Y(
            "share:Q",
            title=titles[1],
            axis=alt.Axis(format="%"),
            scale=_measure(alt, palette, described, "share"),
        ),
        fill=alt.Fill("part:N", scale=_scale(alt, parts, palette), legend=_legend(alt)),
        description="description:N",
    )
    return configured(chart, palette)


@drawn
def plane(
    alt: Any,
    palette: Palette,
    rows: Rows,
    titles: tuple[str, str],
    *,
    line: Rows = (),
    small: Rows = (),
    ends: Ends | None = None,
) -> Any:
    """Draw runs as points with their names, a line behind them, and small points (each row: name, task, x, y).

    `ends`: where the axes begin and end; without it the points decide.
    """
    every, sides = [*rows, *small, *line], dict(zip("xy", ends or (None, None), strict=True))
    x, y = (_axis_scale(alt, palette, every, axis, of_axis) for axis, of_axis in sides.items())
    tasks = _tasks([*rows, *small])
    encoding = {
        "x": alt.X("x:Q", title=titles[0], scale=x),
        "y": alt.Y("y:Q", title=titles[1], scale=y),
        **_by_task(alt, tasks, _legend(alt) if len(tasks) > 1 else None, palette),
    }
    layers = []
    if line:
        mark = alt.Chart(alt.Data(values=line)).mark_line(
            color=palette.control, strokeDash=[5, 3], interpolate="step-after", aria=False
        )
        layers.append(mark.encode(x="x:Q", y="y:Q", order="x:Q"))
    if small:
        layers.append(_report_points(alt, small, titles, size=26, opacity=0.45, stroke=None).encode(**encoding))
    layers.append(_report_points(alt, rows, titles, size=120, opacity=1, stroke=palette.ink).encode(**encoding))
    if 0 < len(rows) <= MOST_NAMED:
        extents = [_extent(palette, every, axis, of_axis) for axis, of_axis in sides.items()]
        by_place = _rows_by_place(rows, extents)
        layers += [mark for halo in (True, False) for mark in _point_names(alt, by_place, palette, halo=halo)]
    return configured(alt.layer(*layers), palette).properties(padding=ROOM)


def _report_points(alt: Any, rows: Rows, titles: Sequence[str], **look: Any) -> Any:
    figures = [row | {"description": _point_text(row, titles)} for row in rows]
    return alt.Chart(alt.Data(values=figures)).mark_point(filled=True, **look)


def _point_names(alt: Any, by_place: Mapping[NamePlace, Rows], palette: Palette, *, halo: bool) -> Iterator[Any]:
    """Yield the names beside their points, or the ground behind them, which keeps lines from striking them out."""
    edge = {"stroke": palette.ground, "strokeWidth": 4} if halo else {}
    for (align, right, down), rows in by_place.items():
        text = alt.Chart(alt.Data(values=rows)).transform_calculate(short=shortened("datum.name"))
        mark = text.mark_text(
            align=align, dx=right, dy=down, fontSize=LETTER_SIZE, color=palette.ink, aria=False, **edge
        )
        yield mark.encode(x="x:Q", y="y:Q", text="short:N")


def _rows_by_place(rows: Rows, extents: Sequence[Sequence[float]]) -> dict[NamePlace, Rows]:
    (left, right), (low, high) = extents
    names = [
        PointName(
            x=WIDTH * (row["x"] - left) / (right - left),
            y=HEIGHT * (high - row["y"]) / (high - low),
            letters=min(len(row["name"]), NAME_START + NAME_END + 1),
        )
        for row in rows
    ]
    by_place: dict[NamePlace, list[dict[str, Any]]] = {}
    for row, place in zip(rows, places_of(names, WIDTH + ROOM["right"]), strict=True):
        by_place.setdefault(place, []).append(row)
    return dict(by_place)


def _extent(palette: Palette, rows: Rows, axis: str, ends: Sequence[float] | None) -> Sequence[float]:
    """Return about where an axis begins and ends, as `_axis_scale` has it before its ends are made round."""
    values = [row[axis] for row in rows]
    low, high = min(values), max(values)
    return ends or _ends_of(rows, axis) or ((low, high) if palette.fits else (min(0, low), max(1, high)))


def _ends_of(rows: Rows, axis: str) -> tuple[float, float] | None:
    """Return the ends of an axis whose values do not differ: a scale by them alone would have no length."""
    values = {row[axis] for row in rows}
    if len(values) != 1:
        return None
    [value] = values
    if value < 0:
        return (min(value, -1.0), 1.0)
    return (0.0, 1.0 if value <= 1 else 2 * value)


def _axis_scale(alt: Any, palette: Palette, rows: Rows, axis: str, ends: Sequence[float] | None) -> Any:
    ends = ends or _ends_of(rows, axis)
    if ends is None:
        return _measure(alt, palette, rows, axis, zero=False, nice=True, padding=12)
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


@drawn
def spans(alt: Any, palette: Palette, rows: Rows, title: str) -> Any:
    """Draw low, point and high per `name`, and a published figure where there is one."""
    described = [
        row | {"description": f"{row['name']}: {row['point']:.2f}, {row['low']:.2f} to {row['high']:.2f}"}
        for row in rows
    ]
    base = alt.Chart(alt.Data(values=described))
    lines = base.mark_rule(color=palette.control, strokeWidth=3, aria=False)
    points = base.mark_point(filled=True, size=90, opacity=1, fill=palette.fills[0], stroke=palette.ink)
    published = base.transform_filter("datum.published != null").mark_tick(
        color=palette.fills[1], thickness=3, size=NARROW - 3, opacity=1, aria=False
    )
    whole = _measure(alt, palette, rows, "low", "point", "high", "published")
    layers = [
        lines.encode(x=alt.X("low:Q", title=title, scale=whole), x2="high:Q", y=_names(alt, rows)),
        points.encode(x=alt.X("point:Q"), y=_names(alt, rows), description="description:N"),
        published.encode(x=alt.X("published:Q"), y=_names(alt, rows)),
    ]
    step = BAR if len(rows) <= MOST_NAMED else NARROW
    return configured(alt.layer(*layers), palette).properties(height={"step": step}, padding=ROOM)
