// What a window did, as stretches of its monotonic clock: of one kind, cut at every change and at every 30 s without
// input. Nothing here reads a clock or touches the page, so that the same rules hold for a tick, a key and a wake-up.

export const GAP_MS = 30_000;
const STEP = 2; // leaves a number for the second half of a stretch during which the connection was lost

export class Segments {
  #tags;
  #keepNumber;
  #list = [];
  #number;
  #lastInput = 0;
  #lastTick = 0;
  #drift = 0;
  #pane = "reading";
  #hidden = false;
  #paused = false;
  #blurred = false;
  #offline = false;
  #asleepAfter;

  /**
   * `tags()` gives {words, item} of the screen, asked for at each cut only. `asleepAfter`: a silence of the ticks so
   * long means that the machine slept. `keepNumber` is told every number given away, so that a reload goes on behind it.
   */
  /** @param {{number?: number, tags?: () => any, asleepAfter?: number, keepNumber?: (number: number) => void}} [options] */
  constructor({ number = 1, tags = () => ({ words: 0, item: "" }), asleepAfter = 10_000, keepNumber = () => {} } = {}) {
    this.#number = number;
    this.#tags = tags;
    this.#asleepAfter = asleepAfter;
    this.#keepNumber = keepNumber;
  }

  get paused() {
    return this.#paused;
  }

  get isRunning() {
    return this.#list.length > 0;
  }

  /** For how long there has been no input, once that is a gap. */
  quietFor(now) {
    return this.isRunning && this.#newest.kind === "gap" ? now - this.#newest.start : 0;
  }

  /** Begin at `now`. `wall` is the machine's own time of day: it and `now` drift apart when one of them stands still. */
  begin(now, wall, { hidden = false, blurred = false } = {}) {
    this.#lastInput = this.#lastTick = now;
    this.#drift = wall - now;
    this.#hidden = hidden;
    this.#blurred = blurred;
    this.#list = [];
    this.#open(now, this.#kindNow());
  }

  /** Forget everything: this window may not count time (another one does). */
  stop() {
    this.#list = [];
  }

  /** Notice what happened since the last tick: sleep, a changed clock, half a minute without input. */
  advance(now, wall) {
    if (!this.isRunning) return;
    const slept = now - this.#lastTick > this.#asleepAfter && !this.#hidden && !this.#paused;
    const jumped = Math.abs(wall - now - this.#drift) > this.#asleepAfter;
    this.#drift = wall - now;
    if (slept) {
      this.#cut(this.#lastTick, "suspended");
      this.#wake(now);
    } else if (jumped) {
      this.#wake(now);
    } else if (this.#isActive && now - this.#lastInput >= GAP_MS) {
      this.#cut(this.#lastInput, "gap");
    }
    this.#lastTick = now;
  }

  /** Input in a pane; null: somewhere else, so the pane stays. */
  input(now, wall, pane) {
    if (!this.isRunning) return;
    this.advance(now, wall);
    this.#lastInput = now;
    this.#pane = pane ?? this.#pane;
    this.#settle(now);
  }

  hide(now, wall, hidden) {
    if (hidden !== this.#hidden) this.#switch(now, wall, () => (this.#hidden = hidden));
  }

  pause(now, wall, paused) {
    if (paused !== this.#paused) this.#switch(now, wall, () => (this.#paused = paused));
  }

  /** Another window has the focus, and this one is still to be seen. No input: a quiet time goes on. */
  blur(now, wall, blurred) {
    if (!this.isRunning || blurred === this.#blurred) return;
    this.advance(now, wall);
    this.#blurred = blurred;
    this.#cut(now, this.#newest.kind);
  }

  /** Start a stretch at `now`, as when a page comes back from the browser's cache. */
  restart(now, wall) {
    this.#switch(now, wall, () => {});
    if (this.isRunning) this.#cut(now, this.#kindNow());
  }

  /** No connection since `since`, or (null) again one: what came after is sent later, and tagged. */
  lose(now, since) {
    if (!this.isRunning || this.#offline === (since !== null)) return;
    this.#offline = since !== null;
    if (since === null) {
      this.#cut(now, this.#newest.kind);
      return;
    }
    for (const segment of [...this.#list]) {
      if (segment.start >= since) segment.offline = true;
      else if ((segment.end ?? now) > since) this.#split(segment, since);
    }
  }

  /** What the server has not acknowledged, at most `most`, relative to `now`. */
  unsent(now, most) {
    return this.#list.slice(0, most).map((segment) => ({
      number: segment.number,
      kind: segment.kind,
      ms_before_now_start: Math.max(0, Math.round(now - segment.start)),
      ms_before_now_end: segment.end === null ? 0 : Math.max(0, Math.round(now - segment.end)),
      words: segment.words,
      blurred: segment.blurred,
      offline: segment.offline,
      item: segment.item,
    }));
  }

  /** Mark what to send: a later `acknowledge` drops what was closed then, and nothing that was closed since. */
  closed() {
    return this.#list.filter((segment) => segment.end !== null).map((segment) => [segment, segment.end]);
  }

  acknowledge(closed) {
    const done = new Set(closed.filter(([segment, end]) => segment.end === end).map(([segment]) => segment));
    this.#list = this.#list.filter((segment) => !done.has(segment));
  }

  get #newest() {
    return this.#list.at(-1);
  }

  get #isActive() {
    return this.#newest.kind === "reading" || this.#newest.kind === "editing";
  }

  #kindNow() {
    if (this.#hidden) return "hidden";
    return this.#paused ? "paused" : this.#pane;
  }

  #settle(now) {
    if (this.#newest.kind !== this.#kindNow()) this.#cut(now, this.#kindNow());
  }

  /** Whoever hides, shows, pauses or goes on was there. */
  #switch(now, wall, change) {
    if (!this.isRunning) return;
    this.advance(now, wall);
    change();
    this.#lastInput = now;
    this.#settle(now);
  }

  #wake(now) {
    this.#lastInput = now;
    this.#cut(now, this.#kindNow());
  }

  #cut(at, kind) {
    this.#newest.end = Math.max(at, this.#newest.start);
    this.#open(this.#newest.end, kind);
  }

  #open(start, kind) {
    const tags = { blurred: this.#blurred, offline: this.#offline, ...this.#tags() };
    this.#list.push({ number: this.#number, kind, start, end: null, ...tags });
    this.#number += STEP;
    this.#keepNumber(this.#number);
  }

  #split(segment, at) {
    const later = { ...segment, number: segment.number + 1, start: at, offline: true };
    segment.end = at;
    this.#list.splice(this.#list.indexOf(segment) + 1, 0, later);
  }
}
