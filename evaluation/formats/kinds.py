"""Kind of a file, told by its first lines: one that is given as another kind is refused once, as what it is."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import groupby, pairwise
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from evaluation.errors import BadInput, InputProblem
from evaluation.formats.source import Source

LINES_READ: Final = 20
NUMBER: Final = re.compile(r"[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?")
GRADE: Final = re.compile(r"-?[0-9]{1,5}")

P = ParamSpec("P")
Rows = TypeVar("Rows")


@dataclass(frozen=True, slots=True)
class FileKind:
    """Look of a file in `words`, and the `kinds` as which it may be loaded."""

    words: str
    kinds: tuple[str, ...] = ()


def of_kind(
    kind: str, what: str
) -> Callable[[Callable[Concatenate[Source, P], Rows]], Callable[Concatenate[Source, P], Rows]]:
    """Let a parser that refuses a file of another kind say so, in the place of a problem in each of its lines."""

    def decorated(parse: Callable[Concatenate[Source, P], Rows]) -> Callable[Concatenate[Source, P], Rows]:
        @wraps(parse)
        def parsing(source: Source, /, *args: P.args, **kwargs: P.kwargs) -> Rows:
            try:
                return parse(source, *args, **kwargs)
            except BadInput as wrong:
                file_kind = kind_of(source)
                if file_kind is None or kind in file_kind.kinds:
                    raise
                raise BadInput([InputProblem(source.name, 0, "file", f"{what}; {file_kind.words}")]) from wrong

        return parsing

    return decorated


def kind_of(source: Source) -> FileKind | None:
    texts = [text for _, text in source.lines[:LINES_READ]]
    if not texts:
        return None
    if texts[0].lstrip().startswith("{"):
        return _kind_of_object(texts[0])
    if texts[0].lstrip().startswith("<"):
        return FileKind("this looks like XML or HTML")
    return _kind_of_columns(texts)


def _kind_of_columns(texts: Sequence[str]) -> FileKind | None:
    columns = [text.split() for text in texts]
    if is_retrieval_run(columns):
        return FileKind("this looks like a retrieval run: topic, Q0, docid, rank, score, name")
    if all(text.count("\t") == 1 for text in texts):
        return FileKind("these look like topics", ("topics",))
    if all(len(row) in {4, 6} and GRADE.fullmatch(row[3]) for row in columns):
        return FileKind("these look like qrels", ("qrels",))
    for mark, words in ((",", "this is a comma CSV"), (";", "this is a CSV with semicolons")):
        # A list of objects has commas too.
        if all(mark in text and "\t" not in text for text in texts) and not texts[0].lstrip().startswith("["):
            return FileKind(words, ("scores", "traces", "battles") if mark == "," else ())
    return None


def _kind_of_object(text: str) -> FileKind | None:
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        return None
    keys = entry.keys()
    fitting = {
        "runs": keys & {"answer", "responses"},
        "traces": keys >= {"user_input", "response"},
        "assignments": ("nuggets" in keys and ("run_id" in keys or _has_labels(entry["nuggets"])))
        or keys >= {"criteria", "run_id"},
        "nuggets": keys & {"nuggets", "nugget_bank", "claim_bank", "criteria", "rubrics"},
        "support": keys >= {"sentence", "docid", "label"} or keys >= {"run_id", "sentences"},
        "battles": keys >= {"left", "right", "verdict"} or "assistant_a_run_id" in keys,
        "practice": keys >= {"kind", "statement"},
        "segments": "candidates" in keys
        or (keys & {"docid", "id"} and keys & {"segment", "text", "contents", "doc"}),
        "topics": keys & {"id", "qid", "topic_id", "narrative_id", "request_id"}
        and keys & {"title", "text", "query", "narrative", "topic"}
        and not keys & {"run_id", "references", "nuggets", "criteria", "rubrics"},
    }
    kinds = tuple(kind for kind, fits in fitting.items() if fits)
    return FileKind(OBJECTS[kinds[0]], kinds) if kinds else FileKind("these are JSON lines", tuple(OBJECTS))


def _has_labels(nuggets: Any) -> bool:
    return isinstance(nuggets, list) and any(isinstance(item, dict) and "assignment" in item for item in nuggets)


OBJECTS: Final = {
    "runs": "these are JSON lines that look like the answers of a run",
    "traces": "these are JSON lines that look like traces",
    "assignments": "these are JSON lines that look like nugget labels",
    "nuggets": "these are JSON lines that look like nuggets",
    "support": "these are JSON lines that look like citation labels",
    "battles": "these are JSON lines that look like verdicts of battles",
    "practice": "these are JSON lines that look like practice items",
    "segments": "these are JSON lines that look like passages",
    "topics": "these are JSON lines that look like topics",
}


def is_retrieval_run(lines: Iterable[Sequence[str]]) -> bool:
    """Say whether rows of six columns have ranks where grades would be: counted in each topic, or against the scores.

    Judgments may have six columns too, the last two a confidence and a name.
    """
    rows: list[Sequence[str]] = []
    for row in lines:
        if not (len(row) == 6 and GRADE.fullmatch(row[3]) and NUMBER.fullmatch(row[4])):
            return False
        rows.append(row)
    if not rows:
        return False
    topics = [list(ranks) for ranks in _ranks_by_topic(rows)]
    several = [ranks for ranks in topics if len(ranks) > 1]
    if not several:
        # One row a topic: nothing is counted, but no confidence goes beyond 1.
        return all(ranks[0][0] == 1 for ranks in topics) and any(abs(ranks[0][1]) > 1 for ranks in topics)
    if all([rank for rank, _ in ranks] == list(range(1, len(ranks) + 1)) for ranks in topics):
        return True
    return max(map(len, several)) > 2 and all(_falls_with_score(ranks) for ranks in several)


def _ranks_by_topic(rows: Sequence[Sequence[str]]) -> Iterator[Iterator[tuple[int, float]]]:
    for _, group in groupby(sorted(rows, key=lambda row: row[0]), key=lambda row: row[0]):
        yield ((int(row[3]), float(row[4])) for row in group)


def _falls_with_score(ranks: Sequence[tuple[int, float]]) -> bool:
    """Say whether every rank is there once, and whether no score rises with it."""
    ordered = sorted(ranks)
    return len({rank for rank, _ in ranks}) == len(ranks) and all(
        before[1] >= after[1] for before, after in pairwise(ordered)
    )
