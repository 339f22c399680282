"""An import in two steps: try it out and show what it would do, then do it; both by the services of the commands."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from operator import attrgetter
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.utils.timezone import now
from pydantic import TypeAdapter

from accounts.models import User
from assessor.practice.rules import parse_practice
from evaluation.campaigns.findings import findings_by_kind
from evaluation.errors import BadInput, InputProblem, Refused
from evaluation.formats.argue import parse_lists
from evaluation.formats.assignments import AssignmentRecord, parse_assignments
from evaluation.formats.battles import has_outcomes, has_tasks, parse_battles, parse_outcomes, parse_tasks
from evaluation.formats.citation_judgments import parse_support
from evaluation.formats.kinds import LINES_READ, kind_of
from evaluation.formats.lines import over_lines, sample_words
from evaluation.formats.nuggets import importance_word
from evaluation.formats.problems import MAX_PROBLEMS
from evaluation.formats.runs import AnswerRecord, parse_run
from evaluation.formats.score_files import (
    FORMS,
    TOT,
    form_of,
    judge_of_file,
    names_judges,
    parse_judges,
    parse_score_file,
)
from evaluation.formats.scores import parse_scores
from evaluation.formats.segments import names_any, parse_segments
from evaluation.formats.source import Source, read_source
from evaluation.formats.support import SupportRecord
from evaluation.formats.topics import parse_qrels, parse_topics
from evaluation.imports.base import LoadReceipt, nouns_of, problems_of, trying_out, written_with
from evaluation.imports.segments import needed_docids
from evaluation.models import Campaign
from exchange import files
from exchange.background import IMPORT, UNEXPECTED, start_item
from exchange.imports.kinds import IMPORT_KINDS, ImportLoad, ImportOptions, how_to_read
from exchange.models import ImportAttempt
from jobs import queue
from jobs.models import WorkItem
from reports.metrics.registry import BY_NAME
from web.text import cut

ROWS, LONGEST = 8, 160
Rows = Iterable[Sequence[object]]


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """A kind's columns, and how a file's beginning becomes rows of them. `head`: lines that are no rows."""

    columns: tuple[str, ...]
    rows: Callable[[Source], Rows]
    head: int = 0


def _topic(row: AnswerRecord | AssignmentRecord | SupportRecord) -> str:
    return f"{row.topic_id}{sample_words(row.sample)}"


def _runs(source: Source) -> Rows:
    run = parse_run(source)
    for answer in run.answers:
        cited = sum(len(sentence.citations) for sentence in answer.sentences)
        yield run.run_id, _topic(answer), answer.words, len(answer.sentences), cited, answer.text


def _nuggets(source: Source) -> Rows:
    for row in parse_lists(source):
        for nugget in row.nuggets[:ROWS]:
            weight = "" if nugget.weight is None else f"{nugget.weight:g}"
            yield row.topic_id, nugget.text, importance_word(nugget.importance, nugget.raw_importance), weight


def _assignments(source: Source) -> Rows:
    for row in parse_assignments(source):
        for label in row.labels[:ROWS]:
            yield row.run_id, _topic(row), label.text, label.raw or label.label.name.lower()


def _support(source: Source) -> Rows:
    for row in parse_support(source).rows:
        label = "null" if row.label is None else row.label.name.lower()
        yield row.run_id, _topic(row), row.sentence, row.docid, row.raw or label


def _battles(source: Source) -> Rows:
    if has_tasks(source):
        for task in parse_tasks(source):
            yield task.topic_id, task.left, task.right, "", ""
        return
    for row in parse_battles(source):
        yield row.topic_id, row.left, row.right, row.label.name.lower(), row.judge


def _scores(source: Source) -> Rows:
    if has_outcomes(source):
        for battle in parse_outcomes(source):
            yield f"{battle.left}, {battle.right}", "", battle.label.name.lower()
        return
    # What a file of four columns has where is not known here, but its first is the run.
    form = form_of(source, ()) or TOT.name
    if form in FORMS:
        for score in parse_score_file(source, FORMS[form]):
            yield score.run_id, "", f"{score.measure} {score.topic_id} {score.value:g}"
        return
    for row in parse_scores(source, BY_NAME):
        yield row.run_id, row.group, ", ".join(f"{name} {value:g}" for name, value in row.values.items())


PREVIEWS = {
    "topics": ImportPreview(
        ("Topic", "Text", "Tags"),
        lambda source: ((row.topic_id, row.text, ", ".join(row.tags)) for row in parse_topics(source)),
    ),
    "segments": ImportPreview(
        ("Docid", "Title", "Text"),
        lambda source: map(attrgetter("docid", "title", "text"), parse_segments(source)),
    ),
    "qrels": ImportPreview(
        ("Topic", "Docid", "Grade"),
        lambda source: map(attrgetter("topic_id", "docid", "grade"), parse_qrels(source)),
    ),
    "runs": ImportPreview(("Run", "Topic", "Words", "Sentences", "Citations", "Answer"), _runs),
    "nuggets": ImportPreview(("Topic", "Nugget", "Importance", "Weight"), _nuggets),
    "assignments": ImportPreview(("Run", "Topic", "Nugget", "Label"), _assignments),
    "support": ImportPreview(("Run", "Topic", "Sentence", "Docid", "Label"), _support),
    "battles": ImportPreview(("Topic", "Left", "Right", "Verdict", "Judge"), _battles, head=1),
    "scores": ImportPreview(("Run", "Group", "Scores"), _scores, head=1),
    "practice": ImportPreview(
        ("Kind", "Question", "Statement"),
        lambda source: map(attrgetter("kind", "question", "statement"), parse_practice(source)),
    ),
}


def preview_of(kind: str, sources: Sequence[Source], judge: str = "") -> dict[str, Any]:
    """First rows as `{"columns": […], "rows": [[…]]}`, texts cut short; of score files those of each.

    `judge`: whose scores these are, where no judges.yml says it.
    """
    if kind not in PREVIEWS:
        return {"columns": (), "rows": []}
    preview = PREVIEWS[kind]
    if kind != "scores":
        columns, rows = preview.columns, _first_rows(preview, sources[0])[:ROWS]
    else:
        columns, rows = ("Judge", *preview.columns), list(_scores_by_judge(preview, sources, judge))
    return {"columns": columns, "rows": [[cut(str(cell), LONGEST) for cell in row] for row in rows]}


def _first_rows(preview: ImportPreview, source: Source) -> list[Sequence[object]]:
    try:
        return list(preview.rows(_beginning(source, ROWS + preview.head)))
    except BadInput:  # a whole that cannot be cut, such as one object over many lines
        return []


def _scores_by_judge(preview: ImportPreview, sources: Sequence[Source], judge: str) -> Rows:
    files = [source for source in sources if not names_judges(source)][:ROWS]
    judges = next((parse_judges(source) for source in sources if names_judges(source)), None)
    for source in files:
        entry = judge_of_file(source.name, judges) if judges else None
        for row in _first_rows(preview, source)[: ROWS // len(files)]:
            yield entry.name if entry else judge, *row


def also_readable_as(kind: str, sources: Sequence[Source]) -> list[str]:
    """Return the other kinds of which every file has the look, and as which its beginning can be read."""
    return [other for other in PREVIEWS if other != kind and all(_may_be(other, source) for source in sources)]


def _may_be(kind: str, source: Source) -> bool:
    look = kind_of(source)
    if look is None or kind not in look.kinds:
        return False
    try:
        return any(True for _ in PREVIEWS[kind].rows(_beginning(source, LINES_READ)))
    except BadInput:
        return False


def _beginning(source: Source, lines: int) -> Source:
    return source if over_lines(source) else replace(source, lines=source.lines[:lines])


KEPT_FOR = timedelta(days=2)
CHOSEN: TypeAdapter[ImportOptions] = TypeAdapter(ImportOptions)
State = ImportAttempt.State


def begin(
    *, campaign: Campaign, kind: str, options: ImportOptions, sent: Sequence[files.SentFile], actor: User | None
) -> ImportAttempt:
    """Keep the files and check them: small ones in the request, large ones in the background."""
    folder, kept = files.keep(sent)
    attempt = ImportAttempt.objects.create(
        campaign=campaign,
        kind=kind,
        options=CHOSEN.dump_python(options, mode="json", exclude_defaults=True),
        files=kept,
        folder=folder,
        made_by=actor,
        expires_at=now() + KEPT_FOR,
    )
    return _soon(attempt, check)


def commit(*, attempt: ImportAttempt, actor: User | None) -> ImportAttempt:
    """Load what was tried out. Raises `Refused` where that is not so any more, or somebody does it already."""
    mine = ImportAttempt.objects.filter(pk=attempt.pk, state=State.CHECKED)
    if not mine.update(state=State.LOADING, loaded_by=actor, begun_at=now()):
        raise Refused("not_checked", "This import is not waiting to be loaded: it is, or its files are gone.")
    attempt.refresh_from_db()
    return _soon(attempt, load)


def take_up(*, attempt: ImportAttempt) -> ImportAttempt:
    """Go on with an import whose process is gone. Raises `Refused` where somebody goes on with it."""
    mine = ImportAttempt.objects.filter(pk=attempt.pk, begun_at=attempt.begun_at, job=attempt.job)
    if not attempt.is_abandoned or not mine.update(begun_at=now(), job=None):
        raise Refused("not_abandoned", "This import is under way, or has come to its end.")
    attempt.refresh_from_db()
    return _soon(attempt, carry_on)


def change_loaded(*, attempt: ImportAttempt, actor: User | None) -> ImportAttempt:
    """Load files that were refused because something else is loaded, and change that. Raises `Refused`."""
    conflicting = ImportAttempt.objects.filter(pk=attempt.pk, state=State.REFUSED).exclude(folder="")
    begun = {"state": State.LOADING, "begun_at": now(), "loaded_by": actor, "outcome": {}, "problems": []}
    if not conflicting.update(options=attempt.options | {"replace": True}, **begun):
        raise Refused("not_checked", "This import is not waiting to be loaded: it is, or its files are gone.")
    attempt.refresh_from_db()
    return _soon(attempt, load)


def discard(*, attempt: ImportAttempt) -> None:
    """Put an import aside, its files with it, also an import that waits or whose process is gone.

    Raises `Refused` where a request works on it, or it is being loaded this moment.
    """
    if attempt.state in (State.LOADED, State.DISCARDED, State.EXPIRED):
        return  # a second window may still show the button
    if attempt.is_open and attempt.job is None and not attempt.is_abandoned:
        raise Refused("under_way", "This import is under way. Wait a moment.")
    with transaction.atomic():
        # Whoever loads it holds the row until what was loaded is written.
        attempts = ImportAttempt.objects.filter(pk=attempt.pk, state=attempt.state)
        locked = attempts.select_for_update(nowait=connection.features.has_select_for_update_nowait)
        try:
            held = list(locked)
        except OperationalError as error:
            raise Refused("under_way", "This import is under way. Wait a moment.") from error
        if not held:
            return
        attempts.update(state=State.DISCARDED, folder="", ended_at=now())
        if attempt.job:
            queue.cancel(attempt.job)
    files.remove(attempt.folder)


def _soon(attempt: ImportAttempt, act: Callable[[ImportAttempt], None]) -> ImportAttempt:
    # Text of our formats compresses some ten times, and the limit is of what has to be read.
    weight = sum(file["size"] * (10 if file["name"].endswith(".gz") else 1) for file in attempt.files)
    if weight <= settings.IMPORT_AT_ONCE_BYTES:
        act(attempt)
        return attempt
    with transaction.atomic():
        title = f"{attempt.kind} for {attempt.campaign.slug}"
        attempt.job = start_item(IMPORT, attempt.pk, title, attempt.made_by)
        attempt.save(update_fields=["job"])
    return attempt


def carry_on_item(item: WorkItem) -> None:
    attempts = ImportAttempt.objects.select_related("campaign", "made_by")
    if attempt := attempts.filter(pk=item.payload["about"]).first():
        carry_on(attempt)


def carry_on(attempt: ImportAttempt) -> None:
    # An item may be done twice, after a worker's death; in any other state nothing is left to do.
    if attempt.state == State.CHECKING:
        check(attempt)
    elif attempt.state == State.LOADING:
        load(attempt)


def check(attempt: ImportAttempt) -> None:
    """Plan the loading of the files, and store what it would do."""
    try:
        sources = _sources(attempt)
        with trying_out():
            receipt = _load(attempt, sources)
        first_answers = IMPORT_KINDS[attempt.kind].first_answers
        answers = first_answers(_order(attempt, sources)) if first_answers else []
    except Refused as refusal:
        _refuse(attempt, refusal)
        return
    except Exception:
        _refuse(attempt, Refused("unexpected", UNEXPECTED))
        raise
    outcome = _counts(receipt) | {
        "preview": preview_of(attempt.kind, sources, attempt.options.get("table", "")),
        "answers": answers,
    }
    outcome["also"] = also_readable_as(attempt.kind, sources)
    outcome["found"] = [] if receipt.nothing_changed else _findings(receipt)
    _to(attempt, State.CHECKED, outcome=outcome, problems=[])


class _Overtaken(Exception):
    """Another process was first, or the import was put aside."""


def load(attempt: ImportAttempt) -> None:
    """Load the files. The data and the state of the attempt are written in one transaction, or not at all."""
    folder = attempt.folder

    def loaded(receipt: LoadReceipt) -> None:
        outcome = attempt.outcome | _counts(receipt)
        if not _to(attempt, State.LOADED, outcome=outcome, event=receipt.event, folder="", ended_at=now()):
            raise _Overtaken

    try:
        if not ImportAttempt.objects.filter(pk=attempt.pk, state=State.LOADING).exists():
            return
        sources = _sources(attempt)
        with written_with(loaded):
            _load(attempt, sources)
    except _Overtaken:
        return
    except Refused as refusal:
        _refuse(attempt, refusal)
        return
    except BaseException:
        attempt.state, attempt.folder = State.LOADING, folder
        _to(attempt, State.CHECKED)  # nothing was written, and it may be tried again
        raise
    files.remove(folder)


def _sources(attempt: ImportAttempt) -> list[Source]:
    """Read all files. Raises `BadInput` with all unreadable lines, and what is wrong with the others."""
    limits: dict[str, Any] = {
        "max_bytes": settings.API_UPLOAD_MAX_BYTES,
        **how_to_read(IMPORT_KINDS[attempt.kind].load),
    }
    if attempt.options.get("needed_only"):
        limits["keep"] = names_any(needed_docids(attempt.campaign))
    sources, problems = [], list[InputProblem]()
    for number, file in enumerate(attempt.files):
        with files.open_file(attempt.folder, number) as content:
            sources.append(read_source(content, name=file["name"], problems_to=problems, **limits))
    if problems:
        whole = {problem.file for problem in problems if problem.line == 0}
        rest = [source for source in sources if source.lines and source.name not in whole]
        others = problems_of(_load, {"attempt": attempt, "sources": rest}) if rest else ()
        raise BadInput(sorted([*problems, *others], key=attrgetter("file", "line"))[:MAX_PROBLEMS])
    return sources


def _load(attempt: ImportAttempt, sources: Sequence[Source]) -> LoadReceipt:
    return IMPORT_KINDS[attempt.kind].load(_order(attempt, sources))


def _order(attempt: ImportAttempt, sources: Sequence[Source]) -> ImportLoad:
    campaign, options = attempt.campaign, CHOSEN.validate_python(attempt.options)
    return ImportLoad(campaign, sources, options, attempt.loaded_by or attempt.made_by)


def _findings(receipt: LoadReceipt) -> list[dict[str, Any]]:
    return [
        {"code": finding.code.value, "file": Path(finding.file).name[-400:]}
        | {name: getattr(finding, name) for name in ("line", "run_id", "topic_id", "message")}
        for kind in findings_by_kind(receipt.found)
        for finding in kind.examples
    ]


def _counts(receipt: LoadReceipt) -> dict[str, Any]:
    names = ("added", "changed", "unchanged", "findings", "counts", "nothing_changed")
    kinds = {kind.code.value: kind.number for kind in findings_by_kind(receipt.found)}
    texts = {"noun": nouns_of(receipt.noun), "message": str(receipt)}
    return {name: getattr(receipt, name) for name in names} | texts | {"kinds": kinds}


def _refuse(attempt: ImportAttempt, refusal: Refused) -> None:
    # The files stay where replacing resolves it; other refusals need mended files anyway.
    rows = refusal.problems if isinstance(refusal, BadInput) else ()
    outcome = {"refused": refusal.code, "message": refusal.message}
    problems, folder = [_row(row) for row in rows], attempt.folder
    stays = bool(rows) and all(row.is_conflict for row in rows)
    kept = folder if stays else ""
    noted = _to(attempt, State.REFUSED, outcome=outcome, problems=problems, folder=kept, ended_at=now())
    if noted and not stays:
        files.remove(folder)


def _row(problem: InputProblem) -> list[str | int]:
    """Return a problem as it is kept; only a conflict has the two texts."""
    texts = [problem.loaded, problem.in_file] if problem.is_conflict else []
    return [problem.file, problem.line, problem.field, problem.expected, *texts]


def _to(attempt: ImportAttempt, state: ImportAttempt.State, **fields: Any) -> bool:
    """Write what became of an attempt, unless it was put aside or taken up by another process meanwhile."""
    mine = ImportAttempt.objects.filter(pk=attempt.pk, state=attempt.state)
    if not mine.update(state=state, **fields):
        return False
    for name, value in fields.items():
        setattr(attempt, name, value)
    attempt.state = state
    return True
