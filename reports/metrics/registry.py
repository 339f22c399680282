"""All scores: what each is called, counts and may be. Only its formula stands elsewhere, in docs/metrics.md.

Columns, forms, exports, fields of the API, the glossary, intervals and corrected scores follow from these entries.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from evaluation.terms import Scoring
from reports.metrics.intervals import AMOUNTS, FRACTIONS, UP_TO_ONE


class Profile(StrEnum):
    """A family of scores: of nuggets by their importance, of nuggets by their weights, of citations."""

    TREC_RAG = Scoring.TREC_RAG.value
    RUBRIC = Scoring.RUBRIC.value
    CITATIONS = "citations"


OF_NUGGETS: Final = tuple(map(Profile, Scoring))
"""Profiles of the same labels, from which the protocol's scoring chooses."""


@dataclass(frozen=True, slots=True)
class Score:
    """A score of an answer; a run's is its mean over topics.

    `words`: on screen, and `field` in files of nuggetizer. `shares`: whole numbers that a vital, an okay and a nugget
    of unknown importance count; `by_weight`: a nugget counts by its weight. `strict`: partial support counts nothing.
    `bounds`: the least and the most that a mean can be; `lower_is_better`: a number of faults. `part`: precision or
    recall, of citations. `text`: what the API says of it; `definition` and `used`: what the glossary says, and pages
    that have it. `profile` None: of every profile of nuggets.
    """

    name: str
    profile: Profile | None
    words: str
    definition: str
    bounds: tuple[float, float] = FRACTIONS
    shares: tuple[int, int, int] = (0, 0, 0)
    by_weight: bool = False
    strict: bool = False
    lower_is_better: bool = False
    field: str = ""
    part: str = ""
    text: str = ""
    used: tuple[str, ...] = ("Leaderboard",)

    @property
    def term(self) -> str:
        """The key of its term: vital and all are other words than the importance and the choice of that name."""
        if self.profile is Profile.CITATIONS:
            return self.words.lower().replace(", ", "-").replace(" ", "-")
        if self.strict or self.profile is Profile.RUBRIC or self.name == "weighted":
            return self.name.replace("_", "-")
        return f"{self.name}-score"

    @property
    def spoken(self) -> str:
        return self.words.lower()

    @property
    def is_fraction(self) -> bool:
        return self.bounds[1] == 1

    @property
    def is_size(self) -> bool:
        """Whether it is a size of the answer as it was submitted, which no label changes."""
        return not (self.is_fraction or self.lower_is_better)

    def is_of(self, profile: Profile) -> bool:
        return self.profile is profile or (self.profile is None and profile in OF_NUGGETS)

    def is_better(self, value: float, other: float) -> bool:
        return value < other if self.lower_is_better else value > other


