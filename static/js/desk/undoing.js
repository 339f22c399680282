// Undo and redo: the buttons of the action bar, their keys, and the Undo beside a message of what was just done.

import { define } from "./keys.js";
import { line } from "./line.js";

const WORDS = { undo: "Undo", redo: "Redo" };
const NOTHING = { undo: "Nothing to undo", redo: "Nothing to redo" };

export class Undoing {
  #desk;
  #newest; // id of the newest step that can be undone
  #justDone = null; // id of a step done in this turn of the event loop

  /** @param {Desk} desk */
  constructor(desk) {
    this.#desk = desk;
    this.#newest = this.#top("undo")?.step;
    desk.store.addEventListener("stacks", () => this.#follow());
    for (const what of ["undo", "redo"]) {
      document.querySelector(`[data-act=${what}]`)?.addEventListener("click", () => this.takeBack(what, "mouse"));
      define({ id: what, run: () => this.takeBack(what, "key") });
      this.#draw(what);
    }
    document.addEventListener("desk:readonly", () => {
      line.withdrawUndo();
      for (const what of ["undo", "redo"]) this.#draw(what);
    });
  }

  /** Undo or redo the newest step. The desk says which rows it was about. */
  takeBack(what, source) {
    const { store, announce, words } = this.#desk;
    if (this.#desk.isReadonly) return announce(words.readonly);
    return store[what](source) || announce(NOTHING[what]);
  }

  /** What takes back the act that a message made now tells of; null where it tells of none. */
  ofThisTurn() {
    if (!this.#justDone) return null;
    return ({ detail }) => this.takeBack("undo", detail ? "mouse" : "key"); // Enter and Space are clicks without a pointer
  }

  #top(what) {
    return this.#desk.store[`${what}Stack`].at(-1);
  }

  #follow() {
    for (const what of ["undo", "redo"]) this.#draw(what);
    const newest = this.#top("undo")?.step;
    if (newest === this.#newest) return;
    this.#newest = newest;
    line.withdrawUndo();
    this.#justDone = this.#top("redo") ? null : newest; // whatever is done empties the stack of what can be redone
    queueMicrotask(() => (this.#justDone = null));
  }

  #draw(what) {
    const button = document.querySelector(`[data-act=${what}]`);
    if (!button) return;
    const step = this.#top(what);
    button.setAttribute("aria-disabled", String(!step || this.#desk.isReadonly));
    button.title = step ? `${WORDS[what]}: ${step.label}` : NOTHING[what];
  }
}
