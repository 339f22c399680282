"""Published run-level scores: a CSV with `run_id[,group,task]` and score columns; other columns are ignored."""

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from evaluation.formats.kinds import of_kind
from evaluation.formats.lines import Once, by_heading, id_problem, name_problem
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.terms import RagTask

MOST: Final = 1e100
"""Of a score: sums and squares of larger ones would be no numbers."""
# `float` alone would take nan, inf and 1_000 as well.
NUMBER: Final = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """One run's scores; a score whose cell is empty is not in `values`."""

    line: int
    run_id: str
    group: str
    task: RagTask | None
    values: dict[str, float]


@of_kind("scores", "a CSV with `run_id` and score columns")
def parse_scores(source: Source, names: Collection[str]) -> tuple[ScoreRecord, ...]:
    """All rows in file order, with the scores of these names.

    Raises `BadInput`: no `run_id` or score column, a cell that is no number, a run twice.
    """
    problems = Problems(source.name)
    cells = csv_records(source, problems)
    header_line, header = next(cells, (1, []))
    _check_header(header_line, header, names, problems)
    problems.raise_if_any()
    once = Once(problems, "run_id")
    rows = [_row(line, record, names, problems) for line, record in by_heading(cells, header, problems)]
    if not rows and not problems:
        problems.add(header_line, "file", "rows below the header")
    kept = tuple(row for row in rows if once.is_first(row.line, row.run_id, f"run {row.run_id}"))
    problems.raise_if_any()
    return kept


def csv_records(source: Source, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a CSV, the header too, each with the line on which it begins."""
    reader = csv.reader((text + "\n" for _, text in source.lines), strict=True)
    taken = 0
    try:
        for record in reader:
            yield source.lines[taken][0], [cell.strip() for cell in record]
            taken = reader.line_num  # a quoted cell may go over several lines
    except csv.Error as error:
        problems.add(source.lines[taken][0], "line", f"valid CSV: {error}")


def _check_header(line: int, header: list[str], names: Collection[str], problems: Problems) -> None:
    if "run_id" not in header:
        problems.add(line, "header", "a header line with commas and a column `run_id`")
    elif not set(names) & set(header):
        problems.add(line, "header", f"at least one score column of: {', '.join(names)}")
    for name, times in Counter(header).items():
        if times > 1 and name:
            problems.add(line, "header", f"every column once, found `{name}` {times} times")


def _row(line: int, record: Mapping[str, str], names: Collection[str], problems: Problems) -> ScoreRecord:
    run_id, group = record["run_id"], record.get("group", "")
    for name, problem in (("run_id", id_problem(run_id)), ("group", group and name_problem(group))):
        if problem:
            problems.add(line, name, problem)
    task = _task(line, record.get("task", ""), problems)
    return ScoreRecord(line, run_id, group, task, dict(_values(line, record, names, problems)))


def _task(line: int, word: str, problems: Problems) -> RagTask | None:
    if word in list(RagTask):
        return RagTask(word)
    if word:
        problems.add(line, "task", f"{' or '.join(RagTask)} or nothing, found {word[:40]!r}")
    return None


def _values(
    line: int, record: Mapping[str, str], names: Collection[str], problems: Problems
) -> Iterator[tuple[str, float]]:
    for name in names:
        cell = record.get(name, "")
        if NUMBER.fullmatch(cell) and abs(float(cell)) <= MOST:
            yield name, float(cell)
        elif cell:
            problems.add(line, name, f"a finite number (to 1e100) or nothing, found {cell[:40]!r}")
