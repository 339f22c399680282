"""Battles and verdicts: lines of ours, RAGDoll's `tasks.jsonl` and `judgments.jsonl`, and the CSV of arena-rank."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final

from pydantic import Field

from evaluation.formats.kinds import of_kind
from evaluation.formats.lines import (
    Count,
    Id,
    Line,
    Name,
    by_heading,
    id_problem,
    json_line,
    json_rows,
    name_problem,
    one_of,
    unless_null,
)
from evaluation.formats.problems import Problems
from evaluation.formats.scores import csv_records
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
OUTCOME_COLUMNS: Final = ARENA_COLUMNS[1:]
JUDGE_COLUMN: Final = "judge"
"""Of battles as arenas publish them; a file need not have it."""
SWAPPED: Final = ":swapped"
COMPLETED, FAILED = "completed", "failed"
MOST_ROUNDS: Final = 32_767  # what the column holds


@dataclass(frozen=True, slots=True)
class BattleTask:
    """A battle to be judged, of two runs. `second`: the other order of one that is there."""

    line: int
    topic_id: str
    left: str
    right: str
    round: int = field(default=1, kw_only=True)
    second: bool = field(default=False, kw_only=True)

    @property
    def name(self) -> str:
        return f"{self.left} and {self.right} on topic {self.topic_id}"


@dataclass(frozen=True, slots=True)
class BattleRecord(BattleTask):
    """One verdict, `left` and `right` as the judge saw them. `judge`: '' where the file does not say.

    `raw`: why nobody could judge, or the reply of an LLM that is no verdict (`label` is then FAILED). `second`: a
    second opinion. `place` in the task, from 1, the side that `stayed` on screen from the battle before, '' for
    neither, and active `seconds` are known of desks alone.
    """

    label: BattleLabel
    raw: str = ""
    reasons: tuple[str, ...] = ()
    judge: str = ""
    place: int | None = None
    stayed: str = ""
    seconds: int | None = None


def _verdict(label: BattleLabel, words: dict[str, BattleLabel]) -> str | None:
    return next((word for word, meant in words.items() if meant is label), None)


class OwnLine(Line):
    battle: Id | None = None
    topic_id: Id
    left: Id
    right: Id
    verdict: Annotated[str, one_of([*VERDICTS, REFUSED, FAILED])]
    reasons: Annotated[list[Annotated[str, one_of(list(BattleReason))]], unless_null([])] = []
    reason: str | None = None
    judge: Name | None = None
    round: Annotated[int, Field(ge=1, le=MOST_ROUNDS), unless_null(1)] = 1
    second: Annotated[bool, unless_null(False)] = False
    place: Count | None = None
    stayed: Annotated[str, one_of(SIDES)] | None = None
    seconds: Count | None = None


def _own(line: int, row: OwnLine) -> BattleRecord:
    label = VERDICTS.get(row.verdict, BattleLabel.CANT_JUDGE)
    return BattleRecord(
        *(line, row.topic_id, row.left, row.right, BattleLabel.FAILED if row.verdict == FAILED else label),
        raw=row.reason or "",
        reasons=tuple(row.reasons),
        judge=row.judge or "",
        round=row.round,
        second=row.second,
        place=row.place,
        stayed=row.stayed or "",
        seconds=row.seconds,
    )


class RagdollBattle(Line):
    qid: Id
    assistant_a_run_id: Id
    assistant_b_run_id: Id
    pair: list[Id] | None = None

    @property
    def sides(self) -> tuple[str, str]:
        return self.assistant_a_run_id, self.assistant_b_run_id

    def note_other_pair(self, line: int, path: str, problems: Problems) -> None:
        if self.pair is not None and sorted(self.pair) != sorted(self.sides):
            expected = f"the two runs that the assistants are, {' and '.join(self.sides)}"
            problems.add(line, f"{path}pair", f"{expected}, found {', '.join(self.pair)}")


class RagdollLine(RagdollBattle):
    judge_verdict: str | None = None
    preferred_run_id: Id | None = None
    status: Annotated[str, unless_null(COMPLETED)] = COMPLETED
    model: Name | None = None
    raw_output: str | None = None
    error: str | None = None


class RagdollTask(Line):
    task_id: Annotated[str, unless_null("")] = ""
    metadata: RagdollBattle


def _ragdoll(line: int, row: RagdollLine, problems: Problems) -> BattleRecord:
    verdict = row.judge_verdict if row.status == COMPLETED else None
    label = RAGDOLL.get(verdict or "", BattleLabel.FAILED)
    row.note_other_pair(line, "", problems)
    winner = dict(zip((BattleLabel.LEFT, BattleLabel.RIGHT), row.sides, strict=True)).get(label)
    if winner and row.preferred_run_id not in (None, winner):
        text = f"the run that the verdict {verdict} prefers, {winner}, found {row.preferred_run_id}"
        problems.add(line, "preferred_run_id", text)
    return BattleRecord(
        *(line, row.qid, *row.sides, label),
        raw=(row.raw_output or row.error or verdict or FAILED) if label is BattleLabel.FAILED else "",
        judge=row.model or "",
    )


def _ragdoll_task(line: int, row: RagdollTask, problems: Problems) -> BattleTask:
    battle = row.metadata
    battle.note_other_pair(line, "metadata.", problems)
    return BattleTask(line, battle.qid, *battle.sides, second=row.task_id.endswith(SWAPPED))


@of_kind("battles", "verdicts of battles")
def parse_battles(source: Source, form: str = "") -> tuple[BattleRecord, ...]:
    """All verdicts in file order; without a form in that which the first line has. Raises `BadInput`."""
    problems = Problems(source.name)
    records = tuple(FORMS[form or _form_of(source)].read(source, problems))
    _check_sides(records, problems)
    return records


def parse_tasks(source: Source) -> tuple[BattleTask, ...]:
    """All battles of RAGDoll's tasks in file order. Raises `BadInput`."""
    problems = Problems(source.name)
    rows = json_rows(source, RagdollTask.model_validate_json, problems)
    tasks = tuple(_ragdoll_task(*row, problems) for row in rows)
    _check_sides(tasks, problems)
    return tasks


