"""The vocabulary of the field as plain enums: one spelling for screens, files, database and arguments."""

from enum import IntEnum, StrEnum


class Role(StrEnum):
    """What a member may do in one campaign."""

    ASSESSOR = "assessor"
    ORGANIZER = "organizer"
    RESEARCHER = "researcher"
    AUDITOR = "auditor"


class Task(StrEnum):
    """A run's task at the track: augmented generation over given segments, or the whole of RAG."""

    AG = "AG"
    RAG = "RAG"


class Origin(StrEnum):
    """Where a nugget set comes from."""

    AUTO = "auto"
    DRAFT = "draft"
    EDITED = "edited"
    MANUAL = "manual"


class Importance(IntEnum):
    """How much a good answer needs a nugget. UNKNOWN: the file said something else; an organizer may set it."""

    UNKNOWN = 0
    OKAY = 1
    VITAL = 2


class JudgeKind(StrEnum):
    """Who or what gives labels."""

    HUMAN = "human"
    LLM = "llm"


class AssignmentLabel(IntEnum):
    """Whether an answer contains a nugget. Values are the stored codes; the first three are ordinal."""

    NOT_SUPPORT = 0
    PARTIAL_SUPPORT = 1
    SUPPORT = 2
    CANT_JUDGE = 8
    FAILED = 9


class SupportLabel(IntEnum):
    """Whether a cited segment supports a sentence. Same codes as `AssignmentLabel`."""

    NO_SUPPORT = 0
    PARTIAL_SUPPORT = 1
    FULL_SUPPORT = 2
    CANT_JUDGE = 8
    FAILED = 9


class SupportCondition(StrEnum):
    """How a support label came about (Thakur et al. 2025, section 3)."""

    SCRATCH = "scratch"
    POST_EDIT = "post-edit"
    LLM = "llm"


class Condition(StrEnum):
    """Nugget source / assignment, as in the published studies."""

    AA = "A/A"
    EM = "E/M"
    MM = "M/M"
    EA = "E/A"
    MA = "M/A"
    AM = "A/M"

    @property
    def origin(self) -> Origin:
        """Origin of the nugget set this condition scores with."""
        return {"A": Origin.AUTO, "E": Origin.EDITED, "M": Origin.MANUAL}[self.value[0]]

    @property
    def judge_kind(self) -> JudgeKind:
        """Who assigns: A is AutoAssign (an LLM), M is ManualAssign (a person)."""
        return JudgeKind.LLM if self.value[2] == "A" else JudgeKind.HUMAN


class FindingCode(StrEnum):
    """What an import noticed and loaded all the same."""

    RESPONSE_LENGTH = "response_length"
    ANSWER_TOO_LONG = "answer_too_long"
    TOO_MANY_REFERENCES = "too_many_references"
    DUPLICATE_CITATION = "duplicate_citation"
    CITATION_OUT_OF_RANGE = "citation_out_of_range"
    DUPLICATE_REFERENCE = "duplicate_reference"
    DOCID_FORM = "docid_form"
    TOPIC_TEXT_DIFFERS = "topic_text_differs"
    MISSING_TOPICS = "missing_topics"
    EMPTY_ANSWER = "empty_answer"
    SEGMENT_WITHOUT_TEXT = "segment_without_text"
    UNKNOWN_IMPORTANCE = "unknown_importance"
    UNKNOWN_LABEL = "unknown_label"
    REPEATED_NUGGET = "repeated_nugget"
    UNJUDGED_NUGGETS = "unjudged_nuggets"
    GRADE_OFF_SCALE = "grade_off_scale"
    ANSWER_TEXT_DIFFERS = "answer_text_differs"


PROVENANCE_KEY = "assay"
"""The extra key under which exports carry our provenance, and which imports do not take for the file's own."""
