// How far the reading is: which passages were read and which have nuggets, at each passage, in the strip, and in words.

import { plural, put } from "../shared/text.js";

const WORDS = { read: "read", "nothing new": "nothing new" };

/** What a passage's mark is called; "unread" where it has none. */
export function wordOf(mark) {
  return WORDS[mark] ?? "unread";
}

export class Coverage {
  #desk;
  #reading;
  #ticks;
  #links = new Map(); // segment -> how many listed nuggets rest on it

  /** @param {NuggetDesk} desk */
  constructor(desk, reading) {
    this.#desk = desk;
    this.#reading = reading;
    this.#ticks = [...reading.root.querySelectorAll(".strip > i")];
    desk.store.addEventListener("marks", () => this.draw());
    desk.store.addEventListener("change", () => this.draw());
    reading.root.querySelector(".strip").addEventListener("click", (event) => this.#clicked(event));
    this.draw();
  }

  /** How many nuggets of the list rest on a passage. */
  links(article) {
    return this.#links.get(article.dataset.segment) ?? 0;
  }

  mark(article) {
    return this.#desk.store.marks.get(article.dataset.segment) ?? "";
  }

  /** What the passage's button says of it: by hand, a passage that gave no nugget had nothing new. */
  markFor(article) {
    return this.#desk.stage === "manual" && !this.links(article) ? "nothing new" : "read";
  }

  counts() {
    const articles = this.#reading.articles;
    const read = articles.filter((article) => this.mark(article)).length;
    const linked = articles.filter((article) => this.links(article)).length;
    return { total: articles.length, read, unread: articles.length - read, linked };
  }

  draw() {
    this.#count();
    this.#reading.articles.forEach((article, index) => this.#drawPassage(article, this.#ticks[index]));
    const counts = this.counts();
    put(document, "#passage-coverage", `${counts.read} of ${counts.total} read, ${counts.linked} linked`);
    put(document, "#progress", `${counts.read} of ${counts.total} read`);
    document.dispatchEvent(new CustomEvent("desk:coverage", { detail: counts }));
  }

  #count() {
    this.#links.clear();
    for (const row of this.#desk.store.listed())
      for (const segment of new Set(row.evidence.map(([one]) => one)))
        this.#links.set(segment, (this.#links.get(segment) ?? 0) + 1);
  }

  #drawPassage(article, tick) {
    const mark = this.mark(article);
    const links = this.links(article);
    const drawn = `${mark} ${links}`;
    if (article.dataset.drawn === drawn) return;
    Object.assign(article.dataset, { drawn, mark, links });
    tick.className = [mark && "is-read", links && "is-linked"].filter(Boolean).join(" ");
    const nuggets = `${links} ${plural(links, "nugget")}`;
    article.querySelector(".passage-links").textContent = links ? `, ${nuggets}` : "";
    article.querySelector(".passage-state").textContent = wordOf(mark);
    const button = this.#reading.button(article);
    button.setAttribute("aria-pressed", String(Boolean(mark)));
    const caption = (mark || this.markFor(article)) === "read" ? "Mark as read" : "Nothing new here";
    button.querySelector(".passage-done-words").textContent = caption;
  }

  // With the pointer only: the headings, "P12" in the search, and [ and ] lead to the same places.
  #clicked(event) {
    const index = this.#ticks.indexOf(event.target);
    const article = this.#reading.articles[index];
    if (article) this.#reading.focusPassage(article);
  }
}
