"""How a run's text is shown: without the marks by which one could tell runs apart. The original stays as it is."""

import re

LINE_MARKS = re.compile(r"(?m)^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+•]\s+|\d{1,2}[.)]\s+)")
# Runs write what they like: each of these takes time in proportion to the text, whatever stands in it. Hence the
# bounds, and the blanks that are taken from their first on and not given back.
EMPHASIS = re.compile(r"(?<!\w)(\*\*|__|\*|`|~~)(?=\S)(.{1,500}?)(?<=\S)\1(?!\w)")
LINKS = re.compile(r"\[([^\]\[]{1,2000}+)\]\((?:https?:)?[^)\s]{0,2000}+\)")
CITATION_MARKS = re.compile(
    r"(?<!\s)\s*+(?:"
    r"\[\^?\d+(?:\s*[,;\u2013-]\s*\^?\d+)*\]"  # [3], [1, 2], [^4], [1-3]
    r"|\((?:refs?|sources?|citations?|docs?)\.?:?\s*\d+(?:\s*[,;]\s*\d+)*\)"
    r"|【[^】]{1,40}】"
    r"|\[(?:doc|docid|passage|source|ref|segment)[^\]]{0,80}\]"
    r"|(?<=[.!?,;])[⁰¹²³⁴⁵⁶⁷⁸⁹]+(?=\s|$)"  # after a stop only: elsewhere it is a power
    r"|\[msmarco_[^\]]{1,80}\]"
    r")",
    re.IGNORECASE,
)
TAGS = re.compile(
    r"</?(?:b|i|em|strong|u|sup|sub|br|p|ul|ol|li|span|div|h[1-6]|cite|ref|source)\b[^>]{0,80}>", re.I
)
BLANKS = re.compile(r"[ \t\r\f\v\u00a0]*\n[ \t\r\f\v\u00a0\n]*|[ \t\r\f\v\u00a0]+")
BEFORE_STOP = re.compile(r"(?<!\s)\s++([.,;:!?])(?=\s|$)")


def plain(text: str) -> str:
    """Return a sentence of an answer for the screen: no markup, citation marks or run-on blanks."""
    shown = LINKS.sub(r"\1", text)
    shown = CITATION_MARKS.sub("", shown)
    shown = TAGS.sub(" ", shown)
    shown = LINE_MARKS.sub("", shown)
    shown = EMPHASIS.sub(r"\2", EMPHASIS.sub(r"\2", shown))
    return BEFORE_STOP.sub(r"\1", BLANKS.sub(" ", shown)).strip()
