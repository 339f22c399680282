"""Writing judgments that were just made. Called inside the transaction of whoever made them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, models
from django.db.models import F, Max
from django.utils import timezone

from evaluation.models import (
    Assignment,
    Campaign,
    Event,
    Judge,
    ListedNugget,
    Nugget,
    NuggetList,
    NuggetSet,
    NuggetVersion,
    Qrel,
    QrelSource,
    SupportJudgment,
    Topic,
    Verdict,
)
from evaluation.terms import Importance, Origin
from web.statements import ROWS_A_STATEMENT


def upsert(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Iterable[tuple[Any, ...]],
    *,
    unique: Sequence[str],
    update: Sequence[str],
    fixed: Mapping[str, int] | None = None,
) -> None:
    """Insert rows of column values; where `unique` is there already, update the columns named in `update`.

    Nothing is converted on the way and no default filled in: values are what the database stores. `fixed` has the
    columns that are alike in all rows, so that rows can be made before the event is there to which they point. To be
    called inside a transaction.
    """
    # Names come from the code alone, so no text of a file gets into the statement.
    table, names = model._meta.db_table, _quoted(columns)
    heads = _quoted([*(fixed or {}), *columns])
    alike = "".join(f"{value!r}, " for value in (fixed or {}).values())
    conflict = _conflict(unique, update)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            values = ", ".join("%s" for _ in columns)
            cursor.executemany(f"INSERT INTO {table} ({heads}) VALUES ({alike}{values}) {conflict}", list(rows))  # noqa: S608
            return
        # COPY has no ON CONFLICT, and a statement per row costs more than all the rest.
        cursor.execute(f"CREATE TEMPORARY TABLE incoming AS SELECT {names} FROM {table} WITH NO DATA")  # noqa: S608
        with cursor.copy(f"COPY incoming ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        cursor.execute(f"INSERT INTO {table} ({heads}) SELECT {alike}{names} FROM incoming {conflict}")  # noqa: S608
        cursor.execute("DROP TABLE incoming")


def upsert_few(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    *,
    unique: Sequence[str],
    update: Sequence[str],
) -> None:
    """`upsert` for a few hundred rows: on PostgreSQL a single statement with an array for each column."""
    if connection.vendor == "sqlite":
        upsert(model, columns, rows, unique=unique, update=update)
        return
    if rows:
        fields = {field.column: field for field in model._meta.concrete_fields}
        arrays = ", ".join(f"%s::{fields[name].rel_db_type(connection)}[]" for name in columns)
        names = ", ".join(columns)
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {model._meta.db_table} ({names}) SELECT * FROM unnest({arrays}) "  # noqa: S608
                f"{_conflict(unique, update)}",
                [list(values) for values in zip(*rows, strict=True)],
            )


def _conflict(unique: Sequence[str], update: Sequence[str]) -> str:
    quote = connection.ops.quote_name
    changes = ", ".join(f"{quote(name)} = excluded.{quote(name)}" for name in update)
    return f"ON CONFLICT ({_quoted(unique)}) DO UPDATE SET {changes}"


def _quoted(columns: Iterable[str]) -> str:
    return ", ".join(map(connection.ops.quote_name, columns))


def last_key(model: type[models.Model]) -> int:
    """Return the greatest key of a table, 0 where it is empty: rows that are written now have greater ones."""
    return model._default_manager.aggregate(last=Max("pk"))["last"] or 0


def give_assignments(judge: Judge, labels: Sequence[Assignment]) -> None:
    """Write a judge's labels; a label that is there already is replaced, the events keep what it was."""
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    upsert_few(
        Assignment,
        ["judge_id", "answer_id", "nugget_version_id", "submission", "label", "raw", "given_at", "event_id"],
        [
            (judge.pk, row.answer_id, row.nugget_version_id, 1, int(row.label), row.raw, now, row.event_id)
            for row in labels
        ],
        unique=["answer_id", "nugget_version_id", "judge_id", "submission"],
        update=["label", "raw", "given_at", "event_id"],
    )


