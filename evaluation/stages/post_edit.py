from evaluation.stages.base import CHARACTERS_A_WORD, Stage
from evaluation.terms import Origin, PracticeKind

# About 60 minutes in the study, for a topic of the usual size: 75 passages of 150 words, 11,250 / 250 + 30 / 2 = 60.
WORDS_A_MINUTE = 250  # looked up to check drafts
MINUTES_A_DRAFT = 0.5


class PostEdit(Stage):
    words = "Edit drafts"
    meaning = "decide on an LLM's drafts, beside the passages"
    assessor_words = "edit drafts"
    unit = "edited nugget list"
    practice = PracticeKind.IMPORTANCE
    origin = Origin.EDITED
    published_s = 1.0 * 3600
    needs = ("nugget_set", "drafts", "qrels")
    cap = "edited_cap"
    lede = (
        "Read the passages and turn the drafts into a list of facts that a good answer should contain: keep, edit, "
        "reject, merge and split them, add what is missing, and call each nugget vital or okay. Every draft needs a "
        "decision."
    )

    def minutes(self, *, characters: int = 0, drafts: int = 0, nuggets: int | None = None, labels: int = 0) -> int:
        return max(1, round(characters / CHARACTERS_A_WORD / WORDS_A_MINUTE + drafts * MINUTES_A_DRAFT))
