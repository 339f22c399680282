"""Asking anew what failed: as another replicate, and without what was got right before.

A recorded call is replayed, and so is one that failed: only a call of another replicate is sent again. What belongs to
a talk that came to a usable reply is taken from the replicate in which it did, and costs nothing.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from evaluation.models import Campaign, Judge
from jobs.models import WorkItem
from jobs.queue import NewItem
from llmjobs.client import Endpoint
from llmjobs.engine.calls import NewCall
from llmjobs.models import Call, CallUse
from llmjobs.steps.asking import RE_ASK, Ask

ENDED = [WorkItem.State.DONE, WorkItem.State.FAILED]
BATCH = 500


@dataclass(slots=True)
class Tries:
    """Tries of a pair by earlier items: their number, the end of the newest, and its replicate."""

    items: list[int] = field(default_factory=list)
    failed: bool = False
    replicate: int = 0


def wanted_by(item: WorkItem, ask: Ask, endpoint: Endpoint, model: str, kept: Collection[str]) -> NewCall:
    """Call for an item's ask: the kept one of an earlier replicate, else one of its own replicate."""
    own = int(item.payload.get("replicate", 0))
    for replicate in range(own if kept else 0):
        earlier = NewCall(ask, endpoint, model, replicate)
        if earlier.sha256 in kept:
            return earlier
    return NewCall(ask, endpoint, model, own)


def kept_calls(items: Sequence[WorkItem]) -> list[frozenset[str]]:
    """Hashes, by item, of the calls that earlier attempts answered usably."""
    before = [_before(item) for item in items]
    wanted = {pk for pks in before for pk in pks}
    uses: dict[int, list[CallUse]] = {pk: [] for pk in wanted}
    if wanted:
        rows = (
            CallUse.objects.filter(item__in=wanted).select_related("call").defer("call__reply", "call__messages")
        )
        for use in rows.order_by("item", "number"):
            uses[use.item_id].append(use)
    return [frozenset(sha256 for pk in pks for sha256 in _got_right(uses[pk])) for pks in before]


def _before(item: WorkItem) -> list[int]:
    if not item.payload.get("replicate"):
        return []
    return [*([item.pk] if item.pk else []), *item.payload.get("after", [])]


def _got_right(uses: Iterable[CallUse]) -> set[str]:
    # The wrong replies before a usable one belong to it: replaying the talk needs them all.
    right: set[str] = set()
    talk: list[str] = []
    for use in uses:
        if RE_ASK not in use.part:
            talk = []
        talk.append(use.call.sha256)
        if not any(note.startswith(("wrong", "failed")) for note in use.notes):
            right.update(talk)
    return right


def with_replicates(items: Sequence[NewItem], campaign: Campaign, judge: Judge) -> tuple[list[NewItem], int]:
    """Have what failed before asked as the next replicate; return all items, and how many ask again.

    For what leaves no label when it fails: a topic without a list, a pair without a grade.
    """
    tried = _tries({item.kind for item in items}, campaign, judge)
    given, retried = [], 0
    for item in items:
        tries = tried.get((item.kind, item.key), Tries())
        replicate = tries.replicate + tries.failed
        more = {"replicate": replicate, "after": tries.items} if replicate else {}
        given.append(NewItem(item.key, item.kind, item.payload | more))
        retried += tries.failed
    return given, retried


def _tries(kinds: Collection[str], campaign: Campaign, judge: Judge) -> dict[tuple[str, str], Tries]:
    ended = WorkItem.objects.filter(job__llm__campaign=campaign, job__llm__judge=judge.pk, state__in=ENDED)
    rows = ended.filter(kind__in=kinds).order_by("pk")
    found: dict[tuple[str, str], Tries] = {}
    for kind, key, pk, state, replicate in rows.values_list("kind", "key", "pk", "state", "payload__replicate"):
        tries = found.setdefault((kind, key), Tries())
        tries.items.append(pk)
        tries.failed, tries.replicate = state == WorkItem.State.FAILED, replicate or 0
    return found


def next_replicates(events: Collection[int]) -> dict[int, int]:
    """Replicate after that of each event's call; events without a call are left out."""
    wanted = list(events)
    found: dict[int, int] = {}
    for start in range(0, len(wanted), BATCH):
        calls = Call.objects.filter(event__in=wanted[start : start + BATCH])
        found |= {event: replicate + 1 for event, replicate in calls.values_list("event", "replicate") if event}
    return found
