"""Support: whether one cited passage bears out one statement."""

from dataclasses import dataclass

from evaluation.domain.labels import CITATION_LABELS
from evaluation.terms import SupportLabel
from llmjobs.parsing import ParsedLabel, ReplyProblem, parse_label
from llmjobs.prompts import SUPPORT, Template
from llmjobs.steps.asking import Note, Step, StepLog, converse, question


@dataclass(frozen=True, slots=True)
class SupportInput:
    """One sentence of an answer, and the text of one segment it cites."""

    statement: str
    passage: str
    template: Template = SUPPORT


@dataclass(frozen=True, slots=True)
class SupportOutcome:
    """One label and the ask that gave it; FAILED has a reason."""

    label: SupportLabel
    ask: int
    failure: str
    asks: int
    notes: tuple[Note, ...]


def support(work: SupportInput) -> Step[SupportOutcome]:
    log = StepLog()
    ask = question(work.template, "pair", statement=work.statement, passage=work.passage)
    answer = yield from converse(log, ask, _read)
    label = SupportLabel(CITATION_LABELS.by_word[answer.value.label].code) if answer.value else SupportLabel.FAILED
    return SupportOutcome(label, answer.ask, answer.failure, log.asks, tuple(log.notes))


def _read(text: str) -> ParsedLabel | ReplyProblem:
    return parse_label(text, CITATION_LABELS.words)
