// Undo and redo, whoever asked for them: the page goes to what was taken back or done again, and says how it is now.

import { labelText } from "./choices.js";
import { within } from "./place-names.js";

/** Let `work` show what an undo or redo was about, and say how it is now. */
export function followSteps({ store, work, progress, announce }) {
  const stepped = (key, text) => {
    if (!work.focus(key)) work.focusFirst();
    work.stepped?.(key);
    const name = within(progress.answer(progress.answerByKey.get(key))?.number, work.shortName(key));
    // After whoever pressed the button has spoken, so that it is the label that is named.
    queueMicrotask(() => announce(`${text}: ${name}, ${labelText(store.row(key))}`));
  };
  let known = sizes(store);
  store.addEventListener("change", ({ detail }) => {
    if (detail.cause === "reload") known = null;
  });
  store.addEventListener("stacks", () => {
    const before = known;
    known = sizes(store);
    if (!before) return;
    const undone = known.redo > before.redo ? store.redoStack.at(-1) : null;
    const redone = known.redo < before.redo && known.undo > before.undo ? store.undoStack.at(-1) : null;
    if (undone) stepped(Object.keys(undone.before)[0], "Undone");
    else if (redone && redone.step === before.top) stepped(Object.keys(redone.after)[0], "Done again");
  });
}

function sizes({ undoStack, redoStack }) {
  return { undo: undoStack.length, redo: redoStack.length, top: redoStack.at(-1)?.step ?? null };
}
