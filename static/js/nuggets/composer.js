// Where nuggets are written that are not in the list yet: a new one, one merged from several, several split from one.
// What lies open here is kept on the server and comes back after a reload, on any device.

import { chordOf } from "../desk/keys.js";
import { isRubric } from "../desk/rules.js";
import { copyOf } from "../shared/template.js";
import { together, trimmed } from "../shared/text.js";
import { ComposerText } from "./composer-text.js";

const WORDS = {
  new: { title: (_name, noun) => `New ${noun}`, verb: "Add", target: "new" },
  merge: {
    title: (nuggets) => `Merge ${nuggets}`,
    verb: "Merge",
    target: "merged",
  },
  split: {
    title: (nugget) => `Split ${nugget}`,
    verb: "Split",
    target: "split",
  },
};
const FIRST_SOURCE = 3; // Alt+1 and Alt+2 mean vital and okay in every form
const LONGEST_TEXT = 2000; // characters, as in assessor/rules/nugget_ops.py

/** What is said of a nugget that is being written. */
const IMPORTANCE = ["neither", "okay", "vital"];

/**
 * One open composer. `done(values)` gets its parts; `closed()` is called when it is left without; `give(key, importance)`
 * sets what was asked about the nugget that was just added.
 */
export class Composer {
  #desk;
  #parts = [];
  #about;
  #draft;
  #kept;
  #sources;
  #agreed = ""; // the text that may leave facts of its sources out
  asksOf = null; // the key of the nugget that was added without an importance

  /** @param {NuggetDesk} desk */
  constructor(desk, slot, draft, { pinned = false, name = "", sources = [], done, closed, goTo, give }) {
    this.slot = slot;
    this.pinned = pinned;
    this.done = done;
    this.closed = closed;
    this.goTo = goTo;
    this.give = give;
    this.#sources = sources;
    this.#desk = desk;
    this.#draft = { ...draft, open: true };
    this.element = copyOf("composer-template");
    this.element.dataset.slot = slot;
    this.element.dataset.keys = "composer";
    this.#about = name;
    this.#fill({ sources, parts: draft.parts?.length ? draft.parts : [{}] });
    this.#kept = pinned ? this.#signature() : "";
    this.#listen();
  }

  /** Bring words and fields up to date with the list: in a rubric what is written is a criterion, with a weight. */
  draw() {
    const title = WORDS[this.slot].title(this.#about, this.#noun);
    this.element.querySelector(".composer-target").textContent = `Links go to: ${this.name}`;
    this.element.setAttribute("aria-label", title);
    this.element.querySelector(".composer-title").textContent = title;
    for (const part of this.#parts) part.draw();
  }

  get isRubric() {
    return isRubric(this.#desk.store.visible());
  }

  get #noun() {
    return this.isRubric ? "criterion" : "nugget";
  }

  #fill({ sources, parts }) {
    this.draw();
    this.element.querySelector(".composer-verb").textContent = WORDS[this.slot].verb;
    this.element.querySelector("[data-do='part']").hidden = this.slot !== "split";
    this.element.querySelector("[data-do='close']").hidden = this.pinned;
    for (const part of parts) this.#addPart(part);
    const list = this.element.querySelector(".composer-sources");
    list.hidden = sources.length === 0;
    list.append(...sources.map((source, index) => this.#sourceLine(source, index + FIRST_SOURCE)));
  }

  #sourceLine({ name, text }, digit) {
    const line = copyOf("source-template");
    const [insert, keep] = line.querySelectorAll("button");
    insert.querySelector("[data-caption]").textContent = `Insert ${name}: ${text}`;
    const key = ["Alt", digit].join("+");
    insert.querySelector("kbd").textContent = digit > 9 ? "" : key;
    if (digit <= 9) insert.setAttribute("aria-keyshortcuts", key);
    insert.addEventListener("click", () => this.#parts[0].insert(text));
    keep.textContent = `Keep ${name}'s words`;
    keep.addEventListener("click", () => this.#keepWordsOf(text));
    return line;
  }

  #keepWordsOf(text) {
    this.#agreed = text;
    this.#parts[0].replace(text);
  }

  #insertSource(event) {
    const digit = /^Alt\+([3-9])$/.exec(chordOf(event) ?? "")?.[1];
    const source = digit && this.#sources[Number(digit) - FIRST_SOURCE];
    if (!source) return;
    event.preventDefault();
    this.#parts[0].insert(source.text);
  }

  /** What a link goes to, in words. */
  get name() {
    return `${WORDS[this.slot].target} ${this.#noun}`;
  }

  /** Give an importance to what is written, or to what was just added and asks for one. */
  setImportance(importance, place = null) {
    const part = this.#partAt(place);
    if (this.asksOf) {
      this.give(this.asksOf, importance);
      return;
    }
    part.importance = importance;
    this.keep();
    this.#desk.announce(`${this.name}: ${IMPORTANCE[importance]}`);
  }

  /** Go to the weight of what is written. */
  openWeight(place) {
    this.#partAt(place).openWeight();
  }

  #partAt(place) {
    return this.#parts.find(({ element }) => element.contains(place)) ?? this.#parts[0];
  }

  say(problem) {
    this.#problem(`${problem}.`);
  }

  /** Ask whether what was just added is vital or okay. Whoever types on has the question go. */
  ask(key, name) {
    this.asksOf = key;
    const box = this.#asking;
    box.querySelector("[data-caption]").textContent = `${name} is:`;
    box.hidden = false;
    box.focus(); // not a button: Enter pressed twice must not answer
  }

  /** The question is answered, or left: the next nugget is written. */
  answered() {
    this.#leaveQuestion();
    this.focus();
  }

  #leaveQuestion() {
    this.asksOf = null;
    this.#asking.hidden = true;
  }

