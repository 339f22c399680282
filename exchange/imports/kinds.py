"""The kinds of files that can be loaded, the options of each, and the service that loads it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from accounts.models import User
from assessor.practice.imports import import_practice
from evaluation.formats.score_files import JudgeEntry, names_judges
from evaluation.formats.source import MAX_LINE_BYTES, MAX_TEXT_LINE_BYTES, Source
from evaluation.formats.traces import TraceMap, TraceOptions
from evaluation.imports.assignments import import_assignments
from evaluation.imports.base import LoadReceipt
from evaluation.imports.battles import import_battles
from evaluation.imports.nuggets import import_nuggets
from evaluation.imports.runs import RunOptions, import_runs
from evaluation.imports.segments import import_segments, needed_docids
from evaluation.imports.support import import_support
from evaluation.imports.topics import import_qrels, import_topics
from evaluation.imports.traces import first_answers, import_traces
from evaluation.models import Campaign
from evaluation.terms import JudgeKind, Origin, RagTask, SupportCondition
from reports.judges.imports import ScoreFileOptions, load_score_files


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options of the wizard for all kinds; each kind reads those that concern it."""

    replace: bool = False
    needed_only: bool = False
    source: str = ""
    group: str | None = None
    task: RagTask | None = None
    priority: int | None = None
    control: bool = False
    pool: bool = False
    origin: Origin | None = None
    judge: str = ""
    by: JudgeKind | None = None
    set: str = ""
    drafts: str = ""
    nuggets: str = ""
    condition: SupportCondition | None = None
    table: str = ""
    method: str = ""
    model: str = ""
    form: str = ""
    has_header: bool = False
    topics_as_they_are: bool = False
    keep_aggregates: bool = False
    run: str = ""
    run_field: str = ""
    question: str = ""
    answer: str = ""
    contexts: str = ""
    contexts_split: str = ""
    context_ids: str = ""
    topic_id: str = ""
    trace_id: str = ""
    sample: str = ""
    marks_from: int = 1
    skip_empty: bool = False
    keep: str = ""
    battle_set: str = ""
    number_samples: bool = False
    uncited: str = ""


@dataclass(frozen=True, slots=True)
class ImportLoad:
    """An import as it was asked for.

    `options` says what the kind's service asks about: `ImportOptions`, or the parameters of an address of the API.
    """

    campaign: Campaign
    sources: Sequence[Source]
    options: Any
    actor: User | None

    @property
    def source(self) -> Source:
        return self.sources[0]

    @property
    def common(self) -> dict[str, Any]:
        return {"campaign": self.campaign, "replace": self.options.replace, "actor": self.actor}


def load_topics(load: ImportLoad) -> LoadReceipt:
    return import_topics(source=load.source, **load.common)


def load_segments(load: ImportLoad) -> LoadReceipt:
    needed = needed_docids(load.campaign) if load.options.needed_only else None
    return import_segments(sources=load.sources, needed=needed, **load.common)


def load_qrels(load: ImportLoad) -> LoadReceipt:
    return import_qrels(source=load.source, name=load.options.source, **load.common)


def load_runs(load: ImportLoad) -> LoadReceipt:
    options = load.options
    run_options = RunOptions(options.group, options.task, options.priority, options.control, options.pool)
    return import_runs(sources=load.sources, options=run_options, **load.common)


def load_nuggets(load: ImportLoad) -> LoadReceipt:
    options = load.options
    return import_nuggets(
        source=load.source,
        origin=options.origin,
        judge=options.judge,
        kind=options.by,
        name=options.set,
        drafts=options.drafts,
        **load.common,
    )


def load_assignments(load: ImportLoad) -> LoadReceipt:
    options = load.options
    return import_assignments(
        sources=load.sources,
        origin=options.origin,
        judge=options.judge,
        kind=options.by,
        nuggets=options.nuggets,
        **load.common,
    )


def load_support(load: ImportLoad) -> LoadReceipt:
    options = load.options
    return import_support(
        sources=load.sources, judge=options.judge, kind=options.by, condition=options.condition, **load.common
    )


def load_battles(load: ImportLoad) -> LoadReceipt:
    options = load.options
    return import_battles(
        source=load.source,
        kind=options.by,
        judge=options.judge,
        form=options.form,
        set_name=options.battle_set,
        **load.common,
    )


def load_scores(load: ImportLoad, name: str) -> LoadReceipt:
    options = load.options
    reading = ScoreFileOptions(
        options.form, options.has_header, options.topics_as_they_are, options.keep_aggregates
    )
    judges = next(filter(names_judges, load.sources), None)
    files = [source for source in load.sources if source is not judges]
    judge = JudgeEntry(name, options.method, options.model)
    return load_score_files(sources=files, judge=judge, judges=judges, options=reading, **load.common)


