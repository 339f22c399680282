"""What is stored of a submission, in the form in which a desk's model tells what it must hold."""

from typing import Any

from assessor.desk.submit import assignments_of, support_of
from evaluation.judges import judge_of
from evaluation.models import NuggetEvidence, Submission, Task
from evaluation.terms import AssignmentLabel, Stage, SupportLabel


def frozen_of(task: Task, submission: Submission) -> list[Any]:
    """Return the nuggets or the labels of a submission."""
    if not Stage(task.stage).judges:
        return _nuggets(submission)
    return _assignments(task) if task.stage == Stage.ASSIGN else _support(task)


def _nuggets(submission: Submission) -> list[Any]:
    nuggets = []
    for item in submission.frozen_list.items.select_related("nugget_version").order_by("position"):
        pairs = NuggetEvidence.objects.filter(nugget_version=item.nugget_version_id)
        evidence = set(pairs.values_list("segment__public_id", "sentence"))
        nuggets.append((item.nugget_version.text, int(item.importance), evidence))
    return nuggets


def _assignments(task: Task) -> list[Any]:
    fields = ("answer__public_id", "nugget_version__nugget__public_id", "label", "raw", "sentence")
    rows = assignments_of(task, judge_of(task.assessor)).current().values_list(*fields)
    return sorted(
        (f"{answer}/{nugget}", AssignmentLabel(label).name.lower(), raw, sentence)
        for answer, nugget, label, raw, sentence in rows
    )


def _support(task: Task) -> list[Any]:
    """Return labels by sentence and segment: what the page knows a citation by is one of several of the same."""
    fields = ("sentence__answer__public_id", "sentence__index", "segment__public_id", "label", "raw", "accepted")
    rows = support_of(task, judge_of(task.assessor)).current().values_list(*fields)
    return sorted(
        (f"{answer}/{index}/{segment}", SupportLabel(label).name.lower(), raw, bool(accepted))
        for answer, index, segment, label, raw, accepted in rows
    )
