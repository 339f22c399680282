// The citations of the answer as buttons: each leads to its pair, and shows the pair's label or why it is not asked.

import { make } from "../shared/make.js";
import { hindranceOf } from "./progress.js";
import { glyphOf, wordOf } from "./words.js";

const WHY = { "no-text": "no text", waits: "waits for the machine's label" };

/** Why a pair is not asked, in words; "" where it is. */
export function whyNot(pair, stage) {
  return WHY[hindranceOf(pair, stage)] ?? "";
}

/** Put a button in place of each citation that is a pair of the task. */
export function makeCitations(pane, pairs) {
  for (const pair of pairs) {
    const mark = pane.sentence(pair.sentence)?.querySelector(`[data-citation="${pair.citation}"]`);
    if (!mark || mark.matches("button")) continue;
    const dataset = { citation: pair.citation, pair: pair.key };
    mark.replaceWith(make("button", { type: "button", className: "citation", tabIndex: -1, dataset }, mark.textContent));
  }
}

/** Show how each pair stands. `current`: the key of the one that is asked. */
export function drawCitations(pane, pairs, { store, stage, current }) {
  for (const pair of pairs) {
    const button = pane.article.querySelector(`button[data-pair="${pair.key}"]`);
    if (!button) continue;
    const why = whyNot(pair, stage);
    const label = store.label(pair.key);
    const hasText = hindranceOf(pair, stage) !== "no-text";
    const seen = hasText ? (why ? " …" : ` ${glyphOf(label)}`) : ` ${why}`;
    const text = `[${pair.citation}]${seen}`;
    if (button.textContent !== text) button.textContent = text;
    button.setAttribute("aria-label", hasText ? `[${pair.citation}]: ${why || wordOf(label)}` : text);
    button.setAttribute("aria-disabled", String(Boolean(why)));
    button.tabIndex = pair.key === current ? 0 : -1;
    if (pair.key === current) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}
