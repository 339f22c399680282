"""Order of every import: plan on one state of the database, then write all of it in one transaction."""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

from django.db import transaction
from django.db.models import Count, F

from accounts.models import User
from evaluation.errors import BadInput, InputProblem, Refused
from evaluation.formats.lines import over_lines
from evaluation.formats.problems import MAX_PROBLEMS
from evaluation.formats.segments import document_id
from evaluation.formats.source import Source
from evaluation.labelling import last_key, upsert
from evaluation.models import AnswerProvenance, Campaign, Event, Finding, Segment
from evaluation.models.fields import new_public_id
from evaluation.models.querysets import in_parts_of
from evaluation.terms import PROVENANCE_KEY, FindingCode
from web.consistent_read import read_only
from web.statements import ROWS_A_STATEMENT
from web.text import cut

TAKEN_OUT = "taken out"
TEXTS = "passage texts"
CANDIDATES = "candidates"
WRITTEN = (TAKEN_OUT, TEXTS, CANDIDATES)
"""Counts of what an import writes beside what it is of."""
NOT_IN_FILE = "loaded and not in the file"
NO_LABEL = "null, which takes it out"
FEW_DOCIDS = 10_000
LONGEST_SHOWN = 300  # of a text beside its replacement


@dataclass(frozen=True, slots=True)
class ImportFinding:
    code: FindingCode
    file: str
    line: int | None
    message: str
    topic_id: str = ""
    run_id: str = ""


Item = TypeVar("Item")
Key = TypeVar("Key")
Loaded = TypeVar("Loaded")


@dataclass(frozen=True, slots=True)
class ImportComparison(Generic[Item]):
    """Items of a file by what is loaded of them."""

    new: list[Item]
    changed: list[Item]
    unchanged: int

    @property
    def to_write(self) -> list[Item]:
        return self.new + self.changed

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers in the order of a plan: added, changed, unchanged."""
        return len(self.new), len(self.changed), self.unchanged


def compare(
    items: Sequence[Item],
    key: Callable[[Item], Key],
    loaded: Mapping[Key, Loaded],
    differs: Callable[[Item, Loaded], bool],
    problem: Callable[[Item, Loaded], InputProblem],
    replace: bool,
) -> ImportComparison[Item]:
    """Compare a file's items with what is loaded under their keys. Raises `BadInput` for changes without `replace`."""
    new = [item for item in items if key(item) not in loaded]
    changed = [item for item in items if key(item) in loaded and differs(item, loaded[key(item)])]
    refuse_changes([problem(item, loaded[key(item)]) for item in changed], replace)
    return ImportComparison(new, changed, len(items) - len(new) - len(changed))


@dataclass(slots=True)
class ImportPlan:
    """Plan of an import: counts for the receipt, findings, and the writing itself.

    `check` refuses what work at desks forbids. It is asked again before the writing: that work raises no revision.
    `payload`: what else its event says.
    """

    noun: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    found: list[ImportFinding] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    write: Callable[[Event], None] = lambda event: None
    check: Callable[[], None] = lambda: None
    payload: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoadReceipt:
    noun: str
    added: int
    changed: int
    unchanged: int
    found: tuple[ImportFinding, ...]
    counts: dict[str, int]
    event: Event | None = None

    @property
    def findings(self) -> int:
        return len(self.found)

    @property
    def nothing_changed(self) -> bool:
        return not (self.added or self.changed or any(self.counts.get(what) for what in WRITTEN))

    def __str__(self) -> str:
        if self.nothing_changed:
            return f"Nothing changed: {counted(self.unchanged, self.noun)} already loaded." + self._extras()
        parts = [f"{counted(self.added, self.noun)} added"]
        parts += [f"{self.changed:,} changed"] if self.changed else []
        parts += [f"{self.unchanged:,} already loaded"] if self.unchanged else []
        return ", ".join(parts) + "." + self._extras()

    def _extras(self) -> str:
        parts = [counted(count, what) for what, count in self.counts.items() if count]
        parts += [f"{counted(self.findings, 'warnings')} about the data"] if self.findings else []
        return f" {'; '.join(parts)}." if parts else ""


