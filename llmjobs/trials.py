"""Trials of prompts: a few pairs that people have labelled, labelled by each prompt outside of all reports."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from random import Random
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet, Sum

from accounts.models import User
from evaluation.campaigns.access import within
from evaluation.errors import Refused
from evaluation.judges import PARAMETERS
from evaluation.labels import CITATION_LABELS, LEFT_POINTS, NUGGET_LABELS
from evaluation.models import (
    Assignment,
    BattleSet,
    Campaign,
    Judge,
    ListedNugget,
    NuggetList,
    Qrel,
    SupportJudgment,
    Verdict,
)
from evaluation.terms import Importance, JudgeKind, SupportCondition
from jobs import queue
from jobs.queue import JobProgress, NewItem
from llmjobs import job_service
from llmjobs.budget import NO_LIMIT, Budget, announced_price, without_counts_q
from llmjobs.job_plan import JobPlan
from llmjobs.job_service import ExpectedCost
from llmjobs.kinds import WEIGHED, winner_code
from llmjobs.models import Call, CallUse, LlmJob, Trial, TrialJob, TriedLabels
from llmjobs.prompt_store import the_template, way_of
from llmjobs.prompts.template import PromptTask
from llmjobs.prompts.texts import TEMPLATES
from llmjobs.simulator.answering import MODEL as SIMULATED_MODEL

PAIRS, MOST_PAIRS, MOST_PROMPTS = 20, 200, 6
GREATEST_SEED = 2**31 - 1
# Answers whose labels are read at a time: a trial of 20 pairs must not read a campaign's whole labels.
ANSWERS_A_QUERY = 50
Groups = dict[int, list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class TrialOrder:
    """Order of a trial: prompts, the judge whose model is asked as it asks it, labels by people, and their number.

    The prompt by which the judge asks now is tried as well, before the others, so that they stand beside it.
    `of`: a nugget set's name for `assign` and `importance`, a condition of people for `support`, a source of qrels for
    `relevance`, a battle set for `battle`. The seed alone decides which pairs are drawn. The budget is each prompt's.
    """

    task: PromptTask
    refs: tuple[str, ...]
    like: Judge
    of: str
    pairs: int = PAIRS
    seed: int = 0
    budget: Budget = NO_LIMIT

    @property
    def prompts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.in_use, *self.refs)))

    @property
    def in_use(self) -> str:
        return way_of(self.like).templates[self.task].ref


@dataclass(frozen=True, slots=True)
class Tried:
    """One prompt of a trial: labels by people and by the prompt on the same pairs; None where none is known yet.

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


def foretell(campaign: Campaign, order: TrialOrder) -> list[tuple[str, ExpectedCost]]:
    """Return the cost of each prompt, and write nothing. Raises `Refused`."""
    items = _checked_draw(campaign, order)
    return [(ref, job_service.estimate(JobPlan(items), _judge_aside(order, ref))) for ref in order.prompts]


def start_trial(campaign: Campaign, order: TrialOrder, actor: User | None) -> Trial:
    """Draw pairs and queue a job for each prompt. Raises `Refused`, and then nothing is written."""
    items = _checked_draw(campaign, order)
    drawn = sum(len(item.payload["people"]) for item in items)
    with transaction.atomic():
        trial = Trial.objects.create(
            campaign=campaign, task=order.task, of=order.of, seed=order.seed, pairs=drawn, made_by=actor
        )
        for ref in order.prompts:
            judge = _judge_aside(order, ref)
            judge.save()
            request = job_service.JobRequest(campaign, judge, budget=order.budget)
            job = job_service.start(request, f"Try {ref}", JobPlan(list(items)), actor)
            TrialJob.objects.create(trial=trial, llm=job.llm, prompt=ref)
    return trial


def _checked_draw(campaign: Campaign, order: TrialOrder) -> list[NewItem]:
    """Return the items of each prompt. Raises `Refused` for a order that makes no sense, or where there is nothing."""
    if not 1 <= len(order.prompts) <= MOST_PROMPTS:
        raise Refused("bad_trial", f"Choose from 1 to {MOST_PROMPTS} prompts.")
    if not 1 <= order.pairs <= MOST_PAIRS or not 0 <= order.seed <= GREATEST_SEED:
        raise Refused(
            "bad_trial", f"Pairs lie between 1 and {MOST_PAIRS}, the seed between 0 and {GREATEST_SEED}."
        )
    for ref in order.prompts:
        template = the_template(ref, order.task)
        if order.task == "battle" and "nuggets" in template.placeholders:
            raise Refused("bad_trial", f"{ref} asks for nuggets, and battles are tried without.")
    items = draw(campaign, order.task, order.of, order.pairs, order.seed)
    if not items:
        raise Refused(
            "nothing_to_try", f"People have labelled nothing of {order.of} yet; there is nothing to compare with."
        )
    return items


