// What a page had not sent when it was left, written down at once for the next page of this tab: what goes to IndexedDB
// from a page that closes may come too late, and then the next page would find an older beginning of a text.

const keyOf = (user, task) => `parting ${user} ${task}`;

/** Note the operations without a receipt, and the texts that are no operations yet. */
export function part(user, task, ops, texts) {
  try {
    sessionStorage.setItem(keyOf(user, task), JSON.stringify({ at: Date.now(), ops, texts }));
  } catch {
    // Without storage there is what IndexedDB has.
  }
}

/** Return what was noted last, once: {at, ops, texts}, or null. */
export function parted(user, task) {
  try {
    const noted = JSON.parse(sessionStorage.getItem(keyOf(user, task)));
    sessionStorage.removeItem(keyOf(user, task));
    return noted;
  } catch {
    return null;
  }
}
