// Which character a key stands for, on keyboards of any alphabet.

import { digitOf } from "./text.js";

const MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const NUMERAL = /^\p{Nd}$/u;
const FULL_WIDTH = /^[！-～]$/u; // of a Japanese input method
const ASCII = /^[ -~]/;
const LATIN = /^\p{Script=Latin}/u;
const PLACES = { BracketLeft: "[", BracketRight: "]", Slash: "/" };

/** What was typed and, where that is no ASCII character, the one meant by its value or by its place on the keyboard. */
export function charactersOf(event) {
  const { key } = event;
  const meant = event.getModifierState("AltGraph") ? null : (byValue(key) ?? byPlace(event));
  return meant && meant !== key ? [key, meant] : [key];
}

function byValue(key) {
  if (ASCII.test(key)) return null;
  if (NUMERAL.test(key)) return digitOf(key);
  if (key === "؟") return "?";
  return FULL_WIDTH.test(key) ? String.fromCodePoint(key.codePointAt(0) - 0xfee0) : null;
}

// Digits are printed on their keys, also on French and Czech ones. A letter of a Latin keyboard stands for itself: its
// place is that of another letter elsewhere, and the US letter of that place is a key of its own.
function byPlace({ key, code, shiftKey, altKey }) {
  const isForeign = !ASCII.test(key);
  const digit = /^Digit(\d)$/.exec(code)?.[1];
  if (digit) return !shiftKey && (isForeign || (altKey && !MAC)) ? digit : null;
  if (altKey || LATIN.test(key)) return null;
  const letter = /^Key([A-Z])$/.exec(code)?.[1];
  if (letter) return isForeign ? letter.toLowerCase() : null;
  // Cyrillic and Hebrew keyboards have a full stop on the slash.
  return !shiftKey && (isForeign || (key === "." && code === "Slash")) ? (PLACES[code] ?? null) : null;
}
