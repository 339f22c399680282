"""Trying prompts: the same few pairs that people have labelled, asked by each of them, outside of all reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import Count, QuerySet, Sum

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.errors import Refused
from evaluation.models import Campaign, Judge
from evaluation.terms import JudgeKind
from jobs import queue
from jobs.queue import JobProgress, NewItem
from llmjobs import job_service
from llmjobs.budget import NO_LIMIT, Budget, announced_price
from llmjobs.job_plan import JobPlan
from llmjobs.job_service import Estimate
from llmjobs.models import Call, CallUse, LlmJob, Trial, TrialJob, TriedLabels
from llmjobs.prompt_store import the_template, versions_of
from llmjobs.prompts.template import PromptTask
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL
from llmjobs.trial_drawing import Draw, draw

PAIRS, MOST_PAIRS, MOST_PROMPTS = 30, 200, 6
GREATEST_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TrialWish:
    """Order of a trial: prompts, model and endpoint, labels by people, and their number.

    `of`: a nugget set's name for `assign` and `importance`, a condition of people for `support`, a source of qrels for
    `relevance`. The budget is that of each prompt.
    """

    task: PromptTask
    refs: tuple[str, ...]
    like: Judge
    of: str
    pairs: int = PAIRS
    seed: int = 0
    structured: bool = False
    budget: Budget = NO_LIMIT

    @property
    def prompts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.refs))


@dataclass(frozen=True, slots=True)
class Tried:
    """One prompt of a trial: what people said of the pairs, and what it said; None where nothing is known yet.

    `tokens` and `cost` are of all calls behind it, also of those that were paid before; `cost` is None without a price.
    `top` is the highest grade of the scale, 0 where it is not grades that are tried.
    """

    prompt: str
    llm: LlmJob
    progress: JobProgress
    people: tuple[int, ...]
    labels: tuple[int | None, ...]
    calls: int
    tokens: int
    cost: Decimal | None
    simulated: bool
    top: int


def foretell(campaign: Campaign, wish: TrialWish) -> list[tuple[str, Estimate]]:
    """Return the cost of each prompt, and write nothing. Raises `Refused`."""
    items = _drawn(campaign, wish)
    return [(ref, job_service.estimate(JobPlan(items), _judge_aside(wish, ref))) for ref in wish.prompts]


def start_trial(campaign: Campaign, wish: TrialWish, actor: User | None) -> Trial:
    """Draw pairs and queue a job for each prompt. Raises `Refused`, and then nothing is written."""
    items = _drawn(campaign, wish)
    drawn = sum(len(item.payload["people"]) for item in items)
    with transaction.atomic():
        trial = Trial.objects.create(
            campaign=campaign, task=wish.task, of=wish.of, seed=wish.seed, pairs=drawn, made_by=actor
        )
        for ref in wish.prompts:
            judge = _judge_aside(wish, ref)
            judge.save()
            request = job_service.JobRequest(campaign, judge, budget=wish.budget)
            job = job_service.start(request, f"Try {ref}", JobPlan(list(items)), actor)
            TrialJob.objects.create(trial=trial, llm=job.llm, prompt=ref)
    return trial


def _drawn(campaign: Campaign, wish: TrialWish) -> list[NewItem]:
    """Return the items of each prompt. Raises `Refused` for a wish that makes no sense, or where there is nothing."""
    if not 1 <= len(wish.prompts) <= MOST_PROMPTS:
        raise Refused("bad_trial", f"Choose from 1 to {MOST_PROMPTS} prompts.")
    if not 1 <= wish.pairs <= MOST_PAIRS or not 0 <= wish.seed <= GREATEST_SEED:
        raise Refused(
            "bad_trial", f"Pairs lie between 1 and {MOST_PAIRS}, the seed between 0 and {GREATEST_SEED}."
        )
    for ref in wish.prompts:
        the_template(ref, wish.task)
    items = draw(campaign, wish.task, Draw(wish.of, wish.pairs, wish.seed))
    if not items:
        raise Refused(
            "nothing_to_try", f"People have labelled nothing of {wish.of} yet; there is nothing to compare with."
        )
    return items


def _judge_aside(wish: TrialWish, ref: str) -> Judge:
    """Judge of a prompt on trial, not stored where it is new."""
    # Set aside: its labels are in no report.
    versions = versions_of({wish.task: ref}, structured=wish.structured)
    like = wish.like
    same = Judge.objects.filter(
        kind=JudgeKind.LLM, aside=True, study=None, model=like.model, base_url=like.base_url
    )
    there = next((one for one in same if one.prompt_versions == versions), None)
    if there:
        return there
    name = f"on trial: {ref}, {like.name}"[:150] + (", JSON" if wish.structured else "")
    if Judge.objects.filter(name=name).exists():
        name = f"{name} ({Judge.objects.filter(name__startswith=name).count() + 1})"
    return Judge(
        name=name,
        kind=JudgeKind.LLM,
        model=like.model,
        base_url=like.base_url,
        aside=True,
        prompt_versions=versions,
    )


def trials_for(viewer: User, campaign: Campaign) -> QuerySet[Trial]:
    trials = Trial.objects.filter(campaign__in=within(viewer, campaign))
    return trials.select_related("made_by").prefetch_related("jobs").order_by("-pk")


def trial_for(viewer: User, campaign: Campaign, pk: int) -> Trial:
    return trials_for(viewer, campaign).get(pk=pk)


def outcome_of(trial: Trial) -> list[Tried]:
    jobs = TrialJob.objects.filter(trial=trial).select_related("llm__job", "llm__judge").order_by("llm")
    return [_tried(job) for job in jobs]


def _tried(one: TrialJob) -> Tried:
    items = list(one.llm.job.items.order_by("pk"))
    labels = dict(TriedLabels.objects.filter(item__in=items).values_list("item", "labels"))
    people: list[int] = []
    given: list[int | None] = []
    for item in items:
        known: Sequence[int] = item.payload["people"]
        people += known
        given += labels.get(item.pk, [None] * len(known))
    calls = Call.objects.filter(pk__in=CallUse.objects.filter(item__in=items).order_by().values("call"))
    sums = calls.aggregate(n=Count("pk"), prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens"))
    prompt, completion, price = sums["prompt"] or 0, sums["completion"] or 0, announced_price(one.llm)
    return Tried(
        prompt=one.prompt,
        llm=one.llm,
        progress=queue.progress_of(one.llm.job),
        people=tuple(people),
        labels=tuple(given),
        calls=sums["n"],
        tokens=prompt + completion,
        cost=price.of(prompt, completion) if price else None,
        top=max((item.payload.get("top", 0) for item in items), default=0),
        simulated=one.llm.judge.model == SIMULATED_MODEL or calls.filter(model_answered=SIMULATED_MODEL).exists(),
    )
