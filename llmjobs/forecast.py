"""Forecast of cost and time of calls that are still to be made, from those answered before."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil

from django.conf import settings
from django.db.models import Avg

from evaluation.models import Judge
from llmjobs.budget import price_for
from llmjobs.client import endpoint_of
from llmjobs.engine.calls import REPLY_TOKENS, NewCall
from llmjobs.engine.limits import Limits, limits_of
from llmjobs.models import Call

NEWEST = 500


@dataclass(frozen=True, slots=True)
class ForecastCall:
    """A prepared call, and the least number of calls like it in an item. `tokens` are of all their prompts."""

    sha256: str
    task: str
    template: str
    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class CostForecast:
    """Of the calls to be paid: tokens of prompts and replies, money by a price table, and seconds.

    `cost` is None where no price is known, `seconds` where the model was never called.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal | None
    currency: str
    price_table: str
    seconds: float | None


def forecast_call(wanted: NewCall, calls: int) -> ForecastCall:
    tokens = round(wanted.prompt_tokens * calls)
    return ForecastCall(wanted.sha256, wanted.ask.task, wanted.ask.template, calls, tokens)


def forecast(planned: Sequence[ForecastCall], answered: Collection[str], judge: Judge) -> CostForecast:
    """Cost of the calls not answered before. Of an item with several windows only the first is known."""
    left = [call for call in planned if call.sha256 not in answered or call.calls > 1]
    calls = sum(call.calls - (call.sha256 in answered) for call in left)
    prompt = sum(round(call.tokens * (call.calls - (call.sha256 in answered)) / call.calls) for call in left)
    replies: dict[str, float] = {call.template: REPLY_TOKENS[call.task] for call in left}
    for template, usual in replies.items():
        mean = _mean("completion_tokens", model=judge.model, template=template)
        replies[template] = usual if mean is None else mean
    completion = round(sum(call.calls * replies[call.template] for call in left))
    price = price_for(judge)
    return CostForecast(
        calls=calls,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost=price.of(prompt, completion) if price else None,
        currency=price.currency if price else "",
        price_table=price.table if price else "",
        seconds=_seconds(judge, calls, prompt + completion),
    )


def forecast_rows(expected: CostForecast) -> list[tuple[str, str]]:
    cost, seconds = expected.cost, expected.seconds
    return [
        ("calls to pay", f"{expected.calls:,}"),
        ("prompt tokens", f"about {expected.prompt_tokens:,}"),
        ("reply tokens", f"about {expected.completion_tokens:,}"),
        (
            "cost",
            "no price is known of this model"
            if cost is None
            else f"about {cost:,.2f} {expected.currency}, prices of {expected.price_table}",
        ),
        ("time", "unknown: the model was never called" if seconds is None else f"about {_span(seconds)}"),
    ]


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{ceil(seconds)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def _seconds(judge: Judge, calls: int, tokens: int) -> float | None:
    """Seconds for one worker, or for the endpoint's limits if that is longer."""
    latency_ms = _mean("latency_ms", model=judge.model)
    if latency_ms is None:
        return None
    name = endpoint_of(judge).name
    limits = limits_of([name]).get(name, Limits())
    at_once: int = min(settings.LLM_CONCURRENCY, limits.at_once or settings.LLM_CONCURRENCY)
    return max(latency_ms / 1000 * calls / at_once, limits.seconds_for(calls, tokens))


def _mean(field: str, **which: str) -> float | None:
    # Of the newest calls only: an endpoint's speed changes, and to read all would take long.
    newest = Call.objects.filter(state=Call.State.ANSWERED, **which).order_by("-pk").values(field)[:NEWEST]
    mean: float | None = newest.aggregate(mean=Avg(field))["mean"]
    return mean
