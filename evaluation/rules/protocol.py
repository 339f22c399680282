"""The settings of a protocol in words, and what differs between two of its versions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from evaluation.stages import Stage
from evaluation.terms import NuggetSearch

Value = str | int | float | bool | None


class SettingGroup(StrEnum):
    """Group of settings; the value is the heading on the page."""

    ASSESSORS = "What assessors see and do"
    LIMITS = "Limits"
    BATTLES = "Where answers are compared"
    POOL = "What is judged"
    LLM = "LLM judges"
    IMPORTS = "What imports notice"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting in words. `unit`: the words after a number; `none`: what no value means.

    `on`, `off`: what a switch means; `words`: what a word of the database means.
    """

    name: str
    label: str
    unit: str = ""
    none: str = ""
    on: str = ""
    off: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    group: SettingGroup = SettingGroup.ASSESSORS

    def text(self, value: Value) -> str:
        if value is None or value == "":
            return self.none or "none"
        if isinstance(value, bool):
            return self.on if value else self.off
        if str(value) in self.words:
            return self.words[str(value)]
        return f"{value} {self.unit}" if self.unit else str(value)


@dataclass(frozen=True, slots=True)
class Difference:
    setting: Setting
    old: Value
    new: Value

    @property
    def was(self) -> str:
        return self.setting.text(self.old)

    @property
    def becomes(self) -> str:
        return self.setting.text(self.new)


GUIDELINES = Setting("guidelines", "Guidelines", none="no guidelines")
_BY_GROUP = {
    SettingGroup.ASSESSORS: (
        Setting("show_importance", "Vital and okay while labelling answers", on="shown", off="hidden (blind)"),
        Setting("practice", "Practice before a stage's first task", on="asked for", off="not asked for"),
        Setting("nugget_sweep", "Consistency check at the end of a topic", on="offered", off="not offered"),
        Setting(
            "identical_once", "Answers with the very same text", on="judged once", off="each judged by itself"
        ),
        Setting(
            "passage_order",
            "Order of the passages",
            words={"rank": "by grade", "shuffle": "shuffled, by the topic's seed"},
        ),
        Setting(
            "group_overlaps",
            "Overlapping passages of a document",
            on="stand together, what repeats is grey",
            off="stand apart",
        ),
        Setting(
            "nugget_search",
            "Search for a nugget's own words in the passages",
            words={
                "none": "not offered",
                "edited": "offered where drafts are edited",
                "all": "offered where drafts are edited and where nuggets are written",
            },
        ),
        Setting("copy_words", "Selected words as a nugget's text", on="can be taken", off="are typed anew"),
        Setting("place_help", "Places of a sentence's words in a cited passage", on="marked", off="not marked"),
        Setting("markdown", "Markdown of answers", on="read as headings, lists, tables", off="shown as written"),
    ),
    SettingGroup.LIMITS: (
        Setting("manual_cap", "Nuggets of a manual list", "at most", none="no limit"),
        Setting("edited_cap", "Nuggets of an edited list", "at most", none="no limit"),
    ),
    SettingGroup.BATTLES: (
        Setting(
            "battle_show",
            "Of an answer in a battle, people see",
            words={
                "answer": "the answer alone",
                "citations": "the numbers of its citations too",
                "passages": "its citations with their passages",
            },
        ),
        Setting(
            "battle_rubric",
            "Beside the answers of a battle",
            words={"none": "nothing", "nuggets": "the topic's nuggets, folded"},
        ),
        Setting(
            "battle_markdown",
            "Markdown in battles",
            words={"alike": "read, in one style for all", "plain": "left out, with its marks"},
        ),
        Setting("battle_ties", "Ties in battles", on="a verdict", off="no verdict"),
        Setting("battle_both_bad", "Both answers bad", on="a verdict", off="no verdict"),
        Setting(
            "battle_refuse",
            "Battles that cannot be judged",
            on="may be left out, with a reason",
            off="get a verdict",
        ),
        Setting("battle_reasons", "Reasons of a verdict", on="asked for", off="not asked for"),
        Setting("battle_overlap", "Share of battles that a second person judges", "of a set"),
        Setting(
            "battle_order",
            "Order of a topic's battles",
            words={"walk": "so that one answer stays on the screen", "shuffled": "by chance"},
        ),
        Setting("battle_task", "Battles of a task", "at most"),
    ),
    SettingGroup.POOL: (
        Setting("overlap", "Assessors of a topic", "and no more", none="one, and more where somebody asks for it"),
        Setting("pool_depth", "Runs judged per group and task", "by priority", none="all"),
        Setting("first_citations", "Citations judged per sentence", "from the first on", none="all"),
        Setting(
            "scoring",
            "Nuggets that count in scores",
            words={
                "trec-rag": "those to be said, by importance (TREC RAG)",
                "rubric": "all criteria, by weight (rubric)",
            },
        ),
        Setting(
            "support_measure",
            "Citations that count in support scores",
            none="the first if alone judged, else all",
            words={
                "first": "the first of each sentence",
                "sentence": "the mean of each sentence",
                "pooled": "all, in recall each sentence's best",
            },
        ),
        Setting("grade_threshold", "Grade from which a passage is read", "and above"),
        Setting("relevance_max", "Highest grade of the scale"),
        Setting("grade_words", "Words of the grades, from 0 up, one a line", none="the usual ones"),
    ),
    SettingGroup.LLM: (
        Setting("window_size", "Passages that a call for nuggets reads"),
        Setting("batch_size", "Nuggets that a call labels", "at most"),
        Setting("draft_cap", "Nuggets that an automatic list grows to"),
        Setting("nugget_cap", "Nuggets kept of an automatic list"),
    ),
    SettingGroup.IMPORTS: (
        Setting("answer_word_limit", "Words of an answer", "at most", none="no limit"),
        Setting("topic_limit", "A topic's own limit in characters", on="counts", off="is not looked at"),
        Setting("reference_limit", "References of an answer", "at most", none="no limit"),
        Setting("citation_limit", "Citations of a sentence", "at most", none="no limit"),
    ),
}
SETTINGS = {
    setting.name: setting
    for setting in (
        *(replace(setting, group=group) for group, settings in _BY_GROUP.items() for setting in settings),
        GUIDELINES,
    )
}
"""Every setting by the name of its column, in the order of the page."""


def differences(old: Mapping[str, Value], new: Mapping[str, Value]) -> Iterator[Difference]:
    for name, setting in SETTINGS.items():
        if _plain(old[name]) != _plain(new[name]):
            yield Difference(setting, old[name], new[name])


def recorded_differences(payload: Mapping[str, Any]) -> list[Difference]:
    """Differences that an event noted, as far as there still are such settings."""
    changes = [change for change in payload.get("changes", []) if change["setting"] in SETTINGS]
    return [Difference(SETTINGS[change["setting"]], change["old"], change["new"]) for change in changes]


def _plain(value: Value) -> Value:
    # Browsers send CRLF from every text box: an untouched text would be a change.
    return value.replace("\r\n", "\n").strip() if isinstance(value, str) else value


def searches_nuggets(allowed: str, stage: Stage) -> bool:
    if allowed == NuggetSearch.ALL:
        return not stage.judges
    return allowed == NuggetSearch.EDITED and stage.shows_drafts
