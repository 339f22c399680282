// The right pane: the list of nuggets, which row is the current one, and where the focus goes. One tab stop for the
// list (the current row); its elements are kept and patched, so that nothing that has the focus is ever redrawn away.

import { arrange, measure, setReach } from "../desk/arranging.js";
import { placeName } from "../desk/naming.js";
import { whenStill } from "../desk/press-guard.js";
import { isListed, isOpen, isRubric, lacksImportance } from "../desk/rules.js";
import { copyOf } from "../shared/template.js";
import { trimmed } from "../shared/text.js";
import { pairOf } from "./chips.js";
import { drawCounts, undecided } from "./counts.js";
import { Editor } from "./editing.js";
import { gesturesOf } from "./gestures.js";
import { drawRow, makeRow } from "./row.js";
import { Writing } from "./writing.js";

/** @returns {HTMLElement[]} */
function rowsIn(list) {
  return [...list.children];
}

export class NuggetList {
  #items = new Map(); // key -> element
  #numbers = new Map(); // key -> N
  current = null;
  marked = new Set();
  shown = new Set(); // keys of rows whose changes are shown
  editors = new Map();
  /** @type {Writing | null} */
  writing = null;
  /** @type {ReturnType<typeof gesturesOf> | null} */
  gestures = null;

  /** @param {NuggetDesk} desk */
  constructor(desk) {
    this.desk = desk;
    this.byHand = desk.stage === "manual";
    this.pane = document.getElementById("rows");
    this.list = document.getElementById("nugget-rows");
    this.rejected = /** @type {HTMLDetailsElement} */ (document.getElementById("rejected"));
    this.rejectedList = document.getElementById("rejected-rows");
    desk.store.addEventListener("change", ({ detail }) => this.#changed(detail));
    desk.store.addEventListener("undone", ({ detail }) => this.#stepped("Undone", detail, detail.before));
    desk.store.addEventListener("redone", ({ detail }) => this.#stepped("Redone", detail, detail.after));
    desk.save.addEventListener("settle", () => this.settle());
    this.pane.addEventListener("focusin", ({ target }) => {
      this.writing?.follow(target);
      whenStill(() => this.#focused(target.closest(".row")));
    });
    this.rejected.addEventListener("toggle", () => this.draw());
    new MutationObserver(() => this.#readonlyChanged()).observe(desk.root, { attributeFilter: ["data-readonly"] });
  }

  /** Whether nuggets have weights here: they are called criteria then. */
  get isRubric() {
    return isRubric(this.desk.store.visible());
  }

  /** What is listed or rejected, as it stands on screen: in a rubric by group, each where its first criterion was. */
  rows() {
    const { store } = this.desk;
    const rows = store.visible();
    if (!isRubric(rows)) return rows;
    // By number, so that no group changes its place while its criteria are moved, rejected or merged.
    const groups = [...new Set(store.rows().sort((a, b) => a.number - b.number).map((row) => row.group))];
    return rows.sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group));
  }

  name(key) {
    return this.#numbers.has(key) ? `N${this.#numbers.get(key)}` : "a nugget";
  }

  /** ", 12 undecided": how much is left, where deciding is the work. */
  left() {
    return this.byHand ? "" : `, ${undecided(this.desk.store.undecided().length)}`;
  }

  item(key) {
    return this.#items.get(key) ?? null;
  }

  nameOf = placeName;
  /** Whether a nugget still lacks what the review found missing. */
  lacks(what, key) {
    const row = this.desk.store.row(key);
    if (what === "decision") return row?.decision === "undecided";
    if (what === "weight") return Boolean(row) && isListed(row) && row.weight === null && this.isRubric;
    return Boolean(row) && lacksImportance(row);
  }

  /** The keys of the rows on screen, from the top. Those rejected count while their list is open. */
  sequence() {
    const lists = this.rejected.open ? [this.list, this.rejectedList] : [this.list];
    return lists.flatMap((list) => rowsIn(list).map((item) => item.dataset.key));
  }

  #changed({ cause }) {
    this.draw();
    // The store counts an operation as unsaved only after it has told of it.
    if (cause === "local") queueMicrotask(() => this.draw());
  }

  // Another window took the desk over, or this one did: what was typed is kept, the fields go or come.
  #readonlyChanged() {
    this.settle();
    if (this.desk.isReadonly) for (const editor of [...this.editors.values()]) editor.close();
    else this.writing.pin();
    this.draw();
  }

  /** Bring the screen up to date with the store. */
  draw() {
    const rows = this.rows();
    this.#numbers = new Map(rows.map((row) => [row.key, row.number]));
    this.#dropGone(rows);
    if (!this.#numbers.has(this.current)) this.current = this.openAfter(null) ?? rows.find(isListed)?.key ?? null;
    const rubric = this.isRubric;
    let group = "";
    for (const row of rows) {
      const heads = rubric && isListed(row) && row.group !== group;
      if (isListed(row)) group = row.group;
      this.#drawOne(row, { isRubric: rubric, heading: heads ? row.group || "No group" : "" });
    }
    arrange(this.list, rows.filter(isListed).map((row) => this.#items.get(row.key)));
    arrange(this.rejectedList, rows.filter((row) => !isListed(row)).map((row) => this.#items.get(row.key)));
    this.writing?.draw();
    this.#drawCounts(rows);
    this.#setStops();
  }

  #dropGone(rows) {
    const keys = new Set(rows.map((row) => row.key));
    for (const [key, item] of this.#items) {
      if (keys.has(key)) continue;
      const hadFocus = item.contains(document.activeElement);
      const next = item.nextElementSibling ?? item.previousElementSibling;
      item.remove();
      this.#items.delete(key);
      this.editors.delete(key);
      this.marked.delete(key);
      if (hadFocus) (next ?? this.pane).focus();
    }
  }

  #drawOne(row, inList) {
    const { store } = this.desk;
    if (!this.#items.has(row.key)) {
      const choose = (importance, source, byArrow) =>
        this.gestures.importance(row.key, importance, source, { goesOn: !byArrow });
      this.#items.set(row.key, makeRow(row.key, choose, {
        take: (weight) => this.gestures.weigh(row.key, weight, "text"),
        enter: () => this.focus(row.key),
        leave: () => this.focus(row.key),
        refuse: (problem) => this.gestures.say(problem),
      }));
    }
    drawRow(this.#items.get(row.key), row, {
      number: this.#numbers.get(row.key),
      isCurrent: row.key === this.current && !this.writing?.target,
      isMarked: this.marked.has(row.key),
      isPending: store.pending(row.key),
      failed: store.failed(row.key),
      showsChange: this.shown.has(row.key),
      isReadonly: this.desk.isReadonly,
      byHand: this.byHand,
      parents: row.parents.map((key) => store.row(key)).filter(Boolean),
      ...inList,
    });
    this.editors.get(row.key)?.refresh(row.text);
  }

