"""Files of scores by topic, in the five forms that AutoJudge and trec_eval exchange; topic `all` is the aggregate."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Any, Final

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from evaluation.errors import BadInput, InputProblem
from evaluation.formats.lines import Name, Once, OptionalName, id_problem, int_as_text, json_line, json_rows
from evaluation.formats.problems import Problems, field_path, wording
from evaluation.formats.scores import MOST, NUMBER
from evaluation.formats.source import Source

ALL: Final = "all"
TABLE: Final = "csv"
"""The form of a published table, which has a column for each score and no topics: `evaluation/formats/scores.py`."""
STDIN: Final = "<stdin>"
RUN_ROW: Final = "runid"
"""Measure of the row in which trec_eval names the run and gives no number."""
MOST_CHARACTERS_OF_JUDGES: Final = 1_048_576
FINITE: Final = "a finite number (to 1e100)"
BOOLEANS: Final = {"True": 1.0, "False": 0.0}


@dataclass(frozen=True, slots=True)
class TopicScore:
    """One measure of one run in one topic; `topic_id` is `all` in an aggregate."""

    line: int
    run_id: str
    topic_id: str
    measure: str
    value: float

    @property
    def key(self) -> tuple[str, str, str]:
        return self.run_id, self.measure, self.topic_id


@dataclass(frozen=True, slots=True)
class ScoreForm:
    """A form by its columns: white space between them coming in, a tab going out. Without `run` a file is one run."""

    name: str
    columns: tuple[str, ...]

    @property
    def is_of_one_run(self) -> bool:
        return "run" not in self.columns

    def line(self, score: TopicScore, value: str) -> str:
        cells = {
            "run": score.run_id,
            "topic": score.topic_id,
            "measure": score.measure,
            "value": value,
            "Q0": "Q0",
            "rank": "0",  # as the field's own tool writes it
        }
        return "\t".join(cells[column] for column in self.columns)


class JsonForm(ScoreForm):
    def line(self, score: TopicScore, value: str) -> str:
        row = {"run_id": score.run_id, "topic_id": score.topic_id, "measure": score.measure}
        return json_line(row | {"value": float(value)}, {})


TREC_EVAL: Final = ScoreForm("trec_eval", ("measure", "topic", "value"))
TOT: Final = ScoreForm("tot", ("run", "measure", "topic", "value"))
IR_MEASURES: Final = ScoreForm("ir_measures", ("run", "topic", "measure", "value"))
RANKING: Final = ScoreForm("ranking", ("topic", "Q0", "run", "rank", "value", "measure"))
JSONL: Final = JsonForm("jsonl", ("run", "topic", "measure", "value"))
FORMS: Final[Mapping[str, ScoreForm]] = {form.name: form for form in (TREC_EVAL, TOT, IR_MEASURES, RANKING, JSONL)}
EITHER: Final = (TOT, IR_MEASURES)


def form_of(source: Source, topics: Collection[str], *, has_header: bool = False) -> str:
    """Return the name of a file's form by its first line, or '' where it is none or could be either of two.

    Of two forms of four columns that one is meant whose topic column holds known topics, and the other's does not.
    """
    lines = source.lines[1:] if has_header else source.lines
    first = lines[0][1] if lines else ""
    if first.lstrip().startswith(("{", "[")):
        return JSONL.name
    if "," in first and all(len(cell.split()) <= 1 for cell in first.split(",")):
        return TABLE
    fitting = [form for form in (TREC_EVAL, RANKING) if len(form.columns) == len(first.split())]
    if len(first.split()) == len(TOT.columns):
        rows = [cells for _, text in lines if len(cells := text.split()) == len(TOT.columns)]
        # A measure may be called `all` too, so that word decides only where no topic is known.
        fitting = [form for form in EITHER if _holds(rows, form, topics)]
        fitting = fitting or [form for form in EITHER if _holds(rows, form, (ALL,))]
    return fitting[0].name if len(fitting) == 1 else ""


def _holds(rows: Iterable[Sequence[str]], form: ScoreForm, topics: Collection[str]) -> bool:
    column = form.columns.index("topic")
    return any(cells[column] in topics for cells in rows)


def parse_score_file(
    source: Source, form: ScoreForm, *, topics: Collection[str] | None = None, has_header: bool = False
) -> tuple[TopicScore, ...]:
    """All rows in file order. `topics`: those a row may be of; None: any.

    Raises `BadInput`: another number of columns, a value that is no number, an id of a wrong form, an unknown topic, a
    row twice.
    """
    problems = Problems(source.name)
    once, scores = Once(problems, "row"), []
    for line, cells in _cells(source, form, problems, has_header):
        score = _score(line, cells, problems)
        expected = _topic_problem(cells, topics, form)
        if expected:
            problems.add(line, "topic", expected)
        if score is None or expected:
            continue
        name = f"run {score.run_id}, topic {score.topic_id}, measure {score.measure}"
        if once.is_first(line, score.key, name):
            scores.append(score)
    if not scores and not problems:
        problems.add(1, "file", "rows with scores")
    problems.raise_if_any()
    return tuple(scores)


def _cells(
    source: Source, form: ScoreForm, problems: Problems, has_header: bool
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if form is JSONL:
        for line, row in json_rows(source, ROW.validate_json, problems):
            yield line, {"run": row.run_id, "topic": row.topic_id, "measure": row.measure, "value": row.value}
        return
    run = {"run": PurePath(source.name).name} if form.is_of_one_run else {}
    for line, text in source.lines[1:] if has_header else source.lines:
        cells = text.split()
        if form is TREC_EVAL and cells[0] == RUN_ROW:
            continue
        if len(cells) == len(form.columns):
            yield line, run | dict(zip(form.columns, cells, strict=True))
        else:
            expected = f"{len(form.columns)} ({' '.join(form.columns)}), found {len(cells)}"
            problems.add(line, "columns", expected)


def _as_number(value: Any) -> Any:
    # An integer beyond all floats would be told to be no number.
    if isinstance(value, int) and abs(value) > MOST:
        raise PydanticCustomError("size", FINITE)
    return float(value) if isinstance(value, bool) else value


class _JsonRow(BaseModel):
    model_config = ConfigDict(strict=True)

    run_id: Annotated[str, BeforeValidator(int_as_text)]
    topic_id: Annotated[str, BeforeValidator(int_as_text)]
    measure: str
    value: Annotated[float, BeforeValidator(_as_number)]


ROW: Final = TypeAdapter(_JsonRow)


def _score(line: int, cells: Mapping[str, Any], problems: Problems) -> TopicScore | None:
    before = len(problems)
    for name in ("run", "topic", "measure"):
        if expected := id_problem(cells[name]):
            problems.add(line, name, expected)
    value = _number(cells["value"])
    if value is None:
        problems.add(line, "value", f"{FINITE}, True or False, found {str(cells['value'])[:40]!r}")
    if value is None or len(problems) > before:
        return None
    return TopicScore(line, cells["run"], cells["topic"], cells["measure"], value)


def _number(word: object) -> float | None:
    if isinstance(word, str):
        # `float` alone would take nan, inf and 1_000 as well.
        word = BOOLEANS.get(word, float(word) if NUMBER.fullmatch(word) else None)
    return float(word) if isinstance(word, float | bool) and abs(word) <= MOST else None


def _topic_problem(cells: Mapping[str, Any], topics: Collection[str] | None, form: ScoreForm) -> str | None:
    topic = cells["topic"]
    if topics is None or topic == ALL or topic in topics:
        return None
    swapped = form in EITHER and (cells["measure"] in topics or cells["measure"] == ALL)
    other = next(other.name for other in EITHER if other is not form) if swapped else ""
    return f"a topic of the campaign, found {topic[:40]!r}" + (f" (is this {other}?)" if other else "")


@dataclass(frozen=True, slots=True)
class JudgeEntry:
    """A judge of a file: its name in reports, and the method and model that people sort judges by."""

    name: str
    method: str = ""
    model: str = ""


class _JudgeShape(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")

    name: Name
    method: OptionalName = ""
    model: OptionalName = ""


class _JudgesShape(BaseModel):
    # `styles`, how the field's own tool draws them, and whatever else stands beside.
    model_config = ConfigDict(strict=True, extra="allow")

    judges: dict[str, _JudgeShape]


class _RepeatedKeyError(yaml.constructor.ConstructorError):
    pass


class _KeysOnce(yaml.SafeLoader):
    """Of a key that is there twice the last would count, and nobody be told."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue  # refused below
            if key.value in seen:
                raise _RepeatedKeyError(
                    problem=f"`{key.value}` once, it is there twice", problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def parse_judges(source: Source) -> dict[str, JudgeEntry]:
    """Return the judges of a `judges.yml` by the names of their files, whole or without the ending."""
    text = "\n".join(text for _, text in source.lines)
    problems = Problems(source.name)
    if len(text) > MOST_CHARACTERS_OF_JUDGES:
        problems.add(0, "file", f"at most {MOST_CHARACTERS_OF_JUDGES:,} characters")
        problems.raise_if_any()
    root: yaml.Node | None = None
    try:
        loader = _KeysOnce(text)
        root = loader.get_single_node()
        shape = _JudgesShape.model_validate(loader.construct_document(root) if root else None)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            problems.add(_line_at(source, root, detail["loc"]), field_path(detail["loc"]), wording(detail))
        problems.raise_if_any()
        raise
    except (yaml.YAMLError, RecursionError, ValueError) as error:  # a 99th of May, a number of thousands of digits
        mark = getattr(error, "problem_mark", None)
        line = source.lines[min(mark.line, len(source.lines) - 1)][0] if mark else 1
        expected = str(error.problem) if isinstance(error, _RepeatedKeyError) else "valid YAML"
        raise BadInput([InputProblem(source.name, line, "file", expected)]) from error
    for path, expected in _contradictions(shape.judges):
        problems.add(_line_at(source, root, path), ".".join(path), expected)
    problems.raise_if_any()
    return {file: JudgeEntry(judge.name, judge.method, judge.model) for file, judge in shape.judges.items()}


def _contradictions(judges: Mapping[str, _JudgeShape]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the entries of a judge, by their paths, that say another method or model than its first."""
    first: dict[str, str] = {}
    for file, judge in judges.items():
        other = first.setdefault(judge.name, file)
        for name in ("method", "model"):
            there, here = getattr(judges[other], name), getattr(judge, name)
            if there != here:
                yield ("judges", file, name), f"{there!r}, as {other} has it for {judge.name}, found {here!r}"


def _line_at(source: Source, root: yaml.Node | None, path: Sequence[int | str]) -> int:
    """Return the line of the innermost key of a path that a file has."""
    place, node = 0, root
    for name in map(str, path):
        # From the end: before its own keys a judge has those of what it merges, which they replace.
        keys = reversed(node.value) if isinstance(node, yaml.MappingNode) else ()
        key, node = next(((key, value) for key, value in keys if key.value == name), (None, None))
        place = key.start_mark.line if key else place
    return source.lines[min(place, len(source.lines) - 1)][0]


def names_judges(source: Source) -> bool:
    """Say whether a file among score files is their `judges.yml`: no form of scores has this ending."""
    return PurePath(source.name).suffix.lower() in {".yml", ".yaml"}


def judge_of_file(name: str, judges: Mapping[str, JudgeEntry]) -> JudgeEntry | None:
    path = PurePath(name)
    return judges.get(path.name) or judges.get(path.stem)
