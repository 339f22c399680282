"""A simulated LLM: the OpenAI API over HTTP on this machine, answering by word overlap and saying so in its name."""

from llmjobs.simulator.answering import MODEL
from llmjobs.simulator.faults import FAILURES, KINDS, MALFORMED, Faults
from llmjobs.simulator.served import Served, most_at_once, most_within
from llmjobs.simulator.server import Simulator, running_simulator

__all__ = [
    "FAILURES",
    "KINDS",
    "MALFORMED",
    "MODEL",
    "Faults",
    "Served",
    "Simulator",
    "most_at_once",
    "most_within",
    "running_simulator",
]
