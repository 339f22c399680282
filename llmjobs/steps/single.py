"""Steps of one question: the relevance of a passage on the campaign's scale, the support of a sentence by its citation,
which of two answers is better, and the criteria that complete a rubric made from nuggets.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from evaluation.labels import CITATION_LABELS, BattleLabel, SupportLabel
from evaluation.rules.places import best_part, sentence_with, words_in
from llmjobs.prompts.template import NO_TEXTS, Template, TopicTexts, Value
from llmjobs.prompts.texts import BATTLE, RELEVANCE, RUBRIC, SUPPORT
from llmjobs.steps.asking import Note, Step, StepLog, check_sizes, converse, question
from llmjobs.steps.parsing import (
    Parsed,
    ReplyProblem,
    parse_label,
    parse_label_and_quote,
    parse_nuggets,
    parse_verdict,
)

NOTHING = "the passage has nothing to do with the query"
RELATED = "the passage is related to the query but does not answer it"
SOME = "the passage has some answer to the query, but it is unclear or hidden in other text"
EXACT = "the passage is dedicated to the query and has the exact answer"
BETTER = "as the grade below, but the answer is clearer or more complete"


@dataclass(frozen=True, slots=True)
class PassageLimit:
    """Most words of a passage that are sent: of a longer one the best paragraphs. 0: each passage is sent whole.

    `language`: of the sentence or question by whose words they are the best.
    """

    words: int = 0
    language: str = ""

    def sent(self, passage: str, beside: str, log: StepLog, part: str) -> str:
        words = words_in(passage)
        if not 0 < self.words < words:
            return passage
        log.note(part, "shortened", f"the best paragraphs of {words:,} words, at most {self.words:,}")
        return best_part(passage, beside, self.language, self.words)


NO_LIMIT = PassageLimit()


@dataclass(frozen=True, slots=True)
class RelevanceOutcome:
    """One grade and the ask that gave it; None has a reason and is never 0."""

    grade: int | None
    ask: int
    failure: str
    notes: tuple[Note, ...]


def relevance(
    query: str,
    passage: str,
    *,
    top: int = 3,
    template: Template = RELEVANCE,
    texts: TopicTexts = NO_TEXTS,
    limit: PassageLimit = NO_LIMIT,
) -> Step[RelevanceOutcome]:
    check_sizes(top=top)
    log, read = StepLog(), partial(parse_label, vocabulary=tuple(str(grade) for grade in range(top + 1)))
    sent = limit.sent(passage, query, log, "passage")
    values = {"query": query, "passage": sent, "scale": scale(top), **texts.values}
    answer = yield from converse(log, question(template, "passage", top=top, **values), read)
    grade = int(answer.value.items[0]) if answer.value else None
    return RelevanceOutcome(grade, answer.ask, answer.failure, tuple(log.notes))


def scale(top: int) -> str:
    # Scales other than 0-3 keep its ends and stretch or shorten its middle.
    middle = [RELATED, SOME, *[BETTER] * (top - 3)][: top - 1]
    return "\n".join(f"{grade}: {meaning}" for grade, meaning in enumerate([NOTHING, *middle, EXACT]))


@dataclass(frozen=True, slots=True)
class SupportOutcome:
    """One label and the ask that gave it; FAILED has a reason. `evidence`: the sentence where `quote` begins."""

    label: SupportLabel
    evidence: int | None
    quote: str
    ask: int
    failure: str
    notes: tuple[Note, ...]


def support(
    statement: str, passage: str, template: Template = SUPPORT, limit: PassageLimit = NO_LIMIT
) -> Step[SupportOutcome]:
    log = StepLog()
    sent = limit.sent(passage, statement, log, "pair")
    ask = question(template, "pair", statement=statement, passage=sent)
    parse = parse_label_and_quote if template.quotes else parse_label
    answer = yield from converse(log, ask, partial(parse, vocabulary=CITATION_LABELS.words))
    if answer.value is None:
        return SupportOutcome(SupportLabel.FAILED, None, "", answer.ask, answer.failure, tuple(log.notes))
    word, *quotes = answer.value.items
    evidence, quote = _found(quotes[0], passage, log) if quotes else (None, "")
    label = SupportLabel(CITATION_LABELS.by_word[word].code)
    return SupportOutcome(label, evidence, quote, answer.ask, "", tuple(log.notes))


def _found(quote: str, passage: str, log: StepLog) -> tuple[int | None, str]:
    """Return the sentence where a quote begins, and its words. One that is not in the passage is dropped, and noted."""
    words = " ".join(quote.split())
    place = sentence_with(passage, words)
    if place is None and words:
        log.note("pair", "dropped", "the quote does not stand in the passage")
    return (None, "") if place is None else (place, words)


VERDICTS = {
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
    label = VERDICTS[answer.value.items[0]] if answer.value else BattleLabel.FAILED
    return BattleOutcome(label, answer.ask, answer.failure, tuple(log.notes))


MOST_CRITERIA = 3
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
    parsed = parse_nuggets(reply, MOST_CRITERIA)
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
