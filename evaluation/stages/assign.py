from evaluation.labels import NUGGET_LABELS
from evaluation.stages.base import Stage
from evaluation.terms import PracticeKind, StudyKind

LEDE = (
    "Read each answer and say of every nugget whether the answer meets it, partly or not at all. {} What cannot be "
    "judged gets a reason instead. You can go back to earlier answers until you submit."
)


class Assign(Stage):
    words = "Label answers"
    meaning = "decide which nuggets of a submitted list each answer says"
    assessor_words = "label answers"
    unit = "nugget label"
    practice = PracticeKind.ASSIGN
    labels = NUGGET_LABELS
    question = "Is it in the answer?"
    rubric_question = "Is it true of the answer?"
    asked, labelled = "Nugget", "Nugget labels"
    lede = LEDE.format("All answers have the same nuggets.")
    sample_lede = LEDE.format(
        "Each answer has a few nuggets of its own, and there may be more in it than is asked."
    )
    # 45 answers by 14 to 20 nuggets in about two hours are 8 to 11 seconds a label.
    seconds_a_label = 9
    study = StudyKind.ASSIGNMENT
    needs = ("nugget_set",)
    by_list = True
    pair_address = "reports:nuggets_pair"
    job = "labels"
