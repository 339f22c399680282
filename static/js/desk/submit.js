// Submitting a topic: first everything is saved, then the server says how the list stands. Where something is in the
// way it is named above the list and nothing is sent; else one question is asked, and the answer freezes the list.

import { make } from "../shared/make.js";
import { copyOf } from "../shared/template.js";
import { plural } from "../shared/text.js";
import { define } from "./keys.js";
import { line } from "./line.js";

const HALTED = {
  ended: "This task was taken back.",
  starting: "The desk is starting.",
  "signed-out": "Sign in first.",
  conflict: "A change made in two windows waits for you.",
  moved: "Another window is working on this task.",
  elsewhere: "Another window is working on this task.",
};
const SLOW_MS = 10_000;

/** How much of what the review found missing is left, in its words. */
function lacking(what, count) {
  const texts = {
    decision: `${count} undecided.`,
    importance: `${count} neither vital nor okay.`,
    weight: `${count} without a weight.`,
    label: `Labels are missing in ${count} ${plural(count, "answer")}.`,
  };
  return texts[what];
}

class Submitting {
  #desk;
  #button;
  // Seen on the line: words beside the button would move the others.
  #why = make("span", { id: "submit-why", className: "visually-hidden" });
  #problems;
  #dialog;
  #busy = false;
  #isOvertaken = false; // a review was asked for while an earlier one was under way

