// The nugget sweep, when every answer is judged: one nugget at a time with all its labels, grouped by label, so that
// like is compared with like. It is optional, and what is changed in it is logged as changed there.

import { setReach } from "../desk/arranging.js";
import { whenStill } from "../desk/press-guard.js";
import { make } from "../shared/make.js";
import { capitalized, plural, put } from "../shared/text.js";
import { openBox, reasonFor } from "./inline-forms.js";
import { answerName } from "./place-names.js";
import { drawRow, makeRow, reveal } from "./row.js";
import { CANT_JUDGE, labelActions, labelWords, nounOf, spokenOf, wordOf } from "./words.js";

export class Sweep {
  #items = new Map(); // row key -> element, of the nugget that is shown
  #at = 0; // which nugget
  #offerAsked = false; // whether the server was asked if it may be offered
  isOn = false;
  current = null;

  /** @param {JudgingDesk} desk */
  constructor(desk, progress, answers) {
    this.desk = desk;
    this.progress = progress;
    this.answers = answers;
    this.offer = document.getElementById("sweep-offer");
    this.root = document.getElementById("sweep");
    this.groups = document.getElementById("sweep-groups");
    this.rows = document.getElementById("label-rows");
    desk.store.addEventListener("change", () => this.#changed());
    desk.store.addEventListener("sweep", () => this.draw());
    document.addEventListener("click", (event) => this.#clicked(event));
    this.root.addEventListener("focusin", ({ target }) => whenStill(() => this.#focused(target.closest(".row"))));
    this.draw();
  }

  get nugget() {
    return this.desk.store.nuggets[this.#at];
  }

  /** Whether no nugget comes after the one that is shown. */
  get isLast() {
    return this.#at === this.desk.store.nuggets.length - 1;
  }

  #changed() {
    const { store } = this.desk;
    if (!this.progress.isDone) this.#offerAsked = false;
    else if (!store.sweep && !this.#offerAsked && !store.readonly) this.#ask();
    this.draw();
    queueMicrotask(() => this.isOn && this.#drawRows());
  }

  // Only the server knows whether the campaign wants a sweep, and that no label is missing.
  async #ask() {
    this.#offerAsked = true;
    const { save, urls, store } = this.desk;
    await save.drained();
    const answer = await save.session.get(urls.state).catch(() => null);
    if (!answer?.body) {
      this.#offerAsked = false;
      return;
    }
    store.sweep = answer.body.sweep;
    this.draw();
    if (store.sweep === "offered") {
      this.desk.announce("Everything is judged. The consistency check is offered above the labels.");
    }
  }

  /** Show the offer, or take it away. */
  draw() {
    const { sweep } = this.desk.store;
    const mayNot = !sweep || !this.progress.isDone || this.desk.store.readonly;
    this.offer.hidden = mayNot || this.isOn || this.offer.dataset.declined !== undefined;
    const text = sweep === "begun" ? "Go on with the consistency check" : "Begin the consistency check";
    this.offer.querySelector("[data-do=sweep]").textContent = text;
    if (this.isOn) this.#drawRows();
  }

  /** Begin, or go on where it was left. */
  begin(nugget = null) {
    const { store, announce, words } = this.desk;
    if (this.desk.isReadonly) return announce(words.readonly);
    if (!store.sweep || !this.progress.isDone) return announce("The consistency check comes after the last label");
    if (store.sweep === "offered") store.do("sweep", {}, { source: "mouse" });
    this.#turn(true);
    return this.#show(Math.max(0, store.nuggets.findIndex((listed) => listed.key === nugget)));
  }

  /** Back to the answers. */
  leave() {
    this.#turn(false);
    this.answers.focusHeading();
    this.desk.announce("The consistency check is left");
  }

  #turn(on) {
    this.isOn = on;
    this.root.hidden = !on;
    this.rows.hidden = on;
    document.querySelector(".rows-head").hidden = on;
    this.desk.root.toggleAttribute("data-sweep", on);
    this.draw();
    document.dispatchEvent(new CustomEvent("judge:title"));
  }

  /** The nugget before or after; behind the last one there is nothing left but submitting. */
  turn(by) {
    const { nuggets } = this.desk.store;
    if (!nuggets[this.#at + by]) {
      const noun = nounOf(this.nugget.key);
      return this.desk.announce(by > 0 ? `This is the last ${noun}; submit when you are ready` : `This is the first ${noun}`);
    }
    return this.#show(this.#at + by);
  }

  // The focus is on a row from the start: its answer is shown, and keys are about what is read.
  #show(at, row = null) {
    const { store } = this.desk;
    this.#at = at;
    const { nugget } = this;
    const place = { number: this.#at + 1, total: store.nuggets.length };
    document.getElementById("sweep-title").textContent = `N${place.number} of ${place.total}`;
    document.getElementById("sweep-text").textContent = nugget.text;
    this.#items.clear();
    const keys = shuffled(this.progress.answers.map(({ id }) => `${id}/${nugget.key}`));
    const groups = labelWords().map((label) => this.#group(label, keys.filter((key) => store.label(key) === label)));
    this.groups.replaceChildren(...groups.filter(Boolean));
    document.dispatchEvent(new CustomEvent("desk:pane-wanted", { detail: { pane: "rows" } }));
    document.getElementById("rows").scrollTop = 0;
    this.#standOn(row ?? [...this.#items.keys()][0] ?? null);
    this.#items.get(this.current)?.focus();
    document.dispatchEvent(new CustomEvent("judge:title"));
    this.desk.announce(`${capitalized(nounOf(nugget.key))} ${place.number} of ${place.total}: ${nugget.text}`);
  }

  #group(label, keys) {
    if (!keys.length) return null;
    const list = make("ol", { className: "row-list" }, ...keys.map((key) => this.#make(key)));
    return make("section", { dataset: { label } }, make("h3"), list);
  }

  #make(key) {
    const answer = this.progress.answer(this.progress.answerByKey.get(key));
    const choose = (value, source) => value && this.label(key, value, source);
    const item = makeRow({ key: answer.id, nugget: this.nugget.key, text: this.#quote(key), name: answerName(answer.number) }, choose);
    item.querySelector(".row-acts [data-do=place]").remove();
    item.querySelector(".row-acts [data-do=clear]").remove();
    item.querySelector(".row-text").classList.add("sweep-quote");
    this.#items.set(key, item);
    return item;
  }

  // The sentence that was recorded, where it is loaded.
  #quote(key) {
    const sentence = this.desk.store.row(key)?.sentence ?? null;
    if (sentence === null) return "no sentence recorded";
    const text = this.desk.texts.now(this.progress.answerByKey.get(key));
    const found = text?.sentences.find((part) => Number(part.dataset.index) === sentence);
    return found ? found.querySelector(".sentence-text").textContent : `sentence ${sentence + 1}`;
  }

  #drawRows() {
    const { store } = this.desk;
    for (const [key, item] of this.#items) {
      drawRow(item, {
        key,
        row: store.row(key),
        waitingSentence: null,
        isCurrent: key === this.current,
        isPending: store.pending(key),
        failed: store.failed(key),
        isReadonly: this.desk.isReadonly,
      });
      setReach(item, key === this.current);
    }
    this.#drawTitles();
  }

  // A row that was changed stays where it is, so that a group may hold other labels as well.
  #drawTitles() {
    for (const group of /** @type {HTMLCollectionOf<HTMLElement>} */ (this.groups.children)) {
      const labels = [...group.querySelectorAll(".row")].map((item) => this.desk.store.label(item.dataset.key));
      const count = labels.filter((label) => label === group.dataset.label).length;
      const changed = labels.length - count;
      const text = `${wordOf(group.dataset.label, this.nugget.key)}: ${count} ${plural(count, "answer")}${changed ? `, ${changed} changed` : ""}`;
      put(group, "h3", text);
    }
  }

  #focused(item) {
    const key = item?.dataset.key;
    if (!key || (key === this.current && this.answers.current === this.progress.answerByKey.get(key))) return;
    this.#standOn(key);
    reveal(item);
  }

  // The left pane shows the answer of the row that keys act on.
  #standOn(key) {
    this.current = key;
    const answer = this.progress.answerByKey.get(key);
    if (answer && this.answers.current !== answer) this.answers.show(answer);
    this.desk.work.standOn(key);
    this.#drawRows();
  }

  /** Focus a row, of whichever nugget. */
  focus(key) {
    const at = this.desk.store.nuggets.findIndex((nugget) => nugget.key === key?.split("/")[1]);
    if (at < 0) return false;
    if (at !== this.#at) this.#show(at, key);
    else this.#items.get(key)?.focus();
    return true;
  }

  step(by) {
    const keys = [...this.#items.keys()];
    this.focus(keys[Math.min(keys.length - 1, Math.max(0, keys.indexOf(this.current) + by))]);
  }

  /** Change a label; the row stays where it is until the nugget is shown again. */
  label(key, label, _source, { reason = "" } = {}) {
    const { store, announce } = this.desk;
    const mayNot = this.desk.work.mayNot();
    if (mayNot) {
      this.#drawRows();
      return announce(mayNot);
    }
    const row = store.row(key);
    if (row.label === label && row.reason === reason) return undefined;
    store.do("label", { key, label, reason, sentence: row.sentence ?? null }, { source: "sweep" });
    const { number } = this.progress.answer(this.progress.answerByKey.get(key));
    return announce(`Answer ${number} ${spokenOf(label, key)}`);
  }

  openReason(key) {
    const item = this.#items.get(key);
    const mayNot = this.desk.work.mayNot();
    if (mayNot) return this.desk.announce(mayNot);
    if (item.querySelector(".row-box")) return undefined;
    const give = (reason) => this.label(key, CANT_JUDGE, "text", { reason });
    const leave = (hadFocus) => hadFocus && item.focus();
    return openBox(item.querySelector(".row-body"), "reason-template", { ...reasonFor(this.desk, key, give), leave });
  }

  #clicked({ target }) {
    const name = target.closest("[data-do]")?.dataset.do;
    const key = target.closest("#sweep .row")?.dataset.key;
    const acts = {
      sweep: () => this.begin(),
      "sweep-no": () => this.#decline(),
      "sweep-leave": () => this.leave(),
      "sweep-previous": () => this.turn(-1),
      "sweep-next": () => this.turn(1),
      cant: () => key && this.openReason(key),
      go: () => key && this.answers.goTo(this.desk.store.row(key).sentence),
    };
    if (this.offer.contains(target) || this.root.contains(target)) acts[name]?.();
  }

  #decline() {
    this.offer.dataset.declined = "";
    this.draw();
    this.desk.work.focusFirst();
  }

  /** What the keys of the rows do while the sweep is on. */
  get runs() {
    const onRow = (run) => () => this.current && run(this.current);
    const labels = labelActions().map(([word, action]) => [action, onRow((key) => this.label(key, word, "key"))]);
    return {
      ...Object.fromEntries(labels),
      "judge-previous": () => this.step(-1),
      "judge-next": () => this.step(1),
      "answer-previous": () => this.turn(-1),
      "answer-next": () => this.turn(1),
      "cant-judge": onRow((key) => this.openReason(key)),
      "label-clear": () => this.desk.announce("In the consistency check a label is changed, not taken away"),
      place: () => this.desk.announce("Sentences are recorded at the answers"),
      record: () => {},
      "place-go": onRow((key) => this.answers.goTo(this.desk.store.row(key)?.sentence)),
      "place-back": () => this.focus(this.current),
      "judge-back": () => this.focus(this.current),
      "next-unjudged": () => this.turn(1),
    };
  }
}

// Another order than that of the task, and the same at each visit.
function shuffled(keys) {
  const value = (text) => [...text].reduce((sum, character) => (Math.imul(sum, 31) + character.codePointAt(0)) | 0, 7);
  const places = new Map(keys.map((key) => [key, value([...key].reverse().join(""))]));
  return [...keys].sort((key, other) => places.get(key) - places.get(other));
}
