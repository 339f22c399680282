// How every desk starts: reads the state the server put into the page, sends what an earlier visit left behind, makes
// the parts, and puts the place back. What is judged or written, and how, is the stage's own: see ../nuggets/main.js and
// ../judge/main.js.

import { Conflict } from "../saving/conflict.js";
import { tellWhatWasLeft } from "../saving/left.js";
import { Save } from "../saving/save.js";
import { SignIn } from "../saving/session.js";
import { own } from "../saving/windows.js";
import { announce } from "./announce.js";
import { Banner } from "./banner.js";
import { Clock } from "./clock.js";
import * as keys from "./keys.js";
import * as lease from "./lease.js";
import { Shell } from "./shell.js";
import * as submit from "./submit.js";
import { Undoing } from "./undoing.js";
import { Unsent } from "./unsent.js";

const root = document.body;
const URL_PREFIX = "url";
const PATIENCE_MS = 1000;

/** The addresses in the page's `data-url-…` attributes, by their last word. */
function urlsOf(dataset) {
  const named = Object.entries(dataset).filter(([name]) => name.startsWith(URL_PREFIX) && name !== URL_PREFIX);
  return Object.fromEntries(named.map(([name, url]) => [name.slice(URL_PREFIX.length).toLowerCase(), url]));
}

/**
 * How a stage calls things.
 * @typedef {object} Words
 * @property {string} readonly
 * @property {string} conflict
 * @property {string} noun what is saved, one of it
 * @property {string} choose
 * @property {(counts: any) => string} submitted
 * @property {(op: any) => string} [told] what is unsent
 */

/**
 * What is judged or edited at a desk, as far as the shared parts ask it.
 * @typedef {object} DeskWork
 * @property {string | null} current
 * @property {(key: string, options?: any) => any} focus
 * @property {(options?: any) => any} focusFirst
 * @property {() => any} settle
 * @property {(kind: string, key: string) => boolean} lacks
 * @property {(element: Element) => string} nameOf
 * @property {(part: HTMLElement) => void} [reviewed]
 * @property {() => boolean} [holdUnfinished]
 */

/** Everything that the parts of a page share. A part is null until it is made; the order is that of `startDesk`. */
export class Desk {
  root = root;
  urls = urlsOf(root.dataset);
  user = root.dataset.user;
  window = own;
  /** @type {ReturnType<typeof keys.setup>} */
  keys = null;
  /** @type {Undoing} */
  undoing = null;
  /** @type {Record<string, any>} the places of the last visit, by part */
  known = {};
  /** @type {DeskWork} */
  work = null;
  /** @type {{describe: (element: HTMLElement, version: any) => void, canBoth: (pairs: any[]) => boolean} & Record<string, any>} */
  versions = null;
  /** @type {() => void} go on at the first that is left to do */
  resume = null;
  /** @type {Shell} */
  shell = null;
  /** @type {ReturnType<typeof submit.setup>} */
  submitting = null;
  /** @type {Unsent} */
  unsent = null;
  /** @type {Banner} */
  banner = null;
  /** @type {SignIn} */
  signIn = null;
  /** @type {Conflict} */
  conflict = null;
  /** @type {ReturnType<typeof lease.setup>} */
  lease = null;
  #parts;

  /**
   * @param {any} state
   * @param {{Store: new (state: any, send: (op: any) => void) => RowStore, words: Words, parts: string[]}} stage
   */
  constructor(state, { Store, words, parts }) {
    this.#parts = parts;
    this.state = state;
    this.stage = state.stage;
    this.words = words;
    const { urls, user } = this;
    this.save = new Save({ urls, task: state.task, user, window: this.window, csrf: root.dataset.csrf });
    this.session = this.save.session;
    this.store = new Store(state, (op) => this.#send(op));
    this.clock = new Clock({
      urls,
      window: this.window,
      post: (...request) => this.session.post(...request),
      place: () => this.place(),
    });
  }

  /** Whether nothing may be changed here: another window writes, or the task is submitted. */
  get isReadonly() {
    return this.store.readonly || "readonly" in root.dataset;
  }

  // A decision says that the break is over, from wherever it is made; text that is only put away does not.
  #send(op) {
    if (op.source !== "text") this.clock.resume();
    this.save.enqueue(op);
  }

