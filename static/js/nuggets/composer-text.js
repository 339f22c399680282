// One text of a composer: its field, its importance and its evidence.

import { sameEvidence } from "../desk/rules.js";
import { copyOf } from "../shared/template.js";
import { trimmed } from "../shared/text.js";
import { drawChips, importanceIn, importanceSwitch, linkBox, pairOf, setImportance } from "./chips.js";
import { Autosave, grow } from "./editing.js";
import { drawWeight, openWeight, weightBox } from "./weight.js";

let count = 0;

export class ComposerText {
  #weightBox;

  constructor(composer, { text = "", importance = 0, evidence = [], weight = null }) {
    this.composer = composer;
    this.evidence = evidence;
    this.weight = weight;
    this.element = copyOf("part-template");
    this.field = this.element.querySelector("textarea");
    this.field.id = `part-${(count += 1)}`;
    this.label.htmlFor = this.field.id;
    this.field.value = text;
    this.switch = importanceSwitch({ choose: (chosen) => this.#choose(chosen) });
    setImportance(this.switch, importance);
    this.#weightBox = weightBox({
      take: (typed) => this.#weigh(typed),
      enter: () => composer.entered(this, { weighed: true }),
      leave: () => this.field.focus(),
      refuse: (problem) => composer.say(problem),
    });
    this.element.querySelector(".part-importance").append(this.#weightBox, this.switch);
    this.element.querySelector(".part-link").append(linkBox({ link: (pair) => this.link(pair) }));
    this.autosave = new Autosave(this.field, () => composer.keep());
    this.#listen();
    this.#draw();
  }

  get label() {
    return this.element.querySelector(".part-label");
  }

  get text() {
    return trimmed(this.field.value);
  }

  get value() {
    const weighed = this.weight === null ? {} : { weight: this.weight };
    return { text: this.field.value, importance: importanceIn(this.switch), evidence: this.evidence, ...weighed };
  }

  #listen() {
    this.field.addEventListener("input", () => {
      grow(this.field);
      this.composer.typed();
      this.autosave.typed();
    });
    this.field.addEventListener("keydown", (event) => this.#keyed(event));
    this.element.querySelector(".chips").addEventListener("click", (event) => {
      const chip = event.target.closest(".chip");
      if (event.target.closest("[data-do='unlink']")) this.unlink(pairOf(chip));
      if (event.target.closest("[data-do='go-chip']")) this.composer.goTo(pairOf(chip));
    });
  }

  // Enter that ends the composing of a character (Chinese, Japanese, Korean) adds nothing.
  #keyed(event) {
    if (event.isComposing || this.autosave.composing || event.keyCode === 229) return;
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.composer.entered(this);
  }

  #choose(importance) {
    this.importance = importance;
    this.composer.keep();
  }

  #weigh(weight) {
    if (weight !== undefined) this.weight = weight;
    this.draw();
    if (weight !== undefined) this.composer.keep();
  }

  /** Ask for the weight: at once, by its key, or in a rubric after the text. */
  openWeight() {
    openWeight(this.#weightBox);
  }

  /** Show the weight where the list has weights. */
  draw() {
    drawWeight(this.#weightBox, this.weight, { isRubric: this.composer.isRubric || this.weight !== null });
  }

  set importance(importance) {
    setImportance(this.switch, importance);
  }

  /** Put a text in place of all that stands here. */
  replace(text) {
    this.select();
    this.#put(text);
  }

  link(pair) {
    if (!this.evidence.some((other) => sameEvidence(pair, other))) this.evidence = [...this.evidence, pair];
    this.#draw();
    this.composer.keep();
  }

  unlink(pair) {
    this.evidence = this.evidence.filter((other) => !sameEvidence(pair, other));
    this.#draw();
    this.field.focus();
    this.composer.keep();
  }

  /** Put a text in place of what is selected. */
  insert(text) {
    const { value, selectionStart } = this.field;
    const space = selectionStart > 0 && !/\s$/u.test(value.slice(0, selectionStart)) ? " " : "";
    this.field.focus();
    this.#put(`${space}${text}`);
  }

  // As if it were pasted: only so the field's own undo takes it back. What is too long is refused later, not cut here.
  #put(text) {
    const most = this.field.maxLength;
    this.field.removeAttribute("maxlength");
    document.execCommand("insertText", false, text);
    this.field.maxLength = most;
    this.composer.keep();
  }

  focus() {
    this.field.focus();
    grow(this.field);
  }

  /** Focus with everything selected, so that what is typed takes its place. */
  select() {
    this.focus();
    this.field.select();
  }

  #draw() {
    drawChips(this.element.querySelector(".chips"), this.evidence, { writing: true });
    this.draw();
  }
}
