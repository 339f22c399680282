"""Orders of LLM jobs, from a dry run to a retry. Each act that changes something is an event."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import islice
from math import ceil

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from evaluation.battles import battle_set_named
from evaluation.domain.conditions import lists_to_label, only_set
from evaluation.errors import Refused, no_such
from evaluation.judges import add_judge, check_source, judge_in, stored_judge
from evaluation.models import Campaign, Event, Judge, NuggetList, NuggetSet, QrelSource, Study, Topic
from evaluation.rules.battles import Orders
from evaluation.terms import Condition, JudgeKind, Origin
from jobs import queue
from jobs.models import Job, WorkItem
from jobs.queue import NewItem
from llmjobs import job_plan
from llmjobs.budget import (
    NO_LIMIT,
    Budget,
    CostForecast,
    ForecastCall,
    announce,
    budget_payload,
    forecast,
    set_budget,
)
from llmjobs.client import default_endpoint, endpoint_at
from llmjobs.engine.calls import call_for, find_calls, kept_calls, with_replicates
from llmjobs.job_plan import JobPlan
from llmjobs.kinds import ITEM_KINDS
from llmjobs.models import Call, LlmJob
from llmjobs.prompt_store import way_of
from llmjobs.prompts.template import NO_TEXTS

SAMPLE = 500


@dataclass(frozen=True, slots=True)
class JobRequest:
    """Request of a job: everything, or the named topics and runs."""

    campaign: Campaign
    judge: Judge
    topics: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    budget: Budget = NO_LIMIT
    priority: int = 0

    def chosen_topics(self) -> list[Topic]:
        topics = self.campaign.topics.all()
        return list(topics.filter(topic_id__in=self.topics) if self.topics else topics)

    def chosen_runs(self) -> list[int]:
        runs = self.campaign.runs.all()
        return list((runs.filter(run_id__in=self.runs) if self.runs else runs).values_list("pk", flat=True))


@dataclass(frozen=True, slots=True)
class ExpectedCost:
    """Estimate of a job. Re-asks are not known before; `calls` counts those that are sure.

    `tokens` are of the prompts, at 4/3 of their words; `reused` calls were answered before and cost nothing; `again`
    counts the items that ask anew for what failed. `forecast` is of the calls that are not reused.
    """

    items: int
    calls: int
    reused: int
    tokens: int
    judged: int
    again: int
    without_text: int
    forecast: CostForecast
    blocked: dict[str, str] = field(default_factory=dict)


def judge_for(name: str) -> Judge:
    """Return the LLM judge of that name, or the endpoint's own, which `start` writes where it is new.

    Raises `Refused` for a person.
    """
    if name:
        judge = Judge.objects.filter(name=name).first()
        if judge is None:
            raise Refused("no_such_judge", f"There is no judge {name}; make it first.")
        if judge.kind != JudgeKind.LLM or not judge.model or judge.aside:
            raise Refused("no_such_judge", f"{name} is no LLM that can be called.")
        return judge
    model = default_endpoint().model
    judge = Judge(name=model, kind=JudgeKind.LLM, model=model)
    return _stored(judge) if Judge.objects.filter(name=model).exists() else judge


def _stored(judge: Judge) -> Judge:
    """Return a judge as it is in the database. Raises `Refused` where another judge has its name."""
    if judge.pk or judge.study:
        return stored_judge(judge)
    return add_judge(name=judge.name, kind=JudgeKind.LLM, model=judge.model)[0]


def plan_evaluation(request: JobRequest, condition: Condition, *, qrels: str = "", nuggets: str = "") -> JobPlan:
    """Plan AutoAssign under a condition, with AutoNuggets first where the condition is A/A and a topic has no list.

    Raises `Refused` (`usage`) for conditions in which people assign.
    """
    if condition.judge_kind is not JudgeKind.LLM:
        raise Refused("usage", f"In {condition} people assign; evaluate does A/A, E/A and M/A.")
    campaign = request.campaign
    topics, runs = request.chosen_topics(), request.chosen_runs()
    lists = _lists_to_label(request, condition, nuggets, topics)
    items = job_plan.assign_items(lists.values(), runs, campaign.protocol.batch_size)
    plan = job_plan.unjudged(items, request.judge)
    missing = [topic for topic in topics if topic.pk not in lists]
    if condition.origin is Origin.AUTO and missing:
        first = job_plan.nugget_items(campaign, missing, _source(campaign, qrels), "nuggets", runs)
        _repeat_failures(first, request)
        plan.items += first.items
        plan.blocked |= first.blocked
        plan.retried += first.retried
        plan.without_text += first.without_text
    else:
        plan.blocked = {topic.topic_id: f"no {condition.origin} nugget list" for topic in missing}
    return plan


def _lists_to_label(
    request: JobRequest, condition: Condition, nuggets: str, topics: Sequence[Topic]
) -> dict[int, NuggetList]:
    own = f"{condition.origin}-{request.judge.name}"
    sets = lists_to_label(request.campaign, condition, request.judge.name, nuggets=nuggets, own=own)
    return job_plan.newest_lists(sets, [topic.pk for topic in topics])


def plan_lists(request: JobRequest, origin: Origin, *, qrels: str) -> JobPlan:
    """Plan automatic lists, or the drafts that assessors post-edit, for topics without any by this judge.

    Another model may make lists of its own.
    """
    own = request.campaign.nugget_sets.filter(origin=origin, name=f"{origin}-{request.judge.name}")
    source, kind = _source(request.campaign, qrels), "drafts" if origin is Origin.DRAFT else "nuggets"
    return _plan_missing(
        request, own, lambda topics: job_plan.nugget_items(request.campaign, topics, source, kind)
    )


def plan_rubrics(request: JobRequest, *, nuggets: str = "") -> JobPlan:
    """Plan draft rubrics from the lists of a set, for topics without any by this judge.

    `nuggets`: name of the set; default the only one that is no drafts. Raises `Refused`.
    """
    nugget_set = _final_set(request.campaign, nuggets)
    own = request.campaign.nugget_sets.filter(name=job_plan.rubrics_name(request.judge))
    return _plan_missing(request, own, partial(job_plan.rubric_items, nugget_set))


def _plan_missing(
    request: JobRequest, own: QuerySet[NuggetSet], plan_of: Callable[[list[Topic]], JobPlan]
) -> JobPlan:
    """Plan for the topics of which none of the judge's `own` sets has a list."""
    topics = request.chosen_topics()
    there = job_plan.newest_lists([(mine, None) for mine in own], [topic.pk for topic in topics])
    plan = plan_of([topic for topic in topics if topic.pk not in there])
    plan.judged = len(there)
    _repeat_failures(plan, request)
    return plan


