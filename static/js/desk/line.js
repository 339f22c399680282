// The line above the action bar. It shows the newest message for some seconds, with an Undo where the act that it tells
// of can be taken back, and it asks questions. Its height is reserved, so that nothing that it shows moves a button.

import { make } from "../shared/make.js";
import { copyOf } from "../shared/template.js";

const SEEN_MS = 5000;

class Line {
  #root = document.getElementById("line");
  #message = this.#root.querySelector("[data-message]");
  #text = this.#root.querySelector("[data-text]");
  #undo = this.#root.querySelector("[data-undo]");
  #messages = []; // {text, keep, undo, seen}: those shown now
  #question = null; // {group, from}

  constructor() {
    this.#undo.addEventListener("click", (event) => this.#takeBack(event));
    this.#message.addEventListener("pointerleave", () => this.#clear());
    this.#message.addEventListener("focusout", () => setTimeout(() => this.#clear()));
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) setTimeout(() => this.#clear(), SEEN_MS);
    });
  }

  /** Show a message. `keep`: a newer message is shown beside it, not instead. `undo(event)` takes back its act. */
  show(text, { keep, undo }) {
    const stays = (message) => message.text !== text && (message.keep || this.#hasFocus);
    const message = { text, keep, undo, seen: false };
    this.#messages = [...this.#messages.filter(stays), message];
    this.#draw();
    setTimeout(() => {
      message.seen = true;
      this.#clear();
    }, SEEN_MS);
  }

  /** Take the Undo away: something else was done since, or nothing may be changed here now. */
  withdrawUndo() {
    for (const message of this.#messages) message.undo = null;
    this.#draw();
  }

  /** Ask something, and put the focus on the first of `choices`, each {words, act, key}. Returns what closes it. */
  ask(text, choices) {
    this.#close();
    const group = copyOf("line-question");
    const [first] = choices.map((choice) => this.#addChoice(group, choice));
    group.querySelector("[data-asked]").textContent = text;
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      this.#close()?.focus();
    });
    this.#question = { group, from: document.activeElement };
    this.#root.querySelector("[data-parts]").prepend(group);
    first.focus();
    return () => this.#question?.group === group && this.#close();
  }

  /** Put the focus on the question that waits. Returns whether there is one. */
  askAgain() {
    this.#question?.group.querySelector("button").focus();
    return this.#question !== null;
  }

  #addChoice(group, { words, act, key }) {
    const button = make("button", { type: "button" }, words);
    if (key) button.append(" ", make("kbd", {}, key));
    button.addEventListener("click", () => {
      this.#close();
      act();
    });
    group.append(button);
    return button;
  }

  /** Take a question away that something else has overtaken. */
  withdrawQuestion() {
    this.#close();
  }

  // Returns where the focus was before the question.
  #close() {
    const { group, from } = this.#question ?? {};
    group?.remove();
    this.#question = null;
    return from;
  }

  get #hasFocus() {
    return this.#message.contains(document.activeElement);
  }

  // A message that was seen long enough goes, unless somebody is on it or the page is out of sight.
  #clear() {
    if (this.#hasFocus || this.#message.matches(":hover") || document.hidden) return;
    this.#messages = this.#messages.filter((message) => !message.seen);
    this.#draw();
  }

  #draw() {
    this.#text.textContent = this.#messages.map((message) => message.text).join(" ");
    const hides = !this.#messages.some((message) => message.undo);
    if (hides && this.#undo === document.activeElement) document.getElementById("actions").focus();
    this.#undo.hidden = hides;
  }

  #takeBack(event) {
    const { undo } = this.#messages.findLast((message) => message.undo);
    this.withdrawUndo();
    undo(event);
  }
}

export const line = new Line();
