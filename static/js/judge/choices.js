// The three labels as a fieldset of radios, and the words of a label beside them. Both judging screens show the same.

import { choosing } from "../desk/choosing.js";
import { CANT_JUDGE, glyphOf, wordOf } from "./words.js";

let count = 0;

/** Make the fieldset ready. `choose(value, source)` takes what is chosen by pointer or arrows. */
export function makeChoice(box, choose) {
  const name = `label-${(count += 1)}`;
  for (const radio of box.querySelectorAll("input")) radio.name = name;
  choosing(box, choose);
}

/** Show a label, unless another is just being chosen. */
export function setChoice(box, label) {
  if (box.dataset.waiting !== undefined) return;
  for (const radio of box.querySelectorAll("input")) radio.checked = radio.value === label;
}

/** "Partial", "no label", "Can't judge: it is in Latin". */
export function labelText(row) {
  const word = wordOf(row?.label, row?.key);
  return row?.label === CANT_JUDGE ? `${word}: ${row.reason}` : word;
}

/** Show the state of a label as shape and word. */
export function drawState(element, row) {
  const text = labelText(row);
  if (element.dataset.drawn === text) return;
  element.dataset.drawn = text;
  const glyph = Object.assign(document.createElement("span"), { className: "glyph", textContent: glyphOf(row?.label) });
  glyph.setAttribute("aria-hidden", "true");
  element.replaceChildren(glyph, ` ${text}`);
}
