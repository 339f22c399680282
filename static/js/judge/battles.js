// Battles: two answers side by side, and which is better. A verdict never leads on by itself, so that a slip is seen before
// Enter goes on. Where one answer is shown at a time, a verdict needs both to have been opened.

import { capitalized } from "../shared/text.js";
import { AssignRows } from "./rows.js";
import { CANT_JUDGE, spokenOf } from "./words.js";

const NARROW = matchMedia("(max-width: 56.25rem)"); // as in css/desk.css
const SIDES = ["left", "right"];
const FIRST = "Say which answer is better first: then Enter goes on";

export class BattleLabelling extends AssignRows {
  #opened = new Map(); // battle -> the sides that were on the screen
  #scrolls = new Map(); // battle -> {left, right}: where each was left
  #sides = document.getElementById("answer-text");
  #areCoupled = false; // whether both answers scroll together

  /** @param {JudgingDesk} desk */
  constructor(desk, progress, answers) {
    super(desk, progress, answers);
    desk.work = this;
    answers.addEventListener("answer", () => this.#turned());
    answers.addEventListener("text", () => this.#shown());
    NARROW.addEventListener("change", () => this.#shown());
    this.#sides.addEventListener("keydown", (event) => closePassage(event));
    this.#sides.addEventListener("scroll", ({ target }) => this.#keepScroll(target), { capture: true });
    for (const button of document.querySelectorAll("[data-show]")) {
      button.addEventListener("click", () => this.#show(button.dataset.show));
    }
    this.#standOnLine();
    document.querySelector("[data-do=narrative]")?.addEventListener("click", () => this.#fold());
    this.pane.addEventListener("click", (event) => {
      const button = event.target.closest("[data-reason], [data-do=battle-next]");
      if (button?.dataset.reason) this.#toggle(button.dataset.reason, event.detail ? "mouse" : "key");
      else if (button) this.goOn();
    });
  }

  /** Give a verdict or take it away; `key` is always the battle's, which asks one question. */
  label(key, label, source, { reason = "" } = {}) {
    const { announce, store, words } = this.desk;
    const mayNot = label ? this.#mayNotJudge() : this.desk.isReadonly && words.readonly;
    if (mayNot) {
      this.draw();
      return announce(mayNot);
    }
    const row = store.row(key);
    if (!label && !row?.label) return announce("There is no verdict to clear");
    if ((row?.label ?? null) !== label || (row?.reason ?? "") !== reason) {
      store.do("label", { key, label, reason, sentence: null }, { source });
    }
    return announce(label ? `${capitalized(spokenOf(label, key))}. Enter goes on.` : "The verdict is cleared");
  }

  // Where one answer is shown at a time, the first verdict waits until the other was shown too.
  #mayNotJudge() {
    const mayNot = this.mayNot();
    if (mayNot || !NARROW.matches || this.desk.store.label(this.current)) return mayNot;
    const unseen = SIDES.find((side) => !this.#openedSides().has(side));
    return unseen ? `Open the answer on the ${unseen} first` : "";
  }

  openReason(key) {
    const mayNot = this.#mayNotJudge();
    return mayNot ? this.desk.announce(mayNot) : super.openReason(key);
  }

  /** Go on to the next battle, or where all are judged to the question whether to submit. */
  goOn() {
    if (!this.progress.isLabelled(this.current) && !this.desk.isReadonly) return this.desk.announce(FIRST);
    const next = this.progress.beside(this.answers.current, 1) ?? this.progress.unfinished();
    if (next && !(this.progress.isDone && next.number === 1)) return this.desk.go(next.id);
    return this.desk.finishing.end();
  }

  #toggle(reason, source) {
    const { announce, store, words } = this.desk;
    if (this.desk.isReadonly) return announce(words.readonly);
    const row = store.row(this.current);
    if (!row?.label || row.label === CANT_JUDGE) return announce("A reason goes with a verdict: say which is better first");
    const before = row.extras?.reasons ?? [];
    const isOn = before.includes(reason);
    const reasons = isOn ? before.filter((other) => other !== reason) : [...before, reason];
    const payload = { key: this.current, label: row.label, reason: "", sentence: null };
    store.do("label", reasons.length ? { ...payload, extras: { reasons } } : payload, { source });
    return announce(`${this.#captionOf(reason)}: ${isOn ? "no reason" : "a reason"}`);
  }

  #captionOf(reason) {
    return this.pane.querySelector(`[data-reason=${reason}]`)?.firstChild.textContent.trim() ?? reason;
  }

  draw() {
    super.draw();
    const row = this.desk.store.row(this.current);
    const isJudged = Boolean(row?.label) && row.label !== CANT_JUDGE;
    for (const button of this.pane.querySelectorAll("[data-reason]")) {
      const isOn = isJudged && (row.extras?.reasons ?? []).includes(button.dataset.reason);
      button.setAttribute("aria-pressed", String(isOn));
      button.setAttribute("aria-disabled", String(!isJudged || this.desk.isReadonly));
    }
  }

  #openedSides() {
    const { current } = this.answers;
    if (!this.#opened.has(current)) this.#opened.set(current, new Set());
    return this.#opened.get(current);
  }

  #turned() {
    this.#show("left", { isTurn: true });
  }

  #shown() {
    const scrolls = this.#scrolls.get(this.answers.current) ?? {};
    for (const side of SIDES) {
      const element = this.#side(side);
      if (element) element.scrollTop = scrolls[side] ?? 0;
      if (element && (!NARROW.matches || this.#sides.dataset.shownSide === side)) this.#openedSides().add(side);
    }
  }

  /** Show an answer, scrolled to where it was left; where there is room for both, only the keys go by it. */
  #show(side, { isTurn = false } = {}) {
    const before = this.#sides.dataset.shownSide;
    if (NARROW.matches && !isTurn) this.#keep(before, scrollY);
    this.#sides.dataset.shownSide = side;
    for (const button of document.querySelectorAll("[data-show]")) {
      button.setAttribute("aria-pressed", String(button.dataset.show === side));
    }
    if (!NARROW.matches || !this.#side(side)) return;
    this.#openedSides().add(side);
    if (before !== side) scrollTo({ top: this.#scrolls.get(this.answers.current)?.[side] ?? 0, behavior: "instant" });
  }

  #side(side) {
    return document.getElementById(`side-${side}`);
  }

  #keepScroll(target) {
    if (NARROW.matches || !target.dataset?.side) return;
    this.#keep(target.dataset.side, target.scrollTop);
    if (this.#areCoupled) followByShare(target, this.#side(target.dataset.side === "left" ? "right" : "left"));
  }

  #couple() {
    if (NARROW.matches) return this.desk.announce("One answer is shown at a time");
    this.#areCoupled = !this.#areCoupled;
    return this.desk.announce(this.#areCoupled ? "Both answers scroll together" : "Each answer scrolls by itself");
  }

  /** Show the answer that an element is in, where one is shown at a time. */
  uncover(element) {
    const side = element.closest("[data-side]")?.dataset.side;
    if (side && side !== this.#sides.dataset.shownSide) this.#show(side);
  }

  #keep(side, scroll) {
    const { current } = this.answers;
    this.#scrolls.set(current, { ...this.#scrolls.get(current), [side]: scroll });
  }

  otherSide() {
    const here = document.activeElement?.closest?.("[data-side]")?.dataset.side;
    const shown = NARROW.matches ? this.#sides.dataset.shownSide : here;
    const side = shown === "left" ? "right" : "left";
    this.#show(side);
    this.#side(side)?.focus({ preventScroll: true });
  }

  // In a narrow window the bar stands on the line of messages, which grows with what it says.
  #standOnLine() {
    const parts = document.querySelector("#line > [data-parts]");
    new ResizeObserver(() => this.pane.style.setProperty("--line-size", `${parts.offsetHeight}px`)).observe(parts);
  }

  #fold() {
    const button = document.querySelector("[data-do=narrative]");
    if (!button) return;
    const isOpen = button.parentElement.classList.toggle("is-open");
    button.setAttribute("aria-expanded", String(isOpen));
  }

  /** Without scrolling: the bar of verdicts is always in view. */
  focus(key) {
    if (!this.turnTo(key)) return false;
    this.item(key).focus({ preventScroll: true });
    return true;
  }

  arrive() {
    this.focusFirst();
    this.sayAnswer();
  }

  title() {
    return this.answers.title();
  }

  searched() {
    return [...this.#sides.querySelectorAll(".object")];
  }

  leftSearch(place) {
    if (place) place.closest("[data-side]").focus({ preventScroll: true });
    else this.focusFirst();
  }

  restore(place) {
    if (super.restore(place) || this.desk.isReadonly) return;
    this.focusFirst();
  }

  defineKeys(define) {
    super.defineKeys(define);
    const verdicts = { "verdict-left": "left", "verdict-right": "right", "verdict-tie": "tie" };
    for (const [id, word] of Object.entries(verdicts)) {
      define({ id, run: this.onCurrent((key) => this.label(key, word, "key")) });
    }
    for (const button of this.pane.querySelectorAll("[data-reason]")) {
      const { reason } = button.dataset;
      define({ id: `reason-${reason}`, run: this.onCurrent(() => this.#toggle(reason, "key")) });
    }
    define({ id: "battle-next", run: () => this.goOn() });
    define({ id: "side", run: () => this.otherSide() });
    define({ id: "couple", run: () => this.#couple() });
    define({ id: "narrative", run: () => this.#fold() });
  }
}

/** Scroll an answer to the share of its way that another is at. A pixel's difference is rounding, and would swing. */
function followByShare(scrolled, other) {
  const way = scrolled.scrollHeight - scrolled.clientHeight;
  const top = way ? (scrolled.scrollTop / way) * (other.scrollHeight - other.clientHeight) : 0;
  if (Math.abs(other.scrollTop - top) > 1) other.scrollTop = top;
}

/** Esc closes the passage that the focus is in, which opened below its sentence. */
function closePassage(event) {
  const passage = event.key === "Escape" && event.target.closest("details[open]");
  if (!passage) return;
  event.preventDefault();
  passage.open = false;
  passage.querySelector("summary").focus({ preventScroll: true });
}
