// What can be done with nuggets: each gesture once, whether it came by a button or by a key. A gesture does its
// operation, says so, and puts the focus where the work goes on.

import { isListed, isOpen, sameEvidence } from "../desk/rules.js";
import { linkBox } from "./chips.js";
import * as passages from "./passages.js";
import { hasChange, importanceQuestion } from "./row.js";
import { NO_WEIGHT, openWeight, stepped } from "./weight.js";

/** What is said of a nugget that was given an importance: 0, 1 or 2. */
const IMPORTANCE = ["neither vital nor okay", "okay", "vital"];
const READING = new Set(["go", "go-chip", "diff"]); // what a list that cannot be changed still offers
const IN_LIST = new Set(["edit", "reject", "split", "link", "weight", "mark", "up", "down"]); // not of a rejected one
// Acts on a selection; the page has no button for those that the protocol forbids.
const SELECTED = ["new", "link", "words"].filter((what) => document.querySelector(`.read-bar [data-do=${what}]`));
const WHILE_WRITING = new Set(["merge", "new"]);

/** A draft that was kept with an importance. */
const KEPT_AS = { 1: "kept as okay", 2: "kept as vital" };

class Gestures {
  #went = { key: null, index: -1 };

  /** @param {NuggetDesk} desk */
  constructor(desk, nuggets) {
    this.desk = desk;
    this.list = nuggets;
  }

  get store() {
    return this.desk.store;
  }

  /** Do what a button says. */
  act(name, key, { pair = null, source = "mouse" } = {}) {
    if (this.desk.isReadonly && !READING.has(name)) return this.say(this.desk.words.readonly);
    if (name === "new") return this.list.writing.openNew();
    if (name === "merge") return this.merge();
    this.list.editors.get(key)?.settle();
    const row = this.store.row(key);
    if (!row || row.decision === "replaced") return this.say("There is no nugget in the list yet");
    if (IN_LIST.has(name) && !isListed(row)) return this.refuse(row);
    if (name === "restore" && isListed(row)) return this.sayOf(key, "is in the list already");
    const acts = {
      keep: () => this.keep(row, source),
      edit: () => this.list.edit(row.key),
      reject: () => this.reject(row, source),
      restore: () => this.restore(row, source),
      split: () => this.list.writing.openSplit(row),
      link: () => this.openLink(row),
      weight: () => openWeight(this.list.item(row.key).querySelector(".weight")),
      mark: () => this.mark(row),
      up: () => this.move(row, -1, source),
      down: () => this.move(row, 1, source),
      go: () => this.go(row),
      search: () => this.desk.passages.nuggetSearch.start(row, this.list.name(row.key)),
      diff: () => this.showChange(row),
      more: () => this.#showMore(row),
      "go-chip": () => this.desk.passages.goTo(pair),
      unlink: () => this.unlink(row, pair, source),
    };
    return acts[name]?.();
  }

  say(text) {
    this.desk.announce(text);
  }

  /** Say why a nugget that was taken out cannot be acted on, and which key brings it back. */
  refuse(row) {
    const [chord] = this.desk.keys.keysOf("restore");
    const key = chord ? this.desk.keys.printed(chord) : "Restore";
    this.sayOf(row.key, `is ${this.list.byHand ? "deleted" : "rejected"}. ${key} restores it`);
  }

  /** Say something about a nugget: `text` follows its name. */
  sayOf(key, text) {
    this.say(`${this.list.name(key)} ${text}`);
  }

  /** "N7 kept, 12 undecided": what was done, and how much is left where that is the work. */
  done(key, text) {
    this.sayOf(key, `${text}${this.list.left()}`);
  }

  /** Keep a draft. The focus stays on one without importance, so that the next key completes it. */
  keep(row, source) {
    if (row.decision !== "kept") this.store.do("decide", { key: row.key, decision: "kept" }, { source });
    if (row.importance || row.weight !== null) return this.decided(row.key, "kept", row.key);
    this.list.focus(row.key);
    return this.sayOf(row.key, `kept: ${importanceQuestion()}`);
  }

