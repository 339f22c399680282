// The passages of the left pane as elements: finding them, naming them ("P12 S3"), and moving the focus among them.
// All sentences together are one tab stop, and so are all the buttons at the passages' ends: the ones where the reader is.

import { withDigits } from "../shared/text.js";

const NAME = /^\s*P?\s*(\d+)(?:[\s.,:،，]*S?\s*(\d+))?\s*$/i;

export class Reading {
  #bySegment = new Map();
  #byNumber = new Map();
  #stop = null;

  constructor(root) {
    this.root = root;
    this.tools = root.querySelector(".read-tools");
    this.articles = [...root.querySelectorAll("article.passage")];
    for (const article of this.articles) {
      this.#bySegment.set(article.dataset.segment, article);
      this.#byNumber.set(article.dataset.number, article);
    }
    if (this.articles.length) this.stopAt(this.articles[0]);
  }

  article(segment) {
    return this.#bySegment.get(segment) ?? null;
  }

  sentence(segment, index) {
    return document.getElementById(`p-${segment}-s${index}`);
  }

  heading(article) {
    return article.querySelector("h3");
  }

  button(article) {
    return article.querySelector(".passage-done");
  }

  sentences(article) {
    return [...article.querySelectorAll(".s")];
  }

  /** The [segment, sentence] of an element inside a passage; the sentence is null outside the text. */
  pairAt(element) {
    const article = element?.closest("article.passage");
    if (!article) return null;
    const sentence = element.closest(".s");
    return [article.dataset.segment, sentence ? Number(sentence.dataset.sentence) : null];
  }

  label(segment, sentence) {
    const article = this.article(segment);
    if (!article) return null;
    const passage = `P${article.dataset.number}`;
    return sentence === null || sentence === undefined ? passage : `${passage} S${sentence + 1}`;
  }

  /** Read "P12 S3", "p12s3", "12 3", "P١٢ S٣" or "P12"; null where there is no such place. */
  parse(text) {
    const reference = NAME.exec(withDigits(text));
    const segment = reference && this.#byNumber.get(String(Number(reference[1])))?.dataset.segment;
    if (!segment) return null;
    if (reference[2] === undefined) return [segment, null];
    const sentence = Number(reference[2]) - 1;
    return this.sentence(segment, sentence) ? [segment, sentence] : null;
  }

  /** The element of a pair: a sentence, or a passage's heading. */
  element([segment, sentence]) {
    const article = this.article(segment);
    if (!article) return null;
    return sentence === null || sentence === undefined ? this.heading(article) : this.sentence(segment, sentence);
  }

  shown() {
    return this.articles.filter((article) => !article.hidden);
  }

  /** The shown passage before or after another, which may itself be hidden by now. */
  beside(article, step) {
    let index = this.articles.indexOf(article) + step;
    while (this.articles[index]?.hidden) index += step;
    return this.articles[index] ?? null;
  }

  /** The passage that is read: the one with the focus, or else the topmost one in sight. */
  current() {
    const focused = this.root.contains(document.activeElement) && document.activeElement.closest("article.passage");
    return focused || this.topmost();
  }

  topmost() {
    const shown = this.shown();
    const line = this.#top() + 40; // a passage of which only the last line is in sight is not read any more
    return shown.find((article) => article.getBoundingClientRect().bottom > line) ?? shown.at(-1) ?? null;
  }

  /** Whether the beginning of a passage has been scrolled past. */
  isPassed(article) {
    return article.getBoundingClientRect().top < this.#top() - 1;
  }

  // Where the text begins on the screen: below the tools, where they stick.
  #top() {
    const pane = Math.max(this.root.getBoundingClientRect().top, 0);
    const tools = this.tools.getBoundingClientRect();
    return Math.max(pane, getComputedStyle(this.tools).position === "sticky" ? tools.bottom : 0);
  }

  /** The sentence in the tab order. */
  get stop() {
    return this.#stop;
  }

  /** Put a sentence, or the first one of a passage, and its passage's button into the tab order. */
  stopAt(place) {
    const sentence = place.matches(".s") ? place : place.querySelector(".s");
    if (!sentence || sentence === this.#stop) return;
    const old = this.#stop?.closest("article.passage");
    if (this.#stop) this.#stop.tabIndex = -1;
    if (old) this.button(old).tabIndex = -1;
    this.#stop = sentence;
    sentence.tabIndex = 0;
    this.button(sentence.closest("article.passage")).tabIndex = 0;
  }

  /** After scrolling, Tab leads to what is in sight. */
  followScroll() {
    if (this.root.contains(document.activeElement)) return;
    const article = this.topmost();
    if (article && !article.contains(this.#stop)) this.stopAt(article);
  }

  /** Focus a sentence; for a heading its passage's first, so that arrows and `j` go on from there. */
  focus(element, block = "nearest") {
    const article = element.closest("article.passage");
    article.hidden = false;
    const place = element.matches(".s") ? element : (this.sentences(article)[0] ?? element);
    this.stopAt(place);
    place.focus({ preventScroll: true });
    this.reveal(element, block);
  }

  // A heading may be stuck at the top, so its passage is scrolled to. Passages out of sight have an estimated size until
  // they are drawn, so what was scrolled to may still move.
  reveal(element, block = "nearest") {
    const isHeading = element.matches("h3");
    const target = isHeading ? element.closest("article.passage") : element;
    target.scrollIntoView({ block: isHeading ? "start" : block });
    requestAnimationFrame(() => target.scrollIntoView({ block: isHeading ? "start" : "nearest" }));
  }

  focusPassage(article) {
    this.focus(this.heading(article));
  }

  /** Where the reader is, so that it can be found again in a window of another size. */
  place() {
    const article = this.topmost();
    if (!article) return null;
    return { segment: article.dataset.segment, offset: Math.round(article.getBoundingClientRect().top - this.#top()) };
  }

  restore({ segment, offset }) {
    const article = this.article(segment);
    if (!article || article.hidden) return;
    const settle = (times) => {
      const by = article.getBoundingClientRect().top - this.#top() - offset;
      if (Math.abs(by) >= 1) (this.#scrolls() ? this.root : window).scrollBy({ top: by, behavior: "instant" });
      if (times > 0) requestAnimationFrame(() => settle(times - 1));
    };
    article.scrollIntoView({ block: "start" });
    settle(4);
    this.stopAt(article);
  }

  #scrolls() {
    return ["auto", "scroll"].includes(getComputedStyle(this.root).overflowY);
  }
}
