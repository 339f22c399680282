"""Forms of LLM jobs: the kind of work with only its fields, and the limits of what is spent."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any

from django import forms
from django.http import QueryDict

from accounts.models import User
from evaluation.campaigns.contents import nugget_sets_for, sources_for
from evaluation.corpus.runs import runs_for
from evaluation.corpus.topics import topics_for
from evaluation.domain.conditions import NamedSet, names_to_choose
from evaluation.models import Campaign, Judge, Study
from evaluation.studies import studies_for
from evaluation.terms import Condition, Origin
from jobs.models import Job
from llmjobs import job_service
from llmjobs.budget import Budget
from llmjobs.client import Endpoint, default_endpoint
from llmjobs.job_service import JobOrder, ReadyJob, Work
from llmjobs.job_status import callable_judges_for
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from organizer.forms import choice_field, named, ticks_field
from web.fields import TextField


class JobKind(StrEnum):
    LABELS = "labels"
    NUGGETS = Work.NUGGETS.value
    DRAFTS = Work.DRAFTS.value
    RUBRIC = Work.RUBRIC.value
    SUPPORT = Work.SUPPORT.value
    RELEVANCE = Work.RELEVANCE.value
    SECOND_LOOK = "second-look"


JOB_KINDS = {
    JobKind.LABELS: ("Label answers", "Which nuggets does each answer say?"),
    JobKind.NUGGETS: ("Make nuggets", "A final list from graded passages"),
    JobKind.DRAFTS: ("Make drafts", "A long list for people to edit"),
    JobKind.RUBRIC: ("Rubric from nuggets", "Weighted criteria for people to edit"),
    JobKind.SUPPORT: ("Judge citations", "Does the passage back the sentence?"),
    JobKind.RELEVANCE: ("Grade passages", "How relevant is each passage?"),
    JobKind.SECOND_LOOK: ("Second opinion", "Another LLM judges the pairs of a second look"),
}
LISTS = {Work.AA: "A", Work.EA: "E", Work.MA: "M"}
OF_KIND = {
    JobKind.LABELS: ("condition", "nuggets", "qrels", "runs"),
    JobKind.NUGGETS: ("qrels",),
    JobKind.DRAFTS: ("qrels",),
    JobKind.RUBRIC: ("nuggets",),
    JobKind.SUPPORT: ("runs",),
    JobKind.RELEVANCE: ("source",),
    JobKind.SECOND_LOOK: ("study",),
}


class BudgetForm(forms.Form):
    """Limits of a job. Empty: no limit."""

    most_calls = forms.IntegerField(required=False, min_value=1, label="Calls at most")
    most_tokens = forms.IntegerField(required=False, min_value=1, label="Tokens at most")
    most_money = forms.DecimalField(
        required=False, min_value=Decimal("0.0001"), max_digits=12, decimal_places=4, label="Money at most"
    )

    @property
    def budget(self) -> Budget:
        values = self.cleaned_data
        # A preview is shown beside fields that are wrong, too.
        return Budget(values.get("most_calls"), values.get("most_tokens"), values.get("most_money"))


class JobForm(BudgetForm):
    """Kind, judge and topics of a job, and the fields of its kind alone.

    Without topics the form means those that lack the work; `shown` says that the topics were shown, and none ticked.
    """

    what = forms.ChoiceField(choices=[(kind.value, words) for kind, (words, _) in JOB_KINDS.items()])
    priority = forms.IntegerField(required=False, min_value=-100, max_value=100, label="Priority")
    shown = TextField(required=False)
    source = TextField(
        max_length=200, label="Name of the grades", error_messages={"required": "say what they are to be called."}
    )

    def __init__(self, viewer: User, campaign: Campaign, given: QueryDict) -> None:
        self.campaign = campaign
        self.studies = studies = {row.study.name: row.study for row in studies_for(viewer, campaign)}
        qrels = [row.name for row in sources_for(viewer, campaign)]
        sets = nugget_sets_for(viewer, campaign)
        runs = named(runs_for(viewer, campaign).values_list("run_id", flat=True))
        self.unavailable = _unavailable(
            runs=bool(runs), qrels=bool(qrels), nuggets=bool(_final(sets)), studies=bool(studies)
        )
        data = _current(given)
        self.kind = JobKind(data["what"]) if data["what"] in list(JobKind) else JobKind.LABELS
        topics = list(topics_for(viewer, campaign).values_list("topic_id", "text"))
        _chosen_topics(data, [topic for topic, _ in topics])
        data.setdefault("condition", _usual_condition(sets))
        data.setdefault("qrels", next((name for name in ("UMBRELA", *qrels) if name in qrels), ""))
        data.setdefault("study", next(iter(studies), ""))
        judges = callable_judges_for(viewer, campaign)
        self.judges = {judge.name: judge for judge in judges}
        judge = judge_choice(judges, but=self._compared(data))
        data.setdefault("judge", judge.initial)
        data.setdefault("source", str(data["judge"]) or default_endpoint().model)
        super().__init__(data)
        self.fields["judge"] = judge
        lists = [
            (work.value, f"{Condition(work).origin.words.capitalize()} ({code})") for work, code in LISTS.items()
        ]
        self.fields["condition"] = forms.ChoiceField(choices=lists, label="Nuggets")
        origin = Condition(data["condition"]).origin if data["condition"] in LISTS else ""
        fitting = named(_final(sets) if self.kind is JobKind.RUBRIC else _of_origin(sets, origin))
        self.fields["nuggets"] = choice_field("Nugget list", "the one that fits", fitting)
        self.fields["qrels"] = forms.ChoiceField(
            choices=named(qrels), required=False, label="Passages' grades from"
        )
        self.fields["study"] = forms.ChoiceField(choices=named(studies), label="Second look")
        self.fields["topics"] = ticks_field("Topics", topics)
        self.fields["runs"] = ticks_field("Runs", runs)
        self._leave_out(origin, several_lists=len(fitting) > 1, several_qrels=len(qrels) > 1)

    @property
    def is_simulated(self) -> bool:
        """Whether the chosen judge, or the default endpoint's own, is the heuristic that Assay comes with."""
        judge = self.judges.get(self["judge"].value())
        return (judge.model if judge else default_endpoint().model) == SIMULATED_MODEL

    @property
    def endpoint_name(self) -> str:
        """Address to which the chosen judge's calls go, without user and password."""
        judge = self.judges.get(self["judge"].value())
        return Endpoint(base_url=judge.base_url).name if judge and judge.base_url else default_endpoint().name

    def _compared(self, data: QueryDict) -> int | None:
        """The LLM whose labels a second look compares cannot be the one that decides."""
        study = self.studies.get(str(data["study"])) if self.kind is JobKind.SECOND_LOOK else None
        return study.judge_id if study else None

    def _leave_out(self, origin: str, *, several_lists: bool, several_qrels: bool) -> None:
        left_out = {name for names in OF_KIND.values() for name in names} - set(OF_KIND[self.kind])
        if not several_lists and not self.data.get("nuggets"):
            left_out.add("nuggets")
        # Nuggets are made before labels only where they are automatic; with a single source there is no choice.
        if self.kind is JobKind.LABELS and (origin != Condition.AA.origin or not several_qrels):
            left_out.add("qrels")
        for name in left_out:
            del self.fields[name]

    def clean_what(self) -> str:
        kind = JobKind(self.cleaned_data["what"])
        if reason := self.unavailable.get(kind):
            raise forms.ValidationError(reason)
        return kind

    def clean_topics(self) -> list[str]:
        topics = list(self.cleaned_data["topics"])
        if not topics and not self.preselects:
            raise forms.ValidationError("Tick at least one topic.")
        return topics

    @property
    def preselects(self) -> bool:
        return not self["topics"].value() and not self.data.get("shown")

    @property
    def cards(self) -> list[tuple[JobKind, str, str, str]]:
        return [(kind, *words, self.unavailable.get(kind, "")) for kind, words in JOB_KINDS.items()]

    @property
    def own_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in OF_KIND[self.kind] if name in self.fields and name != "runs"]

    @property
    def limits(self) -> list[forms.BoundField]:
        return [self[name] for name in ("most_calls", "most_tokens", "most_money", "priority")]

    @property
    def limits_set(self) -> str:
        words = {"most_calls": "calls", "most_tokens": "tokens", "most_money": "to pay"}
        limits = [f"at most {self.data[name]} {unit}" for name, unit in words.items() if self.data.get(name)]
        if priority := self.data.get("priority"):
            limits.append(f"priority {priority}")
        return ", ".join(limits) or "none set"

    def order(self, topics: tuple[str, ...]) -> JobOrder:
        values = self.cleaned_data
        return JobOrder(
            work=Work(values["condition"] if self.kind is JobKind.LABELS else self.kind),
            judge=values.get("judge", ""),
            qrels=values.get("qrels", ""),
            nuggets=values.get("nuggets", ""),
            source=values.get("source", ""),
            topics=topics,
            runs=tuple(values.get("runs", ())),
            budget=self.budget,
            priority=values.get("priority") or 0,
        )

    def try_plan(self, topics: tuple[str, ...]) -> ReadyJob:
        """Plan the job, and write nothing. Raises `Refused`."""
        if self.kind is JobKind.SECOND_LOOK:
            return self._plan_study(job_service.judge_to_try(self.cleaned_data["judge"]), topics)
        return job_service.try_plan(self.campaign, self.order(topics))

    def start(self, actor: User) -> Job:
        """Start the job. Raises `Refused`, also where nothing is to be done."""
        topics = tuple(self.cleaned_data["topics"])
        if self.kind is JobKind.SECOND_LOOK:
            ready = self._plan_study(job_service.judge_for(self.cleaned_data["judge"]), topics)
            job_service.refuse_empty(ready.plan)
        else:
            ready = job_service.plan_job(self.campaign, self.order(topics))
        return job_service.start_job(ready, actor)

    def _plan_study(self, judge: Any, topics: tuple[str, ...]) -> ReadyJob:
        study: Study = self.studies[self.cleaned_data["study"]]
        request = job_service.study_request(study, judge, topics)
        return ReadyJob(request, f"Second look {study.name}", job_service.plan_study(request, study), {})


