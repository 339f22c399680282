// What answers and their sentences are called on the judging desks, and what is said of a place in an answer.

import { gettext, interpolate } from "../gettext.js";

/** "Answer 18". */
export function answerName(number) {
  return interpolate(gettext("Answer %(number)s"), { number });
}

/** "Answer 18, S4": something within an answer. */
export function within(number, name) {
  return interpolate(gettext("Answer %(number)s, %(name)s"), { number, name });
}

/** What a remark is about where it is about something of an answer: a sentence, the answer itself, or "" for neither. */
export function placeInAnswer(element, number) {
  const sentence = element?.closest?.("[data-index]");
  if (sentence) return within(number, `S${Number(sentence.dataset.index) + 1}`);
  return element?.closest?.("#answer") ? answerName(number) : "";
}

/** What is said of a sentence that was recorded for a nugget, or with null taken away; `waits`: for the nugget's label. */
export function recorded(name, sentence, { waits = false } = {}) {
  const place = `S${sentence + 1}`;
  if (sentence !== null) {
    return interpolate(waits ? gettext("%(name)s in %(place)s, once it has a label") : gettext("%(name)s in %(place)s"), { name, place });
  }
  const without = gettext("%(name)s without a sentence");
  return interpolate(waits ? gettext("%(name)s without a sentence, once it has a label") : without, { name });
}

/** What is wrong with a sentence that was typed and is not there. */
export function noSentence(typed, last) {
  const text = gettext("There is no sentence %(typed)s. Type a number from 1 to %(last)s.");
  return interpolate(text, { typed, last });
}

/** Said where a key asks for a row and the answer has none. */
export function nothingHere() {
  return gettext("There is nothing to judge in this answer");
}

/** Said where a label is to be cleared and there is none. */
export function nothingToClear(name) {
  return interpolate(gettext("%(name)s has no label to clear"), { name });
}
