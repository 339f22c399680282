"""The entry: all that the rooms ask of a stage whose units are whole answers."""

from enum import IntEnum

from pydantic import BaseModel

from evaluation.labels import Label, label_set
from evaluation.stages import Stage


class Politeness(IntEnum):
    NO = 0
    YES = 1
    CANT_JUDGE = 8
    FAILED = 9


class Wish(BaseModel):
    better: str


class Polite(Stage):
    words = "Judge politeness"
    meaning = "say of each answer whether it is polite"
    assessor_words = "judge politeness"
    unit = "politeness label"
    question = "Is the answer polite?"
    lede = "Read each answer and say whether it is polite."
    seconds_a_label = 20
    extras = Wish
    labels = label_set(
        Politeness,
        Label(Politeness.YES, "Yes", "yes", "●", "1", key="1", meaning="Nobody would mind to be answered so."),
        Label(Politeness.NO, "No", "no", "○", "3", key="2", meaning="Somebody would."),
    )


POLITE = Polite("polite")
