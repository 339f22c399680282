"""The settings of a protocol in words, and what differs between two of its versions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from web.phrases import noted, phrase

Value = str | int | bool | None


class Group(StrEnum):
    """What a setting is about; the value is the heading on the page."""

    ASSESSORS = noted("What assessors see and do")
    LIMITS = noted("Limits")
    POOL = noted("What is judged")
    LLM = noted("LLM judges")
    IMPORTS = noted("What imports notice")


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting in words. `unit`: what is said with a number; `none`: what no value means.

    `on`, `off`: what a switch means; `words`: what a word of the database means.
    """

    name: str
    group: Group
    label: str
    unit: str = ""
    none: str = ""
    on: str = ""
    off: str = ""
    words: Mapping[str, str] = field(default_factory=dict)

    def said(self, value: Value) -> str:
        """Return a value in words."""
        if value is None or value == "":
            return phrase(self.none or "none")
        if isinstance(value, bool):
            return phrase(self.on if value else self.off)
        if str(value) in self.words:
            return phrase(self.words[str(value)])
        return phrase(self.unit or "%(number)s", number=value)


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting that two versions have different values of."""

    setting: Setting
    old: Value
    new: Value

    @property
    def was(self) -> str:
        """The old value in words."""
        return self.setting.said(self.old)

    @property
    def becomes(self) -> str:
        """The new value in words."""
        return self.setting.said(self.new)


GUIDELINES = Setting("guidelines", Group.ASSESSORS, noted("Guidelines"), none=noted("no guidelines"))
ALL = (
    Setting(
        "show_importance",
        Group.ASSESSORS,
        noted("Vital and okay while assigning"),
        on=noted("shown"),
        off=noted("hidden (blind)"),
    ),
    Setting(
        "practice",
        Group.ASSESSORS,
        noted("Practice before a stage's first task"),
        on=noted("asked for"),
        off=noted("not asked for"),
    ),
    Setting(
        "nugget_sweep",
        Group.ASSESSORS,
        noted("Nugget sweep at the end of a topic"),
        on=noted("offered"),
        off=noted("not offered"),
    ),
    Setting(
        "identical_once",
        Group.ASSESSORS,
        noted("Answers with the very same text"),
        on=noted("judged once"),
        off=noted("each judged by itself"),
    ),
    Setting(
        "passage_order",
        Group.ASSESSORS,
        noted("Order of the passages"),
        words={"rank": noted("by grade"), "shuffle": noted("shuffled, by the topic's seed")},
    ),
    Setting(
        "group_overlaps",
        Group.ASSESSORS,
        noted("Overlapping segments of a document"),
        on=noted("stand together, what repeats is grey"),
        off=noted("stand apart"),
    ),
    Setting(
        "nugget_search",
        Group.ASSESSORS,
        noted("Search for a nugget's own words in the passages"),
        words={
            "none": noted("not offered"),
            "edited": noted("offered where drafts are edited"),
            "all": noted("offered where drafts are edited and where nuggets are written"),
        },
    ),
    Setting(
        "copy_words",
        Group.ASSESSORS,
        noted("Selected words as a nugget's text"),
        on=noted("can be taken"),
        off=noted("are typed anew"),
    ),
    Setting(
        "manual_cap",
        Group.LIMITS,
        noted("Nuggets of a list by hand"),
        noted("%(number)s at most"),
        none=noted("no limit"),
    ),
    Setting(
        "edited_cap",
        Group.LIMITS,
        noted("Nuggets of a post-edited list"),
        noted("%(number)s at most"),
        none=noted("no limit"),
    ),
    Setting(
        "overlap",
        Group.POOL,
        noted("Assessors of a topic"),
        noted("%(number)s and no more"),
        none=noted("one, and more where somebody asks for it"),
    ),
    Setting(
        "pool_depth",
        Group.POOL,
        noted("Runs judged per group and task"),
        noted("%(number)s by priority"),
        none=noted("all"),
    ),
    Setting(
        "first_citations",
        Group.POOL,
        noted("Citations judged per sentence"),
        noted("%(number)s from the first on"),
        none=noted("all"),
    ),
    Setting(
        "grade_threshold", Group.POOL, noted("Grade from which a segment is read"), noted("%(number)s and above")
    ),
    Setting("relevance_max", Group.POOL, noted("Highest grade of the scale")),
    Setting("window_size", Group.LLM, noted("Segments that a nuggetizer call reads")),
    Setting("batch_size", Group.LLM, noted("Nuggets that a call labels"), noted("%(number)s at most")),
    Setting("draft_cap", Group.LLM, noted("Nuggets that an AutoNuggets list grows to")),
    Setting("nugget_cap", Group.LLM, noted("Nuggets kept of an AutoNuggets list")),
    Setting(
        "answer_word_limit",
        Group.IMPORTS,
        noted("Words of an answer"),
        noted("%(number)s at most"),
        none=noted("no limit"),
    ),
    Setting(
        "reference_limit",
        Group.IMPORTS,
        noted("References of an answer"),
        noted("%(number)s at most"),
        none=noted("no limit"),
    ),
    GUIDELINES,
)
SETTINGS = {one.name: one for one in ALL}
"""Every setting by the name of its column, in the order of the page."""


def differences(old: Mapping[str, Value], new: Mapping[str, Value]) -> Iterator[Difference]:
    """Yield what differs, in the order of the page; line ends as browsers send them are no difference."""
    for name, setting in SETTINGS.items():
        if _plain(old[name]) != _plain(new[name]):
            yield Difference(setting, old[name], new[name])


def _plain(value: Value) -> Value:
    return value.replace("\r\n", "\n").strip() if isinstance(value, str) else value
