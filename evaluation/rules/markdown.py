"""An object of an answer as it reads: Markdown as clean HTML, in which no word of the text is lost.

What needs more than one object, or names something outside, stays as it was written: references, HTML, quotations.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape, unescape
from itertools import takewhile
from typing import Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

RULES: Final = ("heading", "list", "fence", "hr", "newline", "escape", "backticks", "strikethrough", "emphasis")
LINKS: Final = ("link", "image")  # an image is its words
# In doubt it is text: "[1](2)", "on[name](event.data)" and "[sic](p.12)" are no links.
ADDRESS: Final = re.compile(
    r"(?:https?|ftp|file|mailto|tel|data|doi|urn|javascript):|#[A-Za-z]|\.{0,2}/|www\.|[^/]+\.[A-Za-z]{2,}(?::\d+)?/"
    r"|.*\.(?:png|jpe?g|gif|svg|webp|html?|pdf|md)$",
    re.IGNORECASE,
)
IN_PRODUCT: Final = re.compile(r"(?<=[A-Za-z0-9])\*(?=[A-Za-z0-9])")
CELL_BORDER: Final = re.compile(r"(?<!\\)\|")
UNDER_HEADER: Final = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
# A citation mark takes part as one character of plane 15, in brackets, because emphasis may end before a bracket.
FIRST_MARK: Final = 0xF0000
MARK: Final = re.compile("\\[?([\U000f0000-\U000ffffd])\\]?")
CELLS_BETWEEN: Final = '</span>\n<span class="md-cell">'
TAGS: Final = {"span", "strong", "em", "s", "code", "br"}
ATTRIBUTES: Final = {"span": {"class", "role", "aria-level"}}
SMALLEST_HEADING: Final = 3
DEEPEST: Final = 3
INDENT: Final = 2  # blanks of a level
LINE_BLOCK: Final = re.compile(r"\s*(?:#{1,6}\s|\||```|~~~)")
BLOCK: Final = re.compile(rf"{LINE_BLOCK.pattern}|\s*(?:[-*+]|\d{{1,9}}[.)])\s")
"""Headings, rows of a table and fences, which end with their line; and items of lists, which may go on."""


def as_read(pieces: Iterable[tuple[str, bool]]) -> str:
    """Return an object as HTML of spans. `pieces` are its text, each with whether it is a citation mark."""
    source: list[str] = []
    marks: list[str] = []
    for text, is_mark in pieces:
        if is_mark:
            source.append(f"[{chr(FIRST_MARK + len(marks))}]")
            marks.append(f'<span class="citation-mark">{escape(text)}</span>')
        else:
            source.append(MARK.sub("\ufffd", text))
    html = MARK.sub(lambda found: marks[ord(found[1]) - FIRST_MARK], _html("".join(source)))
    return nh3.clean(html, tags=TAGS, attributes=ATTRIBUTES)


def in_lines(objects: Iterable[str]) -> str:
    """Return an answer's objects as one text: joined by a space, but blocks of Markdown keep lines of their own."""
    pieces = list(objects)
    return "".join(f"{between}{piece}" for between, piece in zip(betweens(pieces), pieces, strict=True))


def betweens(objects: Iterable[str]) -> Iterator[str]:
    """Yield what stands before each object of an answer that is one text: nothing, a space, or a new line."""
    closed, usual = False, ""
    for piece in objects:
        yield "\n" if usual and (closed or BLOCK.match(piece)) else usual
        closed, usual = bool(LINE_BLOCK.match(piece)), " "


def without_marks(text: str) -> str:
    """Return an object's words, without the marks of Markdown."""
    html = _html(MARK.sub("\ufffd", text)).replace(CELLS_BETWEEN, " ")
    return unescape(nh3.clean(html, tags=set())).strip("\n")


def _html(source: str) -> str:
    lines = source.expandtabs(4)
    env = {"depth": (len(lines) - len(lines.lstrip(" "))) // INDENT}
    tokens = _parser().parse(source, env)
    if [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]:
        tokens = tokens[1:2]  # no block, so that its citations go on with it
    html = str(_parser().renderer.render(tokens, _parser().options, env))
    # What has nothing but marks, as `***`, would be nothing to see. A table is drawn without the line below its header.
    return (
        html if nh3.clean(html, tags=set()).strip() or UNDER_HEADER.fullmatch(source.strip()) else escape(source)
    )


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("zero", renderer_cls=_Spans).enable([*RULES, *LINKS])
    parser.validateLink = lambda url: bool(ADDRESS.match(url))  # type: ignore[method-assign]
    parser.block.ruler.before("paragraph", "row", _row, {"alt": ["paragraph"]})
    parser.inline.ruler.before("emphasis", "times", _times)
    return parser


def _times(state: StateInline, silent: bool) -> bool:
    """Parse an asterisk between two letters or digits as one: 2*3*4 would read 234."""
    if not IN_PRODUCT.match(state.src, state.pos):
        return False
    if not silent:
        state.pending += "*"
    state.pos += 1
    return True


def _row(state: StateBlock, line: int, _end: int, silent: bool) -> bool:
    """Parse a line as a row of a table, whose header may be another object of the answer."""
    text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
    if len(text) < 3 or not (text.startswith("|") and text.endswith("|")):
        return False
    if not silent:
        state.push("row_open", "", 1)
        for cell in () if UNDER_HEADER.fullmatch(text) else CELL_BORDER.split(text[1:-1]):
            state.push("cell_open", "", 1)
            token = state.push("inline", "", 0)
            token.content, token.children = cell.strip(), []
            state.push("cell_close", "", -1)
        state.push("row_close", "", -1)
        state.line = line + 1
    return True


class _Spans(RendererHTML):
    """HTML of the tokens, a method a kind; the library's own methods render text, breaks, code and emphasis."""

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        level = min(int(tokens[idx].tag[1:]), SMALLEST_HEADING)
        return f'<span class="md-heading md-heading-{level}" role="heading" aria-level="3">'

    def list_item_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        number, depth = tokens[idx].info, min(env["depth"], DEEPEST)
        if number:
            return f'<span class="md-item md-depth-{depth}">{number}{tokens[idx].markup} '
        return f'<span class="md-item md-depth-{depth} md-bullet">'

    def bullet_list_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        env["depth"] += tokens[idx].nesting
        return ""

    ordered_list_open = bullet_list_close = ordered_list_close = bullet_list_open

    def paragraph_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "" if tokens[idx].hidden else '<span class="md-paragraph">'

    def paragraph_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "\n" if tokens[idx].hidden else "</span>\n"

    def row_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<span class="md-row">'

    def cell_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<span class="md-cell">'

    def row_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "</span>\n"

    heading_close = list_item_close = cell_close = row_close

    def hr(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<span class="md-rule"></span>'

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        code = "\n".join(filter(None, [tokens[idx].info.strip(), tokens[idx].content.rstrip("\n")]))
        return f'<span class="md-code">{escape(code)}</span>\n'

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A link without words is its address, or its object could be empty."""
        within = takewhile(lambda token: token.type != "link_close", tokens[idx + 1 :])
        has_words = any(token.type == "image" or token.content.strip() for token in within)
        return "" if has_words else escape(str(tokens[idx].attrs["href"]))

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return ""

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        words = self.renderInline(tokens[idx].children or [], options, env)
        return words if words.strip() else escape(str(tokens[idx].attrs["src"]))
