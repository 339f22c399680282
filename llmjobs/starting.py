"""Starting LLM jobs: what they would do, and having it done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from django.db import transaction

from accounts.models import User
from evaluation.domain.conditions import lists_to_label
from evaluation.errors import Refused
from evaluation.models import Campaign, Event, Judge, NuggetList, QrelSource, Study
from evaluation.services.judges import add_judge, judge_in, stored_judge
from evaluation.terms import Condition, JudgeKind, Origin
from jobs import queue
from jobs.models import Job, WorkItem
from jobs.queue import NewItem
from llmjobs import planning
from llmjobs.again import kept_calls, wanted_by, with_replicates
from llmjobs.budget import NO_LIMIT, Budget, announce, budget_payload, set_budget
from llmjobs.calls import find_calls
from llmjobs.endpoints import default_endpoint, endpoint_of
from llmjobs.forecasting import CostForecast, ForecastCall, forecast, forecast_call
from llmjobs.kinds import KINDS
from llmjobs.models import Call, LlmJob
from llmjobs.planning import JobPlan
from llmjobs.ways import way_of

SAMPLE = 500


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What an organizer asks for: everything, or the named topics and runs."""

    campaign: Campaign
    judge: Judge
    topics: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    budget: Budget = NO_LIMIT
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a job would do. Re-asks are not known before; `calls` counts what is sure.

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
    """Return the LLM judge of that name, or the endpoint's own: it need not be there yet, `start` writes it.

    Raises `Refused` for a person.
    """
    if name:
        judge = Judge.objects.filter(name=name).first()
        if judge is None:
            raise Refused("no_such_judge", f"There is no judge {name}; make it with add_judge {name} --by llm.")
        if judge.kind != JudgeKind.LLM or not judge.model or judge.aside:
            raise Refused("no_such_judge", f"{name} is no LLM that can be called.")
        return judge
    model = default_endpoint().model
    judge = Judge(name=model, kind=JudgeKind.LLM, model=model)
    return _written(judge) if Judge.objects.filter(name=model).exists() else judge


def _written(judge: Judge) -> Judge:
    """Return a judge as it is in the database. Raises `Refused` where another one has its name."""
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
    topics = planning.chosen_topics(campaign, request.topics)
    runs = [run.pk for run in planning.chosen_runs(campaign, request.runs)]
    lists = _lists(request, condition, nuggets, [topic.pk for topic in topics])
    items = planning.assign_items(lists.values(), runs, campaign.protocol.batch_size)
    plan = planning.unjudged(items, request.judge)
    missing = [topic for topic in topics if topic.pk not in lists]
    if condition.origin is Origin.AUTO and missing:
        nuggetizing = planning.nugget_items(campaign, missing, _source(campaign, qrels), "nuggets", runs)
        _add(plan, _after_failures(nuggetizing, request))
    else:
        plan.blocked = {topic.topic_id: f"no {condition.origin} nugget list" for topic in missing}
    return plan


def plan_drafts(request: JobRequest, *, qrels: str) -> JobPlan:
    """Plan the drafts that assessors post-edit, for topics without any by this judge."""
    campaign = request.campaign
    topics = planning.chosen_topics(campaign, request.topics)
    own = campaign.nugget_sets.filter(origin=Origin.DRAFT, name=f"{Origin.DRAFT}-{request.judge.name}")
    there = planning.newest_lists([(one, None) for one in own], [topic.pk for topic in topics])
    missing = [topic for topic in topics if topic.pk not in there]
    plan = planning.nugget_items(campaign, missing, _source(campaign, qrels), "drafts")
    plan.judged = len(there)
    return _after_failures(plan, request)


def plan_support(request: JobRequest) -> JobPlan:
    topics = [topic.pk for topic in planning.chosen_topics(request.campaign, request.topics)]
    runs = [run.pk for run in planning.chosen_runs(request.campaign, request.runs)]
    return planning.support_items(request.campaign, request.judge, topics, runs)


def study_request(study: Study, judge: Judge, topics: tuple[str, ...] = ()) -> JobRequest:
    """Return the request that an LLM judges a study's pairs, as the judge that it is in the study.

    Raises `Refused` for the LLM with which the person differs.
    """
    if judge.pk == study.machine_id:
        raise Refused("no_such_judge", f"{judge} is whom the study compares; name another LLM with --judge.")
    return JobRequest(study.campaign, judge_in(study, judge), topics)