def give_support(labels: Sequence[SupportJudgment]) -> None:
    SupportJudgment.objects.bulk_create(
        labels,
        batch_size=ROWS_A_STATEMENT,
        update_conflicts=True,
        unique_fields=["sentence", "segment", "judge", "condition", "submission"],
        update_fields=["label", "raw", "evidence", "quote", "given_at", "event"],
    )


def give_verdicts(judge: Judge, verdicts: Sequence[Verdict]) -> None:
    """Write an LLM's verdicts; one that stands for the same order is replaced, the events keep what it was."""
    there = Verdict.objects.filter(judge=judge, battle__in={verdict.battle_id for verdict in verdicts})
    numbers: dict[tuple[int, int], int] = {}
    for battle, left, submission, stands in there.values_list("battle", "left", "submission", "stands"):
        numbers[battle, left] = max(numbers.get((battle, left), 1), submission if stands else submission + 1)
    for verdict in verdicts:
        verdict.judge, verdict.given_at = judge, timezone.now()
        verdict.submission = numbers.get((verdict.battle_id, verdict.left_id), 1)
    Verdict.objects.bulk_create(
        verdicts,
        batch_size=ROWS_A_STATEMENT,
        update_conflicts=True,
        unique_fields=["battle", "judge", "left", "submission"],
        update_fields=["label", "raw", "given_at", "event"],
    )


def give_grades(campaign: Campaign, source: str, grades: Sequence[Qrel]) -> None:
    by, _ = QrelSource.objects.get_or_create(campaign=campaign, name=source)
    upsert(
        Qrel,
        ["topic_id", "segment_id", "grade", "event_id"],
        ((row.topic_id, row.segment_id, row.grade, row.event_id) for row in grades),
        unique=["source_id", "topic_id", "segment_id"],
        update=["grade", "event_id"],
        fixed={"source_id": by.pk},
    )


def ensure_nugget_set(campaign: Campaign, judge: Judge, origin: Origin, name: str = "") -> NuggetSet:
    """Return the judge's set of an origin, which is called ORIGIN-JUDGE unless it has a name of its own."""
    nugget_set, _ = NuggetSet.objects.get_or_create(
        campaign=campaign, name=name or f"{origin}-{judge.name}", defaults={"origin": origin, "judge": judge}
    )
    return nugget_set


@dataclass(frozen=True, slots=True)
class GivenNugget:
    """A nugget of a new list; with a weight a criterion of a rubric."""

    text: str
    importance: Importance = Importance.UNKNOWN
    weight: float | None = None
    group: str = ""


def give_nugget_list(
    nugget_set: NuggetSet, topic: Topic, nuggets: Sequence[GivenNugget], event: Event
) -> NuggetList | None:
    """Write one topic's list in order; a topic that has a list in the set keeps it, and None is returned."""
    nugget_list, is_new = NuggetList.objects.get_or_create(
        nugget_set=nugget_set, topic=topic, version=1, defaults={"query": topic.text, "event": event}
    )
    if not is_new:
        return None
    for position, given in enumerate(nuggets):
        nugget = Nugget.objects.create(nugget_set=nugget_set, topic=topic)
        wording = NuggetVersion.objects.create(nugget=nugget, text=given.text)
        ListedNugget.objects.create(
            nugget_list=nugget_list,
            nugget_version=wording,
            position=position,
            importance=given.importance,
            weight=given.weight,
            group=given.group,
        )
    return nugget_list


def touch(campaign: int) -> None:
    """Say that the campaign's labels changed, so that no report shows what was before. Last in a transaction."""
    # One row that every writer of a campaign updates: first in a transaction, it would hold up all the others.
    Campaign.objects.filter(pk=campaign).update(revision=F("revision") + 1)
