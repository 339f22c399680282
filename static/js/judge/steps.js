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
  store.addEventListener("undone", ({ detail }) => stepped(Object.keys(detail.before)[0], "Undone"));
  store.addEventListener("redone", ({ detail }) => stepped(Object.keys(detail.after)[0], "Done again"));
}
