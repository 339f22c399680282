"""Forms of handed-out work: search, hand-out, changes."""

from collections.abc import Collection, Mapping
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
from evaluation.tasks.changes import LONGEST_REASON, PAST, Change, TaskChange
from evaluation.tasks.plan import Order
from evaluation.tasks.units import ASSIGNED
from evaluation.terms import Origin, RemarkKind, Stage, TaskState
from organizer.forms import ListSearch, choice_field, day_field, named, ticks_field
from organizer.templatetags.work import STAGE_MEANINGS

STAGES = [(stage.value, f"{stage.words}: {STAGE_MEANINGS[stage]}") for stage in Stage]
REASSIGN = "reassign"
CHANGES = [
    (Change.REOPEN.value, "Reopen submitted work: a further version begins as a copy"),
    (Change.BLOCK.value, "Block: it is locked until an organizer has done something"),
    (Change.UNBLOCK.value, "Unblock"),
    (Change.RESCHEDULE.value, "Set due date and priority"),
    (REASSIGN, "Reassign: somebody else gets a new, empty task; the old one's work is kept and does not count"),
    (Change.WITHDRAW.value, "Withdraw: its work is kept and does not count"),
]
DONE: dict[str, str] = {change: PAST[change].capitalize() for change in Change} | {REASSIGN: "Reassigned"}
A_SET, AN_ORIGIN = "set:", "origin:"
ORIGINS = [
    (f"{AN_ORIGIN}{Origin.EDITED}", "each topic's edited list"),
    (f"{AN_ORIGIN}{Origin.MANUAL}", "each topic's manual list"),
    (f"{AN_ORIGIN}{Origin.AUTO}", "each topic's automatic list"),
]
PRIORITIES = [(0, "ordinary"), (1, "high"), (2, "first")]


TOPIC_STATES = [*named(TopicState), (UNASSIGNED, "topics not handed out")]
# The matrix leaves withdrawn tasks out.
TASK_STATES = [(state.value, f"a task {state}") for state in TaskState if state is not TaskState.WITHDRAWN]


def people(viewer: User, campaign: Campaign) -> list[tuple[str, str]]:
    return [(user.username, user.name) for user in assessors_for(viewer, campaign)]


class WorkSearch(ListSearch):
    """Topics that the matrix shows."""

    state = choice_field("State", "any state", [("Topics", TOPIC_STATES), ("Topics with a task", TASK_STATES)])
    stage = choice_field("Stage", "any stage", [(stage.value, stage.words) for stage in Stage])
    due = choice_field("Due", "any", [(LATE, "overdue"), (IDLE, "begun, not touched for 24 h")])
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
        self.fields["assessor"] = choice_field("Assessor", "anybody", people(viewer, campaign))

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

    kind = choice_field("Kind", "any kind", named(RemarkKind))
    answered = forms.BooleanField(required=False, label="Answered")


class HandOutForm(forms.Form):
    """Topics, a stage, and the assessor."""

    stage = forms.ChoiceField(choices=STAGES, initial=Stage.POST_EDIT, widget=forms.RadioSelect, label="Stage")
    due = day_field("Due")
    priority = forms.TypedChoiceField(choices=PRIORITIES, coerce=int, initial=0, label="Priority")
    again = forms.BooleanField(required=False, label="Again")
    reason = forms.CharField(
        required=False, max_length=LONGEST_REASON, label="Why somebody else assigns a list than made it"
    )
    # Seal of the plan that was previewed: without it the plan is shown, and nothing is handed out.
    expect = forms.CharField(required=False, max_length=16, widget=forms.HiddenInput)

    def __init__(
        self, viewer: User, campaign: Campaign, data: Any = None, first: Mapping[str, object] | None = None
    ) -> None:
        """`first`: initial values."""
        super().__init__(data, initial=dict(first or {}))
        self.handed_out = stages_by_topic(viewer, campaign)
        sets = nugget_sets_for(viewer, campaign)
        drafts = named(row.name for row in sets if row.origin == Origin.DRAFT)
        lists = [(f"{A_SET}{row.name}", f"{row.name} ({row.origin})") for row in sets if row.origin in ASSIGNED]
        machines = named(machine.name for machine in machines_for(viewer, campaign))
        qrels = named(source.name for source in sources_for(viewer, campaign))
        topics = topics_for(viewer, campaign)
        self.fields["assessor"] = choice_field("Assessor", "balance automatically", people(viewer, campaign))
        self.fields["drafts"] = choice_field("Drafts", "the only ones", drafts)
        self.fields["qrels"] = choice_field("Passages by the grades of", "NIST, or the only ones", qrels)
        self.fields["nuggets"] = choice_field("List to assign", "each topic's only one", [*ORIGINS, *lists])
        self.fields["machine"] = choice_field(
            "Labels shown of", "the campaign's default, or the only one", machines
        )
        self.fields["topics"] = ticks_field(
            "Topics",
            [(topic.public_id, f"{topic.topic_id}: {topic.text}") for topic in topics],
            required=True,
            error_messages={"required": "tick at least one, such as those that lack the stage"},
        )

    @property
    def stages(self) -> list[tuple[forms.boundfield.BoundWidget, str, str, int]]:
        """Stages with their words, what is done at each, and how many topics lack it."""
        return [
            (radio, stage.words, STAGE_MEANINGS[stage], len(lacking(self.handed_out, stage)))
            for radio, stage in zip(self["stage"], Stage, strict=True)
        ]

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
    due = day_field("Due")
    priority = forms.TypedChoiceField(choices=PRIORITIES, coerce=int, initial=0, required=False, label="Priority")

    def wish(self, change: Change, tasks: tuple[str, ...]) -> TaskChange:
        """Raises `Refused` for an inconsistent form."""
        if not self.is_valid():
            found = (str(error) for errors in self.errors.values() for error in errors)
            raise Refused("bad_form", " ".join(found))
        data = self.cleaned_data
        return TaskChange(change, tasks, data["reason"], data["due"], data["priority"] or 0)


class ChangeForm(TaskForm):
    """A change of many tasks at once."""

    change = forms.ChoiceField(choices=CHANGES, initial=Change.REOPEN, widget=forms.RadioSelect, label="Change")

    def __init__(
        self, viewer: User, campaign: Campaign, data: Any = None, ticked: list[str] | None = None
    ) -> None:
        super().__init__(data, initial={"tasks": ticked or []})
        self.fields["assessor"] = choice_field("To whom, if reassigned", "choose", people(viewer, campaign))
        # No act leads back from withdrawn.
        tasks = tasks_for(viewer, campaign).not_withdrawn().select_related("topic", "assessor")
        choices = [
            (
                task.public_id,
                f"{task.topic.topic_id}, {Stage(task.stage).words}: {task.assessor.name}, {task.state}",
            )
            for task in tasks
        ]
        self.fields["tasks"] = ticks_field(
            "Tasks", choices, required=True, error_messages={"required": "tick at least one"}
        )

    @property
    def wish_of_all(self) -> TaskChange:
        """Raises `Refused` for an inconsistent form."""
        return self.wish(Change(self.cleaned_data["change"]), tuple(self.cleaned_data["tasks"]))


class AnswerForm(forms.Form):
    answer = forms.CharField(required=False, max_length=5000, label="Answer")


def lacking(handed_out: Mapping[str, Collection[Stage]], stage: str) -> list[str]:
    return [public_id for public_id, stages in handed_out.items() if stage not in stages]
