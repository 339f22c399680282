"""TREC qrels: `topic iteration docid grade`, split at white space; the second column means nothing here."""

import re
from dataclasses import dataclass
from typing import Final

from evaluation.formats.ids import id_problem
from evaluation.formats.lines import Once
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source

INTEGER: Final = re.compile(r"-?[0-9]{1,9}")
COLUMNS: Final = (4, 6)  # six: judgment files that add confidence and run id
LOWEST_GRADE: Final = -1  # TREC's "not judged" in a pool; lower ones are refused
HIGHEST_GRADE: Final = 32_767
# A retrieval run has six columns too, with ranks where the grade would be: no scale goes so far.
HIGHEST_GRADE_OF_SIX: Final = 10


@dataclass(frozen=True, slots=True)
class QrelRow:
    """One relevance judgment. A grade of -1 is kept: in TREC it marks a document left unjudged."""

    line: int
    topic_id: str
    docid: str
    grade: int


def parse_qrels(source: Source) -> tuple[QrelRow, ...]:
    """All judgments in file order; equal repetitions are dropped, conflicting ones refuse the file.

    Raises `BadInput`: not 4 (or 6) columns, an id of wrong form, a grade that is not an integer of at least -1.
    """
    problems = Problems(source.name)
    once = Once(problems, "grade")
    rows: list[QrelRow] = []
    for line, text in source.lines:
        row = _row(line, text.split(), problems)
        if row and once.is_new(line, (row.topic_id, row.docid), row.grade, f"{row.topic_id} {row.docid}"):
            rows.append(row)
        if problems.full:
            break
    problems.raise_if_any()
    return tuple(rows)


def qrel_line(row: QrelRow) -> str:
    """`topic 0 docid grade`."""
    return f"{row.topic_id} 0 {row.docid} {row.grade}"


def _row(line: int, columns: list[str], problems: Problems) -> QrelRow | None:
    if len(columns) not in COLUMNS:
        problems.add(line, "columns", f"4 columns (topic, any, docid, grade), found {len(columns)}")
        return None
    topic_id, _, docid, grade = columns[:4]
    found = {"topic": id_problem(topic_id), "docid": id_problem(docid), "grade": _grade_problem(columns)}
    wrong = {name: expected for name, expected in found.items() if expected}
    for name, expected in wrong.items():
        problems.add(line, name, expected)
    return None if wrong else QrelRow(line, topic_id, docid, int(grade))


def _grade_problem(columns: list[str]) -> str | None:
    grade = columns[3]
    if not INTEGER.fullmatch(grade):
        return f"an integer, found {grade[:40]!r}"
    if int(grade) < LOWEST_GRADE:
        return f"a grade of at least {LOWEST_GRADE}, found {grade}"
    if len(columns) == 6 and int(grade) > HIGHEST_GRADE_OF_SIX:
        return f"a grade of at most {HIGHEST_GRADE_OF_SIX}, found {grade} (is this a retrieval run, with ranks?)"
    if int(grade) > HIGHEST_GRADE:
        return f"a grade of at most {HIGHEST_GRADE}, found {grade}"
    return None
