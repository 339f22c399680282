// Sentence numbers in the margin of a text that runs on: beside the line in which a sentence begins. They are drawn by
// style from an attribute, so that they are neither selected nor copied. Several that begin in one line share a mark, as S3–4.

import { make } from "../shared/make.js";

const SAME_LINE = 4; // pixels by which boxes of one line differ

const texts = new WeakMap(); // element -> {margin, sentences, first}
// All are measured before any is drawn: each mark that is put between would have the page laid out once more.
const lines = new ResizeObserver((changed) => {
  const measured = changed.map(({ target }) => [texts.get(target).margin, linesOf(target, texts.get(target))]);
  for (const [margin, marks] of measured) margin.replaceChildren(...marks.map(numberAt));
});

/** Number the sentences of `text`, elements that match `sentences`, from `first` on, whenever its lines change. */
export function numberSentences(text, sentences, first = 1) {
  if (texts.has(text)) return;
  const margin = make("span", { className: "sentence-numbers", ariaHidden: "true" });
  text.prepend(margin);
  texts.set(text, { margin, sentences, first });
  lines.observe(text);
}

function linesOf(text, { sentences, first }) {
  const top = text.getBoundingClientRect().top;
  const marks = []; // {at, height, first, last}
  text.querySelectorAll(sentences).forEach((sentence, index) => {
    const [box] = sentence.getClientRects();
    if (!box) return;
    const line = marks.at(-1);
    const name = first + index;
    if (line && Math.abs(line.at - (box.top - top)) < SAME_LINE) line.last = name;
    else marks.push({ at: box.top - top, height: box.height, first: name, last: name });
  });
  return marks;
}

function numberAt({ at, height, first, last }) {
  const mark = make("i", { dataset: { names: sentenceNames(first, last) } });
  mark.style.insetBlockStart = `${at}px`;
  mark.style.blockSize = `${height}px`;
  return mark;
}

// "S3" or "S3–4": a place's name, the same in every language.
function sentenceNames(first, last) {
  return ["S", [...new Set([first, last])].join("\u2013")].join("");
}
