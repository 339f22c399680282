// The work matrix: arrows walk over what a row offers, Space ticks, a bar of acts takes the place of the search while
// something is ticked, and a chip shows its card. The topics grow as they are scrolled or walked through. Without script
// every chip is a link, topics have check boxes and pages, and the form of a change has the boxes of their tasks.

import { make } from "./shared/make.js";

const top_ = document.querySelector("[data-work-top]");
const GONE_AFTER = 6000; // the line with Undo

const WALKABLE = ".matrix tr:not(.more-topics) :is(input[name=topics], input[name=choose], a, button)";

/** What can be walked to in a row, in order. */
const walkable = (row) =>
  /** @type {HTMLElement[]} */ ([...row.querySelectorAll(WALKABLE)].filter((element) => !card.contains(element)));
const columnOf = (element) => /** @type {HTMLTableCellElement} */ (element.closest("td, th")).cellIndex;

function prepare() {
  document.documentElement.dataset.matrix = "live";
  const all = walkable(document);
  const stop = all.find((element) => element.getAttribute("tabindex") === "0") ?? all[0];
  for (const element of all) element.tabIndex = element === stop ? 0 : -1;
  if (allFound()?.checked) tickAllShown();
  showTicks();
  const line = document.querySelector("[data-work-line]");
  if (line) goAfter(line);
}

/** One stop for Tab in the whole matrix: the place that was walked to last. */
function walkTo(element) {
  for (const other of walkable(document)) other.tabIndex = -1;
  element.tabIndex = 0;
  element.focus();
  element.closest("tr").scrollIntoView({ block: "nearest" });
}

function step(element, key) {
  const row = element.closest("tr");
  const own = walkable(row);
  if (key === "ArrowLeft" || key === "ArrowRight") {
    return own[own.indexOf(element) + (key === "ArrowRight" ? 1 : -1)];
  }
  const rows = /** @type {HTMLTableElement} */ (row.closest("table")).rows;
  const next = rows[row.rowIndex + (key === "ArrowDown" ? 1 : -1)];
  if (!next) return undefined;
  const column = columnOf(element);
  const inColumn = walkable(next).filter((other) => columnOf(other) <= column);
  return inColumn.find((other) => columnOf(other) === column) ?? inColumn.at(-1);
}

function goAfter(line) {
  let timer = 0;
  const start = () => (timer = window.setTimeout(() => line.remove(), GONE_AFTER));
  const hold = () => clearTimeout(timer);
  line.addEventListener("pointerenter", hold);
  line.addEventListener("pointerleave", start);
  line.addEventListener("focusin", hold);
  line.addEventListener("focusout", start);
  start();
}

// Ticks

const ticks = (name) => document.querySelectorAll(`[data-matrix] input[name=${name}]:checked`);
const allFound = () => /** @type {HTMLInputElement | null} */ (document.querySelector(".matrix [name=choose]"));

function tickAllShown(checked = true) {
  for (const box of document.querySelectorAll(".matrix input[name=topics]"))
    /** @type {HTMLInputElement} */ (box).checked = checked;
}

function showTicks() {
  const bar = document.querySelector("[data-act-bar]");
  if (!bar) return;
  const [topics, tasks] = ["topics", "tasks"].map((name) => ticks(name).length);
  const parts = [topics && `${topics} topic${topics > 1 ? "s" : ""}`, tasks && `${tasks} task${tasks > 1 ? "s" : ""}`];
  bar.hidden = !topics && !tasks;
  bar.querySelector("[data-clear]").hidden = false;
  const all = allFound()?.checked && allFound().ariaLabel;
  bar.querySelector("[data-ticked]").textContent = all ? `${all} are ticked` : `${parts.filter(Boolean).join(", ")} ticked`;
  top_.classList.toggle("has-ticks", !bar.hidden);
}

/** Another tick, or one less, than all that the search finds. */
function notAll() {
  const all = allFound();
  if (all) all.checked = false;
}

function clear() {
  notAll();
  tickAllShown(false);
  for (const box of ticks("tasks")) box.remove();
  showTicks();
}

/** Tick a chip's task, which has a box only while it is ticked, or the topic of the row. */
function tick(element) {
  if (!document.querySelector("[data-act-bar]")) return;
  const task = idOf(chipAt(element));
  if (!task) return element.closest("tr").querySelector("input").click();
  notAll();
  const before = element.previousElementSibling;
  if (before?.matches("input")) before.remove();
  else element.before(make("input", { type: "checkbox", name: "tasks", value: task, checked: true }));
  showTicks();
}

// Cards

const card = make("div", { className: "task-card", popover: "manual", role: "group" });
/** @type {HTMLElement | null} */
let shown = null;
let opened = Promise.resolve();
/** The chip that Escape closed the card of: the focus comes back to it, and must not open the card again.
 * @type {HTMLElement | null} */
let quiet = null;
let timer = 0;

