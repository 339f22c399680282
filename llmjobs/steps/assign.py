"""AutoAssign: which nuggets of a list one answer contains."""

from dataclasses import dataclass

from evaluation.domain.labels import NUGGET_LABELS
from evaluation.terms import AssignmentLabel
from llmjobs.prompts import ASSIGN, NO_TEXTS, Template, TopicTexts
from llmjobs.steps.asking import Note, Step, StepLog, check_sizes
from llmjobs.steps.labelling import Labelled, Labelling, label_all


@dataclass(frozen=True, slots=True)
class AssignInput:
    """One answer's whole text, and the nuggets to look for in it."""

    query: str
    answer: str
    nuggets: tuple[str, ...]
    batch_size: int = 10
    template: Template = ASSIGN
    texts: TopicTexts = NO_TEXTS

    def __post_init__(self) -> None:
        check_sizes(batch_size=self.batch_size)


@dataclass(frozen=True, slots=True)
class NuggetLabel:
    """The label of one nugget: FAILED has a reason. Without an ask it was given by rule."""

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
        failed = [one.failure for one in self.labels if one.failure]
        return f"{len(failed)} of {len(self.labels)} nuggets: {failed[0]}" if failed else ""


def assign(work: AssignInput) -> Step[AssignOutcome]:
    """Label each nugget by the answer (method, AutoAssign)."""
    # An answer without a word contains no nugget: no call is needed.
    if not work.answer.split():
        by_rule = NuggetLabel(AssignmentLabel.NOT_SUPPORT, None)
        return AssignOutcome((by_rule,) * len(work.nuggets), 0, ())
    log = StepLog()
    values = {"query": work.query, "passage": work.answer, **work.texts.values}
    labelling = Labelling(work.template, NUGGET_LABELS.words, work.nuggets, {**values})
    labelled = yield from label_all(log, labelling, work.batch_size)
    return AssignOutcome(tuple(map(_nugget_label, labelled)), log.asks, tuple(log.notes))


def _nugget_label(one: Labelled) -> NuggetLabel:
    label = AssignmentLabel.FAILED if one.label is None else AssignmentLabel(NUGGET_LABELS.by_word[one.label].code)
    return NuggetLabel(label, one.ask, one.failure)