def _final_set(campaign: Campaign, name: str) -> NuggetSet:
    """Return a set that is no drafts; without a name the only one. Raises `Refused`."""
    sets = campaign.nugget_sets.exclude(origin=Origin.DRAFT)
    nugget_set = only_set(list(sets.filter(name=name) if name else sets), "a rubric")
    if nugget_set is None:
        raise no_such("no_such_set", f"nugget set {name}".strip(), sets.values_list("name", flat=True))
    return nugget_set


def plan_support(request: JobRequest) -> JobPlan:
    topics = [topic.pk for topic in request.chosen_topics()]
    return job_plan.support_items(request.campaign, request.judge, topics, request.chosen_runs())


def study_request(study: Study, judge: Judge, topics: tuple[str, ...] = ()) -> JobRequest:
    """Return the request that an LLM judges a study's pairs, as the judge that it is in the study.

    Raises `Refused` for the LLM with which the person differs.
    """
    if judge.pk == study.judge_id:
        raise Refused("no_such_judge", f"{judge} is whom the study compares; name another LLM.", field="judge")
    return JobRequest(study.campaign, judge_in(study, judge), topics)


def plan_study(request: JobRequest, study: Study) -> JobPlan:
    return job_plan.drawn_items(study, request.judge, [topic.pk for topic in request.chosen_topics()])


def plan_relevance(request: JobRequest, *, source: str) -> JobPlan:
    """Plan grades of a source. Raises `Refused` for a name that no source can have."""
    source = check_source(source)
    plan = job_plan.relevance_items(request.campaign, source, request.chosen_topics())
    _repeat_failures(plan, request)
    return plan


