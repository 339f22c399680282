"""Forms of LLM jobs: the kind of work with only its fields, and the limits of what is spent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.http import QueryDict

from accounts.models import User
from evaluation.campaigns.contents import nugget_sets_for, sources_for
from evaluation.corpus.runs import runs_for
from evaluation.corpus.topics import topics_for
from evaluation.domain.conditions import NamedSet, names_to_choose
from evaluation.models import BattleSet, Campaign, Judge, Study
from evaluation.rules.battles import Orders
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

LABELS, SECOND_LOOK = "labels", "second-look"


@dataclass(frozen=True, slots=True)
class JobCard:
    """A kind of job, as the form offers it.

    `makes`: the noun of its results, of which the page counts what is there and what is missing; `units`: what it asks
    about, counted as well. It needs one of `needs`, or is not offered, for the reason `lacking`.
    """

    title: str
    use: str
    makes: str
    fields: tuple[str, ...]
    needs: tuple[str, ...]
    lacking: str
    units: str = ""


NO_RUN, NO_GRADE = "No run is loaded yet", "No passage is graded yet"
JOB_CARDS = {
    LABELS: JobCard(
        title="Label answers",
        use="Which nuggets does each answer say?",
        makes="label",
        fields=("condition", "nuggets", "qrels", "runs"),
        needs=("runs",),
        lacking=NO_RUN,
    ),
    Work.NUGGETS.value: JobCard(
        title=Work.NUGGETS.job_title,
        use="A final list from graded passages",
        makes="nugget list",
        units="Topics",
        fields=("qrels",),
        needs=("qrels",),
        lacking=NO_GRADE,
    ),
    Work.DRAFTS.value: JobCard(
        title=Work.DRAFTS.job_title,
        use="A long list for people to edit",
        makes="draft list",
        units="Topics",
        fields=("qrels",),
        needs=("qrels",),
        lacking=NO_GRADE,
    ),
    Work.RUBRIC.value: JobCard(
        title=Work.RUBRIC.job_title,
        use="Weighted criteria for people to edit",
        makes="rubric",
        units="Topics",
        fields=("nuggets",),
        needs=("nuggets",),
        lacking="There is no nugget list yet",
    ),
    Work.SUPPORT.value: JobCard(
        title=Work.SUPPORT.job_title,
        use="Does the passage back the sentence?",
        makes="label",
        units="Citations",
        fields=("runs",),
        needs=("runs",),
        lacking=NO_RUN,
    ),
    Work.RELEVANCE.value: JobCard(
        title=Work.RELEVANCE.job_title,
        use="How relevant is each passage?",
        makes="grade",
        units="Passages",
        fields=("source",),
        needs=("runs", "qrels"),
        lacking="No passage is cited or graded yet",
    ),
    Work.BATTLE.value: JobCard(
        title=Work.BATTLE.job_title,
        use="Which of two answers is better?",
        makes="verdict",
        units="Battles, by order",
        fields=("set", "orders", "nuggets"),
        needs=("battles",),
        lacking="No battle has been drawn yet",
    ),
    SECOND_LOOK: JobCard(
        title="Second opinion",
        use="Another LLM judges the pairs of a second look",
        makes="label",
        units="Pairs",
        fields=("study",),
        needs=("studies",),
        lacking="No second look has been drawn yet",
    ),
}
"""By `what` of the form: the code of a work, or one of the two kinds that are not a single work."""
OWN_FIELDS = {name for card in JOB_CARDS.values() for name in card.fields}
LISTS = {Work.AA: "A", Work.EA: "E", Work.MA: "M"}
ORDERS = {
    Orders.ONE: "as drawn",
    Orders.FIFTH: "both, in a fifth of the battles and at least 100",
    Orders.BOTH: "both, in every battle",
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

    what = forms.ChoiceField(choices=[(kind, card.title) for kind, card in JOB_CARDS.items()])
    priority = forms.IntegerField(required=False, min_value=-100, max_value=100, label="Priority")
    shown = TextField(required=False)
    source = TextField(
        max_length=200, label="Name of the grades", error_messages={"required": "say what they are to be called."}
    )

    condition = forms.ChoiceField(
        choices=[
            (work.value, f"{Condition(work).origin.words.capitalize()} ({code})") for work, code in LISTS.items()
        ],
        label="Nuggets",
    )
    orders = forms.ChoiceField(choices=[*ORDERS.items()], label="Sides")

    def __init__(self, viewer: User, campaign: Campaign, given: QueryDict) -> None:
        self.campaign = campaign
        self.studies = studies = {study.name: study for study in studies_for(viewer, campaign)}
        qrels = [row.name for row in sources_for(viewer, campaign)]
        sets = nugget_sets_for(viewer, campaign)
        runs = named(runs_for(viewer, campaign).values_list("run_id", flat=True))
        battles = list(BattleSet.objects.filter(campaign=campaign).values_list("name", flat=True))
        there = {"runs": runs, "qrels": qrels, "nuggets": _final(sets), "studies": studies, "battles": battles}
        self.unavailable = {
            kind: card.lacking for kind, card in JOB_CARDS.items() if not any(there[need] for need in card.needs)
        }
        data = _current(given)
        self.kind = data["what"] if data["what"] in JOB_CARDS else LABELS
        topics = list(topics_for(viewer, campaign).values_list("topic_id", "text"))
        _chosen_topics(data, [topic for topic, _ in topics])
        judges = callable_judges_for(viewer, campaign)
        self.judges = {judge.name: judge for judge in judges}
        usual = {
            "condition": _usual_condition(sets),
            "qrels": next((name for name in ("UMBRELA", *qrels) if name in qrels), ""),
            "study": next(iter(studies), ""),
            "set": next(iter(battles), ""),
            "orders": Orders.FIFTH.value,
        }
        for name, value in usual.items():
            data.setdefault(name, value)
        judge = judge_choice(judges, but=self._compared(data))
        data.setdefault("judge", judge.initial)
        data.setdefault("source", str(data["judge"]) or default_endpoint().model)
        super().__init__(data)
        self.fields["judge"] = judge
        self.fields["qrels"] = forms.ChoiceField(
            choices=named(qrels), required=False, label="Passages' grades from"
        )
        self.fields["study"] = forms.ChoiceField(choices=named(studies), label="Second look")
        self.fields["set"] = forms.ChoiceField(choices=named(battles), label="Battle set")
        self.fields["topics"] = ticks_field("Topics", topics)
        self.fields["runs"] = ticks_field("Runs", runs)
        self._offer_lists(sets, several_qrels=len(qrels) > 1)

    def _offer_lists(self, sets: Iterable[NamedSet], *, several_qrels: bool) -> None:
        condition = self.data["condition"]
        origin = Condition(condition).origin if condition in LISTS else ""
        fitting = named(_of_origin(sets, origin) if self.kind == LABELS else _final(sets))
        # Battles are judged without nuggets unless some are named, so that one list is a choice, too.
        beside = self.kind == Work.BATTLE
        self.fields["nuggets"] = choice_field("Nugget list", "none" if beside else "the one that fits", fitting)
        self._leave_out(origin, several_lists=len(fitting) > (not beside), several_qrels=several_qrels)

    @property
    def is_simulated(self) -> bool:
        judge = self.judges.get(self["judge"].value())
        return (judge.model if judge else default_endpoint().model) == SIMULATED_MODEL

    @property
    def endpoint_name(self) -> str:
        """Address to which the chosen judge's calls go, without user and password."""
        judge = self.judges.get(self["judge"].value())
        return Endpoint(base_url=judge.base_url).name if judge and judge.base_url else default_endpoint().name

    def _compared(self, data: QueryDict) -> int | None:
        """The LLM whose labels a second look compares cannot be the one that decides."""
        study = self.studies.get(str(data["study"])) if self.kind == SECOND_LOOK else None
        return study.judge_id if study else None

    def _leave_out(self, origin: str, *, several_lists: bool, several_qrels: bool) -> None:
        left_out = OWN_FIELDS - {*self.card.fields}
        if not several_lists and not self.data.get("nuggets"):
            left_out.add("nuggets")
        # Nuggets are made before labels only where they are automatic; with a single source there is no choice.
        if self.kind == LABELS and (origin != Condition.AA.origin or not several_qrels):
            left_out.add("qrels")
        for name in left_out:
            del self.fields[name]

    def clean_what(self) -> str:
        kind: str = self.cleaned_data["what"]
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
    def card(self) -> JobCard:
        return JOB_CARDS[self.kind]

    @property
    def cards(self) -> list[tuple[str, str, str, str]]:
        return [(kind, card.title, card.use, self.unavailable.get(kind, "")) for kind, card in JOB_CARDS.items()]

    @property
    def names_of_kinds(self) -> str:
        return " ".join(sorted(OWN_FIELDS))

    @property
    def own_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.card.fields if name in self.fields and name != "runs"]

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
            work=Work(values["condition"] if self.kind == LABELS else self.kind),
            judge=values.get("judge", ""),
            qrels=values.get("qrels", ""),
            nuggets=values.get("nuggets", ""),
            source=values.get("source", ""),
            set=values.get("set", ""),
            orders=Orders(values.get("orders", Orders.FIFTH)),
            topics=topics,
            runs=tuple(values.get("runs", ())),
            budget=self.budget,
            priority=values.get("priority") or 0,
        )

    def try_plan(self, topics: tuple[str, ...]) -> ReadyJob:
        """Plan the job, and write nothing. Raises `Refused`."""
        if self.kind == SECOND_LOOK:
            return self._plan_study(job_service.judge_to_try(self.cleaned_data["judge"]), topics)
        return job_service.try_plan(self.campaign, self.order(topics))

    def start(self, actor: User) -> Job:
        """Start the job. Raises `Refused`, also where nothing is to be done."""
        topics = tuple(self.cleaned_data["topics"])
        if self.kind == SECOND_LOOK:
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
        data["what"] = LABELS
    data.setdefault("what", LABELS)
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


def _usual_condition(sets: Iterable[NamedSet]) -> str:
    """Return a condition that has lists: beside a rubric that was loaded no nuggets are made."""
    return next((work.value for work in LISTS if _of_origin(sets, Condition(work).origin)), Work.AA.value)


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
