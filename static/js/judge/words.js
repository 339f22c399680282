// What the labels are called, and how they look: the same three words on every screen, a shape beside each.

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
  support: "Support",
  partial_support: "Partial",
  not_support: "Not",
  full_support: "Full",
  no_support: "None",
  cant_judge: "Can't judge",
};
const WITHIN_SENTENCES = {
  support: "support",
  partial_support: "partial",
  not_support: "not",
  full_support: "full",
  no_support: "none",
  cant_judge: "can't judge",
};
export const CANT_JUDGE = "cant_judge";

/** The three labels of a stage, from the fullest: {value, id, glyph}. */
export function labelsOf(stage) {
  const values = LABELS[stage === "assign" ? "assign" : "support"];
  return values.map((value, index) => ({ value, ...SHAPES[index] }));
}

/** What a label is called; "no label" where there is none. */
export function wordOf(label) {
  return label ? WORDS[label] : "no label";
}

/** What a label is called within a sentence, as in "N4 can't judge". */
export function spokenOf(label) {
  return label ? WITHIN_SENTENCES[label] : "no label";
}

/** The shape of a label: a dashed square where there is none yet. */
export function glyphOf(label) {
  if (!label) return "▢";
  if (label === CANT_JUDGE) return "⊘";
  return SHAPES[Object.values(LABELS).map((values) => values.indexOf(label)).find((index) => index >= 0)].glyph;
}
