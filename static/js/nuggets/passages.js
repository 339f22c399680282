// The left pane: reading, searching, filtering, marking what was read, and choosing the sentences that nuggets rest on.
// Other modules ask it for names of places ("P12 S3"), to mark evidence, and to go there and back.

import { stepOf } from "../desk/directions.js";
import { numberSentences } from "../desk/margins.js";
import { NuggetSearch } from "../desk/nugget-search.js";
import { plural } from "../shared/text.js";
import { Evidence } from "./evidence.js";
import { Filters } from "./filters.js";
import { Reading } from "./reading.js";
import { Search } from "./search.js";
import { Sentences } from "./sentences.js";
import { Coverage, wordOf } from "./strip.js";

let pane = null; // the one left pane of this page

/**
 * Wire the pane up. Returns what the desk keeps of it: `place` and `restore`.
 * @param {NuggetDesk} desk
 */
export function setup(desk) {
  pane = new PassagePane(desk, document.getElementById("passages"));
  return pane;
}

/** A place as people read it, "P12 S3" or "P12"; null where there is none. */
export function label(segment, sentence = null) {
  return pane?.reading.label(segment, sentence) ?? null;
}

/** The [segment, sentence] of a typed "P12 S3" or "P12" (then the sentence is null); null where there is none. */
export function parse(text) {
  return pane?.reading.parse(text) ?? null;
}

class PassagePane {
  /** @param {NuggetDesk} desk */
  constructor(desk, root) {
    this.desk = desk;
    this.root = root;
    this.reading = new Reading(root);
    this.evidence = new Evidence(this.reading);
    this.coverage = new Coverage(desk, this.reading);
    this.search = new Search(desk, this.reading, (pair) => this.goTo(pair));
    this.filters = new Filters(this.reading, this.coverage, () => this.search.again());
    this.sentences = new Sentences(desk, this.reading, this.evidence);
    this.nuggetSearch = "nuggetSearch" in document.body.dataset ? new NuggetSearch(desk, this.reading) : null;
    for (const text of root.querySelectorAll(".passage-text")) numberSentences(text, ".s");
    this.#measure();
    this.#listen();
    this.#defineKeys(desk.keys);
  }

  place() {
    return { ...this.reading.place(), filter: this.filters.chosen };
  }

  restore(place) {
    if (place.filter) this.filters.choose(place.filter);
    if (place.segment) this.reading.restore(place);
  }

  /** Go on reading where the focus was last. */
  resume() {
    document.dispatchEvent(new CustomEvent("desk:pane-wanted", { detail: { pane: "passages" } }));
    if (this.reading.stop) this.reading.focus(this.reading.stop);
    else this.root.focus();
  }

  /** The hit of the search for the words of the nugget `key`, as what is selected; null without one. */
  hitFor(key) {
    const pair = this.nuggetSearch?.pairFor(key);
    return pair ? { segment: pair[0], sentence: pair[1], pairs: [pair] } : null;
  }

  /** Move the focus to a sentence, or with null to its passage; false where there is none. */
  goTo(pair) {
    if (!this.evidence.goTo(pair)) return false;
    this.desk.announce(this.reading.label(...pair));
    return true;
  }

  // What sticks below the tools needs to know how high they are.
  #measure() {
    const tools = this.reading.tools;
    const say = () => this.root.style.setProperty("--read-tools", `${Math.ceil(tools.offsetHeight)}px`);
    new ResizeObserver(say).observe(tools);
    say();
  }

  #listen() {
    let timer = 0;
    const follow = () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.reading.followScroll(), 200);
    };
    this.root.addEventListener("scroll", follow, { passive: true });
    document.addEventListener("scroll", follow, { passive: true });
    this.root.addEventListener("click", ({ target }) => {
      const fold = target.closest(".read-fold");
      if (fold) fold.setAttribute("aria-expanded", String(fold.getAttribute("aria-expanded") !== "true"));
      const filter = target.closest("[data-filter]");
      if (filter) this.#filter(filter.dataset.filter);
      const button = target.closest(".passage-done");
      if (button) this.#mark(button.closest("article.passage"), "mouse");
    });
  }

  #defineKeys(keys) {
    const here = () => this.reading.current();
    const runs = {
      "sentence-previous": (event) => this.sentences.step(stepOf(event, -1)),
      "sentence-next": (event) => this.sentences.step(stepOf(event, 1)),
      "passage-previous": () => this.#next(-1),
      "passage-next": () => this.#next(1),
      read: () => here() && this.#mark(here(), "key"),
      "next-unread": () => this.#nextUnread(),
      search: () => this.search.open(),
      "search-next": () => this.search.step(1),
      "search-previous": () => this.search.step(-1),
      "search-leave": () => this.#leaveSearch(),
      "rows-back": () => this.evidence.leave(),
      "evidence-back": () => this.evidence.back(),
    };
    for (const [id, run] of Object.entries(runs)) if (this.#knows(id)) keys.define({ id, run });
  }

  // In post-editing `u` leads to the next undecided nugget; that is for the right pane to define.
  #knows(id) {
    return id !== "next-unread" || this.desk.stage === "manual";
  }

  #filter(filter) {
    const shown = this.filters.choose(filter);
    this.desk.announce(`${shown} ${plural(shown, "passage")} shown`);
    const pressed = this.root.querySelector(`.read-filters [data-filter=${filter}]`);
    if (!this.root.contains(document.activeElement) || document.activeElement.closest("[data-none]")) pressed.focus();
  }

  // While a nugget's words are looked for, the next place is the next hit.
  #next(by) {
    if (this.nuggetSearch?.isOn) this.nuggetSearch.step(by);
    else this.#leaf(by);
  }

  // From inside a passage, "previous" leads to its own beginning first, as in every player.
  #leaf(by) {
    const article = this.reading.current();
    if (!article) return;
    const atStart = [this.reading.heading(article), this.reading.sentences(article)[0]].includes(document.activeElement);
    const inside = article.contains(document.activeElement);
    const stays = by < 0 ? !atStart : !inside && !this.reading.isPassed(article);
    const next = stays ? article : this.reading.beside(article, by);
    if (next) this.reading.focusPassage(next);
  }

  #nextUnread() {
    const articles = this.reading.articles;
    const from = articles.indexOf(this.reading.current());
    const after = [...articles.slice(from + 1), ...articles.slice(0, from + 1)];
    const next = after.find((article) => !this.coverage.mark(article));
    if (next) this.goTo([next.dataset.segment, null]);
    else this.desk.announce("Every passage is read");
  }

  // A passage that was read leads on to the next one; one that is taken back stays.
  #mark(article, source) {
    if (this.desk.store.readonly || "readonly" in document.body.dataset) return;
    const old = this.coverage.mark(article);
    const mark = old ? "" : this.coverage.markFor(article);
    this.desk.store.do("mark", { segment: article.dataset.segment, mark }, { source });
    this.#sayMark(article, mark);
    if (!mark) return;
    const next = this.reading.beside(article, 1);
    this.filters.refresh(next ? null : article);
    if (next) this.reading.focusPassage(next);
  }

  #sayMark(article, mark) {
    const { unread } = this.coverage.counts();
    const left = `${unread} unread`;
    this.desk.announce(`P${article.dataset.number} ${wordOf(mark)}, ${left}`);
  }

  #leaveSearch() {
    const found = this.search.leave();
    const place = found ?? this.reading.stop;
    if (place) this.reading.focus(place);
    else this.evidence.leave();
  }
}
