"""Replies of an LLM: read leniently, checked strictly, never guessed.

A form that had to be tolerated is noted. Anything doubtful (a list that is cut off, two lists, a label that is
not in the vocabulary) is a `ReplyProblem`; its reason is sent to the LLM with the next ask. Nothing here
evaluates a reply: strings are found by pattern and their escapes decoded one by one, in linear time.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONGEST_REPLY = 100_000
QUOTED_IN_REASON = 60

STRING = r"""'(?:[^'\\\r\n]|\\.)*+'|"(?:[^"\\\r\n]|\\.)*+"|“[^”\r\n]*+”"""
WORD = r"[^\W\d][\w -]*+"
STRING_LIST = re.compile(rf"\[\s*+(?:(?:{STRING})\s*+(?:,\s*+(?:{STRING})\s*+)*+(?:,\s*+)?)?\]")
WORD_LIST = re.compile(rf"\[\s*+{WORD}\s*+(?:,\s*+{WORD}\s*+)*+(?:,\s*+)?\]")
STRINGS, WORDS = re.compile(STRING), re.compile(WORD)
# A bracket with one of these behind it opens the list that the reply is about; any other belongs to the prose.
OPENS_A_LIST = re.compile(r"""\[\s*+["'“{]""")
# A quote inside an unescaped string can be its end before the next string, or before the end of the list.
WITHIN = {mark: re.compile(rf"\\.|\n|{mark}") for mark in "'\""}
CLOSES = re.compile(r"""\s*+(?:,\s*+(?=["'])|(?:,\s*+)?\](?=[ \t]*(?:\n|```|\}|\Z)))""")
NEXT_STRING = re.compile(r"""\s*+["']""")
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))")
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", "'": "'", '"': '"'}
SURROGATE = re.compile(r"[\ud800-\udfff]")

THINKING = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
# Some endpoints swallow the tag that opens the reasoning.
THOUGHT = re.compile(
    r"\s*<think(?:ing)?>.*?</think(?:ing)?>|.*\n</think(?:ing)?>[ \t]*(?=\n)", re.DOTALL | re.IGNORECASE
)
FENCE = re.compile(r"```(?:\w+(?=[ \t]*\n))?")
LINE_ITEM = re.compile(r"[ \t]*(?:[-*•]|(\d{1,3})[.):])[ \t]+(\S.*)")
PREFIX = re.compile(
    r"(?:(?:my|the|final|overall|support|relevance)\s+)*(?:label|answer|judge?ment|grade|score|relevance|importance)"
    r"""["'*`_\s]*(?:is\b|:|=)["'*`_\s:]*""",
    re.IGNORECASE,
)
BEFORE_LABEL, AFTER_LABEL = " \t\r\"'`*_#([{“‘", " \t\r\"'`*_)]}”’.,;:!"  # noqa: RUF001
BETWEEN_WORDS = re.compile(r"[\s_\-\u2010\u2011\u2013]+")


@dataclass(frozen=True, slots=True)
class ReplyProblem:
    """Reason why a reply cannot be used, in words for the LLM and for people."""

    reason: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """A list of strings or labels, and the forms that were tolerated."""

    items: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    items: tuple[str, ...]
    start: int
    end: int
    notes: tuple[str, ...] = ()


BROKEN = ReplyProblem("the list is cut off or is not a valid list of strings")
SEVERAL = ReplyProblem("the reply has more than one list")
NO_LIST = ReplyProblem("the reply has no list of strings")


# Checked readings: what the steps use.


def parse_nuggets(reply: str, most: int) -> Parsed | ReplyProblem:
    """Nugget list of 1 to `most` items, none without words, none twice."""
    parsed = parse_list(reply)
    if isinstance(parsed, ReplyProblem):
        return parsed
    nuggets = tuple(" ".join(item.split()) for item in parsed.items)
    return _nugget_problem(nuggets, most) or Parsed(nuggets, parsed.notes)


def _nugget_problem(nuggets: Sequence[str], most: int) -> ReplyProblem | None:
    if not nuggets:
        return ReplyProblem("the list is empty; it must hold at least one nugget")
    if len(nuggets) > most:
        return ReplyProblem(f"the list has {len(nuggets)} nuggets; at most {most} are allowed")
    seen: dict[str, int] = {}
    for number, nugget in enumerate(nuggets, start=1):
        if not any(c.isalnum() for c in nugget):
            return ReplyProblem(f"item {number} of the list has no words")
        if "\0" in nugget or SURROGATE.search(nugget):
            return ReplyProblem(f"item {number} of the list has characters that are not text")
        first = seen.setdefault(nugget.casefold(), number)
        if first != number:
            return ReplyProblem(f"items {first} and {number} of the list are the same")
    return None


