"""Replies of an LLM: read leniently, checked strictly, never guessed.

A form that had to be tolerated is noted. Anything doubtful (a list that is cut off, two lists, a label that is
not in the vocabulary) is a `ReplyProblem`; its reason is sent to the LLM with the next ask. Reasoning and refusals
are no answer. Nothing here evaluates a reply: strings are found by pattern and their escapes decoded one by one, in
linear time.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from llmjobs.prompts.template import VERDICTS
from web.text import trimmed

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
# Models write LaTeX with one backslash into JSON: \frac, \beta and \times are no form feed, backspace and tab.
LATEX_OR_ESCAPE = re.compile(rf"(?P<latex>\\(?:[bf]|[tnr](?=[A-Za-z])))|{ESCAPE.pattern}")
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", "'": "'", '"': '"'}
SURROGATE = re.compile(r"[\ud800-\udfff]")
NOT_TEXT = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

_TAGS = r"(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad|seed:think)"
# Tags, and the marks by which Mistral, Cohere, Kimi, gpt-oss and Gemma tell reasoning from the answer. Some endpoints
# swallow the mark that opens it.
THINKING_OPENS = (
    rf"<{_TAGS}(?: [^<>\n]*+)?>|\[THINK\]|<\|begin_of_thought\|>|<\|START_THINKING\|>|◁think▷"
    r"|<\|channel\|?>\s*+(?:analysis|commentary|thought)\b|\A\s*+(?-i:analysis(?=[A-Z]))"
)
THINKING_CLOSES = (
    rf"</{_TAGS}>|\[/THINK\]|<\|end_of_thought\|>|<\|END_THINKING\|>|◁/think▷"
    r"|<\|channel\|>\s*+final\b(?:\s*+<\|message\|>)?|<channel\|>|(?-i:assistantfinal)"
)
THINKING = re.compile(rf"(?P<opens>{THINKING_OPENS})|{THINKING_CLOSES}", re.IGNORECASE)
END_MARKS = ("<|im_end|>", "<|return|>", "<|end|>", "<|eot_id|>", "<|endoftext|>", "</s>", "<end_of_turn>")

# Reasons for which endpoints end a reply, in the words of OpenAI, Mistral, Gemini, Anthropic, OpenRouter, vLLM.
CUT_BY = {"length", "model_length", "max_tokens", "max_output_tokens", "incomplete", "error", "abort"}
CUT_BY |= {"insufficient_system_resource"}
REFUSED_BY = {"content_filter", "content_filtered", "refusal", "safety", "recitation", "blocklist", "spii"}
REFUSED_BY |= {"prohibited_content", "guardrail_intervened"}
_SORRY = (
    r"(?:(?:i['\u2019]?m|i am|we['\u2019]?re|we are) (?:\w+ )?(?:sorry|afraid)|sorry|(?:my |our )?apologies"
    r"|i apologi[sz]e|unfortunately|as an ai\b[^.\n]{0,60})"
)
REFUSAL = re.compile(
    rf"\W{{0,9}}(?:(?:i['\u2019]?m|i am|we['\u2019]?re|we are) (?:\w+ )?sorry,? but\b"
    rf"|(?:{_SORRY}[\s,.:;\u2014\u2013-]*(?:(?:but|that|however),? )?(?:(?:i|we)\b)?|i\b)"
    r"['\u2019 ]*(?:am |are |m |re )?(?:can(?:no|['\u2019])?t|can not|won['\u2019]?t(?: be able to)?|will not"
    r"|(?:must )?decline to|(?:not able|unable|not allowed|must decline|have to decline) to)\s+(?:\w+ly )?"
    r"(?:help|assist|comply|fulfil+|provide|continue|answer|respond|create|generate|produce|discuss|engage|process|proceed|complete|judge|grade"
    r"|label|share)\b)",
    re.IGNORECASE,
)

FENCE = re.compile(r"```(?:\w+(?=[ \t]*\n))?")
LINE_ITEM = re.compile(r"[ \t]*(?:[-*•]|(\d{1,3})[.):])[ \t]+(\S.*)")
# "Here is the updated list of nuggets" before lines that are a list. Any other prose may introduce a plan.
ANNOUNCES = re.compile(
    r"(?!.*\b(?:sorry|reasons?|can['\u2019]?t|cannot|unable|not|won['\u2019]?t|plans?|steps?)\b)"
    r"(?:(?:sure|certainly|of course|okay|ok)[,.!]? )?(?:(?:here|below|following|this|these)(?:['\u2019]s| is| are)? )?"
    r"(?:(?:the|an?|my|your|our|all|whole|updated|final|complete|full|revised|new|current|requested|numbered"
    r"|following|atomic|extracted|relevant) ){0,5}(?:nugget )?(?:lists?|nuggets?|facts?|labels?|answers?)"
    r"(?: (?:of|for|in|with|from|as|on)\b[^.:;!?]{0,120})?",
    re.IGNORECASE,
)
ANNOUNCES_LABEL = re.compile(
    r"\b(?:label|answer|judge?ment|verdict|grade|score|rating|relevance|support)\b", re.IGNORECASE
)
CLOSED_OBJECT = re.compile(r"""\{\s*+"[^"{}\n]*+"\s*+:\s*+(?:"[^"{}\n]*+"|\d{1,9})\s*+\}""")
PREFIX = re.compile(
    r"(?:(?:my|the|final|overall|support|relevance)\s+)*"
    r"(?:label|answer|judge?ment|grade|score|relevance|importance|verdict|winner)"
    r"""["'*`_\s]*(?:is\b|:|=)["'*`_\s:]*""",
    re.IGNORECASE,
)
BEFORE_LABEL, AFTER_LABEL = " \t\r\"'`*_#([{“‘", " \t\r\"'`*_)]}”’.,;:!"  # noqa: RUF001
# As RAGDoll's prompts ask for verdicts, and as others write them; A is on the left.
LETTERS = {"A": "left", "B": "right"}
TIED_BAD = re.compile(r"\btie\s*\(\s*both\s+bad\s*\)", re.IGNORECASE)
IN_BRACKETS = re.compile(r"\[\[\s*(A|B|(?i:left|right|tie|both\s+bad))\s*\]\]")
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
class _List:
    items: tuple[str, ...]
    start: int
    end: int
    notes: tuple[str, ...] = ()


