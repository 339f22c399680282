"""All scores: what each is called, counts and may be. Only its formula stands elsewhere, in docs/metrics.md.

Columns, forms, exports, fields of the API, the glossary, intervals and corrected scores follow from these entries.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from reports.metrics.intervals import AMOUNTS, FRACTIONS


class Profile(StrEnum):
    """What a score is made from."""

    NUGGETS = "nuggets"
    CITATIONS = "citations"


@dataclass(frozen=True, slots=True)
class Score:
    """A score of an answer; a run's is its mean over topics.

    `words`: on screen, and `field` in files of nuggetizer. `shares`: whole numbers that a vital, an okay and a nugget
    of unknown importance count; `strict`: partial support counts nothing. `bounds`: the least and the most that a mean
    can be. `text`: what the API says of it; `definition` and `used`: what the glossary says, and pages that have it.
    """

    name: str
    profile: Profile
    words: str
    definition: str
    bounds: tuple[float, float] = FRACTIONS
    shares: tuple[int, int, int] = (0, 0, 0)
    strict: bool = False
    field: str = ""
    text: str = ""
    used: tuple[str, ...] = ("Leaderboard",)

    @property
    def term(self) -> str:
        """The key of its term: vital and all are other words than the importance and the choice of that name."""
        if self.profile is Profile.CITATIONS:
            return self.words.lower().replace(" ", "-")
        return self.name.replace("_", "-") if self.strict or self.name == "weighted" else f"{self.name}-score"

    @property
    def is_fraction(self) -> bool:
        return self.bounds == FRACTIONS


VITAL_NUGGETS, BY_IMPORTANCE, EVERY_NUGGET = (1, 0, 0), (2, 1, 0), (1, 1, 1)
BOTH_PAGES = ("Leaderboard", "Citations")
PARTLY_NOTHING, PARTLY_HALF = (
    "a nugget that is partly said counts 0.",
    "a nugget that is partly said counts one half.",
)
SCORES: Final = (
    Score(
        "vital_strict",
        Profile.NUGGETS,
        "Vital, strict",
        f"Share of the vital nuggets that the answer says; {PARTLY_NOTHING}",
        shares=VITAL_NUGGETS,
        strict=True,
        field="strict_vital_score",
        text="the primary score",
    ),
    Score(
        "vital",
        Profile.NUGGETS,
        "Vital",
        f"Share of the vital nuggets that the answer says; {PARTLY_HALF}",
        shares=VITAL_NUGGETS,
        field="vital_score",
    ),
    Score(
        "weighted_strict",
        Profile.NUGGETS,
        "Weighted, strict",
        "Share of all nuggets that the answer says, okay ones at half weight; partly said counts 0.",
        shares=BY_IMPORTANCE,
        strict=True,
        field="weighted_strict_score",
    ),
    Score(
        "weighted",
        Profile.NUGGETS,
        "Weighted",
        "Share of all nuggets that the answer says, okay ones at half weight; partly said counts one half.",
        shares=BY_IMPORTANCE,
        field="weighted_score",
    ),
    Score(
        "all_strict",
        Profile.NUGGETS,
        "All, strict",
        "Share of all nuggets that the answer says, vital and okay alike; partly said counts 0.",
        shares=EVERY_NUGGET,
        strict=True,
        field="strict_all_score",
    ),
    Score(
        "all",
        Profile.NUGGETS,
        "All",
        "Share of all nuggets that the answer says, vital and okay alike; partly said counts one half.",
        shares=EVERY_NUGGET,
        field="all_score",
    ),
    Score(
        "length",
        Profile.NUGGETS,
        "Words",
        "",
        bounds=AMOUNTS,
        text="words of an answer, the mean",
    ),
    Score(
        "weighted_precision",
        Profile.CITATIONS,
        "Citation precision",
        "Mean support of the judged pairs of sentence and cited passage: full counts 1, partial one half.",
        text="of support",
        used=BOTH_PAGES,
    ),
    Score(
        "weighted_recall",
        Profile.CITATIONS,
        "Citation recall",
        "Mean support over all sentences of the answer: full counts 1, partial one half, uncited 0.",
        text="of support",
        used=BOTH_PAGES,
    ),
    Score("sentences", Profile.CITATIONS, "Sentences", "", bounds=AMOUNTS, text="of an answer, the mean"),
)
BY_NAME: Final = {score.name: score for score in SCORES}
OF_NUGGETS: Final = tuple(score for score in SCORES if any(score.shares))
PRIMARY: Final = OF_NUGGETS[0].name
LENGTH: Final = "length"


def names_of(profile: Profile, *, fractions: bool = False) -> tuple[str, ...]:
    return tuple(
        score.name for score in SCORES if score.profile is profile and (score.is_fraction or not fractions)
    )
