// What the keyboard brings into focus is in sight: not under a heading or a bar that sticks. Scroll padding alone does
// not see to it, because rows grow and bars appear only when they get the focus.

const SOON_MS = 200;
const AIR = 8; // for the focus ring

let keyAt = -Infinity;

/** Return the sticking element that lies over a point and is no part of what holds `target`. */
function cover(target, x, y) {
  const top = document.elementFromPoint(x, y);
  if (!top || target.contains(top)) return null;
  for (let ancestor = top; ancestor && !ancestor.contains(target); ancestor = ancestor.parentElement) {
    if (getComputedStyle(ancestor).position === "sticky") return ancestor.getBoundingClientRect();
  }
  return null;
}

function uncover(target, scroller) {
  const scroll = (top) => scroller.scrollBy({ top, behavior: "instant" });
  let box = target.getBoundingClientRect();
  const x = box.left + Math.min(8, box.width / 2);
  const below = cover(target, x, box.bottom - 3);
  if (below && below.top > box.top) scroll(box.bottom - below.top + AIR);
  box = target.getBoundingClientRect();
  // The beginning is what matters most, so it has the last word.
  const above = cover(target, x, box.top + 2);
  if (above && above.top <= box.top) scroll(box.top - above.bottom - AIR);
}

function keep(target) {
  if (!target.isConnected || target !== document.activeElement) return;
  const pane = target.closest(".desk-read, .desk-rows");
  if (!pane || target === pane) return;
  const scrolls = ["auto", "scroll"].includes(getComputedStyle(pane).overflowY);
  const sticks = getComputedStyle(target).position === "sticky"; // what sticks is always in view, its own place may not be
  if (!sticks) target.scrollIntoView({ block: "nearest", behavior: "instant" });
  uncover(target, scrolls ? pane : document.scrollingElement);
}

/** Watch what gets the focus by a key, now and once what it brought about is drawn. */
export function setup() {
  document.addEventListener("keydown", () => (keyAt = performance.now()), { capture: true, passive: true });
  document.addEventListener("focusin", ({ target }) => {
    if (performance.now() - keyAt > SOON_MS) return;
    queueMicrotask(() => keep(target));
    requestAnimationFrame(() => keep(target));
  });
}
