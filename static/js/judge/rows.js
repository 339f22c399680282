// The right pane of assignment: one row per nugget, for the answer that is shown. The rows stay and only change what
// they stand for, so nothing that has the focus goes away when the next answer comes.

import { arrange, setReach } from "../desk/arranging.js";
import { whenStill } from "../desk/press-guard.js";
import { put } from "../shared/text.js";
import { sentenceIn } from "./inline-forms.js";
import { Labelling } from "./labelling.js";
import { noSentence, nothingHere, placeInAnswer, recorded, within } from "./place-names.js";
import { drawRow, makeRow, reveal } from "./row.js";
import { WaitingSentences } from "./waiting-sentences.js";
import { learnUnits, nounOf, wordOf } from "./words.js";

export class AssignRows extends Labelling {
  #items = new Map(); // nugget key -> element
  #from = null; // the row that a sentence was gone to from

  /** @param {JudgingDesk} desk */
  constructor(desk, progress, pane) {
    super(desk, progress, pane);
    this.waiting = new WaitingSentences(desk.save);
    this.list = document.getElementById("label-rows");
    this.bar = document.getElementById("sentence-bar"); // null where a label says no sentence
    this.#make();
    pane.addEventListener("answer", () => this.#answerShown());
    pane.addEventListener("text", () => this.#markPlace());
    desk.store.addEventListener("change", ({ detail }) => this.#changed(detail));
    this.#listen();
  }

  #make() {
    const { nuggets } = this.desk.store;
    learnUnits(nuggets);
    for (const [index, nugget] of nuggets.entries()) {
      if (this.#items.has(nugget.key)) continue;
      const choose = (value, source) => this.#chosen(this.#keyOf(nugget.key), value, source);
      this.#items.set(nugget.key, makeRow({ name: `N${index + 1}`, legend: nugget.name && nugget.text, ...nugget }, choose));
    }
    arrange(this.list, nuggets.map(({ key }) => this.#items.get(key)));
  }

  #keyOf(nugget) {
    return `${this.answers.current}/${nugget}`;
  }

  item(key) {
    return this.progress.answerByKey.get(key) === this.answers.current ? this.#items.get(key.split("/")[1]) : null;
  }

  /** "N4", whichever answer is shown; "Grade" where each text has one. */
  shortName(key) {
    const { nuggets } = this.desk.store;
    const at = nuggets.findIndex((nugget) => nugget.key === key.split("/")[1]);
    return nuggets[at]?.name ?? `N${at + 1}`;
  }

  /** "N4"; of an answer that is not shown, "Answer 3, N4". */
  name(key) {
    const answer = this.progress.answerByKey.get(key);
    const name = this.shortName(key);
    return answer === this.answers.current ? name : within(this.progress.answer(answer)?.number, name);
  }

  textOf(key) {
    return this.desk.store.nuggets.find((nugget) => nugget.key === key.split("/")[1])?.text ?? "";
  }

  nameOf(element) {
    const row = element?.closest?.(".row");
    const number = this.answers.answer?.number;
    return row ? within(number, row.querySelector(".row-number").textContent) : placeInAnswer(element, number);
  }

  #changed({ cause }) {
    if (cause === "reload") this.#make();
    this.draw();
    if (cause === "local") queueMicrotask(() => this.draw()); // counted as unsaved only after it was told
  }

  draw() {
    const { store } = this.desk;
    const keys = new Set(this.progress.keys(this.answers.current));
    for (const [nugget, item] of this.#items) {
      const key = this.#keyOf(nugget);
      item.hidden = !keys.has(key);
      drawRow(item, {
        key,
        row: store.row(key),
        waitingSentence: this.waiting.get(key),
        isCurrent: key === this.current,
        isPending: store.pending(key),
        failed: store.failed(key),
        isReadonly: this.desk.isReadonly,
      });
    }
    const { done, total } = this.progress.counts(this.answers.current);
    put(document, "#rows-counts", `${done} of ${total} judged`);
    document.getElementById("rows-empty").hidden = this.#items.size > 0;
    this.#setStops();
    this.#drawBar();
    this.#drawHint();
  }

  #answerShown() {
    this.closeBox();
    this.ask(this.progress.firstOf(this.answers.current));
    this.draw();
    this.pane.scrollTop = 0;
    if (this.current) reveal(this.item(this.current));
    this.#markPlace();
  }

  // Only the current row can be reached with Tab, and what is in it.
  #setStops() {
    for (const item of this.#items.values()) setReach(item, item.dataset.key === this.current);
  }

  #focused(item) {
    if (!item || item.dataset.key === this.current) return;
    this.closeBox({ but: item.dataset.key });
    this.ask(item.dataset.key);
    for (const other of this.#items.values()) other.classList.toggle("is-current", other === item);
    reveal(item);
    this.#setStops();
    this.#markPlace();
    this.#drawBar();
    this.#drawHint();
  }

  // What the keys mean follows the row: a criterion is satisfied, and one to avoid is something that an answer does.
  #drawHint() {
    for (const caption of this.pane.querySelectorAll(".rows-hint [data-label]")) {
      const text = wordOf(caption.dataset.label, this.current ?? "");
      if (caption.textContent !== text) caption.textContent = text;
    }
  }

  #markPlace() {
    this.answers.mark(this.#placeOf(this.current), { reveal: "autoScroll" in document.body.dataset });
  }

  // The sentence of a row, recorded or waiting for the label.
  #placeOf(key) {
    return this.desk.store.row(key)?.sentence ?? this.waiting.get(key);
  }

