from dataclasses import replace
from typing import Final

from pydantic import BaseModel, ConfigDict

from evaluation.labels import BATTLE_LABELS, BattleLabel, LabelSet
from evaluation.stages.base import LabelSettings, Stage
from evaluation.terms import BattleReason, PracticeKind

LEFT: Final = "left"
RIGHT: Final = "right"

REASONS: Final = {
    BattleReason.ACCURACY: ("a", "Accuracy"),
    BattleReason.COMPLETE: ("m", "More complete"),
    BattleReason.POINT: ("t", "To the point"),
    BattleReason.EVIDENCE: ("e", "Evidence"),
    BattleReason.ORDER: ("o", "Order"),
}
"""Key and caption. Evidence is a reason only where citations are shown."""


class VerdictExtras(BaseModel):
    """Why the winner is better or, where both are bad, what fails in both."""

    model_config = ConfigDict(extra="forbid")

    reasons: list[BattleReason] = []


class CompareAnswers(Stage):
    words = "Compare answers"
    meaning = "say which of two answers to a topic is better"
    assessor_words = "compare answers"
    unit = "verdict on two answers"
    practice = PracticeKind.BATTLE
    labels = BATTLE_LABELS
    reads = "battle"
    job = "battle"
    dealt = True
    question = "Which answer is better?"
    item = "verdict"
    asked, labelled = "Battle", "Verdicts"
    lede = (
        "Read the two answers side by side and say which is better: the left one, the right one, neither, or that both "
        "are bad. What cannot be judged gets a reason instead. You can go back to earlier battles until you submit."
    )
    # A minute, beside the reading of answers that were not read before.
    seconds_a_label = 60
    extras = VerdictExtras

    def labels_in(self, settings: LabelSettings) -> LabelSet:
        allowed = {BattleLabel.TIE: settings.battle_ties, BattleLabel.BAD: settings.battle_both_bad}
        degrees = tuple(degree for degree in BATTLE_LABELS.degrees if allowed.get(BattleLabel(degree.code), True))
        return replace(BATTLE_LABELS, degrees=degrees, refuses=bool(settings.battle_refuse))
