// Which window this is. A tab keeps its id over reloads in sessionStorage, but a duplicated tab gets a copy of that id:
// a lock that only one open page can hold tells them apart, and tells later which windows are gone.

import { isRemembered, rememberWindow } from "./outbox.js";

const KEY = "assay-window";
const PREFIX = "assay-window-";
const RELOAD_MS = 3_000; // how long a reloaded page waits for its predecessor to let go, on a busy machine
const CLOSING_MS = 1_000;

const channel = new BroadcastChannel("assay-windows");

/** Hold the lock of `id` for as long as this page lives. Returns whether it could be had. */
function hold(id) {
  return new Promise((resolve) => {
    const gone = new AbortController();
    const giveUp = () => gone.abort();
    const timer = setTimeout(giveUp, RELOAD_MS);
    // Whoever holds it and lives says so at once, which saves the wait.
    channel.onmessage = ({ data }) => data.taken === id && giveUp();
    channel.postMessage({ mine: id });
    const forEver = () => {
      clearTimeout(timer);
      resolve(true);
      return new Promise(() => {});
    };
    navigator.locks.request(PREFIX + id, { signal: gone.signal }, forEver).catch(() => resolve(false));
  });
}

function stored() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function store(id) {
  try {
    sessionStorage.setItem(KEY, id);
  } catch {
    // Without storage every visit is a new window.
  }
}

async function claim() {
  const kept = stored();
  const id = kept && (await hold(kept)) ? kept : crypto.randomUUID();
  if (id !== kept) await hold(id);
  channel.onmessage = ({ data }) => data.mine === id && channel.postMessage({ taken: id });
  store(id);
  rememberWindow(id).catch(() => {}); // then it only takes longer to write here again after a crash
  return id;
}

/** The id of this window. */
export const own = await claim();

async function held() {
  const locks = await navigator.locks.query();
  return new Set(locks.held.map((lock) => lock.name).filter((name) => name.startsWith(PREFIX)));
}

/** Return a function that tells whether the window with an id is open in this browser. */
export async function openWindows() {
  const names = await held();
  return (id) => id === own || names.has(PREFIX + id);
}

/** Whether this browser has no other window of ours. */
export async function isAlone() {
  return (await held()).size <= 1;
}

/** Whether the window with an id is or was one of this browser's. Of other devices' windows nothing is known. */
export function isOurs(id) {
  return isRemembered(id).catch(() => false);
}

/** Whether a window of this browser is closed. One that is just closing is waited for. */
export async function isGone(id) {
  if (id === own || !(await isOurs(id))) return false;
  const signal = AbortSignal.timeout(CLOSING_MS);
  return navigator.locks.request(PREFIX + id, { signal }, () => true).catch(() => false);
}
