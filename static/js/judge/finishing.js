// How far it is, and going on: to the next answer, to the next pair without a label, to the question whether all is done.

import { line } from "../desk/line.js";
import { leave } from "../saving/leaving.js";
import { put } from "../shared/text.js";
import { UNIT, nounOf } from "./words.js";

export class Finishing {
  #desk;
  #progress;
  #pane;
  #closeQuestion = () => {};

  /** @param {JudgingDesk} desk */
  constructor(desk, progress, pane, define) {
    this.#desk = desk;
    this.#progress = progress;
    this.#pane = pane;
    desk.store.addEventListener("change", ({ detail }) => {
      if (detail.cause === "local") this.#closeQuestion();
      this.draw();
    });
    document.addEventListener("judge:title", () => this.draw());
    pane.addEventListener("answer", () => {
      this.#closeQuestion();
      this.draw();
    });
    document.querySelector("[data-act=finish]")?.addEventListener("click", () => this.finish());
    document.querySelector("[data-act=next-unjudged]")?.addEventListener("click", () => this.nextUnjudged());
    define({ id: "finish", run: () => this.finish() });
    define({ id: "next-unjudged", run: () => this.nextUnjudged() });
  }

  draw() {
    const place = this.#pane.answer ? `${(this.#desk.work ?? this.#pane).title()} · ` : "";
    const { done, total } = this.#progress.counts();
    put(document, "#progress", `${place}${done} of ${total} judged`);
    const button = document.querySelector("[data-act=finish] [data-words]");
    if (button) button.textContent = this.#verb();
    button?.closest("button").classList.toggle("go", this.#isNext());
  }

  // Finishing is what comes next only once the answer has all its labels.
  #isNext() {
    return Boolean(this.#desk.work?.sweep?.isOn) || !this.#progress.unlabelled(this.#pane.current).length;
  }

  #verb() {
    const sweep = this.#desk.work?.sweep;
    if (sweep?.isOn && !sweep.isLast) return `Next ${nounOf(sweep.nugget.key)}`;
    if (!this.#progress.isDone) return `Finish ${UNIT.toLowerCase()}`;
    return this.#desk.urls.after ? "End the practice" : "Review and submit";
  }

  /** Go on to the next answer with something left, unless a label just did; when there is none, ask whether to submit. Gaps are asked about. */
  finish() {
    const { sweep } = this.#desk.work;
    if (sweep?.isOn && !sweep.isLast) return sweep.turn(1);
    if (this.#progress.isDone) return this.end();
    if (this.#desk.work.isUnread) return undefined;
    const missing = this.#progress.unlabelled(this.#pane.current);
    return missing.length ? this.#askAbout(missing) : this.#goOn();
  }

  // A key that is pressed again is no answer: nothing is skipped unless that is chosen.
  #askAbout(missing) {
    if (line.askAgain()) return;
    this.#closeQuestion = line.ask(`${missing.length} without a label:`, [
      { words: "Go to the first", act: () => this.#desk.work.focus(missing[0]), key: "Enter" },
      { words: "Go on without", act: () => this.#goOn() },
    ]);
  }

  #goOn() {
    const { current } = this.#pane;
    const next = this.#progress.unfinished(current);
    return next.id === current ? this.end() : this.#desk.go(next.id);
  }

  // A practice is not submitted: its page leads back.
  end() {
    const { save, submitting, urls } = this.#desk;
    return urls.after ? leave(save, urls.after) : submitting?.review();
  }

  nextUnjudged() {
    const { work, announce } = this.#desk;
    // From elsewhere the current row is itself the next one, if it has no label.
    const from = work.pane.contains(document.activeElement) ? work.current : null;
    const key = this.#progress.unlabelledAfter(from, this.#pane.current);
    if (key) work.focus(key);
    else announce("Everything is judged");
  }
}
