"""Flags on an assessor's figures: evidence, and a possible innocent reason. Never a score."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from organizer.people_rows import PersonStage
from organizer.words import stage_text

FEWEST_TASKS: Final = 3
FEWEST_ACCEPTS: Final = 5
FEWEST_LABELS: Final = 50
QUICK_MS: Final = 500
"""Below this a shown label is hardly read; studies use it as a screening value only."""
FAST_WORDS: Final = 700
"""Words a minute beyond which even skimming is hard."""
OFTEN: Final = 0.2
APART: Final = 0.25
WIDE: Final = 2.0
LABELS: Final = ("full", "partial", "no support")


@dataclass(frozen=True, slots=True)
class Flag:
    """A conspicuous figure: person, stage, evidence, and an innocent reason for it."""

    who: str
    stage: str
    evidence: str
    innocent: str


def flags_of(rows: Iterable[PersonStage]) -> Iterator[Flag]:
    for row in rows:
        for evidence, innocent in _seen(row):
            yield Flag(row.who.name, stage_text(row.stage), evidence, innocent)


def _seen(row: PersonStage) -> Iterator[tuple[str, str]]:
    yield from _times(row)
    yield from _labels(row)
    accepts = row.accepts
    if accepts and accepts.number >= FEWEST_ACCEPTS and accepts.median < QUICK_MS:
        yield (
            f"Shown labels were accepted after {accepts.median:,.0f} ms at the median, {accepts.number:,} "
            "accepts.",
            "The label may have been plain, or the passage known from the pair before.",
        )


def _times(row: PersonStage) -> Iterator[tuple[str, str]]:
    if not row.minutes or row.minutes.number < FEWEST_TASKS:
        return
    if not row.stage.judges and row.words_per_minute and row.words_per_minute > FAST_WORDS:
        yield (
            f"{row.words_per_minute:,.0f} words a minute at the median of {row.minutes.number:,} tasks.",
            "Passages that repeat each other need no second reading, and some read on paper, which no clock sees.",
        )
    if row.low and row.high and row.high > WIDE * row.low:
        yield (
            f"The active time is uncertain: {row.low:,.0f} to {row.high:,.0f} min at the medians.",
            "Long texts are read without a touch, and not everybody answers when asked what a pause was.",
        )


def _labels(row: PersonStage) -> Iterator[tuple[str, str]]:
    if row.mix.total < FEWEST_LABELS:
        return
    if row.mix.cant_judge and row.mix.cant_judge > OFTEN:
        yield (
            f"{_percent(row.mix.cant_judge)} of {row.mix.total:,} labels say that it cannot be judged.",
            "The topics may have passages in other languages, or sentences without sense.",
        )
    mine, others = row.mix.shares, row.others.shares
    if mine and others and row.others.total >= FEWEST_LABELS:
        widest = max(range(3), key=lambda place: abs(mine[place] - others[place]))
        if abs(mine[widest] - others[widest]) > APART:
            yield (
                f"{_percent(mine[widest])} {LABELS[widest]}, beside {_percent(others[widest])} by others "
                "on the same topics.",
                "The others are LLMs among others, and may be the ones who are wrong.",
            )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
