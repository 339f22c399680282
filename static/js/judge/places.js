// Where in a cited passage the words of the sentence stand: marks on a strip at the passage's edge, and a way from the
// best place to the next. Lexical and the same for every label (evaluation/rules/places.py).

import { make } from "../shared/make.js";

const MOST_GONE_TO = 12; // a place that shares a single common word is no place to go to
const LEAST_OF_BEST = 0.3; // of the best place's share

export class Places {
  #cited;
  #strip = document.querySelector("#places > .places-strip"); // not there where the protocol helps nobody
  #places = []; // [paragraph, share, sentence] in the order of the passage
  #best = [];
  #at = -1;

  /** @param {import("./cited.js").CitedPassage} cited */
  constructor(cited) {
    this.#cited = cited;
    this.#strip?.addEventListener("click", ({ target }) => {
      const place = this.#places[target.closest("[data-place]")?.dataset.place];
      if (place) this.#cited.goTo(place[2]);
    });
  }

  /** Whether the protocol shows where to look. */
  get isOn() {
    return this.#strip !== null;
  }

  /** Whether there is a place to go to, or could be. */
  get isAny() {
    return this.isOn || this.#best.length > 0;
  }

  /** Show the places of the answer's sentence `number`; one that the machine `quoted` is gone to first. */
  show(number, quoted) {
    this.#places = this.#cited.placesOf(number);
    this.#best = bestOf(this.#places);
    if (typeof quoted === "number") this.#best = [[null, null, quoted], ...this.#best.filter(([, , at]) => at !== quoted)];
    this.#at = -1;
    this.#draw();
  }

  /** Go to the next of the best places, or with -1 the one before, around the end. Returns what is told of it. */
  step(by) {
    if (!this.#best.length) return "No word of the sentence stands in this passage";
    const from = this.#at === -1 && by < 0 ? 0 : this.#at;
    this.#at = (from + by + this.#best.length) % this.#best.length;
    const [, share, sentence] = this.#best[this.#at];
    this.#cited.goTo(sentence);
    const words = share === null ? "quoted by the machine" : `${Math.round(share * 100)} % of its words`;
    return `Place ${this.#at + 1} of ${this.#best.length}: ${this.#cited.nameOf(sentence)}, ${words}`;
  }

  // A mark stands where its paragraph begins, told by characters: to measure it, all of the passage would be laid out.
  #draw() {
    const { starts, length } = this.#cited.extent;
    const marks = this.#places.map(([paragraph, share], place) => {
      const mark = make("i", { dataset: { place } });
      mark.style.insetBlockStart = `${(100 * starts[paragraph]) / length}%`;
      mark.style.blockSize = `${(100 * ((starts[paragraph + 1] ?? length) - starts[paragraph])) / length}%`;
      mark.style.setProperty("--share", String(share));
      return mark;
    });
    this.#strip?.replaceChildren(...marks);
  }
}

function bestOf(places) {
  const best = [...places].sort((place, other) => other[1] - place[1]); // stable: of equal ones the earlier
  return best.filter(([, share]) => share >= LEAST_OF_BEST * best[0][1]).slice(0, MOST_GONE_TO);
}
