"""Guidelines of a campaign, and one line on every label."""

from dataclasses import dataclass
from xml.etree.ElementTree import Element

import markdown
import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

from accounts.models import User
from assessor.blind.tasks import own_task
from evaluation.labels import LabelSet
from evaluation.stages import Stage

# The drawer's own heading is an h2, so the guidelines start below it, whichever level their author began with.
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
FIRST = HEADINGS.index("h3")
TAGS = {
    "h3",
    "h4",
    "h5",
    "h6",
    "p",
    "blockquote",
    "pre",
    "hr",
    "br",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "a",
    "abbr",
    "b",
    "code",
    "del",
    "em",
    "i",
    "ins",
    "kbd",
    "q",
    "s",
    "strong",
    "sub",
    "sup",
}
ATTRIBUTES = {"a": {"href", "title"}, "abbr": {"title"}, "th": {"scope"}, "ol": {"start"}}


@dataclass(frozen=True, slots=True)
class Definition:
    """One line on a word that the screen uses. `term` names it in the page."""

    term: str
    word: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Guidelines:
    """The guidelines of a task: the campaign's text as clean HTML, empty where there is none, and the words."""

    text: SafeString
    definitions: tuple[Definition, ...]


IMPORTANCE = (
    Definition("vital", "Vital", "A good answer must contain this."),
    Definition("okay", "Okay", "Worthwhile in an answer, but an answer without it can still be good."),
)
PASSAGES = (
    Definition("read", "Read", "You read this passage."),
    Definition("linked", "Linked", "At least one nugget names a sentence of this passage as its evidence."),
)
MAKING = (
    Definition("merged", "Merged", "Made from two or more nuggets that said the same; they are replaced by it."),
    Definition("split", "Split", "Made from a nugget that said more than one thing; the parts replace it."),
    Definition(
        "no-passage", "No passage", "No sentence is linked as evidence. Allowed, and counted when you submit."
    ),
)
OF_DRAFTS = (
    Definition("proposed", "Proposed", "Drafted by a machine. It is neither right nor wrong until you decide."),
    Definition("undecided", "Undecided", "Not looked at yet: keep it, edit it or reject it before you submit."),
    Definition("kept", "Kept", "In your list, in the words it was proposed in."),
    Definition("edited", "Edited", "In your list, in your own words."),
    Definition("rejected", "Rejected", "Not in your list. It can be restored at any time before you submit."),
    Definition("added", "Added", "Written by you; it was not among the proposals."),
)
BY_HAND = (
    Definition("added", "Added", "Written by you; it is in your list."),
    Definition("deleted", "Deleted", "Taken out of your list. It can be restored at any time before you submit."),
    Definition("nothing-new", "Nothing new", "You read this passage, and no further nugget follows from it."),
)


def _defined(labels: LabelSet) -> tuple[Definition, ...]:
    return tuple(Definition(label.word, label.caption, label.meaning) for label in labels.by_people)


PLACE = Definition("place", "Place", "The sentence of the answer in which you found it. It need not be given.")
SHOWN = Definition("machine", "Machine label", "What a machine said of this pair. It may be right or wrong.")


def definitions_of(
    stage: Stage, *, labels: LabelSet | None = None, show_importance: bool = False
) -> tuple[Definition, ...]:
    """Return a line on every label that a stage's desk shows. `show_importance`: also while nuggets are assigned.

    `labels`: those that the protocol has of the stage's.
    """
    if not stage.judges:
        return (*IMPORTANCE, *(OF_DRAFTS if stage.shows_drafts else BY_HAND), *MAKING, *PASSAGES)
    definitions = _defined(labels or stage.labels) + ((SHOWN,) if stage.shows_label else ())
    if not stage.by_list:
        return definitions
    return (*definitions, PLACE, *(IMPORTANCE if show_importance else ()))


def guidelines_of(task: str, user: User) -> Guidelines:
    """Return the guidelines of the protocol that the task was handed out under. Raises `NoSuchTask`."""
    own = own_task(task, user)
    definitions = definitions_of(
        own.stage, labels=own.protocol.labels_of(own.stage), show_importance=own.protocol.show_importance
    )
    return Guidelines(clean_html(own.protocol.guidelines), definitions)


def clean_html(text: str) -> SafeString:
    """Return Markdown as HTML that can do nothing but be read: no images, no scripts, links to pages and mail only."""
    html = markdown.markdown(text, extensions=["tables", "sane_lists", "def_list", "abbr", _Demote()])
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
        # A link in the guidelines must not take the desk away; the guidelines themselves never open elsewhere.
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    return mark_safe(clean)  # noqa: S308  (nh3 has just cleaned it)


class _DemoteHeadings(Treeprocessor):
    def run(self, root: Element) -> None:
        headings = [(element, HEADINGS.index(element.tag)) for element in root.iter() if element.tag in HEADINGS]
        highest = min((level for _, level in headings), default=0)
        for element, level in headings:
            element.tag = HEADINGS[min(level - highest + FIRST, len(HEADINGS) - 1)]


class _Demote(Extension):
    def extendMarkdown(self, md: markdown.Markdown) -> None:  # noqa: N802  (Markdown's own name)
        md.treeprocessors.register(_DemoteHeadings(md), "demote", 0)
