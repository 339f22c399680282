// How every desk starts: reads the state the server put into the page, sends what an earlier visit left behind, makes
// the parts, and puts the place back. What is judged or written, and how, is the stage's own: see main.js and
// ../judge/main.js.

import { announce } from "./announce.js";
import * as banner from "./banner.js";
import { Clock } from "./clock.js";
import * as conflict from "./conflict.js";
import * as keys from "./keys.js";
import * as lease from "./lease.js";
import { Save } from "./save.js";
import * as session from "./session.js";
import * as shell from "./shell.js";
import * as submit from "./submit.js";
import { Undoing } from "./undoing.js";

const root = document.body;
const URL_PREFIX = "url";

/** The addresses in the page's `data-url-…` attributes, by their last word. */
function urlsOf(dataset) {
  const named = Object.entries(dataset).filter(([name]) => name.startsWith(URL_PREFIX) && name !== URL_PREFIX);
  return Object.fromEntries(named.map(([name, url]) => [name.slice(URL_PREFIX.length).toLowerCase(), url]));
}

function makeDesk(state, { Store, words, parts }) {
  const desk = { root, state, urls: urlsOf(root.dataset), user: root.dataset.user, stage: state.stage, words };
  desk.announce = (text, options) => announce(text, { undo: desk.undoing?.ofThisTurn(), ...options });
  desk.window = lease.windowId();
  desk.save = new Save({
    urls: desk.urls,
    task: state.task,
    user: desk.user,
    window: desk.window,
    csrf: root.dataset.csrf,
  });
  desk.store = new Store(state, (op) => desk.save.enqueue(op));
  desk.place = () => Object.fromEntries([...parts, "shell"].map((name) => [name, desk[name]?.place?.()]));
  desk.clock = new Clock({
    urls: desk.urls,
    window: desk.window,
    csrf: () => desk.save.csrf,
    post: (...request) => desk.save.session.post(...request),
    place: desk.place,
  });
  return desk;
}

function listen(desk) {
  const { save, store } = desk;
  save.addEventListener("receipt", ({ detail }) => store.receive(detail.op, detail.receipt));
  save.addEventListener("failed", ({ detail }) => store.markFailed(detail.op, detail.reason));
}

async function freshState(desk) {
  const response = await fetch(desk.urls.state, { headers: { accept: "application/json" } });
  return response.ok ? response.json() : null;
}

/** Send what an earlier visit left behind; what cannot be sent yet is shown as it was. */
async function catchUp(desk) {
  const sent = await desk.save.open();
  if (sent) {
    const state = await freshState(desk).catch(() => null);
    if (state) desk.store.load(state);
  }
  for (const op of desk.save.pending()) desk.store.replay(op);
}

// The beat of a page that closes may arrive after the next page was made, so this window remembers its place itself.
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

/**
 * Start the desk of this page. `parts` names what is made by `setUp(desk)` and has a place to be put back. One of them
 * is also `desk.work`, what is judged or edited, which the shared modules ask: {isReadonly, current, focus(key),
 * focusFirst(), settle(), lacks(kind, key), nameOf(element)}; `desk.versions` compares two versions of a row. `words`
 * says how this stage calls things.
 */
export async function startDesk({ Store, words, parts, setUp }) {
  const state = JSON.parse(document.getElementById("desk-state").textContent);
  const desk = makeDesk(state, { Store, words, parts });
  listen(desk);
  await catchUp(desk);
  desk.keys = keys.setup();
  desk.undoing = new Undoing(desk);
  const cutShort = isCutShort(desk);
  desk.known = rememberPlace(desk) ?? {};
  await setUp(desk);
  desk.shell = shell.setup(desk);
  desk.submitting = submit.setup(desk);
  banner.setup(desk);
  session.setup(desk);
  conflict.setup(desk);
  desk.lease = lease.setup(desk);
  for (const name of ["shell", ...parts]) desk[name]?.restore?.(desk.known[name] ?? {});
  if (cutShort) desk.resume(); // its newest place is not known, so work goes on at the first that is left to do
  desk.clock.start(); // idle while the page is read-only
  root.dataset.ready = "";
  return desk;
}
