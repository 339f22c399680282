// The answers of the task as a list that folds out: how much of each is judged, and a button to go there.

import { answerName } from "./place-names.js";
import { UNIT } from "./words.js";

/** How far an answer is: "✓ done", "3 of 12". */
function stateOf({ done, total, isOpened }) {
  if (!total) return "nothing to judge";
  if (done === total) return "✓ done";
  return isOpened || done ? `${done} of ${total}` : "not opened";
}

export class Jump {
  #desk;
  #progress;
  #pane;
  #fold = /** @type {HTMLDetailsElement} */ (document.getElementById("answer-list"));
  #list = this.#fold.querySelector("ol");

  /** @param {JudgingDesk} desk */
  constructor(desk, progress, pane) {
    this.#desk = desk;
    this.#progress = progress;
    this.#pane = pane;
    this.#fold.addEventListener("toggle", () => this.draw());
    this.#list.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (!button) return;
      this.#fold.open = false;
      desk.go(button.dataset.to);
    });
    desk.store.addEventListener("change", () => this.draw());
    for (const [id, by] of [["answer-previous", -1], ["answer-next", 1]]) {
      this.#pane.root.querySelector(`[data-do=${id}]`).addEventListener("click", () => this.step(by));
    }
  }

  /** Go to the answer before or after. */
  step(by) {
    const next = this.#progress.beside(this.#pane.current, by);
    if (next) this.#desk.go(next.id);
    else this.#desk.announce(`This is the ${by > 0 ? "last" : "first"} ${UNIT.toLowerCase()}`);
  }

  draw() {
    const answers = this.#progress.answers;
    for (const [id, by] of [["answer-previous", -1], ["answer-next", 1]]) {
      const is = String(!this.#progress.beside(this.#pane.current, by));
      this.#pane.root.querySelector(`[data-do=${id}]`).setAttribute("aria-disabled", is);
    }
    if (!this.#fold.open) return;
    const items = /** @type {HTMLCollectionOf<HTMLLIElement>} */ (this.#list.children);
    const inTime = answers.map((answer, index) => this.#item(answer, items[index]));
    inTime.forEach((item, index) => this.#list.children[index] !== item && this.#list.append(item));
    while (this.#list.children.length > inTime.length) this.#list.lastElementChild.remove();
  }

  #item(answer, item = document.createElement("li")) {
    const { done, total } = this.#progress.counts(answer.id);
    const isHere = answer.id === this.#pane.current;
    if (!item.firstChild) item.append(Object.assign(document.createElement("button"), { type: "button" }));
    const button = item.querySelector("button");
    const text = `${answerName(answer.number)}: ${stateOf({ done, total, isOpened: answer.seen })}`;
    if (button.textContent !== text) button.textContent = text;
    button.dataset.to = answer.id;
    button.classList.toggle("is-done", done === total);
    if (isHere) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    return item;
  }
}
