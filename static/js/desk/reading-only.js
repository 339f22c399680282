// Keys while this window may only read: the key that goes on takes the desk over, one that would change something says
// why it cannot, and all others work.

import { isTextField, keysOf, printed } from "./keys.js";

const LABEL = "label-"; // begins each action that gives a label or takes it away
const GOES_ON = ["next-undecided", "next-unread", "next-unjudged"]; // each stage has one of them
const EDITS = new Set([
  ...["vital", "okay", "clear", "keep", "edit", "reject", "restore", "mark", "merge", "split", "move-up", "move-down"],
  ...["new", "link", "read", "accept", "cant-judge", "place", "record"],
]);

/** Why nothing can be changed here: another window writes, or, in words of the stage's own, the task is submitted. */
export function sayReadonly(submitted) {
  if ("ended" in document.body.dataset) return "Read-only: this task was taken back";
  if ("submitted" in document.body.dataset) return submitted;
  const [key] = keysTakingOver();
  if (!key) return "Read-only: choose “Use it here” first";
  return `Read-only: press ${printed(key)} to use it here`;
}

function keysTakingOver() {
  return GOES_ON.flatMap((id) => keysOf(id));
}

/**
 * Guard the keys of a desk. `lease`: null where its task is submitted.
 * @param {Desk} desk
 */
export function guardKeys(desk, lease) {
  desk.keys.guard(({ chord, action, target }) => {
    if (desk.root.dataset.readonly === undefined) return false;
    const mayWrite = lease && desk.root.dataset.ended === undefined;
    const isFree = !isTextField(target) && !target.closest("dialog[open]");
    if (mayWrite && isFree && keysTakingOver().includes(chord)) lease.useHere();
    else if (action && (EDITS.has(action.id) || action.id.startsWith(LABEL))) desk.announce(desk.words.readonly);
    else return false;
    return true;
  });
}