def counted(number: int, nouns: str) -> str:
    """Return a number of what an import counts, in words: "1 topic", "2 passages"."""
    words = nouns_of(nouns)
    return f"{number:,} {words.removesuffix('s') if number == 1 else words}"


def nouns_of(nouns: str) -> str:
    return {"segments": "passages", "qrels": "grades"}.get(nouns, nouns)


Beside = Callable[[LoadReceipt], None]
_beside: ContextVar[Beside | None] = ContextVar("beside", default=None)
_trying: ContextVar[bool] = ContextVar("trying", default=False)


@contextmanager
def trying_out() -> Iterator[None]:
    """Let imports inside the block plan only: they write nothing and hold no lock, and their receipts have no event."""
    token = _trying.set(True)
    try:
        yield
    finally:
        _trying.reset(token)


@contextmanager
def written_with(beside: Beside) -> Iterator[None]:
    """Have the import inside the block call `beside` in the transaction of its writing, also if nothing changed."""
    token = _beside.set(beside)
    try:
        yield
    finally:
        _beside.reset(token)


def carry_out(
    *,
    campaign: Campaign,
    kind: str,
    sources: Sequence[Source],
    actor: User | None,
    make_plan: Callable[[Campaign], ImportPlan],
    lock: Callable[[Campaign], object] = lambda campaign: None,
) -> LoadReceipt:
    """Plan one import without a lock, then write it in one transaction, recorded as one event to which its rows point.

    `lock` locks tasks before the campaign, as a submission does: the other way round the two would deadlock. Raises
    whatever the plan raises; then nothing is written. Without a change there is no event either.
    """
    # A file is compared in minutes where it is large, and on SQLite a lock keeps everybody from saving.
    with read_only():
        seen = Campaign.objects.get(pk=campaign.pk)
        plan = _checked(make_plan(seen))
    if _trying.get():
        return _receipt(plan)
    with transaction.atomic():
        receipt = _receipt(plan)
        # The same file again leaves no trace, so that a script may run an import as often as it likes.
        if not receipt.nothing_changed:
            lock(campaign)
            locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
            plan = _checked(plan if locked.revision == seen.revision else make_plan(locked))
            receipt = _write(locked, kind, sources, actor, plan)
        if beside := _beside.get():
            beside(receipt)
    return receipt


def _checked(plan: ImportPlan) -> ImportPlan:
    plan.check()
    return plan


def _receipt(plan: ImportPlan) -> LoadReceipt:
    counts = {noun: count for noun, count in plan.counts.items() if count}
    return LoadReceipt(plan.noun, plan.added, plan.changed, plan.unchanged, tuple(plan.found), counts)


def _write(
    campaign: Campaign, kind: str, sources: Sequence[Source], actor: User | None, plan: ImportPlan
) -> LoadReceipt:
    receipt = _receipt(plan)
    if receipt.nothing_changed:
        return receipt
    event = _record(campaign, kind, sources, actor, receipt, plan.payload)
    plan.write(event)
    store_findings(campaign, event, plan.found)
    # Reports are kept by revision; without a new one they would go on showing the old state.
    Campaign.objects.filter(pk=campaign.pk).update(revision=F("revision") + 1)
    return replace(receipt, event=event)


def _record(
    campaign: Campaign,
    kind: str,
    sources: Sequence[Source],
    actor: User | None,
    receipt: LoadReceipt,
    beside: Mapping[str, Any],
) -> Event:
    # Names without folders: where a file lay on somebody's disk is nobody's business.
    files = [{"name": Path(source.name).name, "sha256": source.sha256} for source in sources]
    counts = {"added": receipt.added, "changed": receipt.changed, "unchanged": receipt.unchanged}
    payload = {"files": files, "of": receipt.noun, **counts, "findings": receipt.findings, **receipt.counts}
    payload |= beside
    return Event.objects.create(campaign=campaign, kind=f"import.{kind}", actor=actor, payload=payload)


