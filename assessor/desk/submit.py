"""Submitting a list: the rows as they are become an immutable version, with their lineage and evidence."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from accounts.models import User
from assessor.desk.context import OPEN_STATES, context_of, lock_desk, seq_of
from assessor.desk.desks import desk_of
from assessor.desk.nugget_ops import row_of, stored_rows
from assessor.desk.task_labels import TaskLabels
from assessor.models import Desk, WorkingNugget
from assessor.rules.nugget_ops import Row
from assessor.rules.submit import check_complete, listed, proposals_behind, relation_of
from evaluation.errors import Refused
from evaluation.judges import judge_at
from evaluation.labelling import touch
from evaluation.models import (
    Event,
    Judge,
    ListedNugget,
    Nugget,
    NuggetEvidence,
    NuggetLineage,
    NuggetList,
    NuggetVersion,
    Segment,
    Submission,
    Task,
)
from evaluation.rules.sentences import SPLITTER_VERSION
from evaluation.tasks.asking import asking_of
from evaluation.tasks.pooling import renew_assigning
from evaluation.terms import TaskState
from web.statements import ROWS_A_STATEMENT
from web.text import plural


def _freeze_labels(task: Task, work: TaskLabels, judge: Judge, event: Event) -> int:
    # Earlier submissions stay in the table for the history; only the newest counts in reports.
    earlier = asking_of(task.stage).labels_of(task).filter(judge=judge)
    newest = earlier.aggregate(newest=Max("submission"))["newest"]
    earlier.update(stands=False)
    rows, now = list(desk_of(task.stage).frozen(task, work)), timezone.now()
    for row in rows:
        row.judge, row.submission, row.given_at, row.event = judge, (newest or 0) + 1, now, event
    labels = earlier.model._default_manager.bulk_create(rows, batch_size=ROWS_A_STATEMENT)
    asking_of(task.stage).settle(task, [judge])
    return len(labels)


@dataclass(frozen=True, slots=True)
class SubmitReceipt:
    """Version that was frozen, with its number of nuggets, or of labels where answers are judged."""

    version: int
    nuggets: int | None
    labels: int

    def as_json(self) -> dict[str, int]:
        if self.nuggets is None:
            return {"version": self.version, "labels": self.labels}
        return {"version": self.version, "nuggets": self.nuggets}


def submit(*, task: str, user: User, window: str, seq: int) -> SubmitReceipt:
    """Freeze the work as the window shows it; the same submission sent again answers the same.

    `seq` is the newest operation that the window knows. Raises `NoSuchTask`; `Refused` when another window holds
    the desk or changed it since, when the task is not open, and when the work is not complete.
    """
    with transaction.atomic():
        desk = lock_desk(task, user)
        # The answer to the first try was lost on the way: submitting again must not be refused or freeze twice.
        if desk.task.state == TaskState.SUBMITTED and seq_of(desk.task) == seq:
            return _receipt(desk.task.submissions.get(version=desk.task.version))
        _check(desk, window, seq)
        if desk.task.stage.judges:
            return _receipt(_submit_labels(desk.task, user))
        stored = stored_rows(desk.task)
        rows = {key: row_of(row) for key, row in stored.items()}
        # The page checks the same; a request that did not come from it must not freeze half a list.
        check_complete(rows, limit_of(desk.task))
        event = Event.objects.create(
            campaign=desk.task.campaign,
            kind="task.submitted",
            actor=user,
            payload={
                "task": task,
                "version": desk.task.version,
                "nuggets": len(listed(rows)),
                # Evidence names sentences by number, which holds for this way of splitting only.
                "sentences": SPLITTER_VERSION,
            },
        )
        return _receipt(_freeze(desk.task, rows, stored, event))


def limit_of(task: Task) -> int | None:
    """Return the most nuggets that the campaign allows in a list of this task's stage; None: no limit."""
    limit: int | None = getattr(task.protocol, task.stage.cap)
    return limit


def _check(desk: Desk, window: str, seq: int) -> None:
    if desk.holder not in ("", window):
        raise Refused("moved", "Another window is working on this task.")
    if desk.task.state not in OPEN_STATES:
        raise Refused("not_open", f"This task is {desk.task.state}; it cannot be submitted now.")
    # Somebody submits what they see: work of another window that is not on this page was not read.
    if seq_of(desk.task) != seq:
        raise Refused("changed", "There are changes that this page does not show yet. Load it again.")


