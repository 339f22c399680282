// What is selected in the passages, and the bar that says what can be done with it. A sentence is selected by going to
// it (arrows, Tab, a click), several by Shift and arrows; any words by the selection of the mouse or of caret browsing.

import { stepOf } from "../desk/directions.js";
import { PlaceOfBar } from "../desk/place-of-bar.js";
import { sameEvidence } from "../desk/rules.js";

const MOST = 20; // sentences that one selection can stand for
const PAUSE_MS = 60;

export class Sentences {
  #desk;
  #reading;
  #evidence;
  #bar;
  #what;
  #timer = 0;
  #pairs = [];
  #quote = "";
  #place;

  /** @param {NuggetDesk} desk */
  constructor(desk, reading, evidence) {
    this.#desk = desk;
    this.#reading = reading;
    this.#evidence = evidence;
    this.#bar = reading.root.querySelector(".read-bar");
    this.#what = this.#bar.querySelector(".read-bar-what");
    reading.root.addEventListener("keydown", (event) => this.#pressed(event));
    this.#bar.addEventListener("click", (event) => this.#clicked(event));
    document.addEventListener("focusin", ({ target }) => this.#focused(target));
    document.addEventListener("selectionchange", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#look(), PAUSE_MS);
    });
    desk.store.addEventListener("change", () => this.#bar.hidden || this.#draw());
    document.addEventListener("desk:target", () => this.#bar.hidden || this.#draw());
    this.#place = new PlaceOfBar(reading, this.#bar);
    // Before any other meaning of Escape: the bar is what opened last, wherever the focus is.
    document.addEventListener("keydown", (event) => this.#escaped(event), { capture: true });
    for (const name of ["scroll", "resize"]) {
      addEventListener(name, () => this.#place.put(this.#anchor()), { capture: true, passive: true });
    }
  }

  /** What is selected: {segment, sentence, quote, pairs}, or null. */
  selected() {
    this.#look();
    if (!this.#pairs.length) return null;
    const [segment, sentence] = this.#pairs[0];
    return { segment, sentence, quote: this.#quote, pairs: this.#pairs };
  }

  /** Go to the sentence before or after, across passages; from elsewhere in a passage to the one in the tab order. */
  step(by) {
    const from = document.activeElement.closest(".s");
    const next = from ? this.#beside(from, by) : this.#reading.stop;
    if (next) this.#reading.focus(next);
  }

  #beside(sentence, by) {
    const article = sentence.closest("article.passage");
    const here = this.#reading.sentences(article);
    const next = here[here.indexOf(sentence) + by];
    if (next) return next;
    const other = this.#reading.beside(article, by);
    return other ? this.#reading.sentences(other).at(by > 0 ? 0 : -1) : null;
  }

  #focused(target) {
    if (this.#bar.contains(target)) return;
    const place = target.closest?.(".passage-text .s") ?? target.closest?.("article.passage");
    if (place && !place.contains(this.#reading.stop)) this.#reading.stopAt(place);
    this.#look();
  }

  // What is selected now: words, or else the sentence in focus. A passage as a whole is linked only by its typed name.
  #look() {
    clearTimeout(this.#timer);
    if (this.#bar.contains(document.activeElement) && this.#pairs.length) return;
    const range = this.#range();
    const focused = document.activeElement.closest?.(".passage-text .s");
    if (range) this.#take(this.#covered(range), range.toString());
    else if (focused) this.#take([this.#reading.pairAt(focused)], focused.textContent);
    else this.#take([], "");
  }

  #take(pairs, quote) {
    this.#pairs = pairs.slice(0, MOST);
    this.#quote = quote.replace(/\s+/g, " ").trim();
    this.#bar.hidden = !this.#pairs.length;
    this.#describe();
    if (this.#pairs.length) this.#draw();
    this.#place.put(this.#anchor());
  }

  // Where the bar belongs: the selected words, or else the sentence in focus, also while the focus is in the bar.
  #anchor() {
    if (!this.#pairs.length) return null; // asking for a range lays the page out, and this is asked at every scroll
    const range = this.#range();
    if (range) return range;
    return this.#reading.element(this.#pairs[0]);
  }

  // A screen reader hears after the sentence where it stands and what rests on it.
  #describe() {
    for (const old of this.#reading.root.querySelectorAll(".s[aria-describedby]")) old.removeAttribute("aria-describedby");
    const focused = document.activeElement.closest?.(".passage-text .s");
    focused?.setAttribute("aria-describedby", "read-bar-what");
  }

  #range() {
    const selection = document.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    const isText = (node) => (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest?.(".passage-text");
    const inside = this.#reading.root.contains(range.commonAncestorContainer);
    return inside && (isText(range.startContainer) || isText(range.endContainer)) ? range : null;
  }

  #covered(range) {
    const articles = this.#reading.shown().filter((article) => range.intersectsNode(article));
    const sentences = articles.flatMap((article) => this.#reading.sentences(article));
    return sentences.filter((sentence) => touches(range, sentence)).map((sentence) => this.#reading.pairAt(sentence));
  }

  #draw() {
    const [first] = this.#pairs;
    const rows = this.#desk.store.listed().filter((row) => row.evidence.some((pair) => sameEvidence(pair, first)));
    this.#what.textContent = this.#named(this.#reading.label(...first), rows.map((row) => numberOf(row.key)).join(", "));
    const row = this.#evidence.row();
    const number = row ? numberOf(row.dataset.key) : "";
    const target = this.#evidence.composer() ? "the new nugget" : number;
    this.#button("link").hidden = !target || row?.dataset.decision === "rejected";
    this.#write("link", target ? `Link to ${target}` : "Link");
    this.#write("back", target ? `Back to ${target}` : "Back");
  }

  // "P12 S3", "P12 S3 to P12 S5", and which nuggets rest on it.
  #named(first, nuggets) {
    const last = this.#reading.label(...this.#pairs.at(-1));
    const place = this.#pairs.length > 1 ? `${first} to ${last}` : first;
    return nuggets ? `${place}, linked to ${nuggets}` : place;
  }

  #write(name, text) {
    this.#button(name).querySelector("[data-caption]").textContent = text;
  }

  #button(name) {
    return this.#bar.querySelector(`[data-do=${name}]`);
  }

  #pressed(event) {
    const sentence = event.target.closest(".passage-text .s");
    if (event.defaultPrevented || event.isComposing) return;
    if (event.key === "Escape" && this.#bar.contains(event.target)) this.#leaveBar(event);
    else if (!sentence || event.ctrlKey || event.altKey || event.metaKey) return;
    else if (event.shiftKey && event.key.startsWith("Arrow")) this.#extend(event);
    else if (event.key === "Enter" || event.key === " ") this.#enterBar(event);
    else if (event.key === "Home" || event.key === "End") this.#toEnd(event, sentence);
  }

  #enterBar(event) {
    event.preventDefault();
    [...this.#bar.querySelectorAll("button")].find((button) => button.checkVisibility())?.focus();
  }

  #leaveBar(event) {
    event.preventDefault();
    this.#reading.element(this.#pairs[0])?.focus({ preventScroll: true });
  }

  #escaped(event) {
    if (event.key !== "Escape" || event.isComposing || !this.#range() || this.#bar.hidden) return;
    if (event.target.matches("input, textarea") || this.#bar.contains(event.target)) return;
    event.preventDefault();
    document.getSelection().collapseToStart();
    this.#take([], "");
  }

  #toEnd(event, sentence) {
    event.preventDefault();
    const sentences = this.#reading.sentences(sentence.closest("article.passage"));
    this.#reading.focus(sentences.at(event.key === "Home" ? 0 : -1));
  }

  // Shift and an arrow select whole sentences, from the one in focus to its neighbours.
  #extend(event) {
    event.preventDefault();
    const by = stepOf(event, event.key === "ArrowUp" || event.key === "ArrowLeft" ? -1 : 1);
    const focused = document.activeElement;
    const selection = document.getSelection();
    const anchor = this.#range() ? ownerOf(selection.anchorNode) : focused;
    const edge = this.#range() ? ownerOf(selection.focusNode) : focused;
    const next = this.#range() ? this.#beside(edge ?? focused, by) : edge;
    if (!anchor || !next) return;
    const backwards = anchor.compareDocumentPosition(next) & Node.DOCUMENT_POSITION_PRECEDING;
    if (backwards) selection.setBaseAndExtent(anchor.lastChild, anchor.textContent.length, next.firstChild, 0);
    else selection.setBaseAndExtent(anchor.firstChild, 0, next.lastChild, next.textContent.length);
    this.#reading.reveal(next);
  }

  #clicked(event) {
    const name = event.target.closest("[data-do]")?.dataset.do;
    if (name === "back") this.#evidence.back();
    else if (name) this.ask(name, "mouse");
  }

  /** Ask the right pane for a new nugget from the selection, or to link it to the nugget in focus. */
  ask(what, source) {
    const selected = this.selected();
    if (!selected) {
      this.#desk.announce("Go to a sentence first");
      return;
    }
    const first = this.#reading.element(selected.pairs[0]);
    // The words were taken; what stays selected is the sentence in focus.
    if (this.#range()) document.getSelection().collapseToStart();
    const key = this.#evidence.row()?.dataset.key ?? null;
    document.dispatchEvent(new CustomEvent(`desk:${what}-wanted`, { detail: { ...selected, key, source } }));
    if (what === "link") first.focus({ preventScroll: true });
    this.#look();
  }
}

function touches(range, sentence) {
  if (!range.intersectsNode(sentence)) return false;
  const inside = document.createRange();
  inside.selectNodeContents(sentence);
  // Ending just before a sentence, or beginning just after one, is not touching it.
  return (
    range.compareBoundaryPoints(Range.END_TO_START, inside) < 0 && range.compareBoundaryPoints(Range.START_TO_END, inside) > 0
  );
}

function ownerOf(node) {
  return (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest(".s");
}

// A nugget's number as its row shows it.
function numberOf(key) {
  return document.querySelector(`#nugget-rows > [data-key="${CSS.escape(key)}"] .row-number`)?.textContent || "a nugget";
}