  get #asking() {
    return this.element.querySelector(".composer-ask");
  }

  // A letter is the next nugget's first: with the focus in the field, it is typed there.
  #askedKey(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const isButton = event.target.matches("button");
    const isTyped = [...event.key].length === 1 && !(isButton && event.key === " ");
    const chord = chordOf(event);
    const answers = ["vital", "okay"].some((id) => this.#desk.keys.keysOf(id).includes(chord));
    const leaves = event.key === "Enter" && !isButton;
    if (answers || !(isTyped || leaves)) return;
    event.stopPropagation();
    if (leaves) event.preventDefault();
    this.answered();
  }

  #addPart(value) {
    const part = new ComposerText(this, value);
    this.#parts.push(part);
    this.element.querySelector(".composer-parts").append(part.element);
    const single = this.#parts.length === 1 && this.slot !== "split";
    part.label.textContent = single ? "Text" : `Text ${this.#parts.length}`;
    return part;
  }

  #listen() {
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.confirm();
    });
    this.element.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      this.#insertSource(event);
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      if (this.asksOf) this.answered();
      else this.close();
    });
    this.element.addEventListener("focusout", ({ relatedTarget }) => {
      if (!relatedTarget || this.element.contains(relatedTarget)) return;
      this.#problem("");
      this.#leaveQuestion();
    });
    this.#asking.addEventListener("keydown", (event) => this.#askedKey(event));
    for (const button of this.#asking.querySelectorAll("button")) {
      button.addEventListener("click", () => this.setImportance(Number(button.value)));
    }
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

  /** Something is written here that is not in the list: a new nugget's text, a merge or a split. */
  get isUnfinished() {
    return this.slot !== "new" || this.#parts.some((part) => part.text);
  }

  /** Lead here, because submitting would leave what is written behind. */
  hold() {
    const { verb } = WORDS[this.slot];
    this.focus();
    this.#problem(`Not submitted: this is not in the list yet. ${verb}, or ${this.pinned ? "empty the text" : "close this form"}.`);
  }

  /** Begin with everything selected. */
  select() {
    this.#parts[0].select();
  }

  /** Take in words, at the end of what is written. */
  insert(words) {
    const { field } = this.#parts[0];
    field.setSelectionRange(field.value.length, field.value.length);
    this.#parts[0].insert(words);
  }

  /** Take in evidence, as from a sentence that was selected. */
  link(pair) {
    this.#partAt(document.activeElement).link(pair);
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

  /** Enter in one part goes on to the next; in the last it confirms. In a rubric a text is followed by its weight. */
  entered(part, { weighed = false } = {}) {
    this.#problem("");
    if (this.isRubric && part.text && part.weight === null && !weighed) return part.openWeight();
    const next = this.#parts[this.#parts.indexOf(part) + 1];
    if (!next) return this.confirm();
    next.focus();
    next.field.select();
    return undefined;
  }

  // The fault of a part, in words; "" if there is none.
  #faultOf(part) {
    if (!part.text) return `A ${this.#noun} needs a text.`;
    if ([...part.text].length > LONGEST_TEXT) {
      return `A ${this.#noun} has at most ${LONGEST_TEXT} characters.`;
    }
    return this.#leftOut(part.text);
  }

  // The text of one source alone leaves the facts of the others out: that is asked about once.
  #leftOut(text) {
    const isOne = this.#sources.some((source) => trimmed(source.text) === text);
    const others = this.#sources.filter((source) => trimmed(source.text) !== text);
    if (!isOne || !others.length || trimmed(this.#agreed) === text) return "";
    this.#agreed = text;
    const nuggets = together(others.map((source) => source.name));
    const fault = others.length > 1 ? `The facts of ${nuggets} are not in it.` : `${nuggets}'s fact is not in it.`;
    return `${fault} Enter again merges all the same.`;
  }

  confirm() {
    const faulty = this.#parts.map((part) => [part, this.#faultOf(part)]).find(([, fault]) => fault);
    if (faulty) {
      faulty[0].focus();
      this.#problem(faulty[1]);
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
