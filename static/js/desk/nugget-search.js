// Search for a nugget's own words in all passages, by one key. It is lexical, so that no model says what fits: a hit is
// a sentence with two of the words or more, and the one with most of them comes first.

import { make } from "../shared/make.js";
import { plural } from "../shared/text.js";
import { wordsInRun } from "../shared/words.js";
import { fold } from "./finding.js";

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const FEWEST = 2; // words of a hit, where the nugget has as many
const MOST_LISTED = 6;
const LONGEST_NOTED = 200;

/** The words of a nugget that are looked for: in lower case, each once, without the stop words that the page names. */
export function contentWords(text) {
  const words = wordsOf(text).map(([word]) => word);
  const stop = new Set(JSON.parse(document.getElementById("stop-words").textContent));
  const content = words.filter((word) => !stop.has(word));
  return [...new Set(content.length ? content : words)];
}

/** The words of a text with where they begin. */
export function wordsOf(text) {
  return [...fold(text).matchAll(WORD)].flatMap(({ 0: run, index }) =>
    wordsInRun(run).map(([word, place]) => [word, index + place]),
  );
}

export class NuggetSearch {
  #desk;
  #reading;
  #ticks;
  #list;
  #key = null; // of the nugget whose words are looked for
  #hits = []; // {sentence, count, ranges}, best first
  #at = -1;

  /** @param {NuggetDesk} desk */
  constructor(desk, reading) {
    this.#desk = desk;
    this.#reading = reading;
    this.#ticks = [...reading.root.querySelectorAll(".strip > i")];
    this.#list = reading.root.querySelector(".read-nugget");
    this.#list.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-hit]");
      if (button) this.#show(Number(button.dataset.hit));
    });
    document.addEventListener("focusin", ({ target }) => {
      const row = target.closest?.("#rows .row");
      if (row && this.isOn && row.dataset.key !== this.#key) this.clear();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.isOn && !event.defaultPrevented) this.clear();
    });
  }

  get isOn() {
    return this.#key !== null;
  }

  /** The [segment, sentence] of the hit in view, for the nugget `key`; null without one. */
  pairFor(key) {
    const hit = key === this.#key ? this.#hits[this.#at] : null;
    return hit ? this.#reading.pairAt(hit.sentence) : null;
  }

  /** Look for a nugget's words, and go to the best hit. */
  start({ key, text }, name) {
    const words = contentWords(text);
    this.clear();
    this.#key = key;
    this.#desk.store.do("search", { words: words.join(" ").slice(0, LONGEST_NOTED) }, { source: "nugget" });
    this.#hits = this.#find(new Set(words));
    this.#draw();
    if (this.#hits.length) this.#show(0);
    this.#desk.announce(this.#told(name));
  }

  /** Go to the hit after or before, around the end. */
  step(by) {
    if (!this.#hits.length) return;
    this.#show((this.#at + by + this.#hits.length) % this.#hits.length);
    const place = this.#reading.label(...this.#reading.pairAt(this.#hits[this.#at].sentence));
    this.#desk.announce(`Hit ${this.#at + 1} of ${this.#hits.length}, ${place}`);
  }

  /** Take words, marks and count away together. */
  clear() {
    this.#key = null;
    this.#hits[this.#at]?.sentence.classList.remove("is-hit");
    this.#hits = [];
    this.#at = -1;
    this.#draw();
  }

  #told(name) {
    const passages = new Set(this.#hits.map(({ sentence }) => sentence.closest("article"))).size;
    if (!passages) return `${name}: no passage has its words`;
    const hits = `${this.#hits.length} ${plural(this.#hits.length, "hit")}`;
    return `${name}: ${hits} in ${passages} ${plural(passages, "passage")}. ] next, l links`;
  }

  #find(words) {
    const fewest = Math.min(FEWEST, words.size);
    const all = this.#reading.articles.flatMap((article) => this.#reading.sentences(article));
    const hits = all.map((sentence) => hitIn(sentence, words)).filter(({ count }) => count && count >= fewest);
    return hits.sort((hit, other) => other.count - hit.count); // stable: among equals the order of reading
  }

  #show(at) {
    this.#hits[this.#at]?.sentence.classList.remove("is-hit");
    this.#at = at;
    const { sentence } = this.#hits[at];
    sentence.closest("article").hidden = false;
    sentence.classList.add("is-hit");
    this.#reading.stopAt(sentence);
    this.#reading.reveal(sentence, "center");
    this.#paint();
    for (const button of this.#list.querySelectorAll("[data-hit]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.hit) === at));
    }
  }

  #draw() {
    this.#reading.articles.forEach((article, index) => {
      const best = this.#hits.find(({ sentence }) => article.contains(sentence));
      this.#ticks[index].classList.toggle("has-hit", Boolean(best));
    });
    const listed = this.#hits.slice(0, MOST_LISTED).map((hit, index) => this.#button(hit, index));
    this.#list.hidden = !listed.length;
    this.#list.replaceChildren(...listed.flatMap((button) => [button, " "]));
    this.#paint();
  }

  #button({ sentence, count }, index) {
    const place = this.#reading.label(...this.#reading.pairAt(sentence));
    const words = `${count} ${plural(count, "word")}`;
    return make("button", { type: "button", dataset: { hit: index } }, `${place}: ${words}`);
  }

  #paint() {
    if (!CSS.highlights) return;
    CSS.highlights.set("passage-hit", new Highlight(...this.#hits.flatMap(({ ranges }) => ranges)));
    CSS.highlights.set("passage-hit-now", new Highlight(...(this.#hits[this.#at]?.ranges ?? [])));
  }
}

function hitIn(sentence, words) {
  const node = sentence.firstChild;
  const found = wordsOf(node.data).filter(([word]) => words.has(word));
  return { sentence, count: new Set(found.map(([word]) => word)).size, ranges: found.map((match) => rangeIn(node, ...match)) };
}

function rangeIn(node, word, start) {
  const range = document.createRange();
  range.setStart(node, start);
  range.setEnd(node, start + word.length);
  return range;
}
