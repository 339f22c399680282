"""Serve the simulated LLM."""

import signal
from argparse import ArgumentTypeError
from threading import Event
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from evaluation.errors import Refused
from evaluation.management.base import AssayCommand
from llmjobs.simulator.answering import MODEL
from llmjobs.simulator.server import FAILURES, MALFORMED, Rates, Simulator, serving

HIGHEST_PORT = 65535
OWN_PORT = "setting"
"""Says that the port is `SIMULATOR_PORT`, where calls of this installation go: the shell knows nothing of `.env`."""


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise ArgumentTypeError(f"{text} is not a number from 0 to 1")
    return rate


def _port(text: str) -> int:
    if text == OWN_PORT:
        return int(settings.SIMULATOR_PORT)
    if not text.isdecimal() or int(text) > HIGHEST_PORT:
        raise ArgumentTypeError(f"{text} is not a port")
    return int(text)


def _milliseconds(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text} is not a number of milliseconds")
    return int(text)


class Command(AssayCommand):
    help = (
        f"Serve {MODEL}, a simulated LLM with the OpenAI API, on 127.0.0.1 until it is interrupted. It judges by "
        "the words that texts share: good for trying things out, worthless as a judge. Prints its base URL."
    )
    example = "manage.py simulate_llm --port 8399 --latency-ms 200 --fail-rate 0.05"
    audited = ""
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--port",
            type=_port,
            default=0,
            metavar="N",
            help=f"default 0: any that is free; {OWN_PORT}: SIMULATOR_PORT",
        )
        parser.add_argument(
            "--latency-ms",
            type=_milliseconds,
            default=0,
            metavar="N",
            help="how long each answer takes; default 0",
        )
        parser.add_argument(
            "--fail-rate", type=_rate, default=0.0, metavar="F", help=f"share of {', '.join(FAILURES)}; default 0"
        )
        parser.add_argument(
            "--malformed-rate",
            type=_rate,
            default=0.0,
            metavar="F",
            help=f"share of replies that are {', '.join(MALFORMED)}; default 0",
        )
        parser.add_argument("--seed", type=int, default=0, metavar="N", help="which requests go wrong; default 0")

    def act(self, options: dict[str, Any]) -> None:
        interrupted = Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: interrupted.set())
        rates = {name: options[name] for name in ("latency_ms", "fail_rate", "malformed_rate", "seed")}
        try:
            with serving(Simulator(options["port"], Rates(**rates))) as simulator:
                self.stdout.write(simulator.base_url)
                self.stdout.flush()
                interrupted.wait()
        except OSError as error:
            raise Refused("cannot_serve", f"The simulated LLM cannot start: {error}.") from error
