"""Criteria that complete a rubric made from nuggets: of synthesis, references and clarity, in one call a topic."""

import re
from dataclasses import dataclass

from llmjobs.prompts.template import NO_TEXTS, Template, TopicTexts
from llmjobs.prompts.texts import RUBRIC
from llmjobs.steps.asking import Note, Step, StepLog, converse, question
from llmjobs.steps.parsing import Parsed, ReplyProblem, parse_nuggets

MOST = 3
CRITERION_KINDS = ("synthesis", "references", "clarity")
CRITERION = re.compile(rf"({'|'.join(CRITERION_KINDS)})\s*:\s*(\S.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReplyCriterion:
    """A criterion of a reply. `kind`: one of `CRITERION_KINDS`."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class RubricOutcome:
    """One to three criteria and the ask that gave them; without any there is a reason."""

    criteria: tuple[ReplyCriterion, ...]
    ask: int
    failure: str
    notes: tuple[Note, ...]


def rubric(
    query: str, nuggets: tuple[str, ...], template: Template = RUBRIC, texts: TopicTexts = NO_TEXTS
) -> Step[RubricOutcome]:
    log = StepLog()
    ask = question(template, "criteria", query=query, criteria=nuggets, length=len(nuggets), **texts.values)
    answer = yield from converse(log, ask, parse_criteria)
    items = answer.value.items if answer.value else ()
    return RubricOutcome(tuple(_criterion(item) for item in items), answer.ask, answer.failure, tuple(log.notes))


def parse_criteria(reply: str) -> Parsed | ReplyProblem:
    """List of one to three criteria, each after its kind and a colon."""
    parsed = parse_nuggets(reply, MOST)
    if isinstance(parsed, ReplyProblem):
        return parsed
    for number, item in enumerate(parsed.items, start=1):
        if not CRITERION.fullmatch(item):
            kinds = ", ".join(f"{kind}:" for kind in CRITERION_KINDS)
            return ReplyProblem(f"item {number} of the list must begin with one of {kinds}")
    return parsed


def _criterion(item: str) -> ReplyCriterion:
    kind, text = CRITERION.fullmatch(item).groups()  # type: ignore[union-attr]
    return ReplyCriterion(text, kind.lower())