def plan_battles(
    request: JobRequest, set_name: str = "", orders: Orders = Orders.FIFTH, nuggets: str = ""
) -> JobPlan:
    """Plan verdicts on a set's battles, beside the nuggets of a set where one is named.

    `set_name`: default the only set. Raises `Refused`, also where the judge's prompt has another use for nuggets.
    """
    battle_set = battle_set_named(request.campaign, set_name)
    nugget_set = _final_set(request.campaign, nuggets) if nuggets else None
    template = way_of(request.judge).template("battle", NO_TEXTS, variant=bool(nuggets))
    if ("nuggets" in template.placeholders) is not bool(nuggets):
        text = (
            f"{template.ref} {'has no place for nuggets' if nuggets else 'asks for nuggets: name a nugget set'}."
        )
        raise Refused("usage", text, field="nuggets")
    return job_plan.battle_items(battle_set, request.judge, request.chosen_topics(), orders, nugget_set)


def _repeat_failures(plan: JobPlan, request: JobRequest) -> None:
    plan.items, plan.retried = with_replicates(plan.items, request.campaign, request.judge)


def estimate(plan: JobPlan, judge: Judge) -> ExpectedCost:
    """Calls, prompt tokens and reused calls, counted on the first ask of each item."""
    planned: list[ForecastCall] = []
    for start in range(0, len(plan.items), SAMPLE):
        planned += _first_calls(plan.items[start : start + SAMPLE], judge)
    calls = find_calls(call.sha256 for call in planned)
    answered = {sha256 for sha256, call in calls.items() if call.state == Call.State.ANSWERED}
    return ExpectedCost(
        items=len(plan.items),
        calls=sum(call.calls for call in planned),
        reused=len(answered),
        tokens=sum(call.tokens for call in planned),
        forecast=forecast(planned, answered, judge),
        judged=plan.judged,
        again=plan.retried,
        without_text=plan.without_text,
        blocked=plan.blocked,
    )


def start(
    request: JobRequest,
    title: str,
    plan: JobPlan,
    actor: User | None = None,
    order: Mapping[str, object] | None = None,
) -> Job:
    """Queue a plan's items as a job, in one transaction with its event. `order`: as another judge can be given it."""
    with transaction.atomic():
        job = Job.objects.create(
            kind="llm", title=title, made_by=actor, priority=request.priority, options=queue.request_context()
        )
        llm = LlmJob(job=job, campaign=request.campaign, judge=_stored(request.judge))
        announce(llm)
        set_budget(llm, request.budget)
        llm.save()
        queue.add_items(job, plan.items)
        payload = {"job": job.pk, "title": title, "judge": request.judge.name, "items": len(plan.items)}
        payload |= budget_payload(llm) | ({"order": dict(order)} if order else {})
        Event.objects.create(campaign=request.campaign, kind="job.started", actor=actor, payload=payload)
        queue.finish_jobs([job.pk])
    return job


def _first_calls(items: Sequence[NewItem], judge: Judge) -> list[ForecastCall]:
    # Of an item with several windows only the first ask is known before replies; the others are like it.
    rows = [WorkItem(key=item.key, kind=item.kind, payload=item.payload) for item in items]
    way, planned = way_of(judge), []
    for kind in {row.kind for row in rows}:
        same = [row for row in rows if row.kind == kind]
        steps = ITEM_KINDS[kind].begin(same, [way] * len(same))
        for row, kept, step in zip(same, kept_calls(same), steps, strict=True):
            segments = row.payload.get("segments")
            windows = ceil(len(segments) / row.payload["window_size"]) if segments else 1
            # An item that is labelled by rule asks nothing.
            for ask in islice(step, 1):
                call = call_for(row, ask, endpoint_at(judge.base_url), judge.model, kept)
                tokens = round(call.prompt_tokens * windows)
                planned.append(ForecastCall(call.sha256, ask.task, ask.template, windows, tokens))
            step.close()
    return planned