CUT = ReplyProblem("the reply was cut off")
REFUSED = ReplyProblem("the reply was refused: it has no answer")
UNFINISHED = ReplyProblem("the reply ends before its answer")
BROKEN = ReplyProblem("the list is cut off or is not a valid list of strings")
SEVERAL = ReplyProblem("the reply has more than one list")
NO_LIST = ReplyProblem("the reply has no list of strings")


# Checked readings: what the steps use.


def parse_nuggets(reply: str, most: int) -> Parsed | ReplyProblem:
    """Nugget list of 1 to `most` items, none without words, none twice."""
    parsed = parse_list(reply, escapes=LATEX_OR_ESCAPE)
    if isinstance(parsed, ReplyProblem):
        return parsed
    for number, item in enumerate(parsed.items, start=1):
        if NOT_TEXT.search(item):
            return ReplyProblem(f"item {number} of the list has characters that are not text")
        if REFUSAL.match(item):
            return REFUSED
    nuggets = tuple(" ".join(trimmed(item).split()) for item in parsed.items)
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
        first = seen.setdefault(nugget.casefold(), number)
        if first != number:
            return ReplyProblem(f"items {first} and {number} of the list are the same")
    return None


def parse_labels(reply: str, vocabulary: Sequence[str], count: int) -> Parsed | ReplyProblem:
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
    known_labels = tuple(label for label in labels if label is not None)
    return Parsed(known_labels, (*parsed.notes, *_variants(parsed.items, known_labels)))