def _judge_aside(order: TrialOrder, ref: str) -> Judge:
    """Judge of a prompt on trial, not stored where it is new."""
    # Set aside: its labels are in no report.
    like = order.like
    versions = {name: text for name, text in like.prompt_versions.items() if name in PARAMETERS}
    # A judge without a choice asks by another built-in prompt where a topic has texts; so is it tried.
    if order.task in like.prompt_versions or ref != TEMPLATES[order.task].ref:
        versions[order.task] = ref
    same = Judge.objects.filter(
        kind=JudgeKind.LLM, aside=True, study=None, model=like.model, base_url=like.base_url
    )
    for judge in same:
        if judge.prompt_versions == versions:
            return judge
    name = f"on trial: {ref}, {like.name}"[:150]
    if Judge.objects.filter(name=name).exists():
        name = f"{name} ({Judge.objects.filter(name__startswith=name).count() + 1})"
    description = {"model": like.model, "base_url": like.base_url, "prompt_versions": versions}
    return Judge(name=name, kind=JudgeKind.LLM, aside=True, **description)


def trials_for(viewer: User, campaign: Campaign) -> QuerySet[Trial]:
    trials = Trial.objects.filter(campaign__in=within(viewer, campaign))
    return trials.select_related("made_by").prefetch_related("jobs").order_by("-pk")


def trial_for(viewer: User, campaign: Campaign, pk: int) -> Trial:
    return trials_for(viewer, campaign).get(pk=pk)


def outcome_of(trial: Trial) -> list[Tried]:
    jobs = TrialJob.objects.filter(trial=trial).select_related("llm__job", "llm__judge").order_by("llm")
    return [_tried(job) for job in jobs]


def _tried(job: TrialJob) -> Tried:
    items = list(job.llm.job.items.order_by("pk"))
    labels = dict(TriedLabels.objects.filter(item__in=items).values_list("item", "labels"))
    people: list[int] = []
    labels_of_job: list[int | None] = []
    for item in items:
        grades: Sequence[int] = item.payload["people"]
        people += grades
        labels_of_job += labels.get(item.pk, [None] * len(grades))
    calls = Call.objects.filter(pk__in=CallUse.objects.filter(item__in=items).order_by().values("call"))
    sums = calls.aggregate(
        n=Count("pk"),
        prompt=Sum("prompt_tokens"),
        completion=Sum("completion_tokens"),
        uncounted=Count("pk", filter=without_counts_q()),
    )
    prompt, completion, price = sums["prompt"] or 0, sums["completion"] or 0, announced_price(job.llm)
    return Tried(
        prompt=job.prompt,
        llm=job.llm,
        progress=queue.progress_of(job.llm.job),
        people=tuple(people),
        labels=tuple(labels_of_job),
        calls=sums["n"],
        tokens=prompt + completion,
        cost=price.of(prompt, completion) if price and not sums["uncounted"] else None,
        top=max((item.payload.get("top", 0) for item in items), default=0),
        simulated=job.llm.judge.model == SIMULATED_MODEL or calls.filter(model_answered=SIMULATED_MODEL).exists(),
    )


@dataclass(frozen=True, slots=True)
class LastTrial:
    """The newest trial of a prompt that has given labels: `same` of its `pairs` have the label that people gave."""

    trial: int
    pairs: int
    same: int


def last_trials(viewer: User, campaign: Campaign) -> dict[str, LastTrial]:
    jobs = TrialJob.objects.filter(trial__in=trials_for(viewer, campaign), llm__job__items__tried__isnull=False)
    newest = {job.prompt: job for job in jobs.order_by("llm")}
    pairs = defaultdict[int, list[tuple[int, int]]](list)
    tried = TriedLabels.objects.filter(item__job__in=[job.llm_id for job in newest.values()])
    for row in tried.select_related("item"):
        pairs_of_item = zip(row.item.payload["people"], row.labels, strict=True)
        pairs[row.item.job_id] += [pair for pair in pairs_of_item if pair[1] >= 0]
    return {
        prompt: LastTrial(job.trial_id, len(known), sum(people == label for people, label in known))
        for prompt, job in newest.items()
        if (known := pairs[job.llm_id])
    }


