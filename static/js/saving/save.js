// The one way from the desk to the server: operations in order, one request at a time, each acknowledged by a receipt.
// What has no receipt stays in the outbox, whatever happens to the network, the session or the page.

import { download } from "../shared/download.js";
import { part, parted } from "./exit-backup.js";
import { Outbox } from "./outbox.js";
import { actsIn, asSent, batchOf, raised, touched, without } from "./queue.js";
import { NoAnswer, Session } from "./session.js";
import { openWindows } from "./windows.js";

const WAITS = [1, 2, 4, 8, 16, 30]; // seconds between attempts
const SLOW = 2_500; // milliseconds after which a request without an answer is called trouble
const HALTS = ["ended", "signed-out", "conflict", "elsewhere", "moved"]; // what is told first of several reasons
const PATIENCE = 3_000; // milliseconds that a page waits for what an earlier visit left to be sent
const KEEPALIVE_BYTES = 60_000; // browsers allow 64 KB for requests that outlive their page

/**
 * Events, all with a `detail`:
 * `receipt` {op, receipt}: an operation was applied;  `state`: see `state()`;  `failed` {op, reason}: no receipt yet;
 * `conflict` {op, rows, keys}: the rows were changed by another window, `resolve()` is awaited;
 * `moved` {holder_age_s}: another window writes;
 * `ended`: the task is this account's no more, everything unsent was set aside;  `signed-out`;  `rewritten`: operations were taken out or brought up to date, build the rows anew;
 * `left` {ops}: closed windows left them, and they wait here now;
 * `reload` {state}: the server's state, asked for again;  `settle`: turn what is being typed into operations now.
 */
export class Save extends EventTarget {
  #urls;
  #window;
  #outbox;
  #queue = [];
  #aside = [];
  #halts = new Set();
  #pumping = null;
  #timer = null;
  #retryAt = null;
  #failures = 0;
  #most = undefined; // operations per request; one after a batch was not understood
  #problem = null;
  #conflict = null;
  #ended = null; // why nothing is saved any more, in the server's words
  #lastSavedAt = null;
  #seq = 0; // of the newest receipt
  #waiting = [];

  constructor({ urls, task, user, window: own, csrf = "", session = new Session({ urls, user, csrf }) }) {
    super();
    this.#urls = urls;
    this.#window = own;
    this.task = task;
    this.user = user;
    this.session = session;
    this.#outbox = new Outbox({ user, task, window: own });
    session.addEventListener("signed-in", () => this.release("signed-out"));
    for (const event of ["signed-out", "other-account"]) {
      session.addEventListener(event, () => this.#stop("signed-out", "signed-out", {}));
    }
    session.addEventListener("ended", ({ detail }) => this.#end(detail.message));
    addEventListener("online", () => this.retryNow());
    addEventListener("pagehide", () => this.flush({ keepalive: true }));
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return this.flush({ keepalive: true });
      parted(this.user, this.task); // the page lives on
      return this.#timer && this.retryNow();
    });
    /** Resolves when what this window, and closed ones, left is in `pending()`, and the texts in `keptTexts()`. */
    this.ready = this.#open();
  }

