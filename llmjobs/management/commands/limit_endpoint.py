"""Say how much an endpoint takes."""

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.base import AssayCommand
from llmjobs.engine.limits import Limits, set_limits

LARGEST = 2**31 - 1


def _limit(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 < int(text) <= LARGEST:
        raise ArgumentTypeError(f"{text} is not a number above 0")
    return int(text)


class Command(AssayCommand):
    help = (
        "Say how much an LLM endpoint takes of all workers together. What is not said has no limit; without any "
        "option there is none at all. Jobs that run go by it within seconds. The environment's own endpoint is "
        "limited by LLM_REQUESTS_PER_MINUTE, LLM_TOKENS_PER_MINUTE and LLM_MOST_AT_ONCE, where one of them is set."
    )
    example = "manage.py limit_endpoint http://127.0.0.1:8001/v1 --requests-per-minute 500 --most-at-once 32"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("address", metavar="URL", help="the endpoint's base URL, as its judges have it")
        for name in ("requests-per-minute", "tokens-per-minute", "most-at-once"):
            parser.add_argument(f"--{name}", type=_limit, metavar="N", help="at most; default: no limit")

    def act(self, options: dict[str, Any]) -> None:
        limits = Limits(options["requests_per_minute"], options["tokens_per_minute"], options["most_at_once"])
        self.say(f"{set_limits(options['address'], limits)}: {limits}.")