def parse_label(reply: str, vocabulary: Sequence[str]) -> Parsed | ReplyProblem:
    """Read one label: alone, marked, after a word such as "Label:", or on a line of its own before or after prose.

    Prose that mentions another label leaves room for doubt and is refused. So is a label amid prose that does not
    announce it by a colon: it may be one of those that the model thinks about.
    """
    body = _body(reply)
    if isinstance(body, ReplyProblem):
        return body
    lines = [line for line in FENCE.sub("", body.text).splitlines() if line.strip()]
    line_of = {
        label: line
        for place, line in reversed(list(enumerate(lines)))
        if (label := _line_label(line, vocabulary)) is not None and not _is_thought(lines, place)
    }
    if len(line_of) != 1 or _mentioned(body.text, vocabulary) - line_of.keys():
        return ReplyProblem(
            f"the reply is {_shown(body.text)}; it must be one of {', '.join(vocabulary)} and nothing else"
        )
    label, line = line_of.popitem()
    around = ["text around the label"] if len(lines) > 1 else []
    notes = (*body.notes, *around, *_variants([line.strip()], [label]))
    return Parsed((label,), notes)


def parse_label_and_quote(reply: str, vocabulary: Sequence[str]) -> Parsed | ReplyProblem:
    """Read a list of a label and a quote, which may be empty; or a label alone."""
    parsed = parse_list(reply)
    if isinstance(parsed, ReplyProblem):
        single = parse_label(reply, vocabulary)
        return Parsed((*single.items, ""), (*single.notes, "no quote")) if isinstance(single, Parsed) else parsed
    if len(parsed.items) != 2:
        return ReplyProblem(f"the list has length {len(parsed.items)}; it must have 2, the label and the quote")
    label = label_of(parsed.items[0], vocabulary)
    if label is None:
        return ReplyProblem(f"the label is {_shown(parsed.items[0])}; allowed are {', '.join(vocabulary)}")
    return Parsed((label, parsed.items[1]), (*parsed.notes, *_variants(parsed.items[:1], [label])))


def parse_verdict(reply: str) -> Parsed | ReplyProblem:
    """Verdict on two answers: one in double brackets, whatever is around it, or else as `parse_label`.

    A for left and B for right count where they stand alone in their line, or behind a word such as "Verdict:".
    """
    body = _body(reply)
    if isinstance(body, ReplyProblem):
        return body
    text = TIED_BAD.sub("both bad", body.text)
    bracketed = {LETTERS.get(word) or label_of(word, VERDICTS) or "" for word in IN_BRACKETS.findall(text)}
    if len(bracketed) > 1:
        return ReplyProblem(f"the reply has several verdicts: {', '.join(sorted(bracketed))}")
    if bracketed:
        return Parsed((bracketed.pop(),), (*body.notes, "a verdict in brackets"))
    parsed = parse_label("\n".join(map(_with_words, text.splitlines())), VERDICTS)
    return parsed if isinstance(parsed, ReplyProblem) else Parsed(parsed.items, (*body.notes, *parsed.notes))


def _with_words(line: str) -> str:
    """Return a line that is the letter of a side with the word of the side instead."""
    bare = line.lstrip(BEFORE_LABEL).rstrip(AFTER_LABEL)
    before = PREFIX.match(bare)
    letter = bare[before.end() :].lstrip(BEFORE_LABEL) if before else bare
    return f"{bare[: before.end()] if before else ''}{LETTERS[letter]}" if letter in LETTERS else line


def label_of(text: str, vocabulary: Iterable[str]) -> str | None:
    """Label of the vocabulary, ignoring case, with blanks, hyphens or underscores between words."""
    by_spelling = {_normal(label): label for label in vocabulary}
    return by_spelling.get(_normal(text.strip()))


def _normal(text: str) -> str:
    return BETWEEN_WORDS.sub("_", text).casefold()


def _line_label(line: str, vocabulary: Sequence[str]) -> str | None:
    bare = line.lstrip(BEFORE_LABEL).rstrip(AFTER_LABEL)
    label = label_of(bare, vocabulary)
    if label is None and (prefix := PREFIX.match(bare)):
        return label_of(bare[prefix.end() :].lstrip(BEFORE_LABEL), vocabulary)
    return label


