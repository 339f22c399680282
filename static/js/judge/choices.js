// The words of a label beside its radios. Both judging screens show the same.

import { make } from "../shared/make.js";
import { CANT_JUDGE, glyphOf, wordOf } from "./words.js";

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
  element.replaceChildren(make("span", { className: "glyph", ariaHidden: "true" }, glyphOf(row?.label)), ` ${text}`);
}
