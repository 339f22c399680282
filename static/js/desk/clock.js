// Measures how long this window is worked in, and tells the server every 15 s: the heartbeat, which also renews the
// window's hold of the desk. Only the monotonic clock counts: changing the machine's time of day earns nothing.

import { ClockFace } from "./clock-face.js";
import { itemAt, paneOf, wordsOnScreen } from "./screen.js";
import { Segments } from "./segments.js";

const BEAT_MS = 15_000;
const TICK_MS = 5_000;
const POINTER_MS = 1_000;
const ASKED_AFTER_MS = 60_000; // the server says whether a gap was long enough to be asked about; so it hears at once
const MOST = 400; // stretches in one beat
const MOST_AT_THE_END = 150; // of about 150 bytes each: what outlives its page may have 64 KB
const PASSIVE = { capture: true, passive: true };
const NUMBERS = "assay-clock";

/** Answers after which sending the same again makes no sense. */
const isFinal = (status) => status >= 400 && status < 500 && ![401, 403, 404, 408, 425, 429].includes(status);

/** Where a reloaded window goes on counting; without storage, somewhere it has never been. */
function firstNumber(window) {
  try {
    return Number(sessionStorage.getItem(`${NUMBERS}-${window}`)) || 1;
  } catch {
    return Math.round(Date.now() / 1000) % 2_000_000_000;
  }
}

function keepNumber(window, number) {
  try {
    sessionStorage.setItem(`${NUMBERS}-${window}`, String(number));
  } catch {
    // Private windows may have no storage. Then the time of day tells numbers apart.
  }
}

/**
 * Events: `beat` (detail: the server's answer), `lost` (the connection), `state` (detail: {paused}).
 * `post(url, body, {keepalive})` resolves to {status, body} and throws when there is no answer.
 */
export class Clock extends EventTarget {
  #segments;
  #face;
  #sending = null;
  #last = null; // the beat that may outlive the page
  #beatAt = -Infinity;
  #heardAt = 0;
  #pointerAt = -Infinity;
  #pointerPane = null;
  #where = null; // the node of the last input
  #started = false;
  #isLeft = false; // closing or leaving also hides the page, but it does not come back by itself

