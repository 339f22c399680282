"""Facts that every stage declares."""

from collections.abc import Callable
from typing import Final, Protocol

from pydantic import BaseModel

from evaluation.labels import NO_LABELS, LabelSet
from evaluation.terms import Origin, PracticeKind, StudyKind, SupportCondition


class LabelSettings(Protocol):
    """Settings of a protocol that labels depend on."""

    relevance_max: int
    grade_words: str
    battle_ties: bool
    battle_both_bad: bool
    battle_refuse: bool


class Stage(str):
    """What an assessor is asked to do with a topic: its code, which is in rows, files and addresses, and its facts.

    `meaning` is for those who hand it out, `assessor_words` for its assessors; `unit` what is paid. `labels`: that
    people give; none where they make a list, of the `origin`. `needs`: columns of its tasks that are never empty.
    `seconds_a_label`: about how long one takes. `condition`: of the citation labels that it gives.
    """

    __slots__ = ()

    words: str
    meaning: str
    assessor_words: str
    unit: str
    practice: PracticeKind | None = None
    labels: LabelSet = NO_LABELS
    seconds_a_label: int = 0
    question: str = ""
    """Asked of each unit, at the desk."""
    rubric_question: str = ""
    """Asked of each criterion instead, of one to avoid too."""
    item: str = "label"
    """What is counted there."""
    reads: str = "answer"
    """Noun of the texts that its desk shows, one at a time."""
    asked, labelled = "Answer", "Labels"
    """What is labelled, and the labels, as headings."""
    lede: str = ""
    sample_lede: str = ""
    """What is to be done, on the page before a task is started; where only some units are asked, `sample_lede`."""
    origin: Origin | None = None
    published_s: float | None = None
    """What a topic took in the study (Pradeep et al. 2025)."""
    condition: SupportCondition | None = None
    study: StudyKind | None = None
    """Second looks and random checks that are handed out at this stage."""
    extras: type[BaseModel] | None = None
    """What a label says beside its word and reason."""
    needs: tuple[str, ...] = ()
    cap: str = ""
    """Setting of the protocol: the most nuggets of a list."""
    pair_address: str = ""
    """Address of a page about one unit in one answer."""
    job: str = ""
    """Kind of the jobs in which LLMs give such labels."""
    gives_grades: bool = False
    """Whether its labels are grades of relevance, which are kept as a source of qrels too."""
    by_list: bool = False
    """Whether answers are labelled by a nugget list, so that a topic has a task for each list."""
    dealt: bool = False
    """Whether its units are dealt out: a topic has several tasks, each with units of its own that stay as they are."""
    shows_label: bool = False
    """Whether an LLM's label is on the screen."""
    keys: tuple[str, ...] = ()
    """Names of static/js/desk/keymap.json under which it finds keys, beside its code and `judging` or `nuggets`."""

    def labels_in(self, settings: LabelSettings) -> LabelSet:
        return self.labels

    @property
    def judges(self) -> bool:
        return self.origin is None

    @property
    def shows_drafts(self) -> bool:
        return "drafts" in self.needs

    @property
    def by_hand(self) -> bool:
        return self.origin is Origin.MANUAL

    def minutes(self, *, characters: int = 0, drafts: int = 0, nuggets: int | None = None, labels: int = 0) -> int:
        """Return about how long a topic takes, at least a minute, so that people get equal shares: it is no norm.

        `characters` of the passages to read; `nuggets` is the limit of a list written by hand; `labels` to give.
        """
        return max(1, round(labels * self.seconds_a_label / 60))

    def __reduce__(self) -> tuple[Callable[[str], "Stage"], tuple[str]]:
        return stage_of, (str(self),)


CHARACTERS_A_WORD: Final = 6  # with the space; words are not counted: all texts would have to be read for it

STAGES: Final[dict[str, Stage]] = {}
"""By code, in the order of pages and files."""


def stage_of_study(kind: str) -> Stage:
    return next(stage for stage in STAGES.values() if stage.study == kind)


def stage_of(code: str) -> Stage:
    """Raises ValueError for a code that is none."""
    if code not in STAGES:
        raise ValueError(f"{code!r} is no stage; there are {', '.join(STAGES)}.")
    return STAGES[code]
