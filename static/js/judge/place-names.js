// What answers and their sentences are called on the judging desks, and what is said of a place in an answer.

import { keysOf, printed } from "../desk/keys.js";
import { UNIT } from "./words.js";

/** "Answer 18". */
export function answerName(number) {
  return `${UNIT} ${number}`;
}

/** "Answer 18, S4": something within an answer. */
export function within(number, name) {
  return `${answerName(number)}, ${name}`;
}

/** What a remark is about where it is about something of an answer: a sentence, the answer itself, or "" for neither. */
export function placeInAnswer(element, number) {
  const sentence = element?.closest?.("[data-index]");
  if (sentence) return within(number, `S${Number(sentence.dataset.index) + 1}`);
  return element?.closest?.("#answer") ? answerName(number) : "";
}

/** What is said of a sentence that was recorded for a nugget, or with null taken away; `waits`: for the nugget's label. */
export function recorded(name, sentence, { waits = false } = {}) {
  if (sentence === null) return `${name} without a sentence`;
  const place = `${name} in S${sentence + 1}`;
  return waits ? `${place}, once it has a label` : place;
}

/** What is wrong with a sentence that was typed and is not there. */
export function noSentence(typed, last) {
  return `There is no sentence ${typed}. Type a number from 1 to ${last}.`;
}

/** Said where a key asks for a row and the answer has none. */
export function nothingHere() {
  return `There is nothing to judge in this ${UNIT.toLowerCase()}`;
}

/** Said where a label key would change the label that left nothing to go on to: it is one key too many. */
export function labelledAlready(name) {
  const [clear = keysOf("grade-clear")[0], finish] = ["label-clear", "finish"].map((id) => keysOf(id)[0]);
  const ways = [clear && `${printed(clear)} clears it`, finish && `${printed(finish)} goes on`].filter(Boolean);
  return [`${name} has its label`, ways.join(", ")].filter(Boolean).join(": ");
}

/** Said where a label is to be cleared and there is none. */
export function nothingToClear(name) {
  return `${name} has no label to clear`;
}
