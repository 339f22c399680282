// Search in one text: the answer, or the passage that is cited. Hits are painted with the highlight API, so the text stays
// as it is and the browser's own find works beside it. The assessor's own words only; they are recorded, as is said.

import { TextOf, hitsIn, wanted } from "../desk/finding.js";
import { count } from "./words.js";

const PAUSE_MS = 150;
const NOTED_AFTER_MS = 2000;
const LONGEST_NOTED = 200;
const SHORTEST = 2; // letters; a Chinese or Japanese word may have one
const WIDE = /[\u3040-\u9fff\uac00-\ud7af]/;

export class Search {
  #desk;
  #input;
  #said;
  #parts;
  #hits = []; // ranges
  #needle = "";
  #at = -1;
  #timer = 0;
  #noteTimer = 0;
  #noted = "";

  /** `root` holds the tools; `parts()` gives the elements that are searched. */
  constructor(desk, root, parts) {
    this.#desk = desk;
    this.#parts = parts;
    this.#input = root.querySelector("input[type=search]");
    this.#said = root.querySelector(".read-hits");
    this.#input.addEventListener("input", () => this.#soon());
    this.#input.addEventListener("search", () => this.#input.value || this.clear());
    root.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-do^=hit-]");
      if (button) this.step(button.dataset.do === "hit-next" ? 1 : -1);
    });
    this.buttons = root.querySelectorAll("[data-do^=hit-]");
  }

  open() {
    this.#input.focus();
    this.#input.select();
  }

  /** Go to the hit after or before the current one, around the end. */
  step(by) {
    this.#now();
    if (!this.#hits.length) return;
    const first = this.#at === -1 && by < 0 ? 0 : this.#at;
    this.#at = (first + by + this.#hits.length) % this.#hits.length;
    const element = this.#elementOf(this.#at);
    element.scrollIntoView({ block: "nearest" });
    this.#paint();
    this.#say(`Hit ${this.#at + 1} of ${this.#hits.length}`);
    this.#desk.announce(`Hit ${this.#at + 1} of ${this.#hits.length}: ${element.textContent.trim()}`);
  }

  #elementOf(at) {
    const parent = this.#hits[at].startContainer.parentElement;
    return parent.closest("[data-words], p, h3") ?? parent;
  }

  /** The place of the first hit, or of the current one; null without hits. */
  place() {
    return this.#hits.length ? this.#elementOf(Math.max(this.#at, 0)) : null;
  }

  /** Take the marks away; return the place of the current hit. */
  leave() {
    const place = this.#at >= 0 ? this.place() : null;
    this.clear();
    return place;
  }

  clear() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#needle = "";
    this.#hits = [];
    this.#at = -1;
    this.#show();
  }

  /** Search again, in another text. */
  again() {
    if (this.#needle) this.#find(this.#needle);
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
    if (needle.length < SHORTEST && !WIDE.test(needle)) {
      this.clear();
      return;
    }
    this.#find(needle);
    this.#desk.announce(this.#said.textContent);
    this.#noteSoon();
  }

  // Those words that stood for a moment are recorded, not each letter on the way.
  #noteSoon() {
    clearTimeout(this.#noteTimer);
    this.#noteTimer = setTimeout(() => {
      const words = this.#input.value.trim().slice(0, LONGEST_NOTED);
      const mayNot = this.#desk.store.readonly || this.#desk.root.dataset.readonly !== undefined;
      if (!this.#needle || words === this.#noted || mayNot) return;
      this.#noted = words;
      this.#desk.store.do("search", { words }, { source: "text" });
    }, NOTED_AFTER_MS);
  }

  #find(needle) {
    this.#needle = needle;
    this.#at = -1;
    const text = new TextOf(this.#parts(), ".sentence-number, .citations");
    this.#hits = hitsIn(text.folded, needle).map((start) => text.range(start, start + needle.length));
    this.#show();
  }

  #show() {
    this.#say(this.#needle ? count(this.#hits.length, "hit") : "");
    for (const button of this.buttons) button.disabled = !this.#hits.length;
    this.#paint();
  }

  #say(text) {
    this.#said.textContent = text;
  }

  #paint() {
    if (!CSS.highlights) return;
    CSS.highlights.set("passage-hit", new Highlight(...this.#hits));
    const now = this.#hits[this.#at] ? new Highlight(this.#hits[this.#at]) : new Highlight();
    now.priority = 1;
    CSS.highlights.set("passage-hit-now", now);
  }
}
