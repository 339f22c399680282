// The passage that is cited, with the numbers of its sentences in the margin.

import { numberSentences } from "../desk/margins.js";

const SENTENCE = "[data-words]";

export class CitedPassage {
  #pane;

  /** `pane` is what scrolls where there is room for one column only. */
  constructor(pane) {
    this.#pane = pane;
    this.element = document.getElementById("cited");
  }

  /** Show an article, from its beginning; null leaves the place empty. */
  show(article) {
    const there = this.element.querySelector("article");
    // The first one is in the page already, and whoever reads it is not disturbed.
    const isThere = article && there?.dataset.passage === article.dataset.passage;
    if (!isThere) this.element.replaceChildren(...(article ? [document.importNode(article, true)] : []));
    const text = this.element.querySelector(".cited-text");
    if (text) {
      text.id = "cited-text"; // part of the pair's name
      numberSentences(text, SENTENCE);
    }
    this.scroll = 0;
  }

  // A long passage scrolls in its own box; where there is room for one column only, the pane does.
  get scroll() {
    return Math.max(this.element.scrollTop, this.#pane.scrollTop);
  }

  set scroll(to) {
    for (const part of [this.element, this.#pane]) part.scrollTop = to;
  }

  /** What a search looks through. */
  get parts() {
    return this.element.querySelectorAll(".cited-title, .cited-text");
  }
}
