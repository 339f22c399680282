"""The hashes of what LLM jobs ask: a call that was paid for is found again by its hash, so none may change."""

from collections.abc import Callable, Iterator, Sequence
from typing import get_args

from evaluation.errors import Refused
from evaluation.judges import JSON_SCHEMA, REPLY_FORM
from evaluation.models import BattleSet, Campaign, Judge, NuggetSet, QrelSource
from evaluation.rules.battles import Orders
from evaluation.terms import Condition, JudgeKind, Origin
from jobs.models import WorkItem
from jobs.queue import NewItem
from llmjobs.client import Endpoint
from llmjobs.engine.calls import NewCall
from llmjobs.job_plan import nugget_items, relevance_items
from llmjobs.job_service import JobRequest, plan_battles, plan_evaluation, plan_lists, plan_rubrics, plan_support
from llmjobs.kinds import ITEM_KINDS
from llmjobs.models import Call
from llmjobs.prompt_store import way_of
from llmjobs.prompts.template import PromptTask
from llmjobs.simulator.server import CompletionRequest, complete
from llmjobs.steps.asking import LlmReply
from llmjobs.trials import draw, labelled_by_people
from tests.golden.keeping import Documents

ENDPOINT = Endpoint("https://llm.example/v1")
DIGITS = 16
"""Of each hash so many tell it from the others."""


def request_documents(campaign: Campaign) -> Documents:
    """Yield the hashes of all calls of each kind of job, answered by the simulated LLM, and of the calls stored."""
    for judge in _judges():
        for name, plan in _plans(campaign, judge).items():
            try:
                items: Sequence[NewItem] = plan()
                text = "\n".join(_hashes(items, judge))
            except Refused as refused:
                text = f"refused: {refused.message}"
            yield "requests", f"{name}, {judge.name}", text.encode()
    stored = Call.objects.order_by("pk").values_list("sha256", flat=True)
    yield "requests", "stored", "\n".join(sha256[:DIGITS] for sha256 in stored).encode()


def planned_kinds(campaign: Campaign) -> set[str]:
    return {item.kind for plan in _plans(campaign, _judges()[0]).values() for item in _items(plan)}


def _judges() -> list[Judge]:
    """Return a judge that asks for lines of text, and one that asks for JSON by a schema."""
    forms = {"plain": {}, "structured": {REPLY_FORM: JSON_SCHEMA}}
    return [
        Judge.objects.get_or_create(
            name=name, defaults={"kind": JudgeKind.LLM, "model": "some-model", "prompt_versions": versions}
        )[0]
        for name, versions in forms.items()
    ]


def _items(plan: Callable[[], Sequence[NewItem]]) -> Sequence[NewItem]:
    try:
        return plan()
    except Refused:
        return []


def _plans(campaign: Campaign, judge: Judge) -> dict[str, Callable[[], Sequence[NewItem]]]:
    request = JobRequest(campaign, judge)
    plans: dict[str, Callable[[], Sequence[NewItem]]] = {
        f"evaluate {condition}": lambda condition=condition: plan_evaluation(request, condition).items  # type: ignore[misc]
        for condition in Condition
        if condition.judge_kind is JudgeKind.LLM
    }
    plans["evaluate A/A anew"] = lambda: _anew(campaign)
    plans["drafts"] = lambda: plan_lists(request, Origin.DRAFT, qrels="NIST").items
    sets = NuggetSet.objects.filter(campaign=campaign).order_by("pk")
    plans["rubric"] = lambda: plan_rubrics(request, nuggets=sets[0].name).items
    plans["support"] = lambda: plan_support(request).items
    for battle_set in BattleSet.objects.filter(campaign=campaign):
        plans[f"battles {battle_set}"] = lambda name=battle_set.name: plan_battles(request, name).items  # type: ignore[misc]
        plans[f"battles {battle_set} beside nuggets"] = lambda name=battle_set.name: (
            plan_battles(  # type: ignore[misc]
                request, name, Orders.ONE, sets[0].name
            ).items
        )
    plans["relevance"] = lambda: relevance_items(campaign, "new", campaign.topics.all()).items
    for task in (prompt_task for prompt_task in get_args(PromptTask) if f"try_{prompt_task}" in ITEM_KINDS):
        for of in labelled_by_people(campaign, task)[:1]:
            plans[f"try {task} of {of}"] = lambda task=task, of=of: draw(campaign, task, of, 12, 5)  # type: ignore[misc]
    return plans


def _anew(campaign: Campaign) -> Sequence[NewItem]:
    """Return what `evaluate` asks for where no topic has a list yet."""
    source = QrelSource.objects.get(campaign=campaign, name="NIST")
    return nugget_items(campaign, campaign.topics.all(), source, "nuggets").items


def _hashes(items: Sequence[NewItem], judge: Judge) -> Iterator[str]:
    for item in items:
        row = WorkItem(key=item.key, kind=item.kind, payload=item.payload)
        [step] = ITEM_KINDS[item.kind].begin([row], [way_of(judge)])
        hashes, ask = [], next(step)
        while ask:
            wanted = NewCall(ask, ENDPOINT, judge.model, 0)
            hashes.append(wanted.sha256[:DIGITS])
            messages = tuple((message.role, message.content) for message in ask.messages)
            try:
                ask = step.send(LlmReply(complete(CompletionRequest("", messages, None, None), "").text))
            except StopIteration:
                break
        yield f"{item.kind}, {item.key}: {' '.join(hashes)}"
