"""What is loaded lies still: nothing of it asks an LLM, holds a lease or waits for a worker of another server."""

from typing import Any

from jobs.models import Job, WorkItem
from llmjobs.models import Call

Values = dict[str, Any]


def at_rest(model: type[Any], values: Values) -> Values:
    # Leases, waits and unanswered calls of another server mean nothing here, and nobody would end them.
    if model is Job and values["state"] in (Job.State.RUNNING, Job.State.PAUSED):
        return values | {"state": Job.State.CANCELLED, "waiting_for": ""}
    if model is WorkItem and values["state"] in (WorkItem.State.QUEUED, WorkItem.State.LEASED):
        return values | {"state": WorkItem.State.CANCELLED, "holder": "", "lease_until": None, "not_before": None}
    if model is Call and values["state"] == Call.State.SENT:
        return values | {"state": Call.State.FAILED, "holder": ""}
    return values
