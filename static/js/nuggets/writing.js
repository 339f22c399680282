// Which composers are open, and what becomes of what is written in them. A list made by hand has one that is always
// there; the others open for one merge, one split or one new nugget and go away with it.

import { isListed } from "../desk/rules.js";
import { together, trimmed } from "../shared/text.js";
import { Composer } from "./composer.js";
import * as passages from "./passages.js";

/** The text that a merge begins with. */
function joined(rows) {
  return rows.map((row) => row.text).join("; ");
}

export class Writing {
  #open = new Map(); // slot -> composer
  target = null; // the composer that keys and links are about, where it is not a row

  /** @param {NuggetDesk} desk */
  constructor(desk, nuggets) {
    this.desk = desk;
    this.list = nuggets;
    this.host = document.getElementById("composers");
  }

  /** Keys and links are about what had the focus last in the list: a composer, or the current row. */
  follow(element) {
    const slot = element.closest(".composer")?.dataset.slot;
    if (slot || element.closest(".row")) this.#aim(this.#open.get(slot) ?? null);
  }

  #aim(target) {
    this.target = target;
    for (const composer of this.#open.values()) composer.element.classList.toggle("is-target", composer === target);
    this.list.drawTarget();
    document.dispatchEvent(new CustomEvent("desk:target"));
  }