def parse_labels(reply: str, vocabulary: Sequence[str], count: int) -> Parsed | ReplyProblem:
    """List of exactly `count` labels of the vocabulary."""
    parsed = parse_list(reply, words=True)
    if isinstance(parsed, ReplyProblem):
        single = parse_label(reply, vocabulary) if count == 1 and parsed is NO_LIST else parsed
        return Parsed(single.items, (*single.notes, "no list")) if isinstance(single, Parsed) else parsed
    if len(parsed.items) != count:
        return ReplyProblem(
            f"the list has length {len(parsed.items)}; it must have {count}, one label for each nugget"
        )
    labels = [label_of(item, vocabulary) for item in parsed.items]
    for number, (item, label) in enumerate(zip(parsed.items, labels, strict=True), start=1):
        if label is None:
            return ReplyProblem(f"label {number} is {_shown(item)}; allowed are {', '.join(vocabulary)}")
    given = tuple(label for label in labels if label is not None)
    return Parsed(given, (*parsed.notes, *_variants(parsed.items, given)))


def parse_label(reply: str, vocabulary: Sequence[str]) -> Parsed | ReplyProblem:
    """Read one label: alone, marked, after a word such as "Label:", or on a line of its own among prose.

    Prose that mentions another label leaves room for doubt and is refused.
    """
    body = _body(reply)
    if isinstance(body, ReplyProblem):
        return body
    lines = [line for line in FENCE.sub("", body.text).splitlines() if line.strip()]
    found = {label: line for line in reversed(lines) if (label := _line_label(line, vocabulary)) is not None}
    if len(found) != 1 or _mentioned(body.text, vocabulary) - found.keys():
        return ReplyProblem(
            f"the reply is {_shown(body.text)}; it must be one of {', '.join(vocabulary)} and nothing else"
        )
    label, line = found.popitem()
    around = ["text around the label"] if len(lines) > 1 else []
    notes = (*body.notes, *around, *_variants([line.strip()], [label]))
    return Parsed((label,), notes)


def label_of(text: str, vocabulary: Iterable[str]) -> str | None:
    """Label of the vocabulary, ignoring case, with blanks, hyphens or underscores between words."""
    known = {_normal(label): label for label in vocabulary}
    return known.get(_normal(text.strip()))


def _normal(text: str) -> str:
    return BETWEEN_WORDS.sub("_", text).casefold()


def _line_label(line: str, vocabulary: Sequence[str]) -> str | None:
    bare = line.lstrip(BEFORE_LABEL).rstrip(AFTER_LABEL)
    label = label_of(bare, vocabulary)
    if label is None and (prefix := PREFIX.match(bare)):
        return label_of(bare[prefix.end() :].lstrip(BEFORE_LABEL), vocabulary)
    return label