  /**
   * @param {string} text
   * @param {Parameters<typeof announce>[1]} [options]
   */
  announce = (text, options) => announce(text, { undo: this.undoing?.ofThisTurn(), ...options });

  /** The place of every part that has one. */
  place = () => Object.fromEntries([...this.#parts, "shell"].map((name) => [name, this[name]?.place?.()]));
}

/** @param {Desk} desk */
function listen(desk) {
  const { save, store } = desk;
  save.addEventListener("receipt", ({ detail }) => store.receive(detail.op, detail.receipt));
  save.addEventListener("failed", ({ detail }) => store.markFailed(detail.op, detail.reason));
  save.addEventListener("ended", () => (root.dataset.ended = ""));
}

/** @param {Desk} desk */
async function freshState(desk) {
  const response = await fetch(desk.urls.state, { headers: { accept: "application/json" } });
  return response.ok ? response.json() : null;
}

/**
 * Send what an earlier visit left behind; what cannot be sent yet is shown as it was.
 * @param {Desk} desk
 */
async function catchUp(desk) {
  const sent = await desk.save.open();
  if (sent) {
    const state = await freshState(desk).catch(() => null);
    if (state) desk.store.load(state);
  }
  for (const op of desk.save.pending()) desk.store.replay(op);
}

// The beat of a page that closes may arrive after the next page was made, so this window remembers its place itself.
/** @param {Desk} desk */
function rememberPlace(desk) {
  const key = `place ${desk.state.task}`;
  addEventListener("pagehide", () => sessionStorage.setItem(key, JSON.stringify(desk.place())));
  const kept = sessionStorage.getItem(key);
  sessionStorage.removeItem(key); // a page that is killed leaves none, and an old one would be no place to go on
  return kept ? JSON.parse(kept) : desk.state.place;
}

/** Whether the window that wrote last did not say that it was left: it crashed, or it is open elsewhere. */
function isCutShort({ state }) {
  const isReturn = sessionStorage.getItem(`place ${state.task}`) !== null;
  return !isReturn && Boolean(state.holder) && state.holder.page !== "left";
}

/** What comes within a second; nobody waits for it longer. */
function soon(promise) {
  return Promise.race([promise, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
}

/**
 * Start the desk of this page. `parts` names what is made by `setUp(desk)` and has a place to be put back. One of them
 * is also `desk.work`, what is judged or edited, which the shared modules ask; `desk.versions` compares two versions of a
 * row. `words` says how this stage calls things.
 */
export async function startDesk({ Store, words, parts, setUp }) {
  const state = JSON.parse(document.getElementById("desk-state").textContent);
  const desk = new Desk(state, { Store, words, parts });
  listen(desk);
  tellWhatWasLeft(desk);
  await catchUp(desk);
  desk.keys = keys.setup();
  desk.undoing = new Undoing(desk);
  const cutShort = isCutShort(desk);
  if (desk.urls.beat) desk.known = rememberPlace(desk) ?? {}; // a practice begins at what is left, and notes nothing
  await setUp(desk);
  desk.shell = new Shell(desk);
  desk.submitting = submit.setup(desk);
  desk.unsent = new Unsent(desk);
  desk.banner = new Banner(desk);
  desk.signIn = new SignIn(desk);
  desk.conflict = new Conflict(desk);
  desk.lease = lease.setup(desk);
  if (state.holder) await soon(desk.lease?.started); // who only reads has no buttons in the rows, which are lower then
  root.dataset.filled = ""; // before places are put back: what is hidden cannot take the focus
  for (const name of ["shell", ...parts]) desk[name]?.restore?.(desk.known[name] ?? {});
  if (cutShort) desk.resume(); // its newest place is not known, so work goes on at the first that is left to do
  if (desk.urls.beat) desk.clock.start(); // idle while the page is read-only
  root.dataset.ready = "";
  return desk;
}
