"""Steps of one question: relevance of a passage on the campaign's scale, and support of a sentence by its citation."""

from dataclasses import dataclass
from functools import partial

from evaluation.labels import CITATION_LABELS, SupportLabel
from llmjobs.prompts.template import NO_TEXTS, Template, TopicTexts
from llmjobs.prompts.texts import RELEVANCE, SUPPORT
from llmjobs.steps.asking import Note, Step, StepLog, check_sizes, converse, question
from llmjobs.steps.parsing import parse_label

NOTHING = "the passage has nothing to do with the query"
RELATED = "the passage is related to the query but does not answer it"
SOME = "the passage has some answer to the query, but it is unclear or hidden in other text"
EXACT = "the passage is dedicated to the query and has the exact answer"
BETTER = "as the grade below, but the answer is clearer or more complete"


@dataclass(frozen=True, slots=True)
class RelevanceOutcome:
    """One grade and the ask that gave it; None has a reason and is never 0."""

    grade: int | None
    ask: int
    failure: str
    notes: tuple[Note, ...]


def relevance(
    query: str, passage: str, *, top: int = 3, template: Template = RELEVANCE, texts: TopicTexts = NO_TEXTS
) -> Step[RelevanceOutcome]:
    check_sizes(top=top)
    log, read = StepLog(), partial(parse_label, vocabulary=tuple(str(grade) for grade in range(top + 1)))
    values = {"query": query, "passage": passage, "scale": scale(top), **texts.values}
    answer = yield from converse(log, question(template, "passage", top=top, **values), read)
    grade = int(answer.value.items[0]) if answer.value else None
    return RelevanceOutcome(grade, answer.ask, answer.failure, tuple(log.notes))


def scale(top: int) -> str:
    # Scales other than 0-3 keep its ends and stretch or shorten its middle.
    middle = [RELATED, SOME, *[BETTER] * (top - 3)][: top - 1]
    return "\n".join(f"{grade}: {meaning}" for grade, meaning in enumerate([NOTHING, *middle, EXACT]))


@dataclass(frozen=True, slots=True)
class SupportOutcome:
    """One label and the ask that gave it; FAILED has a reason."""

    label: SupportLabel
    ask: int
    failure: str
    notes: tuple[Note, ...]


def support(statement: str, passage: str, template: Template = SUPPORT) -> Step[SupportOutcome]:
    log = StepLog()
    ask = question(template, "pair", statement=statement, passage=passage)
    answer = yield from converse(log, ask, partial(parse_label, vocabulary=CITATION_LABELS.words))
    label = (
        SupportLabel(CITATION_LABELS.by_word[answer.value.items[0]].code) if answer.value else SupportLabel.FAILED
    )
    return SupportOutcome(label, answer.ask, answer.failure, tuple(log.notes))
