// Assignment: is this nugget in the answer?

import { make } from "../shared/make.js";
import { AssignRows } from "./rows.js";
import { Sweep } from "./sweep.js";
import { nounOf } from "./words.js";

export class AnswerLabelling extends AssignRows {
  /** @param {JudgingDesk} desk */
  constructor(desk, progress, answers) {
    super(desk, progress, answers);
    desk.work = this;
    this.sweep = new Sweep(desk, progress, answers);
  }

  focus(key) {
    return this.sweep?.isOn ? this.sweep.focus(key) : super.focus(key);
  }

  /** While the sweep is on, the keys of the rows are about its rows. */
  defining(define) {
    const { sweep } = this;
    return ({ id, run }) => define({ id, run: (event) => (sweep.isOn && sweep.runs[id] ? sweep.runs[id](event) : run(event)) });
  }

  /** The dialog before submitting also says that there is a sweep. */
  reviewed(part) {
    if (this.desk.store.sweep !== "offered") return;
    const noun = nounOf(this.desk.store.nuggets[0].key);
    const hint = `You may look at each ${noun}'s labels once more before: that is the consistency check, offered above the labels.`;
    part.append(make("p", {}, hint));
  }

  /** An answer was gone to: its first nugget without a label has the focus, or where that is wished its text. */
  arrive() {
    if (this.#startsAtText) this.answers.focusHeading();
    else this.focusFirst();
    this.sayAnswer();
  }

  // In one column a row with the focus would hide the answer before it was read.
  get #startsAtText() {
    return "startAtText" in document.body.dataset || !bothPanesShown();
  }

  /** Where one is, for the header. */
  title() {
    return this.answers.title();
  }

  /** What the search looks through. */
  searched() {
    return this.answers.sentences;
  }

  /** The search was left: to the sentence of the hit, or back to the rows. */
  leftSearch(place) {
    if (place) place.focus();
    else this.back();
  }

  place() {
    return { ...super.place(), sweep: this.sweep.isOn ? this.sweep.nugget.key : null };
  }

  restore(place) {
    if (place.sweep && this.desk.store.sweep === "begun" && !this.desk.isReadonly) return this.sweep.begin(place.sweep);
    const inRows = super.restore(place);
    if (inRows || this.desk.isReadonly) return undefined;
    if (!this.#startsAtText) return this.focus(this.current) || this.answers.focusHeading();
    if (this.answers.root.checkVisibility()) this.answers.focusHeading();
    return undefined;
  }
}

function bothPanesShown() {
  return ["passages", "rows"].every((id) => document.getElementById(id).checkVisibility());
}
