"""Budget of a job: requests, tokens, money. All workers count in the job's row, in the transaction that sends.

Requests are counted before they go out, so that no more are sent than were allowed. Tokens and money are known from
replies only: the most that a call may take is reserved before it goes, and one that alone is too much for what is left
goes alone. Forecasts of cost and time rest on calls that were answered before.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Annotated, Any

from django.conf import settings
from django.db import connection as database
from django.db.models import Avg, F, Q
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.errors import Refused
from evaluation.models import Judge
from jobs import queue
from jobs.models import Job
from llmjobs.client import CallRefusal, Completion, endpoint_at
from llmjobs.engine.calls import REPLY_TOKENS, NewCall, count_of
from llmjobs.engine.limits import Limits, limits_of
from llmjobs.models import Call, Connection, LlmJob

OWN_TABLE = Path(__file__).parent / "data" / "prices.toml"
PER = Decimal(1_000_000)
DATE = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")

Amount = Annotated[Decimal, Field(ge=0, max_digits=12, decimal_places=6)]


class Tokens(BaseModel):
    """The prices of one model, per million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: Amount
    completion: Amount


class PriceTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Annotated[str, Field(min_length=1, max_length=40)]
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]
    models: dict[str, Tokens]


@dataclass(frozen=True, slots=True)
class Price:
    table: str
    currency: str
    prompt: Decimal
    completion: Decimal

    def of(self, prompt_tokens: int, completion_tokens: int) -> Decimal:
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / PER


def price_for(judge: Judge) -> Price | None:
    """Return the price of a judge's calls: of the newest connection to its model, else by the table in force."""
    same = Connection.objects.filter(base_url=judge.base_url.rstrip("/"), model=judge.model)
    connection = same.order_by("-pk").first()
    return (connection and price_in(connection)) or price_of(judge.model)


def price_in(connection: Connection) -> Price | None:
    if connection.prompt_price is None or connection.completion_price is None:
        return None
    return Price(str(connection), connection.currency, connection.prompt_price, connection.completion_price)


def price_of(model: str) -> Price | None:
    """Return a model's price by the table in force; None where the table does not have it.

    Raises `Refused` for a table that cannot be read.
    """
    table = _table(Path(settings.LLM_PRICES or OWN_TABLE))
    tokens = table.models.get(model) or table.models.get(DATE.sub("", model))
    return Price(table.version, table.currency, tokens.prompt, tokens.completion) if tokens else None


def announced_price(llm: LlmJob) -> Price | None:
    if llm.prompt_price is None or llm.completion_price is None:
        return None
    return Price(llm.price_table, llm.currency, llm.prompt_price, llm.completion_price)


