from evaluation.stages.base import CHARACTERS_A_WORD, Stage
from evaluation.terms import Origin, PracticeKind

# About 150 minutes in the study, for a topic of the usual size: 75 passages of 150 words, 11,250 / 100 + 20 * 2 = 152.
WORDS_A_MINUTE = 100  # read closely to write
MINUTES_A_NUGGET = 2
USUAL_NUGGETS = 20  # where the campaign sets no limit


class Manual(Stage):
    words = "Write nuggets"
    meaning = "write a list from the passages alone"
    assessor_words = "write nuggets"
    unit = "manual nugget list"
    practice = PracticeKind.IMPORTANCE
    origin = Origin.MANUAL
    published_s = 2.5 * 3600
    needs = ("nugget_set", "qrels")
    cap = "manual_cap"
    lede = (
        "Read the passages and write down the facts that a good answer should contain, each as a nugget that is vital "
        "or okay. The list is empty at the start, and nothing on the page is made by a machine."
    )

    def minutes(self, *, characters: int = 0, drafts: int = 0, nuggets: int | None = None, labels: int = 0) -> int:
        reading = characters / CHARACTERS_A_WORD / WORDS_A_MINUTE
        return max(1, round(reading + (nuggets or USUAL_NUGGETS) * MINUTES_A_NUGGET))
