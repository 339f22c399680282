// Draws one nugget. It changes only what differs, and never the element that has the focus or holds unsaved text.

import { keysOf, printed } from "../desk/keys.js";
import { isEdited, lacksImportance } from "../desk/rules.js";
import { drawUnsaved } from "../saving/unsaved.js";
import { make } from "../shared/make.js";
import { copyOf } from "../shared/template.js";
import { put } from "../shared/text.js";
import { drawChips, importanceOf, importanceSwitch, setImportance } from "./chips.js";
import { drawDiff } from "./diff.js";
import { drawWeight, weightBox } from "./weight.js";

const IMPORTANCE = ["neither vital nor okay", "okay", "vital"];

/** Make the element of a row that is not drawn yet. `choose` takes what its switch is set to, `weigh`: the acts of its weight. */
export function makeRow(key, choose, weigh) {
  const item = copyOf("row-template");
  item.id = `n-${key}`;
  item.dataset.key = key;
  const named = { number: ".row-number", text: ".row-text", tags: ".row-tags" };
  for (const [name, selector] of Object.entries(named)) item.querySelector(selector).id = `${item.id}-${name}`;
  item.setAttribute("aria-labelledby", Object.keys(named).map((name) => `${item.id}-${name}`).join(" "));
  item.querySelector(".row-change").id = `${item.id}-change`;
  button(item, "diff").setAttribute("aria-controls", `${item.id}-change`);
  const weight = weightBox(weigh);
  weight.querySelector(".weight-name").classList.add("visually-hidden");
  item.querySelector(".row-importance").append(weight, importanceSwitch({ choose, about: "" }));
  return item;
}

/**
 * Draw a row. `view`: {number, isCurrent, isMarked, isPending, failed, showsChange, isReadonly, byHand, parents, isRubric, heading}.
 * `parents` are the rows that this one was made from; `heading` is the group that begins with it.
 */
export function drawRow(item, row, view) {
  item.dataset.decision = row.decision;
  item.classList.toggle("is-current", view.isCurrent);
  item.classList.toggle("is-marked", view.isMarked);
  put(item, ".row-group", view.heading);
  item.querySelector(".row-group").hidden = !view.heading;
  put(item, ".row-number", `N${view.number}`);
  put(item, ".row-text", row.text);
  drawTags(item.querySelector(".row-tags"), row, view);
  drawChips(item.querySelector(".row-meta .chips"), row.evidence, { writing: !view.isReadonly });
  drawUnsaved(item, view);
  drawImportance(item, row, view);
  drawActs(item, row, view);
  drawChange(item, row, view);
}

/** "1 vital or 2 okay?", with the person's own keys. */
export function importanceQuestion() {
  const [vital, okay] = [keysOf("vital")[0], keysOf("okay")[0]];
  if (!vital || !okay) return "vital or okay?";
  return `${printed(vital)} vital or ${printed(okay)} okay?`;
}

/** Whether there is something to tell about where a row's wording comes from. */
export function hasChange(row) {
  return isEdited(row) || row.parents.length > 0;
}

function button(item, name) {
  return item.querySelector(`.row-acts [data-do="${name}"]`);
}

function tagsOf(row, { byHand, isReadonly, isMarked, isRubric }) {
  const tags = row.weight < 0 ? [["⊖ must not", "must-not"]] : [];
  if (row.decision === "undecided") tags.push(["proposed", "machine"], ["undecided", "undecided"]);
  else if (row.decision === "rejected") tags.push([byHand ? "deleted" : "rejected", ""]);
  else if (row.making === "merged") tags.push([`merged from ${row.parents.length}`, ""]);
  else if (row.making === "split") tags.push(["split", ""]);
  else if (row.making === "added" && !byHand) tags.push(["added", ""]);
  else if (row.making === "proposed") tags.push([isEdited(row) ? "edited" : "kept", ""]);
  if (byHand && row.decision === "kept" && !row.evidence.length) tags.push(["no passage", ""]);
  if ((isReadonly && !isRubric) || row.importance) tags.push([IMPORTANCE[row.importance], isReadonly ? "importance" : "spoken"]);
  if (!isReadonly && !isRubric && lacksImportance(row)) tags.push([importanceQuestion(), "ask"]);
  if (!isReadonly && isRubric && row.weight === null) tags.push(["weight?", "ask"]);
  if (isMarked) tags.push(["marked", "marked"]);
  return tags;
}

function drawTags(element, row, view) {
  const tags = tagsOf(row, view);
  const signature = JSON.stringify(tags);
  if (element.dataset.drawn === signature) return;
  element.dataset.drawn = signature;
  const drawn = tags.map(([text, kind]) => {
    const className = kind === "spoken" ? "visually-hidden" : `tag ${kind && `tag-${kind}`}`.trim();
    return make("span", { className }, text);
  });
  element.replaceChildren(...drawn.flatMap((tag) => [tag, " "]));
}

function drawImportance(item, row, { number, isReadonly, isRubric }) {
  drawWeight(item.querySelector(".weight"), row.weight, { isRubric, isReadonly, name: `Weight of N${number}` });
  const box = item.querySelector(".importance");
  box.disabled = isReadonly;
  box.hidden = isReadonly || row.decision === "rejected";
  put(item, ".importance legend", importanceOf(`N${number}`));
  setImportance(box, row.importance);
}

function drawActs(item, row, { number, isMarked, isReadonly, isRubric, showsChange }) {
  const isRejected = row.decision === "rejected";
  const shown = {
    keep: row.decision === "undecided",
    edit: !isRejected,
    reject: !isRejected,
    restore: isRejected,
    split: !isRejected,
    link: !isRejected,
    weight: !isRejected && !isRubric,
    mark: !isRejected,
    up: !isRejected,
    down: !isRejected,
    search: !isRejected,
    go: row.evidence.length > 0,
    diff: hasChange(row),
    more: !isRejected,
  };
  const acts = item.querySelector(".row-acts");
  acts.setAttribute("aria-label", `N${number}`);
  for (const act of acts.children) {
    const isShown = shown[act.dataset.do] && !(isReadonly && act.dataset.do !== "go");
    if (!isShown && act === document.activeElement) item.focus();
    act.hidden = !isShown;
  }
  button(item, "mark").setAttribute("aria-pressed", String(isMarked));
  button(item, "diff").setAttribute("aria-expanded", String(showsChange));
}

function drawChange(item, row, { showsChange, isReadonly, parents }) {
  const change = item.querySelector(".row-change");
  const shows = hasChange(row) && (showsChange || isReadonly);
  change.hidden = !shows;
  if (!shows) return;
  const signature = JSON.stringify([row.text, row.draft, parents.map((parent) => parent.text)]);
  if (change.dataset.drawn === signature) return;
  change.dataset.drawn = signature;
  const [diff, original, made] = change.children;
  diff.hidden = original.hidden = !isEdited(row);
  if (isEdited(row)) {
    drawDiff(diff, row.draft, row.text);
    put(original, ".row-original-name", "Original:");
    put(original, "q", row.draft);
  }
  made.hidden = !parents.length;
  made.replaceChildren(...parents.map((parent) => madeFrom(row, parent)));
}

function madeFrom(row, parent) {
  const how = row.making === "merged" ? "Merged:" : "Split from:";
  return make("li", {}, how, " ", make("q", { dir: "auto" }, parent.text));
}
