// Shows what became of a proposal's wording, word by word. Kept apart from the rows so that it can be tested alone.

import { make } from "../shared/make.js";

const LONGEST = 1200; // words; above this a comparison would stall the page, so the whole text counts as changed

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/** Return the words and signs of a text, each with the white space that follows it. Works without spaces too. */
export function wordsOf(text) {
  const words = [];
  for (const { segment: piece } of segmenter.segment(text)) {
    if (words.length && /^\s+$/u.test(piece)) words[words.length - 1] += piece;
    else words.push(piece);
  }
  return words;
}

/** Return the way from one text to another as [{kind: "same" | "del" | "ins", text}], deletions first. */
export function wordDiff(before, after) {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  if (old.length > LONGEST || now.length > LONGEST) {
    return before === after ? joined([["same", after]]) : joined([["del", before], ["ins", after]]);
  }
  return joined(walk(old, now, commonLengths(old, now)));
}

/** Fill an element with a diff. Words for ears stand beside the marks for eyes. */
export function drawDiff(element, before, after) {
  element.replaceChildren(
    ...wordDiff(before, after).map(({ kind, text }) => {
      if (kind === "same") return text;
      return make(kind, {}, hidden(kind === "ins" ? "added:" : "removed:"), text, hidden("end."));
    }),
  );
}

function hidden(text) {
  return make("span", { className: "visually-hidden" }, ` ${text} `);
}

const same = (line, other) => line.trim() === other.trim();

// lengths[i][j]: how many words the rest of `old` from i and the rest of `now` from j have in common, in order.
function commonLengths(old, now) {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      lengths[i][j] = same(old[i], now[j])
        ? lengths[i + 1][j + 1] + 1
        : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}

function walk(old, now, lengths) {
  const steps = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && same(old[i], now[j])) {
      steps.push(["same", now[j]]);
      [i, j] = [i + 1, j + 1];
    } else if (i < old.length && (j === now.length || lengths[i + 1][j] >= lengths[i][j + 1])) {
      steps.push(["del", old[i++]]);
    } else {
      steps.push(["ins", now[j++]]);
    }
  }
  return steps;
}

function joined(steps) {
  const parts = [];
  let changed = { del: "", ins: "" };
  const flush = () => {
    for (const kind of ["del", "ins"]) if (changed[kind]) parts.push({ kind, text: changed[kind] });
    changed = { del: "", ins: "" };
  };
  for (const [kind, text] of steps) {
    if (kind !== "same") {
      changed[kind] += text;
      continue;
    }
    flush();
    if (parts.at(-1)?.kind === "same") parts.at(-1).text += text;
    else parts.push({ kind, text });
  }
  flush();
  return parts;
}
