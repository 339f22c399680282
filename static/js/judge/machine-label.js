// The machine's label beside the question, for the one condition that shows it. Nothing is chosen by it; accepting is an
// act of its own. How long the label was to be seen before the decision is kept.

import { wordOf } from "./words.js";

const FAILED = "failed";

export class MachineLabel {
  #box = document.getElementById("shown");
  #chip = document.getElementById("shown-chip");
  #spent = new Map(); // pair key -> milliseconds for which its label was to be seen
  #key = null;
  #since = null;
  #isInView = false;

  constructor() {
    const seen = (/** @type {IntersectionObserverEntry[]} */ [entry]) => this.#see(entry.isIntersecting);
    new IntersectionObserver(seen, { threshold: 0.5 }).observe(this.#chip);
    document.addEventListener("visibilitychange", () => this.#see(this.#isInView));
  }

  /** Show a pair's label; null: there is no pair. */
  show(pair) {
    this.#stop();
    this.#key = pair?.key ?? null;
    this.#box.hidden = !pair;
    const given = `Machine label: ${wordOf(pair?.machine)}`;
    const text = pair?.machine === FAILED ? "The machine gave no label" : given;
    if (pair && this.#chip.textContent !== text) this.#chip.textContent = text;
    const quote = document.getElementById("shown-quote");
    quote.hidden = typeof pair?.quoted !== "number";
    const words = pair?.quote ? `: \u201c${pair.quote}\u201d` : "";
    if (!quote.hidden) quote.textContent = `Quotes S${pair.quoted + 1}${words}`;
    this.#box.querySelector("[data-do=accept]").setAttribute("aria-disabled", String(pair?.machine === FAILED));
    this.#see(this.#isInView);
  }

  /** For how long the pair's label was to be seen until now. */
  elapsed() {
    this.#stop();
    this.#see(this.#isInView);
    return Math.round(this.#spent.get(this.#key) ?? 0);
  }

  /** The label to accept; null where there is none. */
  labelOf(pair) {
    return pair.machine === FAILED ? null : pair.machine;
  }

  #see(isInView) {
    this.#isInView = isInView;
    const counts = isInView && !document.hidden && this.#key !== null;
    if (!counts) this.#stop();
    else this.#since ??= performance.now();
  }

  #stop() {
    if (this.#since === null) return;
    this.#spent.set(this.#key, (this.#spent.get(this.#key) ?? 0) + performance.now() - this.#since);
    this.#since = null;
  }
}
