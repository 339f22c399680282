// What has not reached the server, to read, to download and to load again: the last resort against losing work.

import { make } from "../shared/make.js";
import { plural } from "../shared/text.js";
import { LABELS } from "./rules.js";

const KINDS = {
  ...LABELS,
  mark: "Passage mark",
  compose: "Text in the composer",
  undo: "Undo",
  redo: "Redo",
  search: "Search words",
  label: "Label",
  locate: "Place in the answer",
  open: "Answer seen",
  sweep: "Consistency check begun",
};

/** Return what a person typed in an operation or a kept text, wherever in it the words stand. */
function wordsOf(value) {
  if (typeof value === "string") return value;
  const found = [];
  JSON.stringify(value ?? null, (name, text) => {
    if (typeof text !== "string" || !text) return text;
    if (["text", "words", "reason"].includes(name)) found.push(text);
    if (["decision", "mark"].includes(name)) found.push(text); // as rows and passages show it
    return text;
  });
  return found.join(" / ");
}

function item(label, words, reason = "") {
  return make("li", {}, make("b", {}, label), words ? `: ${words}` : "", reason ? ` (${reason})` : "");
}

/** The dialog opens from everything marked `data-unsent`. */
export class Unsent {
  #desk;
  #dialog = /** @type {HTMLDialogElement} */ (document.getElementById("unsent"));

  /** @param {Desk} desk */
  constructor(desk) {
    const dialog = this.#dialog;
    this.#desk = desk;
    const acts = { download: () => desk.save.download(), close: () => dialog.close(), forget: () => this.#forget() };
    for (const [name, act] of Object.entries(acts)) {
      dialog.querySelector(`[data-act=${name}]`).addEventListener("click", act);
    }
    dialog.querySelector("input[type=file]").addEventListener("change", ({ target }) => this.#load(target));
    document.addEventListener("click", ({ target }) => target.closest("[data-unsent]") && this.open());
    desk.save.addEventListener("state", () => dialog.open && this.#render());
  }

  open() {
    this.#say("");
    this.#render();
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  #render() {
    const { save } = this.#desk;
    const told = (op) => this.#desk.words.told?.(op) ?? wordsOf(op.payload);
    const waiting = save.pending().map((op) => item(KINDS[op.kind], told(op)));
    const typed = Object.values(save.keptTexts()).map((value) => item("Being typed", wordsOf(value)));
    const aside = save.setAside().map(({ op, reason }) => item(KINDS[op.kind], told(op), reason));
    this.#fill("waiting", [...waiting, ...typed]);
    this.#fill("aside", aside);
  }

  #fill(name, items) {
    const part = this.#dialog.querySelector(`[data-list=${name}]`);
    part.hidden = items.length === 0 && name === "aside";
    part.querySelector("ol").replaceChildren(...items);
    const none = part.querySelector("[data-none]");
    if (none) none.hidden = items.length > 0;
  }

  #say(text) {
    this.#dialog.querySelector("[data-says]").textContent = text;
  }

  #forget() {
    this.#desk.save.forgetAside();
    this.#render();
  }

  async #load(input) {
    const [file] = input.files;
    if (!file) return;
    this.#say(await this.#take(await file.text()));
    input.value = "";
    this.#render();
  }

  /** Send a copy's operations through the outbox; the server knows those that it has. Returns what to say. */
  async #take(text) {
    const { save } = this.#desk;
    let copy = null;
    try {
      copy = JSON.parse(text);
    } catch {
      // told below
    }
    if (copy?.format !== "assay-unsent-changes" || !Array.isArray(copy.ops)) {
      return "This file is not a downloaded copy.";
    }
    if (copy.user !== save.user) return "This copy belongs to another account.";
    if (copy.task !== save.task) {
      return "This copy belongs to another task. Open that task, then load it there.";
    }
    const kept = save.keptTexts();
    for (const [slot, value] of Object.entries(copy.texts ?? {})) if (!(slot in kept)) save.keepText(slot, value);
    const taken = save.load([...copy.ops, ...(copy.aside ?? []).map(({ op }) => op)]);
    return `${taken} ${plural(taken, "change was loaded and is", "changes were loaded and are")} being saved.`;
  }
}
