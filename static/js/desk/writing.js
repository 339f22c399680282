// Which composers are open, and what becomes of what is written in them. A list made by hand has one that is always
// there; the others open for one merge, one split or one new nugget and go away with it.

import { gettext, interpolate, together } from "../gettext.js";
import { Composer } from "./composer.js";
import * as passages from "./passages.js";
import { isListed } from "./rules.js";

export class Writing {
  #open = new Map(); // slot -> composer
  #last = null; // the slot that had the focus last

  constructor(desk, nuggets) {
    this.desk = desk;
    this.list = nuggets;
    this.host = document.getElementById("composers");
    this.host.addEventListener("focusin", ({ target }) => {
      this.#last = target.closest(".composer").dataset.slot;
    });
  }

  /** Put the composer of a list made by hand in its place. */
  pin() {
    if (!this.list.byHand || this.list.isReadonly || this.#open.has("new")) return;
    this.#show("new", this.#kept("new") ?? {}, { pinned: true });
  }

  focusPinned() {
    this.#open.get("new")?.focus();
    return this.#open.has("new");
  }

  settle() {
    for (const composer of this.#open.values()) composer.keep();
  }

  /** Link places to the composer that had the focus last. Returns whether there is one. */
  link(pairs) {
    const composer = this.#open.get(this.#last) ?? [...this.#open.values()].at(-1);
    if (!composer) return false;
    for (const pair of pairs) composer.link(pair);
    const places = pairs.map((pair) => passages.label(...pair)).join(", ");
    this.desk.announce(interpolate(gettext("Linked to %(places)s"), { places }));
    return true;
  }

  // What lies on the server, unless this device holds something that was typed later and did not get there.
  #kept(slot) {
    const here = this.desk.save.keptTexts()[`compose:${slot}`] ?? null;
    const there = this.desk.store.composer[slot] ?? null;
    return (here?.at ?? 0) > (there?.at ?? 0) ? here : there;
  }

  /** Open a new nugget, with evidence where a sentence was chosen. */
  openNew(evidence = []) {
    const there = this.#open.get("new") ?? this.#show("new", this.#kept("new") ?? {}, {});
    for (const pair of evidence) there.link(pair);
    there.focus();
  }

  openMerge(rows) {
    const from = rows.map((row) => row.key);
    const kept = this.#keptFor("merge", from);
    const importances = new Set(rows.map((row) => row.importance));
    const evidence = rows.flatMap((row) => row.evidence);
    const part = {
      text: rows[0].text,
      importance: importances.size === 1 ? rows[0].importance : 0,
      evidence: evidence.filter((pair, n) => evidence.findIndex((one) => String(one) === String(pair)) === n),
    };
    this.#show("merge", kept ?? { from, parts: [part] }, this.#about(rows)).focus();
  }

  openSplit(row) {
    const kept = this.#keptFor("split", [row.key]);
    const part = { text: row.text, importance: row.importance, evidence: row.evidence };
    this.#show("split", kept ?? { from: [row.key], parts: [part, { ...part }] }, this.#about([row])).focus();
  }

  #keptFor(slot, from) {
    const kept = this.#kept(slot);
    return kept && String(kept.from) === String(from) ? kept : null;
  }

  #about(rows) {
    const sources = rows.slice(1).map((row) => ({ name: this.list.name(row.key), text: row.text }));
    return { name: rows.map((row) => this.list.name(row.key)).join(", "), sources };
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
      goTo: (pair) => passages.goTo(...pair),
    });
    this.#open.set(slot, composer);
    this.host.append(composer.element);
    if (!pinned) composer.keep();
    return composer;
  }

  #closed(slot, pinned, from = []) {
    if (!pinned) this.#open.delete(slot);
    if (!this.list.focus(from[0] ?? this.list.current) && !pinned) this.list.focusFirst();
  }

  #done(slot, parts, from, pinned) {
    if (!pinned) this.#open.delete(slot);
    const rows = parts.map((part) => ({ key: crypto.randomUUID(), ...part }));
    if (from && !from.every((key) => isListed(this.desk.store.row(key) ?? {}))) {
      this.desk.announce(gettext("Not possible: one of these nuggets was changed meanwhile"));
      return;
    }
    const names = (from ?? []).map((key) => this.list.name(key)).join(", ");
    this.#apply(slot, rows, from);
    this.list.draw();
    if (!pinned) this.list.focus(rows[0].key);
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
    if (slot === "merge") return interpolate(gettext("%(nuggets)s merged into %(nugget)s"), { nuggets: names, nugget: made });
    if (slot === "split") return interpolate(gettext("%(nugget)s split into %(nuggets)s"), { nugget: names, nuggets: made });
    return interpolate(gettext("%(nugget)s added"), { nugget: made });
  }
}
