// Which passages are shown: all, the unread, the linked or the others. A passage that stops fitting while it is read
// stays until the reader moves on, so that nothing vanishes under the eyes.

const FILTERS = ["all", "unread", "linked", "not-linked"];

export class Filters {
  #reading;
  #coverage;
  #buttons;
  #none;
  #changed;
  chosen = "all";

  /** `changed()` is called when other passages are shown. */
  constructor(reading, coverage, changed) {
    this.#reading = reading;
    this.#coverage = coverage;
    this.#changed = changed;
    this.#buttons = [...reading.root.querySelectorAll(".read-filters [data-filter]")];
    this.#none = reading.root.querySelector("[data-none]");
    document.addEventListener("desk:coverage", () => this.#drawCounts());
    this.#drawCounts();
  }

  /** Show what fits; return how many passages that are. */
  choose(filter) {
    this.chosen = FILTERS.includes(filter) ? filter : "all";
    for (const button of this.#buttons)
      button.setAttribute("aria-pressed", String(button.dataset.filter === this.chosen));
    this.refresh();
    return this.#reading.shown().length;
  }

  /** Hide what does not fit any more, but for one passage. */
  refresh(kept = null) {
    let changed = false;
    for (const article of this.#reading.articles) {
      const hidden = article !== kept && !this.#fits(article);
      changed ||= article.hidden !== hidden;
      article.hidden = hidden;
    }
    const shown = this.#reading.shown();
    this.#none.hidden = shown.length > 0 || !this.#reading.articles.length;
    if (changed) this.#changed();
    if (shown.length && this.#reading.stop?.closest("article").hidden) this.#reading.stopAt(this.#reading.topmost());
  }

  #fits(article) {
    if (this.chosen === "unread") return !this.#coverage.mark(article);
    if (this.chosen === "linked") return this.#coverage.links(article) > 0;
    return this.chosen === "all" || this.#coverage.links(article) === 0;
  }

  #drawCounts() {
    const { total, unread, linked } = this.#coverage.counts();
    const counts = { all: total, unread, linked, "not-linked": total - linked };
    for (const button of this.#buttons)
      button.querySelector("[data-count]").textContent = counts[button.dataset.filter];
  }
}
