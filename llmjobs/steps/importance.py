"""Importance: which nuggets of a list are vital, and which okay."""

from dataclasses import dataclass

from evaluation.terms import Importance
from llmjobs.prompts import IMPORTANCE, NO_TEXTS, Template, TopicTexts
from llmjobs.steps.asking import Note, Step, StepLog, check_sizes
from llmjobs.steps.labelling import Labelled, Labelling, label_all

IMPORTANCES = {label.name.lower(): label for label in (Importance.VITAL, Importance.OKAY)}


@dataclass(frozen=True, slots=True)
class ImportanceInput:
    """A query and the nuggets to weigh, in list order."""

    query: str
    nuggets: tuple[str, ...]
    batch_size: int = 10
    template: Template = IMPORTANCE
    texts: TopicTexts = NO_TEXTS

    def __post_init__(self) -> None:
        check_sizes(batch_size=self.batch_size)


@dataclass(frozen=True, slots=True)
class ImportanceOutcome:
    """One importance per nugget, in the order of the input; UNKNOWN where no reply could be used."""

    importances: tuple[Importance, ...]
    failure: str
    asks: int
    notes: tuple[Note, ...]


def importance(work: ImportanceInput) -> Step[ImportanceOutcome]:
    log = StepLog()
    labelled = yield from weigh_all(log, work)
    failed = [one.failure for one in labelled if one.failure]
    failure = f"{len(failed)} of {len(labelled)} nuggets: {failed[0]}" if failed else ""
    return ImportanceOutcome(tuple(map(importance_of, labelled)), failure, log.asks, tuple(log.notes))


def weigh_all(log: StepLog, work: ImportanceInput) -> Step[tuple[Labelled, ...]]:
    """Importance of every nugget; as long as the list."""
    values = {"query": work.query, **work.texts.values}
    labelling = Labelling(work.template, tuple(IMPORTANCES), work.nuggets, {**values}, "importance batch")
    return (yield from label_all(log, labelling, work.batch_size))


def importance_of(one: Labelled) -> Importance:
    return Importance.UNKNOWN if one.label is None else IMPORTANCES[one.label]
