// Where nuggets are written that are not in the list yet: a new one, one merged from several, several split from one.
// What lies open here is kept on the server and comes back after a reload, on any device.

import { gettext, interpolate, pgettext } from "../gettext.js";
import { copyOf, drawChips, importanceIn, importanceSwitch, linkBox, pairOf, sameEvidence, setImportance } from "./chips.js";
import { Autosave, grow } from "./editing.js";

const WORDS = {
  new: { title: () => gettext("New nugget"), verb: pgettext("a button", "Add") },
  merge: { title: (nuggets) => interpolate(gettext("Merge %(nuggets)s"), { nuggets }), verb: pgettext("a button", "Merge") },
  split: { title: (nugget) => interpolate(gettext("Split %(nugget)s"), { nugget }), verb: pgettext("a button", "Split") },
};

let count = 0;

/** One text of a composer, with its importance and evidence. */
class Part {
  constructor(composer, { text = "", importance = 0, evidence = [] }) {
    this.composer = composer;
    this.evidence = evidence;
    this.element = copyOf("part-template");
    this.field = this.element.querySelector("textarea");
    this.field.id = `part-${(count += 1)}`;
    this.label.htmlFor = this.field.id;
    this.field.value = text;
    this.switch = importanceSwitch({ choose: (chosen) => this.#choose(chosen) });
    setImportance(this.switch, importance);
    this.element.querySelector(".part-importance").append(this.switch);
    this.element.querySelector(".part-link").append(linkBox({ link: (pair) => this.link(pair) }));
    this.autosave = new Autosave(this.field, () => composer.keep());
    this.#listen();
    this.#draw();
  }

  get label() {
    return this.element.querySelector(".part-label");
  }

  get text() {
    return this.field.value.trim();
  }

  get value() {
    return { text: this.field.value, importance: importanceIn(this.switch), evidence: this.evidence };
  }

  #listen() {
    this.field.addEventListener("input", () => {
      grow(this.field);
      this.composer.typed();
      this.autosave.typed();
    });
    this.field.addEventListener("keydown", (event) => this.#keyed(event));
    this.element.querySelector(".chips").addEventListener("click", (event) => {
      const chip = event.target.closest(".chip");
      if (event.target.closest("[data-do='unlink']")) this.unlink(pairOf(chip));
      if (event.target.closest("[data-do='go-chip']")) this.composer.goTo(pairOf(chip));
    });
  }

  // Enter that ends the composing of a character (Chinese, Japanese, Korean) adds nothing.
  #keyed(event) {
    if (event.isComposing || this.autosave.composing || event.keyCode === 229) return;
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.composer.entered(this);
  }

  #choose(importance) {
    setImportance(this.switch, importance);
    this.composer.keep();
  }

  link(pair) {
    if (!this.evidence.some((other) => sameEvidence(pair, other))) this.evidence = [...this.evidence, pair];
    this.#draw();
    this.composer.keep();
  }

  unlink(pair) {
    this.evidence = this.evidence.filter((other) => !sameEvidence(pair, other));
    this.#draw();
    this.field.focus();
    this.composer.keep();
  }

  insert(text) {
    const { value, selectionStart, selectionEnd } = this.field;
    const space = selectionStart > 0 && !/\s$/u.test(value.slice(0, selectionStart)) ? " " : "";
    this.field.setRangeText(`${space}${text}`, selectionStart, selectionEnd, "end");
    this.field.focus();
    grow(this.field);
    this.composer.typed();
    this.composer.keep();
  }

  focus() {
    this.field.focus();
    grow(this.field);
  }

  #draw() {
    drawChips(this.element.querySelector(".chips"), this.evidence, { writing: true });
  }
}

/** One open composer. `done(values)` gets its parts; `closed()` is called when it is left without. */
export class Composer {
  #desk;
  #parts = [];
  #draft;
  #kept;

  constructor(desk, slot, draft, { pinned = false, name = "", sources = [], done, closed, goTo }) {
    Object.assign(this, { slot, pinned, done, closed, goTo });
    this.#desk = desk;
    this.#draft = { ...draft, open: true };
    this.element = copyOf("composer-template");
    this.element.dataset.slot = slot;
    this.element.dataset.keys = "composer";
    this.#fill({ name, sources, parts: draft.parts?.length ? draft.parts : [{}] });
    this.#kept = pinned ? this.#signature() : "";
    this.#listen();
  }

