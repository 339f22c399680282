// What the labels are called, and how they look: the same three words on every screen, a shape beside each.

import { gettext, pgettext } from "../gettext.js";

const SHAPES = [
  { id: "full", glyph: "●" },
  { id: "partial", glyph: "◐" },
  { id: "none", glyph: "○" },
];
const LABELS = {
  assign: ["support", "partial_support", "not_support"],
  support: ["full_support", "partial_support", "no_support"],
};
const WORDS = {
  support: pgettext("a label", "Support"),
  partial_support: pgettext("a label", "Partial"),
  not_support: pgettext("a label", "Not"),
  full_support: pgettext("a label", "Full"),
  no_support: pgettext("a label", "None"),
  cant_judge: pgettext("a label", "Can't judge"),
};
const WITHIN_SENTENCES = {
  support: pgettext("a label, within a sentence", "support"),
  partial_support: pgettext("a label, within a sentence", "partial"),
  not_support: pgettext("a label, within a sentence", "not"),
  full_support: pgettext("a label, within a sentence", "full"),
  no_support: pgettext("a label, within a sentence", "none"),
  cant_judge: pgettext("a label, within a sentence", "can't judge"),
};
export const CANT_JUDGE = "cant_judge";

/** The three labels of a stage, from the fullest: {value, id, glyph}. */
export function labelsOf(stage) {
  const values = LABELS[stage === "assign" ? "assign" : "support"];
  return values.map((value, index) => ({ value, ...SHAPES[index] }));
}

/** What a label is called; "no label" where there is none. */
export function wordOf(label) {
  return label ? WORDS[label] : gettext("no label");
}

/** What a label is called within a sentence, as in "N4 can't judge". */
export function spokenOf(label) {
  return label ? WITHIN_SENTENCES[label] : gettext("no label");
}

/** The shape of a label: a dashed square where there is none yet. */
export function glyphOf(label) {
  if (!label) return "▢";
  if (label === CANT_JUDGE) return "⊘";
  return SHAPES[Object.values(LABELS).map((values) => values.indexOf(label)).find((index) => index >= 0)].glyph;
}
