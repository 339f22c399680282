from evaluation.labels import CITATION_LABELS
from evaluation.stages.base import Stage
from evaluation.terms import PracticeKind, StudyKind, SupportCondition

LEDE = (
    "Read {}, and say how much of the sentence the passage supports: full, partial or none. What cannot be judged gets "
    "a reason instead. You can go back to earlier pairs until you submit."
)


class Unaided(Stage):
    words = SupportCondition.SCRATCH.words
    meaning = "decide whether cited passages back the sentences"
    assessor_words = "judge citations"  # under which condition is not told
    unit = "citation label, unaided"
    practice = PracticeKind.SUPPORT
    labels = CITATION_LABELS
    question = "Does the passage support the sentence?"
    item = "pair"
    asked, labelled = "Sentence", "Citation labels"
    lede = LEDE.format("each sentence of the answers beside a passage that it cites")
    sample_lede = LEDE.format("some sentences of the answers, each beside a passage that it cites")
    # A pair is a sentence and a passage of some 150 words, which is skimmed; often the next pair has the same passage.
    seconds_a_label = 25
    condition = SupportCondition.SCRATCH
    study: StudyKind | None = StudyKind.SUPPORT
    pair_address = "reports:citations_pair"
    job = "support"
    keys = ("support",)


class LabelShown(Unaided):
    words = SupportCondition.POST_EDIT.words
    meaning = "the same, with an LLM's label beside each pair"
    unit = "citation label, machine label shown"
    condition = SupportCondition.POST_EDIT
    study = None
    job = ""
    needs = ("judge",)
    shows_label = True
