// Draws one nugget beside the answer that is shown. It changes only what differs, and never what has the focus.

import { choosing, setChoice } from "../desk/choosing.js";
import { drawUnsaved } from "../saving/unsaved.js";
import { copyOf } from "../shared/template.js";
import { capitalized, put } from "../shared/text.js";
import { drawState } from "./choices.js";
import { drawKnown } from "./practice.js";
import { CANT_JUDGE, nounOf, wordOf } from "./words.js";

/** Make the element of a row: {key, nugget, text, name, legend, importance}. `choose` takes what its radios are set to. */
export function makeRow({ key, nugget = key, text, name, legend = "", importance = "" }, choose) {
  const item = copyOf("row-template");
  item.id = `n-${key}`;
  const named = { number: ".row-number", text: ".row-text", state: ".row-state" };
  for (const [part, selector] of Object.entries(named)) item.querySelector(selector).id = `${item.id}-${part}`;
  item.setAttribute("aria-labelledby", Object.keys(named).map((part) => `${item.id}-${part}`).join(" "));
  put(item, ".row-number", name);
  put(item, ".row-text", text);
  item.classList.toggle("is-whole", Boolean(legend));
  for (const part of [".row-number", ".row-text"]) item.querySelector(part).classList.toggle("visually-hidden", Boolean(legend));
  put(item, ".labels legend", legend || `${capitalized(nounOf(nugget))} label of ${name}`);
  for (const choice of item.querySelectorAll(".labels label")) {
    put(choice, ".label-word", wordOf(choice.querySelector("input").value, nugget));
  }
  item.querySelector(".row-acts").setAttribute("aria-label", name);
  if (importance) put(item, ".row-weight", importance === "vital" ? "◆ vital" : "◇ okay");
  choosing(item.querySelector(".labels"), choose);
  return item;
}

/** Scroll to where a row belongs: the current one sticks, so that its own place may be out of view and covered by it. */
export function reveal(item) {
  item.style.position = "relative";
  item.scrollIntoView({ block: "nearest" });
  item.style.position = "";
}

/** Draw a row. `view`: {key, row, waitingSentence, isCurrent, isPending, failed, isReadonly}. */
export function drawRow(item, view) {
  const { key, row, waitingSentence, isCurrent, isReadonly } = view;
  item.dataset.key = key;
  item.dataset.label = row?.label ?? "";
  item.classList.toggle("is-current", isCurrent);
  setChoice(item.querySelector(".labels"), row?.label ?? null);
  item.querySelector(".labels").disabled = isReadonly;
  drawState(item.querySelector(".row-state"), row);
  item.querySelector(".row-state").classList.toggle("visually-hidden", row?.label !== CANT_JUDGE);
  drawPlace(item, row, waitingSentence);
  const changed = row?.first_label && row.first_label !== row.label;
  put(item, ".row-first", changed ? `before the check: ${wordOf(row.first_label, key)}` : "");
  drawUnsaved(item, view);
  drawKnown(item, row);
  drawActs(item, row, isReadonly);
}

function drawPlace(item, row, waitingSentence) {
  const button = item.querySelector(".row-place");
  const sentence = row?.label ? (row.sentence ?? null) : waitingSentence;
  const text = sentence === null ? "" : `S${sentence + 1}`;
  put(item, ".row-place", text);
  if (!text && button === document.activeElement) item.focus();
  button.hidden = !text;
  button.setAttribute("aria-label", row?.label ? `Go to ${text}` : `Go to ${text}, which is recorded with the label`);
}

function drawActs(item, row, isReadonly) {
  const shown = { cant: !isReadonly, place: !isReadonly, clear: !isReadonly && Boolean(row?.label) };
  for (const act of item.querySelectorAll(".row-acts [data-do]")) {
    const isShown = shown[act.dataset.do] ?? true;
    if (!isShown && act === document.activeElement) item.focus();
    act.hidden = !isShown;
  }
  item.querySelector("[data-do=cant]")?.setAttribute("aria-pressed", String(row?.label === CANT_JUDGE));
}
