// Definitions at hand: a term shows what it means while it is hovered or has the focus, and after a tap; Escape closes it.
// A term that is a link, such as a heading that orders its table, is followed by the second tap.
// One box above everything serves the page, because a table that scrolls would cut off a box of its own.

import { make } from "./shared/make.js";

const id = "definition-at-hand";
const box = make("div", { id, className: id, popover: "manual", role: "tooltip" });
let timer = 0;
/** @type {HTMLElement | null} */
let shown = null;
/** @type {HTMLElement | null} */
let tapped = null;
let isTouch = false;

const termAt = (target) => /** @type {HTMLElement | null} */ (target instanceof Element ? target.closest(".term") : null);

function show(term) {
  clearTimeout(timer);
  if (shown === term) return;
  hide();
  shown = term;
  // The title serves pages without script; beside the box it would be a second one.
  term.dataset.definition ??= term.title;
  term.removeAttribute("title");
  const link = make("a", { href: term.dataset.glossary ?? "" }, "Glossary");
  box.replaceChildren(term.dataset.definition, " ", link);
  term.after(box);
  box.showPopover();
  term.setAttribute("aria-describedby", box.id);
  place();
}

function place() {
  if (!shown) return;
  const { left, top, bottom } = shown.getBoundingClientRect();
  const fits = bottom + 4 + box.offsetHeight < innerHeight;
  box.style.left = `${Math.max(8, Math.min(left, innerWidth - box.offsetWidth - 8))}px`;
  box.style.top = `${fits ? bottom + 4 : Math.max(8, top - box.offsetHeight - 4)}px`;
}

function hide() {
  clearTimeout(timer);
  shown?.removeAttribute("aria-describedby");
  shown = null;
  if (box.isConnected) box.remove();
}

function hideSoon() {
  clearTimeout(timer);
  timer = window.setTimeout(hide, 250); // long enough to reach the link in the box
}

document.addEventListener("pointerover", ({ target }) => {
  const term = termAt(target);
  if (term) show(term);
  else if (shown && box.contains(/** @type {Node} */ (target))) clearTimeout(timer);
  else if (shown && document.activeElement !== shown) hideSoon();
});
document.addEventListener("focusin", ({ target }) => {
  const term = termAt(target);
  if (term) show(term);
  else if (!box.contains(/** @type {Node} */ (target))) hide();
});
document.addEventListener("pointerdown", ({ pointerType }) => (isTouch = pointerType === "touch"), { capture: true });
document.addEventListener("click", (event) => {
  const { target } = event;
  const term = termAt(target);
  if (term?.matches("a") && isTouch && tapped !== term) event.preventDefault();
  tapped = term;
  if (term) show(term);
  else if (!box.contains(/** @type {Node} */ (target))) hide();
});
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape") hide();
});
// A term that takes the focus out of sight is scrolled into view, and its definition goes with it.
document.addEventListener("scroll", place, { capture: true, passive: true });