def _current(given: QueryDict) -> QueryDict:
    """Choices in today's names: a condition was a kind of its own once, and addresses keep working."""
    data = given.copy()
    if data.get("what") in LISTS:
        data["condition"] = str(data["what"])
        data["what"] = JobKind.LABELS.value
    data.setdefault("what", JobKind.LABELS.value)
    return data


def _chosen_topics(data: QueryDict, topics: list[str]) -> None:
    """Put the ticks of a button in the place of those that were there."""
    choose = data.pop("choose", [""])[-1]
    if choose:
        data.setlist("topics", topics if choose == "all" else [])
        data["shown"] = "1" if choose == "none" else ""


def choices_of_order(order: Mapping[str, Any]) -> QueryDict:
    data = QueryDict(mutable=True)
    for name, value in order.items():
        field = "what" if name == "work" else name
        data.setlist(field, list(value) if isinstance(value, list) else [value])
    return data


def _final(sets: Iterable[NamedSet]) -> list[str]:
    """Names of the sets that are no drafts: rubrics are made from their lists."""
    return [row.name for row in sets if row.origin != Origin.DRAFT]


def _of_origin(sets: Iterable[NamedSet], origin: str) -> list[str]:
    return names_to_choose(row for row in sets if row.origin == origin)


def _usual_condition(sets: Sequence[NamedSet]) -> str:
    """Return a condition that has lists: beside a rubric that was loaded no nuggets are made."""
    return next((work.value for work in LISTS if _of_origin(sets, Condition(work).origin)), Work.AA.value)


