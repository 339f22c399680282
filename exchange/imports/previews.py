"""The first rows of a file as they were read, for the page on which somebody decides whether to load it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.errors import BadInput
from evaluation.formats.argue import parse_lists
from evaluation.formats.assignments import parse_assignments
from evaluation.formats.nuggets import importance_word
from evaluation.formats.practice import parse_practice
from evaluation.formats.qrels import parse_qrels
from evaluation.formats.runs import parse_run
from evaluation.formats.scores import parse_scores
from evaluation.formats.segments import parse_segments
from evaluation.formats.source import Source
from evaluation.formats.support import parse_support
from evaluation.formats.topics import parse_topics

ROWS, LONGEST = 8, 160
Rows = Iterable[Sequence[object]]


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """A kind's columns, and how a file's beginning becomes rows of them. `head`: lines that are no rows."""

    columns: tuple[str, ...]
    rows: Callable[[Source], Rows]
    head: int = 0


def _topics(source: Source) -> Rows:
    return ((row.topic_id, row.text, ", ".join(row.tags)) for row in parse_topics(source))


def _segments(source: Source) -> Rows:
    return ((row.docid, row.title, row.text) for row in parse_segments(source))


def _qrels(source: Source) -> Rows:
    return ((row.topic_id, row.docid, row.grade) for row in parse_qrels(source))


def _runs(source: Source) -> Rows:
    run = parse_run(source)
    for one in run.answers:
        cited = sum(len(sentence.citations) for sentence in one.sentences)
        yield run.run_id, one.topic_id, one.words, len(one.sentences), cited, one.text


def _nuggets(source: Source) -> Rows:
    for row in parse_lists(source):
        for one in row.nuggets[:ROWS]:
            yield row.topic_id, one.text, importance_word(one.importance, one.raw_importance)


def _assignments(source: Source) -> Rows:
    for row in parse_assignments(source):
        for one in row.labels[:ROWS]:
            yield row.run_id, row.topic_id, one.text, one.raw or one.label.name.lower()


def _support(source: Source) -> Rows:
    for row in parse_support(source):
        yield row.run_id, row.topic_id, row.sentence, row.docid, row.raw or row.label.name.lower()


def _scores(source: Source) -> Rows:
    for row in parse_scores(source):
        yield row.run_id, row.group, ", ".join(f"{name} {value:g}" for name, value in row.values.items())


def _practice(source: Source) -> Rows:
    return ((row.kind, row.question, row.statement) for row in parse_practice(source))


PREVIEWS = {
    "topics": ImportPreview(("Topic", "Text", "Tags"), _topics),
    "segments": ImportPreview(("Docid", "Title", "Text"), _segments),
    "qrels": ImportPreview(("Topic", "Docid", "Grade"), _qrels),
    "runs": ImportPreview(("Run", "Topic", "Words", "Sentences", "Citations", "Answer"), _runs),
    "nuggets": ImportPreview(("Topic", "Nugget", "Importance"), _nuggets),
    "assignments": ImportPreview(("Run", "Topic", "Nugget", "Label"), _assignments),
    "support": ImportPreview(("Run", "Topic", "Sentence", "Docid", "Label"), _support),
    "scores": ImportPreview(("Run", "Group", "Scores"), _scores, head=1),
    "practice": ImportPreview(("Kind", "Question", "Statement"), _practice),
}


def preview_of(kind: str, sources: Sequence[Source]) -> dict[str, Any]:
    """First rows of the first file as `{"columns": […], "rows": [[…]]}`, texts cut short."""
    preview, source = PREVIEWS[kind], sources[0]
    try:
        found = list(preview.rows(_beginning(source, ROWS + preview.head)))
    except BadInput:  # a whole that cannot be cut, such as one object over many lines
        found = []
    return {"columns": preview.columns, "rows": [[_short(cell) for cell in row] for row in found[:ROWS]]}


def _beginning(source: Source, lines: int) -> Source:
    is_whole = source.lines[0][1].strip() == "{"
    return source if is_whole else replace(source, lines=source.lines[:lines])


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