const chipAt = (target) => (target instanceof Element ? target.closest(".task-chip[href^='tasks/']") : null);
const idOf = (chip) => chip?.getAttribute("href").split("/")[1] ?? "";

/** Open a chip's card, once; the promise is kept when it is there. */
function show(chip) {
  clearTimeout(timer);
  if (shown !== chip) {
    hide();
    shown = chip;
    opened = open(chip);
  }
  return opened;
}

/** Cards are read one by one: those of a hundred topics would be most of the page. */
async function open(chip) {
  const reply = await fetch(`?card=${encodeURIComponent(idOf(chip))}`).catch(() => null);
  if (!reply?.ok || reply.redirected) return;
  const { body } = new DOMParser().parseFromString(await reply.text(), "text/html");
  if (shown !== chip) return; // another chip's card is wanted by now
  card.replaceChildren(...body.childNodes);
  card.setAttribute("aria-label", chip.ariaLabel);
  chip.after(card);
  card.showPopover();
  const { left, top, bottom } = chip.getBoundingClientRect();
  const fits = bottom + 4 + card.offsetHeight < innerHeight;
  card.style.left = `${Math.max(8, Math.min(left, innerWidth - card.offsetWidth - 8))}px`;
  card.style.top = `${fits ? bottom + 4 : Math.max(8, top - card.offsetHeight - 4)}px`;
}

function hide() {
  clearTimeout(timer);
  shown = null;
  if (card.isConnected) card.remove();
}

document.addEventListener("pointerover", ({ target }) => {
  const chip = chipAt(target);
  if (chip) {
    clearTimeout(timer);
    timer = window.setTimeout(() => show(chip), 150);
  } else if (card.contains(target)) clearTimeout(timer);
  else if (!card.contains(document.activeElement)) {
    clearTimeout(timer);
    timer = window.setTimeout(hide, 250); // long enough to reach the acts in the card
  }
});
document.addEventListener("focusin", ({ target }) => {
  const chip = chipAt(target);
  if (chip && chip !== quiet) show(chip);
  else if (!card.contains(target)) hide();
  quiet = null;
});
document.addEventListener("scroll", ({ target }) => target === document && hide(), { capture: true, passive: true });

// What is ticked goes along, whichever of the page's ways to hand out is taken.
document.querySelector("[data-hand-out]")?.addEventListener("click", (event) => {
  const bar = /** @type {HTMLElement} */ (document.querySelector("[data-act-bar]"));
  if (bar.hidden || !ticks("topics").length) return;
  event.preventDefault();
  /** @type {HTMLElement} */ (bar.querySelector("[formaction]")).click();
});
document.addEventListener("click", (event) => {
  const chip = chipAt(event.target);
  if (chip && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    walkTo(chip);
    void show(chip).then(() => card.querySelector("a")?.focus());
  } else if (/** @type {Element} */ (event.target).closest("[data-clear]")) clear();
  else if (!card.contains(/** @type {Node} */ (event.target))) hide();
});
document.addEventListener("change", ({ target }) => {
  const box = /** @type {HTMLInputElement} */ (target);
  if (!box.closest("[data-matrix]")) return;
  if (box.name === "choose") tickAllShown(box.checked);
  else notAll();
  showTicks();
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Escape") {
    const chip = shown;
    const wasInside = card.contains(target);
    hide();
    if (wasInside) {
      quiet = chip;
      chip?.focus();
    }
    if (!chip && target.closest("[data-matrix], [data-act-bar]")) clear();
    return;
  }
  if (!target.matches(WALKABLE) || card.contains(target) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (key.startsWith("Arrow")) {
    const next = step(target, key);
    event.preventDefault();
    if (next) walkTo(next);
  } else if (key === " " && target.matches("a")) {
    event.preventDefault();
    tick(target);
  }
});

/** Where the focus was before a part of the page was exchanged: the row's id and the column. */
let place = { row: "", column: 0 };
/** True for further topics, which come below the others and exchange nothing. */
const grows = (event) => /** @type {CustomEvent} */ (event).detail.target?.matches(".more-topics");
// The policy lets nothing copy a card's own place on the page, as htmx does with what it keeps for the way back.
document.addEventListener("htmx:beforeRequest", (event) => !grows(event) && hide());
document.addEventListener("htmx:afterRequest", (event) => grows(event) && prepare());
document.addEventListener("htmx:beforeSwap", (event) => {
  if (grows(event)) return;
  const focused = document.activeElement?.closest("[data-matrix] td, [data-matrix] th");
  const row = focused?.closest("tr").querySelector("input[name=topics]");
  place = { row: /** @type {HTMLInputElement | null} */ (row)?.value ?? "", column: focused ? columnOf(focused) : 0 };
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (grows(event)) return;
  hide();
  prepare();
  const row = document.querySelector(`[data-matrix] input[value="${CSS.escape(place.row)}"]`)?.closest("tr");
  const next = row && walkable(row).find((element) => columnOf(element) === place.column);
  if (next) walkTo(next);
});
prepare();
document.body.dataset.ready = "";