  constructor({ urls, window: own, place, post }) {
    super();
    this.urls = urls;
    this.window = own;
    this.place = place;
    this.post = post;
    this.#segments = new Segments({
      number: firstNumber(own),
      keepNumber: (number) => keepNumber(own, number),
      tags: () => ({ words: wordsOnScreen(), item: itemAt(this.#where) }),
      asleepAfter: 2 * TICK_MS,
    });
    this.#face = new ClockFace({ answer: (...answer) => this.#answer(...answer), resume: () => this.resume() });
  }

  get paused() {
    return this.#segments.paused;
  }

  /** Listen, count and beat. A second call does nothing. */
  start() {
    if (this.#started) return;
    this.#started = true;
    this.#heardAt = performance.now();
    if (!this.#isReader) this.#begin();
    this.#listen();
    setInterval(() => this.#tick(), TICK_MS);
    this.beat();
  }

  resume() {
    this.#setPaused(false);
  }

  toggle() {
    this.#setPaused(!this.paused);
  }

  /** Send what there is, now. Resolves when the server answered or did not: call it before submitting. */
  async flush() {
    await this.#sending;
    return this.beat();
  }

  /** Resolves when no beat is under way. */
  async settled() {
    await Promise.all([this.#sending, this.#last]);
  }

  beat({ keepalive = false } = {}) {
    if (keepalive) return (this.#last = this.#send(true));
    this.#sending ??= this.#send(false).finally(() => (this.#sending = null));
    return this.#sending;
  }

  // Another window takes over by itself from a page that was in view or was left, not from one that is only hidden.
  get #page() {
    if (this.#isLeft) return "left";
    return document.hidden ? "hidden" : "visible";
  }

  get #isReader() {
    return document.body.hasAttribute("data-readonly");
  }

  #begin() {
    this.#segments.begin(performance.now(), Date.now(), { hidden: document.hidden, blurred: !document.hasFocus() });
  }

  #now(method, ...rest) {
    this.#segments[method](performance.now(), Date.now(), ...rest);
  }

  #tick() {
    if (this.#isReader) this.#segments.stop();
    else if (!this.#segments.isRunning) this.#begin();
    this.#now("advance");
    if ("ended" in document.body.dataset) return;
    if (!document.hidden && performance.now() - this.#beatAt >= BEAT_MS - TICK_MS / 2) this.beat();
  }

  #setPaused(paused) {
    if (!this.#segments.isRunning || paused === this.paused) return;
    this.#now("pause", paused);
    this.#face.pause(paused);
    this.dispatchEvent(new CustomEvent("state", { detail: { paused } }));
    this.beat();
  }

  /** Another window writes from now on, or this one does: what was done until then counts. */
  #readonly(isReader) {
    if (isReader) this.beat().finally(() => this.#isReader && this.#segments.stop());
    else if (!this.#segments.isRunning) this.#begin();
    if (!isReader) this.beat();
  }

  #listen() {
    document.addEventListener("desk:readonly", ({ detail }) => this.#readonly(detail.readonly));
    for (const type of ["pointerdown", "wheel", "scroll", "touchstart", "touchmove", "focusin"]) {
      document.addEventListener(type, (event) => this.#input(event), PASSIVE);
    }
    document.addEventListener("keydown", (event) => this.#input(event, document.activeElement), PASSIVE);
    document.addEventListener("pointermove", (event) => this.#pointer(event), PASSIVE);
    document.addEventListener("selectionchange", (event) => this.#input(event, getSelection()?.anchorNode), PASSIVE);
    document.addEventListener("visibilitychange", () => this.#visibility(document.hidden));
    addEventListener("blur", () => this.#now("blur", true));
    addEventListener("focus", (event) => {
      this.#now("blur", false);
      this.#input(event, null);
    });
    addEventListener("pagehide", () => {
      this.#isLeft = true;
      this.#visibility(true);
    });
    addEventListener("pageshow", (event) => {
      if (!event.persisted) return;
      this.#isLeft = false;
      this.#visibility(document.hidden);
      this.#now("restart");
      this.beat();
    });
  }

  #input(event, where = event.target) {
    if (!event.isTrusted) return;
    if (this.paused) {
      this.#backToWork(event);
      return;
    }
    this.#where = where;
    const quiet = this.#segments.quietFor(performance.now());
    this.#now("input", paneOf(where));
    if (quiet >= ASKED_AFTER_MS) this.beat();
  }

  /** A pointer that only passes over a pane on its way does not change what one is doing. */
  #pointer(event) {
    const now = performance.now();
    if (now - this.#pointerAt < POINTER_MS || this.paused) return;
    this.#pointerAt = now;
    const pane = paneOf(event.target);
    this.#input(event, pane === this.#pointerPane ? event.target : null);
    this.#pointerPane = pane;
  }

  /** Typing or pressing in the panes means that the break is over, unless that very key was the one that ends it. */
  #backToWork(event) {
    const works = event.type === "pointerdown" || (event.type === "keydown" && event.key !== "Tab");
    if (works && paneOf(event.target)) setTimeout(() => this.resume());
  }

  #visibility(hidden) {
    this.#now("hide", hidden);
    if (hidden) this.beat({ keepalive: true });
    else this.beat();
  }

  async #send(keepalive) {
    this.#now("advance");
    const now = (this.#beatAt = performance.now());
    const closed = this.#segments.closed();
    const most = keepalive ? MOST_AT_THE_END : MOST;
    const body = {
      window: this.window,
      segments: this.#segments.unsent(now, most),
      place: this.place(),
      elapsed_ms: Math.round(now - this.#heardAt),
      page: this.#page,
    };
    const answer = await this.post(this.urls.beat, body, { keepalive }).catch(() => null);
    if (!answer || answer.status >= 500) {
      if (!keepalive) this.#lost();
    } else if (answer.status === 200 && answer.body) {
      this.#heardAt = now;
      this.#segments.acknowledge(closed.slice(0, most));
      this.#heard(answer.body);
    } else if (isFinal(answer.status)) {
      this.#segments.acknowledge(closed);
    }
  }

  #lost() {
    this.#segments.lose(performance.now(), this.#heardAt);
    this.dispatchEvent(new Event("lost"));
  }

  #heard(answer) {
    this.#segments.lose(performance.now(), null);
    if (answer.holder === "other") this.#segments.stop();
    this.#face.time(answer.seconds);
    if (answer.gap) this.#face.ask(answer.gap);
    this.dispatchEvent(new CustomEvent("beat", { detail: answer }));
  }

  async #answer(number, answer) {
    const { status } = await this.post(this.urls.gap, { window: this.window, number, gap_answer: answer }, {});
    if (status >= 400 && status !== 422) throw new Error(`gap: ${status}`);
    this.beat();
  }
}