def store_findings(campaign: Campaign, event: Event, findings: Iterable[ImportFinding]) -> None:
    Finding.objects.bulk_create(
        [
            Finding(
                campaign=campaign,
                event=event,
                code=finding.code,
                # As many characters as the column holds; files differ in the end of their names.
                file=Path(finding.file).name[-400:],
                line=finding.line,
                run_id=finding.run_id,
                topic_id=finding.topic_id,
                message=finding.message,
            )
            for finding in findings
        ],
        batch_size=ROWS_A_STATEMENT,
    )


def refuse(problems: Sequence[InputProblem]) -> None:
    if problems:
        raise BadInput(problems)


def refuse_unknown_topics(
    source: Source, topic_ids: Iterable[tuple[int, str]], topics: Container[str], field_name: str
) -> None:
    """Raise `BadInput` for topics that are not in the campaign. `topic_ids`: with their lines."""
    first: dict[str, int] = {}
    for line, topic_id in topic_ids:
        if topic_id not in topics:
            first.setdefault(topic_id, line)
    # Each topic once: a file of qrels names it in thousands of lines.
    refuse(
        [
            InputProblem(source.name, line, field_name, f"a topic of the campaign, not {topic_id}")
            for topic_id, line in first.items()
        ]
    )


def refuse_changes(problems: list[InputProblem], replace: bool) -> None:
    """Raise `BadInput` for a file that differs from what is loaded, unless `--replace` was given."""
    if problems and not replace:
        raise BadInput(problems)


def refuse_if_labelled(count: int, what: str) -> None:
    if count:
        raise Refused("labelled", f"{what} cannot be replaced: {count:,} labels hang on it.")


def own_keys(extra: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in extra.items() if key != PROVENANCE_KEY}


def changed_problem(
    source: Source, line: int, field_name: str, what: str, *, loaded: object = "", in_file: object = ""
) -> InputProblem:
    """Return the problem of a line that differs from what is loaded; both are shown, cut to a few lines."""
    texts = {"loaded": cut(str(loaded), LONGEST_SHOWN), "in_file": cut(str(in_file), LONGEST_SHOWN)}
    text = f"what is already loaded for {what}"
    return InputProblem(source.name, line, field_name, text, is_conflict=True, **texts)


def rows_of_docids(campaign: Campaign, docids: Collection[str], *fields: str) -> Iterator[tuple[Any, ...]]:
    """Yield fields, the docid first, of the segments with these docids: all are looked through where they are many."""
    rows = campaign.segments.values_list(*fields)
    if len(docids) > FEW_DOCIDS:
        yield from (row for row in rows.iterator() if row[0] in docids)
        return
    for part in in_parts_of(docids):
        yield from rows.filter(docid__in=part)


class NamedSegments:
    """Segments that a file names: keys of those that are there, and rows without text for the others.

    To be made by the plan: a new segment in the campaign raises its revision, and then the plan is made again.
    """

    def __init__(self, campaign: Campaign, docids: Iterable[str]) -> None:
        names = set(docids)
        self._campaign = campaign
        self._there = dict(rows_of_docids(campaign, names, "docid", "pk"))
        self._rows = [
            (new_public_id(), docid, document_id(docid), "", "", "", "")
            # Sorted, so that the same files give the same keys and the same exports on every server.
            for docid in sorted(names - self._there.keys())
        ]

    def keys(self, event: Event) -> dict[str, int]:
        """Write the rows; return the primary key of each docid's segment."""
        last = last_key(Segment)
        upsert(
            Segment,
            ["public_id", "docid", "document", "text", "title", "headings", "url"],
            self._rows,
            unique=["campaign_id", "docid"],
            update=["document"],
            fixed={"campaign_id": self._campaign.pk, "event_id": event.pk, "has_text": False},
        )
        written = self._campaign.segments.filter(pk__gt=last)
        return self._there | dict(written.values_list("docid", "pk"))


