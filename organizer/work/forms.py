"""Forms of handed-out work: search, hand-out, changes."""

from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import urlencode

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
from assessor.progress.pipeline import step_states, topics_at_step
from evaluation.campaigns.contents import battle_sets_for, nugget_sets_for, sampled_llms_for, sources_for
from evaluation.campaigns.protocol import llms_for
from evaluation.corpus.topics import topics_for
from evaluation.errors import Refused
from evaluation.models import Campaign, Task, Topic
from evaluation.rules.text import LONGEST_PATTERN, matcher
from evaluation.stages import ASSIGN, POST_EDIT, STAGES, Stage, stage_of
from evaluation.tasks.changes import LONGEST_REASON, PAST, Change, TaskChange
from evaluation.tasks.units import ASSIGNED, Order
from evaluation.terms import Origin, RemarkKind, TaskState
from organizer.forms import ListSearch, choice_field, day_field, due_field, errors_text, named, ticks_field
from web.fields import TextField

REASSIGN = "reassign"
CHANGES = [
    (Change.REOPEN.value, "Reopen submitted work: a further version begins as a copy"),
    (Change.BLOCK.value, "Block: it is locked until an organizer has done something"),
    (Change.UNBLOCK.value, "Unblock"),
    (Change.RESCHEDULE.value, "Set due date and priority"),
    (REASSIGN, "Hand to: somebody else gets a new, empty task; the old one's work is kept and does not count"),
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
TASK_STATES = [
    # The matrix leaves withdrawn tasks out.
    *((state.value, f"a task {state}") for state in TaskState if state is not TaskState.WITHDRAWN),
    (LATE, "a task late"),
    (IDLE, "a task begun, not touched for 24 h"),
]


def people(viewer: User, campaign: Campaign) -> list[tuple[str, str]]:
    return [(user.username, user.name) for user in assessors_for(viewer, campaign)]


def stages_to_choose() -> list[tuple[str, str]]:
    return [(stage, f"{stage.words}: {stage.meaning}") for stage in STAGES.values()]


class WorkSearch(ListSearch):
    """Topics that the matrix shows: words, an id or a `/pattern/`, a state, a stage, a person."""

    words = TextField(required=False, max_length=LONGEST_PATTERN + 2, label="Words, id or /pattern/")
    state = choice_field("State", "State: any", [("Topics", TOPIC_STATES), ("Topics with a task", TASK_STATES)])

    def __init__(self, viewer: User, campaign: Campaign, data: Any) -> None:
        super().__init__(data)
        stages = [(stage, stage.words) for stage in STAGES.values()]
        self.fields["stage"] = choice_field("Stage", "Stage: any", stages)
        self.fields["assessor"] = choice_field("Person", "Person: any", people(viewer, campaign))
        self.fields["step"] = choice_field("Pipeline", "Pipeline: any", step_states())
        for name in ("state", "stage", "assessor", "step"):
            self.fields[name].widget.attrs["aria-label"] = self.fields[name].label

    def clean_words(self) -> str:
        words = str(self.cleaned_data["words"])
        try:
            matcher(pattern_in(words))
        except Refused as refused:
            raise forms.ValidationError(refused.message) from None
        return words

    @property
    def filters(self) -> dict[str, str]:
        return {name: self.value(name) for name in ("words", "state", "assessor", "stage", "step")}

    @property
    def query(self) -> str:
        return urlencode({name: value for name, value in self.filters.items() if value})

    @property
    def pattern_problem(self) -> str:
        # An invalid pattern finds nothing. To act on all topics instead would be a disaster.
        return " ".join(str(error) for error in self.errors.get("words", []))

    def topics(self, viewer: User, campaign: Campaign) -> QuerySet[Topic]:
        filters, pattern = self.filters, pattern_in(self.value("words"))
        step = filters.pop("step")
        if pattern:
            filters["words"] = ""
        due = filters["state"] if filters["state"] in (LATE, IDLE) else ""
        if due:
            filters["state"] = ""
        topics = work_topics(viewer, campaign, **filters, pattern=pattern, due=due)
        if step:
            topics = topics.filter(pk__in=topics_at_step(viewer, campaign, step))
        return topics.none() if self.pattern_problem else topics


def pattern_in(words: str) -> str:
    """Regular expression between two slashes; '' in words without them."""
    return words[1:-1] if len(words) > 2 and words[0] == words[-1] == "/" else ""


class InboxSearch(ListSearch):
    kind = choice_field("Kind", "any kind", named(RemarkKind))
    answered = forms.BooleanField(required=False, label="Answered")


class HandOutForm(forms.Form):
    stage = forms.ChoiceField(choices=stages_to_choose, initial=POST_EDIT, widget=forms.RadioSelect, label="Stage")
    due = due_field()
    priority = forms.TypedChoiceField(choices=PRIORITIES, coerce=int, initial=0, label="Priority")
    again = forms.BooleanField(required=False, label="Again")
    reason = TextField(required=False, max_length=LONGEST_REASON, label="Why not the person who made the list")
    # Seal of the plan that was previewed: without it the plan is shown, and nothing is handed out.
    expect = TextField(required=False, max_length=16, widget=forms.HiddenInput)

    def __init__(self, viewer: User, campaign: Campaign, data: Any) -> None:
        super().__init__(data)
        self.handed_out = stages_by_topic(viewer, campaign)
        sets = nugget_sets_for(viewer, campaign)
        drafts = named(row.name for row in sets if row.origin == Origin.DRAFT)
        lists = [(f"{A_SET}{row.name}", f"{row.name} ({row.origin})") for row in sets if row.origin in ASSIGNED]
        llms = named(llm.name for llm in llms_for(viewer, campaign))
        qrels = named(source.name for source in sources_for(viewer, campaign))
        topics = topics_for(viewer, campaign)
        self.fields["assessor"] = choice_field("Assessor", "balance automatically", people(viewer, campaign))
        self.fields["drafts"] = choice_field("Drafts", "the only ones", drafts)
        self.fields["qrels"] = choice_field("Passages by the grades of", "NIST, or the only ones", qrels)
        self.fields["nuggets"] = choice_field("List to label with", "each topic's only one", [*ORIGINS, *lists])
        self.fields["judge"] = choice_field("Labels shown of", "the campaign's default, or the only one", llms)
        self.fields["battles"] = choice_field(
            "Battle set", "the only one", named(battle_sets_for(viewer, campaign))
        )
        samples = [(llm, f"the sample for {llm}") for llm in sampled_llms_for(viewer, campaign)]
        self.fields["sample"] = choice_field("Battles", "all of the set", samples)
        self.fields["topics"] = ticks_field(
            "Topics",
            [(topic.public_id, f"{topic.topic_id}: {topic.text}") for topic in topics],
            required=True,
            error_messages={"required": "tick at least one, such as those that lack the stage"},
        )

    @property
    def stages(self) -> list[tuple[forms.boundfield.BoundWidget, str, str, int]]:
        return [
            (radio, stage.words, stage.meaning, len(lacking(self.handed_out, stage)))
            for radio, stage in zip(self["stage"], STAGES.values(), strict=True)
        ]

    @property
    def boxes(self) -> list[tuple[forms.boundfield.BoundWidget, list[Stage]]]:
        return [
            (box, [stage for stage in STAGES.values() if stage in self.handed_out[box.data["value"]]])
            for box in self["topics"]
        ]

    @property
    def stage_words(self) -> str:
        return stage_of(self["stage"].value()).words

    @property
    def all_have_it(self) -> bool:
        return not lacking(self.handed_out, self["stage"].value())

    @property
    def order(self) -> Order:
        data = self.cleaned_data
        kind, _, named = data["nuggets"].partition(":")
        return Order(
            stage=stage_of(data["stage"]),
            topics=tuple(data["topics"]),
            assessor=data["assessor"],
            drafts=data["drafts"],
            qrels=data["qrels"],
            due=data["due"],
            priority=data["priority"],
            again=data["again"],
            nuggets=named if f"{kind}:" == A_SET else "",
            origin=named if f"{kind}:" == AN_ORIGIN else "",
            judge=data["judge"],
            battles=data["battles"],
            sample=data["sample"],
            reason=data["reason"],
        )


class TaskForm(forms.Form):
    reason = TextField(
        required=False,
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60}),
        label="Reason",
    )
    due = day_field("Due")
    drops_due = forms.BooleanField(required=False, label="Take the due date away")
    priority = forms.TypedChoiceField(
        choices=[("", "leave as it is"), *PRIORITIES],
        coerce=int,
        empty_value=None,
        required=False,
        label="Priority",
    )

    def order(self, change: Change, tasks: tuple[str, ...]) -> TaskChange:
        """Raises `Refused` for an inconsistent form."""
        if not self.is_valid():
            raise Refused("bad_form", errors_text(self))
        data = self.cleaned_data
        return TaskChange(change, tasks, data["reason"], data["due"], data["priority"], data["drops_due"])


