"""Marks that an LLM may read as its prompt's: our tags, the turn marks of open models, and what looks like either.

Between and within their letters stand what a model reads over: code points without width, and letters of other
scripts.
"""

import re
from collections.abc import Iterable
from typing import Final

# Default-ignorable code points of Unicode.
_INVISIBLE: Final = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
INVISIBLE: Final = re.compile(rf"[{_INVISIBLE}]")
# Cyrillic, Greek and Armenian letters, dotless ones and those of full width that look like Latin ones.
_TWINS: Final = {
    "a": r"\u0430\u03b1\u0251",
    "b": r"\u044c\u0432",
    "c": r"\u0441\u03f2",
    "d": r"\u0501",
    "e": r"\u0435\u04bd\u03b5",
    "f": r"\u0192",
    "g": r"\u0261\u050d",
    "h": r"\u04bb\u043d",
    "i": r"\u0456\u03b9\u0131",
    "k": r"\u043a\u03ba",
    "l": r"\u04cf\u217c",
    "m": r"\u043c\u217f",
    "n": r"\u0578\u03b7\u043f",
    "o": r"\u043e\u03bf\u0585",
    "p": r"\u0440\u03c1",
    "q": r"\u051b",
    "r": r"\u0433",
    "s": r"\u0455\ua731",
    "t": r"\u0442\u03c4",
    "u": r"\u03c5\u057d",
    "v": r"\u0475\u03bd",
    "x": r"\u0445\u03c7",
    "y": r"\u0443\u03b3",
    "_": r"\uff3f\u2581 -",
}
_LESS: Final = r"<\uff1c\ufe64\u2039\u02c2\u276e\u27e8\u2329\u3008\u1438"
_MORE: Final = r">\uff1e\ufe65\u203a\u02c3\u276f\u27e9\u232a\u3009\u1433"
_BAR: Final = r"|\uff5c\u01c0\u2223\u2758\u2502"
_SLASH: Final = r"/\\\uff0f\u2044\u2215"
_BLANKS: Final = rf"[\s{_INVISIBLE}]*+"
_GAP: Final = rf"[\s{_SLASH}{_INVISIBLE}]*+"


def _word(word: str) -> str:
    return "".join(_letter(letter) for letter in word)


def _letter(letter: str) -> str:
    wide = chr(ord(letter) + 0xFEE0) if letter.isascii() and letter.isalnum() else ""
    return rf"[{letter}{wide}{_TWINS.get(letter, '')}][{_INVISIBLE}]*+"


def _either(words: Iterable[str]) -> str:
    return rf"(?:{'|'.join(map(_word, words))})"


_NAME: Final = rf"(?:[{_INVISIBLE}]*+[\w\u2581.\"]){{1,40}}[{_INVISIBLE}]*+"
# Behind "<": <|im_start|>, <|turn>, <turn|>, <start_of_turn>, </s>, <<SYS>>.
_TURN: Final = (
    rf"{_BLANKS}(?:[{_BAR}][{_SLASH}]?{_NAME}[{_BAR}{_MORE}]|{_word('turn')}[{_BAR}]{_BLANKS}[{_MORE}]"
    rf"|{_either(('start_of_turn', 'end_of_turn', 'bos', 'eos'))}[{_MORE}]|{_GAP}{_word('s')}[{_MORE}]"
    rf"|[{_LESS}]{_GAP}{_word('sys')}[{_MORE}])"
)
# Behind "[": [INST], [/INST].
_BRACKETED: Final = (
    rf"{_GAP}{_either(('inst', 'system_prompt', 'available_tools', 'tool_calls', 'tool_results'))}{_BLANKS}\]"
)


def look_alike(names: Iterable[str]) -> re.Pattern[str]:
    """Pattern of the first character of each mark: a tag that begins with one of the names, or a turn mark."""
    return re.compile(rf"[{_LESS}](?={_GAP}{_either(names)}|{_TURN})|[\[\uff3b](?={_BRACKETED})", re.IGNORECASE)


def broken(mark: re.Match[str]) -> str:
    return "&#91;" if mark[0] in "[\uff3b" else "&lt;"


def turn_mark() -> str:
    """Pattern of a whole turn mark; `<s>` is HTML too, and taken for none."""
    return rf"[{_LESS}](?!s>){_TURN}|[\[\uff3b]{_BRACKETED}"


def closing_tag(names: Iterable[str]) -> str:
    return rf"[{_LESS}][\s{_INVISIBLE}]*+[{_SLASH}]{_GAP}{_either(names)}{_BLANKS}[{_MORE}]"