def restate_missing_texts(campaign: Campaign, event: Event) -> None:
    """Write the findings anew that count, per run, cited segments without a text: pairs nobody can judge."""
    # Texts may have come since: the finding is a state of the campaign, not of one file.
    Finding.objects.filter(campaign=campaign, code=FindingCode.SEGMENT_WITHOUT_TEXT).delete()
    cited = "answer__sentences__citations__segment"
    answers = AnswerProvenance.objects.filter(run__campaign=campaign).filter(**{f"{cited}__has_text": False})
    missing = answers.values_list("run__run_id").annotate(Count(cited, distinct=True)).order_by("run__run_id")
    Finding.objects.bulk_create(
        [
            Finding(
                campaign=campaign,
                event=event,
                code=FindingCode.SEGMENT_WITHOUT_TEXT,
                file=run_id,
                run_id=run_id,
                message=f"{count:,} cited segments have no text loaded; those pairs cannot be judged",
            )
            for run_id, count in missing
        ],
        batch_size=ROWS_A_STATEMENT,
    )


P = ParamSpec("P")


def with_every_problem(load: Callable[P, LoadReceipt], *, header: bool = False) -> Callable[P, LoadReceipt]:
    """Let a refused import look at its good lines too, so that one try names every problem.

    A parser stops before the database is read, so a conflict on line 2 would stay unknown until line 3 is mended.
    `header`: the first line names the columns, so where it is wrong the other lines say nothing.
    """

    @wraps(load)
    def loading(*args: P.args, **kwargs: P.kwargs) -> LoadReceipt:
        try:
            return load(*args, **kwargs)
        except BadInput as wrong:
            if header and any(problem.line <= 1 for problem in wrong.problems):
                raise
            raise BadInput(_every_problem(load, kwargs, wrong.problems, header=header)) from wrong

    return loading


def with_every_problem_below_header(load: Callable[P, LoadReceipt]) -> Callable[P, LoadReceipt]:
    return with_every_problem(load, header=True)


def _every_problem(
    load: Callable[..., LoadReceipt], arguments: dict[str, Any], first: Sequence[InputProblem], *, header: bool
) -> list[InputProblem]:
    problems, more = list(dict.fromkeys(first)), list(first)
    sources = [arguments["source"]] if "source" in arguments else list(arguments["sources"])
    # Problems are named in the order in which the files were given, however often they were read.
    order = {source.name: number for number, source in enumerate(sources)}
    while more and len(problems) < MAX_PROBLEMS and (sources := _good_lines(sources, more, header=header)):
        files = {"source": sources[0]} if "source" in arguments else {"sources": sources}
        more = [problem for problem in problems_of(load, arguments | files) if problem not in problems]
        problems += more
    return sorted(problems, key=lambda problem: (order.get(problem.file, -1), problem.line))[:MAX_PROBLEMS]


def problems_of(load: Callable[..., object], arguments: dict[str, Any]) -> Sequence[InputProblem]:
    """Return the problems of files, by trying them out."""
    try:
        with trying_out():
            load(**arguments)
    except BadInput as wrong:
        return wrong.problems
    except Refused:  # of the rest alone: mended lines may say otherwise
        return ()
    return ()


def _good_lines(sources: list[Source], problems: list[InputProblem], *, header: bool) -> list[Source]:
    """Return files without their wrong lines; none of those that are wrong as a whole, or have no row left."""
    wrong = {(problem.file, problem.line) for problem in problems}
    rest = [
        replace(source, lines=tuple(line for line in source.lines if (source.name, line[0]) not in wrong))
        for source in sources
        if (source.name, 0) not in wrong and not over_lines(source)
    ]
    return [source for source in rest if len(source.lines) > header]
