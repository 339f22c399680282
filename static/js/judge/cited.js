// The passage that is cited, with the numbers of its sentences in the margin.

import { TextOf, fold, hitsIn } from "../desk/finding.js";
import { numberSentences } from "../desk/margins.js";
import { plural } from "../shared/text.js";

const SENTENCE = "[data-at]";

export class CitedPassage {
  #pane;

  /** `pane` is what scrolls where there is room for one column only. */
  constructor(pane) {
    this.#pane = pane;
    this.element = document.getElementById("cited");
    // To measure what is far from the view would lay it out.
    this.element.addEventListener("contentvisibilityautostatechange", (event) => {
      const { skipped } = /** @type {ContentVisibilityAutoStateChangeEvent} */ (event);
      if (!skipped) numberParagraphs(/** @type {Element} */ (event.target));
    });
  }

  /** Show an article, from its beginning; null leaves the place empty. */
  show(article) {
    const there = this.element.querySelector("article");
    // The first one is in the page already, and whoever reads it is not disturbed.
    const isThere = article && there?.dataset.passage === article.dataset.passage;
    if (!isThere) this.element.replaceChildren(...(article ? [document.importNode(article, true)] : []));
    // Part of the pair's name; a long passage would be read out with each pair.
    const text = this.element.querySelector("article:not([data-long]) .cited-text");
    if (text) {
      text.id = "cited-text";
      numberParagraphs(text);
    }
    this.scroll = 0;
  }

  get paragraphs() {
    return /** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll(".cited-paragraph"));
  }

  sentence(at) {
    return this.element.querySelector(`[data-at="${at}"]`);
  }

  /** How many words there are to read; "" without a text. */
  get length() {
    const count = Number(this.element.querySelector("article")?.dataset.count);
    return count ? `${count.toLocaleString(document.documentElement.lang)} ${plural(count, "word")}` : "";
  }

  /** Where each paragraph starts, and how long all are, in characters. */
  get extent() {
    const starts = [];
    let length = 0;
    for (const { textContent } of this.paragraphs) {
      starts.push(length);
      length += textContent.length;
    }
    return { starts, length };
  }

  nameOf(at) {
    return `S${Number(at) + 1}`;
  }

  /** Bring a sentence into view and mark it as the one that is looked at. */
  goTo(at) {
    const sentence = this.sentence(at);
    if (!sentence) return;
    this.element.querySelector("[aria-current]")?.removeAttribute("aria-current");
    sentence.setAttribute("aria-current", "true");
    sentence.scrollIntoView({ block: "center" });
  }

  /** The sentence that is selected, or else the one that was gone to, or that `hit` is in; null for none. */
  pointedAt(hit) {
    const places = [startOfSelection(), this.element.querySelector("[aria-current]"), hit];
    const sentence = places.map((place) => place?.closest(SENTENCE)).find((place) => this.element.contains(place ?? null));
    return sentence ? Number(sentence.dataset.at) : null;
  }

  /** Show which sentence is marked as evidence; null: none. */
  showEvidence(at) {
    const [was, is] = [this.element.querySelector(".is-evidence"), this.sentence(at)];
    if (was === is) return;
    was?.classList.remove("is-evidence");
    is?.classList.add("is-evidence");
  }

  /** Mark the words that the machine quotes, which begin in a sentence; without words nothing is marked. */
  showQuote(at, quote) {
    const sentence = quote ? this.sentence(at) : null;
    const text = new TextOf(sentence ? [this.element.querySelector(".cited-text")] : []);
    const ranges = sentence ? hitsIn(text.folded, fold(quote)).map(([start, end]) => text.range(start, end)) : [];
    const words = ranges.find(({ startContainer }) => sentence.contains(startContainer));
    CSS.highlights?.set("machine-quote", new Highlight(...(words ? [words] : [])));
  }

  /** Where the words of the answer's sentence `number` stand, [paragraph, share, sentence]. */
  placesOf(number) {
    const places = JSON.parse(this.element.querySelector("article")?.dataset.places ?? "{}");
    return places[number] ?? [];
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

function numberParagraphs(part) {
  for (const paragraph of part.querySelectorAll(".cited-paragraph")) {
    numberSentences(paragraph, SENTENCE, Number(paragraph.querySelector(SENTENCE).dataset.at) + 1);
  }
}

/** The element in which the selection starts; null where nothing is selected. */
function startOfSelection() {
  const selection = getSelection();
  if (!selection || selection.isCollapsed) return null;
  const { startContainer, startOffset } = selection.getRangeAt(0);
  const start = startContainer.childNodes[startOffset] ?? startContainer;
  return start instanceof Element ? start : start.parentElement;
}
