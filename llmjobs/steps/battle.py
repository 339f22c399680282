"""Step of a battle: which of two answers to a query is better."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.labels import BattleLabel
from llmjobs.prompts.template import NO_TEXTS, Template, TopicTexts, Value
from llmjobs.prompts.texts import BATTLE
from llmjobs.steps.asking import Note, Step, StepLog, converse, question
from llmjobs.steps.parsing import parse_verdict

LABELS = {
    "left": BattleLabel.LEFT,
    "right": BattleLabel.RIGHT,
    "tie": BattleLabel.TIE,
    "both bad": BattleLabel.BAD,
}


@dataclass(frozen=True, slots=True)
class BattleOutcome:
    """One verdict and the ask that gave it; FAILED has a reason."""

    label: BattleLabel
    ask: int
    failure: str
    notes: tuple[Note, ...]


def battle(
    query: str,
    left: str,
    right: str,
    *,
    nuggets: Sequence[str] = (),
    template: Template = BATTLE,
    texts: TopicTexts = NO_TEXTS,
) -> Step[BattleOutcome]:
    log = StepLog()
    values: dict[str, Value] = {
        "query": query,
        "left": left,
        "right": right,
        "length": len(nuggets),
        **texts.values,
    }
    # Without a nugget their place in a prompt is empty, and no list of none.
    values |= {"nuggets": nuggets} if nuggets else {}
    answer = yield from converse(log, question(template, "battle", **values), parse_verdict)
    label = LABELS[answer.value.items[0]] if answer.value else BattleLabel.FAILED
    return BattleOutcome(label, answer.ask, answer.failure, tuple(log.notes))