def _is_thought(lines: Sequence[str], place: int) -> bool:
    line, first, last = lines[place].strip(" \t\r*_"), place == 0, place == len(lines) - 1
    if line.endswith(":"):
        return not first or last  # it begins a sentence about the label
    if first or last or PREFIX.match(line.lstrip(BEFORE_LABEL)):
        return False
    before = lines[place - 1].rstrip(" \t\r*_")
    return not (before.endswith(":") and ANNOUNCES_LABEL.search(before))


def _mentioned(text: str, vocabulary: Sequence[str]) -> set[str]:
    longest_first = sorted(vocabulary, key=len, reverse=True)
    patterns = [BETWEEN_WORDS.sub(lambda _: BETWEEN_WORDS.pattern, re.escape(label)) for label in longest_first]
    mentions = re.finditer(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", text, re.IGNORECASE)
    return {label for match in mentions if (label := label_of(match[0], vocabulary)) is not None}


def _variants(written: Sequence[str], labels: Sequence[str]) -> list[str]:
    pairs = dict.fromkeys((w, label) for w, label in zip(written, labels, strict=True) if w != label)
    return [f"{_shown(w)} for {label}" for w, label in pairs]


def _shown(text: str) -> str:
    short = text if len(text) <= QUOTED_IN_REASON else f"{text[:QUOTED_IN_REASON]}..."
    return repr(short)


# Lenient reading of lists.


def parse_list(reply: str, *, words: bool = False, escapes: re.Pattern[str] = ESCAPE) -> Parsed | ReplyProblem:
    """Read the one list of strings in a reply; with `words`, a list of words without quotes too.

    Without any brackets, lines that are all numbered from 1, or all marked, are a list, where the reply is nothing
    else or a line before them announces it.
    """
    body = _body(reply)
    if isinstance(body, ReplyProblem):
        return body
    lists = _lists_in(body.text, words=words)
    if isinstance(lists, ReplyProblem):
        return lists
    if len(lists) > 1:
        return SEVERAL
    if lists:
        items = tuple(_decoded(item, escapes) for item in lists[0].items)
        return Parsed(items, (*body.notes, *lists[0].notes, *_around(body.text, lists[0])))
    return _line_items(body)


def _lists_in(text: str, *, words: bool) -> list[_List] | ReplyProblem:
    lists = _string_lists(text)
    return lists or (_word_lists(text) if words else [])


def is_cut(finish: str) -> bool:
    return _reason(finish) in CUT_BY


def is_refused(finish: str) -> bool:
    return _reason(finish) in REFUSED_BY


def _reason(finish: str) -> str:
    return finish.casefold().replace("-", "_").rpartition(".")[2]


def closed_part(reply: str, *, words: bool) -> str | None:
    """The one closed list or object of a reply that was cut; None where it has none, or more.

    `words`: a list without quotes is one too; where none is asked for, brackets around a word are prose.
    """
    body = _body(reply)
    if isinstance(body, ReplyProblem):
        return None
    lists = _lists_in(body.text, words=words)
    if isinstance(lists, ReplyProblem):
        return None
    spans = [(each.start, each.end) for each in lists] or [
        match.span() for match in CLOSED_OBJECT.finditer(body.text)
    ]
    return body.text[slice(*spans[0])] if len(spans) == 1 else None


@dataclass(frozen=True, slots=True)
class _Body:
    text: str
    notes: tuple[str, ...] = ()


def _body(reply: str) -> _Body | ReplyProblem:
    if len(reply) > LONGEST_REPLY:
        return ReplyProblem(f"the reply has {len(reply)} characters; that is too long")
    text, marks = reply, _thinking_marks(reply)
    if marks and marks[-1]["opens"]:
        return UNFINISHED
    if marks:
        text = reply[marks[-1].end() :]
    for mark in END_MARKS:
        text = text.rstrip().removesuffix(mark) if mark in text[-40:] else text
    if not trimmed(text):
        return UNFINISHED if marks else ReplyProblem("the reply is empty")
    if REFUSAL.match(text):
        return REFUSED
    return _Body(text, ("a block of reasoning",) if marks else ())


def _thinking_marks(reply: str) -> list[re.Match[str]]:
    """Marks of reasoning, but for those within a list: a nugget may be about them."""
    marks = list(THINKING.finditer(reply))
    if not marks:
        return []
    lists = [each for each in _lists_of(reply) if each]
    starts = [each.start for each in lists]

    def is_quoted(mark: re.Match[str]) -> bool:
        before = bisect_right(starts, mark.start()) - 1
        return before >= 0 and mark.start() < lists[before].end

    return [mark for mark in marks if not is_quoted(mark)]


def _string_lists(text: str) -> list[_List] | ReplyProblem:
    lists = list(_lists_of(text))
    whole = [each for each in lists if each]
    return whole if len(whole) == len(lists) else BROKEN


def _lists_of(text: str) -> Iterator[_List | None]:
    """Lists of strings, and None for a broken list: past that nothing is read, where it ends would be a guess."""
    at = 0
    while (start := text.find("[", at)) >= 0:
        if match := STRING_LIST.match(text, start):
            yield _list_of(match)
            at = match.end()
        elif opens := OPENS_A_LIST.match(text, start):
            broken = _unescaped(text, start, opens.end() - 1)
            yield broken
            if broken is None:
                return
            at = broken.end
        else:
            at = start + 1


def _list_of(match: re.Match[str]) -> _List:
    tokens = STRINGS.findall(match[0])
    notes = ["trailing comma"] if match[0][:-1].rstrip().endswith(",") else []
    notes += ["typographic quotes"] if any(token[0] == "“" for token in tokens) else []
    return _List(tuple(token[1:-1] for token in tokens), match.start(), match.end(), tuple(notes))


def _unescaped(text: str, start: int, at: int) -> _List | None:
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
        items.append(text[at + 1 : quote])
        if ended:
            return _List(tuple(items), start, after, ("unescaped quotes",))
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


def _word_lists(text: str) -> list[_List]:
    return [
        _List(tuple(word.strip() for word in WORDS.findall(match[0])), match.start(), match.end(), ("no quotes",))
        for match in WORD_LIST.finditer(text)
    ]


def _around(text: str, found: _List) -> list[str]:
    outside = f"{text[: found.start]}\n{text[found.end :]}"
    prose = FENCE.sub("", outside).strip()
    return [*(["code fence"] if "```" in outside else []), *(["text around the list"] if prose else [])]


def _decoded(inner: str, escapes: re.Pattern[str]) -> str:
    text = escapes.sub(_escaped, inner)
    # JSON writes characters beyond the basic plane as two escapes.
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        if SURROGATE.search(text)
        else text
    )


