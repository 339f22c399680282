// A nugget as two windows left it: what differs, how each is described, and how both can be kept.

import { plural } from "../shared/text.js";

const DECISIONS = {
  undecided: "Undecided",
  kept: "Kept",
  rejected: "Rejected",
  replaced: "Merged or split",
};
const IMPORTANCES = ["No importance", "Okay", "Vital"];

export class NuggetVersions {
  #desk;

  /** @param {NuggetDesk} desk */
  constructor(desk) {
    this.#desk = desk;
  }

  /** Whether two rows say the same, whatever their versions are. */
  same(left, right) {
    const contents = (row) => JSON.stringify([row.text, row.decision, row.importance, row.weight, row.evidence]);
    return contents(left) === contents(right);
  }

  describe(side, row) {
    side.querySelector("[data-text]").textContent = row.text;
    const count = row.evidence.length;
    const passages = `${count} ${plural(count, "passage")}`;
    const worth = row.weight === null ? IMPORTANCES[row.importance] : `Weight ${row.weight}`;
    const described = `${DECISIONS[row.decision]} · ${worth} · ${passages}`;
    side.querySelector("[data-state]").textContent = described;
  }

  /** What this window made of a row. Of a merge or a split that is the words of what came out. */
  mine(conflict, key) {
    const row = this.#desk.store.row(key) ?? conflict.rows[key];
    const made = this.#made(conflict);
    return made.length ? { ...row, text: made.map(({ text }) => text).join("\n") } : row;
  }

  /** Whether both can be kept: two wordings can stand side by side. */
  canBoth(pairs) {
    return pairs.some(({ mine, theirs }) => mine.text !== theirs.text);
  }

  /** Return what puts this window's words beside the others, as nuggets of their own. */
  both(conflict, pairs) {
    const added = this.#toAdd(conflict, pairs);
    return () => {
      const { store } = this.#desk;
      for (const { after, text, importance, weight, evidence } of added) {
        const place = store.row(after) ? after : null;
        const weighed = (weight ?? null) === null ? {} : { weight };
        const made = { key: crypto.randomUUID(), text, importance, ...weighed, evidence, after: place };
        store.do("add", made, { source: "mouse" });
      }
    };
  }

  #toAdd(conflict, pairs) {
    const made = this.#made(conflict);
    if (made.length) return made.map((row) => ({ ...row, after: conflict.keys[0] }));
    const worded = pairs.filter(({ mine, theirs }) => mine.text !== theirs.text);
    return worded.map(({ key, mine }) => ({ ...mine, after: key }));
  }

  /** The nuggets that a merge or split in question made here, as they are worded by now. */
  #made({ op }) {
    const parts = { merge: [op.payload], split: op.payload.into }[op.kind] ?? [];
    return parts.map((part) => this.#desk.store.row(part.key) ?? part);
  }
}
