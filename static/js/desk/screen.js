// What of the page is on screen, for the clock: how many words there are to read, and which item has the focus. Asked
// only when a stretch of time begins, because it measures the layout.

const TEXTS = "[data-words]";
const ROWS = "#rows [data-key]";
const WORDS_OF_A_ROW = 15; // a nugget is one short sentence

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

/** Count the words on screen: of the texts by how much of each is to be seen, and of the rows. */
export function wordsOnScreen() {
  const inPane = frame("passages");
  const inList = frame("rows");
  let words = 0;
  for (const [pane, inside] of [["#passages", inPane], ["#rows", inList]]) {
    const texts = document.querySelectorAll(`${pane} ${TEXTS}`);
    for (const element of texts) words += Number(element.dataset.words) * shown(element, ...inside);
  }
  for (const element of document.querySelectorAll(ROWS)) words += WORDS_OF_A_ROW * shown(element, ...inList);
  return Math.round(words);
}

const ITEMS = "[data-key], [data-segment], [data-answer]";

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
