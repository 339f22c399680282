"""What a model's tokens cost, by a table with a version: a job keeps the price that it was announced with."""

import re
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.errors import Refused
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
    """What tokens of one model cost, and by which table."""

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