def trace_options(options: Any) -> TraceOptions:
    names = {name: getattr(options, name) for name in TraceMap.model_fields}
    # A field of a form holds one line.
    names["contexts_split"] = names["contexts_split"].replace("\\n", "\n")
    keep = tuple(filter(None, map(str.strip, options.keep.split(","))))
    more = {name: getattr(options, name) for name in ("run", "run_field", "skip_empty", "number_samples")}
    with_candidates = options.uncited == "retrieved"
    return TraceOptions(options.form, TraceMap(**names), keep=keep, with_candidates=with_candidates, **more)


def load_traces(load: ImportLoad) -> LoadReceipt:
    return import_traces(sources=load.sources, options=trace_options(load.options), **load.common)


def how_to_read(load: Callable[[ImportLoad], LoadReceipt]) -> dict[str, Any]:
    """Return how `read_source` reads files of a kind: longer lines where one may hold whole documents."""
    long = load in (load_segments, load_runs, load_traces)
    return {
        "max_line_bytes": MAX_TEXT_LINE_BYTES if long else MAX_LINE_BYTES,
        "of_sheets": load is load_traces,
        "on_disk": load is load_traces,
    }


@dataclass(frozen=True, slots=True)
class ImportKind:
    """A kind of file: its names, how it is loaded, whether several are at once, and which options it has."""

    key: str
    caption: str
    what: str
    load: Callable[[ImportLoad], LoadReceipt]
    options: tuple[str, ...] = ()
    several: bool = False
    first_answers: Callable[[ImportLoad], list[dict[str, Any]]] | None = None
    """Answers as assessors will see them, where that is what a file brings."""


TRACE_COLUMNS = ("question", "answer", "contexts", "topic_id", "trace_id", "sample")

IMPORT_KINDS = {
    kind.key: kind
    for kind in (
        ImportKind("topics", "Topics", "TSV (id, tab, text), or JSONL {id, title|text}", load_topics),
        ImportKind(
            *("segments", "Passages", "Texts of passages: MS MARCO V2.1 JSONL, or candidates", load_segments),
            ("needed_only",),
            several=True,
        ),
        ImportKind(
            *("qrels", "Graded passages", "One source's grades, four or six columns as TREC has them", load_qrels),
            ("source",),
        ),
        ImportKind(
            *("runs", "Runs", "One run a file, as TREC RAG 2024 to 2026 and RAGTIME have them", load_runs),
            ("group", "task", "priority", "control", "pool"),
            several=True,
        ),
        ImportKind(
            *(
                "nuggets",
                "Nuggets",
                "Lists as nuggetizer writes them, rubrics, or ARGUE's nugget banks",
                load_nuggets,
            ),
            ("origin", "judge", "by", "set", "drafts"),
        ),
        ImportKind(
            "assignments",
            "Nugget labels",
            "Labels of nuggets in answers, as nuggetizer writes them",
            load_assignments,
            ("origin", "judge", "by", "nuggets"),
            several=True,
        ),
        ImportKind(
            *("support", "Citation labels", "JSONL, a sentence and a cited passage a line", load_support),
            ("judge", "by", "condition"),
            several=True,
        ),
        ImportKind(
            "battles",
            "Verdicts of battles",
            "Which of two answers is better: JSONL, RAGDoll's judgments or tasks, or CSV as arena-rank reads it",
            load_battles,
            ("judge", "by", "battle_set"),
        ),
        ImportKind(
            "scores",
            "Scores by others",
            "Score files by topic in five forms, of one judge or with a judges.yml, or CSV of runs and scores",
            lambda load: load_scores(load, load.options.table),
            ("table", "form", "method", "model", "has_header", "topics_as_they_are", "keep_aggregates"),
            several=True,
        ),
        ImportKind(
            "practice",
            "Practice items",
            "JSONL with known labels and explanations",
            lambda load: import_practice(source=load.source, **load.common),
        ),
        ImportKind(
            *(
                "traces",
                "Traces",
                "Questions, answers and contexts of your own system: ragas, or a sheet",
                load_traces,
            ),
            (
                "run",
                "run_field",
                *TRACE_COLUMNS,
                "contexts_split",
                "number_samples",
                "uncited",
                "keep",
                "skip_empty",
            ),
            several=True,
            first_answers=lambda load: first_answers(load.sources, trace_options(load.options)),
        ),
    )
}
"""In the order in which a campaign is filled; traces fill it alone."""