  /** Put the composer of a list made by hand in its place. */
  pin() {
    if (!this.list.byHand || this.desk.isReadonly || this.#open.has("new")) return;
    this.#show("new", this.#kept("new") ?? {}, { pinned: true });
  }

  focusPinned() {
    this.#open.get("new")?.focus();
    return this.#open.has("new");
  }

  /** A composer whose text submitting would leave behind. */
  get unfinished() {
    return [...this.#open.values()].find((composer) => composer.isUnfinished) ?? null;
  }

  /** What was written in forms that were closed without it: its text, and how to open it again. */
  begun() {
    return ["new", "merge", "split"].flatMap((slot) => {
      const kept = this.#open.has(slot) ? null : this.#kept(slot);
      const rows = (kept?.from ?? []).map((key) => this.desk.store.row(key));
      if (!kept || !rows.every((row) => row && isListed(row))) return [];
      const texts = (kept.parts ?? []).map((part) => trimmed(part.text ?? ""));
      const proposed = slot === "merge" ? joined(rows) : rows[0]?.text;
      const text = texts.filter((typed) => typed && typed !== proposed).join("; ");
      return text ? [{ text, open: () => this.#reopen(slot, rows) }] : [];
    });
  }

  #reopen(slot, rows) {
    if (slot === "new") this.openNew();
    else if (slot === "merge") this.openMerge(rows);
    else this.openSplit(rows[0]);
  }

  /** Bring the forms up to date with what the list is. */
  draw() {
    for (const composer of this.#open.values()) composer.draw();
  }

  settle() {
    for (const composer of this.#open.values()) composer.keep();
  }

  /** Link places to the composer that is written in. */
  link(pairs) {
    for (const pair of pairs) this.target.link(pair);
    const places = pairs.map((pair) => passages.label(...pair)).join(", ");
    this.desk.announce(`${this.target.name}: linked to ${places}`);
  }

  /** The nugget that was just added has its importance: on to the next. */
  answered(key) {
    for (const composer of this.#open.values()) if (composer.asksOf === key) composer.answered();
  }

  // What lies on the server, unless this device holds something that was typed later and did not get there.
  #kept(slot) {
    const here = this.desk.save.keptTexts()[`compose:${slot}`] ?? null;
    const there = this.desk.store.composer[slot] ?? null;
    return (here?.at ?? 0) > (there?.at ?? 0) ? here : there;
  }

  /** Open a new nugget, with evidence and words where some were chosen. */
  openNew(evidence = [], words = "") {
    const there = this.#open.get("new") ?? this.#show("new", this.#kept("new") ?? {}, {});
    for (const pair of evidence) there.link(pair);
    if (words) there.insert(words);
    there.focus();
  }

  openMerge(rows) {
    const from = rows.map((row) => row.key);
    const kept = this.#keptFor("merge", from);
    const importances = new Set(rows.map((row) => row.importance));
    const weights = new Set(rows.map((row) => row.weight));
    const evidence = rows.flatMap((row) => row.evidence);
    const part = {
      text: joined(rows),
      importance: importances.size === 1 ? rows[0].importance : 0,
      weight: weights.size === 1 ? rows[0].weight : null,
      evidence: evidence.filter((pair, n) => evidence.findIndex((earlier) => String(earlier) === String(pair)) === n),
    };
    const composer = this.#show("merge", kept ?? { from, parts: [part] }, this.#about(rows));
    if (kept) composer.focus();
    else composer.select();
  }

  openSplit(row) {
    const kept = this.#keptFor("split", [row.key]);
    const part = { text: row.text, importance: row.importance, weight: row.weight, evidence: row.evidence };
    this.#show("split", kept ?? { from: [row.key], parts: [part, { ...part }] }, this.#about([row])).focus();
  }

  #keptFor(slot, from) {
    const kept = this.#kept(slot);
    return kept && String(kept.from) === String(from) ? kept : null;
  }

  #about(rows) {
    const sources = (rows.length > 1 ? rows : []).map((row) => ({ name: this.list.name(row.key), text: row.text }));
    return { name: together(rows.map((row) => this.list.name(row.key))), sources };
  }

  /** Open again what was open before a reload. Returns the last of them that is not always there. */
  restore() {
    let opened = null;
    for (const slot of ["new", "merge", "split"]) {
      const kept = this.#kept(slot);
      if (!kept?.open || this.#open.has(slot)) continue;
      const rows = (kept.from ?? []).map((key) => this.desk.store.row(key));
      if (rows.every((row) => row && isListed(row))) opened = this.#show(slot, kept, this.#about(rows));
    }
    return opened;
  }

  #show(slot, draft, { pinned = false, name = "", sources = [] }) {
    this.#open.get(slot)?.close();
    const composer = new Composer(this.desk, slot, draft, {
      pinned,
      name,
      sources,
      done: (parts, { from }) => this.#done(slot, parts, from, pinned),
      closed: () => this.#closed(slot, pinned, draft.from),
      goTo: (pair) => this.desk.passages.goTo(pair),
      give: (key, importance) => this.list.gestures.importance(key, importance, "key"),
    });
    this.#open.set(slot, composer);
    this.host.append(composer.element);
    if (!pinned) composer.keep();
    return composer;
  }

  // The composer that is always there is left for the passages, with the typing kept.
  #closed(slot, pinned, from = []) {
    if (pinned) return this.desk.passages.resume();
    this.#forget(slot);
    return this.list.focus(from[0] ?? this.list.current) || this.list.focusFirst();
  }

  #forget(slot) {
    const composer = this.#open.get(slot);
    this.#open.delete(slot);
    if (this.target === composer) this.#aim(null);
  }

  #done(slot, parts, from, pinned) {
    if (!pinned) this.#forget(slot);
    const rows = parts.map((part) => ({ key: crypto.randomUUID(), ...part }));
    if (from && !from.every((key) => isListed(this.desk.store.row(key) ?? {}))) {
      this.desk.announce("Not possible: one of these nuggets was changed meanwhile");
      return;
    }
    const names = together((from ?? []).map((key) => this.list.name(key)));
    this.#apply(slot, rows, from);
    this.list.draw();
    if (!pinned) this.list.focus(rows[0].key);
    else if (!rows[0].importance && !this.list.isRubric) this.#open.get(slot).ask(rows[0].key, this.list.name(rows[0].key));
    this.desk.announce(this.#said(slot, rows, names));
  }

  #apply(slot, rows, from) {
    const { store } = this.desk;
    if (slot === "new") return store.do("add", { ...rows[0], after: null }, { source: "text" });
    if (slot === "split") return store.do("split", { from: from[0], into: rows }, { source: "text" });
    for (const key of from) this.list.marked.delete(key);
    return store.do("merge", { ...rows[0], from }, { source: "text" });
  }

  #said(slot, rows, names) {
    const made = together(rows.map((row) => this.list.name(row.key)));
    if (slot === "merge") return `${names} → ${made}`;
    if (slot === "split") return `${names} split into ${made}`;
    return `${made} added`;
  }
}
