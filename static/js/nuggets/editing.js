// Rewording a nugget where it stands. The text becomes operations 800 ms after the last key, when the field is left,
// and every 10 s of typing; what was typed since is kept beside the outbox, so that not even a crash takes it.
// The operations of one stretch of typing share a step: one undo takes them all back.

import { trimmed } from "../shared/text.js";

const PAUSE_MS = 800;
const LONGEST_MS = 10_000;

/** Fields that grow with their text, in browsers that cannot do it by style. */
export function grow(field) {
  if (globalThis.CSS?.supports("field-sizing", "content")) return;
  field.style.blockSize = "auto";
  field.style.blockSize = `${field.scrollHeight + 2}px`;
}

/** Calls `save` 800 ms after the last key and at least every 10 s of typing, but never amid composing a character. */
export class Autosave {
  #save;
  #pause = 0;
  #longest = 0;
  composing = false;

  constructor(field, save) {
    this.#save = save;
    field.addEventListener("compositionstart", () => (this.composing = true));
    field.addEventListener("compositionend", () => {
      this.composing = false;
      this.typed();
    });
    field.addEventListener("blur", () => this.now());
  }

  typed() {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.now(), PAUSE_MS);
    this.#longest ||= setTimeout(() => this.now(), LONGEST_MS);
  }

  now() {
    this.stop();
    if (this.composing) return this.typed();
    return this.#save();
  }

  stop() {
    clearTimeout(this.#pause);
    clearTimeout(this.#longest);
    this.#pause = this.#longest = 0;
  }
}

export class Editor {
  #desk;
  #item;
  #key;
  #field;
  #autosave;
  #step = crypto.randomUUID();
  #sent;
  #onClose;

  /**
   * Open a field in the row `item`. `onClose(wasChanged)` is called when it is left.
   * @param {NuggetDesk} desk
   */
  constructor(desk, item, key, { text, onClose }) {
    this.#desk = desk;
    this.#item = item;
    this.#key = key;
    this.#sent = desk.store.row(key).text;
    this.before = this.#sent;
    this.#onClose = onClose;
    this.#field = this.#makeField(text ?? this.#sent);
    this.#autosave = new Autosave(this.#field, () => this.settle());
    item.classList.add("is-editing");
    item.querySelector(".row-text").after(this.#field);
    if (text !== undefined && text !== this.#sent) this.#autosave.typed();
  }

  #makeField(text) {
    const field = document.createElement("textarea");
    field.className = "row-field";
    field.rows = 2;
    field.dir = "auto";
    field.maxLength = 2000;
    field.value = text;
    field.dataset.keys = "editor";
    const nugget = this.#item.querySelector(".row-number").textContent;
    field.setAttribute("aria-label", `Text of ${nugget}`);
    field.addEventListener("input", () => this.#typed());
    field.addEventListener("keydown", (event) => this.#keyed(event));
    return field;
  }

  get hasFocus() {
    return document.activeElement === this.#field;
  }

  /** Whether something was typed that is no operation yet. */
  get isDirty() {
    return trimmed(this.#field.value) !== this.#sent;
  }

  focus() {
    this.#field.focus();
    grow(this.#field);
    this.#field.setSelectionRange(this.#field.value.length, this.#field.value.length);
  }

  #typed() {
    grow(this.#field);
    this.#desk.save.keepText(`edit:${this.#key}`, { text: this.#field.value, base: this.#sent });
    this.#autosave.typed();
  }

  #keyed(event) {
    if (event.isComposing || this.#autosave.composing) return;
    if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      event.stopPropagation();
      this.close();
    }
  }

  /** Make an operation of what was typed. An empty field is not one: a nugget needs a text. */
  settle() {
    const text = trimmed(this.#field.value);
    const { store, save } = this.#desk;
    if (!text || !store.row(this.#key)) return;
    if (text !== this.#sent) {
      this.#sent = text;
      store.do("edit", { key: this.#key, text }, { source: "text", step: this.#step });
    }
    save.keepText(`edit:${this.#key}`, null);
  }

  /** Show a text that came from elsewhere, unless that would touch what is being typed. */
  refresh(text) {
    if (text === this.#sent || this.hasFocus || this.isDirty) return;
    this.#sent = this.#field.value = text;
    grow(this.#field);
  }

  /** Leave the field; the text stays. */
  close() {
    const wasEmpty = !trimmed(this.#field.value);
    this.#autosave.composing = false;
    this.settle();
    this.#autosave.stop();
    if (wasEmpty) this.#desk.save.keepText(`edit:${this.#key}`, null);
    this.#item.classList.remove("is-editing");
    const changed = this.#sent !== this.before;
    const hadFocus = this.hasFocus;
    this.#onClose({ changed, wasEmpty, hadFocus });
    this.#field.remove();
  }
}
