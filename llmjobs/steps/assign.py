"""AutoAssign: which nuggets of a list one answer contains."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from evaluation.labels import NUGGET_LABELS, AssignmentLabel
from evaluation.terms import Importance
from llmjobs.prompts.template import NO_TEXTS, Template, TopicTexts, Value
from llmjobs.prompts.texts import ASSIGN
from llmjobs.steps.asking import Ask, Note, Step, StepLog, check_sizes, converse, halves, question, spans
from llmjobs.steps.parsing import parse_labels

Code = TypeVar("Code", AssignmentLabel, Importance)
CODES = {degree.word: AssignmentLabel(degree.code) for degree in NUGGET_LABELS.degrees}


@dataclass(frozen=True, slots=True)
class Labelled(Generic[Code]):
    """The label of one nugget: that of a failure has a reason. Without an ask the label was given by rule."""

    label: Code
    ask: int | None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Labelling(Generic[Code]):
    """Common input of every batch of one list: `codes` by the words that are allowed, `failed` without any of them."""

    template: Template
    codes: Mapping[str, Code]
    failed: Code
    nuggets: Sequence[str]
    values: dict[str, Value]
    batch_name: str = "batch"

    def ask(self, start: int, end: int, part: str) -> Ask:
        batch = self.nuggets[start:end]
        return question(self.template, part, nuggets=batch, length=len(batch), **self.values)


def label_all(log: StepLog, labelling: Labelling[Code], size: int) -> Step[tuple[Labelled[Code], ...]]:
    batches = spans(len(labelling.nuggets), size)
    labelled: list[Labelled[Code]] = []
    for number, (start, end) in enumerate(batches, start=1):
        part = f"{labelling.batch_name} {number} of {len(batches)}"
        labelled += yield from _label_batch(log, labelling, start, end, part)
    return tuple(labelled)


def _label_batch(
    log: StepLog, labelling: Labelling[Code], first: int, last: int, batch: str
) -> Step[list[Labelled[Code]]]:
    # A batch without a usable reply is halved, so that only the nuggets that break it fail.
    labelled: list[Labelled[Code]] = []
    pending = [(first, last)]
    while pending:
        start, end = pending.pop()
        part = batch if end - start == last - first else f"{batch}, nuggets {start + 1}-{end}"
        read = partial(parse_labels, vocabulary=tuple(labelling.codes), count=end - start)
        answer = yield from converse(log, labelling.ask(start, end, part), read, words=True)
        if answer.value:
            labelled += [Labelled(labelling.codes[word], answer.ask) for word in answer.value.items]
        elif answer.gone:
            # The pending halves follow this part: with it, they are what is left of the batch.
            return labelled + [Labelled(labelling.failed, answer.ask, answer.failure)] * (last - start)
        elif end - start > 1:
            pending += reversed(halves(start, end))
            log.note(part, "split", f"split in two: {answer.failure}")
        else:
            labelled.append(Labelled(labelling.failed, answer.ask, answer.failure))
            log.note(part, "failed", answer.failure)
    return labelled


def failure_of(labels: Sequence[Labelled[Code]]) -> str:
    failed = [label.failure for label in labels if label.failure]
    return f"{len(failed)} of {len(labels)} nuggets: {failed[0]}" if failed else ""


@dataclass(frozen=True, slots=True)
class AssignOutcome:
    """One label per nugget, in the order of the input."""

    labels: tuple[Labelled[AssignmentLabel], ...]
    notes: tuple[Note, ...]

    @property
    def failure(self) -> str:
        return failure_of(self.labels)


def assign(
    query: str,
    answer: str,
    nuggets: tuple[str, ...],
    batch_size: int = 10,
    template: Template = ASSIGN,
    texts: TopicTexts = NO_TEXTS,
) -> Step[AssignOutcome]:
    """Label each nugget by an answer's whole text (Pradeep et al. 2024, AutoAssign)."""
    check_sizes(batch_size=batch_size)
    # An answer without a word contains no nugget: no call is needed.
    if not answer.split():
        by_rule = Labelled(AssignmentLabel.NOT_SUPPORT, None)
        return AssignOutcome((by_rule,) * len(nuggets), ())
    log = StepLog()
    values: dict[str, Value] = {"query": query, "passage": answer, **texts.values}
    labelling = Labelling(template, CODES, AssignmentLabel.FAILED, nuggets, values)
    labels = yield from label_all(log, labelling, batch_size)
    return AssignOutcome(labels, tuple(log.notes))