def _source(campaign: Campaign, name: str) -> QrelSource:
    """Return the qrels to read by: the named ones, UMBRELA, or the only ones."""
    sources = {source.name: source for source in QrelSource.objects.filter(campaign=campaign)}
    source_name = name or ("UMBRELA" if "UMBRELA" in sources else next(iter(sources)) if len(sources) == 1 else "")
    if source_name not in sources:
        if not sources:
            text = "No passage is graded yet: load graded passages, or have an LLM grade them."
            raise Refused("no_qrels", text, field="qrels")
        text = f"Say which qrels; there are: {', '.join(sources)}."
        raise Refused("ambiguous", text, field="qrels", choices=[*sources])
    return sources[source_name]


class Work(StrEnum):
    """What an LLM can be asked to judge."""

    AA = "A/A"
    EA = "E/A"
    MA = "M/A"
    NUGGETS = "nuggets"
    DRAFTS = "drafts"
    RUBRIC = "rubric"
    SUPPORT = "support"
    RELEVANCE = "relevance"
    BATTLE = "battle"

    @property
    def job_title(self) -> str:
        return WORK_KINDS[self].title

    def plan(self, request: JobRequest, order: "JobOrder") -> JobPlan:
        """Raises `Refused`."""
        return WORK_KINDS[self].plan(request, order)


@dataclass(frozen=True, slots=True)
class JobOrder:
    """A job: what, by whom, and about which topics and runs; none named means all.

    `source`: under which name new grades go. `qrels`: by whose grades passages are read. `set`: whose battles are
    judged, and in which `orders`.
    """

    work: Work
    judge: str = ""
    qrels: str = ""
    nuggets: str = ""
    source: str = ""
    set: str = ""
    orders: Orders = Orders.FIFTH
    topics: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    budget: Budget = NO_LIMIT
    priority: int = 0

    @property
    def payload(self) -> dict[str, object]:
        """Order as events store it, without judge and budget."""
        names = {"qrels": self.qrels, "nuggets": self.nuggets, "source": self.source, "set": self.set}
        names |= {"orders": self.orders.value} if self.work is Work.BATTLE else {}
        lists = {"topics": list(self.topics), "runs": list(self.runs)}
        return {"work": self.work.value} | {name: value for name, value in (names | lists).items() if value}


@dataclass(frozen=True, slots=True)
class WorkKind:
    """A kind of work: the title of its jobs, and how one is planned."""

    title: str
    plan: Callable[[JobRequest, JobOrder], JobPlan]


def _labelling(condition: Condition) -> WorkKind:
    return WorkKind(
        f"Label answers, {condition.origin.words}",
        lambda request, order: plan_evaluation(request, condition, qrels=order.qrels, nuggets=order.nuggets),
    )


WORK_KINDS = {
    Work.AA: _labelling(Condition.AA),
    Work.EA: _labelling(Condition.EA),
    Work.MA: _labelling(Condition.MA),
    Work.NUGGETS: WorkKind(
        "Make nuggets", lambda request, order: plan_lists(request, Origin.AUTO, qrels=order.qrels)
    ),
    Work.DRAFTS: WorkKind(
        "Make drafts", lambda request, order: plan_lists(request, Origin.DRAFT, qrels=order.qrels)
    ),
    Work.RUBRIC: WorkKind(
        "Rubric from nuggets", lambda request, order: plan_rubrics(request, nuggets=order.nuggets)
    ),
    Work.SUPPORT: WorkKind("Judge citations", lambda request, _: plan_support(request)),
    Work.RELEVANCE: WorkKind(
        "Grade passages", lambda request, order: plan_relevance(request, source=order.source)
    ),
    Work.BATTLE: WorkKind(
        "Compare answers",
        lambda request, order: plan_battles(request, order.set, order.orders, order.nuggets),
    ),
}


@dataclass(frozen=True, slots=True)
class ReadyJob:
    """A job that is planned. `order`: as its event stores it."""

    request: JobRequest
    title: str
    plan: JobPlan
    order: dict[str, object]


def try_plan(campaign: Campaign, order: JobOrder) -> ReadyJob:
    """Plan a job, which may have nothing to do, and write nothing. Raises `Refused`."""
    return _ready(campaign, judge_to_try(order.judge), order)


def estimate_job(campaign: Campaign, order: JobOrder) -> ExpectedCost:
    """Return a job's estimate, and write nothing. Raises `Refused`."""
    ready = try_plan(campaign, order)
    return estimate(ready.plan, ready.request.judge)