  keepAs(row, importance, source, goesOn) {
    const isSame = row.decision === "kept" && row.importance === importance;
    if (!isSame) this.store.do("decide", { key: row.key, decision: "kept", importance }, { source });
    if (goesOn) this.decided(row.key, KEPT_AS[importance], row.key);
    else this.done(row.key, KEPT_AS[importance]);
  }

  /** Take a decision back, and the importance with it. */
  takeBack(row, source) {
    if (row.decision === "undecided" && !row.importance) {
      this.sayOf(row.key, "is undecided already");
      return;
    }
    this.list.editors.get(row.key)?.close();
    this.store.do("decide", { key: row.key, decision: "undecided" }, { source });
    this.list.focus(row.key);
    const text = row.making === "proposed" ? "undecided" : IMPORTANCE[0];
    this.done(row.key, text);
  }

  reject(row, source) {
    const keys = this.list.sequence();
    const at = keys.indexOf(row.key);
    const neighbour = keys[at + 1] ?? keys[at - 1] ?? null;
    this.list.editors.get(row.key)?.close();
    this.list.marked.delete(row.key);
    this.list.item(row.key).focus(); // what is pressed must not vanish with the focus in it
    this.store.do("decide", { key: row.key, decision: "rejected" }, { source });
    this.decided(row.key, this.list.byHand ? "deleted" : "rejected", neighbour);
  }

  // The focus goes to the next row that waits; where none does, it stays, or goes to the neighbour of what is gone.
  decided(key, text, otherwise) {
    this.done(key, text);
    const next = this.list.byHand ? null : this.list.openAfter(key);
    if (!this.list.focus(next ?? otherwise)) this.list.focusFirst();
  }

  restore(row, source) {
    // A proposal nobody touched waits for a decision again; what somebody wrote is back in the list.
    const decision = row.making === "proposed" && row.text === row.draft ? "undecided" : "kept";
    this.store.do("decide", { key: row.key, decision }, { source });
    this.list.focus(row.key);
    this.done(row.key, "restored");
  }

  /** Give an importance: 2, 1, or 0 for none. Among drafts this decides, and the work goes on unless told otherwise. */
  importance(key, importance, source, { goesOn = true } = {}) {
    const row = this.store.row(key);
    if (this.desk.isReadonly) this.say(this.desk.words.readonly);
    else if (!row || row.decision === "replaced") this.say("There is no nugget in the list yet");
    else if (this.list.byHand) this.#setImportance(row, importance, source);
    else if (importance) this.keepAs(row, importance, source, goesOn);
    else this.takeBack(row, source);
  }

