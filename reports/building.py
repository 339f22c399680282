"""What report pages are built from: the choice that a form makes, columns, and distributions."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from evaluation.domain.conditions import Choice, CitationCondition, NuggetCondition, resolve
from evaluation.models import Campaign
from reports.report_forms import ConditionForm
from reports.showing import Column, Kind, Row, isolated
from web.text import plural

WRONG_CHOICE = "This is not a choice of this campaign. See the form."
MOST_BARS = 30


def chosen_condition(campaign: Campaign, form: ConditionForm) -> NuggetCondition:
    """Return the condition that a valid form names. Raises `Refused` where several sets or judges fit."""
    return resolve(campaign, form.chosen_condition, judge=form.chosen["judge"], nuggets=form.chosen["nuggets"])


def choice_text(choice: Choice) -> str:
    """Say what a condition rests on."""
    labels = f"labels by {isolated(choice.judges_text)}" if choice.judges else "no labels yet"
    if isinstance(choice, NuggetCondition):
        sets = f"nuggets {isolated(choice.sets_text)}" if choice.nugget_sets else "no nugget set of this condition"
        return f"{choice.condition}: {sets}, {labels}."
    condition = choice.condition if isinstance(choice, CitationCondition) else ""
    return f"{condition}: {labels}."


def topics_with_nuggets(number: int) -> str:
    """Say how many topics have nuggets."""
    return f"{number:,} {plural(number, 'topic')} with nuggets."


def tag_text(tag: str) -> str:
    """Say which topics are left out, where some are."""
    return f"Only topics tagged {isolated(tag)}." if tag else ""


def sentences(*parts: str) -> tuple[str, ...]:
    """Return what there is to say."""
    return tuple(one for one in parts if one)


def columns(
    *parts: tuple[str, str, Kind] | tuple[str, str], primary: str = "", screen: str = ""
) -> tuple[Column, ...]:
    """Return columns from name, heading and kind; those named in `screen` are not in a paper's table."""
    aside = screen.split()
    return tuple(
        Column(one[0], one[1], one[2] if len(one) > 2 else Kind.TEXT, one[0] not in aside, one[0] == primary)
        for one in parts
    )


def spread_row(name: dict[str, Any], values: Sequence[float]) -> Row:
    """Return a distribution as a row: n, mean, quartiles and ends; None where there is nothing."""
    keys = ("min", "q1", "median", "q3", "max")
    found = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist() if len(values) else [None] * len(keys)
    mean = float(np.mean(values)) if len(values) else None
    return name | {"n": len(values), "mean": mean} | dict(zip(keys, found, strict=True))


SPREAD_COLUMNS: tuple[tuple[str, str, Kind], ...] = (
    ("n", "n", Kind.COUNT),
    ("mean", "Mean", Kind.MEAN),
    ("min", "Min", Kind.DECIMAL),
    ("q1", "q1", Kind.DECIMAL),
    ("median", "Median", Kind.DECIMAL),
    ("q3", "q3", Kind.DECIMAL),
    ("max", "Max", Kind.DECIMAL),
)


def histogram_rows(series: Iterable[tuple[str, Sequence[int]]]) -> list[dict[str, Any]]:
    """Return whole numbers counted into bars of one width for all series, at most `MOST_BARS` of them."""
    known = [(name, np.array(values)) for name, values in series if len(values)]
    if not known:
        return []
    highest = max(int(values.max()) for _, values in known)
    step = -(-(highest + 1) // MOST_BARS)
    rows = []
    for name, values in known:
        starts, counts = np.unique(values // step * step, return_counts=True)
        rows += [
            {"name": name, "value": start, "end": start + step, "count": count, "step": step}
            for start, count in zip(starts.tolist(), counts.tolist(), strict=True)
        ]
    return rows
