// Search in texts on a desk. Hits are painted with the highlight API: the text stays as it is, so sentences keep their
// elements, a selection stays selected, and the browser's own find works beside it.

import { plural } from "../shared/text.js";
import { wanted } from "./finding.js";

const PAUSE_MS = 150;
const NOTED_AFTER_MS = 2000;
const LONGEST_NOTED = 200;
const SHORTEST = 2; // letters; a Chinese or Japanese word may have one
const WIDE = /[\u3040-\u9fff\uac00-\ud7af]/;

/** "1 hit", "2 hits"; "no hit here" where the texts that are shown have none. */
export function counted(hits) {
  if (!hits.length) return "no hit here";
  return `${hits.length} ${plural(hits.length, "hit")}`;
}

/**
 * What all searches have in common. A search of its own says where the hits are (`found(needle)`, ranges), how many
 * that is in words (`summary()`), how a hit comes into view (`reveal(range)`, which returns what is read out), and may
 * follow a place that was typed instead of words (`place()`, `goTo(place)`).
 */
export class Searching {
  hits = []; // ranges
  needle = "";
  at = -1;
  #output;
  #buttons;
  #timer = 0;
  #noteTimer = 0;
  #noted = "";

  /** @param {Desk} desk */
  constructor(desk, root, input, output) {
    this.desk = desk;
    this.input = input;
    this.#output = output;
    this.#buttons = root.querySelectorAll("[data-do^=hit-]");
    input.addEventListener("input", () => this.#soon());
    // The cross in the field clears it.
    input.addEventListener("search", () => input.value || this.clear());
    root.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-do^=hit-]");
      if (button) this.step(button.dataset.do === "hit-next" ? 1 : -1);
    });
  }

  place() {
    return null;
  }

  /** @param {any} _place */
  goTo(_place) {}

  /**
   * @param {string} _needle
   * @returns {Range[]}
   */
  found(_needle) {
    return [];
  }

  /**
   * @param {Range} _range
   * @returns {string}
   */
  reveal(_range) {
    return "";
  }

  summary() {
    return "";
  }

  open() {
    this.input.focus();
    this.input.select();
  }

  /** Go to the hit after or before the current one, around the end. */
  step(by) {
    this.#now();
    const place = this.place();
    if (place) return this.goTo(place);
    if (!this.hits.length) return;
    const first = this.at === -1 && by < 0 ? 0 : this.at;
    this.at = (first + by + this.hits.length) % this.hits.length;
    const hint = this.reveal(this.hits[this.at]);
    this.#paint();
    const position = `Hit ${this.at + 1} of ${this.hits.length}`;
    this.#output.textContent = position;
    this.desk.announce(`${position}${hint}`);
  }

  clear() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.needle = "";
    this.hits = [];
    this.at = -1;
    this.show();
  }

  /** End the search: the word, its count and its marks go together. */
  end() {
    this.input.value = "";
    this.clear();
  }

  /** Search again, in other texts. */
  again() {
    if (this.needle) this.#find(this.needle);
  }

  show() {
    this.#output.textContent = this.summary();
    for (const button of this.#buttons) button.disabled = !this.hits.length;
    this.#paint();
  }

  #soon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#now(true), PAUSE_MS);
  }

  // Enter may come before the pause is over.
  #now(always = false) {
    if (!this.#timer && !always && this.needle) return;
    clearTimeout(this.#timer);
    this.#timer = 0;
    const needle = wanted(this.input.value);
    if (needle === this.needle) return;
    if (needle.length < SHORTEST && !WIDE.test(needle)) {
      this.clear();
      return;
    }
    this.#find(needle);
    this.desk.announce(this.#output.textContent);
    this.#noteSoon();
  }

  // Search words are recorded, as the first page says: those that stood for a moment, not each letter on the way.
  #noteSoon() {
    clearTimeout(this.#noteTimer);
    this.#noteTimer = setTimeout(() => {
      const words = this.input.value.trim().slice(0, LONGEST_NOTED);
      if (!this.needle || words === this.#noted || this.desk.isReadonly) return;
      this.#noted = words;
      this.desk.store.do("search", { words }, { source: "text" });
    }, NOTED_AFTER_MS);
  }

  #find(needle) {
    this.needle = needle;
    this.at = -1;
    this.hits = this.found(needle);
    this.show();
  }

  #paint() {
    if (!CSS.highlights) return;
    CSS.highlights.set("passage-hit", new Highlight(...this.hits));
    const now = this.hits[this.at] ? new Highlight(this.hits[this.at]) : new Highlight();
    now.priority = 1;
    CSS.highlights.set("passage-hit-now", now);
  }
}