  #setImportance(row, importance, source) {
    if (!isListed(row)) return this.refuse(row);
    if (row.importance !== importance) this.store.do("importance", { key: row.key, importance }, { source });
    this.sayOf(row.key, IMPORTANCE[importance]);
    return this.list.writing.answered(row.key);
  }

  /** Give a weight, or with null take it away; undefined changes nothing. */
  weigh(key, weight, source) {
    const row = this.store.row(key);
    if (this.desk.isReadonly || !row || weight === undefined || row.weight === weight) return this.list.draw();
    this.store.do("weight", { key, weight }, { source });
    const others = this.store.listed().filter((other) => other.key !== key && other.weight !== null).length;
    if (weight !== null) this.sayOf(key, `weighs ${weight}${weight < 0 ? ": an answer must not do it" : ""}`);
    else this.sayOf(key, others ? `has no weight; ${others} of the list have one, so all need one` : "has no weight");
    return undefined;
  }

  #stepWeight(by) {
    const row = this.store.row(this.list.current);
    if (this.desk.isReadonly) this.say(this.desk.words.readonly);
    else if (!row || !this.list.isRubric) this.say("This list has no weights");
    else if (!isListed(row)) this.refuse(row);
    else if (stepped(row.weight, by) === row.weight) this.say(NO_WEIGHT);
    else this.weigh(row.key, stepped(row.weight, by), "key");
  }

  mark(row) {
    const { marked } = this.list;
    if (!marked.delete(row.key)) marked.add(row.key);
    this.list.draw();
    this.sayOf(row.key, `${marked.has(row.key) ? "marked" : "not marked"}, ${marked.size} marked`);
  }

  merge() {
    const rows = this.store.listed().filter((row) => this.list.marked.has(row.key));
    if (rows.length < 2) return this.say("Mark two nuggets or more to merge them");
    return this.list.writing.openMerge(rows);
  }

  move(row, by, source) {
    const listed = this.store.listed();
    // A criterion stays under its heading; what stands between in the stored list stays where it is.
    const keys = listed.filter(({ group }) => !this.list.isRubric || group === row.group).map(({ key }) => key);
    const next = keys[keys.indexOf(row.key) + by];
    if (!next) {
      this.sayOf(row.key, by < 0 ? "is first already" : "is last already");
      return;
    }
    const before = listed[listed.findIndex(({ key }) => key === next) - 1]?.key ?? null;
    const after = by < 0 ? before : next;
    this.store.do("move", { key: row.key, after }, { source });
    if (!this.list.item(row.key).contains(document.activeElement)) this.list.focus(row.key);
    this.list.item(row.key).scrollIntoView({ block: "nearest" });
    this.sayOf(row.key, by < 0 ? "moved up" : "moved down");
  }

  // In a low window a row's rarer acts are folded away.
  #showMore(row) {
    const button = this.list.item(row.key).querySelector(".row-more");
    button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true"));
  }

  showChange(row) {
    if (!hasChange(row)) return this.sayOf(row.key, "is as it was proposed");
    const { shown } = this.list;
    if (!shown.delete(row.key)) shown.add(row.key);
    this.list.draw();
    return this.say(shown.has(row.key) ? "Changes shown" : "Changes hidden");
  }

  /** Go to what a nugget rests on; again, to the next place. */
  go(row) {
    if (!row.evidence.length) return this.sayOf(row.key, "has no passage");
    const index = this.#went.key === row.key ? (this.#went.index + 1) % row.evidence.length : 0;
    this.#went = { key: row.key, index };
    return this.desk.passages.goTo(row.evidence[index]);
  }

  /** Open the box in which a place is typed. */
  openLink(row) {
    const item = this.list.item(row.key);
    const open = item.querySelector(".link-box");
    if (open) {
      open.querySelector("input").focus();
      return;
    }
    const leave = () => {
      this.list.focus(row.key);
      box.remove();
    };
    const box = linkBox({
      link: (pair) => {
        this.link(row.key, [pair], "text");
        leave();
      },
      leave,
    });
    item.querySelector(".row-meta").append(box);
    box.querySelector("input").focus();
  }

  /** Link a nugget to one place or several, as one step. */
  link(key, pairs, source) {
    const { evidence } = this.store.row(key);
    const places = pairs.map((pair) => passages.label(...pair)).join(", ");
    const fresh = pairs.filter((pair) => !evidence.some((other) => sameEvidence(other, pair)));
    const step = crypto.randomUUID();
    for (const [segment, sentence] of fresh) this.store.do("link", { key, segment, sentence }, { source, step });
    if (fresh.length) this.list.showEvidence();
    this.sayOf(key, `${fresh.length ? "linked to" : "is linked already to"} ${places}`);
  }

  unlink(row, pair, source) {
    this.list.focus(row.key);
    this.store.do("unlink", { key: row.key, segment: pair[0], sentence: pair[1] }, { source });
    this.list.showEvidence();
    this.say(`Link to ${passages.label(...pair)} removed from ${this.list.name(row.key)}`);
  }

  /** What is chosen in the passages goes to the row that had the focus, or to what is being written. */
  linkSelection({ pairs, key, source }) {
    const row = this.store.row(key);
    if (this.desk.isReadonly) this.say(this.desk.words.readonly);
    else if (this.list.writing.target) this.list.writing.link(pairs);
    else if (!row || row.decision === "replaced") this.say("Choose a nugget first, then link");
    else if (isListed(row)) this.link(key, pairs, source);
    else this.refuse(row);
  }

  /** A new nugget from what is chosen in the passages: its evidence, and its text where the words are wanted too. */
  newFrom({ pairs = [], quote = "", withWords = false } = {}) {
    if (this.desk.isReadonly) return this.say(this.desk.words.readonly);
    document.dispatchEvent(new CustomEvent("desk:pane-wanted", { detail: { pane: "rows" } }));
    return this.list.writing.openNew(pairs, withWords ? quote : "");
  }

  // In the passages the selection is asked for there; on a row it is taken along if there is one.
  #onSelection(what, { target }) {
    if (target.closest("#passages")) {
      this.desk.passages.sentences.ask(what, "key");
      return;
    }
    const { passages: pane } = this.desk;
    const chosen = pane.sentences.selected() ?? (what === "link" ? pane.hitFor(this.list.current) : null);
    if (what === "words" && !chosen?.quote) this.say("Select words in a passage first");
    else if (what !== "link") this.newFrom({ ...chosen, withWords: what === "words" });
    else if (chosen) this.linkSelection({ ...chosen, key: this.list.current, source: "key" });
    else this.act("link", this.list.current, { source: "key" });
  }

  nextUndecided() {
    const { current } = this.list;
    const key = this.list.openAfter(current);
    if (key) this.list.focus(key);
    else if (isOpen(this.store.row(current) ?? {})) this.say(`Only ${this.list.name(current)} is left to decide`);
    else this.say("Every nugget is decided");
  }

  // In a form it is the weight of what is written there.
  #onWeight(place) {
    const { target } = this.list.writing;
    if (target) target.openWeight(place);
    else this.act("weight", this.list.current, { source: "key" });
  }

  #onRow(name) {
    return () => {
      if (this.list.writing.target && !WHILE_WRITING.has(name)) this.say("You are writing a nugget: Esc leaves it");
      else this.act(name, this.list.current, { source: "key" });
    };
  }

  #onImportance(importance) {
    const { target } = this.list.writing;
    if (target) target.setImportance(importance);
    else this.importance(this.list.current, importance, "key");
  }

  // In a form or a row, also while its text is typed: that goes on then.
  #onTyped(importance, place) {
    const { target } = this.list.writing;
    if (target) target.setImportance(importance, place);
    else this.importance(this.list.current, importance, "key", { goesOn: !this.desk.keys.isTextField(place) });
  }

  defineKeys() {
    const { define } = this.desk.keys;
    const onRow = {
      keep: "keep",
      edit: "edit",
      reject: "reject",
      restore: "restore",
      mark: "mark",
      merge: "merge",
      split: "split",
      diff: "diff",
      "move-up": "up",
      "move-down": "down",
      "evidence-go": "go",
      ...("nuggetSearch" in document.body.dataset && { "nugget-search": "search" }),
    };
    for (const [id, name] of Object.entries(onRow)) define({ id, run: this.#onRow(name) });
    for (const [id, by] of Object.entries({ "row-previous": -1, "row-next": 1 })) {
      define({ id, run: () => this.list.step(by) });
    }
    for (const [id, value] of Object.entries({ vital: 2, okay: 1, clear: 0 })) {
      define({ id, run: () => this.#onImportance(value) });
    }
    define({ id: "composer-vital", run: ({ target }) => this.#onTyped(2, target) });
    define({ id: "composer-okay", run: ({ target }) => this.#onTyped(1, target) });
    define({ id: "weight", run: ({ target }) => this.#onWeight(target) });
    define({ id: "weight-up", run: () => this.#stepWeight(1) });
    define({ id: "weight-down", run: () => this.#stepWeight(-1) });
    define({ id: "next-undecided", run: () => this.nextUndecided() });
    define({ id: "edit-leave", run: ({ target }) => this.leaveEditor(target) });
    for (const what of SELECTED) define({ id: what, run: (event) => this.#onSelection(what, event) });
  }

  leaveEditor(field) {
    this.list.editors.get(field.closest(".row")?.dataset.key)?.close();
  }
}

/** @param {NuggetDesk} desk */
export function gesturesOf(desk, nuggets) {
  return new Gestures(desk, nuggets);
}