def _mentioned(text: str, vocabulary: Sequence[str]) -> set[str]:
    longest_first = sorted(vocabulary, key=len, reverse=True)
    patterns = [BETWEEN_WORDS.sub(lambda _: BETWEEN_WORDS.pattern, re.escape(label)) for label in longest_first]
    found = re.finditer(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", text, re.IGNORECASE)
    return {label for match in found if (label := label_of(match[0], vocabulary)) is not None}


def _variants(written: Sequence[str], labels: Sequence[str]) -> list[str]:
    pairs = dict.fromkeys((w, label) for w, label in zip(written, labels, strict=True) if w != label)
    return [f"{_shown(w)} for {label}" for w, label in pairs]


def _shown(text: str) -> str:
    short = text if len(text) <= QUOTED_IN_REASON else f"{text[:QUOTED_IN_REASON]}..."
    return repr(short)


# Lenient reading of lists.


def parse_list(reply: str, *, words: bool = False) -> Parsed | ReplyProblem:
    """Read the one list of strings in a reply; with `words`, a list of words without quotes too.

    Without any brackets, lines that are all numbered from 1, or all marked, are a list.
    """
    body = _body(reply)
    if isinstance(body, ReplyProblem):
        return body
    found = _string_lists(body.text)
    if isinstance(found, ReplyProblem):
        return found
    found = found or (_word_lists(body.text) if words else [])
    if len(found) > 1:
        return SEVERAL
    if found:
        return Parsed(found[0].items, (*body.notes, *found[0].notes, *_around(body.text, found[0])))
    return _line_items(body)


@dataclass(frozen=True, slots=True)
class _Body:
    text: str
    notes: tuple[str, ...] = ()


def _body(reply: str) -> _Body | ReplyProblem:
    if len(reply) > LONGEST_REPLY:
        return ReplyProblem(f"the reply has {len(reply)} characters; that is too long")
    thought = THOUGHT.match(reply)
    if THINKING.match(reply) and not thought:
        return ReplyProblem("the reply ends before its answer")
    text = reply[thought.end() :] if thought else reply
    if not text.strip():
        return ReplyProblem("the reply is empty")
    return _Body(text, ("a block of reasoning",) if thought else ())


def _string_lists(text: str) -> list[_Found] | ReplyProblem:
    # Nothing is read past a broken list: where it ends would be a guess.
    found, at = [], 0
    while (start := text.find("[", at)) >= 0:
        if match := STRING_LIST.match(text, start):
            found.append(_found(match))
            at = match.end()
        elif opens := OPENS_A_LIST.match(text, start):
            broken = _unescaped(text, start, opens.end() - 1)
            if broken is None:
                return BROKEN
            found.append(broken)
            at = broken.end
        else:
            at = start + 1
    return found


def _found(match: re.Match[str]) -> _Found:
    tokens = STRINGS.findall(match[0])
    notes = ["trailing comma"] if match[0][:-1].rstrip().endswith(",") else []
    notes += ["typographic quotes"] if any(token[0] == "“" for token in tokens) else []
    return _Found(tuple(_decoded(token[1:-1]) for token in tokens), match.start(), match.end(), tuple(notes))


def _unescaped(text: str, start: int, at: int) -> _Found | None:
    """Read a list whose strings hold their own quote unescaped, as in ['it's here']; None where that fails too.

    A quote ends its string only where the next string or the end of the list follows. Two strings without a comma
    between them, a line end within a string, or no end at all: the list is broken.
    """
    items: list[str] = []
    while True:
        closed = _closing(text, at)
        if closed is None:
            return None
        quote, after, ended = closed
        items.append(_decoded(text[at + 1 : quote]))
        if ended:
            return _Found(tuple(items), start, after, ("unescaped quotes",))
        at = after


def _closing(text: str, opening: int) -> tuple[int, int, bool] | None:
    mark = text[opening : opening + 1]
    if mark not in WITHIN:
        return None
    for found in WITHIN[mark].finditer(text, opening + 1):
        at = found.start()
        if found[0] == "\n" or (found[0] == mark and NEXT_STRING.match(text, at + 1)):
            return None
        if found[0] == mark and (close := CLOSES.match(text, at + 1)):
            return at, close.end(), close[0].endswith("]")
    return None


def _word_lists(text: str) -> list[_Found]:
    return [
        _Found(tuple(word.strip() for word in WORDS.findall(match[0])), match.start(), match.end(), ("no quotes",))
        for match in WORD_LIST.finditer(text)
    ]


def _around(text: str, found: _Found) -> list[str]:
    outside = f"{text[: found.start]}\n{text[found.end :]}"
    prose = FENCE.sub("", outside).strip()
    return [*(["code fence"] if "```" in outside else []), *(["text around the list"] if prose else [])]


def _decoded(inner: str) -> str:
    text = ESCAPE.sub(_escaped, inner)
    # JSON writes characters beyond the basic plane as two escapes.
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        if SURROGATE.search(text)
        else text
    )


def _escaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else found[0]
    return ESCAPED.get(found[4], found[0])


def _line_items(body: _Body) -> Parsed | ReplyProblem:
    lines = [line for line in FENCE.sub("", body.text).split("\n") if line.strip()]
    matches = [LINE_ITEM.fullmatch(line.rstrip()) for line in lines]
    where = [index for index, match in enumerate(matches) if match]
    if not where or where[-1] - where[0] + 1 != len(where):
        return NO_LIST
    items = [match for match in matches if match]
    numbers = [match[1] for match in items]
    if any(numbers) and numbers != [str(number) for number in range(1, len(items) + 1)]:
        return NO_LIST
    around = ["text around the list"] if len(where) < len(lines) else []
    return Parsed(tuple(_plain(match[2]) for match in items), (*body.notes, "lines instead of a list", *around))


def _plain(item: str) -> str:
    text = item.strip().removesuffix(",").rstrip()
    for mark in ("**", "`", '"', "'"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)]
    return text