def has_tasks(source: Source, form: str = "") -> bool:
    """Whether a file holds tasks of RAGDoll, and no verdicts."""
    return form in ("", "ragdoll") and "metadata" in _first_keys(source)


def _first_keys(source: Source) -> Sequence[str]:
    try:
        first = json.loads(source.lines[0][1])
    except (ValueError, RecursionError):
        return ()
    return list(first) if isinstance(first, dict) else ()


def _check_sides(battles: Sequence[BattleTask], problems: Problems) -> None:
    for battle in battles:
        if battle.left == battle.right:
            problems.add(battle.line, "right", f"another run than on the left, found {battle.right}")
    problems.raise_if_any()


def _form_of(source: Source) -> str:
    first = source.lines[0][1]
    if not first.lstrip().startswith(("{", "[")):
        return "arena"
    return "ragdoll" if '"assistant_a_run_id"' in first else "assay"


def _own_rows(source: Source, problems: Problems) -> Iterator[BattleRecord]:
    return (_own(*row) for row in json_rows(source, OwnLine.model_validate_json, problems))


def _ragdoll_rows(source: Source, problems: Problems) -> Iterator[BattleRecord]:
    return (_ragdoll(*row, problems) for row in json_rows(source, RagdollLine.model_validate_json, problems))


def has_outcomes(source: Source) -> bool:
    """Whether a file is a CSV of battles as arena-rank reads it, with topics or without."""
    return set(_header(source)) >= set(OUTCOME_COLUMNS)


def parse_outcomes(source: Source) -> tuple[BattleRecord, ...]:
    """All verdicts of a CSV without topics, whose `topic_id` is ''. Raises `BadInput`."""
    problems = Problems(source.name)
    if ARENA_COLUMNS[0] in _header(source):
        text = "no such column: battles with topics are loaded as verdicts of battles"
        problems.add(source.lines[0][0], ARENA_COLUMNS[0], text)
    records = tuple(_arena_rows(source, problems, OUTCOME_COLUMNS))
    if not records and not problems:
        problems.add(1, "file", "rows below the header")
    _check_sides(records, problems)
    return records


def _header(source: Source) -> list[str]:
    try:
        return next(csv.reader(text for _, text in source.lines[:1]), [])
    except csv.Error:
        return []


