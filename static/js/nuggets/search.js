// Search in the passages that are shown.

import { TextOf, hitsIn, wanted } from "../desk/finding.js";
import { Searching, counted } from "../desk/searching.js";
import { make } from "../shared/make.js";
import { plural } from "../shared/text.js";

export class Search extends Searching {
  #reading;
  #own;
  #texts = new Map(); // article -> TextOf, made when it is first searched

  /**
   * `goTo(pair)` follows a place that was typed, such as P12 S3.
   * @param {NuggetDesk} desk
   */
  constructor(desk, reading, goTo) {
    const { root } = reading;
    super(desk, root, root.querySelector("#passage-search"), root.querySelector("#passage-hits"));
    this.#reading = reading;
    this.goTo = goTo;
    this.#own = root.querySelector(".read-own");
    this.#own?.addEventListener("click", (event) => this.#clicked(event));
  }

  place() {
    return /^\s*p\s*\p{Nd}/iu.test(this.input.value) ? this.#reading.parse(this.input.value) : null;
  }

  found(needle) {
    return this.#reading.shown().flatMap((article) => this.#hitsOf(article, needle));
  }

  reveal(range) {
    const element = range.startContainer.parentElement;
    this.#reading.reveal(element.closest(".s, h3") ?? element.closest("article"), "nearest");
    const [segment, sentence] = this.#reading.pairAt(element);
    return `, ${this.#reading.label(segment, sentence)}: ${element.closest(".s, h3, p").textContent.trim()}`;
  }

  summary() {
    const place = this.place();
    if (place) return `Enter goes to ${this.#reading.label(...place)}`;
    if (!this.needle) return "";
    if (!this.hits.length) return counted(this.hits);
    const passages = new Set(this.hits.map((range) => range.startContainer.parentElement.closest("article"))).size;
    const places = `${passages} ${plural(passages, "passage")}`;
    return `${counted(this.hits)} in ${places}`;
  }

  show() {
    super.show();
    this.#showOwn();
  }

  /** End the search; return the sentence or heading of the current hit. */
  leave() {
    const element = this.hits[this.at]?.startContainer.parentElement;
    this.end();
    return element ? (element.closest(".s, h3") ?? this.#reading.heading(element.closest("article"))) : null;
  }

  #hitsOf(article, needle) {
    if (!this.#texts.has(article)) {
      const parts = article.querySelectorAll(".passage-title, .passage-headings, .passage-text");
      this.#texts.set(article, new TextOf(parts, ".again-note"));
    }
    const text = this.#texts.get(article);
    return hitsIn(text.folded, needle).map(([start, end]) => text.range(start, end));
  }

  // By hand nobody proposes nuggets, so the search shows which ones are written already.
  #showOwn() {
    if (this.desk.stage !== "manual") return;
    const rows = this.needle ? /** @type {NuggetDesk} */ (this.desk).store.listed().filter((row) => wanted(row.text).includes(this.needle)) : [];
    this.#own.hidden = !rows.length;
    const linkTo = ({ key, text }) => make("a", { href: `#n-${key}`, dir: "auto", dataset: { row: key } }, text);
    const links = rows.map(linkTo);
    this.#own.replaceChildren(`${rows.length} of your nuggets:`, " ", ...links.flatMap((link) => [link, " "]));
  }

  #clicked(event) {
    const link = event.target.closest("[data-row]");
    if (!link) return;
    event.preventDefault();
    document.dispatchEvent(new CustomEvent("desk:pane-wanted", { detail: { pane: "rows" } }));
    document.dispatchEvent(new CustomEvent("desk:row-wanted", { detail: { key: link.dataset.row } }));
  }
}
