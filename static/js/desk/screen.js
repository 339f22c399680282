// What of the page is on screen, for the clock: how many words there are to read, and which item has the focus. Asked
// only when a stretch of time begins, because it measures the layout.

import { countWords } from "../shared/words.js";

const TEXTS = "[data-words]";
const ROWS = "#rows .row-text";

/** The part of an element that is to be seen, as a fraction of its height. */
function shown(element, top, bottom) {
  const box = element.getBoundingClientRect();
  if (!box.height || !box.width) return 0;
  return Math.max(0, Math.min(box.bottom, bottom) - Math.max(box.top, top)) / box.height;
}

function frame(id) {
  const box = document.getElementById(id)?.getBoundingClientRect();
  return [Math.max(0, box?.top ?? 0), Math.min(innerHeight, box?.bottom ?? innerHeight)];
}

// A passage has a head and buttons beside its words.
function textOf(element) {
  return element.querySelector(".passage-text") ?? element;
}

/** Count the words in view: of the texts and of the rows, of each by how much of it is to be seen. */
export function wordsOnScreen() {
  const inPane = frame("passages");
  const inList = frame("rows");
  let words = 0;
  for (const [pane, inside] of [["#passages", inPane], ["#rows", inList]]) {
    const texts = document.querySelectorAll(`${pane} ${TEXTS}`);
    for (const element of texts) words += Number(element.dataset.words) * shown(textOf(element), ...inside);
  }
  for (const element of document.querySelectorAll(ROWS)) words += countWords(element.textContent) * shown(element, ...inList);
  return Math.round(words);
}

const ITEMS = "[data-key]:not(kbd), [data-segment], [data-answer]"; // the printed keys name their action alike

/** The row, passage or answer that `node` is in, or else the one that has the focus; "" without one. */
export function itemAt(node) {
  const item = elementOf(node)?.closest(ITEMS) ?? document.activeElement?.closest?.(ITEMS);
  return (item?.dataset.key ?? item?.dataset.segment ?? item?.dataset.answer ?? "").slice(0, 36);
}

function elementOf(node) {
  return node instanceof Element ? node : node?.parentElement;
}

/** What is done there: "reading" (also a text to read beside the labels), "editing", or null for header and bars. */
export function paneOf(node) {
  const element = elementOf(node);
  if (element?.closest("#passages, [data-to-read]")) return "reading";
  return element?.closest("#rows, dialog") ? "editing" : null;
}
