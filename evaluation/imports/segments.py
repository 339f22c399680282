"""Import segment texts."""

from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from django.db import transaction
from django.db.models import F

from accounts.models import User
from evaluation.errors import InputProblem
from evaluation.formats.addressing import (
    addressing_in_answer,
    addressing_in_segment,
    docid_in,
    signs_in,
    signs_in_answer,
)
from evaluation.formats.segments import SegmentRecord, document_id, parse_segment_file
from evaluation.formats.source import Source
from evaluation.imports.base import (
    CANDIDATES,
    ImportFinding,
    ImportPlan,
    LoadReceipt,
    carry_out,
    changed_problem,
    compare,
    refuse,
    refuse_if_labelled,
    restate_missing_texts,
    store_findings,
    with_every_problem,
)
from evaluation.imports.dependents import labels_on_segments
from evaluation.labelling import upsert
from evaluation.models import AnswerProvenance, Campaign, Candidate, Event, Finding, Segment, Sentence
from evaluation.models.fields import new_public_id
from evaluation.tasks.pooling import extend_tasks, lock_judging
from evaluation.terms import FindingCode
from web.statements import ROWS_A_STATEMENT

CODE = FindingCode.ADDRESSES_JUDGE
# The texts of a campaign take gigabytes: they are read so many at a time.
TEXTS_AT_ONCE = 5_000
FEW = 500  # docids, which SQLite takes as parameters of one query


@dataclass(frozen=True, slots=True)
class AddressingCheck:
    places: int
    added: int
    removed: int

    def __str__(self) -> str:
        changed = f"{self.added:,} findings added, {self.removed:,} removed" if self.added or self.removed else ""
        return f"{self.places:,} places seem to address a judge. {changed or 'Nothing changed'}."


def look_for_addressing(*, campaign: Campaign) -> AddressingCheck:
    """Look through all loaded answers and passages; store new findings, and delete those that no longer hold.

    Labels stay as they are. Without a change there is no event.
    """
    # Before the lock, because looking through all texts would hold up everybody who writes.
    entries = {(problem.run_id, problem.topic_id, problem.message): problem for problem in _loaded(campaign)}
    with transaction.atomic():
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        rows = Finding.objects.filter(campaign=locked, code=CODE)
        there = {tuple(key): pk for pk, *key in rows.values_list("pk", "run_id", "topic_id", "message")}
        new = [entry for key, entry in entries.items() if key not in there]
        gone = [pk for key, pk in there.items() if key not in entries]
        if new or gone:
            payload = {"code": CODE.value, "added": len(new), "removed": len(gone)}
            event = Event.objects.create(campaign=locked, kind="texts.checked", payload=payload)
            store_findings(locked, event, new)
            Finding.objects.filter(pk__in=gone).delete()
            Campaign.objects.filter(pk=locked.pk).update(revision=F("revision") + 1)
    return AddressingCheck(len(entries), len(new), len(gone))


def forget_addressing(campaign: Campaign, docids: Collection[str]) -> None:
    if docids:
        rows = Finding.objects.filter(campaign=campaign, code=CODE, run_id="").values_list("pk", "message")
        replaced = set(docids)
        Finding.objects.filter(pk__in=[pk for pk, message in rows if docid_in(message) in replaced]).delete()


def _loaded(campaign: Campaign) -> Iterator[ImportFinding]:
    yield from _in_answers(campaign)
    segments = campaign.segments.filter(has_text=True).order_by("pk").values_list("docid", "text")
    for docid, text in segments.iterator(chunk_size=TEXTS_AT_ONCE):
        for sign in signs_in(text):
            yield ImportFinding(CODE, docid, None, addressing_in_segment(docid, sign))


def _in_answers(campaign: Campaign) -> Iterator[ImportFinding]:
    provenance = AnswerProvenance.objects.filter(run__campaign=campaign)
    fields = provenance.values_list("answer", "run__run_id", "topic__topic_id", "line")
    places = {answer: (run_id, topic_id, line) for answer, run_id, topic_id, line in fields}
    sentences = Sentence.objects.filter(answer__topic__campaign=campaign).order_by("answer", "index")
    texts = sentences.values_list("answer", "text").iterator(chunk_size=TEXTS_AT_ONCE)
    for answer, rows in groupby(texts, key=itemgetter(0)):
        run_id, topic_id, line = places[answer]
        for number, sign in signs_in_answer([text for _, text in rows]):
            yield ImportFinding(CODE, run_id, line, addressing_in_answer(number, sign), topic_id, run_id)


TEXT_FIELDS = ["text", "title", "headings", "url", "start_char", "end_char"]


def needed_docids(campaign: Campaign) -> set[str]:
    """Return the docids that qrels or runs name: each has a row, with or without a text."""
    return set(campaign.segments.values_list("docid", flat=True))


@with_every_problem
def import_segments(
    *,
    campaign: Campaign,
    sources: Sequence[Source],
    needed: Container[str] | None = None,
    replace: bool = False,
    actor: User | None = None,
) -> LoadReceipt:
    """Load segment texts, and for which topics they are candidates; with `needed` only those docids.

    Raises `BadInput` for bad files, for one docid with two texts, and for a changed text without `replace`.
    """
    rows, candidates = _merge(sources, needed)
    return carry_out(
        campaign=campaign,
        kind="segments",
        sources=sources,
        actor=actor,
        make_plan=lambda locked: _plan(locked, rows, candidates, replace),
        lock=lock_judging,
    )


