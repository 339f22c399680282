// The left pane: one answer in full, with numbered sentences. Which answer is shown is decided here and told to the
// right pane; an answer counts as seen once its text stands in a page that somebody can look at.

import { Jump } from "./jump.js";
import { answerName } from "./place-names.js";
import { UNIT } from "./words.js";

const HERE = "is-here"; // the sentence that is recorded, or asked about

export class AnswerPane extends EventTarget {
  #desk;
  #progress;
  #texts;
  #head = document.getElementById("answer-head");
  #body = document.getElementById("answer-text");
  #problem = document.getElementById("answer-problem");
  #waiting = null; // the answer that is shown and has no text yet
  #scrolls = new Map(); // answer id -> where it was left
  current = null;

  /** @param {JudgingDesk} desk */
  constructor(desk, progress, texts) {
    super();
    this.#desk = desk;
    this.#progress = progress;
    this.#texts = texts;
    this.root = document.getElementById("passages");
    this.article = document.getElementById("answer");
    this.jump = new Jump(desk, progress, this);
    this.root.addEventListener("focusin", ({ target }) => this.#stopAt(target.closest("[data-index]")));
    this.#problem.querySelector("button").addEventListener("click", () => this.#load(this.current));
    addEventListener("online", () => this.#waiting && this.#load(this.#waiting));
    desk.save.session.addEventListener("signed-in", () => this.#waiting && this.#load(this.#waiting));
    for (const name of ["visibilitychange", "desk:readonly"]) document.addEventListener(name, () => this.#see());
  }

  get answer() {
    return this.#progress.answer(this.current);
  }

  get sentences() {
    return [...this.#body.querySelectorAll("[data-index]")];
  }

  sentence(index) {
    return this.#body.querySelector(`[data-index="${index}"]`);
  }

  /** "Answer 18 of 45". */
  title(answer = this.answer) {
    const total = this.#progress.answers.length;
    return `${answerName(answer.number)} of ${total}`;
  }

  /** Show an answer. Its text may come later; the heading is there at once. */
  show(id) {
    const answer = this.#progress.answer(id);
    if (!answer) return;
    if (this.current) this.#scrolls.set(this.current, this.root.scrollTop);
    this.current = id;
    this.#head.textContent = this.title(answer);
    this.article.dataset.answer = id;
    this.dispatchEvent(new CustomEvent("answer", { detail: { id } }));
    const there = this.#texts.now(id);
    if (there) this.#draw(id, there);
    else this.#load(id);
    this.root.scrollTop = this.#scrolls.get(id) ?? 0;
    this.jump.draw();
  }

  async #load(id) {
    this.#waiting = id;
    this.#clear();
    this.#say(`Loading the ${UNIT.toLowerCase()} …`, false);
    try {
      const text = await this.#texts.get(id);
      if (this.current === id) this.#draw(id, text);
    } catch (error) {
      if (this.current !== id) return;
      const { message } = /** @type {Error} */ (error);
      this.#say(message, true);
      this.#desk.announce(`${this.title()} cannot be shown. ${message}`, { keep: true });
    }
  }

  #say(text, isWrong) {
    this.#problem.hidden = !text;
    this.#problem.querySelector("span").textContent = text;
    this.#problem.querySelector("button").hidden = !isWrong;
  }

  #clear() {
    if (this.#body.contains(document.activeElement)) this.#head.focus();
    this.#body.replaceChildren();
  }

  #draw(id, text) {
    this.#waiting = null;
    this.#clear();
    this.#say("", false);
    this.#body.replaceChildren(...text.sentences.map((sentence) => document.importNode(sentence, true)));
    this.#stopAt(this.sentences[0]);
    this.dispatchEvent(new CustomEvent("text", { detail: { id, text } }));
    this.#see();
    this.#texts.prefetch(id);
  }

  /** Note once that the answer was on the screen. */
  #see() {
    const mayNot = this.#desk.isReadonly || document.hidden;
    if (mayNot || this.#waiting || !this.answer || this.answer.seen) return;
    this.#desk.store.do("open", { answer: this.current }, { source: "key" });
  }

  // All sentences together are one tab stop.
  #stopAt(sentence) {
    if (!sentence) return;
    for (const item of this.sentences) item.tabIndex = item === sentence ? 0 : -1;
  }

  /** Mark the sentence that the current row names, and nothing else. */
  mark(index, { reveal = false } = {}) {
    for (const item of this.sentences) {
      const isHere = index !== null && Number(item.dataset.index) === index;
      item.classList.toggle(HERE, isHere);
      if (isHere) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
      if (isHere && reveal) item.scrollIntoView({ block: "nearest" });
    }
  }

  focusHeading() {
    document.dispatchEvent(new CustomEvent("desk:pane-wanted", { detail: { pane: "passages" } }));
    this.#head.focus();
  }

  /** Move the focus to a sentence; false where there is none. */
  goTo(index) {
    const sentence = this.sentence(index);
    if (!sentence) return false;
    document.dispatchEvent(new CustomEvent("desk:pane-wanted", { detail: { pane: "passages" } }));
    sentence.focus();
    return true;
  }

  /** Go to the sentence before or after the one in focus. */
  step(by) {
    const { sentences } = this;
    const at = sentences.indexOf(document.activeElement.closest("[data-index]"));
    sentences[Math.min(sentences.length - 1, Math.max(0, at + by))]?.focus();
  }

  place() {
    return { answer: this.current, scroll: this.root.scrollTop };
  }

  restore({ answer, scroll }) {
    if (answer !== this.current || typeof scroll !== "number") return;
    this.#scrolls.set(answer, scroll);
    const put = () => (this.root.scrollTop = scroll);
    put();
    this.addEventListener("text", put, { once: true });
  }
}
