"""Checks of a page as an auditor makes them: axe, accessibility tree, layout at other sizes, live regions."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page

LAYOUT = (Path(__file__).parent / "layout.js").read_text(encoding="utf-8")
AXE = """async (options) => (await axe.run(document, options)).violations.map(
  (one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 150)).join(" | ")}`)"""
RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}
# No rule of ours reads style sheets. Those that a sheet imports axe would put into the page, which its policy forbids.
NO_STYLES = {"preload": {"assets": ["media"]}}
QUICK = {"resultTypes": ["violations"], "iframes": False} | NO_STYLES
CONTRAST = QUICK | {"runOnly": {"type": "rule", "values": ["color-contrast"]}}

# What the page shortens on purpose: the whole stands in "Narrative", and in the row once it has the focus.
SHORTENED = ".desk-topic, .row-text, .passage-title, .narrative-text"
ZOOMED_TEXT = "html { font-size: 200% !important; }"
# The values of WCAG 1.4.12.
SPACED_TEXT = """* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; }
p { margin-block-end: 2em !important; }"""
# A policy forbids style elements, so the sheet is made by script, as a browser's extension would bring it.
DRESS = """(css) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = css ? [sheet] : [];
}"""
# A finger needs 44 px either way.
SMALL_TARGETS = """() => [...document.querySelectorAll(
    "button, a.button, summary, textarea, input:not([type=radio]), :is(.labels, .importance) label")]
  .filter((one) => one.checkVisibility() && !one.closest(".skip"))
  .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 0 && (width < 44 || height < 44))
  .map(([html, { width, height }]) => `${html} ${width}x${height}`)"""

NAMED = {
    "button",
    "link",
    "textbox",
    "searchbox",
    "checkbox",
    "radio",
    "combobox",
    "spinbutton",
    "dialog",
    "region",
}
NAMED |= {"image", "separator", "listbox", "slider", "switch", "tab", "radiogroup"}


def axe(page: Page, *, only_contrast: bool = False) -> list[str]:
    if not page.evaluate("Boolean(globalThis.axe)"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(AXE, CONTRAST if only_contrast else QUICK | RULES)
    return found


def layout(page: Page) -> list[str]:
    """What sticks out, is cut off or overlaps."""
    drawn(page)
    found: list[str] = page.evaluate(LAYOUT, SHORTENED)
    return found


def drawn(page: Page) -> None:
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def dark_page(chromium: Browser, address: str) -> Page:
    context = chromium.new_context(base_url=address, color_scheme="dark")
    context.add_cookies([{"name": "theme", "value": "dark", "url": address}])
    return context.new_page()


def dress(page: Page, css: str = "") -> None:
    """Put a reader's own style over the page, or take it away."""
    page.evaluate(DRESS, css)


def tree(page: Page) -> list[str]:
    session = page.context.new_cdp_session(page)
    nodes: list[dict[str, Any]] = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    alive = [node for node in nodes if not node["ignored"]]
    roles = [role_of(node) for node in alive]
    found = [f"{role_of(node)} without a name" for node in alive if role_of(node) in NAMED and not name_of(node)]
    found += [f"{roles.count(role)} times {role}" for role in ("main", "banner") if roles.count(role) > 1]
    if "main" not in roles:
        found.append("no main")
    levels = [value_of(node, "level") for node in alive if role_of(node) == "heading"]
    if levels.count(1) != 1:
        found.append(f"headings of level 1: {levels.count(1)}")
    for node in alive:
        if value_of(node, "focusable") and role_of(node) in ("generic", "none") and not node.get("childIds"):
            found.append(f"can have the focus and says nothing: {name_of(node)}")
        if role_of(node) in ("radio", "checkbox") and value_of(node, "checked") is None:
            found.append(f"no state: {name_of(node)}")
    return found


def role_of(node: dict[str, Any]) -> str:
    role: str = node.get("role", {}).get("value", "")
    return role


def name_of(node: dict[str, Any]) -> str:
    name: str = node.get("name", {}).get("value", "")
    return name.strip()


def value_of(node: dict[str, Any], name: str) -> Any:
    values = [prop["value"].get("value") for prop in node.get("properties", []) if prop["name"] == name]
    return values[0] if values else None


# Everything that a screen reader would say by itself, when; and every moment at which the focus is on nothing.
RECORD = """(() => {
  const LIVE = "[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive]";
  const known = new Map();
  const hear = () => {
    for (const region of document.querySelectorAll(LIVE)) {
      const text = region.checkVisibility() ? region.textContent : "";
      if (known.get(region) === text) continue;
      known.set(region, text);
      if (text.trim()) window.heard({ text: text.trim(), at: performance.now(), role: region.role });
    }
  };
  const lost = (from) => requestAnimationFrame(() => requestAnimationFrame(() => {
    const isLost = document.activeElement === document.body && document.hasFocus();
    if (isLost) window.heard({ role: "lost", text: from.outerHTML.slice(0, 100), at: 0 });
  }));
  document.addEventListener("DOMContentLoaded", () => {
    const all = { subtree: true, childList: true, characterData: true, attributeFilter: ["hidden", "open"] };
    new MutationObserver(hear).observe(document.body, all);
    document.addEventListener("focusout", ({ relatedTarget, target }) => relatedTarget || lost(target));
  });
})()"""


@dataclass
class LiveRegions:
    """Texts of a page's live regions since recording began, over reloads."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    _read: int = 0

    def record(self, message: dict[str, Any]) -> None:
        """Keep a message. Playwright puts an attribute on what it calls, so `list.append` itself would not do."""
        self.messages.append(message)

    def new_texts(self) -> list[str]:
        fresh, self._read = self.messages[self._read :], len(self.messages)
        return [message["text"] for message in fresh if message["role"] != "lost"]

    def times(self) -> list[float]:
        """Moments of the polite messages, in milliseconds of the page's clock."""
        return [message["at"] for message in self.messages if message["role"] == "status"]

    def lost(self) -> list[str]:
        return [message["text"] for message in self.messages if message["role"] == "lost"]


def record_announcements(page: Page) -> LiveRegions:
    regions = LiveRegions()
    page.expose_function("heard", regions.record)
    page.add_init_script(RECORD)
    return regions
