"""The vocabulary of the field as plain enums, spelled alike in files, database and arguments; `words` for screens."""

from enum import IntEnum, StrEnum


class Role(StrEnum):
    ASSESSOR = "assessor"
    ORGANIZER = "organizer"
    RESEARCHER = "researcher"
    AUDITOR = "auditor"


class RagTask(StrEnum):
    """A run's task at the track: augmented generation over given segments, or the whole of RAG."""

    AG = "AG"
    RAG = "RAG"


class PageState(StrEnum):
    """State of a page in its last report: seen, behind other windows, or left by navigation or closing."""

    VISIBLE = "visible"
    HIDDEN = "hidden"
    LEFT = "left"


class Origin(StrEnum):
    AUTO = "auto"
    DRAFT = "draft"
    EDITED = "edited"
    MANUAL = "manual"

    @property
    def words(self) -> str:
        return "drafts" if self is Origin.DRAFT else f"{'automatic' if self is Origin.AUTO else self} nuggets"


class Importance(IntEnum):
    """Importance of a nugget for a good answer. UNKNOWN: the file had another word; an organizer may set it."""

    UNKNOWN = 0
    OKAY = 1
    VITAL = 2


class JudgeKind(StrEnum):
    HUMAN = "human"
    LLM = "llm"


class SupportCondition(StrEnum):
    """Origin of a support label (Thakur et al. 2025, section 3)."""

    SCRATCH = "scratch"
    POST_EDIT = "post-edit"
    LLM = "llm"

    @property
    def words(self) -> str:
        return {
            SupportCondition.SCRATCH: "Judge citations, unaided",
            SupportCondition.POST_EDIT: "Judge citations, machine label shown",
            SupportCondition.LLM: "Citation labels by LLM",
        }[self]

    @property
    def judge_kind(self) -> JudgeKind:
        return JudgeKind.LLM if self is SupportCondition.LLM else JudgeKind.HUMAN


class DrawKind(StrEnum):
    """How a study's pairs are drawn: where two judges differ, or by chance from all that an LLM labelled."""

    DISAGREEMENTS = "disagreements"
    RANDOM = "random"


class StudyKind(StrEnum):
    """Labels that a study looks at: assignments of nuggets, or support of sentences."""

    ASSIGNMENT = "assignment"
    SUPPORT = "support"


class Condition(StrEnum):
    """Nugget source / assignment, as in the published studies."""

    AA = "A/A"
    EM = "E/M"
    MM = "M/M"
    EA = "E/A"
    MA = "M/A"
    AM = "A/M"

    @classmethod
    def of(cls, origin: Origin, kind: JudgeKind) -> "Condition":
        """Condition of labels of such lists by such judges. Drafts, which are never scored, have none."""
        return next(condition for condition in cls if (condition.origin, condition.judge_kind) == (origin, kind))

    @property
    def origin(self) -> Origin:
        return {"A": Origin.AUTO, "E": Origin.EDITED, "M": Origin.MANUAL}[self.value[0]]

    @property
    def judge_kind(self) -> JudgeKind:
        """Kind of judge that assigns: A is AutoAssign (an LLM), M is ManualAssign (a person)."""
        return JudgeKind.LLM if self.value[2] == "A" else JudgeKind.HUMAN

    @property
    def words(self) -> str:
        labels = "automatic" if self.judge_kind is JudgeKind.LLM else "manual"
        return f"{self.origin.words.capitalize()}, {labels} labels"


class BattleCondition(StrEnum):
    """Judges of battles: people (M) or LLMs (A)."""

    PEOPLE = "B/M"
    LLM = "B/A"

    @property
    def judge_kind(self) -> JudgeKind:
        return JudgeKind.LLM if self is BattleCondition.LLM else JudgeKind.HUMAN

    @property
    def words(self) -> str:
        return f"Battles, by {'LLMs' if self is BattleCondition.LLM else 'people'}"


class BattleReason(StrEnum):
    """Why an answer won or, where both are bad, what fails in both."""

    ACCURACY = "accuracy"
    COMPLETE = "complete"
    POINT = "point"
    EVIDENCE = "evidence"
    ORDER = "order"


class BattleShow(StrEnum):
    """What people see of an answer: its text alone, with numbers of citations, or with the cited passages as well."""

    ANSWER = "answer"
    CITATIONS = "citations"
    PASSAGES = "passages"


class BattleRubric(StrEnum):
    """Whether the topic's nuggets stand beside the answers of a battle, folded."""

    NONE = "none"
    NUGGETS = "nuggets"


class BattleMarkdown(StrEnum):
    """How answers of battles are shown: as rendered Markdown in one style, or as text without its marks."""

    ALIKE = "alike"
    PLAIN = "plain"


class BattleWalk(StrEnum):
    """Order of a topic's battles: so that an answer stays on the screen, or by chance."""

    WALK = "walk"
    SHUFFLED = "shuffled"


