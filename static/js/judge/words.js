// What the labels are called, and how they look: the same on every screen, a shape beside each. The page has them as JSON,
// from the fullest down.

/** @type {Record<string, {action: string, glyph: string, captions: Record<string, string>}>} */
const LABELS = JSON.parse(document.getElementById("desk-labels").textContent);
/** @type {Map<string, string>} what is asked about, by the key of its row */
const UNITS = new Map();

/** Take in which rows are criteria, or criteria to avoid: their labels have other captions. */
export function learnUnits(nuggets) {
  for (const { key, unit = "" } of nuggets) UNITS.set(key, unit);
}

/** What a row is, by the key of it or of one of its labels: a nugget, or a criterion of a rubric. */
export function nounOf(key) {
  return UNITS.get(key.split("/").at(-1)) ? "criterion" : "nugget";
}

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

/** What a label of a row is called, by the key of either; "no label" where there is none. */
export function wordOf(label, key = "") {
  return label ? LABELS[label].captions[UNITS.get(key.split("/").at(-1)) ?? ""] : "no label";
}

/** What a label is called within a sentence, as in "N4 can't judge". */
export function spokenOf(label, key = "") {
  return wordOf(label, key).toLowerCase();
}

/** The shape of a label: a dashed square where there is none yet. */
export function glyphOf(label) {
  return label ? LABELS[label].glyph : "▢";
}
