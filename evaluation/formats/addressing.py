"""Texts that address their judge: an answer or a passage that orders an LLM to give a label.

Only what hardly anybody writes for another reason is taken for such: a passage about a judge in court, a recipe with
instructions or a page of XML is not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from evaluation.formats.prompt_marks import INVISIBLE, closing_tag, turn_mark

AROUND: Final = 40  # letters shown on each side

ROLE: Final = r"(?:judge|grader|assessor|evaluator|annotator|rater)s?"
MACHINE: Final = r"(?:llm|ai|a\.i\.|(?:large )?language model|automat(?:ic|ed))"
JUDGED: Final = (
    r"(?:answer|response|passage|nugget|sentence|statement|citation|segment|document|text|pair|claim|submission)s?"
)
LABEL: Final = r"(?:full|partial|not|no)[_ ]support|support(?:ed)?|vital|(?:highly|perfectly) relevant"
QUOTE: Final = r"[\"'`*\[\]\u2018\u2019\u201c\u201d]"
GIVE: Final = r"(?:label|mark|rate|grade|score|judge|classify|annotate)"
EARLIER: Final = r"(?:previous|prior|above|earlier|preceding|foregoing)"


@dataclass(frozen=True, slots=True)
class AddressingKind:
    """One way of speaking to a judge. A text without any of the words in `needs` is not searched."""

    caption: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Sign:
    start: int
    caption: str
    excerpt: str

    def __str__(self) -> str:
        return f"{self.caption}: “{self.excerpt}”"


def _kind(caption: str, needs: str, *patterns: str) -> AddressingKind:
    either = "|".join(f"(?:{pattern})" for pattern in patterns)
    return AddressingKind(caption, tuple(needs.split(";")), re.compile(either, re.IGNORECASE | re.MULTILINE))


WAYS_OF_ADDRESSING: Final = (
    _kind(
        "tells its reader to forget instructions",
        "instruction;prompt;guideline;criteria;rubric;rules",
        rf"\b(?:ignore|disregard|forget|override|bypass)\b(?:\W+\w+){{0,4}}?\W+(?:{EARLIER}|system|initial|original)"
        r"\W+(?:\w+\W+)?(?:instructions?|prompts?)\b",
        rf"\b(?:ignore|disregard|forget|override|bypass)\W+(?:all|any)\b(?:\W+\w+){{0,3}}?\W+{EARLIER}"
        r"\W+(?:\w+\W+)?(?:guidelines|criteria|rubrics?|rules)\b",
        r"\b(?:ignore|disregard|forget|override|bypass)\W+(?:all\W+(?:of\W+)?)?your\W+(?:\w+\W+)?"
        r"(?:instructions?|prompts?|guidelines|rubrics?)\b",
    ),
    _kind(
        "tells which label to give",
        "support;vital;relevant",
        rf"\b{GIVE}\W+(?:this|the|these|every|each|all|any)\b(?:\W+\w+){{0,2}}?\W+{JUDGED}\b(?:\W+\w+){{0,4}}?"
        rf"\W+(?:as|with)\W+(?:\w+\W+)?(?:{LABEL})\b",
        rf"\b(?:label|mark|rate|grade|score|classify|annotate)\W+(?:this|it|everything|them all|all of them)\W+"
        rf"(?:as\W+)?{QUOTE}*(?:{LABEL})\b",
        rf"\b(?:respond|reply|answer|output|return|print)\b(?:\W+\w+){{0,4}}?\W*{QUOTE}(?:{LABEL}){QUOTE}",
        rf"\bthe\W+(?:correct|right|only|expected)\W+(?:label|grade|judge?ment|verdict)\W+(?:\w+\W+){{0,4}}?is\W+"
        rf"{QUOTE}*(?:{LABEL})\b",
        r"\b(?:full|partial|not|no)_support\b",
    ),
    _kind(
        "speaks to its judge",
        "llm;ai ;ai,;ai:;a.i.;language model;automat;you are;you're",
        rf"\b(?:dear|attention|(?:note|message) (?:to|for)|hello|hey)\W+(?:(?:the|any|all)\W+)?{MACHINE}\W+{ROLE}\b",
        rf"\b(?:note|message|instructions?)\W+(?:to|for)\W+(?:the\W+|any\W+|all\W+)?(?:{MACHINE}s?)\b(?=\W*[:,.!\n])",
        rf"\byou(?:['\u2019]re| are)\W+(?:an?|the)\W+(?:\w+\W+)?(?:impartial|relevance|nugget|{MACHINE})\W+{ROLE}\b",
        rf"\bif\W+you(?:['\u2019]re| are)\W+(?:an?\W+)?{MACHINE}(?:\W+{ROLE})?"
        r"(?=\W*,|\W+(?:reading|judging|grading|evaluating)\b)",
    ),
    _kind(
        "imitates the marks of a prompt",
        "<;[;##;\uff1c;\ufe64;\uff3b;\u2039;\u02c2;\u276e;\u27e8;\u2329;\u3008;\u1438",
        turn_mark(),
        closing_tag(("passage", "segment", "nuggets", "statement")),
        r"^\W{0,3}#{2,}\s*(?:instructions?|response|system(?: prompt| message)?)\s*:",
    ),
)


def signs_in(text: str) -> list[Sign]:
    """Return the first sign of each kind, in the order of the text. What is invisible hides none."""
    visible = INVISIBLE.sub("", text)
    low = visible.lower()
    candidates = (_sign(kind, visible) for kind in WAYS_OF_ADDRESSING if any(word in low for word in kind.needs))
    signs = sorted((sign for sign in candidates if sign), key=lambda sign: sign.start)
    if not signs or visible == text:
        return signs
    places = [place for place, letter in enumerate(text) if not INVISIBLE.match(letter)]
    return [replace(sign, start=places[sign.start]) for sign in signs]


def signs_in_answer(sentences: Sequence[str]) -> Iterator[tuple[int, Sign]]:
    """Yield the signs in an answer with the sentence in which each begins: one may go over several."""
    ends, length = [], 0
    for sentence in sentences:
        length += len(sentence) + 1
        ends.append(length)
    for sign in signs_in("\n".join(sentences)):
        yield next(number for number, end in enumerate(ends) if sign.start < end), sign


def addressing_in_answer(number: int, sign: Sign) -> str:
    """Return the text of a finding about a sentence, which is numbered from 0 as in the other findings."""
    return f"sentence {number} {sign}"


def docid_in(message: str) -> str:
    parts = (message.partition(f" {kind.caption}: ") for kind in WAYS_OF_ADDRESSING)
    return next((docid for docid, matches, _ in parts if matches), "")


def addressing_in_segment(docid: str, sign: Sign) -> str:
    """Return the text of a finding about a segment: its docid comes first, so that it can be found by it."""
    return f"{docid} {sign}"


def _sign(kind: AddressingKind, text: str) -> Sign | None:
    match = kind.pattern.search(text)
    if match is None:
        return None
    start, end = max(0, match.start() - AROUND), min(len(text), match.end() + AROUND)
    excerpt = " ".join(text[start:end].split())
    return Sign(match.start(), kind.caption, f"{'…' if start else ''}{excerpt}{'…' if end < len(text) else ''}")