class PracticeKind(StrEnum):
    """Label that a practice item wants: of a nugget or a cited passage, an importance, a grade, or a verdict."""

    ASSIGN = "assign"
    SUPPORT = "support"
    IMPORTANCE = "importance"
    GRADE = "grade"
    BATTLE = "battle"


class TaskState(StrEnum):
    """State of a task. Withdrawn: handed to somebody else; its work is kept and not counted."""

    NOT_STARTED = "not started"
    IN_PROGRESS = "in progress"
    SUBMITTED = "submitted"
    REOPENED = "reopened"
    BLOCKED = "blocked"
    WITHDRAWN = "withdrawn"


class Decision(StrEnum):
    """Decision of an assessor about a nugget of a list in the making.

    REPLACED: merged into another or split into others, which name it as their parent.
    """

    UNDECIDED = "undecided"
    KEPT = "kept"
    REJECTED = "rejected"
    REPLACED = "replaced"


class Making(StrEnum):
    PROPOSED = "proposed"
    ADDED = "added"
    MERGED = "merged"
    SPLIT = "split"


class PassageMark(StrEnum):
    """Mark of an assessor on a passage. NOTHING_NEW: read, and no nugget follows from it."""

    READ = "read"
    NOTHING_NEW = "nothing new"


class RemarkKind(StrEnum):
    COMMENT = "comment"
    FLAG = "flag"
    REOPEN = "reopen request"
    INTERRUPTION = "interruption"


class SegmentKind(StrEnum):
    """Kind of a stretch of time at a desk.

    GAP: visible, without any input for 30 s or more. SUSPENDED: the clock jumped, as when a laptop sleeps.
    """

    READING = "reading"
    EDITING = "editing"
    GAP = "gap"
    HIDDEN = "hidden"
    PAUSED = "paused"
    SUSPENDED = "suspended"


class PassageOrder(StrEnum):
    """In which order a topic's passages are read: by grade, or shuffled with the topic's own seed."""

    RANK = "rank"
    SHUFFLE = "shuffle"


class NuggetSearch(StrEnum):
    """Lists at whose desks one key searches the passages for a nugget's own words."""

    NONE = "none"
    EDITED = "edited"
    ALL = "all"


class SupportMeasure(StrEnum):
    """Which judged citations of a sentence count in citation precision and recall, and as what."""

    FIRST = "first"
    SENTENCE = "sentence"
    POOLED = "pooled"


class Scoring(StrEnum):
    """Scores of nuggets: by importance, vital and okay, or by the weights of a rubric."""

    TREC_RAG = "trec-rag"
    RUBRIC = "rubric"


class FindingCode(StrEnum):
    RESPONSE_LENGTH = "response_length"
    ANSWER_TOO_LONG = "answer_too_long"
    TOO_MANY_REFERENCES = "too_many_references"
    TOO_MANY_CITATIONS = "too_many_citations"
    DUPLICATE_CITATION = "duplicate_citation"
    CITATION_OUT_OF_RANGE = "citation_out_of_range"
    DUPLICATE_REFERENCE = "duplicate_reference"
    DOCID_FORM = "docid_form"
    TOPIC_TEXT_DIFFERS = "topic_text_differs"
    MISSING_TOPICS = "missing_topics"
    EMPTY_ANSWER = "empty_answer"
    SEGMENT_WITHOUT_TEXT = "segment_without_text"
    SEGMENT_TEXT_DIFFERS = "segment_text_differs"
    CONTEXT_TEXT_DIFFERS = "context_text_differs"
    UNKNOWN_IMPORTANCE = "unknown_importance"
    UNKNOWN_LABEL = "unknown_label"
    REPEATED_NUGGET = "repeated_nugget"
    REPEATED_CRITERION = "repeated_criterion"
    UNJUDGED_NUGGETS = "unjudged_nuggets"
    GRADE_OFF_SCALE = "grade_off_scale"
    ANSWER_TEXT_DIFFERS = "answer_text_differs"
    WEIGHT_DIFFERS = "weight_differs"
    ADDRESSES_JUDGE = "addresses_judge"
    LABELS_OF_ANOTHER = "labels_of_another"
    CLOSING_ROW = "closing_row"
    AGGREGATE_DIFFERS = "aggregate_differs"
    UNKNOWN_CITATION = "unknown_citation"
    LABELLED_BY_OTHERS = "labelled_by_others"
    LISTED_BY_OTHERS = "listed_by_others"
    NAMES_ITS_RUN = "names_its_run"


MOST_WEIGHT = 100
"""A nugget of a rubric weighs from -100 to 100, with at most three decimals."""

PROVENANCE_KEY = "assay"
"""The extra key under which exports carry our provenance, and which imports do not take for the file's own."""

TASK_EVENTS = (
    "task.handed_out",
    "task.opened",
    "task.submitted",
    "task.reassigned",
    "task.reopened",
    "task.blocked",
    "task.unblocked",
    "task.withdrawn",
    "task.rescheduled",
    "task.reminded",
)
"""Kinds of a task's events, by name, so that the log's index by kind serves: it holds an event for each LLM call."""
