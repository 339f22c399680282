"""Budget of a job: requests, tokens, money. All workers count in the job's row, in the transaction that sends.

Requests are counted before they go out, so that no more are sent than were allowed. Tokens and money are known from
replies only: what is under way when they are used up is the most that comes on top.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from django.conf import settings
from django.db import connection
from django.db.models import F
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.errors import Refused
from jobs.models import Job
from llmjobs.client import CallRefusal, Completion
from llmjobs.engine.calls import count_of
from llmjobs.engine.send import Sending
from llmjobs.models import LlmJob

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
    """A file of prices."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Annotated[str, Field(min_length=1, max_length=40)]
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]
    models: dict[str, Tokens]


@dataclass(frozen=True, slots=True)
class Price:
    """Price of one model's tokens, and the table that it is from."""

    table: str
    currency: str
    prompt: Decimal
    completion: Decimal

    def of(self, prompt_tokens: int, completion_tokens: int) -> Decimal:
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / PER


def price_of(model: str) -> Price | None:
    """Return a model's price by the table in force; None where the table does not have it.

    Raises `Refused` for a table that cannot be read.
    """
    table = _table(Path(settings.LLM_PRICES or OWN_TABLE))
    tokens = table.models.get(model) or table.models.get(DATE.sub("", model))
    return Price(table.version, table.currency, tokens.prompt, tokens.completion) if tokens else None


def announced_price(llm: LlmJob) -> Price | None:
    """Price with which a job was started; None where none was known."""
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
MayGo = Callable[[Sequence[Sending]], list[Sending]]


@dataclass(frozen=True, slots=True)
class BudgetLeft:
    """Whether a job runs, how many requests it may still send (None: any number), and which budget is used up."""

    runs: bool
    room: int | None
    used_up: str


def set_budget(llm: LlmJob, budget: Budget) -> None:
    """Put a budget on a job, which the caller saves. Raises `Refused` for money where no price is known."""
    if budget.money is not None and announced_price(llm) is None:
        raise Refused(
            "no_price",
            f"No price is known of {llm.judge.model}; name a table of prices with LLM_PRICES, or leave the "
            "money out.",
        )
    llm.most_calls, llm.most_tokens, llm.most_money = budget.calls, budget.tokens, budget.money


def announce(llm: LlmJob) -> None:
    # The price of the start holds to the end: a new table must not change what a running job may spend.
    price = price_of(llm.judge.model)
    if price:
        llm.price_table, llm.currency = price.table, price.currency
        llm.prompt_price, llm.completion_price = price.prompt, price.completion


def budget_payload(llm: LlmJob) -> dict[str, Any]:
    limits = {"calls": llm.most_calls, "tokens": llm.most_tokens, "money": llm.most_money}
    set_limits = {
        name: str(most) if name == "money" else most for name, most in limits.items() if most is not None
    }
    return {"budget": set_limits} if set_limits else {}


def standings(jobs: Iterable[int]) -> dict[int, BudgetLeft]:
    """Read what jobs may still spend, and lock their rows."""
    # The caller sends in the same transaction, so two workers cannot spend the same rest.
    rows = LlmJob.objects.filter(pk__in=set(jobs)).select_related("job", "judge").order_by("pk")
    if connection.features.has_select_for_update:
        rows = rows.select_for_update(of=("self",), no_key=True)
    return {row.pk: _standing(row) for row in rows}


def _standing(llm: LlmJob) -> BudgetLeft:
    room = None if llm.most_calls is None else max(0, llm.most_calls - llm.sent_calls)
    used_up = _used_up(llm)
    return BudgetLeft(llm.job.state == Job.State.RUNNING, 0 if used_up else room, used_up)


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


@dataclass(slots=True)
class BudgetChoice:
    """Calls that go out, calls that their endpoint's limit holds back, and calls that no budget pays for.

    `stopped`: those jobs, with the budget that is used up, if one is.
    """

    out: list[Sending] = field(default_factory=list)
    later: list[Sending] = field(default_factory=list)
    held: list[Sending] = field(default_factory=list)
    stopped: dict[int, str] = field(default_factory=dict)


def choose(due: Sequence[Sending], may_go: MayGo) -> BudgetChoice:
    """Choose from calls that may go out what their jobs still want and may pay for; count it, in this transaction.

    `may_go` is asked last which of them the endpoints take now, when the jobs' rows are locked: so what it locks itself
    is locked after them in every worker.
    """
    chosen, now = BudgetChoice(), standings(one.job for one in due) if due else {}
    payable, wanted = list[Sending](), Counter[int]()
    for one in due:
        standing = now[one.job]
        if standing.runs and (standing.room is None or wanted[one.job] < standing.room):
            wanted[one.job] += 1
            payable.append(one)
        else:
            chosen.held.append(one)
            chosen.stopped[one.job] = standing.used_up
    chosen.out = may_go(payable)
    going = {one.call.pk for one in chosen.out}
    chosen.later = [one for one in payable if one.call.pk not in going]
    for job, sent in sorted(Counter(one.job for one in chosen.out).items()):
        LlmJob.objects.filter(pk=job).update(sent_calls=F("sent_calls") + sent)
    return chosen


def note_tokens(replies: Iterable[tuple[int, Completion | CallRefusal]]) -> None:
    prompt, completion = Counter[int](), Counter[int]()
    for job, one in replies:
        if isinstance(one, Completion):
            prompt[job] += count_of(one.prompt_tokens) or 0
            completion[job] += count_of(one.completion_tokens) or 0
    for job in sorted(prompt):
        LlmJob.objects.filter(pk=job).update(
            prompt_tokens=F("prompt_tokens") + prompt[job],
            completion_tokens=F("completion_tokens") + completion[job],
        )
