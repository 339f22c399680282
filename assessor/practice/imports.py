"""Import practice items. An item never changes once it was answered: another one takes its place."""

from collections.abc import Iterable, Sequence

from django.db.models import Max

from accounts.models import User
from assessor.models import PracticeAnswer, PracticeItem
from assessor.practice.rules import PracticeRow, content_of, known_of, parse_practice
from evaluation.errors import InputProblem
from evaluation.formats.source import Source
from evaluation.imports.base import (
    ImportPlan,
    LoadReceipt,
    carry_out,
    changed_problem,
    refuse,
    refuse_changes,
    with_every_problem,
)
from evaluation.models import Campaign, Event
from evaluation.terms import PracticeKind
from web.statements import ROWS_A_STATEMENT

Loaded = dict[tuple[object, ...], PracticeItem]


@with_every_problem
def import_practice(
    *, campaign: Campaign, source: Source, replace: bool = False, actor: User | None = None
) -> LoadReceipt:
    """Load practice items after those that are there.

    With `replace` the file is the whole practice of each kind that it has: items that it lacks or changes leave.
    Answered items are kept with their answers, and are neither asked nor shown any more. Raises `BadInput` for a bad
    file, and for an item with another label or explanation without `replace`.
    """
    rows = parse_practice(source)
    return carry_out(
        campaign=campaign,
        kind="practice",
        sources=[source],
        actor=actor,
        make_plan=lambda locked: _plan(locked, source, rows, replace),
    )


def _plan(campaign: Campaign, source: Source, rows: tuple[PracticeRow, ...], replace: bool) -> ImportPlan:
    refuse(_above_scale(source, rows, campaign.protocol.relevance_max))
    loaded = {content_of(item): item for item in PracticeItem.objects.current().filter(campaign=campaign)}
    there = [row for row in rows if content_of(row) in loaded]
    new = [row for row in rows if content_of(row) not in loaded]
    changed = [row for row in there if known_of(loaded[content_of(row)]) != known_of(row)]
    refuse_changes([_change(source, row, loaded[content_of(row)]) for row in changed], replace)
    # The file is the whole practice of each kind that it has; other kinds are none of its business.
    kept, kinds = {*map(content_of, there)} - {*map(content_of, changed)}, {row.kind for row in rows}
    gone = [item for key, item in loaded.items() if replace and key not in kept and item.kind in kinds]
    moved = _moved(rows, loaded) if replace else []
    removed = len(gone) - len(changed)

    def write(event: Event) -> None:
        _take_away(gone)
        _add(campaign, [*new, *changed], event)
        if replace:
            _put_in_order(campaign, rows)

    return ImportPlan(
        "practice items",
        added=len(new),
        changed=len(changed) + removed + len(moved),
        unchanged=len(there) - len(changed) - len(moved),
        counts={"of the changed taken out": removed, "of the changed moved": len(moved)},
        write=write,
    )


def _above_scale(source: Source, rows: Iterable[PracticeRow], top: int) -> list[InputProblem]:
    """Nobody could give a grade that the campaign's scale does not have."""
    return [
        InputProblem(source.name, row.line, "label", f"a grade from 0 to {top}, found {row.label}")
        for row in rows
        if row.kind is PracticeKind.GRADE and row.label > top
    ]


def _change(source: Source, row: PracticeRow, loaded: PracticeItem) -> InputProblem:
    """Show explanations; where they are the same, the codes of the labels."""
    (old_label, old), (new_label, new) = known_of(loaded), known_of(row)
    values = {"loaded": old, "in_file": new} if old != new else {"loaded": old_label, "in_file": new_label}
    return changed_problem(source, row.line, "label", repr(row.statement[:40]), **values)


def _moved(rows: Sequence[PracticeRow], loaded: Loaded) -> list[PracticeRow]:
    """Return the rows of loaded items whose order is not that of the file."""
    there = [row for row in rows if content_of(row) in loaded]
    by_kind = sorted(there, key=lambda row: (row.kind, loaded[content_of(row)].position))
    as_filed = sorted(there, key=lambda row: (row.kind, row.line))
    return [row for row, other in zip(as_filed, by_kind, strict=True) if row is not other]


def _take_away(items: Sequence[PracticeItem]) -> None:
    # Locked, so that nobody answers them meanwhile.
    list(PracticeItem.objects.select_for_update().filter(pk__in=[item.pk for item in items]))
    answered = set(PracticeAnswer.objects.filter(item__in=items).values_list("item", flat=True))
    # Answered items stay with their answers; only those that nobody answered are deleted.
    PracticeItem.objects.filter(pk__in=answered).update(stands=False)
    PracticeItem.objects.filter(pk__in={item.pk for item in items} - answered).delete()


def _add(campaign: Campaign, rows: Sequence[PracticeRow], event: Event) -> None:
    last = PracticeItem.objects.filter(campaign=campaign).aggregate(last=Max("position"))["last"] or 0
    PracticeItem.objects.bulk_create(
        [
            PracticeItem(
                campaign=campaign,
                kind=row.kind,
                position=last + number,
                question=row.question,
                text=row.text,
                statement=row.statement,
                label=row.label,
                explanation=row.explanation,
                shown_label=row.shown_label,
                event=event,
            )
            for number, row in enumerate(rows, start=1)
        ],
        batch_size=ROWS_A_STATEMENT,
    )


def _put_in_order(campaign: Campaign, rows: Sequence[PracticeRow]) -> None:
    places = {content_of(row): number for number, row in enumerate(rows, start=1)}
    items = [
        item for item in PracticeItem.objects.current().filter(campaign=campaign) if content_of(item) in places
    ]
    for item in items:
        item.position = places[content_of(item)]
    PracticeItem.objects.bulk_update(items, ["position"], batch_size=ROWS_A_STATEMENT)
