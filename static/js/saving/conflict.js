// Two windows changed the same thing. Nobody's version wins silently: both stand side by side, and the assessor decides.

import { copyOf } from "../shared/template.js";

export class Conflict {
  #desk;
  #dialog = /** @type {HTMLDialogElement} */ (document.getElementById("conflict"));
  #pairs = []; // [{key, mine, theirs}]

  /** @param {Desk} desk */
  constructor(desk) {
    this.#desk = desk;
    for (const choice of ["mine", "theirs", "both"]) {
      this.#dialog.querySelector(`[data-act=${choice}]`).addEventListener("click", () => this.#resolve(choice));
    }
    this.#dialog.querySelector("[data-act=later]").addEventListener("click", () => this.#dialog.close());
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
    const { save, versions, words, announce } = this.#desk;
    const conflict = save.conflict();
    if (!conflict || this.#dialog.open) return;
    this.#pairs = conflict.keys.map((key) => ({ key, mine: versions.mine(conflict, key), theirs: conflict.rows[key] }));
    if (this.#pairs.every(({ mine, theirs }) => versions.same(mine, theirs))) {
      save.resolve("theirs", { quietly: true }); // the same on both sides: nothing to choose
      return;
    }
    this.#dialog.querySelector("[data-pairs]").replaceChildren(...this.#pairs.map((pair) => this.#render(pair)));
    this.#dialog.querySelector("[data-act=both]").hidden = !versions.canBoth(this.#pairs);
    this.#dialog.showModal();
    announce(`${words.conflict} ${words.choose}`, { keep: true });
  }

  #render({ mine, theirs }) {
    const pair = copyOf("conflict-pair");
    this.#desk.versions.describe(pair.querySelector("[data-side=mine]"), mine);
    this.#desk.versions.describe(pair.querySelector("[data-side=theirs]"), theirs);
    return pair;
  }

  async #resolve(choice) {
    const { save, versions, announce } = this.#desk;
    const addBoth = choice === "both" ? versions.both(save.conflict(), this.#pairs) : null;
    this.#dialog.close();
    await save.resolve(choice === "mine" ? "mine" : "theirs", { quietly: choice === "both" });
    addBoth?.();
    const notices = {
      mine: "Your version is kept.",
      theirs: "The other version is kept.",
      both: "Both are kept.",
    };
    announce(notices[choice]);
  }
}
