"""Begin and end of items: together, and one by one where one of them makes that fail, so that it fails alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import structlog
from django.db import InterfaceError, OperationalError, transaction

from evaluation.errors import Refused
from evaluation.labelling import touch
from jobs import queue
from jobs.models import WorkItem
from llmjobs.engine import calls as engine_calls
from llmjobs.kinds import KINDS, ItemOutcome, Stepping
from llmjobs.models import CallUse, LlmJob
from llmjobs.prompt_store import ways_of
from llmjobs.steps.asking import Note

# No item is to blame for these: the whole round is done again.
DATABASE_TROUBLE = (OperationalError, InterfaceError)
LONGEST_REASON = 500
log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SetAside:
    """The outcome of an item that our own code could not work on: it fails alone, with the reason."""

    failure: str
    notes: tuple[Note, ...] = ()


def begin_items(
    kind: str, items: list[WorkItem], llm_jobs: Mapping[int, LlmJob]
) -> list[tuple[WorkItem, Stepping | SetAside]]:
    try:
        with transaction.atomic():
            ways = ways_of([llm_jobs[item.job_id].judge for item in items])
            return list(zip(items, KINDS[kind].begin(items, ways), strict=True))
    except DATABASE_TROUBLE:
        raise
    except Exception as error:
        if len(items) == 1:
            return [(items[0], set_aside(items[0], error))]
        return [pair for item in items for pair in begin_items(kind, [item], llm_jobs)]


def end_items(ended: list[ItemOutcome]) -> None:
    """Write outcomes, each in full or not at all."""
    try:
        with transaction.atomic():
            _record(ended)
    except DATABASE_TROUBLE:
        raise
    except Exception as error:
        if len(ended) > 1:
            for one in ended:
                end_items([one])
        elif isinstance(ended[0].outcome, SetAside):
            raise
        else:
            end_items([replace(ended[0], outcome=set_aside(ended[0].item, error))])


def _record(ended: list[ItemOutcome]) -> None:
    # An outcome whose lease went to another attempt changes nothing.
    jobs = {one.item.job_id for one in ended}
    queue.lock_jobs(jobs)
    mine = queue.end_all([(one.item, one.outcome.failure) for one in ended])
    held = [one for one in ended if one.item.pk in mine]
    # A retried item rests on the calls of its new replicate.
    CallUse.objects.filter(item__in=[one.item.pk for one in held if one.item.payload.get("replicate")]).delete()
    CallUse.objects.bulk_create(_uses(held), batch_size=engine_calls.BATCH)
    by_kind: dict[str, list[ItemOutcome]] = {}
    for one in held:
        if not isinstance(one.outcome, SetAside):
            by_kind.setdefault(one.item.kind, []).append(one)
    for kind, some in by_kind.items():
        KINDS[kind].record(some)
    queue.finish_jobs(jobs)
    for campaign in sorted({one.llm.campaign_id for one in held}):
        touch(campaign)


def set_aside(item: WorkItem, error: Exception) -> SetAside:
    if isinstance(error, Refused):
        return SetAside(error.message[:LONGEST_REASON])
    log.error("item_set_aside", item=item.pk, job=item.job_id, exc_info=error, **item.job.options)
    reason = f"Assay could not work on it: {type(error).__name__}: {error}".replace("\0", "")
    return SetAside(reason[:LONGEST_REASON])


def _uses(ended: Iterable[ItemOutcome]) -> list[CallUse]:
    return [
        CallUse(item=one.item, call=call, number=number, part=part[:200], notes=_notes(one, number))
        for one in ended
        for number, (part, call) in enumerate(one.uses)
    ]


def _notes(one: ItemOutcome, ask: int) -> list[str]:
    return [f"{note.kind}: {note.text}" for note in one.outcome.notes if note.ask == ask]