  /** @param {Desk} desk */
  constructor(desk, button) {
    this.#desk = desk;
    this.#button = button;
    this.#problems = document.getElementById("submit-problems");
    button.before(this.#why);
    button.setAttribute("aria-describedby", this.#why.id);
    this.#makeDialog();
    button.addEventListener("click", () => this.review());
    define({ id: "submit", run: () => this.review() });
    desk.save.addEventListener("state", () => this.#drawState());
    desk.store.addEventListener("change", () => this.#strike());
    this.#problems.addEventListener("click", (event) => this.#follow(event));
    this.#drawState();
  }

  #makeDialog() {
    const copy = copyOf("review-template");
    this.#dialog = document.body.appendChild(copy);
    copy.querySelector("[data-do='submit']").addEventListener("click", () => this.#submit());
    copy.querySelector("[data-do='not-yet']").addEventListener("click", () => copy.close());
    copy.querySelector("h2").addEventListener("keydown", (event) => this.#answer(event));
    copy.addEventListener("click", (event) => this.#follow(event));
  }

  // Enter on the question says yes. A key that is held, or Ctrl+Enter pressed twice, does not.
  #answer(event) {
    if (event.key !== "Enter" || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.#submit();
  }

  // Why submitting has to wait; "" where it need not.
  #hindrance() {
    const { connected, halted } = this.#desk.save.state();
    if (halted) return HALTED[halted] ?? "Saving is stopped.";
    return connected ? "" : "Not connected: submitting has to wait.";
  }

  #drawState() {
    const why = this.#hindrance();
    this.#button.setAttribute("aria-disabled", String(Boolean(why) || this.#busy));
    if (this.#why.textContent === why) return;
    this.#why.textContent = why;
    this.#button.title = why;
  }

  /** Save everything, then ask the server how the list stands, and say so. */
  async review() {
    const why = this.#hindrance();
    if (why) {
      this.#desk.announce(why);
      return;
    }
    if (this.#dialog.open || this.#desk.isReadonly || this.#desk.work.holdUnfinished?.()) return;
    this.#isOvertaken = this.#busy;
    if (this.#busy) return;
    await this.#alone(async () => {
      const part = await this.#newestReview();
      if (part) this.#show(part);
    });
  }

  async #newestReview() {
    let part = null;
    do {
      this.#isOvertaken = false;
      part = (await this.#saved()) && (await this.#ask());
    } while (part && this.#isOvertaken);
    return part;
  }

  async #alone(work) {
    this.#busy = true;
    this.#drawState();
    try {
      await work();
    } finally {
      this.#busy = false;
      this.#drawState();
    }
  }

  // Wait for every receipt; false where the way to the server is lost meanwhile, of which the banner speaks.
  async #saved() {
    const { save, work } = this.#desk;
    work.settle();
    const lost = new AbortController();
    const stopped = new Promise((resolve) => {
      const look = () => this.#hindrance() && resolve(false);
      save.addEventListener("state", look, { signal: lost.signal });
      setTimeout(() => resolve(false), SLOW_MS);
    });
    const done = await Promise.race([save.drained().then(() => true), stopped]);
    lost.abort();
    if (!done) this.#desk.announce("Not submitted: not everything is saved yet.", { keep: true });
    return done;
  }

  async #ask() {
    try {
      const response = await fetch(`${this.#desk.urls.review}?part`, { redirect: "manual", cache: "no-store" });
      if (response.ok) {
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        return document.adoptNode(page.querySelector("[data-review]"));
      }
      const { session, urls } = this.#desk;
      if ((await session.check()) === "in") await session.get(urls.state); // tells whether the task was taken back
    } catch {
      // Said below: the server gave no answer.
    }
    this.#desk.announce("The server could not be asked. Try again in a moment.");
    return null;
  }

  // The review names every gap, so a question about one answer's gaps is overtaken.
  #show(part) {
    line.withdrawQuestion();
    if (part.dataset.complete === "yes") {
      this.#problems.hidden = true;
      this.#desk.work.reviewed?.(part);
      this.#dialog.querySelector("[data-into]").replaceChildren(part);
      this.#say("");
      this.#dialog.showModal();
      this.#dialog.querySelector("h2").focus();
      return;
    }
    const title = make("h3", {}, "Not submitted yet");
    const hide = make("button", { type: "button" }, "Hide");
    hide.addEventListener("click", () => this.#hide());
    this.#problems.replaceChildren(hide, title, part);
    this.#problems.hidden = false;
    const reasons = [...part.querySelectorAll(":scope > p b")].map((element) => element.textContent).join(" ");
    const names = [...part.querySelectorAll("[data-row]")].map((element) => element.textContent).join(", ");
    this.#desk.announce(`Not submitted. ${reasons} ${names}`, { keep: true });
    if (!this.#desk.work.focus(part.dataset.first)) this.#problems.focus();
  }

  #hide() {
    this.#problems.hidden = true;
    this.#desk.work.focus(this.#desk.work.current) || this.#desk.work.focusFirst();
  }

  // What is done meanwhile goes from the list; the list goes when nothing is left to do.
  #strike() {
    if (this.#problems.hidden) return;
    const { work } = this.#desk;
    for (const list of this.#problems.querySelectorAll("ul[data-lack]")) {
      for (const link of list.querySelectorAll("[data-row]")) {
        if (!work.lacks(list.dataset.lack, link.dataset.row)) link.closest("li").remove();
      }
      list.previousElementSibling.querySelector("b").textContent = lacking(list.dataset.lack, list.children.length);
      const heading = /** @type {HTMLElement} */ (list.previousElementSibling);
      list.hidden = heading.hidden = !list.children.length;
    }
    this.#problems.hidden = !this.#problems.querySelector("ul[data-lack] li");
  }

  #follow(event) {
    const link = event.target.closest("[data-row]");
    if (!link) return;
    event.preventDefault();
    this.#dialog.close();
    this.#desk.work.focus(link.dataset.row);
  }

  #say(text) {
    const problem = this.#dialog.querySelector(".problem");
    problem.textContent = text;
    problem.hidden = !text;
  }

  async #submit() {
    if (this.#busy) return;
    await this.#alone(async () => {
      const { save, store, urls, window: own } = this.#desk;
      await save.drained();
      await this.#desk.clock.flush(); // a submitted task takes no more time
      const answer = await save.session.post(urls.submit, { window: own, seq: store.seq }).catch(() => null);
      if (answer?.status === 200) {
        this.#desk.announce(this.#desk.words.submitted(answer.body));
        location.assign(`${location.pathname}?submitted`);
        return;
      }
      this.#say(answer?.body?.message ?? "The server did not answer. Nothing was submitted; try again.");
    });
  }
}

// The card is of the submission just made: a reload shows the task alone.
function followDone() {
  const first = document.querySelector("#done [data-first]");
  if (!first) return;
  history.replaceState(null, "", location.pathname);
  first.focus();
}

/**
 * Make the button of the action bar work. A task that is submitted has none, but the card after submitting.
 * @param {Desk} desk
 */
export function setup(desk) {
  const button = document.querySelector("[data-act=submit]");
  if (button) return new Submitting(desk, button);
  followDone();
  return null;
}
