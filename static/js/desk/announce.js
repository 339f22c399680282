// Every message of the desk is seen and heard: at once on the line above the action bar, and by screen readers in a
// polite live region that speaks at most once in three seconds, and then says all that waits. Several voices, or one that
// speaks at every key, would drown what a screen reader's user is reading.

import { line } from "./line.js";

const GAP_MS = 3000;

let waiting = [];
let timer = null;
let saidAt = -GAP_MS;

function say() {
  timer = null;
  const region = document.getElementById("status");
  const text = waiting.length > 1 ? waiting.map(asSentence).join(" ") : waiting[0];
  waiting = [];
  if (!region || !text) return;
  // The same text twice is no change, and would not be spoken: an invisible character makes it one.
  region.textContent = region.textContent === text ? `${text}\u00a0` : text;
  saidAt = performance.now();
}

function asSentence(text) {
  return /[.?!…]$/.test(text) ? text : `${text}.`;
}

/**
 * Show `text` on the line and say it to screen readers. On the line a newer message takes the place of an older one, but
 * of one with `keep`, as an error or a loss of the connection. `undo(event)` takes back the act
 * that the message tells of; where a message follows its act at once, `desk.announce` adds it by itself. `shown`: false
 * where the page shows the same text in a place of its own.
 */
export function announce(text, { keep = false, undo = null, shown = true } = {}) {
  if (shown) line.show(text, { keep, undo });
  waiting = [...waiting.filter((other) => other !== text), text];
  if (timer === null) timer = setTimeout(say, Math.max(0, saidAt + GAP_MS - performance.now()));
}
