"""Begin and end of items: together, and each by itself where an item makes that fail, so that it fails alone."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import structlog
from django.db import InterfaceError, OperationalError, transaction

from evaluation.errors import Refused
from evaluation.labelling import touch
from jobs import queue
from jobs.models import WorkItem
from llmjobs.engine import calls as engine_calls
from llmjobs.kinds import ITEM_KINDS, ItemOutcome, Stepping
from llmjobs.models import CallUse, LlmJob
from llmjobs.prompt_store import prompt_sets_of
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
            prompt_sets = prompt_sets_of([llm_jobs[item.job_id].judge for item in items])
            return list(zip(items, ITEM_KINDS[kind].begin(items, prompt_sets), strict=True))
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
            for outcome in ended:
                end_items([outcome])
        elif isinstance(ended[0].outcome, SetAside):
            raise
        else:
            end_items([replace(ended[0], outcome=set_aside(ended[0].item, error))])


def _record(outcomes: list[ItemOutcome]) -> None:
    jobs = {ended.item.job_id for ended in outcomes}
    queue.lock_jobs(jobs)
    # An outcome whose lease went to another attempt changes nothing.
    mine = queue.end_all([(ended.item, ended.outcome.failure) for ended in outcomes])
    held = [ended for ended in outcomes if ended.item.pk in mine]
    # A retried item rests on the calls of its new replicate.
    CallUse.objects.filter(
        item__in=[ended.item.pk for ended in held if ended.item.payload.get("replicate")]
    ).delete()
    uses = [
        CallUse(
            item=ended.item,
            call=call,
            number=number,
            part=part[:200],
            notes=[f"{note.kind}: {note.text}" for note in ended.outcome.notes if note.ask == number],
        )
        for ended in held
        for number, (part, call) in enumerate(ended.uses)
    ]
    CallUse.objects.bulk_create(uses, batch_size=engine_calls.CALLS_A_STATEMENT)
    by_kind: dict[str, list[ItemOutcome]] = {}
    for ended in held:
        if not isinstance(ended.outcome, SetAside):
            by_kind.setdefault(ended.item.kind, []).append(ended)
    for kind, same_kind in by_kind.items():
        ITEM_KINDS[kind].record(same_kind)
    queue.finish_jobs(jobs)
    for campaign in sorted({ended.llm.campaign_id for ended in held}):
        touch(campaign)


def set_aside(item: WorkItem, error: Exception) -> SetAside:
    if isinstance(error, Refused):
        return SetAside(error.message[:LONGEST_REASON])
    log.error("item_set_aside", item=item.pk, job=item.job_id, exc_info=error, **item.job.options)
    reason = f"Assay could not work on it: {type(error).__name__}: {error}".replace("\0", "")
    return SetAside(reason[:LONGEST_REASON])