  #drawCounts(rows) {
    const count = (decision) => rows.filter((row) => row.decision === decision).length;
    const counts = { kept: count("kept"), rejected: count("rejected"), undecided: count("undecided") };
    const kept = rows.filter((row) => row.decision === "kept" && row.weight > 0);
    const sum = Math.round(kept.reduce((weights, row) => weights + row.weight, 0) * 1000) / 1000;
    drawCounts({ ...counts, weights: this.isRubric ? sum : null, limit: this.desk.store.limit ?? null, byHand: this.byHand });
    this.rejected.hidden = counts.rejected === 0;
    document.getElementById("rows-empty").hidden = counts.kept + counts.undecided > 0;
    document.getElementById("merge-count").textContent = this.marked.size ? String(this.marked.size) : "";
  }

  // Only the current row of a list can be reached with Tab, and what is in it.
  #setStops() {
    for (const list of [this.list, this.rejectedList]) {
      const items = rowsIn(list);
      const stop = items.find((item) => item.dataset.key === this.current) ?? items[0];
      for (const item of items) setReach(item, item === stop);
    }
  }

  #focused(item) {
    if (!item || (item.dataset.key === this.current && item.classList.contains("is-current"))) return;
    this.highlight(item.dataset.key);
    item.scrollIntoView({ block: "nearest" }); // the row before may have been tall, and is not any more
    this.#setStops();
    this.showEvidence();
  }

  /** Make a row the one that keys act on, without moving the focus. */
  highlight(key) {
    this.#items.get(this.current)?.classList.remove("is-current");
    this.current = key;
    this.#items.get(key)?.classList.toggle("is-current", !this.writing.target);
  }

  /** Show which of row and composer is acted on: one of them, never both. */
  drawTarget() {
    this.#items.get(this.current)?.classList.toggle("is-current", !this.writing.target);
  }

  /** Mark in the passages what the current row rests on. */
  showEvidence() {
    this.desk.passages.evidence.show(this.desk.store.row(this.current)?.evidence ?? []);
  }

  /** Move the focus to a row; a rejected one is uncovered first. Returns whether there is such a row. */
  focus(key, options = {}) {
    const item = this.#items.get(key);
    if (!item) return false;
    if (this.rejectedList.contains(item)) this.rejected.open = true;
    if (!item.checkVisibility()) {
      document.dispatchEvent(new CustomEvent("desk:pane-wanted", { detail: { pane: "rows" } }));
    }
    item.focus(options);
    return true;
  }

  /** Focus the row that comes `by` rows after the current one. */
  step(by) {
    const keys = this.sequence();
    const at = keys.indexOf(this.current);
    this.focus(keys[Math.min(keys.length - 1, Math.max(0, at + by))]);
  }

  /** The first open row after `key`, from the top again where there is none; null: nothing is left to decide. */
  openAfter(key) {
    const rows = this.rows();
    const at = rows.findIndex((row) => row.key === key);
    const inTurn = [...rows.slice(at + 1), ...rows.slice(0, Math.max(at, 0))];
    return inTurn.find(isOpen)?.key ?? null;
  }

  /** Open the text of a row. `text`: what was typed before a reload. */
  edit(key, text) {
    const item = this.#items.get(key);
    if (!item || this.desk.isReadonly) return;
    for (const [other, editor] of [...this.editors]) if (other !== key && !editor.hasFocus) editor.close();
    if (!this.editors.has(key)) {
      const onClose = (how) => this.#edited(key, how);
      this.editors.set(key, new Editor(this.desk, item, key, { text, onClose }));
    }
    this.editors.get(key).focus();
  }

  #edited(key, { changed, wasEmpty, hadFocus }) {
    this.editors.delete(key);
    if (hadFocus) this.focus(key);
    if (wasEmpty) this.gestures.say(`A nugget needs a text; ${this.name(key)} stays as it was`);
    else if (changed) this.gestures.done(key, "reworded");
    this.draw();
  }

  /** Lead to a text that submitting would leave behind; false where there is none. */
  holdUnfinished() {
    const composer = this.writing?.unfinished;
    composer?.hold();
    return Boolean(composer);
  }

  /** The dialog before submitting names what was begun in a form that was closed since. */
  reviewed(part) {
    part.append(...this.writing.begun().map(({ text, open }) => begunLine(text, () => {
      part.closest("dialog").close();
      open();
    })));
  }

  /** Make operations of everything that is being typed. */
  settle() {
    for (const editor of this.editors.values()) editor.settle();
    document.activeElement?.closest(".weight")?.dispatchEvent(new Event("settle"));
    this.writing?.settle();
  }

  // Undo and redo come from the buttons below or from keys; either way the focus goes to the row they touched.
  #stepped(what, { label }, rows) {
    for (const editor of [...this.editors.values()]) if (!editor.isDirty) editor.close();
    const there = Object.keys(rows).filter((key) => this.#items.has(key));
    const key = there.find((rowKey) => this.desk.store.row(rowKey)?.decision !== "rejected") ?? there[0];
    const announcement = [`${what}: ${label}`, ...there.map((rowKey) => this.name(rowKey))].join(", ");
    // After whoever pressed the button has spoken, so that it is the nuggets that are named.
    queueMicrotask(() => this.desk.announce(announcement));
    if (!this.focus(key)) this.focusFirst();
    this.showEvidence();
  }

  /** Focus where work goes on: the composer of a list made by hand, else the first undecided row. */
  focusFirst(options = {}) {
    if (this.byHand && !this.desk.isReadonly) return this.writing.focusPinned();
    const key = this.openAfter(null) ?? this.sequence()[0];
    return this.focus(key, options);
  }

  /** What is put back after a reload. */
  place() {
    return {
      row: this.current,
      inComposer: Boolean(document.activeElement?.closest(".composer")),
      scroll: this.pane.scrollTop,
      rejected: this.rejected.open,
      marked: [...this.marked],
      shown: [...this.shown],
    };
  }

  /** Put a place back: this window's own, if it was only reloaded, else the one the server knows. */
  restore(known) {
    const { row = null, inComposer = false, scroll = null, rejected = false, marked = [], shown = [] } = known;
    this.rejected.open = rejected;
    const alive = (key) => this.#items.has(key);
    this.marked = new Set(marked.filter(alive));
    this.shown = new Set(shown.filter(alive));
    if (alive(row)) this.current = row; // also where the focus goes to a composer
    this.draw();
    this.showEvidence();
    if (this.desk.isReadonly) return;
    const put = { preventScroll: scroll !== null };
    const opened = this.writing.restore();
    if (opened && inComposer) opened.focus();
    else if (row === null || inComposer || !this.focus(row, put)) this.focusFirst(put);
    if (scroll !== null) this.pane.scrollTop = scroll;
    this.#restoreTexts();
  }

  // What was typed in a row and did not become an operation before the page went away. It counts only on the wording
  // that it was typed over: anything newer stays.
  #restoreTexts() {
    for (const [slot, kept] of Object.entries(this.desk.save.keptTexts())) {
      const key = slot.startsWith("edit:") ? slot.slice("edit:".length) : null;
      const row = key && this.desk.store.row(key);
      if (row && isListed(row) && row.text === kept.base && trimmed(kept.text) !== row.text) this.edit(key, kept.text);
    }
  }
}