VITAL_NUGGETS, BY_IMPORTANCE, EVERY_NUGGET = (1, 0, 0), (2, 1, 0), (1, 1, 1)
BOTH_PAGES = ("Leaderboard", "Citations")
PARTLY_NOTHING, PARTLY_HALF = (
    "a nugget that is partly said counts 0.",
    "a nugget that is partly said counts one half.",
)
SCORES: Final = (
    Score(
        "vital_strict",
        Profile.TREC_RAG,
        "Vital, strict",
        f"Share of the vital nuggets that the answer says; {PARTLY_NOTHING}",
        shares=VITAL_NUGGETS,
        strict=True,
        field="strict_vital_score",
        text="the primary score",
    ),
    Score(
        "vital",
        Profile.TREC_RAG,
        "Vital",
        f"Share of the vital nuggets that the answer says; {PARTLY_HALF}",
        shares=VITAL_NUGGETS,
        field="vital_score",
    ),
    Score(
        "weighted_strict",
        Profile.TREC_RAG,
        "Weighted, strict",
        "Share of all nuggets that the answer says, okay ones at half weight; partly said counts 0.",
        shares=BY_IMPORTANCE,
        strict=True,
        field="weighted_strict_score",
    ),
    Score(
        "weighted",
        Profile.TREC_RAG,
        "Weighted",
        "Share of all nuggets that the answer says, okay ones at half weight; partly said counts one half.",
        shares=BY_IMPORTANCE,
        field="weighted_score",
    ),
    Score(
        "all_strict",
        Profile.TREC_RAG,
        "All, strict",
        "Share of all nuggets that the answer says, vital and okay alike; partly said counts 0.",
        shares=EVERY_NUGGET,
        strict=True,
        field="strict_all_score",
    ),
    Score(
        "all",
        Profile.TREC_RAG,
        "All",
        "Share of all nuggets that the answer says, vital and okay alike; partly said counts one half.",
        shares=EVERY_NUGGET,
        field="all_score",
    ),
    Score(
        "rubric",
        Profile.RUBRIC,
        "Rubric",
        f"Weights of the criteria that the answer meets, by those above 0; {PARTLY_HALF}",
        bounds=UP_TO_ONE,
        by_weight=True,
        text="of a rubric: the primary score where a campaign is scored by weights",
    ),
    Score(
        "rubric_strict",
        Profile.RUBRIC,
        "Rubric, strict",
        f"Weights of the criteria that the answer meets, by those above 0; {PARTLY_NOTHING}",
        bounds=UP_TO_ONE,
        by_weight=True,
        strict=True,
        text="of a rubric",
    ),
    Score(
        "violations",
        Profile.RUBRIC,
        "Violations",
        "Criteria below 0 that the answer fully meets: what it must not say or do. Fewer are better.",
        bounds=AMOUNTS,
        lower_is_better=True,
        text="of a rubric: criteria below 0 that an answer meets, the mean",
    ),
    Score(
        "mandatory_missed",
        Profile.RUBRIC,
        "Mandatory missed",
        "Vital criteria above 0 that the answer does not fully meet. Fewer are better.",
        bounds=AMOUNTS,
        lower_is_better=True,
        text="of a rubric: vital criteria above 0 that an answer does not meet, the mean",
    ),
    Score("length", None, "Words", "", bounds=AMOUNTS, text="words of an answer, the mean"),
    Score(
        "weighted_precision",
        Profile.CITATIONS,
        "Citation precision",
        "Mean support of the judged pairs of sentence and cited passage: full counts 1, partial one half.",
        part="precision",
        text="of support",
        used=BOTH_PAGES,
    ),
    Score(
        "weighted_recall",
        Profile.CITATIONS,
        "Citation recall",
        "Mean support over all sentences of the answer: full counts 1, partial one half, uncited 0.",
        part="recall",
        text="of support",
        used=BOTH_PAGES,
    ),
    Score(
        "precision_strict",
        Profile.CITATIONS,
        "Citation precision, strict",
        "Share of the judged pairs of sentence and cited passage with full support; partial counts 0.",
        strict=True,
        part="precision",
        text="of support",
        used=BOTH_PAGES,
    ),
    Score(
        "recall_strict",
        Profile.CITATIONS,
        "Citation recall, strict",
        "Share of all sentences of the answer with full support; partial and uncited count 0.",
        strict=True,
        part="recall",
        text="of support",
        used=BOTH_PAGES,
    ),
    Score("sentences", Profile.CITATIONS, "Sentences", "", bounds=AMOUNTS, text="of an answer, the mean"),
)
BY_NAME: Final = {score.name: score for score in SCORES}
PRIMARY: Final = "vital_strict"
LENGTH: Final = "length"
VIOLATIONS: Final = "violations"


def measure_words(measure: str) -> str:
    """Return the words of a score; what a judge's file measures by another name goes by that name."""
    return BY_NAME[measure].words if measure in BY_NAME else measure


def scores_of(profile: Profile, *, sizes: bool = False) -> tuple[Score, ...]:
    """Return the scores of a profile, the primary one first; `sizes`: those of the answer alone as well."""
    return tuple(score for score in SCORES if score.is_of(profile) and (sizes or not score.is_size))


def names_of(profile: Profile, *, sizes: bool = False) -> tuple[str, ...]:
    return tuple(score.name for score in scores_of(profile, sizes=sizes))


def primary_of(profile: Profile) -> str:
    return names_of(profile)[0]