def _escaped(found: re.Match[str]) -> str:
    # The four groups of ESCAPE, behind which LATEX_OR_ESCAPE has none.
    *codes, letter = found.groups()[-4:]
    if code := next(filter(None, codes), ""):
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else found[0]
    return ESCAPED.get(letter, found[0])


def _line_items(body: _Body) -> Parsed | ReplyProblem:
    lines = [line for line in FENCE.sub("", body.text).split("\n") if line.strip()]
    matches = [LINE_ITEM.fullmatch(line.rstrip()) for line in lines]
    where = [index for index, match in enumerate(matches) if match]
    if not where or where[-1] - where[0] + 1 != len(where) or where[-1] != len(lines) - 1:
        return NO_LIST
    if where[0] > 1 or (where[0] == 1 and not _announces(lines[0])):
        return NO_LIST
    items = [match for match in matches if match]
    numbers = [match[1] for match in items]
    if any(numbers) and numbers != [str(number) for number in range(1, len(items) + 1)]:
        return NO_LIST
    around = ["text around the list"] if len(where) < len(lines) else []
    return Parsed(tuple(_plain(match[2]) for match in items), (*body.notes, "lines instead of a list", *around))


def _announces(line: str) -> bool:
    heading = line.rstrip(" \t\r*_").endswith(":") or line.lstrip().startswith(("#", "*", "_"))
    return heading and ANNOUNCES.fullmatch(line.strip(" \t\r#*_:")) is not None


def _plain(item: str) -> str:
    text = item.strip().removesuffix(",").rstrip()
    for mark in ("**", "`", '"', "'"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)]
    return text
