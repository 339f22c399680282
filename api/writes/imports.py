"""Imports as uploads: the same services, options and refusals as the commands. The same file twice changes nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from django.conf import settings
from django.http import HttpResponse
from pydantic import BaseModel, Field
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request

from api.idempotency import Doing
from api.writes.base import (
    MULTIPART,
    PART,
    Name,
    OptionalName,
    Query,
    RequestContent,
    Write,
    WriteView,
    WrongBody,
    document_answer,
    received,
)
from evaluation.formats.segments import names_any
from evaluation.formats.source import read_source
from evaluation.imports.base import LoadReceipt
from evaluation.imports.segments import needed_docids
from evaluation.models import Campaign
from evaluation.terms import JudgeKind, Origin, RagTask, SupportCondition
from exchange.imports import kinds
from exchange.imports.kinds import ImportLoad, how_to_read
from exchange.imports.undo import import_named, undo_import

BINARY = {"type": "string", "format": "binary"}
FORM = {"type": "object", "properties": {PART: {"type": "array", "items": BINARY}}, "required": [PART]}
SINGLE = {"type": "object", "properties": {PART: BINARY}, "required": [PART]}


class Loading(Query):
    """Parameters of every import."""

    name: Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f/\\]*$")] = Field(
        default="", description="what problems and the log call the file, where it is the body itself"
    )
    replace: bool = Field(default=False, description="change what is loaded; refused where labels hang on it")


class SegmentsOptions(Loading):
    """Segment texts."""

    needed_only: bool = Field(default=False, description="only docids that qrels or runs name")


class QrelsOptions(Loading):
    """Relevance grades of one source."""

    source: Name = Field(description="who graded: NIST, UMBRELA, ...")


class RunsOptions(Loading):
    """Runs."""

    group: OptionalName | None = Field(default=None, description="the team; without it what the file says")
    task: RagTask | None = Field(default=None, description="AG or RAG; without it what the file says")
    priority: Annotated[int, Field(ge=0, le=32767)] | None = Field(default=None, description="1 is judged first")
    control: bool = Field(default=False, description="an organizers' control run")
    pool: bool = Field(default=False, description="judge these runs whatever their priority")


class NuggetsOptions(Loading):
    """Nugget lists."""

    origin: Origin = Field(description="where the lists come from")
    judge: Name = Field(description="who made the lists; made if unknown")
    by: JudgeKind | None = Field(default=None, description="a person for edited and manual, else an LLM")
    set: OptionalName = Field(default="", description="name of the set; ORIGIN-JUDGE without it")
    drafts: OptionalName = Field(default="", description="the set an edited one was made from")


class AssignmentsOptions(Loading):
    """Labels of nuggets in answers."""

    origin: Origin = Field(description="of the nuggets that were assigned")
    judge: Name = Field(description="who assigned; made if unknown")
    by: JudgeKind = Field(description="what assigned")
    nuggets: OptionalName = Field(default="", description="where several sets have that origin")


class SupportOptions(Loading):
    """Labels of cited segments."""

    judge: Name = Field(description="who judged; made if unknown")
    by: JudgeKind = Field(description="what judged")
    condition: SupportCondition | None = Field(default=None, description="llm for an LLM; else what the rows say")


class BattlesOptions(Loading):
    """Verdicts of battles."""

    judge: OptionalName = Field(default="", description="who judged, in the place of what the file says")
    by: JudgeKind = Field(description="what judged")
    form: Literal["", "assay", "ragdoll", "arena"] = Field(
        default="", description="without it what the file looks like"
    )
    battle_set: OptionalName = Field(default="", description="where several were drawn; `imported` for others")


class ScoresOptions(Loading):
    """Scores by others: of one judge, or of those that a `judges.yml` among the files names."""

    condition: OptionalName = Field(
        default="", description="the judge's or table's name, in `reports/correlation/` too; not with a judges.yml"
    )
    form: Literal["", "csv", "trec_eval", "tot", "ir_measures", "ranking", "jsonl"] = Field(
        default="", description="csv is a table of runs; without it what the file looks like"
    )
    method: OptionalName = Field(default="", description="how the judge judges")
    model: OptionalName = Field(default="", description="the LLM that it asks")
    has_header: bool = Field(default=False, description="the first line names the columns")
    topics_as_they_are: bool = Field(default=False, description="topics need not be loaded")
    keep_aggregates: bool = Field(
        default=False, description="aggregates of the file count, also where they are not the mean of their topics"
    )


Column = Annotated[str, Field(max_length=200)]


class TracesOptions(Loading):
    """Traces of a RAG system: their run, and where their parts stand unless they are of a form."""

    form: Literal["", "ragas", "csv"] = Field(default="", description="without it what the keys say")
    run: OptionalName = Field(default="", description="the run of all answers")
    run_field: Column = Field(default="", description="else where each trace names its run")
    question: Column = Field(
        default="", description="a column or key, or a path such as input.messages.-1.content"
    )
    answer: Column = Field(default="", description="likewise, and so the others")
    contexts: Column = Field(default="", description="a JSON list, one text, or texts with a divider")
    contexts_split: Column = Field(default="", description="the divider, in which \\n is a line's end")
    context_ids: Column = Field(default="", description="a JSON list of docids")
    topic_id: Column = Field(default="", description="without it the question says it")
    trace_id: Column = Field(default="", description="kept beside the answer")
    marks_from: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=1, description="the number by which answers call their first context"
    )
    sample: Column = Field(default="", description="which of a run's answers to the question, from 1")
    number_samples: bool = Field(default=False, description="number the answers to one question in their order")
    uncited: Literal["none", "retrieved"] = Field(
        default="none",
        description="by what sentences are judged: what they cite, or the first five contexts, whatever they cite",
    )
    skip_empty: bool = Field(default=False, description="leave out traces without an answer")
    keep: Annotated[str, Field(max_length=1000)] = Field(
        default="", description="columns, keys or paths kept beside the answer, with commas between"
    )


class ImportReceipt(BaseModel):
    """Counts of an import. `of`: the noun that is counted; `counts`: everything else that was counted, by its noun."""

    id: str | None = Field(description="by which the import can be taken back; null where nothing changed")
    of: str
    added: int
    changed: int
    unchanged: int
    findings: int
    counts: dict[str, int]
    message: str


@dataclass(frozen=True, slots=True)
class LoadedKind:
    options: type[Loading]
    load: Callable[[ImportLoad], LoadReceipt]
    text: str
    several: bool = False


FILE_KINDS = {
    "topics": LoadedKind(Loading, kinds.load_topics, "topics: TSV (id<TAB>text), or JSONL {id, title|text}"),
    "segments": LoadedKind(
        SegmentsOptions, kinds.load_segments, "segment texts: MS MARCO V2.1 JSONL, or candidates", several=True
    ),
    "qrels": LoadedKind(QrelsOptions, kinds.load_qrels, "one source's relevance grades: TREC qrels"),
    "run": LoadedKind(
        RunsOptions, kinds.load_runs, "runs, one a file, in the forms of TREC RAG and RAGTIME", several=True
    ),
    "nuggets": LoadedKind(
        NuggetsOptions, kinds.load_nuggets, "nugget lists as nuggetizer writes them, or ARGUE's nugget banks"
    ),
    "assignments": LoadedKind(
        AssignmentsOptions, kinds.load_assignments, "labels as nuggetizer writes them", several=True
    ),
    "support": LoadedKind(SupportOptions, kinds.load_support, "support labels: JSONL", several=True),
    "battles": LoadedKind(
        BattlesOptions, kinds.load_battles, "verdicts of battles: JSONL, RAGDoll's judgments, or CSV of arenas"
    ),
    "traces": LoadedKind(
        TracesOptions,
        kinds.load_traces,
        "traces: questions, answers and contexts of ragas, or of JSON or CSV by a map",
        several=True,
    ),
    "scores": LoadedKind(
        ScoresOptions,
        lambda load: kinds.load_scores(load, load.options.condition),
        "scores by others: judges' files by topic, with a `judges.yml` those of several judges, or a table of runs",
        several=True,
    ),
}


class ImportView(WriteView):
    """Load a file, or nothing of it."""

    takes_large_files = True  # as organizer.data.forms.takes_large_files marks a function
    parser_classes = [MultiPartParser]
    answer = ImportReceipt
    # An import that is done again changes nothing. So its effects need no common transaction with the answer, and
    # the database is not locked while a file is parsed.
    together = False
    kind: ClassVar[str] = "topics"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.file_kind = FILE_KINDS[self.kind]
        self.query = self.file_kind.options  # type: ignore[misc]  # each kind has its own
        self.operation = f"import_{self.kind}"  # type: ignore[misc]
        self.text = f"Load {self.file_kind.text}. A file is loaded whole, or nothing of it; gzip is read as is."
        self.bodies = {"application/octet-stream": BINARY, MULTIPART: FORM if self.file_kind.several else SINGLE}

    @contextmanager
    def content(self, request: Request, query: Any) -> Iterator[RequestContent]:
        with received(request, query.name) as content:
            if len(content.files) > 1 and not self.file_kind.several:
                raise WrongBody({PART: ["One file: this kind is loaded one at a time."]})
            yield content

    def checked(self, content: RequestContent) -> None:
        """Files are checked when they are read."""

    def about(self, write: Write, **place: Any) -> Campaign:
        return self.campaign_to_change(write.actor, place["slug"])

    def prepare(self, write: Write, about: Campaign) -> Doing:
        # Segment files hold a whole collection; what is kept is decided while they are read, not in the database.
        keep = names_any(needed_docids(about)) if getattr(write.query, "needed_only", False) else None
        sources = [
            read_source(
                upload.stream,
                name=upload.name,
                max_bytes=settings.API_UPLOAD_MAX_BYTES,
                keep=keep,
                **how_to_read(self.file_kind.load),
            )
            for upload in write.files
        ]
        return partial(self.do, write, ImportLoad(about, sources, write.query, write.actor))

    def do(self, write: Write, about: ImportLoad) -> HttpResponse:
        receipt = self.file_kind.load(about)
        return document_answer(
            ImportReceipt(
                id=receipt.event and f"e{receipt.event.pk}",
                of=receipt.noun,
                added=receipt.added,
                changed=receipt.changed,
                unchanged=receipt.unchanged,
                findings=receipt.findings,
                counts=receipt.counts,
                message=str(receipt),
            )
        )


class TakenBack(BaseModel):
    """Rows that are gone, in words."""

    message: str


class UndoImportView(WriteView):
    """Take an import back: what it loaded goes, labels are withdrawn. Refused with the list of what rests on it."""

    operation = "import_undo"
    answer = TakenBack

    def about(self, write: Write, **place: Any) -> tuple[Campaign, str]:
        return self.campaign_to_change(write.actor, place["slug"]), place["number"]

    def do(self, write: Write, about: tuple[Campaign, str]) -> HttpResponse:
        campaign, number = about
        event = import_named(campaign, number)
        return document_answer(TakenBack(message=undo_import(campaign=campaign, event=event, actor=write.actor)))
