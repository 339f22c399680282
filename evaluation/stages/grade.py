from collections.abc import Iterator
from dataclasses import replace
from enum import IntEnum
from typing import Final

from evaluation.labels import Label, LabelSet, label_set
from evaluation.stages.base import LabelSettings, Stage
from evaluation.terms import PracticeKind

HIGHEST: Final = 9
"""Grade of any scale: each has the key of its digit."""


class Grade(IntEnum):
    """Relevance of a passage to its topic. Values are the grades of qrels."""

    GRADE_0 = 0
    GRADE_1 = 1
    GRADE_2 = 2
    GRADE_3 = 3
    GRADE_4 = 4
    GRADE_5 = 5
    GRADE_6 = 6
    GRADE_7 = 7
    GRADE_8 = 8
    GRADE_9 = 9
    CANT_JUDGE = 98
    FAILED = 99


USUAL_WORDS: Final = {
    # UMBRELA's scale (Upadhyay et al. 2024), which is that of TREC's deep learning track.
    3: ("Irrelevant", "Related", "Highly relevant", "Perfectly relevant"),
    # By the sub-narratives of a topic, as the 2025 track counts them.
    4: ("Irrelevant", "Related", "One part", "Several parts", "Whole topic"),
}
"""From grade 0 up, by the highest grade of the scale."""

MEANINGS: Final = {
    3: (
        "The passage has nothing to do with the topic.",
        "It is about the topic but does not answer it.",
        "It has some of the answer, but unclear or among other things.",
        "It is about the topic and has the answer.",
    ),
    4: (
        "The passage has nothing to do with the topic.",
        "It is about the topic but answers no part of the narrative.",
        "It answers one part of the narrative.",
        "It answers several parts of the narrative.",
        "It answers the narrative as a whole.",
    ),
}


def _degrees(top: int, words: tuple[str, ...], meanings: tuple[str, ...]) -> Iterator[Label]:
    for grade in range(top, -1, -1):
        yield Label(
            Grade(grade),
            caption=words[grade] if grade < len(words) else f"Grade {grade}",
            spoken=f"grade {grade}",
            glyph=str(grade),
            tone="1" if grade == top else "2" if grade else "3",
            key=str(grade),
            meaning=meanings[grade] if grade < len(meanings) else f"Grade {grade} of 0 to {top}.",
        )


def grades_up_to(top: int, words: tuple[str, ...] = ()) -> LabelSet:
    """Return the grades of a scale that ends at `top`; `words`: from grade 0 up, none: the usual ones."""
    meanings = () if words else MEANINGS.get(top, ())
    return replace(ALL_GRADES, degrees=tuple(_degrees(top, words or USUAL_WORDS.get(top, ()), meanings)))


ALL_GRADES: Final = label_set(Grade, *_degrees(HIGHEST, (), ()))


class GradePassages(Stage):
    words = "Grade passages"
    meaning = "say how relevant each passage of a topic is"
    assessor_words = "grade passages"
    unit = "grade of relevance"
    practice = PracticeKind.GRADE
    labels = ALL_GRADES
    reads = "passage"
    gives_grades = True
    question = "How relevant is the passage?"
    item = "grade"
    asked, labelled = "Passage", "Grades"
    lede = (
        "Read each passage and say how relevant it is to the topic, by its grade. What cannot be judged gets a reason "
        "instead. You can go back to earlier passages until you submit."
    )
    # A passage is some 150 words, which is skimmed.
    seconds_a_label = 20

    def labels_in(self, settings: LabelSettings) -> LabelSet:
        return grades_up_to(settings.relevance_max, tuple(settings.grade_words.splitlines()))