def labelled_by_people(campaign: Campaign, task: PromptTask) -> list[str]:
    """Names of what people have labelled: nugget sets, conditions of support, or qrels."""
    match task:
        case "assign":
            of_set = _assigned(campaign).filter(nugget_version__nugget__nugget_set=OuterRef("pk"))
            return list(
                campaign.nugget_sets.filter(Exists(of_set)).order_by("name").values_list("name", flat=True)
            )
        case "support":
            return [str(name) for name in SupportCondition if _supported(campaign).filter(condition=name).exists()]
        case "importance":
            names = _weighed(campaign).order_by().values_list("nugget_list__nugget_set__name", flat=True)
            return sorted(names.distinct())
        case "relevance":
            of_source = _graded(campaign).filter(source=OuterRef("pk"))
            return list(campaign.qrel_sources.filter(Exists(of_source)).values_list("name", flat=True))
        case "battle":
            compared = _compared(campaign).filter(battle__battle_set=OuterRef("pk"))
            sets = BattleSet.objects.filter(Exists(compared), campaign=campaign)
            return list(sets.values_list("name", flat=True))
        case _:
            raise KeyError(task)


def draw(campaign: Campaign, task: PromptTask, of: str, pairs: int, seed: int) -> list[NewItem]:
    """Items of a trial, each with `people`'s codes in the order of its pairs."""
    return DRAWINGS[task](campaign, of, pairs, seed)


def _assigned(campaign: Campaign) -> QuerySet[Assignment]:
    return Assignment.objects.current().filter(
        nugget_version__nugget__nugget_set__campaign=campaign,
        judge__kind=JudgeKind.HUMAN,
        judge__aside=False,
        label__in=NUGGET_LABELS.codes,
        answer__words__gt=0,
    )


def _assign_items(campaign: Campaign, of: str, pairs: int, seed: int) -> list[NewItem]:
    labels = _assigned(campaign).filter(nugget_version__nugget__nugget_set__name=of)
    answers = _shuffled(labels.values_list("answer", flat=True), seed)
    # Read once: each look at a campaign's protocol is a query.
    size, batches = campaign.protocol.batch_size, list[tuple[int, list[tuple[int, int]]]]()
    for start in range(0, len(answers), ANSWERS_A_QUERY):
        chunk = answers[start : start + ANSWERS_A_QUERY]
        rows = labels.filter(answer__in=chunk).order_by("given_at", "pk")
        labels_of = _first_labels(rows.values_list("answer", "nugget_version", "label"))
        batches += [(answer, labels_of[answer]) for answer in chunk if answer in labels_of]
        if sum(min(len(batch), size) for _, batch in batches) >= pairs:
            break
    return _batch_items("answer", "try_assign", batches, size, pairs)


def _supported(campaign: Campaign) -> QuerySet[SupportJudgment]:
    labels = SupportJudgment.objects.current().exclude(condition=SupportCondition.LLM)
    return labels.filter(
        segment__campaign=campaign,
        segment__has_text=True,
        judge__kind=JudgeKind.HUMAN,
        judge__aside=False,
        label__in=CITATION_LABELS.codes,
    )


def _support_items(campaign: Campaign, of: str, pairs: int, seed: int) -> list[NewItem]:
    labels = _supported(campaign).filter(condition=of)
    sentences = _shuffled(labels.values_list("sentence", flat=True), seed)[:pairs]
    rows = labels.filter(sentence__in=sentences).order_by("given_at", "pk")
    labels_of = _first_labels(rows.values_list("sentence", "segment", "label"))
    items = [
        NewItem(
            f"sentence {sentence}, segment {segment}",
            "try_support",
            {"sentence": sentence, "segment": segment, "people": [label]},
        )
        for sentence in sentences
        for segment, label in labels_of[sentence]
    ]
    return items[:pairs]


def _weighed(campaign: Campaign) -> QuerySet[ListedNugget]:
    return ListedNugget.objects.filter(
        NuggetList.objects.newest_submitted_q("nugget_list__"),
        nugget_list__nugget_set__campaign=campaign,
        nugget_list__nugget_set__judge__kind=JudgeKind.HUMAN,
        nugget_list__nugget_set__judge__aside=False,
        importance__in=WEIGHED,
    )


def _importance_items(campaign: Campaign, of: str, pairs: int, seed: int) -> list[NewItem]:
    rows = _weighed(campaign).filter(nugget_list__nugget_set__name=of)
    topics = _shuffled(rows.values_list("nugget_list__topic_id", flat=True), seed)
    listed = rows.order_by("nugget_list__topic_id", "position")
    values = listed.values_list("nugget_list__topic_id", "nugget_version", "importance")
    by_topic = _grouped((topic, nugget, WEIGHED.index(Importance(code))) for topic, nugget, code in values)
    batches = [(topic, by_topic[topic]) for topic in topics]
    return _batch_items("topic", "try_importance", batches, campaign.protocol.batch_size, pairs)


