// The right pane of support, one column: a sentence, a passage that it cites, and the labels. The passage stays in place
// when the next pair cites the same one.

import { choosing, setChoice } from "../desk/choosing.js";
import { drawUnsaved } from "../saving/unsaved.js";
import { put } from "../shared/text.js";
import { drawState } from "./choices.js";
import { drawCitations, makeCitations, whyNot } from "./citations.js";
import { CitedPassage } from "./cited.js";
import { Labelling } from "./labelling.js";
import { Places } from "./places.js";
import { placeInAnswer, within } from "./place-names.js";
import { drawKnown } from "./practice.js";
import { CANT_JUDGE } from "./words.js";

const WITH_MACHINE = "support-post-edit";

export class PairLabelling extends Labelling {
  #machineLabel = null; // the machine's label, where the condition shows it
  #passage = null; // id of the passage on the screen
  #lastKey = null; // the pair that it was put there for

  /** @param {JudgingDesk} desk */
  constructor(desk, progress, pane) {
    super(desk, progress, pane);
    this.element = document.getElementById("pair");
    this.cited = new CitedPassage(this.pane);
    this.places = new Places(this.cited);
    choosing(this.element.querySelector(".labels"), (value, source) => {
      if (value) this.label(this.current, value, source, { moves: source === "mouse" });
    });
    pane.addEventListener("answer", () => this.#answerShown());
    pane.addEventListener("text", () => this.#textShown());
    desk.store.addEventListener("change", ({ detail }) => this.#changed(detail));
    this.#listen();
    if (desk.stage === WITH_MACHINE) this.ready = import("./machine-label.js").then((module) => this.#withMachine(module));
  }

  #withMachine({ MachineLabel }) {
    this.#machineLabel = new MachineLabel();
    this.draw();
    this.#machineLabel.show(this.pair(this.current));
  }

  pair(key) {
    return this.desk.store.pairs.find((pair) => pair.key === key) ?? null;
  }

  /** The pairs of the answer that is shown, those that are not asked, too. */
  get here() {
    return this.desk.store.pairs.filter((pair) => pair.answer === this.answers.current);
  }

  get sequence() {
    return [...this.progress.answerByKey.keys()];
  }

  /** "S4 [2]"; of an answer that is not shown, "Answer 3, S4 [2]". */
  name(key) {
    const pair = this.pair(key);
    if (!pair || pair.answer === this.answers.current) return this.shortName(key);
    return within(this.progress.answer(pair.answer)?.number, this.shortName(key));
  }

  /** "S4 [2]", whichever answer is shown. */
  shortName(key) {
    const pair = this.pair(key);
    return pair ? `S${pair.sentence + 1} [${pair.citation}]` : "a pair";
  }

  /** "Pair 41 of 212". */
  title() {
    if (!this.current) return this.answers.title();
    const { sequence } = this;
    const place = { number: sequence.indexOf(this.current) + 1, total: sequence.length };
    return `Pair ${place.number} of ${place.total}`;
  }

  textOf(key) {
    const pair = this.pair(key);
    const isHere = pair?.answer === this.answers.current;
    return (isHere && this.answers.sentence(pair.sentence)?.querySelector(".sentence-text").textContent) || this.name(key);
  }

  nameOf(element) {
    const number = this.answers.answer?.number;
    if (element?.closest?.("#pair, #cited") && this.current) return within(number, this.name(this.current));
    return placeInAnswer(element, number);
  }

  #changed({ cause }) {
    this.draw();
    if (cause === "local") queueMicrotask(() => this.draw()); // counted as unsaved only after it was told
  }

  #answerShown() {
    this.ask(this.progress.firstOf(this.answers.current));
  }

  #textShown() {
    makeCitations(this.answers, this.here);
    this.#drawPassage();
    this.#mark();
    this.draw();
  }

  ask(key) {
    super.ask(key);
    this.closeBox();
    this.#drawPassage();
    this.#mark();
    this.#machineLabel?.show(this.pair(key));
    this.draw();
    document.dispatchEvent(new CustomEvent("judge:title"));
  }

