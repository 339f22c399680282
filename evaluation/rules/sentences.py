"""Passages are split into sentences, because evidence points at (segment, sentence).

Sentence numbers are stored in judgments, so the splitter is ours and has a version: same text, same version, same
numbers, on every machine and after every upgrade. Any change of what `split` returns raises `SPLITTER_VERSION`
(docs/decisions/0011). No models, no network, no locale: character classes, and short lists of abbreviations.
"""

# ruff: noqa: RUF001 (the marks of many scripts look like each other)
import re
from typing import Final

SPLITTER_VERSION: Final = 1

CLOSERS: Final = "\"'”’»›)\\]}」』）】》〉"
OPENERS: Final = "\"'“”‘’„‚«»‹›([{¿¡「『（【《〈"
# Chinese, Japanese, Devanagari, Arabic, Urdu, Armenian, Ethiopic, Burmese and Khmer: these end a sentence, always.
WIDE: Final = "。｡！？︒।॥؟۔։።፧။។៕"
EAST_ASIAN: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
# Each alternative begins at one place only and never gives back what it took: time is linear for every text.
CANDIDATE: Final = re.compile(
    rf"(?<![.!?…])(?P<stop>[.!?…]++)(?P<closers>[{CLOSERS}]*+(?:\[\d{{1,3}}\])*+)(?P<gap>\s++|(?=[{EAST_ASIAN}]))"
    rf"|[{WIDE}．]++(?P<wide_closers>[{CLOSERS}]*+)(?P<wide_gap>\s*+)"
    r"|(?P<lines>\n\s*+)"
)
LIST_MARK: Final = re.compile(r"(?:[-*•–—▪◦·]|\(?\w{1,3}[.)])\s")
ENUMERATOR: Final = re.compile(r"\s*\(?(?:\d{1,3}|[^\W\d_]|[ivxIVX]{1,5})")
NEXT_WORD: Final = re.compile(r"[^\W\d_]+(?=[\s,’'])")
WORD_CHARACTER: Final = re.compile(r"[^\W_]")
HIRAGANA: Final = re.compile("[\u3041-\u309f]")
LONGEST_ABBREVIATION: Final = 24


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Abbreviations that never end a sentence, although a capital may follow.
BOUND: Final = _set(
    "mr mrs ms mx dr prof rev hon pres gov sen rep gen col maj capt cmdr lt sgt fr st mt ft messrs vs cf viz e.g i.e "
    "eg ie approx ca hr hrn fam dipl ing bzw z.b d.h u.a z.t vgl sog mme mlle sra srta dña dra p.ex sig dott dhr "
    "mevr bijv им ул см напр т.е св акад проф"
)
# Abbreviations before a number: "No. 5", "Fig. 3", "Jan. 1". Otherwise ordinary words.
NUMBERED: Final = _set(
    "no nos nr núm fig figs vol vols p pp art arts sec secs ch chap eq eqs tab par para abs bd ed al op abb kap jan "
    "feb mar apr jun jul aug sep sept oct nov dec гл рис табл стр"
)
# Abbreviations followed by a capital inside a sentence as often as at its end.
DOUBTFUL: Final = _set("inc co corp ltd llc plc jr sr bros dept univ assn intl natl govt ave blvd rd esq")
# With these a sentence begins after an initial, an acronym or a doubtful abbreviation.
STARTERS: Final = _set(
    "the a an it he she they we i you this that these those there here its his her their our my your in on at by for "
    "from with to as after before during under since until although though because while when where what who why how "
    "if but and or so yet then thus however also another each both many most some all no not now one two such other "
    "more moreover furthermore meanwhile today according despite der die das es er sie wir ein eine im"
)
MONTHS: Final = _set(
    "januar februar märz april mai juni juli august september oktober november dezember jänner feber"
)


def split(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, each with the white space after it: joined, they are the text.

    Every sentence has a letter or a digit, unless the text has none.
    """
    parts: list[str] = []
    start = 0
    for match in CANDIDATE.finditer(text):
        if _ends(text, match, start):
            parts.append(text[start : match.end()])
            start = match.end()
    parts.append(text[start:])
    return _glued(parts)


def _glued(parts: list[str]) -> tuple[str, ...]:
    """Append a part without a word, such as a row of asterisks, to the sentence before it, or to the first."""
    sentences: list[str] = []
    before = ""
    for part in parts:
        if WORD_CHARACTER.search(part):
            sentences.append(before + part)
            before = ""
        elif sentences:
            sentences[-1] += part
        else:
            before += part
    return tuple(sentences or filter(None, [before]))


def _ends(text: str, match: re.Match[str], start: int) -> bool:
    end = match.end()
    if match["lines"] is not None:
        return _lines_end(text, end, match["lines"])
    if match["wide_gap"] is not None:
        return _wide_ends(text, match)
    gap = match["gap"]
    if "\n" in gap:
        return _lines_end(text, end, gap)
    after = _first_after(text, end)
    if after.islower():
        return False
    if match["stop"] != "." or match["closers"]:
        return True
    return _period_ends(text, start, match.start(), end, after)


def _lines_end(text: str, end: int, gap: str) -> bool:
    """Return true where a sentence ends with its line: not where the next line goes on in lower case."""
    if gap.count("\n") > 1 or LIST_MARK.match(text, end):
        return True
    return not text[end : end + 1].islower()


def _wide_ends(text: str, match: re.Match[str]) -> bool:
    following = text[match.end() : match.end() + 1]
    if match["wide_gap"]:
        return True
    if match["wide_closers"] and HIRAGANA.match(following):
        return False  # a quotation with its particle: 「…。」と言った
    return not (text[match.start()] == "．" and following.isdigit())


def _first_after(text: str, end: int) -> str:
    """The first character of what follows, quotation marks and brackets passed over; '' at the end."""
    while text[end : end + 1] and text[end] in OPENERS:
        end += 1
    return text[end : end + 1]


def _period_ends(text: str, start: int, stop: int, end: int, after: str) -> bool:
    words = text[max(start, stop - LONGEST_ABBREVIATION) : stop].split()
    if not words or text[stop - 1].isspace():
        return True
    written = words[-1].lstrip(OPENERS)
    word = written.lower()
    if word in BOUND or ENUMERATOR.fullmatch(text, start, stop):
        return False
    if word in NUMBERED and after.isdigit():
        return False
    following = NEXT_WORD.match(text, end)
    begins = following[0].lower() if following else ""
    if word.isdigit() and len(word) <= 2 and begins in MONTHS:
        return False  # "am 3. Oktober"
    initial = len(written) == 1 and written.isalpha()
    if initial or "." in written or word in DOUBTFUL:
        return begins in STARTERS
    return True
