// Practice at this desk: what is known of an item is shown and said once the server has one's own label of it. The header
// has the question where it has the topic of a task.

import { put } from "../shared/text.js";
import { glyphOf, spokenOf, wordOf } from "./words.js";

const told = new Map(); // key -> the row that told it: a label that is done again comes without

/** Show what is known of a row or pair; nowhere but in practice is there a place for it. */
export function drawKnown(element, row) {
  const part = element.querySelector(".known-label");
  if (!part) return;
  if (row?.known) told.set(row.key, row);
  const { known = null, explanation = "" } = (row?.label && told.get(row.key)) || {};
  part.hidden = !known;
  put(part, "[data-known]", known ? `Known label: ${glyphOf(known)} ${wordOf(known)}, ${agrees(row.label, known)}` : "");
  put(part, "[data-explanation]", explanation);
}

function agrees(label, known) {
  return label === known ? "as yours" : "other than yours";
}

/**
 * Let a desk be one of practice.
 * @param {JudgingDesk} desk
 */
export function practise({ answers, store, work, announce }) {
  const question = document.querySelector(".desk-topic bdi");
  answers.addEventListener("answer", () => (question.textContent = answers.answer.question));
  store.addEventListener("change", ({ detail }) => {
    if (detail.cause !== "receipt") return;
    const rows = detail.keys.map((key) => store.row(key)).filter((row) => row?.label && row.known);
    for (const row of rows) {
      if (row.key === work.current) work.item(row.key).querySelector(".known-label").scrollIntoView({ block: "nearest" });
      const said = `${work.name(row.key)}: known label ${spokenOf(row.known)}, ${agrees(row.label, row.known)}. ${row.explanation}`;
      announce(said, { shown: false });
    }
  });
}