  #mark() {
    this.answers.mark(this.pair(this.current)?.sentence ?? null, { reveal: true });
  }

  // The passage of the pair; the one that is there already stays, and so does how far it was read.
  #drawPassage() {
    const pair = this.pair(this.current);
    const text = this.desk.texts.now(this.answers.current)?.passages.get(pair?.passage);
    const isSame = Boolean(pair && text && pair.passage === this.#passage);
    if (this.#lastKey !== this.current) document.getElementById("same-passage").hidden = !isSame;
    const isSamePair = this.#lastKey === this.current;
    this.#lastKey = this.current;
    if (!isSame) {
      this.#passage = text ? pair.passage : null;
      this.cited.show(text ?? null);
      put(document, "#cited-length", this.cited.length);
      this.desk.search?.again();
    }
    if (!isSame || !isSamePair) {
      this.places.show(pair?.sentence, pair?.quoted);
      this.cited.showQuote(pair?.quoted, pair?.quote);
    }
  }

  draw() {
    const { store, stage } = this.desk;
    drawCitations(this.answers, this.here, { store, stage, current: this.current });
    const pair = this.pair(this.current);
    for (const part of [this.element, document.getElementById("asked")]) part.hidden = !pair;
    document.getElementById("rows-empty").hidden = Boolean(pair);
    if (pair) this.#drawPair(pair);
  }

  #drawPair({ key, sentence, citation }) {
    const { store } = this.desk;
    const row = store.row(key);
    this.element.dataset.key = key;
    this.element.dataset.label = row?.label ?? "";
    put(document, "#pair-name", `Sentence ${sentence + 1}, citation [${citation}]`);
    put(document, "#pair-number", this.title());
    this.#drawSentence(this.answers.sentence(sentence)?.querySelector(".sentence-text"));
    this.#drawLabel(row);
    this.#drawEvidence(row?.evidence ?? null);
    drawKnown(this.element, row);
    drawUnsaved(this.element, { isPending: store.pending(key), failed: store.failed(key) });
    const box = /** @type {HTMLFieldSetElement} */ (this.element.querySelector(".labels"));
    setChoice(box, row?.label ?? null);
    box.disabled = this.desk.isReadonly;
    this.#button("cant")?.setAttribute("aria-pressed", String(row?.label === CANT_JUDGE));
    if (!row?.label && document.activeElement === this.#button("clear")) this.element.focus();
    this.#button("clear").hidden = !row?.label;
    for (const [name, by] of [["previous", -1], ["next", 1]]) {
      this.#button(name).setAttribute("aria-disabled", String(!this.#beside(by)));
    }
  }

  #drawSentence(text) {
    const shown = document.getElementById("pair-sentence");
    if (shown.textContent !== (text?.textContent ?? "")) shown.replaceChildren(...(text?.cloneNode(true).childNodes ?? []));
  }

  // The buttons show a label, or that there is none; only a reason why there can be none is shown beside them.
  #drawLabel(row) {
    const state = document.getElementById("pair-state");
    drawState(state, row);
    state.classList.toggle("visually-hidden", row?.label !== CANT_JUDGE);
  }

  #drawEvidence(at) {
    this.cited.showEvidence(at);
    put(document, "#pair-evidence", at === null ? "" : `Evidence in ${this.cited.nameOf(at)}`);
    this.#button("evidence")?.setAttribute("aria-pressed", String(at !== null));
  }

  #button(name) {
    return this.element.querySelector(`[data-do=${name}]`);
  }

  #beside(by) {
    return this.sequence[this.sequence.indexOf(this.current) + by] ?? null;
  }

  step(by) {
    const next = this.#beside(by);
    if (next) this.focus(next);
    else this.desk.announce(by > 0 ? "This is the last pair" : "This is the first pair");
  }

  /** An answer was gone to: its first pair without a label is asked. */
  arrive() {
    if (!this.focusPair()) this.answers.focusHeading();
    this.sayAnswer();
  }

  /** Ask about a pair, of whichever answer. Returns whether there is such a pair. */
  focus(key) {
    if (!this.turnTo(key)) return false;
    if (key !== this.current) this.ask(key);
    return this.focusPair();
  }

  focusPair() {
    if (!this.current) return false;
    document.dispatchEvent(new CustomEvent("desk:pane-wanted", { detail: { pane: "rows" } }));
    this.element.focus({ preventScroll: true });
    return true;
  }

  focusFirst() {
    return this.focus(this.progress.unlabelled(this.answers.current)[0] ?? this.current) || this.answers.focusHeading();
  }

  /** What an operation says of a label beside it. */
  payload(_key, _label, accepted = false) {
    return this.#machineLabel ? { accepted, shown_ms: this.#machineLabel.elapsed() } : {};
  }

  item() {
    return this.element;
  }

  /** Take the machine's label over. */
  accept() {
    if (!this.#machineLabel || !this.current) return;
    const label = this.#machineLabel.labelOf(this.pair(this.current));
    if (label) this.label(this.current, label, "accept", { accepted: true });
    else this.desk.announce("The machine gave no label; there is nothing to accept");
  }

  /** Mark as evidence the sentence that is selected or was gone to; the one that is marked is unmarked. */
  markEvidence(key, source) {
    const { announce, search, store } = this.desk;
    const mayNot = this.mayNot();
    if (mayNot) return announce(mayNot);
    const marked = store.row(key)?.evidence ?? null;
    const at = this.cited.pointedAt(search.hitElement());
    if (at === null && marked === null) return announce("Select a sentence of the passage first, or go to one");
    const sentence = at === marked ? null : at;
    store.do("evidence", { key, sentence }, { source });
    const place = sentence === null ? "without evidence" : `has its evidence in ${this.cited.nameOf(sentence)}`;
    return announce(`${this.name(key)} ${place}`);
  }

  /** To the next place with the sentence's words; where those are not shown, to the first hit of one's own search. */
  go(_key, by = 1) {
    if (this.places.isAny) return this.desk.announce(this.places.step(by));
    const place = this.desk.search.hitElement();
    if (!place) return this.desk.announce("Search the passage first");
    this.cited.element.focus({ preventScroll: true });
    return place.scrollIntoView({ block: "center" });
  }

  back() {
    if (!this.focusPair()) this.answers.focusHeading();
  }

  searched() {
    return this.cited.parts;
  }

  leftSearch(place) {
    this.back();
    place?.scrollIntoView({ block: "center" });
  }

  place() {
    return { row: this.current, scroll: this.cited.scroll };
  }

  /** Put a place back; the pair is asked as at the first visit. */
  restore({ row, scroll }) {
    if (this.progress.answerByKey.get(row) === this.answers.current) this.ask(row);
    if (!this.desk.isReadonly && this.pane.checkVisibility()) this.back();
    if (typeof scroll !== "number") return;
    const scrollBack = () => (this.cited.scroll = scroll);
    scrollBack();
    this.answers.addEventListener("text", scrollBack, { once: true });
  }

  #act(name, source) {
    const acts = {
      cant: () => this.openReason(this.current),
      clear: () => this.label(this.current, null, source),
      accept: () => this.accept(),
      quoted: () => this.cited.goTo(this.pair(this.current).quoted),
      previous: () => this.step(-1),
      next: () => this.step(1),
      note: () => this.#note(),
      evidence: () => this.markEvidence(this.current, source),
    };
    acts[name]?.();
  }

  #note() {
    this.desk.shell.remarks.open("comment", this.nameOf(this.element), this.element);
  }

  #listen() {
    this.element.addEventListener("click", (event) => {
      const name = event.target.closest("[data-do]")?.dataset.do;
      if (name) this.#act(name, event.detail ? "mouse" : "key");
    });
    this.#button("evidence")?.addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
    document.getElementById("places")?.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (button) this.go(this.current, button.dataset.do === "place-next" ? 1 : -1);
    });
    document.getElementById("fold-answer").addEventListener("click", ({ currentTarget }) => this.#fold(currentTarget));
    this.answers.article.addEventListener("click", ({ target }) => {
      const pair = this.pair(target.closest("button[data-pair]")?.dataset.pair);
      if (!pair) return;
      const why = whyNot(pair, this.desk.stage);
      if (why) this.desk.announce(`${this.name(pair.key)} is not asked: ${why}`);
      else this.focus(pair.key);
    });
  }

  #fold(button) {
    const isFolded = this.answers.article.toggleAttribute("data-folded");
    button.setAttribute("aria-pressed", String(isFolded));
    this.#mark();
  }

  defineKeys(define) {
    super.defineKeys(define);
    if (this.desk.stage === WITH_MACHINE) define({ id: "accept", run: () => this.accept() });
    define({ id: "note", run: () => this.#note() });
    define({ id: "evidence", run: this.onCurrent((key) => this.markEvidence(key, "key")) });
    define({ id: "place-previous", run: () => this.go(this.current, -1) });
  }
}