  /** Take a row as the current one without showing it: the sweep shows it in its own way. */
  standOn(key) {
    this.ask(key);
    this.#markPlace();
  }

  /** Focus a row, of whichever answer. Returns whether there is such a row. */
  focus(key) {
    if (!this.turnTo(key)) return false;
    document.dispatchEvent(new CustomEvent("desk:pane-wanted", { detail: { pane: "rows" } }));
    this.item(key).focus();
    return true;
  }

  focusFirst() {
    return this.focus(this.progress.firstOf(this.answers.current)) || this.answers.focusHeading();
  }

  step(by) {
    const keys = this.progress.keys(this.answers.current);
    const next = keys[keys.indexOf(this.current) + by];
    this.focus(next ?? this.current);
    if (next || !this.current) return;
    this.desk.announce(`${this.name(this.current)} is the ${by < 0 ? "first" : "last"} ${nounOf(this.current)}`);
  }

  // By pointer one goes on, too; arrows among the radios only choose.
  #chosen(key, value, source) {
    if (value) this.label(key, value, source, { moves: source === "mouse" });
  }

  /** What an operation says of a label beside it: the sentence. */
  payload(key, label) {
    const row = this.desk.store.row(key);
    const waiting = label ? this.waiting.take(key) : null;
    return { sentence: label && row?.label ? row.sentence : waiting };
  }

  /** Ask which sentence of the answer it is in. */
  openPlace(key) {
    if (this.desk.isReadonly) return this.desk.announce(this.desk.words.readonly);
    const known = this.#placeOf(key);
    return this.open(key, "place-template", {
      text: known === null ? "" : String(known + 1),
      take: (text) => {
        const sentence = sentenceIn(text);
        const isThere = sentence === null || (sentence !== undefined && this.answers.sentence(sentence));
        if (!isThere) return noSentence(text, this.answers.sentences.length);
        this.record(key, sentence, "text");
        return "";
      },
    });
  }

  /** Record where a nugget is. Without a label yet, the place waits for it. */
  record(key, sentence, source) {
    if (this.desk.isReadonly) return this.desk.announce(this.desk.words.readonly);
    const row = this.desk.store.row(key);
    if (!row?.label) {
      this.waiting.put(key, sentence);
      this.draw();
      this.#markPlace();
      return this.desk.announce(recorded(this.name(key), sentence, { waits: true }));
    }
    if ((row.sentence ?? null) !== sentence) this.desk.store.do("locate", { key, sentence }, { source });
    this.#markPlace();
    return this.desk.announce(recorded(this.name(key), sentence));
  }

  /** Go to the sentence that is recorded. */
  go(key) {
    const sentence = this.#placeOf(key);
    if (sentence === null) return this.desk.announce(`${this.name(key)} has no sentence recorded`);
    this.#from = key;
    return this.answers.goTo(sentence);
  }

  back() {
    const key = this.#from && this.progress.answerByKey.get(this.#from) === this.answers.current ? this.#from : this.current;
    this.#from = null;
    if (!this.focus(key)) this.focusFirst();
  }

  /** Record the sentence in focus for the current row, and go back there. */
  recordHere(source) {
    const sentence = this.#sentenceInFocus();
    if (!sentence) return this.desk.announce("Go to a sentence first");
    if (!this.current) return this.desk.announce(nothingHere());
    this.record(this.current, Number(sentence.dataset.index), source);
    return this.focus(this.current);
  }

  #sentenceInFocus() {
    const { activeElement } = document;
    return activeElement.closest("[data-index]") ?? (this.bar?.contains(activeElement) ? this.#barFor : null);
  }

  #barFor = null;

  // A sentence that has the focus offers to be recorded for the current row.
  #drawBar() {
    if (!this.bar) return;
    const sentence = this.#sentenceInFocus();
    this.#barFor = sentence;
    this.bar.hidden = !sentence || !this.current;
    if (this.bar.hidden) return;
    const name = this.name(this.current);
    this.bar.querySelector("[data-what]").textContent = `S${Number(sentence.dataset.index) + 1}`;
    this.bar.querySelector("[data-do=record] span").textContent = `Record for ${name}`;
    this.bar.querySelector("[data-do=record]").hidden = this.desk.isReadonly;
    this.bar.querySelector("[data-do=back] span").textContent = `Back to ${name}`;
  }

  /** A label was undone or done again. */
  stepped() {
    this.#markPlace();
  }

  place() {
    return { row: this.current, scroll: this.pane.scrollTop, focused: this.pane.contains(document.activeElement) };
  }

  /** Put a place back; a fresh one starts at the heading. Returns whether the focus was put into the rows. */
  restore({ row, scroll, focused }) {
    if (!row || this.progress.answerByKey.get(row) !== this.answers.current) return false;
    this.ask(row);
    this.draw();
    this.#markPlace();
    if (focused && this.item(row).checkVisibility()) this.item(row).focus({ preventScroll: true });
    if (typeof scroll === "number") this.pane.scrollTop = scroll;
    return focused;
  }

  #act(name, key, source) {
    const acts = {
      cant: () => this.openReason(key),
      place: () => this.openPlace(key),
      clear: () => this.label(key, null, source),
      go: () => this.go(key),
    };
    acts[name]?.();
  }

  #listen() {
    this.pane.addEventListener("focusin", ({ target }) => whenStill(() => this.#focused(target.closest("#label-rows .row"))));
    document.addEventListener("focusin", () => this.#drawBar());
    this.pane.addEventListener("click", (event) => {
      const button = event.target.closest("[data-do]");
      const row = event.target.closest("#label-rows .row");
      // A click without a pointer is Enter or Space on the button.
      if (button && row) this.#act(button.dataset.do, row.dataset.key, event.detail ? "mouse" : "key");
    });
    this.bar?.addEventListener("click", (event) => {
      const name = event.target.closest("[data-do]")?.dataset.do;
      if (name === "record") this.recordHere(event.detail ? "mouse" : "key");
      else if (name === "back") this.back();
    });
  }

  defineKeys(define) {
    super.defineKeys(define);
    if (!this.bar) return;
    define({ id: "place", run: this.onCurrent((key) => this.openPlace(key)) });
    define({ id: "record", run: () => this.recordHere("key") });
  }
}
