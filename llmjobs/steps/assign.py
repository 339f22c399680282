"""AutoAssign: which nuggets of a list one answer contains."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from evaluation.domain.labels import NUGGET_LABELS
from evaluation.terms import AssignmentLabel
from llmjobs.prompts.template import NO_TEXTS, Template, TopicTexts, Value
from llmjobs.prompts.texts import ASSIGN
from llmjobs.steps.asking import Ask, Note, Step, StepLog, check_sizes, converse, halves, question, spans
from llmjobs.steps.parsing import parse_labels


@dataclass(frozen=True, slots=True)
class Labelled:
    """The label of one nugget and the ask that gave it, or why there is none."""

    label: str | None
    ask: int | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Labelling:
    """Common input of every batch of one list."""

    template: Template
    vocabulary: tuple[str, ...]
    nuggets: Sequence[str]
    values: dict[str, Value]
    batch_name: str = "batch"

    def ask(self, start: int, end: int, part: str) -> Ask:
        batch = self.nuggets[start:end]
        return question(self.template, part, nuggets=batch, length=len(batch), **self.values)


def label_all(log: StepLog, labelling: Labelling, size: int) -> Step[tuple[Labelled, ...]]:
    batches = spans(len(labelling.nuggets), size)
    labelled: list[Labelled] = []
    for number, (start, end) in enumerate(batches, start=1):
        part = f"{labelling.batch_name} {number} of {len(batches)}"
        labelled += yield from _label_batch(log, labelling, start, end, part)
    return tuple(labelled)


def _label_batch(log: StepLog, labelling: Labelling, first: int, last: int, batch: str) -> Step[list[Labelled]]:
    # A batch without a usable reply is halved, so that only the nuggets that break it fail.
    labelled: list[Labelled] = []
    pending = [(first, last)]
    while pending:
        start, end = pending.pop()
        part = batch if end - start == last - first else f"{batch}, nuggets {start + 1}-{end}"
        read = partial(parse_labels, vocabulary=labelling.vocabulary, count=end - start)
        answer = yield from converse(log, labelling.ask(start, end, part), read)
        if answer.value:
            labelled += [Labelled(label, answer.ask) for label in answer.value.items]
        elif answer.gone:
            # The pending halves follow this part: with it, they are what is left of the batch.
            return labelled + [Labelled(None, answer.ask, answer.failure)] * (last - start)
        elif end - start > 1:
            pending += reversed(halves(start, end))
            log.note(part, "split", f"split in two: {answer.failure}")
        else:
            labelled.append(Labelled(None, answer.ask, answer.failure))
            log.note(part, "failed", answer.failure)
    return labelled


@dataclass(frozen=True, slots=True)
class NuggetLabel:
    """The label of one nugget: FAILED has a reason. Without an ask the label was given by rule."""

    label: AssignmentLabel
    ask: int | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class AssignOutcome:
    """One label per nugget, in the order of the input."""

    labels: tuple[NuggetLabel, ...]
    asks: int
    notes: tuple[Note, ...]

    @property
    def failure(self) -> str:
        failed = [label.failure for label in self.labels if label.failure]
        return f"{len(failed)} of {len(self.labels)} nuggets: {failed[0]}" if failed else ""


def assign(
    query: str,
    answer: str,
    nuggets: tuple[str, ...],
    batch_size: int = 10,
    template: Template = ASSIGN,
    texts: TopicTexts = NO_TEXTS,
) -> Step[AssignOutcome]:
    """Label each nugget by an answer's whole text (method, AutoAssign)."""
    check_sizes(batch_size=batch_size)
    # An answer without a word contains no nugget: no call is needed.
    if not answer.split():
        by_rule = NuggetLabel(AssignmentLabel.NOT_SUPPORT, None)
        return AssignOutcome((by_rule,) * len(nuggets), 0, ())
    log = StepLog()
    values: dict[str, Value] = {"query": query, "passage": answer, **texts.values}
    labelling = Labelling(template, NUGGET_LABELS.words, nuggets, values)
    labelled = yield from label_all(log, labelling, batch_size)
    codes = {word: AssignmentLabel(label.code) for word, label in NUGGET_LABELS.by_word.items()}
    labels = tuple(
        NuggetLabel(
            AssignmentLabel.FAILED if label.label is None else codes[label.label], label.ask, label.failure
        )
        for label in labelled
    )
    return AssignOutcome(labels, log.asks, tuple(log.notes))
