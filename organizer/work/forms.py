"""Forms of handed-out work: search, hand-out, changes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet

from accounts.models import User
from assessor.progress.matrix import (
    IDLE,
    LATE,
    UNASSIGNED,
    TopicState,
    assessors_for,
    stages_by_topic,
    tasks_for,
    work_topics,
)
from evaluation.campaigns.contents import nugget_sets_for, sources_for
from evaluation.campaigns.protocol import machines_for
from evaluation.corpus.topics import topics_for
from evaluation.errors import Refused
from evaluation.models import Campaign, Topic
from evaluation.rules.text import LONGEST_PATTERN, matcher
from evaluation.tasks.changes import LONGEST_REASON, Change, TaskChange
from evaluation.tasks.plan import Order
from evaluation.tasks.units import ASSIGNED
from evaluation.terms import Origin, RemarkKind, Stage, TaskState
from organizer.forms import ListSearch
from organizer.words import STAGE_MEANINGS, STAGE_WORDS, stage_text

STAGES = [(stage.value, f"{STAGE_WORDS[stage]}: {STAGE_MEANINGS[stage]}") for stage in Stage]
REASSIGN = "reassign"
CHANGES = [
    (Change.REOPEN.value, "Reopen submitted work: a further version begins as a copy"),
    (Change.BLOCK.value, "Block: it is locked until an organizer has done something"),
    (Change.UNBLOCK.value, "Unblock"),
    (Change.RESCHEDULE.value, "Set due date and priority"),
    (REASSIGN, "Reassign: somebody else gets a new, empty task; the old one's work is kept and does not count"),
    (Change.WITHDRAW.value, "Withdraw: its work is kept and does not count"),
]
DONE: dict[str, str] = {
    Change.REOPEN: "Reopened",
    Change.BLOCK: "Blocked",
    Change.UNBLOCK: "Unblocked",
    Change.RESCHEDULE: "Rescheduled",
    REASSIGN: "Reassigned",
    Change.WITHDRAW: "Withdrawn",
}
"""Each change in the past tense, for the notice of it."""
A_SET, AN_ORIGIN = "set:", "origin:"
ORIGINS = [
    (f"{AN_ORIGIN}{Origin.EDITED}", "each topic's edited list"),
    (f"{AN_ORIGIN}{Origin.MANUAL}", "each topic's list by hand"),
    (f"{AN_ORIGIN}{Origin.AUTO}", "each topic's automatic list"),
]
PRIORITIES = [(0, "ordinary"), (1, "high"), (2, "first")]


TOPIC_STATES = [
    (TopicState.DONE.value, "topics done"),
    (TopicState.IN_PROGRESS.value, "topics in progress"),
    (TopicState.NOT_STARTED.value, "topics not started"),
    (TopicState.BLOCKED.value, "topics blocked"),
    (UNASSIGNED, "topics not handed out"),
]
TASK_STATES = [
    (TaskState.NOT_STARTED.value, "a task not started"),
    (TaskState.IN_PROGRESS.value, "a task in progress"),
    (TaskState.SUBMITTED.value, "a task submitted"),
    (TaskState.REOPENED.value, "a task reopened"),
    (TaskState.BLOCKED.value, "a task blocked"),
]


class WorkSearch(ListSearch):
    """Topics that the matrix shows."""

    state = forms.ChoiceField(
        required=False,
        choices=[("", "any state"), ("Topics", TOPIC_STATES), ("Topics with a task", TASK_STATES)],
        label="State",
    )
    stage = forms.ChoiceField(
        required=False,
        choices=[("", "any stage"), *((stage.value, STAGE_WORDS[stage]) for stage in Stage)],
        label="Stage",
    )
    due = forms.ChoiceField(
        required=False,
        choices=[("", "any"), (LATE, "overdue"), (IDLE, "begun, not touched for 24 h")],
        label="Due",
    )
    pattern = forms.CharField(
        required=False,
        max_length=LONGEST_PATTERN,
        widget=forms.TextInput({"spellcheck": "false", "autocapitalize": "none"}),
        label="Pattern",
    )

    def clean_pattern(self) -> str:
        pattern = str(self.cleaned_data["pattern"])
        try:
            matcher(pattern)
        except Refused as refused:
            raise forms.ValidationError(refused.message) from None
        return pattern

    def __init__(self, viewer: User, campaign: Campaign, data: Any) -> None:
        super().__init__(data)
        people = [(user.username, user.name) for user in assessors_for(viewer, campaign)]
        self.fields["assessor"] = forms.ChoiceField(
            choices=[("", "anybody"), *people], required=False, label="Assessor"
        )

    @property
    def wishes(self) -> dict[str, str]:
        names = ("words", "pattern", "state", "assessor", "stage", "due")
        return {name: self.value(name) for name in names}

    @property
    def pattern_problem(self) -> str:
        # An invalid pattern finds nothing. To act on all topics instead would be a disaster.
        return " ".join(str(error) for error in self.errors.get("pattern", []))

    def topics(self, viewer: User, campaign: Campaign) -> QuerySet[Topic]:
        found = work_topics(viewer, campaign, **self.wishes)
        return found.none() if self.pattern_problem else found


class InboxSearch(ListSearch):
    """Remarks that the inbox shows."""

    kind = forms.ChoiceField(
        required=False,
        choices=[("", "any kind"), *((kind.value, kind.value) for kind in RemarkKind)],
        label="Kind",
    )
    answered = forms.BooleanField(required=False, label="Answered")


class HandOutForm(forms.Form):
    """Topics, a stage, and the assessor."""

    stage = forms.ChoiceField(choices=STAGES, initial=Stage.POST_EDIT, widget=forms.RadioSelect, label="Stage")
    due = forms.DateField(required=False, widget=forms.DateInput(attrs={"type": "date"}), label="Due")
    priority = forms.TypedChoiceField(choices=PRIORITIES, coerce=int, initial=0, label="Priority")
    again = forms.BooleanField(required=False, label="Again")
    reason = forms.CharField(
        required=False, max_length=LONGEST_REASON, label="Why somebody else assigns a list than made it"
    )
    expect = forms.CharField(required=False, max_length=16, widget=forms.HiddenInput)

    def __init__(
        self, viewer: User, campaign: Campaign, data: Any = None, first: Mapping[str, object] | None = None
    ) -> None:
        """`first`: initial values."""
        super().__init__(data, initial=dict(first or {}))
        self.handed_out = stages_by_topic(viewer, campaign)
        sets = nugget_sets_for(viewer, campaign)
        drafts = [(nugget_set.name, nugget_set.name) for nugget_set in sets if nugget_set.origin == Origin.DRAFT]
        lists = [
            (f"{A_SET}{nugget_set.name}", f"{nugget_set.name} ({nugget_set.origin})")
            for nugget_set in sets
            if nugget_set.origin in ASSIGNED
        ]
        machines = [(machine.name, machine.name) for machine in machines_for(viewer, campaign)]
        qrels = [(row.name, row.name) for row in sources_for(viewer, campaign)]
        people = [(user.username, user.name) for user in assessors_for(viewer, campaign)]
        self.fields["assessor"] = _choice("Assessor", "balance automatically", people)
        self.fields["drafts"] = _choice("Drafts", "the only ones", drafts)
        self.fields["qrels"] = _choice("Passages by the grades of", "NIST, or the only ones", qrels)
        self.fields["nuggets"] = _choice("List to assign", "each topic's only one", [*ORIGINS, *lists])
        self.fields["machine"] = _choice("Labels shown of", "the campaign's default, or the only one", machines)
        self.fields["topics"] = forms.MultipleChoiceField(
            choices=[
                (topic.public_id, f"{topic.topic_id}: {topic.text}") for topic in topics_for(viewer, campaign)
            ],
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": "tick at least one, such as those that lack the stage"},
            label="Topics",
        )

    @property
    def stages(self) -> list[tuple[forms.boundfield.BoundWidget, int]]:
        return [(radio, len(lacking(self.handed_out, radio.data["value"]))) for radio in self["stage"]]

    @property
    def boxes(self) -> list[tuple[forms.boundfield.BoundWidget, list[Stage]]]:
        return [
            (box, [stage for stage in Stage if stage in self.handed_out[box.data["value"]]])
            for box in self["topics"]
        ]

    @property
    def all_have_it(self) -> bool:
        return not lacking(self.handed_out, self["stage"].value())

    @property
    def order(self) -> Order:
        data = self.cleaned_data
        kind, _, named = data["nuggets"].partition(":")
        return Order(
            stage=Stage(data["stage"]),
            topics=tuple(data["topics"]),
            assessor=data["assessor"],
            drafts=data["drafts"],
            qrels=data["qrels"],
            due=data["due"],
            priority=data["priority"],
            again=data["again"],
            nuggets=named if f"{kind}:" == A_SET else "",
            origin=named if f"{kind}:" == AN_ORIGIN else "",
            machine=data["machine"],
            reason=data["reason"],
        )


class TaskForm(forms.Form):
    """Reason, deadline and priority of a change."""

    reason = forms.CharField(
        required=False,
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60}),
        label="Reason",
    )
    due = forms.DateField(required=False, widget=forms.DateInput(attrs={"type": "date"}), label="Due")
    priority = forms.TypedChoiceField(choices=PRIORITIES, coerce=int, initial=0, required=False, label="Priority")

    def wish(self, change: Change, tasks: tuple[str, ...]) -> TaskChange:
        """Raises `Refused` for an inconsistent form."""
        if not self.is_valid():
            found = (str(error) for errors in self.errors.values() for error in errors)
            raise Refused("bad_form", " ".join(found))
        data = self.cleaned_data
        return TaskChange(change, tasks, data["reason"], data["due"], data["priority"] or 0)


class ChangeForm(TaskForm):
    change = forms.ChoiceField(choices=CHANGES, initial=Change.REOPEN, widget=forms.RadioSelect, label="Change")

    def __init__(
        self, viewer: User, campaign: Campaign, data: Any = None, ticked: list[str] | None = None
    ) -> None:
        super().__init__(data, initial={"tasks": ticked or []})
        people = [(user.username, user.name) for user in assessors_for(viewer, campaign)]
        self.fields["assessor"] = _choice("To whom, if reassigned", "choose", people)
        tasks = tasks_for(viewer, campaign).not_withdrawn().select_related("topic", "assessor")
        choices = [
            (
                task.public_id,
                f"{task.topic.topic_id}, {stage_text(Stage(task.stage))}: {task.assessor.name}, {task.state}",
            )
            for task in tasks
        ]
        self.fields["tasks"] = forms.MultipleChoiceField(
            choices=choices,
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": "tick at least one"},
            label="Tasks",
        )


class AnswerForm(forms.Form):
    answer = forms.CharField(required=False, max_length=5000, label="Answer")


def lacking(handed_out: Mapping[str, Collection[Stage]], stage: str) -> list[str]:
    return [public_id for public_id, stages in handed_out.items() if stage not in stages]


def _choice(label: str, unsaid: str, choices: Sequence[tuple[str, Any]]) -> forms.ChoiceField:
    return forms.ChoiceField(choices=[("", unsaid), *choices], required=False, label=label)