def plan_study(request: JobRequest, study: Study) -> JobPlan:
    topics = [topic.pk for topic in planning.chosen_topics(study.campaign, request.topics)]
    return planning.drawn_items(study, request.judge, topics)


def plan_relevance(request: JobRequest, *, source: str) -> JobPlan:
    topics = planning.chosen_topics(request.campaign, request.topics)
    return _after_failures(planning.relevance_items(request.campaign, source, topics), request)


def _after_failures(plan: JobPlan, request: JobRequest) -> JobPlan:
    plan.items, plan.retried = with_replicates(plan.items, request.campaign, request.judge)
    return plan


def estimate(plan: JobPlan, judge: Judge) -> Estimate:
    """Calls, prompt tokens and reused calls, counted on the first ask of each item."""
    planned: list[ForecastCall] = []
    for start in range(0, len(plan.items), SAMPLE):
        planned += _first_asks(plan.items[start : start + SAMPLE], judge)
    known = find_calls(one.sha256 for one in planned)
    answered = {sha256 for sha256, call in known.items() if call.state == Call.State.ANSWERED}
    return Estimate(
        items=len(plan.items),
        calls=sum(one.calls for one in planned),
        reused=len(answered),
        tokens=sum(one.tokens for one in planned),
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
    """Queue a plan's items as a job, in one transaction with its event. `order`: what another judge can be asked."""
    with transaction.atomic():
        job = Job.objects.create(
            kind="llm", title=title, made_by=actor, priority=request.priority, options=queue.request_context()
        )
        llm = LlmJob(job=job, campaign=request.campaign, judge=_written(request.judge))
        announce(llm)
        set_budget(llm, request.budget)
        llm.save()
        queue.add_items(job, plan.items)
        payload = {"job": job.pk, "title": title, "judge": request.judge.name, "items": len(plan.items)}
        payload |= budget_payload(llm) | ({"order": dict(order)} if order else {})
        Event.objects.create(campaign=request.campaign, kind="job.started", actor=actor, payload=payload)
        queue.finish_jobs([job.pk])
    return job


def _first_asks(items: Sequence[NewItem], judge: Judge) -> list[ForecastCall]:
    # Of an item with several windows only the first ask is known before replies; the others are like it.
    rows = [WorkItem(key=item.key, kind=item.kind, payload=item.payload) for item in items]
    way, planned = way_of(judge), []
    for kind in {row.kind for row in rows}:
        some = [row for row in rows if row.kind == kind]
        steps = KINDS[kind].begin(some, [way] * len(some))
        for row, kept, step in zip(some, kept_calls(some), steps, strict=True):
            wanted = [wanted_by(row, ask, endpoint_of(judge), judge.model, kept) for ask in islice(step, 1)]
            planned += [forecast_call(one, _sure_calls(row)) for one in wanted]
            step.close()
    return planned


def _sure_calls(item: WorkItem) -> int:
    windows = item.payload.get("segments")
    return -(-len(windows) // item.payload["window_size"]) if windows else 1


def _add(plan: JobPlan, other: JobPlan) -> None:
    plan.items += other.items
    plan.blocked |= other.blocked
    plan.retried += other.retried
    plan.without_text += other.without_text


def _lists(request: JobRequest, condition: Condition, named: str, topics: list[int]) -> dict[int, NuggetList]:
    own = f"{condition.origin}-{request.judge.name}"
    sets = lists_to_label(request.campaign, condition, request.judge.name, nuggets=named, own=own)
    return planning.newest_lists(sets, topics)


def _source(campaign: Campaign, name: str) -> QrelSource:
    """Return the qrels to read by: the named ones, UMBRELA, or the only ones."""
    sources = {one.name: one for one in QrelSource.objects.filter(campaign=campaign)}
    wanted = name or ("UMBRELA" if "UMBRELA" in sources else next(iter(sources)) if len(sources) == 1 else "")
    if wanted not in sources:
        there = ", ".join(sources) or "none"
        raise Refused("ambiguous" if sources else "no_qrels", f"Say which qrels with --qrels; there are: {there}.")
    return sources[wanted]
