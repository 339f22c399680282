// Giving labels, the same at both judging desks: when there may be one, and where it leads, over the border of an answer
// too. The last label of all leads nowhere; one key too many there changes nothing. What is labelled, a row or a pair, is
// shown by the desk's `work`, which inherits this.

import { AnswerChange } from "./answer-change.js";
import { leaveBox, openBox, reasonFor } from "./inline-forms.js";
import { answerName, labelledAlready, nothingHere, nothingToClear } from "./place-names.js";
import { CANT_JUDGE, UNIT, labelActions, spokenOf } from "./words.js";

export class Labelling {
  #answerChange;
  #box = null; // {key, close}: the one that is open
  #last = null; // what got the label that left nothing to go on to

  /** @param {JudgingDesk} desk */
  constructor(desk, progress, answers) {
    this.desk = desk;
    this.progress = progress;
    this.answers = answers;
    this.pane = document.getElementById("rows");
    this.current = null; // the key of the row or pair that is asked
    this.#answerChange = new AnswerChange(desk, answers);
    this.pane.addEventListener("click", ({ detail }) => detail && (this.#last = null)); // who points at it means it
    this.pane.addEventListener("keydown", (event) => this.#escape(event));
    new MutationObserver(() => this.#readonlyChanged()).observe(desk.root, { attributeFilter: ["data-readonly"] });
  }

  /** Whether the answer came only just now, by a label of the one before. */
  get isUnread() {
    return this.#answerChange.isUnread;
  }

  /** Whether the answer of a key still lacks labels, as the review named it. */
  lacks(_what, key) {
    return this.progress.unlabelled(this.progress.answerByKey.get(key)).length > 0;
  }

  settle() {}

  /** Take a row or pair as the one that keys are about. */
  ask(key) {
    this.current = key;
    this.#last = null;
  }

  /** Show the answer of a row or pair. Returns whether there is one. */
  turnTo(key) {
    const answer = this.progress.answerByKey.get(key);
    if (answer && answer !== this.answers.current) {
      this.answers.show(answer);
      this.sayAnswer();
    }
    return Boolean(answer);
  }

  /** Tell screen readers which answer is shown; the border shows it. */
  sayAnswer() {
    this.desk.announce(this.answers.title(), { shown: false });
  }

  /** Why no label may be given now; "" where it may. Nobody judges what is not on the screen, or only just came there. */
  mayNot() {
    if (this.desk.isReadonly) return this.desk.words.readonly;
    if (!this.desk.texts.now(this.answers.current)) return `This ${UNIT.toLowerCase()} is not loaded yet, so it cannot be judged`;
    return this.isUnread ? `This is already ${this.answers.title()}: read it first` : "";
  }

  /** Give a row or pair a label; null takes it away. */
  label(key, label, source, { reason = "", moves = true, accepted = false } = {}) {
    const { announce, store, work } = this.desk;
    const mayNot = this.mayNot();
    if (mayNot) {
      work.draw();
      return announce(mayNot);
    }
    const row = store.row(key);
    const name = work.name(key);
    if (!label && !row?.label) return announce(nothingToClear(name));
    const isKey = ["key", "accept"].includes(source);
    if (label && row?.label && isKey && key === this.#last) return announce(labelledAlready(name));
    const isNew = (row?.label ?? null) !== label || (row?.reason ?? "") !== reason || Boolean(row?.accepted) !== accepted;
    if (isNew) store.do("label", { key, label, reason, ...work.payload(key, label, accepted) }, { source });
    const said = `${name}${accepted ? " accepted:" : ""} ${spokenOf(label, key)}, ${this.#leftOf(key)}`;
    if (label && moves && "moveOn" in document.body.dataset) this.#moveOn(key, !row?.label);
    return isNew ? announce(said) : undefined;
  }

  #moveOn(key, isFirst) {
    const next = this.progress.nextAfter(key);
    const answer = this.progress.answerByKey.get(next ?? key);
    if (answer === this.answers.current) this.desk.work.focus(next ?? key);
    else {
      this.desk.go(answer);
      this.#answerChange.hold();
    }
    if (!next && isFirst) this.#last = key;
  }

  #leftOf(key) {
    const answer = this.progress.answerByKey.get(key);
    const left = this.progress.unlabelled(answer).length;
    if (left) return `${left} left`;
    return this.progress.isDone ? "none left" : `${answerName(this.progress.answer(answer).number)} done`;
  }

  /** Ask why it cannot be judged. */
  openReason(key) {
    const mayNot = this.mayNot();
    if (mayNot) return this.desk.announce(mayNot);
    const give = (reason) => this.label(key, CANT_JUDGE, "text", { reason });
    return this.open(key, "reason-template", reasonFor(this.desk, key, give));
  }

  /** Open a box at a row or pair. */
  open(key, template, options) {
    this.closeBox();
    const item = this.desk.work.item(key);
    const leave = (hadFocus) => {
      this.#box = null;
      if (hadFocus) item.focus();
    };
    item.focus();
    this.#box = { key, ...openBox(item.querySelector(".row-body, [data-box-host]"), template, { ...options, leave }) };
  }

  /** Close the box that is open, unless it is that of `but`. */
  closeBox({ but = null } = {}) {
    if (this.#box && this.#box.key !== but) this.#box.close();
  }

  // From what is in a row to the row.
  #escape(event) {
    const row = event.target.closest("[data-keys=row]");
    if (event.key !== "Escape" || !row || event.target === row || event.target.matches("input[type=text]")) return;
    event.preventDefault();
    event.stopPropagation();
    row.focus();
  }

  #readonlyChanged() {
    if (this.desk.isReadonly) this.closeBox();
    this.desk.work.draw();
  }

  /** What `run` does with the row or pair that is asked. */
  onCurrent(run) {
    return () => (this.current ? run(this.current) : this.desk.announce(nothingHere()));
  }

  defineKeys(define) {
    const { work } = this.desk;
    define({ id: "judge-previous", run: () => work.step(-1) });
    define({ id: "judge-next", run: () => work.step(1) });
    for (const [word, action] of labelActions()) {
      define({ id: action, run: this.onCurrent((key) => this.label(key, word, "key")) });
    }
    for (const id of ["label-clear", "grade-clear"]) define({ id, run: this.onCurrent((key) => this.label(key, null, "key")) });
    define({ id: "cant-judge", run: this.onCurrent((key) => this.openReason(key)) });
    define({ id: "place-go", run: this.onCurrent((key) => work.go(key)) });
    define({ id: "place-back", run: () => work.back() });
    define({ id: "judge-back", run: () => work.back() });
    define({ id: "box-leave", run: ({ target }) => leaveBox(target) });
  }
}