function begunLine(text, open) {
  const line = copyOf("begun-template");
  line.querySelector("q").textContent = text;
  line.querySelector("button").addEventListener("click", open);
  return line;
}

function listen(nuggets) {
  nuggets.pane.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (!button || button.closest(".composer")) return;
    const key = button.closest(".row")?.dataset.key;
    const pair = button.closest(".chip") ? pairOf(button.closest(".chip")) : null;
    // A click without a pointer is Enter or Space on the button.
    nuggets.gestures.act(button.dataset.do, key, { pair, source: event.detail ? "mouse" : "key" });
  });
  nuggets.pane.addEventListener("keydown", (event) => {
    const row = event.target.closest(".row");
    if (event.key !== "Escape" || !row || event.target === row || event.target.matches("textarea")) return;
    event.preventDefault();
    event.stopPropagation();
    row.focus();
  });
  document.addEventListener("desk:link-wanted", ({ detail }) => nuggets.gestures.linkSelection(detail));
  document.addEventListener("desk:new-wanted", ({ detail }) => nuggets.gestures.newFrom(detail));
  document.addEventListener("desk:words-wanted", ({ detail }) => nuggets.gestures.newFrom({ ...detail, withWords: true }));
  document.addEventListener("desk:row-wanted", ({ detail }) => nuggets.focus(detail.key));
}

/**
 * Make the pane. Returns what the other parts may ask of it.
 * @param {NuggetDesk} desk
 */
export function setup(desk) {
  const nuggets = new NuggetList(desk);
  nuggets.writing = new Writing(desk, nuggets);
  nuggets.gestures = gesturesOf(desk, nuggets);
  nuggets.draw();
  nuggets.writing.pin();
  nuggets.gestures.defineKeys();
  measure(nuggets.pane);
  listen(nuggets);
  return nuggets;
}