def _receipt(submission: Submission) -> SubmitReceipt:
    listed = submission.nugget_list
    return SubmitReceipt(submission.version, listed.items.count() if listed else None, submission.labels)


def _submit_labels(task: Task, user: User) -> Submission:
    # Read once: the same pairs say which labels are missing and which are frozen. "Can't judge" is a label.
    work = desk_of(task.stage).read(context_of(task))
    if left := len(work.missing):
        raise Refused("undecided", f"{left} {plural(left, 'label is', 'labels are')} missing.")
    payload = {"task": task.public_id, "version": task.version, "sentences": SPLITTER_VERSION}
    event = Event.objects.create(campaign=task.campaign, kind="task.submitted", actor=user, payload=payload)
    return _close(task, event, labels=_freeze_labels(task, work, judge_at(task), event))


def _close(task: Task, event: Event, nugget_list: NuggetList | None = None, labels: int = 0) -> Submission:
    task.state = TaskState.SUBMITTED
    task.save(update_fields=["state"])
    if nugget_list:
        # Others may assign this list already; nuggets that are new to them reopen their tasks.
        renew_assigning(task.nuggets, task.topic)
    # Last, so that the campaign's row is locked for a moment only.
    touch(task.campaign_id)
    return Submission.objects.create(
        task=task, version=task.version, nugget_list=nugget_list, labels=labels, at=timezone.now(), event=event
    )


def _freeze(task: Task, rows: Mapping[str, Row], stored: Mapping[str, WorkingNugget], event: Event) -> Submission:
    # A list that was imported into this set counts as a version too.
    newest = NuggetList.objects.filter(nugget_set=task.nuggets, topic=task.topic).aggregate(Max("version"))
    nugget_list = NuggetList.objects.create(
        nugget_set=task.nuggets,
        topic=task.topic,
        version=(newest["version__max"] or 0) + 1,
        query=task.topic.text,
        event=event,
    )
    for position, row in enumerate(listed(rows)):
        wording = _wording(task, row, stored[row.key])
        ListedNugget.objects.create(
            nugget_list=nugget_list,
            nugget_version=wording,
            position=position,
            importance=row.importance,
            weight=row.weight,
            group=row.group,
        )
        _write_lineage(rows, row, wording, stored)
        _write_evidence(task, row, wording)
    return _close(task, event, nugget_list)


def _wording(task: Task, row: Row, stored: WorkingNugget) -> NuggetVersion:
    """Return the wording of a row: that of the last submission where the text is the same, else a new one."""
    if stored.nugget is None:
        stored.nugget = Nugget.objects.create(nugget_set=task.nuggets, topic=task.topic)
        stored.save(update_fields=["nugget"])
    versions = stored.nugget.versions.order_by("-number")
    # Labels hang on wordings: the same text keeps those that were given to it.
    same = versions.filter(text=row.text).first()
    if same:
        return same
    newest = versions.first()
    return NuggetVersion.objects.create(
        nugget=stored.nugget, text=row.text, number=newest.number + 1 if newest else 1
    )


def _write_lineage(
    rows: Mapping[str, Row], row: Row, wording: NuggetVersion, stored: Mapping[str, WorkingNugget]
) -> None:
    NuggetLineage.objects.bulk_create(
        [
            NuggetLineage(child=wording, parent=draft, relation=relation_of(row))
            for key in proposals_behind(rows, row)
            if (draft := stored[key].draft) is not None
        ],
        ignore_conflicts=True,
    )


def _write_evidence(task: Task, row: Row, wording: NuggetVersion) -> None:
    """Write what the nugget rests on. Evidence of an earlier submission of the same wording stays."""
    public_ids = {segment for segment, _ in row.evidence}
    segments = dict(
        Segment.objects.filter(campaign=task.campaign_id, public_id__in=public_ids).values_list("public_id", "pk")
    )
    NuggetEvidence.objects.bulk_create(
        [
            NuggetEvidence(nugget_version=wording, segment_id=segments[segment], sentence=sentence)
            for segment, sentence in row.evidence
            if segment in segments
        ],
        ignore_conflicts=True,
    )