Rows = dict[str, tuple[Source, SegmentRecord]]
Candidates = dict[tuple[str, str], None]
"""Topic id and docid of each, in the order of the files."""


def _merge(sources: Sequence[Source], needed: Container[str] | None) -> tuple[Rows, Candidates]:
    rows: Rows = {}
    candidates: Candidates = {}
    problems = []
    for source in sources:
        file = parse_segment_file(source, needed)
        candidates |= dict.fromkeys(file.candidates)
        for row in file.segments:
            first = rows.setdefault(row.docid, (source, row))
            if first[1] is not row and first[1].content != row.content:
                where = f"the same text as at {first[0].name}:{first[1].line} for {row.docid}"
                problems.append(InputProblem(source.name, row.line, "segment", where))
    refuse(problems)
    return rows, candidates


def _content(segment: Segment) -> tuple[object, ...]:
    return tuple(getattr(segment, name) for name in TEXT_FIELDS)


def _plan(campaign: Campaign, rows: Rows, candidates: Candidates, replace: bool) -> ImportPlan:
    texts = campaign.segments.filter(has_text=True)
    if len(rows) <= FEW:
        texts = texts.filter(docid__in=list(rows))
    loaded = {segment.docid: segment for segment in texts if segment.docid in rows}
    compared = compare(
        list(rows.values()),
        lambda item: item[1].docid,
        loaded,
        lambda item, segment: item[1].content != _content(segment),
        lambda item, segment: _change(*item, segment),
        replace,
    )
    changed = [row.docid for _, row in compared.changed]

    def check() -> None:
        refuse_if_labelled(labels_on_segments([loaded[docid] for docid in changed]), "A segment's text")

    rows_to_write = text_rows(row for _, row in compared.to_write)
    new_candidates = _new_candidates(campaign, candidates)

    def write(event: Event) -> None:
        forget_addressing(campaign, changed)
        write_texts(campaign, rows_to_write, event)
        _write_candidates(campaign, new_candidates.new, event)
        # New texts may complete pairs that runs cite, and tasks get what can be judged since.
        restate_missing_texts(campaign, event)
        extend_tasks(campaign)

    written = {row.docid for _, row in compared.to_write}
    findings = addressing_in((source, row) for source, row in rows.values() if row.docid in written)
    counts = {CANDIDATES: len(new_candidates.new), OF_OTHER_TOPICS: new_candidates.of_other_topics}
    return ImportPlan("segments", *compared.counts, findings, counts, write=write, check=check)


OF_OTHER_TOPICS = "candidates of topics that are not loaded"


@dataclass(frozen=True, slots=True)
class NewCandidates:
    """Keys of topics with docids, of candidates that are not loaded; `of_other_topics` counts those without a topic."""

    new: list[tuple[int, str]]
    of_other_topics: int


def _new_candidates(campaign: Campaign, candidates: Candidates) -> NewCandidates:
    if not candidates:
        return NewCandidates([], 0)
    topics = dict(campaign.topics.values_list("topic_id", "pk"))
    loaded = Candidate.objects.filter(topic__campaign=campaign).values_list("topic__topic_id", "segment__docid")
    here = [candidate for candidate in candidates if candidate[0] in topics]
    new = candidates.keys() - set(loaded)
    return NewCandidates(
        [(topics[topic_id], docid) for topic_id, docid in here if (topic_id, docid) in new],
        len(candidates) - len(here),
    )


def _write_candidates(campaign: Campaign, new: list[tuple[int, str]], event: Event) -> None:
    keys = dict(campaign.segments.filter(has_text=True).values_list("docid", "pk")) if new else {}
    Candidate.objects.bulk_create(
        [Candidate(topic_id=topic, segment_id=keys[docid], event=event) for topic, docid in new],
        batch_size=ROWS_A_STATEMENT,
    )


def addressing_in(rows: Iterable[tuple[Source, SegmentRecord]]) -> list[ImportFinding]:
    return [
        ImportFinding(CODE, source.name, row.line, addressing_in_segment(row.docid, sign))
        for source, row in rows
        for sign in signs_in(row.text)
    ]


def _change(source: Source, row: SegmentRecord, loaded: Segment) -> InputProblem:
    pairs = zip(_content(loaded), row.content, strict=True)
    old, new = next((old, new) for old, new in pairs if old != new)
    return changed_problem(source, row.line, "segment", row.docid, loaded=old, in_file=new)


def text_rows(records: Iterable[SegmentRecord]) -> list[tuple[object, ...]]:
    """Return rows for `write_texts`, made before the lock is held."""
    return [(new_public_id(), record.docid, document_id(record.docid), *record.content) for record in records]


def write_texts(campaign: Campaign, rows: list[tuple[object, ...]], event: Event) -> None:
    """Write texts, also into the rows of segments that qrels or runs named before."""
    upsert(
        Segment,
        ["public_id", "docid", "document", *TEXT_FIELDS],
        rows,
        unique=["campaign_id", "docid"],
        update=["has_text", "event_id", *TEXT_FIELDS],
        fixed={"campaign_id": campaign.pk, "has_text": True, "event_id": event.pk},
    )