class ChangeForm(TaskForm):
    change = forms.ChoiceField(choices=CHANGES, widget=forms.RadioSelect, label="Change")

    def __init__(
        self, viewer: User, campaign: Campaign, data: Any = None, ticked: list[str] | None = None, change: str = ""
    ) -> None:
        super().__init__(data, initial={"tasks": ticked or [], "change": change or Change.REOPEN})
        self.fields["assessor"] = choice_field("To whom, if reassigned", "choose", people(viewer, campaign))
        # No act leads back from withdrawn.
        tasks = tasks_for(viewer, campaign).not_withdrawn().select_related("topic", "assessor")
        self.fields["tasks"] = ticks_field(
            "Tasks",
            [(task.public_id, _caption(task)) for task in tasks],
            required=True,
            error_messages={"required": "tick at least one"},
        )

    @property
    def order_of_all(self) -> TaskChange:
        """Raises `Refused` for an inconsistent form."""
        return self.order(Change(self.cleaned_data["change"]), tuple(self.cleaned_data["tasks"]))


def _caption(task: Task) -> str:
    return f"{task.topic.topic_id}, {task.stage.words}: {task.assessor.name}, {task.state}"


class ProposalForm(forms.Form):
    """A dashed chip of the matrix: the maker of a topic's list is to label its nuggets too.

    `proposed`: topic, assessor and nugget set, with a space between them.
    """

    proposed = forms.RegexField(r"^\S+ \S+ .")

    @property
    def order(self) -> Order:
        topic, assessor, nuggets = self.cleaned_data["proposed"].split(" ", 2)
        return Order(ASSIGN, (topic,), assessor, nuggets=nuggets)


class UndoForm(forms.Form):
    task = TextField()


class AnswerForm(forms.Form):
    answer = TextField(required=False, max_length=5000, label="Answer")


def lacking(handed_out: Mapping[str, Collection[Stage]], stage: str) -> list[str]:
    return [public_id for public_id, stages in handed_out.items() if stage not in stages]
