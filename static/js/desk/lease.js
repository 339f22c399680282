// One window writes, the others read. Windows of one browser hear each other at once, other devices through the server.
// The one that is left flushes first, then freezes; what it could not send stays in its outbox.

import { isAlone, isGone, isOurs, own } from "../saving/windows.js";
import { copyOf } from "../shared/template.js";
import { plural } from "../shared/text.js";
import { isTextField } from "./keys.js";
import { guardKeys } from "./reading-only.js";

const ANSWER_MS = 250; // how long an open window may take to say that it writes
const GIVE_MS = 3_000; // how long the window that is left may take to send what it has
const LOOK_MS = 1_000;
const ASK_AGAIN_MS = 5_000;
const OLD_NEWS_MS = 12_000; // a heartbeat that was under way when this window took over may still answer

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

function ago(seconds) {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  return `${Math.round(seconds / 3600)} h ago`;
}

/** `readonly`: whether another window writes. Its changes are told to the document as `desk:readonly` {readonly}. */
export class Lease {
  #desk;
  #channel;
  #notice;
  #active = performance.now();
  #heard = null; // {at, seconds, near, freeIn}: when the other window was last active, and is free, as told when
  #askedAt = -Infinity;
  #isTaking = false;
  #movedAt = null;
  #heldAt = -Infinity;
  #known = false; // who writes
  #answers = new Map();
  /** @type {Promise<boolean | void> | null} */
  started = null; // resolved once it is known who writes