@lru_cache(maxsize=4)
def _table(path: Path) -> PriceTable:
    try:
        return PriceTable.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise Refused("bad_prices", f"LLM_PRICES: {path}: {error.strerror or error}") from error
    except (ValidationError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refused("bad_prices", f"LLM_PRICES: {path}: {error}") from error


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that a job may spend; None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    money: Decimal | None = None

    def __post_init__(self) -> None:
        if any(most is not None and most <= 0 for most in (self.calls, self.tokens, self.money)):
            raise Refused("bad_budget", "A budget is above 0; leave it empty for no limit.")


NO_LIMIT = Budget()


@dataclass(frozen=True, slots=True)
class TokenBound:
    """The most tokens that a call may take."""

    prompt: int
    completion: int


@dataclass(slots=True)
class BudgetLeft:
    """Rest of a budget. `prompt` and `completion`: tokens that are paid, or reserved by calls `under_way`.

    `closed`: nothing may go, because the job does not run or the budget `used_up` is.
    """

    llm: LlmJob
    room: int | None = None
    prompt: int = 0
    completion: int = 0
    under_way: int = 0
    closed: bool = False
    used_up: str = ""

    @property
    def is_limited(self) -> bool:
        return self.llm.most_tokens is not None or self.llm.most_money is not None

    def count_reserved(self, alive: Collection[str]) -> None:
        self.llm.reserved = {name: calls for name, calls in self.llm.reserved.items() if name in alive}
        for calls in self.llm.reserved.values():
            self.under_way += len(calls)
            self.prompt += sum(prompt for prompt, _ in calls.values())
            self.completion += sum(completion for _, completion in calls.values())

    def take(self, bound: TokenBound) -> bool:
        """Reserve a call; False where it must not go now."""
        if self.closed or self.room == 0:
            return False
        prompt, completion = self.prompt + bound.prompt, self.completion + bound.completion
        if self.under_way and self._is_beyond(prompt, completion):
            return False
        self.prompt, self.completion, self.under_way = prompt, completion, self.under_way + 1
        if self.room is not None:
            self.room -= 1
        return True

    def _is_beyond(self, prompt: int, completion: int) -> bool:
        tokens, money, price = self.llm.most_tokens, self.llm.most_money, announced_price(self.llm)
        return (tokens is not None and prompt + completion > tokens) or (
            money is not None and price is not None and price.of(prompt, completion) > money
        )


def set_budget(llm: LlmJob, budget: Budget) -> None:
    """Put a budget on a job, which the caller saves. Raises `Refused` for money where no price is known."""
    if budget.money is not None and announced_price(llm) is None:
        raise Refused(
            "no_price",
            f"No price is known of {llm.judge.model}; give its connection a price, or leave the money out.",
        )
    llm.most_calls, llm.most_tokens, llm.most_money = budget.calls, budget.tokens, budget.money


def announce(llm: LlmJob) -> None:
    # The price of the start holds to the end: a new table must not change what a running job may spend.
    if price := price_for(llm.judge):
        llm.price_table, llm.currency = price.table, price.currency
        llm.prompt_price, llm.completion_price = price.prompt, price.completion


def budget_payload(llm: LlmJob) -> dict[str, Any]:
    limits = {"calls": llm.most_calls, "tokens": llm.most_tokens, "money": llm.most_money}
    set_limits = {
        name: str(most) if name == "money" else most for name, most in limits.items() if most is not None
    }
    return {"budget": set_limits} if set_limits else {}


def lock_budgets(jobs: Iterable[int], worker: str) -> dict[int, BudgetLeft]:
    """Lock jobs and read what they may still send: nothing where they do not run. `worker` is the caller."""
    # The caller sends in the same transaction, so two workers cannot spend the same rest.
    rows = LlmJob.objects.filter(pk__in=set(jobs)).select_related("job", "judge").order_by("pk")
    if database.features.has_select_for_update:
        rows = rows.select_for_update(of=("self",), no_key=True)
    left = {row.pk: _left(row) for row in rows}
    if any(budget.llm.reserved for budget in left.values()):
        # The calls of a worker that died are under way no more.
        alive = {worker, *queue.names_of_live_workers()}
        for budget in left.values():
            budget.count_reserved(alive)
    return left


def _left(llm: LlmJob) -> BudgetLeft:
    used_up = _used_up(llm)
    return BudgetLeft(
        llm=llm,
        room=None if llm.most_calls is None else llm.most_calls - llm.sent_calls,
        prompt=llm.prompt_tokens,
        completion=llm.completion_tokens,
        closed=bool(used_up) or llm.job.state != Job.State.RUNNING,
        used_up=used_up,
    )


def _used_up(llm: LlmJob) -> str:
    if llm.most_calls is not None and llm.sent_calls >= llm.most_calls:
        return f"The budget of {llm.most_calls:,} requests is used up."
    spent = llm.prompt_tokens + llm.completion_tokens
    if llm.most_tokens is not None and spent >= llm.most_tokens:
        return f"The budget of {llm.most_tokens:,} tokens is used up."
    price = announced_price(llm)
    most = llm.most_money
    if most is not None and price and price.of(llm.prompt_tokens, llm.completion_tokens) >= most:
        return f"The budget of {most.normalize():f} {price.currency} is used up."
    return ""


def note_sent(jobs: Iterable[int]) -> None:
    """Count a request for each time that a job is named, in the transaction that sends."""
    for job, sent in sorted(Counter(jobs).items()):
        LlmJob.objects.filter(pk=job).update(sent_calls=F("sent_calls") + sent)


def reserve(left: Mapping[int, BudgetLeft], worker: str, sent: Iterable[tuple[int, int, TokenBound]]) -> None:
    """Keep what calls (job, call, bound) may take of limited budgets, in the transaction that locked and sends."""
    changed = set[int]()
    for job, call, bound in sent:
        if left[job].is_limited:
            left[job].llm.reserved.setdefault(worker, {})[str(call)] = [bound.prompt, bound.completion]
            changed.add(job)
    for job in sorted(changed):
        left[job].llm.save(update_fields=["reserved"])


def give_back(jobs: Collection[int], worker: str, calls: Iterable[int]) -> None:
    """Forget what calls had reserved, now that they have ended."""
    ended = {str(call) for call in calls}
    rows = LlmJob.objects.filter(pk__in=jobs).exclude(most_tokens=None, most_money=None)
    for llm in rows.select_for_update(no_key=True).order_by("pk"):
        own = llm.reserved.get(worker, {})
        llm.reserved[worker] = {call: bound for call, bound in own.items() if call not in ended}
        llm.save(update_fields=["reserved"])


LEARNT_AFTER = 10
REPLY_UNTIL_LEARNT = 16_384
"""Tokens of the longest reply that most models give: reserved until calls of a template have been answered."""
BYTES_PER_TOKEN = 2
"""Fewer than any usual text has, so that a prompt's tokens are not underrated."""


class TokenBounds:
    """The most tokens that calls may take: by their text, their parameters, and the replies to calls like them."""

    def __init__(self) -> None:
        # By model and template: number of replies, and tokens of the longest.
        self._seen: dict[tuple[str, str], tuple[int, int]] = {}

    def learn(self, call: Call, reply: Completion | CallRefusal) -> None:
        if isinstance(reply, Completion) and reply.completion_tokens is not None:
            replies, longest = self._seen.get((call.model, call.template), (0, 0))
            self._seen[call.model, call.template] = replies + 1, max(longest, reply.completion_tokens)

    def of(self, wanted: NewCall) -> TokenBound:
        sent = sum(len(text.encode()) for _, text in wanted.request.messages) + len(str(wanted.parameters))
        return TokenBound(ceil(sent / BYTES_PER_TOKEN), self._completion(wanted))

    def _completion(self, wanted: NewCall) -> int:
        if most := wanted.request.max_completion_tokens:
            return most
        replies, longest = self._seen.get((wanted.model, wanted.ask.template), (0, 0))
        return 2 * longest if replies >= LEARNT_AFTER else max(REPLY_UNTIL_LEARNT, 2 * longest)


def note_tokens(replies: Iterable[tuple[int, Completion | CallRefusal]]) -> None:
    prompt, completion = Counter[int](), Counter[int]()
    for job, reply in replies:
        if isinstance(reply, Completion):
            prompt[job] += count_of(reply.prompt_tokens) or 0
            completion[job] += count_of(reply.completion_tokens) or 0
    # In the order of keys, as `lock_budgets`: two workers that lock the same jobs must not deadlock.
    for job in sorted(prompt):
        LlmJob.objects.filter(pk=job).update(
            prompt_tokens=F("prompt_tokens") + prompt[job],
            completion_tokens=F("completion_tokens") + completion[job],
        )


NO_COUNTS = (
    "Replies come without their number of tokens, so that a budget of tokens or money cannot be kept. Set one of "
    "requests."
)


def stopped_without_counts(replies: Iterable[tuple[int, Completion | CallRefusal]]) -> dict[int, str]:
    """Jobs with a budget of tokens or money that were answered without a count of tokens, each with the reason."""
    jobs = {
        job
        for job, reply in replies
        if isinstance(reply, Completion)
        and None in (count_of(reply.prompt_tokens), count_of(reply.completion_tokens))
    }
    limited = LlmJob.objects.filter(pk__in=jobs).exclude(most_tokens=None, most_money=None)
    return dict.fromkeys(limited.values_list("pk", flat=True), NO_COUNTS) if jobs else {}


def without_counts_q() -> Q:
    """Calls that were answered without a count of tokens, so that nobody knows what they cost."""
    uncounted = Q(prompt_tokens=None) | Q(completion_tokens=None)
    return uncounted & Q(state=Call.State.ANSWERED)


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


def forecast(planned: Sequence[ForecastCall], answered: Collection[str], judge: Judge) -> CostForecast:
    """Cost of calls not answered before, each paid once. Of an item with several windows only the first is known."""
    paid, left = set(answered), list[tuple[ForecastCall, int]]()
    for call in planned:
        left.append((call, call.calls - (call.sha256 in paid)))
        paid.add(call.sha256)
    calls = sum(unpaid for _, unpaid in left)
    prompt = sum(round(call.tokens * unpaid / call.calls) for call, unpaid in left)
    replies: dict[str, float] = {call.template: REPLY_TOKENS[call.task] for call, unpaid in left if unpaid}
    for template, usual in replies.items():
        mean = _mean("completion_tokens", model=judge.model, template=template)
        replies[template] = usual if mean is None else mean
    completion = round(sum(unpaid * replies[call.template] for call, unpaid in left if unpaid))
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
    name = endpoint_at(judge.base_url).name
    limits = limits_of([name]).get(name, Limits())
    at_once: int = min(settings.LLM_CONCURRENCY, limits.at_once or settings.LLM_CONCURRENCY)
    return max(latency_ms / 1000 * calls / at_once, limits.seconds_for(calls, tokens))


def _mean(field: str, **which: str) -> float | None:
    # Of the newest calls only: an endpoint's speed changes, and to read all would take long.
    newest = Call.objects.filter(state=Call.State.ANSWERED, **which).order_by("-pk").values(field)[:NEWEST]
    mean: float | None = newest.aggregate(mean=Avg(field))["mean"]
    return mean
