// What the labels are called, and how they look: the same on every screen, a shape beside each. The page has them as JSON,
// from the fullest down.

/** @type {Record<string, {action: string, glyph: string, caption: string}>} */
const LABELS = JSON.parse(document.getElementById("desk-labels").textContent);

/** What is read on the left, one at a time. */
export const UNIT = document.body.dataset.unit ?? "Answer";

export const CANT_JUDGE = "cant_judge";

/** Words of the labels that need no reason, and the actions that give them. */
export function labelActions() {
  return Object.entries(LABELS).filter(([word]) => word !== CANT_JUDGE).map(([word, { action }]) => [word, action]);
}

/** The words of all labels, in the order of the desk. */
export function labelWords() {
  return Object.keys(LABELS);
}

/** What a label is called; "no label" where there is none. */
export function wordOf(label) {
  return label ? LABELS[label].caption : "no label";
}

/** What a label is called within a sentence, as in "N4 can't judge". */
export function spokenOf(label) {
  return wordOf(label).toLowerCase();
}

/** The shape of a label: a dashed square where there is none yet. */
export function glyphOf(label) {
  return label ? LABELS[label].glyph : "▢";
}
