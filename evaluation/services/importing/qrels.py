"""Import qrels."""

from accounts.models import User
from evaluation.errors import BadInput, Problem
from evaluation.formats.qrels import QrelRow, parse_qrels
from evaluation.formats.source import Source
from evaluation.models import Campaign, Event, Qrel, QrelSource
from evaluation.services.importing.base import (
    BATCH,
    Found,
    Plan,
    Receipt,
    carry_out,
    changed_problem,
    refuse_changes,
)
from evaluation.services.importing.every_problem import with_every_problem
from evaluation.services.importing.stubs import segment_pks
from evaluation.services.names import check_name
from evaluation.terms import FindingCode


@with_every_problem
def import_qrels(
    *, campaign: Campaign, source: Source, name: str, replace: bool = False, actor: User | None = None
) -> Receipt:
    """Load one source's grades. Raises `BadInput` for an unknown topic or a changed grade without `replace`."""
    check_name("source", name)
    rows = parse_qrels(source)
    return carry_out(
        campaign=campaign,
        kind="qrels",
        sources=[source],
        actor=actor,
        make_plan=lambda locked: _plan(locked, source, rows, name, replace),
    )


def _plan(campaign: Campaign, source: Source, rows: tuple[QrelRow, ...], name: str, replace: bool) -> Plan:
    topics = dict(campaign.topics.values_list("topic_id", "pk"))
    _refuse_unknown_topics(source, rows, topics)
    loaded = _loaded(campaign, name)
    new = [row for row in rows if (row.topic_id, row.docid) not in loaded]
    changed = [row for row in rows if loaded.get((row.topic_id, row.docid), row.grade) != row.grade]
    refuse_changes(
        [_change(source, row, loaded[row.topic_id, row.docid]) for row in changed],
        replace,
    )

    def write(event: Event) -> None:
        _write(campaign, name, topics, new + changed, event)

    found = _off_scale(campaign, source, new + changed)
    unchanged = len(rows) - len(new) - len(changed)
    return Plan("qrels", len(new), len(changed), unchanged, found, write=write)


def _change(source: Source, row: QrelRow, grade: int) -> Problem:
    text = f"{row.topic_id} {row.docid}"
    return changed_problem(source, row.line, "grade", text, loaded=grade, in_file=row.grade)


def _refuse_unknown_topics(source: Source, rows: tuple[QrelRow, ...], topics: dict[str, int]) -> None:
    first_lines: dict[str, int] = {}
    for row in rows:
        if row.topic_id not in topics:
            first_lines.setdefault(row.topic_id, row.line)
    problems = [
        Problem(source.name, line, "topic", f"a topic of the campaign, not {topic_id}")
        for topic_id, line in first_lines.items()
    ]
    if problems:
        raise BadInput(problems)


def _loaded(campaign: Campaign, name: str) -> dict[tuple[str, str], int]:
    qrels = Qrel.objects.filter(source__campaign=campaign, source__name=name)
    return {
        (topic_id, docid): grade
        for topic_id, docid, grade in qrels.values_list("topic__topic_id", "segment__docid", "grade")
    }


def _off_scale(campaign: Campaign, source: Source, rows: list[QrelRow]) -> list[Found]:
    highest = campaign.protocol.relevance_max
    return [
        Found(
            FindingCode.GRADE_OFF_SCALE,
            source.name,
            row.line,
            f"grade {row.grade} is above the campaign's scale of 0 to {highest}",
            topic_id=row.topic_id,
        )
        for row in rows
        if row.grade > highest
    ]


def _write(campaign: Campaign, name: str, topics: dict[str, int], rows: list[QrelRow], event: Event) -> None:
    source, _ = QrelSource.objects.get_or_create(campaign=campaign, name=name)
    segments = segment_pks(campaign, {row.docid for row in rows}, event)
    Qrel.objects.bulk_create(
        [
            Qrel(
                source=source,
                topic_id=topics[row.topic_id],
                segment_id=segments[row.docid],
                grade=row.grade,
                event=event,
            )
            for row in rows
        ],
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["source", "topic", "segment"],
        update_fields=["grade", "event"],
    )
