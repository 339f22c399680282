"""The next state of a task, and the reopening of a submitted one for which there is more to judge."""

from evaluation.models import Event, Task
from evaluation.rules.tasks import Act, TaskFacts, state_after
from evaluation.terms import TaskState


def turn(task: Task, act: Act, reason: str) -> None:
    """Set the state and what goes with it: the reason that the assessor reads, a further submission to make."""
    task.state = state_after(act, facts_of(task))
    if act is Act.REOPEN:
        # A further version: what was submitted stays as it is, whatever is done from here on.
        task.version, task.reopened_reason = task.version + 1, reason
    else:
        task.blocked_reason = reason if act is Act.BLOCK else ""
    task.save(update_fields=["state", "version", "reopened_reason", "blocked_reason"])


def reopen_for_more(task: Task, reason: str) -> None:
    """Reopen a submitted task because there is more to judge now; its event has no actor. Inside a transaction."""
    before = task.state
    turn(task, Act.REOPEN, reason)
    payload = {
        "task": task.public_id,
        "topic": task.topic.topic_id,
        "before": before,
        "reason": reason,
        "version": task.version,
    }
    Event.objects.create(campaign=task.campaign, kind="task.reopened", payload=payload)


def facts_of(task: Task) -> TaskFacts:
    return TaskFacts(TaskState(task.state), task.version, task.opened_at is not None)
