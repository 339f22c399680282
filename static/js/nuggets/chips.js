// Evidence as chips ("P12 S3", to go there and to remove), the box in which a place is typed, and the switch between
// vital and okay. Rows and composers show the same three, so they are made here once.

import { choosing, setChoice } from "../desk/choosing.js";
import { make } from "../shared/make.js";
import { copyOf } from "../shared/template.js";
import * as passages from "./passages.js";

let count = 0;

/** Fill a list with one chip per pair. A chip that stays keeps its element, and with it the focus. */
export function drawChips(list, evidence, { writing }) {
  const name = ([segment, sentence]) => `${segment} ${sentence ?? ""}`;
  const old = new Map([...list.children].map((chip) => [chip.dataset.pair, chip]));
  const wanted = evidence.map((pair) => old.get(name(pair)) ?? newChip(pair, name(pair)));
  for (const chip of old.values()) if (!wanted.includes(chip)) chip.remove();
  wanted.forEach((chip, index) => {
    if (list.children[index] !== chip) list.insertBefore(chip, list.children[index] ?? null);
    chip.querySelector(".chip-remove").hidden = !writing;
  });
  list.hidden = wanted.length === 0;
}

function newChip([segment, sentence], pair) {
  const label = passages.label(segment, sentence) ?? "a passage that is gone";
  const dataset = { pair, segment, sentence: sentence ?? "" };
  const go = button("chip-go", label, "go-chip", `Go to ${label}`);
  return make("li", { className: "chip", dataset }, go, button("chip-remove", "×", "unlink", `× Remove ${label}`));
}

function button(className, text, act, label) {
  return make("button", { type: "button", className, ariaLabel: label, dataset: { do: act } }, text);
}

/** Return the pair that a chip stands for. */
export function pairOf(chip) {
  return [chip.dataset.segment, chip.dataset.sentence === "" ? null : Number(chip.dataset.sentence)];
}

/**
 * Make the box in which a place is typed. `link(pair)` takes what was understood; `leave()` is called on Escape.
 * What is not understood is said beside the box and stays in it.
 * @param {{link: (pair: any) => void, leave?: () => void}} acts
 */
export function linkBox({ link, leave }) {
  const box = copyOf("link-template");
  const input = box.querySelector("input");
  const problem = box.querySelector(".problem");
  problem.id = `problem-${(count += 1)}`;
  input.setAttribute("aria-describedby", problem.id);
  // A part that was mended or taken away is no fault any more.
  input.addEventListener("input", () => {
    if (input.value.trim() && !passages.parse(input.value)) return;
    problem.hidden = true;
    input.removeAttribute("aria-invalid");
  });
  input.addEventListener("blur", () => (problem.hidden ||= !input.value.trim()));
  const linkTyped = () => {
    const pair = passages.parse(input.value);
    problem.hidden = Boolean(pair);
    input.setAttribute("aria-invalid", String(!pair));
    if (!pair) {
      problem.textContent = input.value.trim()
        ? `There is no ${input.value.trim()}. Type a passage and a sentence, such as P12 S3.`
        : "Type a passage and a sentence, such as P12 S3.";
      return input.focus();
    }
    input.value = "";
    link(pair);
  };
  box.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && event.target === input) {
      event.preventDefault();
      linkTyped();
    } else if (event.key === "Escape" && leave) {
      event.preventDefault();
      event.stopPropagation();
      leave();
    }
  });
  box.querySelector("[data-do='link-typed']").addEventListener("click", (event) => {
    event.stopPropagation();
    linkTyped();
  });
  return box;
}

/** What the switch of a nugget is called; `nugget`: its name, "" where it has none yet. */
export function importanceOf(nugget) {
  return nugget ? `Importance of ${nugget}` : "Importance";
}

/**
 * Make the switch between vital and okay. `choose(importance, source, byArrow)` is called with 2, 1 or 0.
 * @param {{choose: (importance: number, source: string, byArrow: boolean) => void, about?: string}} options
 */
export function importanceSwitch({ choose, about }) {
  const box = copyOf("importance-template");
  box.querySelector("legend").textContent = importanceOf(about);
  choosing(box, (value, source, byArrow) => choose(Number(value ?? 0), source, byArrow));
  box.querySelector("[data-do='clear']").addEventListener("click", (event) => {
    event.stopPropagation();
    setImportance(box, 0);
    box.querySelector("input").focus();
    choose(0, "mouse", false);
  });
  return box;
}

export function importanceIn(box) {
  return Number(box.querySelector("input:checked")?.value ?? 0);
}

/** Show an importance, unless another is just being chosen. */
export function setImportance(box, importance) {
  if (setChoice(box, String(importance))) box.querySelector("[data-do='clear']").hidden = importance === 0;
}
