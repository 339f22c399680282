"""AutoNuggets: segments to a list of nuggets, window by window; and the over-generated drafts for post-editing."""

from dataclasses import dataclass
from functools import partial

from evaluation.terms import Importance
from llmjobs.prompts.template import NO_TEXTS, Template, TopicTexts, Value
from llmjobs.prompts.texts import IMPORTANCE, NUGGETIZE
from llmjobs.steps.asking import Ask, Note, Step, StepLog, check_sizes, converse, halves, question, spans
from llmjobs.steps.assign import Labelled, Labelling, failure_of, label_all
from llmjobs.steps.parsing import parse_nuggets

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
    notes: tuple[Note, ...]


def importance(work: ImportanceInput) -> Step[ImportanceOutcome]:
    log = StepLog()
    labelled = yield from weigh_all(log, work)
    return ImportanceOutcome(tuple(label.label for label in labelled), failure_of(labelled), tuple(log.notes))


def weigh_all(log: StepLog, work: ImportanceInput) -> Step[tuple[Labelled[Importance], ...]]:
    values: dict[str, Value] = {"query": work.query, **work.texts.values}
    unknown = Importance.UNKNOWN
    labelling = Labelling(work.template, IMPORTANCES, unknown, work.nuggets, values, "importance batch")
    return (yield from label_all(log, labelling, work.batch_size))


# A nugget whose label failed goes behind those that are known: nothing says that it belongs among the first.
SORTED = (Importance.VITAL, Importance.OKAY, Importance.UNKNOWN)


@dataclass(frozen=True, slots=True)
class DraftsInput:
    """A query and its segments in order: what the windows read."""

    query: str
    segments: tuple[str, ...]
    window_size: int = 10
    draft_cap: int = 30
    template: Template = NUGGETIZE
    texts: TopicTexts = NO_TEXTS

    def __post_init__(self) -> None:
        check_sizes(window_size=self.window_size, draft_cap=self.draft_cap)


@dataclass(frozen=True, slots=True)
class NuggetizeInput:
    drafts: DraftsInput
    nugget_cap: int = 20
    batch_size: int = 10
    template: Template = IMPORTANCE

    def __post_init__(self) -> None:
        check_sizes(nugget_cap=self.nugget_cap, batch_size=self.batch_size)


@dataclass(frozen=True, slots=True)
class ListNugget:
    """A nugget, the ask whose reply first had it in these words, and the ask that gave its importance.

    A draft has no importance. Of another nugget UNKNOWN has a reason.
    """

    text: str
    text_ask: int
    importance: Importance = Importance.UNKNOWN
    importance_ask: int | None = None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class DraftsOutcome:
    """The last window's list. It is empty only where the topic failed; `unread` are segments without a usable reply."""

    drafts: tuple[ListNugget, ...]
    unread: tuple[int, ...]
    failure: str
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class NuggetizeOutcome:
    """The nuggets, vital first, and those beyond the cap. `drafts` is the outcome of the windows."""

    nuggets: tuple[ListNugget, ...]
    left_out: tuple[ListNugget, ...]
    drafts: DraftsOutcome
    failure: str
    notes: tuple[Note, ...]


def over_generated_drafts(work: DraftsInput) -> Step[DraftsOutcome]:
    """List for post-editing: long on purpose, without importance."""
    return (yield from _read_windows(StepLog(), work))


def nuggetize(work: NuggetizeInput) -> Step[NuggetizeOutcome]:
    """List of nuggets, vital first in the list's own order, cut at the cap."""
    log = StepLog()
    reading = yield from _read_windows(log, work.drafts)
    if reading.failure:
        return NuggetizeOutcome((), (), reading, reading.failure, tuple(log.notes))
    texts = tuple(draft.text for draft in reading.drafts)
    weighing = ImportanceInput(work.drafts.query, texts, work.batch_size, work.template, work.drafts.texts)
    labelled = yield from weigh_all(log, weighing)
    nuggets = [
        ListNugget(draft.text, draft.text_ask, label.label, label.ask, label.failure)
        for draft, label in zip(reading.drafts, labelled, strict=True)
    ]
    ranked = sorted(nuggets, key=lambda nugget: SORTED.index(nugget.importance))
    kept, left_out = ranked[: work.nugget_cap], ranked[work.nugget_cap :]
    if unknown := sum(nugget.importance == Importance.UNKNOWN for nugget in nuggets):
        log.note("list", "failed", f"{unknown} nuggets of unknown importance stand behind vital and okay ones")
    if left_out:
        log.note("list", "cut", f"{len(left_out)} of {len(ranked)} nuggets are beyond the first {work.nugget_cap}")
    return NuggetizeOutcome(tuple(kept), tuple(left_out), reading, "", tuple(log.notes))


def _read_windows(log: StepLog, work: DraftsInput) -> Step[DraftsOutcome]:
    drafts: tuple[ListNugget, ...] = ()
    unread: list[int] = []
    failure = "" if work.segments else "there are no passages to read"
    for number, (first, last) in enumerate(spans(len(work.segments), work.window_size), start=1):
        window = f"window {number}"
        drafts, unread_here, failure = yield from _read_window(log, work, drafts, first, last, window)
        unread += unread_here
        if failure:
            break
    return DraftsOutcome(() if failure else drafts, tuple(unread), failure, tuple(log.notes))


def _read_window(
    log: StepLog, work: DraftsInput, drafts: tuple[ListNugget, ...], first: int, last: int, window: str
) -> Step[tuple[tuple[ListNugget, ...], list[int], str]]:
    """Drafts after a window, its unread segments, and why the topic fails with it."""
    # A window without a usable reply is halved, so that only the segments that break it stay unread.
    unread: list[int] = []
    failure = ""
    pending = [(first, last)]
    read = partial(parse_nuggets, most=work.draft_cap)
    while pending:
        start, end = pending.pop()
        part = window if end - start == last - first else f"{window}, segments {start + 1}-{end}"
        answer = yield from converse(log, _window_ask(work, drafts, start, end, part), read)
        if answer.value:
            # A nugget in unchanged words keeps the ask that first had it: provenance leads there.
            ask_by_text = {draft.text: draft.text_ask for draft in drafts}
            drafts = tuple(ListNugget(text, ask_by_text.get(text, answer.ask)) for text in answer.value.items)
            continue
        failure = answer.failure
        if answer.gone:
            return (), unread, f"{part}: {failure}"
        if end - start > 1:
            pending += reversed(halves(start, end))
            log.note(part, "split", f"split in two: {failure}")
        else:
            unread.append(start)
            log.note(part, "failed", failure)
    return drafts, unread, f"{window}: {failure}" if len(unread) == last - first else ""


def _window_ask(work: DraftsInput, drafts: tuple[ListNugget, ...], start: int, end: int, part: str) -> Ask:
    return question(
        work.template,
        part,
        query=work.query,
        segments=work.segments[start:end],
        nuggets=[draft.text for draft in drafts],
        length=len(drafts),
        cap=work.draft_cap,
        **work.texts.values,
    )