def _arena_cells(
    source: Source, problems: Problems, columns: Sequence[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    records = csv_records(source, problems)
    header_line, header = next(records, (1, []))
    for column in columns:
        if header.count(column) != 1:
            text = f"a column of this name once, found {header}"
            if column not in OUTCOME_COLUMNS and has_outcomes(source):
                text += "; without topics a file gives ratings alone, and is loaded as scores by others"
            problems.add(header_line, column, text)
    if header.count(JUDGE_COLUMN) > 1:
        problems.add(header_line, JUDGE_COLUMN, f"a column of this name once, found {header}")
    if len(problems):
        return
    yield from by_heading(records, header, problems)


def _arena_rows(
    source: Source, problems: Problems, columns: Sequence[str] = ARENA_COLUMNS
) -> Iterator[BattleRecord]:
    for line, row in _arena_cells(source, problems, columns):
        judge = row.get(JUDGE_COLUMN, "")
        wrong = {name: problem for name in columns[:-1] if (problem := id_problem(row[name]))}
        if judge and (problem := name_problem(judge)):
            wrong[JUDGE_COLUMN] = problem
        for name, problem in wrong.items():
            problems.add(line, name, problem)
        label = ARENA.get(row["winner"])
        if label is None:
            problems.add(line, "winner", f"{', '.join(ARENA)}, found {row['winner'][:40]!r}")
        elif not wrong:
            yield BattleRecord(line, row.get("topic_id", ""), row["model_a"], row["model_b"], label, judge=judge)


def own_line(record: BattleRecord, battle: str) -> str:
    fields: dict[str, Any] = {"battle": battle, "topic_id": record.topic_id, "left": record.left}
    fields |= {"right": record.right, "verdict": record.label.name.lower(), "reasons": list(record.reasons)}
    fields |= {"reason": record.raw or None, "judge": record.judge, "round": record.round, "second": record.second}
    fields |= {"place": record.place, "stayed": record.stayed or None, "seconds": record.seconds}
    return json_line(fields, {})


def _task_id(battle: BattleTask) -> str:
    first, second = sorted((battle.left, battle.right))
    return f"arena:{first}:{second}:{battle.topic_id}"


def ragdoll_line(record: BattleRecord, battle: str) -> str:
    first, second = sorted((record.left, record.right))
    turned = "" if record.left == first else SWAPPED
    preferred = {BattleLabel.LEFT: record.left, BattleLabel.RIGHT: record.right}.get(record.label)
    word = _verdict(record.label, RAGDOLL)
    fields = {
        "task_id": f"{_task_id(record)}{turned}",
        "qid": record.topic_id,
        "pair": [first, second],
        "assistant_a_run_id": record.left,
        "assistant_b_run_id": record.right,
        "judge_verdict": word,
        "preferred_run_id": preferred,
        "model": record.judge,
        "status": COMPLETED,
        "raw_output": f"[[{word}]]",
    }
    return json_line(fields, {})


INSTRUCTION: Final = """\
Two assistants answered the same query. Say whose answer is better, by what it tells whoever asked, not by its length \
or by its place.

<query>
{query}
</query>

<assistant_a>
{left}
</assistant_a>

<assistant_b>
{right}
</assistant_b>

Reply with one of these and nothing else: [[A]], [[B]], [[Tie]], [[Tie (Both Bad)]]"""


def task_line(task: BattleTask, query: str, left: str, right: str) -> str:
    """Return a task of RAGDoll, whose readers want its verdict in double brackets."""
    metadata = {
        "pair": sorted((task.left, task.right)),
        "qid": task.topic_id,
        "query": query,
        "assistant_a_run_id": task.left,
        "assistant_b_run_id": task.right,
    }
    fields = {
        "task_id": _task_id(task),
        "evaluator": "arena",
        "system_prompt": "",
        "instruction": INSTRUCTION.format(query=query, left=left, right=right),
        "metadata": metadata,
    }
    return json_line(fields, {})


def arena_line(record: BattleRecord, battle: str) -> str:
    # Ids and names have no line ends; a comma or a quotation mark is all that a cell has to be quoted for.
    cells = (record.topic_id, record.left, record.right, _verdict(record.label, ARENA) or "", record.judge)
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
    "arena": BattleForm(_arena_rows, arena_line, header=",".join((*ARENA_COLUMNS, JUDGE_COLUMN))),
}


def named(record: BattleRecord, judge: str) -> BattleRecord:
    return replace(record, judge=judge)
