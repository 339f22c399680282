"""Words that depend on a number, texts without what nobody sees at their edges, and long texts cut short."""

import unicodedata
from typing import Final

# White space, controls, Unicode's Default_Ignorable_Code_Point, annotation marks, and the empty Braille cell.
_UNSEEN_RANGES: Final = (
    *(
        (0x00, 0x20),
        (0x7F, 0xA0),
        (0xAD, 0xAD),
        (0x34F, 0x34F),
        (0x61C, 0x61C),
        (0x115F, 0x1160),
        (0x1680, 0x1680),
    ),
    *((0x17B4, 0x17B5), (0x180B, 0x180F), (0x2000, 0x200F), (0x2028, 0x202F), (0x205F, 0x206F), (0x2800, 0x2800)),
    *((0x3000, 0x3000), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB)),
    *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
UNSEEN: Final = frozenset(chr(code) for first, last in _UNSEEN_RANGES for code in range(first, last + 1))
"""Characters that leave nothing on a screen; `static/js/shared/text.js` has the same."""

# After a symbol or an ideograph they choose its form: a heart in colour, a flag, a name's own character.
_SHAPING: Final = frozenset(
    chr(code)
    for first, last in (
        (0x180B, 0x180D),
        (0x180F, 0x180F),
        (0xFE00, 0xFE0F),
        (0xE0020, 0xE007F),
        (0xE0100, 0xE01EF),
    )
    for code in range(first, last + 1)
)
_SHAPED: Final = frozenset({"So", "Sm", "Lo"})


def trimmed(text: str) -> str:
    """Text as it is kept: without what nobody sees at its edges, and empty where there is nothing to see."""
    start, end = 0, len(text)
    while start < end and text[start] in UNSEEN:
        start += 1
    while end > start and text[end - 1] in UNSEEN:
        end -= 1
    if end < len(text) and end > start and unicodedata.category(text[end - 1]) in _SHAPED:
        while end < len(text) and text[end] in _SHAPING:
            end += 1
    return text[start:end]


def plural(number: int, singular: str, many: str = "") -> str:
    """ "label" for 1 and "labels" for any other number; `many` where an s is not enough."""
    return singular if number == 1 else many or f"{singular}s"


def p_value(p: float, digits: int = 3) -> str:
    """Return a p-value as people read it: none is 0, however small."""
    least = 10.0**-digits
    return f"< {least:.{digits}f}" if p < least / 2 else f"{p:.{digits}f}"


def hours_text(hours: float) -> str:
    minutes = round(hours * 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02} min"


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
