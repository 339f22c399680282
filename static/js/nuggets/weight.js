// The weight of a criterion: a number from -100 to 100, typed or stepped. Below 0 an answer must not do what it says.

import { copyOf } from "../shared/template.js";
import { put } from "../shared/text.js";

const MOST = 100;
const NUMBER = /^[+\-−]?(\d+([.,]\d{0,3})?|[.,]\d{1,3})$/;

/** What is wrong with a typed weight, in words. */
export const NO_WEIGHT = `A weight is a number from -${MOST} to ${MOST} with at most 3 decimals`;

/** Return what was typed as a weight: null for none, undefined for what is no weight. */
function weightIn(text) {
  const typed = text.trim().replace(",", ".").replace("−", "-");
  if (!typed) return null;
  const weight = Number(typed);
  return NUMBER.test(text.trim()) && Math.abs(weight) <= MOST ? weight + 0 : undefined;
}

/** Return a weight that is `by` more, within what is allowed. */
export function stepped(weight, by) {
  return Math.min(MOST, Math.max(-MOST, Math.round(((weight ?? 0) + by) * 1000) / 1000));
}

/**
 * Make the field of a weight and its two steps. `take(weight)` gets what was typed or stepped, undefined where nothing is to change;
 * `enter()` and `leave()` follow Enter and Escape; `refuse(problem)` says what is wrong.
 * @param {{take: (weight?: number | null) => void, enter: () => void, leave: () => void, refuse: (problem: string) => void}} acts
 */
export function weightBox({ take, enter, leave, refuse }) {
  const box = copyOf("weight-template");
  const field = box.querySelector("input");
  let cancelled = false;
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    const weight = weightIn(field.value);
    cancelled = event.key === "Escape";
    if (cancelled) leave();
    else if (weight === undefined) refuse(NO_WEIGHT);
    else {
      take(weight);
      enter();
    }
  });
  field.addEventListener("focus", () => field.select());
  box.addEventListener("settle", () => take(weightIn(field.value)));
  box.addEventListener("focusout", ({ target, relatedTarget }) => {
    if (!box.contains(relatedTarget)) delete box.dataset.open;
    const typed = target === field && !cancelled;
    const weight = typed ? weightIn(field.value) : undefined;
    cancelled = false;
    take(weight);
    if (typed && weight === undefined) refuse(NO_WEIGHT);
  });
  for (const button of box.querySelectorAll("button")) {
    button.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      const weight = stepped(weightIn(field.value), Number(button.value));
      field.value = written(weight);
      if (field !== document.activeElement) take(weight);
    });
  }
  return box;
}

function written(weight) {
  return weight === null ? "" : String(weight).replace("-", "−");
}

/** Show a weight where the list is a rubric or its field was opened, but never over what is just being typed. */
export function drawWeight(box, weight, { isRubric, name = "Weight", isReadonly = false }) {
  const field = box.querySelector("input");
  box.hidden = !isRubric && box.dataset.open === undefined;
  field.readOnly = isReadonly;
  put(box, ".weight-name", name);
  if (field !== document.activeElement && field.value !== written(weight)) field.value = written(weight);
}

/** Uncover the field of a weight and go to it. */
export function openWeight(box) {
  box.dataset.open = "";
  box.hidden = false;
  box.querySelector("input").focus();
}
