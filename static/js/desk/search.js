// Search in the passages that are shown. Hits are painted with the highlight API: the text stays as it is, so sentences
// keep their elements, a selection stays selected, and the browser's own find works beside it.

import { TextOf, hitsIn, wanted } from "./finding.js";

const PAUSE_MS = 150;
const NOTED_AFTER_MS = 2000;
const LONGEST_NOTED = 200;
const SHORTEST = 2; // letters; a Chinese or Japanese word may have one
const WIDE = /[\u3040-\u9fff\uac00-\ud7af]/;

export class Search {
  #desk;
  #reading;
  #goTo;
  #input;
  #said;
  #own;
  #texts = new Map(); // article -> TextOf, made when it is first searched
  #hits = []; // {article, range}
  #needle = "";
  #at = -1;
  #timer = 0;
  #noteTimer = 0;
  #noted = "";

  /** `goTo(pair)` follows a place that was typed, such as P12 S3. */
  constructor(desk, reading, goTo) {
    this.#desk = desk;
    this.#reading = reading;
    this.#goTo = goTo;
    this.#input = reading.root.querySelector("#passage-search");
    this.#said = reading.root.querySelector("#passage-hits");
    this.#own = reading.root.querySelector(".read-own");
    this.#input.addEventListener("input", () => this.#soon());
    // The cross in the field clears it.
    this.#input.addEventListener("search", () => this.#input.value || this.clear());
    reading.root.addEventListener("click", (event) => this.#clicked(event));
  }

  open() {
    this.#input.focus();
    this.#input.select();
  }

  /** Go to the hit after or before the current one, around the end. */
  step(by) {
    this.#now();
    const place = this.#place();
    if (place) return this.#goTo(place);
    if (!this.#hits.length) return;
    const first = this.#at === -1 && by < 0 ? 0 : this.#at;
    this.#at = (first + by + this.#hits.length) % this.#hits.length;
    const { article, range } = this.#hits[this.#at];
    const element = range.startContainer.parentElement;
    this.#reading.reveal(element.closest(".s, h3") ?? article, "nearest");
    this.#paint();
    this.#say(`Hit ${this.#at + 1} of ${this.#hits.length}`);
    const [segment, sentence] = this.#reading.pairAt(element);
    const text = element.closest(".s, h3, p").textContent.trim();
    this.#desk.announce(`Hit ${this.#at + 1} of ${this.#hits.length}, ${this.#reading.label(segment, sentence)}: ${text}`);
  }

  /** Take the marks away; return the sentence or heading of the current hit. */
  leave() {
    const hit = this.#hits[this.#at];
    this.clear();
    return hit ? (hit.range.startContainer.parentElement.closest(".s, h3") ?? this.#reading.heading(hit.article)) : null;
  }

  clear() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#needle = "";
    this.#hits = [];
    this.#at = -1;
    this.#show();
  }

  /** Search again, after other passages are shown. */
  again() {
    if (this.#needle) this.#find(this.#needle);
  }

  #place() {
    return /^\s*p\s*\d/i.test(this.#input.value) ? this.#reading.parse(this.#input.value) : null;
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#now(true), PAUSE_MS);
  }

  // Enter may come before the pause is over.
  #now(always = false) {
    if (!this.#timer && !always && this.#needle) return;
    clearTimeout(this.#timer);
    this.#timer = 0;
    const needle = wanted(this.#input.value);
    if (needle === this.#needle) return;
    if (needle.length < SHORTEST && !WIDE.test(needle)) return this.clear();
    this.#find(needle);
    this.#desk.announce(this.#said.textContent);
    this.#noteSoon();
  }

  // Search words are recorded, as the first page says: those that stood for a moment, not each letter on the way.
  #noteSoon() {
    clearTimeout(this.#noteTimer);
    this.#noteTimer = setTimeout(() => {
      const words = this.#input.value.trim().slice(0, LONGEST_NOTED);
      if (!this.#needle || words === this.#noted || this.#desk.store.readonly) return;
      this.#noted = words;
      this.#desk.store.do("search", { words }, { source: "text" });
    }, NOTED_AFTER_MS);
  }

  #find(needle) {
    this.#needle = needle;
    this.#at = -1;
    this.#hits = this.#reading.shown().flatMap((article) => this.#hitsOf(article, needle));
    this.#show();
  }

  #hitsOf(article, needle) {
    if (!this.#texts.has(article)) {
      const parts = article.querySelectorAll(".passage-title, .passage-headings, .passage-text");
      this.#texts.set(article, new TextOf(parts, ".again-note"));
    }
    const text = this.#texts.get(article);
    return hitsIn(text.folded, needle).map((start) => ({ article, range: text.range(start, start + needle.length) }));
  }

  #show() {
    const passages = new Set(this.#hits.map((hit) => hit.article)).size;
    const place = this.#place();
    if (place) this.#say(`Enter goes to ${this.#reading.label(...place)}`);
    else if (!this.#needle) this.#say("");
    else this.#say(`${count(this.#hits.length, "hit")} in ${count(passages, "passage")}`);
    for (const button of this.#reading.root.querySelectorAll("[data-do^=hit-]")) button.disabled = !this.#hits.length;
    this.#paint();
    this.#showOwn();
  }

  #say(text) {
    this.#said.textContent = text;
  }

  #paint() {
    if (!CSS.highlights) return;
    CSS.highlights.set("passage-hit", new Highlight(...this.#hits.map((hit) => hit.range)));
    const now = this.#hits[this.#at] ? new Highlight(this.#hits[this.#at].range) : new Highlight();
    now.priority = 1;
    CSS.highlights.set("passage-hit-now", now);
  }

  // By hand nobody proposes nuggets, so the search shows which ones are written already.
  #showOwn() {
    if (this.#desk.stage !== "manual") return;
    const rows = this.#needle ? this.#desk.store.listed().filter((row) => wanted(row.text).includes(this.#needle)) : [];
    this.#own.hidden = !rows.length;
    const links = rows.map((row) => {
      const link = document.createElement("a");
      link.href = `#n-${row.key}`;
      link.dataset.row = row.key;
      link.textContent = row.text;
      link.dir = "auto";
      return link;
    });
    this.#own.replaceChildren(`${rows.length} of your nuggets: `, ...links.flatMap((link) => [link, " "]));
  }

  #clicked(event) {
    const button = event.target.closest("[data-do^=hit-]");
    if (button) this.step(button.dataset.do === "hit-next" ? 1 : -1);
    const link = event.target.closest("[data-row]");
    if (!link) return;
    event.preventDefault();
    document.dispatchEvent(new CustomEvent("desk:pane-wanted", { detail: { pane: "rows" } }));
    document.dispatchEvent(new CustomEvent("desk:row-wanted", { detail: { key: link.dataset.row } }));
  }
}

function count(number, word) {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}