  /** @param {Desk} desk */
  constructor(desk, notice) {
    this.#desk = desk;
    this.#notice = notice;
    this.readonly = false;
    this.#channel = new BroadcastChannel(`assay-desk-${desk.user}-${desk.state.task}`);
    this.#channel.onmessage = ({ data }) => this.#hear(data);
    for (const name of ["keydown", "pointerdown", "wheel"]) {
      addEventListener(name, () => (this.#active = performance.now()), { capture: true, passive: true });
    }
    desk.save.addEventListener("moved", ({ detail }) => this.#freeze({ seconds: detail.holder_age_s }));
    desk.save.addEventListener("state", () => this.#show());
    desk.save.addEventListener("ended", () => this.#set(true));
    notice.querySelector("[data-act=here]").addEventListener("click", () => this.useHere());
    setInterval(() => this.#look(), LOOK_MS);
  }

  /** Find out who writes: an open window of this browser, another device, or from now on this one. */
  async start() {
    const holder = this.#desk.state.holder;
    const isHeld = holder && holder.free_in_s !== 0 && !(await isOurs(holder.window));
    if (isHeld) this.#readOnly({ seconds: holder.age_s, freeIn: holder.free_in_s });
    const other = (await isAlone()) ? null : await this.#request("hello", "here", ANSWER_MS);
    if (other) return this.#readOnly({ seconds: other.quiet_s, near: true });
    // Of this browser, and silent: it was closed, or killed, without letting go.
    const want = holder && (await isGone(holder.window)) ? "take" : "hold";
    return this.#hold(want);
  }

  async #hold(want) {
    const answer = await this.#desk.session.post(this.#desk.urls.hold, { window: own, want }).catch(() => null);
    if (answer?.status !== 200) return false; // not connected: the receipts will tell
    if (answer.body.holder === "other") {
      this.#readOnly({ seconds: answer.body.holder_age_s, freeIn: answer.body.free_in_s });
      return false;
    }
    this.#heldAt = performance.now();
    this.#say({ kind: "taken" });
    await this.#write();
    return true;
  }

  /** Write here from now on, with what closed windows left. */
  async #write() {
    const { save } = this.#desk;
    const was = this.readonly;
    const left = await save.adopt();
    if (was || left) await save.reload();
    this.#movedAt = null;
    this.#set(false);
    save.release("moved");
    save.release("elsewhere");
    if (was) this.#desk.announce("You write here now.");
  }

  /** "Use it here": the other window sends what it has, then this one writes. */
  async useHere() {
    const button = this.#notice.querySelector("[data-act=here]");
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true"; // a disabled one would lose the focus
    this.#said("");
    await this.#request("give", "given", this.#heard?.near ? GIVE_MS : ANSWER_MS);
    if (!(await this.#hold("take"))) this.#said("Not connected: it cannot be moved here now.");
    button.ariaDisabled = "false";
  }

  /** From now on heartbeats may tell news: before, they only tell of a window that was closed. */
  listen() {
    this.#known = true;
  }

  /** Take in what a heartbeat's answer says of the holder. */
  heard({ holder, holder_age_s, free_in_s }) {
    if (!this.#known || holder !== "other" || performance.now() - this.#heldAt < OLD_NEWS_MS) return;
    if (this.readonly) {
      if (!this.#heard?.near) this.#heard = { at: performance.now(), seconds: holder_age_s, freeIn: free_in_s };
      this.#show();
    } else {
      this.#freeze({ seconds: holder_age_s, freeIn: free_in_s });
    }
  }

  #say(message) {
    this.#channel.postMessage({ ...message, from: own });
  }

  /** Ask the other windows of this browser; resolves with the first answer, or null when none comes in time. */
  #request(kind, answer, within) {
    return new Promise((resolve) => {
      this.#answers.set(answer, resolve);
      setTimeout(() => resolve(null), within);
      this.#say({ kind });
    });
  }

  #hear(data) {
    if (data.to && data.to !== own) return;
    this.#answers.get(data.kind)?.(data);
    this.#answers.delete(data.kind);
    const writes = !this.readonly && !this.#desk.state.readonly;
    if (data.kind === "hello" && writes) this.#say({ kind: "here", to: data.from, quiet_s: this.#quiet() });
    if (data.kind === "give" && writes) this.#give(data.from);
    if (data.kind === "taken" && writes) this.#freeze({ seconds: 0, near: true });
    if (data.kind === "here" && this.readonly) this.#readOnly({ seconds: data.quiet_s, near: true });
  }

  #quiet() {
    return (performance.now() - this.#active) / 1000;
  }

  /** Send everything, then freeze, then say so. */
  async #give(to) {
    const patience = new Promise((resolve) => setTimeout(resolve, GIVE_MS - 500));
    await Promise.race([Promise.all([this.#desk.save.drained(), this.#desk.clock.flush()]), patience]);
    this.#freeze({ seconds: 0, near: true });
    this.#say({ kind: "given", to });
  }

  #freeze(notice) {
    this.#desk.save.dispatchEvent(new CustomEvent("settle"));
    this.#movedAt ??= new Date();
    this.#readOnly(notice);
  }

  // `freeIn`: the seconds until this window may take over by itself; null: not before somebody asks for it.
  #readOnly({ seconds, near = false, freeIn = null }) {
    this.#heard = { at: performance.now(), seconds, near, freeIn };
    this.#desk.save.halt("elsewhere");
    this.#set(true);
  }

  #set(readonly) {
    const changed = this.readonly !== readonly;
    this.readonly = readonly;
    this.#show();
    if (!changed) return;
    document.body.toggleAttribute("data-readonly", readonly);
    for (const part of document.querySelectorAll("[data-edits]")) part.inert = readonly;
    document.dispatchEvent(new CustomEvent("desk:readonly", { detail: { readonly } }));
    if (readonly && !this.#isOver) this.#desk.announce(this.#words(), { keep: true, shown: false });
  }

  /** While somebody looks: show the age, ask the other window how it is, and write here once it is gone. */
  #look() {
    if (!this.readonly || this.#isOver || document.hidden) return;
    this.#show();
    const now = performance.now();
    if (now - this.#askedAt >= ASK_AGAIN_MS) {
      this.#askedAt = now;
      this.#say({ kind: "hello" });
    }
    const { near, freeIn, at } = this.#heard;
    const since = (now - at) / 1000;
    if (near ? since > (2 * ASK_AGAIN_MS) / 1000 : freeIn !== null && since >= freeIn) this.#takeOver();
  }

  // Unaided: the server says whether the other window is gone. Where it does not answer it is asked again later.
  async #takeOver() {
    if (this.#isTaking) return;
    this.#isTaking = true;
    const before = this.#heard;
    if (await this.#hold("hold")) this.#goOn();
    else if (this.#heard === before) this.#heard = { ...before, near: false, at: performance.now(), freeIn: ASK_AGAIN_MS / 1000 };
    this.#isTaking = false;
  }

  // The place of a crashed window is not known: work goes on at the first row that is left.
  #goOn() {
    if (!isTextField(document.activeElement)) this.#desk.resume();
  }

  // The other bar says that the task was taken back, and nobody writes any more.
  get #isOver() {
    return this.#desk.save.state().ended !== null;
  }

  #words() {
    if (this.#movedAt) {
      return `Moved to another window at ${clock.format(this.#movedAt)}. Nothing typed here is lost.`;
    }
    const seconds = this.#heard.seconds + (performance.now() - this.#heard.at) / 1000;
    return `Open in another window, last active ${ago(seconds)}.`;
  }

  #said(text) {
    this.#notice.querySelector("[data-problem]").textContent = text;
  }

  #show() {
    const { work } = this.#desk;
    const { activeElement } = document;
    // Rows that were read only let go of the focus.
    const isLost = this.#notice.contains(activeElement) || (!this.#notice.hidden && activeElement === document.body);
    const isShown = this.readonly && !this.#isOver;
    this.#notice.hidden = !isShown;
    if (!isShown) {
      // Whoever pressed "Use it here" would otherwise be thrown to the top of the page.
      if (isLost && !work.focus(work.current)) work.focusFirst();
      return;
    }
    const { unsent } = this.#desk.save.state();
    const show = this.#notice.querySelector("[data-unsent]");
    this.#notice.querySelector("[data-says]").textContent = this.#words();
    show.hidden = unsent === 0;
    show.textContent = `Show ${unsent} unsent ${plural(unsent, "change")}`;
  }
}

/**
 * Let windows of this desk know of each other; null at a practice, which nobody holds.
 * @param {Desk} desk
 */
export function setup(desk) {
  if (!desk.urls.hold) return null;
  if (desk.state.readonly) {
    document.body.toggleAttribute("data-readonly", true);
    guardKeys(desk, null);
    return null;
  }
  const notice = copyOf("notice-lease");
  document.querySelector("[data-notice=lease]").append(notice);
  const lease = new Lease(desk, notice);
  guardKeys(desk, lease);
  desk.clock?.addEventListener("beat", ({ detail }) => lease.heard(detail ?? {}));
  lease.started = lease.start().finally(() => lease.listen());
  return lease;
}