def _unavailable(*, runs: bool, qrels: bool, nuggets: bool, studies: bool) -> dict[JobKind, str]:
    needs = {
        JobKind.LABELS: (runs, "No run is loaded yet"),
        JobKind.NUGGETS: (qrels, "No passage is graded yet"),
        JobKind.DRAFTS: (qrels, "No passage is graded yet"),
        JobKind.RUBRIC: (nuggets, "There is no nugget list yet"),
        JobKind.SUPPORT: (runs, "No run is loaded yet"),
        JobKind.RELEVANCE: (runs or qrels, "No passage is cited or graded yet"),
        JobKind.SECOND_LOOK: (studies, "No second look has been drawn yet"),
    }
    return {kind: reason for kind, (there, reason) in needs.items() if not there}


def judge_choice(judges: list[Judge], but: int | None = None) -> forms.ChoiceField:
    """Choice of an LLM judge. `but`: a judge that cannot be chosen."""
    names = [judge.name for judge in judges]
    # The endpoint's own model is offered before it is a judge: the first job makes it.
    own = default_endpoint().model
    choices = named(judge.name for judge in judges if judge.pk != but)
    if own not in names:
        choices.insert(0, ("", f"{own} (new)"))
    offered = [value for value, _ in choices]
    # Whoever made a judge means it, and not the heuristic that Assay comes with.
    others = [judge.name for judge in judges if judge.model != SIMULATED_MODEL and judge.pk != but]
    initial = (
        own if own in offered and (own != SIMULATED_MODEL or not others) else next(iter([*others, *offered]), "")
    )
    return forms.ChoiceField(choices=choices, required=False, initial=initial, label="Judge")
