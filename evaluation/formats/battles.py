"""Verdicts of battles: lines of ours, RAGDoll's `judgments.jsonl`, and the CSV that arena-rank reads."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from evaluation.formats.kinds import of_kind
from evaluation.formats.lines import Count, Id, Line, Name, id_problem, json_line, json_rows, one_of
from evaluation.formats.problems import Problems
from evaluation.formats.source import Source
from evaluation.labels import LEFT_POINTS, BattleLabel
from evaluation.stages.battle import LEFT, RIGHT
from evaluation.terms import BattleReason

VERDICTS: Final = {label.name.lower(): label for label in BattleLabel if label is not BattleLabel.FAILED}
SIDES: Final = (LEFT, RIGHT)
REFUSED: Final = "refused"
"""Another word in files for "can't judge"."""
RAGDOLL: Final = {
    "A": BattleLabel.LEFT,
    "B": BattleLabel.RIGHT,
    "Tie": BattleLabel.TIE,
    "Tie (Both Bad)": BattleLabel.BAD,
}
ARENA: Final = {
    "model_a": BattleLabel.LEFT,
    "model_b": BattleLabel.RIGHT,
    "tie": BattleLabel.TIE,
    "both_bad": BattleLabel.BAD,
}
ARENA_COLUMNS: Final = ("topic_id", "model_a", "model_b", "winner")
SWAPPED: Final = ":swapped"


@dataclass(frozen=True, slots=True)
class BattleRecord:
    """One verdict, `left` and `right` as the judge saw them. `judge`: '' where the file does not say.

    `raw`: why nobody could judge, or the reply of an LLM that is no verdict (`label` is then FAILED). `second`: a
    second opinion. `place` in the task, from 1, the side that `stayed` on screen from the battle before, '' for
    neither, and active `seconds` are known of desks alone.
    """

    line: int
    topic_id: str
    left: str
    right: str
    label: BattleLabel
    raw: str = ""
    reasons: tuple[str, ...] = ()
    judge: str = ""
    round: int = 1
    second: bool = False
    place: int | None = None
    stayed: str = ""
    seconds: int | None = None

    @property
    def name(self) -> str:
        return f"{self.left} and {self.right} on topic {self.topic_id}"


def _verdict(label: BattleLabel, words: dict[str, BattleLabel]) -> str | None:
    return next((word for word, meant in words.items() if meant is label), None)


class OwnLine(Line):
    battle: Id | None = None
    topic_id: Id
    left: Id
    right: Id
    verdict: Annotated[str, one_of([*VERDICTS, REFUSED, "failed"])]
    reasons: list[Annotated[str, one_of(list(BattleReason))]] = []
    reason: str | None = None
    judge: Name | None = None
    round: Count = 1
    second: bool = False
    place: Count | None = None
    stayed: Annotated[str, one_of(SIDES)] | None = None
    seconds: Count | None = None


def _own(line: int, row: OwnLine) -> BattleRecord:
    label = VERDICTS.get(row.verdict, BattleLabel.CANT_JUDGE)
    return BattleRecord(
        *(line, row.topic_id, row.left, row.right, BattleLabel.FAILED if row.verdict == "failed" else label),
        raw=row.reason or "",
        reasons=tuple(row.reasons),
        judge=row.judge or "",
        round=row.round,
        second=row.second,
        place=row.place,
        stayed=row.stayed or "",
        seconds=row.seconds,
    )


class RagdollLine(Line):
    qid: Id
    assistant_a_run_id: Id
    assistant_b_run_id: Id
    judge_verdict: str | None = None
    status: str = "completed"
    model: Name | None = None
    raw_output: str | None = None


def _ragdoll(line: int, row: RagdollLine) -> BattleRecord:
    label = RAGDOLL.get(row.judge_verdict or "", BattleLabel.FAILED)
    return BattleRecord(
        *(line, row.qid, row.assistant_a_run_id, row.assistant_b_run_id, label),
        raw=(row.raw_output or "failed") if label is BattleLabel.FAILED else "",
        judge=row.model or "",
    )


@of_kind("battles", "verdicts of battles")
def parse_battles(source: Source, form: str = "") -> tuple[BattleRecord, ...]:
    """All verdicts in file order; without a form in that which the first line has. Raises `BadInput`."""
    problems = Problems(source.name)
    records = list(FORMS[form or _form_of(source)].read(source, problems))
    for record in records:
        if record.left == record.right:
            problems.add(record.line, "right", f"another run than on the left, found {record.right}")
    problems.raise_if_any()
    return tuple(records)


def _form_of(source: Source) -> str:
    first = source.lines[0][1]
    if not first.lstrip().startswith("{"):
        return "arena"
    return "ragdoll" if '"assistant_a_run_id"' in first else "assay"


def _own_rows(source: Source, problems: Problems) -> Iterator[BattleRecord]:
    return (_own(*row) for row in json_rows(source, OwnLine.model_validate_json, problems))


def _ragdoll_rows(source: Source, problems: Problems) -> Iterator[BattleRecord]:
    return (_ragdoll(*row) for row in json_rows(source, RagdollLine.model_validate_json, problems))


def _arena_cells(source: Source, problems: Problems) -> Iterator[tuple[int, dict[str, str]]]:
    numbers = [number for number, _ in source.lines]
    table = csv.reader(text for _, text in source.lines)
    header = next(table, [])
    for column in ARENA_COLUMNS:
        if header.count(column) != 1:
            problems.add(numbers[0] if numbers else 1, column, f"a column of this name once, found {header}")
    if len(problems):
        return
    for line, cells in zip(numbers[1:], table, strict=False):
        if len(cells) == len(header):
            yield line, dict(zip(header, cells, strict=True))
        else:
            problems.add(line, "columns", f"{len(header)} columns as in the header, found {len(cells)}")


def _arena_rows(source: Source, problems: Problems) -> Iterator[BattleRecord]:
    for line, row in _arena_cells(source, problems):
        wrong = [name for name in ARENA_COLUMNS[:3] if id_problem(row[name])]
        for name in wrong:
            problems.add(line, name, id_problem(row[name]) or "")
        label = ARENA.get(row["winner"])
        if label is None:
            problems.add(line, "winner", f"{', '.join(ARENA)}, found {row['winner'][:40]!r}")
        elif not wrong:
            yield BattleRecord(line, row["topic_id"], row["model_a"], row["model_b"], label)


def own_line(record: BattleRecord, battle: str) -> str:
    fields: dict[str, Any] = {"battle": battle, "topic_id": record.topic_id, "left": record.left}
    fields |= {"right": record.right, "verdict": record.label.name.lower(), "reasons": list(record.reasons)}
    fields |= {"reason": record.raw or None, "judge": record.judge, "round": record.round, "second": record.second}
    fields |= {"place": record.place, "stayed": record.stayed or None, "seconds": record.seconds}
    return json_line(fields, {})


def ragdoll_line(record: BattleRecord, battle: str) -> str:
    first, second = sorted((record.left, record.right))
    turned = "" if record.left == first else SWAPPED
    preferred = {BattleLabel.LEFT: record.left, BattleLabel.RIGHT: record.right}.get(record.label)
    word = _verdict(record.label, RAGDOLL)
    fields = {
        "task_id": f"arena:{first}:{second}:{record.topic_id}{turned}",
        "qid": record.topic_id,
        "pair": [first, second],
        "assistant_a_run_id": record.left,
        "assistant_b_run_id": record.right,
        "judge_verdict": word,
        "preferred_run_id": preferred,
        "model": record.judge,
        "status": "completed",
        "raw_output": f"[[{word}]]",
    }
    return json_line(fields, {})


def arena_line(record: BattleRecord, battle: str) -> str:
    # Ids have no white space; a comma or a quotation mark is all that a cell has to be quoted for.
    cells = (record.topic_id, record.left, record.right, _verdict(record.label, ARENA) or "")
    return ",".join('"' + cell.replace('"', '""') + '"' if set(cell) & set('",') else cell for cell in cells)


@dataclass(frozen=True, slots=True)
class BattleForm:
    """A form of file. `header`: its first line, '' where there is none; `has_all`: it holds what counts nowhere too."""

    read: Callable[[Source, Problems], Iterator[BattleRecord]]
    line: Callable[[BattleRecord, str], str]
    header: str = ""
    has_all: bool = False

    def holds(self, record: BattleRecord) -> bool:
        return self.has_all or (record.label in LEFT_POINTS)


FORMS: Final = {
    "assay": BattleForm(_own_rows, own_line, has_all=True),
    "ragdoll": BattleForm(_ragdoll_rows, ragdoll_line),
    "arena": BattleForm(_arena_rows, arena_line, header=",".join(ARENA_COLUMNS)),
}


def named(record: BattleRecord, judge: str) -> BattleRecord:
    return replace(record, judge=judge)
