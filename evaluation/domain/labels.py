"""Labels of nuggets in answers and of cited passages: one set for desks, prompts, files and reports."""

from dataclasses import dataclass
from typing import Final

from evaluation.terms import AssignmentLabel, Stage, SupportLabel


@dataclass(frozen=True, slots=True)
class Label:
    """`key`, `caption`, `glyph` and `tone`: of the keyboard and the buttons at the desks."""

    code: AssignmentLabel | SupportLabel
    key: str
    caption: str
    glyph: str
    tone: str

    @property
    def word(self) -> str:
        return self.code.name.lower()


@dataclass(frozen=True, slots=True)
class LabelSet:
    """Labels of one kind of item. `degrees`: from the fullest down, the order of desks and prompts."""

    degrees: tuple[Label, ...]
    cant_judge: Label

    @property
    def by_word(self) -> dict[str, Label]:
        return {label.word: label for label in (*self.degrees, self.cant_judge)}

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(degree.word for degree in self.degrees)

    @property
    def scale(self) -> tuple[str, ...]:
        """Words in the order of their codes 0, 1, 2, by which the axes of reports are indexed."""
        return self.words[::-1]

    @property
    def codes(self) -> tuple[int, ...]:
        return tuple(int(degree.code) for degree in self.degrees)


NUGGET_LABELS: Final = LabelSet(
    degrees=(
        Label(AssignmentLabel.SUPPORT, "1", "Support", "●", "full"),
        Label(AssignmentLabel.PARTIAL_SUPPORT, "2", "Partial", "◐", "part"),
        Label(AssignmentLabel.NOT_SUPPORT, "3", "Not", "○", "none"),
    ),
    cant_judge=Label(AssignmentLabel.CANT_JUDGE, "x", "Can't judge", "⊘", "cant"),
)
CITATION_LABELS: Final = LabelSet(
    degrees=(
        Label(SupportLabel.FULL_SUPPORT, "1", "Full", "●", "full"),
        Label(SupportLabel.PARTIAL_SUPPORT, "2", "Partial", "◐", "part"),
        Label(SupportLabel.NO_SUPPORT, "3", "None", "○", "none"),
    ),
    cant_judge=Label(SupportLabel.CANT_JUDGE, "x", "Can't judge", "⊘", "cant"),
)


def labels_of_stage(stage: str) -> LabelSet:
    return NUGGET_LABELS if stage == Stage.ASSIGN else CITATION_LABELS
