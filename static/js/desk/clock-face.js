// What the assessor sees of the clock: their own time, folded; that it is paused; and one question after a long quiet
// time, which may be ignored.

import { make } from "../shared/make.js";
import { announce } from "./announce.js";

/** Write seconds as people say them: "47 min", "1 h 5 min". */
export function spoken(seconds) {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function button(text, run) {
  const control = make("button", { type: "button", className: "button" }, text);
  control.addEventListener("click", run);
  return control;
}

export class ClockFace {
  #asked = new Set();
  #question = [];
  #paused = [];

  /** `answer(number, gapAnswer)` sends what a gap was and resolves when it is kept; `resume()` lets the clock go on. */
  constructor({ answer, resume }) {
    this.answer = answer;
    this.resume = resume;
  }

  get #bar() {
    return document.querySelector('[data-notice="gap"]');
  }

  /** Show the active time so far. */
  time(seconds) {
    const value = document.querySelector("[data-timer] [data-timer-value]");
    if (value) value.textContent = spoken(seconds);
  }

  /** Ask once what a gap was. */
  ask({ number, seconds }) {
    if (this.#asked.has(number)) return;
    this.#asked.add(number);
    const time = spoken(seconds);
    this.#question = [
      make("span", {}, `Quiet for ${time}:`),
      button("I was reading", () => this.#say(number, "reading")),
      button("I was away", () => this.#say(number, "away")),
      button("Dismiss", () => this.#close("")),
    ];
    this.#show();
    announce(`Quiet for ${time}. If you like, say below the text whether you were reading or away.`, { keep: true });
  }

  /** Show or stop showing that the clock is paused. */
  pause(paused) {
    const notice = make("span", {}, "Paused: no time is counted.");
    this.#paused = paused ? [notice, button("Resume", this.resume)] : [];
    this.#show();
    announce(paused ? "Paused. No time is counted." : "The clock runs again.");
  }

  async #say(number, gapAnswer) {
    try {
      await this.answer(number, gapAnswer);
      this.#close(gapAnswer === "reading" ? "Counted as reading." : "Not counted.");
    } catch {
      announce("That could not be saved. Try again in a moment.", { keep: true });
    }
  }

  #close(text) {
    this.#question = [];
    this.#show();
    if (text) announce(text);
  }

  #show() {
    const bar = this.#bar;
    if (!bar) return;
    const within = bar.contains(document.activeElement);
    const shown = [...this.#paused, ...this.#question];
    bar.replaceChildren(...shown);
    bar.hidden = shown.length === 0;
    // Whoever pressed a button of the bar would otherwise be thrown to the top of the page.
    if (within) (bar.querySelector("button") ?? document.getElementById("rows"))?.focus();
  }
}