def _graded(campaign: Campaign) -> QuerySet[Qrel]:
    # Grades of an LLM are left out: a prompt would be compared with a machine.
    return Qrel.objects.filter(
        source__campaign=campaign, segment__has_text=True, grade__gte=0, grade__lte=campaign.protocol.relevance_max
    ).exclude(event__kind__startswith="llm.")


def _relevance_items(campaign: Campaign, of: str, pairs: int, seed: int) -> list[NewItem]:
    grades = _graded(campaign).filter(source__name=of)
    drawn = _shuffled(grades.values_list("pk", flat=True), seed)[:pairs]
    by_key = {grade.pk: grade for grade in grades.filter(pk__in=drawn)}
    top = campaign.protocol.relevance_max
    return [
        NewItem(
            f"topic {grade.topic_id}, segment {grade.segment_id}",
            "try_relevance",
            {"topic": grade.topic_id, "segment": grade.segment_id, "top": top, "people": [grade.grade]},
        )
        for grade in (by_key[pk] for pk in drawn)
    ]


def _compared(campaign: Campaign) -> QuerySet[Verdict]:
    verdicts = Verdict.objects.current().filter(
        battle__battle_set__campaign=campaign, battle__left__words__gt=0, battle__right__words__gt=0
    )
    return verdicts.filter(
        judge__kind=JudgeKind.HUMAN, judge__aside=False, second_opinion=False, label__in=LEFT_POINTS
    )


def _battle_items(campaign: Campaign, of: str, pairs: int, seed: int) -> list[NewItem]:
    """Items of battles with the sides as the person had them."""
    verdicts = _compared(campaign).filter(battle__battle_set__name=of)
    drawn = _shuffled(verdicts.values_list("battle", flat=True), seed)[:pairs]
    rows = verdicts.filter(battle__in=drawn).select_related("battle").order_by("given_at", "pk")
    first = {row.battle_id: row for row in reversed(rows)}
    items = []
    for row in (first[battle] for battle in drawn):
        battle = row.battle
        right = battle.right_id if row.left_id == battle.left_id else battle.left_id
        payload = {"topic": battle.topic_id, "battle": battle.pk, "left": row.left_id, "right": right}
        people = {"people": [winner_code(row.label)]}
        name = f"battle {battle.pk}, answer {row.left_id} on the left"
        items.append(NewItem(name, "try_battle", payload | people))
    return items


def _batch_items(
    subject: str, kind: str, batches: Iterable[tuple[int, list[tuple[int, int]]]], size: int, pairs: int
) -> list[NewItem]:
    """An item for each subject, of its first nuggets, until so many pairs are drawn."""
    items, left = list[NewItem](), pairs
    for pk, labelled in batches:
        batch = labelled[: min(size, left)]
        if not left:
            break
        nuggets = [nugget for nugget, _ in batch]
        payload = {subject: pk, "nuggets": nuggets, "people": [code for _, code in batch]}
        items.append(NewItem(f"{subject} {pk}, nuggets {nuggets[0]}-{nuggets[-1]}", kind, payload))
        left -= len(batch)
    return items


def _first_labels(rows: Iterable[tuple[int, int, int]]) -> Groups:
    # Of several people who labelled the same pair, the first counts.
    firsts: dict[tuple[int, int], int] = {}
    for of, about, label in rows:
        firsts.setdefault((of, about), label)
    return _grouped(sorted((of, about, label) for (of, about), label in firsts.items()))


def _grouped(rows: Iterable[tuple[int, int, int]]) -> Groups:
    # Rows of one key must follow each other: groupby sees neighbours only.
    return {
        of: [(about, label) for _, about, label in group] for of, group in groupby(rows, key=lambda row: row[0])
    }


def _shuffled(keys: "QuerySet[Any, int]", seed: int) -> list[int]:
    """Distinct keys in an order that the seed alone decides."""
    distinct = sorted(keys.order_by().distinct())
    Random(seed).shuffle(distinct)  # noqa: S311
    return distinct


DRAWINGS: Mapping[PromptTask, Callable[[Campaign, str, int, int], list[NewItem]]] = {
    "assign": _assign_items,
    "support": _support_items,
    "importance": _importance_items,
    "relevance": _relevance_items,
    "battle": _battle_items,
}