def plan_job(campaign: Campaign, order: JobOrder) -> ReadyJob:
    """Plan a job, which takes a while and no lock. Raises `Refused`, also where nothing is to be done."""
    ready = _ready(campaign, judge_for(order.judge), order)
    refuse_empty(ready.plan)
    return ready


def refuse_empty(plan: JobPlan) -> None:
    if not plan.items:
        done = f"Nothing to do: {plan.judged:,} done already."
        why = "; ".join(f"{topic}: {reason}" for topic, reason in plan.blocked.items())
        raise Refused("nothing_to_do", " ".join(filter(None, (done, why))))


def start_job(ready: ReadyJob, actor: User) -> Job:
    return start(ready.request, ready.title, ready.plan, actor, ready.order)


def order_of(llm: LlmJob) -> dict[str, object] | None:
    """Order of a job, to be given to another judge; None where it is not on record."""
    started = Event.objects.filter(campaign=llm.campaign, kind="job.started", payload__job=llm.pk).first()
    order: dict[str, object] | None = started.payload.get("order") if started else None
    return order


def cancel(llm: LlmJob, actor: User | None) -> int:
    """Cancel what is left of a job; return how many items will not be done. Raises `Refused` when it has ended."""
    if llm.job.has_ended:
        raise Refused("job_ended", "This job has ended already; there is nothing to cancel.")
    with transaction.atomic():
        left = queue.cancel(llm.job)
        _note("job.cancelled", llm, actor, left)
    return left


def pause(llm: LlmJob, actor: User | None) -> None:
    """Let a job rest until somebody resumes it. Raises `Refused` where it does not run."""
    with transaction.atomic():
        if not queue.pause(llm.pk):
            raise Refused("not_running", "This job does not run; there is nothing to pause.")
        _note("job.paused", llm, actor, queue.progress_of(llm.job).queued)


def resume(llm: LlmJob, actor: User | None, budget: Budget | None = None) -> None:
    """Have a paused job go on, under the given budget if any. Raises `Refused` where it is not paused."""
    with transaction.atomic():
        if budget is not None:
            set_budget(llm, budget)
            llm.save(update_fields=["most_calls", "most_tokens", "most_money"])
        if not queue.resume(llm.pk):
            raise Refused("not_paused", "This job is not paused; there is nothing to resume.")
        _note("job.resumed", llm, actor, queue.progress_of(llm.job).queued)


def prefer(llm: LlmJob, actor: User | None, priority: int) -> None:
    with transaction.atomic():
        llm.job.priority = priority
        llm.job.save(update_fields=["priority"])
        _note("job.priority", llm, actor, queue.progress_of(llm.job).queued)


def retry(llm: LlmJob, actor: User | None) -> int:
    """Queue a job's failed items again; return how many. Raises `Refused` when there are none."""
    with transaction.atomic():
        retried = queue.retry_failed(llm.job)
        if not retried:
            raise Refused("none_failed", "No item of this job has failed; there is nothing to retry.")
        _note("job.retried", llm, actor, retried)
    return retried


def judge_to_try(name: str) -> Judge:
    """Return the judge of that name, or the endpoint's own; a dry run writes nothing. Raises `Refused`."""
    if name:
        return judge_for(name)
    # A judge of key 0 has labelled nothing, which is true of a new judge.
    model = default_endpoint().model
    there = Judge.objects.filter(name=model).first()
    return there or Judge(pk=0, name=model, kind=JudgeKind.LLM, model=model)


def _ready(campaign: Campaign, judge: Judge, order: JobOrder) -> ReadyJob:
    request = JobRequest(campaign, judge, order.topics, order.runs, order.budget, order.priority)
    return ReadyJob(request, order.work.job_title, order.work.plan(request, order), order.payload)


def _note(kind: str, llm: LlmJob, actor: User | None, items: int) -> None:
    payload = {"job": llm.pk, "title": llm.job.title, "items": items, "priority": llm.job.priority}
    payload |= budget_payload(llm)
    Event.objects.create(campaign=llm.campaign, kind=kind, actor=actor, payload=payload)