  async #open() {
    await this.#outbox.open();
    await this.#outbox.adopt(await openWindows());
    const left = parted(this.user, this.task);
    if (left) await this.#outbox.putBack(left);
    await this.#takeKept();
  }

  /** Send what an earlier visit left, within reason. Returns how many operations that were. */
  async open() {
    await this.ready;
    const before = this.#queue.length;
    this.#tell();
    if (before) await Promise.race([this.retryNow(), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
    return before - this.#queue.length;
  }

  /** Put what the outbox has, and this page not yet, before what was done since. */
  async #takeKept() {
    const kept = await this.#outbox.list();
    const known = new Set(this.#queue.map((op) => op.op_id));
    const left = kept.queued.filter((op) => !known.has(op.op_id));
    this.#queue = [...left, ...this.#queue];
    this.#aside = kept.aside;
    this.#emit("left", { ops: left });
  }

  /** Take over what windows left that were closed meanwhile. Returns how many operations that were. */
  async adopt() {
    await this.ready;
    const before = this.#queue.length;
    await this.#outbox.adopt(await openWindows());
    await this.#takeKept();
    this.#tell();
    return this.#queue.length - before;
  }

  /** Send an operation, after all those before it. */
  enqueue(op) {
    this.#queue.push(op);
    this.ready.then(() => this.#outbox.add([op]));
    if (this.#ended) return this.#setAllAside();
    this.#tell();
    return queueMicrotask(() => this.#pump());
  }

  /** Return the operations without a receipt, in order. */
  pending() {
    return [...this.#queue];
  }

  /** Return the operations that were refused or given up: {op, reason, chosen}. */
  setAside() {
    return [...this.#aside];
  }

  /** Return {unsent: operations, acts: what a person did of them, aside, connected, problem, halted, ended, retryAt, lastSavedAt, durable}. */
  state() {
    const halted = HALTS.find((reason) => this.#halts.has(reason)) ?? [...this.#halts][0];
    return {
      unsent: this.#queue.length,
      acts: actsIn(this.#queue),
      aside: this.#aside.filter((conflict) => !conflict.chosen).length,
      connected: this.#problem === null,
      problem: this.#problem,
      halted: halted ?? null,
      ended: this.#ended,
      retryAt: this.#retryAt,
      lastSavedAt: this.#lastSavedAt,
      durable: this.#outbox.durable,
    };
  }

  /** Whether there is anything that the server has not: operations, those set aside, texts. */
  get holds() {
    return this.#queue.length + this.#aside.length + Object.keys(this.keptTexts()).length > 0;
  }

  #tell() {
    this.dispatchEvent(new CustomEvent("state", { detail: this.state() }));
    if (!this.#queue.length) this.#waiting.splice(0).forEach((resolve) => resolve());
  }

  #emit(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** Keep a half-typed text ({...} or a string) under a slot of the caller's choosing; null forgets it. */
  keepText(slot, value) {
    this.#outbox.keepText(slot, value);
  }

  /** Return the texts kept, by slot; complete once `ready`. */
  keptTexts() {
    return this.#outbox.texts();
  }

  /** Resolve when everything has its receipt. Whoever leaves or submits waits for this. */
  drained() {
    this.#emit("settle", {});
    if (!this.#queue.length) return Promise.resolve();
    const done = new Promise((resolve) => this.#waiting.push(resolve));
    this.retryNow();
    return done;
  }

  /** Send now. With `keepalive` in a request that outlives the page, as much as browsers allow. */
  async flush({ keepalive = false } = {}) {
    this.#emit("settle", {});
    this.#outbox.flushTexts();
    if (!keepalive) return this.retryNow();
    part(this.user, this.task, this.#queue, this.keptTexts());
    if (!this.#queue.length || this.#halts.size) return undefined;
    // From the first on, even if that is under way: a request is cut off with its page, and twice does no harm.
    const batch = batchOf(this.#queue, { mostBytes: KEEPALIVE_BYTES });
    try {
      this.#take(await this.#post(batch, true));
    } catch {
      // The ordinary way tries again, now or on the next visit.
    }
    return undefined;
  }

  /** Try at once instead of waiting. */
  retryNow() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#retryAt = null;
    return this.#pump();
  }

  /** Stop sending, for a reason that `release` takes away. */
  halt(reason) {
    this.#halts.add(reason);
    this.#tell();
  }

  /** Go on, when no other reason is left. */
  release(reason) {
    this.#halts.delete(reason);
    this.#tell();
    return this.retryNow();
  }

  #stop(reason, event, detail) {
    if (this.#halts.has(reason)) return this.#tell();
    this.halt(reason);
    for (const op of this.#queue) this.#emit("failed", { op, reason });
    this.#emit(event, detail);
    return undefined;
  }

  /** Stop for good: the task was taken back. What is unsent is kept to read, and the page may be left. */
  #end(message) {
    if (this.#ended) return;
    this.#emit("settle", {});
    this.#ended = message;
    this.#problem = null;
    this.halt("ended");
    this.#setAllAside();
    this.#emit("ended", { message });
  }

  #setAllAside() {
    for (const op of this.#queue) this.#emit("failed", { op, reason: this.#ended });
    this.#giveUp(() => true, this.#ended);
  }

  #pump() {
    this.#pumping ??= this.#sendAll().finally(() => (this.#pumping = null));
    return this.#pumping;
  }

  async #sendAll() {
    await this.ready;
    while (this.#queue.length && !this.#halts.size && !this.#timer) await this.#exchange();
  }

  async #exchange() {
    const batch = batchOf(this.#queue, { most: this.#most });
    const slow = setTimeout(() => this.#trouble("slow", batch), SLOW);
    let answer = { status: 0, body: null };
    let reason = "network";
    try {
      answer = await this.#post(batch, false);
      reason = `server ${answer.status}`;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
    } finally {
      clearTimeout(slow);
    }
    if (!this.#take(answer)) this.#failed(answer, batch, reason);
  }

  #post(ops, keepalive) {
    return this.session.post(this.#urls.ops, { window: this.#window, ops: ops.map(asSent) }, { keepalive });
  }

  #failed({ status }, batch, reason) {
    if (status === 401 || this.#halts.size) return; // the dialog is open; signing in sends again
    if ([400, 413, 422].includes(status)) {
      if (batch.length === 1) {
        this.#refuse(batch[0], "The server did not understand this change.");
        return;
      }
      this.#most = 1; // find the one that is not understood; the others are fine
    }
    const wait = WAITS[Math.min(this.#failures++, WAITS.length - 1)] * 1000;
    this.#retryAt = Date.now() + wait;
    this.#timer = setTimeout(() => this.retryNow(), wait);
    this.#trouble(reason, batch);
  }

  #trouble(problem, batch) {
    this.#problem = problem;
    for (const op of batch) this.#emit("failed", { op, reason: problem });
    this.#tell();
  }

  /** Take an answer's receipts; false where it has none. */
  #take({ status, body }) {
    const receipts = status >= 200 && status < 300 ? body?.receipts : null;
    if (!Array.isArray(receipts) || !receipts.length) return false;
    this.#failures = 0;
    this.#problem = null;
    for (const receipt of receipts) {
      const op = this.#queue.find((queued) => queued.op_id === receipt.op_id);
      if (op) this.#takeOne(op, receipt);
    }
    if (!this.#queue.length) this.#most = undefined;
    this.#tell();
    return true;
  }

  #takeOne(op, receipt) {
    if (receipt.status === "applied") {
      this.#queue = this.#queue.filter((queued) => queued !== op);
      this.#outbox.remove([op.op_id]);
      this.#lastSavedAt = Date.now();
      this.#seq = Math.max(this.#seq, receipt.seq);
      this.#emit("receipt", { op, receipt });
    } else if (receipt.status === "refused") {
      this.#refuse(op, receipt.message);
    } else if (receipt.status === "conflict") {
      const keys = Object.keys(receipt.rows); // those that are not as this window saw them
      this.#conflict = { op, rows: receipt.rows, keys };
      this.#stop("conflict", "conflict", this.#conflict);
    } else {
      this.#stop("moved", "moved", { holder_age_s: receipt.holder_age_s });
    }
  }

  #refuse(op, message) {
    this.#giveUp((queued) => queued === op, message);
    this.#emit("failed", { op, reason: message });
    this.reload();
  }

  /** Take operations out of the queue and set them aside; without a reason, forget them. */
  #giveUp(unwanted, reason, chosen = false) {
    const { kept, dropped } = without(this.#queue, unwanted);
    if (reason) this.#aside.push(...dropped.map((op) => ({ op, reason, chosen })));
    this.#rewrite(kept);
    if (reason) this.#outbox.setAside(dropped, { reason, chosen });
    else this.#outbox.remove(dropped.map((op) => op.op_id));
  }

  #rewrite(queue) {
    this.#queue = queue;
    this.#outbox.add(queue);
    this.#tell();
    this.#emit("rewritten", {});
  }

  /** Ask for the server's state and hand it on; the store builds its rows from it and `pending()`. */
  async reload() {
    const { status, body } = await this.session.get(this.#urls.state).catch(() => ({ status: 0, body: null }));
    if (status !== 200 || !body) return false;
    if (body.seq < this.#seq) return this.reload(); // older than a receipt that came while it was under way
    this.#emit("reload", { state: body });
    return true;
  }

  /** The conflict that waits for `resolve`, or null. */
  conflict() {
    return this.#conflict;
  }

  /**
   * Go on after a conflict. "mine": the operations are applied to what the other window left; "theirs": those that
   * touch the rows in question are set aside, or, `quietly`, forgotten, because what they say is said elsewhere.
   */
  resolve(choice, { quietly = false } = {}) {
    const { op, rows, keys } = this.#conflict;
    this.#conflict = null;
    if (choice === "mine") {
      this.#rewrite(raised(this.#queue, Object.fromEntries(keys.map((key) => [key, rows[key].version - op.base[key]]))));
    } else {
      const unwanted = (queued) => keys.some((key) => touched(queued).has(key));
      this.#giveUp(unwanted, quietly ? "" : "You kept the other window's version.", true);
    }
    return this.release("conflict");
  }

  /** Take operations of a downloaded copy, those that are not waiting already. Returns how many. */
  load(ops) {
    const known = new Set(this.#queue.map((op) => op.op_id));
    const fresh = ops.filter((op) => !known.has(op.op_id));
    fresh.forEach((op) => this.enqueue(op));
    if (fresh.length) this.#emit("rewritten", {});
    return fresh.length;
  }

  /** Return everything unsent, as a file that `load` understands. */
  copy() {
    return {
      format: "assay-unsent-changes",
      version: 1,
      task: this.task,
      user: this.user,
      at: new Date().toISOString(),
      ops: this.pending(),
      aside: this.setAside(),
      texts: this.keptTexts(),
    };
  }

  /** Offer that copy as a download. */
  download() {
    download(this.copy(), `unsent-changes-${this.task}.json`);
  }

  /** Forget what was set aside, after it was read. */
  forgetAside() {
    this.#outbox.remove(this.#aside.map(({ op }) => op.op_id));
    this.#aside = [];
    this.#tell();
  }
}
