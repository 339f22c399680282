// Wires one desk together: reads the state the server put into the page, makes the parts, and lets them talk.

import { announce } from "./announce.js";
import * as banner from "./banner.js";
import { Clock } from "./clock.js";
import * as conflict from "./conflict.js";
import * as keys from "./keys.js";
import * as lease from "./lease.js";
import * as nuggets from "./nuggets.js";
import * as passages from "./passages.js";
import { Save } from "./save.js";
import * as session from "./session.js";
import * as shell from "./shell.js";
import { Store } from "./store.js";
import * as submit from "./submit.js";

const root = document.body;
const URL_PREFIX = "url";

/** The addresses in the page's `data-url-…` attributes, by their last word. */
function urlsOf(dataset) {
  const named = Object.entries(dataset).filter(([name]) => name.startsWith(URL_PREFIX) && name !== URL_PREFIX);
  return Object.fromEntries(named.map(([name, url]) => [name.slice(URL_PREFIX.length).toLowerCase(), url]));
}

function makeDesk(state) {
  const desk = { root, state, urls: urlsOf(root.dataset), user: root.dataset.user, stage: state.stage, announce };
  desk.window = lease.windowId();
  desk.save = new Save({
    urls: desk.urls,
    task: state.task,
    user: desk.user,
    window: desk.window,
    csrf: root.dataset.csrf,
  });
  desk.store = new Store(state, (op) => desk.save.enqueue(op));
  desk.place = () => ({
    passages: desk.passages?.place(),
    nuggets: desk.nuggets?.place(),
    shell: desk.shell?.place(),
  });
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

function setUp(desk) {
  desk.keys = keys.setup(desk);
  desk.passages = passages.setup(desk);
  desk.nuggets = nuggets.setup(desk);
  desk.shell = shell.setup(desk);
  submit.setup(desk);
  banner.setup(desk);
  session.setup(desk);
  conflict.setup(desk);
  desk.lease = lease.setup(desk);
}

// The beat of a page that closes may arrive after the next page was made, so this window remembers its place itself.
function rememberPlace(desk) {
  const key = `place ${desk.state.task}`;
  addEventListener("pagehide", () => sessionStorage.setItem(key, JSON.stringify(desk.place())));
  const kept = sessionStorage.getItem(key);
  return kept ? JSON.parse(kept) : desk.state.place;
}

function putBack(desk, place) {
  desk.shell?.restore?.(place?.shell ?? {});
  desk.passages?.restore?.(place?.passages ?? {});
  desk.nuggets?.restore?.(place?.nuggets ?? {});
}

async function start() {
  const state = JSON.parse(document.getElementById("desk-state").textContent);
  const made = makeDesk(state);
  listen(made);
  await catchUp(made);
  setUp(made);
  putBack(made, rememberPlace(made));
  made.clock.start(); // idle while the page is read-only
  root.dataset.ready = "";
  return made;
}

/** The desk of this page, once it is ready. */
export const desk = start();
