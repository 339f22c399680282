// Words that depend on a number, names in a row, texts without what nobody sees at their edges, and their place in a page.

// The same as UNSEEN of web/text.py.
const UNSEEN = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff0-\ufffb]$/u;
const SHAPED = /^[\p{So}\p{Sm}\p{Lo}]$/u;
const SHAPING = /^[\p{Variation_Selector}\u{e0020}-\u{e007f}]$/u;

/** A text as it is kept: empty where there is nothing to see. The same as `trimmed` of web/text.py. */
export function trimmed(text) {
  const signs = [...text];
  let start = 0;
  let end = signs.length;
  while (start < end && UNSEEN.test(signs[start])) start += 1;
  while (end > start && UNSEEN.test(signs[end - 1])) end -= 1;
  if (end > start && SHAPED.test(signs[end - 1])) while (SHAPING.test(signs[end] ?? "")) end += 1;
  return signs.slice(start, end).join("");
}

/** "change" for 1 and "changes" for any other number; `many` where an s is not enough. */
export function plural(number, one, many = `${one}s`) {
  return number === 1 ? one : many;
}

/** "Nugget" for "nugget". */
export function capitalized(word) {
  return word[0].toUpperCase() + word.slice(1);
}

/** Names one after the other, as a sentence has them: "N4, N5 and N6". */
export function together(names) {
  return new Intl.ListFormat(document.documentElement.lang).format(names);
}

const NUMERAL = /\p{Nd}/u;

/** The value of a decimal digit of any script: "3" for "٣". */
export function digitOf(character) {
  const at = character.codePointAt(0);
  let before = 0; // the digits of a script stand in a row, from zero
  while (NUMERAL.test(String.fromCodePoint(at - before - 1))) before += 1;
  return String(before % 10);
}

/** A text with the digits of all scripts as ASCII ones. */
export function withDigits(text) {
  return text.replace(/\p{Nd}/gu, digitOf);
}

/** Set the text of the first part that a selector names, where it differs. */
export function put(within, selector, text) {
  const element = within.querySelector(selector);
  if (element.textContent !== text) element.textContent = text;
}
