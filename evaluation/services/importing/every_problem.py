"""All that is wrong with files, found in one try: broken lines, missing references and conflicts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec

from django.db import transaction

from evaluation.errors import BadInput, Problem, Refused
from evaluation.formats.problems import MAX_PROBLEMS
from evaluation.formats.source import Source
from evaluation.services.importing.base import Receipt

P = ParamSpec("P")
WRITTEN_OVER_LINES = ("{", "[")


def with_every_problem(load: Callable[P, Receipt], *, header: bool = False) -> Callable[P, Receipt]:
    """Let an import that is refused look at its good lines too, so that one try names every problem.

    A parser stops before the database is asked, so a conflict on line 2 would stay unknown until line 3 is mended.
    `header`: the first line names the columns, so where it is wrong the other lines say nothing.
    """

    @wraps(load)
    def loading(*args: P.args, **kwargs: P.kwargs) -> Receipt:
        try:
            return load(*args, **kwargs)
        except BadInput as wrong:
            if header and any(one.line <= 1 for one in wrong.problems):
                raise
            raise BadInput(_every_problem(load, kwargs, wrong.problems, header=header)) from wrong

    return loading


def with_every_problem_below_header(load: Callable[P, Receipt]) -> Callable[P, Receipt]:
    """Do that for a file whose first line names the columns."""
    return with_every_problem(load, header=True)


def _every_problem(
    load: Callable[..., Receipt], given: dict[str, Any], first: Sequence[Problem], *, header: bool
) -> list[Problem]:
    found, more = list(dict.fromkeys(first)), list(first)
    sources = [given["source"]] if "source" in given else list(given["sources"])
    order = {source.name: number for number, source in enumerate(sources)}
    while more and len(found) < MAX_PROBLEMS and (sources := _good_lines(sources, more, header=header)):
        files = {"source": sources[0]} if "source" in given else {"sources": sources}
        more = [one for one in problems_of(load, given | files) if one not in found]
        found += more
    return sorted(found, key=lambda one: (order.get(one.file, -1), one.line))[:MAX_PROBLEMS]


def problems_of(load: Callable[..., object], given: dict[str, Any]) -> Sequence[Problem]:
    """Return what is wrong with files, by loading them in a transaction that is taken back."""
    try:
        with transaction.atomic():
            load(**given)
            transaction.set_rollback(True)
    except BadInput as wrong:
        return wrong.problems
    except Refused:  # of the rest alone: mended lines may say otherwise
        return ()
    return ()


def _good_lines(sources: list[Source], problems: list[Problem], *, header: bool) -> list[Source]:
    """Return files without their wrong lines; none of those that are wrong as a whole, or have no row left."""
    wrong = {(one.file, one.line) for one in problems}
    rest = [
        replace(one, lines=tuple(line for line in one.lines if (one.name, line[0]) not in wrong))
        for one in sources
        if (one.name, 0) not in wrong and one.lines[0][1].strip() not in WRITTEN_OVER_LINES
    ]
    return [one for one in rest if len(one.lines) > header]
