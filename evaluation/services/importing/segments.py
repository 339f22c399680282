"""Import segment texts."""

from collections.abc import Container, Iterable, Sequence

from django.db import transaction

from accounts.models import User
from evaluation.errors import BadInput, Problem
from evaluation.formats.addressing import addressing_in_segment, signs_in
from evaluation.formats.segments import SegmentRow, document_id, parse_segments
from evaluation.formats.source import Source
from evaluation.models import Campaign, Event, Segment
from evaluation.models.fields import new_public_id
from evaluation.services.bulk import upsert
from evaluation.services.importing.addressing import forget_addressing
from evaluation.services.importing.base import (
    Found,
    Plan,
    Receipt,
    carry_out,
    changed_problem,
    refuse_changes,
    refuse_if_labelled,
)
from evaluation.services.importing.every_problem import with_every_problem
from evaluation.services.importing.hanging import labels_on_segments
from evaluation.services.importing.stubs import restate_missing_texts
from evaluation.services.pooling import lock_judging, renew_pools
from evaluation.terms import FindingCode

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
) -> Receipt:
    """Load segment texts; with `needed` only those docids.

    Raises `BadInput` for bad files, for one docid with two texts, and for a changed text without `replace`.
    """
    rows = _merge(sources, needed)
    with transaction.atomic():
        lock_judging(campaign)
        return carry_out(
            campaign=campaign,
            kind="segments",
            sources=sources,
            actor=actor,
            make_plan=lambda locked: _plan(locked, rows, replace),
        )


Rows = dict[str, tuple[Source, SegmentRow]]


def _merge(sources: Sequence[Source], needed: Container[str] | None) -> Rows:
    rows: Rows = {}
    problems = []
    for source in sources:
        for row in parse_segments(source, needed):
            first = rows.setdefault(row.docid, (source, row))
            if first[1] is not row and first[1].content != row.content:
                where = f"the same text as at {first[0].name}:{first[1].line} for {row.docid}"
                problems.append(Problem(source.name, row.line, "segment", where))
    if problems:
        raise BadInput(problems)
    return rows


def _content(segment: Segment) -> tuple[object, ...]:
    return tuple(getattr(segment, name) for name in TEXT_FIELDS)


def _plan(campaign: Campaign, rows: Rows, replace: bool) -> Plan:
    loaded = {one.docid: one for one in campaign.segments.filter(has_text=True) if one.docid in rows}
    new = [row for docid, (_, row) in rows.items() if docid not in loaded]
    changed = [docid for docid, one in loaded.items() if _content(one) != rows[docid][1].content]
    refuse_changes(
        [_change(*rows[docid], loaded[docid]) for docid in changed],
        replace,
    )
    refuse_if_labelled(
        labels_on_segments([loaded[docid] for docid in changed]),
        "A segment's text",
    )

    def write(event: Event) -> None:
        forget_addressing(campaign, changed)
        _write(campaign, new + [rows[docid][1] for docid in changed], event)
        restate_missing_texts(campaign, event)
        renew_pools(campaign)

    unchanged = len(loaded) - len(changed)
    same = loaded.keys() - set(changed)
    found = _findings(row for docid, row in rows.items() if docid not in same)
    return Plan("segments", added=len(new), changed=len(changed), unchanged=unchanged, found=found, write=write)


def _change(source: Source, row: SegmentRow, loaded: Segment) -> Problem:
    pairs = zip(_content(loaded), row.content, strict=True)
    old, new = next((old, new) for old, new in pairs if old != new)
    return changed_problem(source, row.line, "segment", row.docid, loaded=old, in_file=new)


def _findings(rows: Iterable[tuple[Source, SegmentRow]]) -> list[Found]:
    return [
        Found(FindingCode.ADDRESSES_JUDGE, source.name, row.line, addressing_in_segment(row.docid, sign))
        for source, row in rows
        for sign in signs_in(row.text)
    ]


def _write(campaign: Campaign, rows: list[SegmentRow], event: Event) -> None:
    """Write texts, also into the rows of segments that qrels or runs named before."""
    fixed = (campaign.pk, True, event.pk)
    upsert(
        Segment,
        ["campaign_id", "has_text", "event_id", "public_id", "docid", "document", *TEXT_FIELDS],
        ((*fixed, new_public_id(), row.docid, document_id(row.docid), *row.content) for row in rows),
        unique=["campaign_id", "docid"],
        update=["has_text", "event_id", *TEXT_FIELDS],
    )
