"""Whether a database is one state, by itself: nobody's record of what was done is needed.

So it can judge a backup that was taken while everybody worked: an operation is there with all that it changed, a
submission with all that it froze, an LLM's item with its calls, a call with its event and the attempt that brought it.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef

from assessor.models import Operation
from evaluation.append_only import missing_triggers
from evaluation.models import Event, Task
from exchange.backup import count_rows
from jobs.models import Job, WorkItem
from llmjobs.models import Attempt, Call, CallUse
from loadtest.desk.checks import check_log, read_record


def tell() -> None:
    rows = count_rows(connection.introspection.table_names())
    print(json.dumps({"violations": [*inconsistencies()], "rows": rows}))


def inconsistencies() -> Iterator[str]:
    yield from (f"no trigger {name}" for name in missing_triggers())
    for task in Task.objects.filter(opened_at__isnull=False).order_by("pk"):
        for violation in check_log(read_record(task.pk)).violations:
            yield f"task {task.public_id}: {violation}"
    yield from _counted("operations of tasks never opened", Operation.objects.filter(task__opened_at__isnull=True))
    yield from _calls()
    yield from _items()


def _calls() -> Iterator[str]:
    ended = Call.objects.exclude(state=Call.State.SENT)
    yield from _counted("calls that ended without an event", ended.filter(event=None))
    yield from _counted(
        "calls under way with an event", Call.objects.filter(state=Call.State.SENT, event_id__gt=0)
    )
    events = Event.objects.filter(kind__startswith="llm.call").count()
    if events != ended.count():
        yield f"{events} events of {ended.count()} calls that ended"
    brought = Attempt.objects.filter(error="", status=200, ended_at__isnull=False)
    per_call = Counter(brought.values_list("call", flat=True))
    answered = set(Call.objects.filter(state=Call.State.ANSWERED).values_list("pk", flat=True))
    if set(per_call) != answered or any(number > 1 for number in per_call.values()):
        yield f"{len(answered)} calls were answered by {per_call.total()} attempts"


def _items() -> Iterator[str]:
    uses = Exists(CallUse.objects.filter(item=OuterRef("pk")))
    done = WorkItem.objects.filter(state=WorkItem.State.DONE)
    yield from _counted("items done without a call", done.filter(~uses))
    yield from _counted("items not done with a call", WorkItem.objects.filter(uses, ended_at=None, attempt__lt=2))
    ended = Job.objects.filter(state=Job.State.DONE)
    open_items = WorkItem.objects.filter(job__in=ended, state__in=[WorkItem.State.QUEUED, WorkItem.State.LEASED])
    yield from _counted("open items of jobs that are done", open_items)


def _counted(what: str, found: Any) -> Iterator[str]:
    if number := found.count():
        yield f"{what}: {number}"
