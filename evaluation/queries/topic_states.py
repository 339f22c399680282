"""Topics by the state of their tasks: one rule for the numbers on Today and Work, and for the rows behind each."""

from dataclasses import dataclass
from enum import StrEnum

from django.db.models import QuerySet

from evaluation.models import Task, Topic
from evaluation.models.querysets import TaskQuerySet
from evaluation.terms import TaskState


class TopicState(StrEnum):
    """Progress of a topic over all of its tasks. Each topic has exactly one of these."""

    DONE = "topics done"
    IN_PROGRESS = "topics in progress"
    NOT_STARTED = "topics not started"
    BLOCKED = "topics blocked"


@dataclass(frozen=True, slots=True)
class TopicNumbers:
    """Topics by state. `bare`: of those not started, the ones with no task at all."""

    done: int
    in_progress: int
    not_started: int
    blocked: int
    bare: int

    @property
    def all(self) -> int:
        """All topics."""
        return self.done + self.in_progress + self.not_started + self.blocked

    @property
    def handed_out(self) -> int:
        """Topics with a task."""
        return self.all - self.bare


def counted(tasks: TaskQuerySet[Task]) -> TaskQuerySet[Task]:
    """Return the tasks that a topic's state rests on: not withdrawn, and of no study."""
    return tasks.not_withdrawn().filter(study=None).order_by()


def topics_in_state(topics: QuerySet[Topic], tasks: QuerySet[Task], state: TopicState) -> QuerySet[Topic]:
    """Return the topics in a state, by tasks from `counted`: blocked where one is, done where all are submitted."""
    begun = tasks.exclude(state=TaskState.NOT_STARTED).values("topic")
    unfinished = tasks.exclude(state=TaskState.SUBMITTED).values("topic")
    blocked = tasks.filter(state=TaskState.BLOCKED).values("topic")
    if state is TopicState.BLOCKED:
        return topics.filter(pk__in=blocked)
    if state is TopicState.DONE:
        return topics.filter(pk__in=begun).exclude(pk__in=unfinished)
    if state is TopicState.NOT_STARTED:
        return topics.exclude(pk__in=begun)
    return topics.filter(pk__in=begun).filter(pk__in=unfinished).exclude(pk__in=blocked)


def numbers_of(topics: QuerySet[Topic], tasks: TaskQuerySet[Task]) -> TopicNumbers:
    """Count topics by the state that their tasks give them."""
    standing = counted(tasks)
    done, in_progress, not_started, blocked = (
        topics_in_state(topics, standing, state).count() for state in TopicState
    )
    bare = topics.exclude(pk__in=standing.values("topic")).count()
    return TopicNumbers(done, in_progress, not_started, blocked, bare)