  #fill({ name, sources, parts }) {
    const { title, verb } = WORDS[this.slot];
    this.element.setAttribute("aria-label", title(name));
    this.element.querySelector(".composer-title").textContent = title(name);
    this.element.querySelector(".composer-verb").textContent = verb;
    this.element.querySelector("[data-do='part']").hidden = this.slot !== "split";
    this.element.querySelector("[data-do='close']").hidden = this.pinned;
    for (const part of parts) this.#addPart(part);
    const list = this.element.querySelector(".composer-sources");
    list.hidden = sources.length === 0;
    list.append(...sources.map((source) => this.#sourceButton(source)));
  }

  #sourceButton({ name, text }) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "source";
    button.textContent = interpolate(gettext("Insert %(nugget)s: %(text)s"), { nugget: name, text });
    button.addEventListener("click", () => this.#parts[0].insert(text));
    return button;
  }

  #addPart(value) {
    const part = new Part(this, value);
    this.#parts.push(part);
    this.element.querySelector(".composer-parts").append(part.element);
    const single = this.#parts.length === 1 && this.slot !== "split";
    part.label.textContent = single ? gettext("Text") : interpolate(gettext("Text %(number)s"), { number: this.#parts.length });
    return part;
  }

  #listen() {
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.confirm();
    });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      this.close();
    });
    this.element.querySelector("[data-do='close']").addEventListener("click", () => this.close());
    this.element.querySelector("[data-do='part']").addEventListener("click", () => {
      this.#addPart({ ...this.#parts.at(-1).value }).focus();
      this.keep();
    });
  }

  /** What is kept of this composer: enough to open it again. */
  get draft() {
    return { ...this.#draft, parts: this.#parts.map((part) => part.value) };
  }

  #signature() {
    return JSON.stringify({ ...this.draft, at: 0 });
  }

  focus() {
    this.#parts[0].focus();
  }

  /** Take in evidence, as from a sentence that was selected. */
  link(pair) {
    (this.#parts.find((part) => part.element.contains(document.activeElement)) ?? this.#parts[0]).link(pair);
  }

  typed() {
    this.#problem("");
    this.#draft.at = Date.now(); // of two drafts of the same, the one typed in last counts
    this.#desk.save.keepText(`compose:${this.slot}`, this.draft);
  }

  /** Keep what lies open on the server, where it changed. A composer that is done with has no parts. */
  keep() {
    if (!this.#parts.length) return;
    const text = this.#signature();
    if (text !== this.#kept) {
      this.#kept = text;
      this.#draft.at = Date.now();
      this.#desk.store.do("compose", { slot: this.slot, draft: this.draft }, { source: "text" });
    }
    this.#desk.save.keepText(`compose:${this.slot}`, null);
  }

  #forget() {
    for (const part of this.#parts) part.autosave.stop();
    this.#parts = [];
    this.#desk.save.keepText(`compose:${this.slot}`, null);
    // Not null: an empty draft is newer than what this device may still hold when the page goes away just now.
    const draft = { open: false, parts: [], at: Date.now() };
    this.#desk.store.do("compose", { slot: this.slot, draft }, { source: "text" });
  }

  /** Enter in one part goes on to the next; in the last it confirms. */
  entered(part) {
    const next = this.#parts[this.#parts.indexOf(part) + 1];
    if (!next) return this.confirm();
    next.focus();
    next.field.select();
    return undefined;
  }

  confirm() {
    const empty = this.#parts.find((part) => !part.text);
    if (empty) {
      this.#problem(gettext("A nugget needs a text."));
      empty.focus();
      return;
    }
    const values = this.#parts.map((part) => ({ ...part.value, text: part.text }));
    this.#forget();
    if (this.pinned) this.#empty();
    else this.element.remove();
    this.done(values, this.#draft);
  }

  #problem(text) {
    const problem = this.element.querySelector(":scope > .problem"); // a part has one of its own, for its link
    problem.hidden = !text;
    problem.textContent = text;
  }

  #empty() {
    this.element.querySelector(".composer-parts").replaceChildren();
    this.#addPart({});
    this.#kept = this.#signature();
    this.focus();
  }

  /** Leave. What was typed stays kept, and is there when the same is composed again. */
  close() {
    if (!this.pinned) {
      this.#draft.open = false;
      this.keep();
      for (const part of this.#parts) part.autosave.stop();
      this.element.remove();
    }
    this.closed(this);
  }
}
