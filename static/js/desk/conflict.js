// Two windows changed the same nugget. Nobody's words win silently: both stand side by side, and the assessor decides.

const DECISIONS = { undecided: "Undecided", kept: "Kept", rejected: "Rejected", replaced: "Merged or split" };
const IMPORTANCES = ["No importance", "Okay", "Vital"];

/** Whether two rows say the same, whatever their versions are. */
function same(one, other) {
  const said = (row) => JSON.stringify([row.text, row.decision, row.importance, row.evidence]);
  return said(one) === said(other);
}

function describe(side, row) {
  side.querySelector("[data-text]").textContent = row.text;
  const passages = row.evidence.length === 1 ? "1 passage" : `${row.evidence.length} passages`;
  const said = `${DECISIONS[row.decision]} · ${IMPORTANCES[row.importance]} · ${passages}`;
  side.querySelector("[data-state]").textContent = said;
}

class Conflict {
  #desk;
  #dialog;
  #pairs = []; // [{key, mine, theirs}]

  constructor(desk, dialog) {
    this.#desk = desk;
    this.#dialog = dialog;
    for (const choice of ["mine", "theirs", "both"]) {
      dialog.querySelector(`[data-act=${choice}]`).addEventListener("click", () => this.#resolve(choice));
    }
    dialog.querySelector("[data-act=later]").addEventListener("click", () => dialog.close());
    desk.save.addEventListener("conflict", () => this.show());
    desk.save.addEventListener("reload", ({ detail }) => this.#build(detail.state));
    desk.save.addEventListener("rewritten", () => desk.save.reload());
    if (desk.save.conflict()) this.show();
  }

  /** Build the rows anew: as the server has them, then what still waits. */
  #build(state) {
    this.#desk.store.load(state);
    for (const op of this.#desk.save.pending()) {
      try {
        this.#desk.store.replay(op);
      } catch {
        // It is about a row that is gone by now; the server's receipt says what becomes of it.
      }
    }
  }

  show() {
    const conflict = this.#desk.save.conflict();
    if (!conflict || this.#dialog.open) return;
    this.#pairs = conflict.keys.map((key) => ({ key, mine: this.#mine(conflict, key), theirs: conflict.rows[key] }));
    if (this.#pairs.every(({ mine, theirs }) => same(mine, theirs))) {
      this.#desk.save.resolve("theirs", { quietly: true }); // the same on both sides: nothing to choose
      return;
    }
    this.#dialog.querySelector("[data-pairs]").replaceChildren(...this.#pairs.map((pair) => this.#render(pair)));
    const worded = this.#pairs.some(({ mine, theirs }) => mine.text !== theirs.text);
    this.#dialog.querySelector("[data-act=both]").hidden = !worded;
    this.#dialog.showModal();
    this.#desk.announce("A nugget was changed in another window as well. Choose which text to keep.", { keep: true });
  }

  /** What this window made of a row. Of a merge or a split that is the words of what came out. */
  #mine(conflict, key) {
    const row = this.#desk.store.row(key) ?? conflict.rows[key];
    const made = this.#made(conflict);
    return made.length ? { ...row, text: made.map((one) => one.text).join("\n") } : row;
  }

  /** The nuggets that a merge or split in question made here, as they are worded by now. */
  #made({ op }) {
    const parts = { merge: [op.payload], split: op.payload.into }[op.kind] ?? [];
    return parts.map((part) => this.#desk.store.row(part.key) ?? part);
  }

  #render({ mine, theirs }) {
    const pair = document.getElementById("conflict-pair").content.firstElementChild.cloneNode(true);
    describe(pair.querySelector("[data-side=mine]"), mine);
    describe(pair.querySelector("[data-side=theirs]"), theirs);
    return pair;
  }

  async #resolve(choice) {
    const { save, store } = this.#desk;
    const added = choice === "both" ? this.#toAdd(save.conflict()) : [];
    this.#dialog.close();
    await save.resolve(choice === "mine" ? "mine" : "theirs", { quietly: choice === "both" });
    for (const { after, text, importance, evidence } of added) {
      const place = store.row(after) ? after : null;
      store.do("add", { key: crypto.randomUUID(), text, importance, evidence, after: place }, { source: "mouse" });
    }
    const said = { mine: "Your version is kept.", theirs: "The other version is kept.", both: "Both are kept." };
    this.#desk.announce(said[choice]);
  }

  /** This window's words, to be put beside the others as nuggets of their own. */
  #toAdd(conflict) {
    const made = this.#made(conflict);
    if (made.length) return made.map((one) => ({ ...one, after: conflict.keys[0] }));
    const worded = this.#pairs.filter(({ mine, theirs }) => mine.text !== theirs.text);
    return worded.map(({ key, mine }) => ({ ...mine, after: key }));
  }
}

/** Ask about conflicts, and keep the rows right after them. */
export function setup(desk) {
  desk.conflict = new Conflict(desk, document.getElementById("conflict"));
}
