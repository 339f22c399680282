// The labels of a judging task: the same effects as assessor/rules/label_ops.py, so that the page can show them before
// the server answers and while it cannot be reached. And two versions of one label, for when windows disagree.

import { RowStore } from "../desk/store.js";
import { CANT_JUDGE, wordOf } from "./words.js";

const SWEEP = "sweep";

function blank(key) {
  return { key, version: 0, label: null, reason: "" };
}

function given(row, { payload, source }) {
  const { label } = payload;
  const changed = { ...row, version: row.version + 1, label, reason: label === CANT_JUDGE ? payload.reason : "" };
  if ("shown_ms" in payload) {
    changed.accepted = Boolean(payload.accepted);
    changed.shown_ms = row.shown_ms ?? payload.shown_ms;
  }
  if ("extras" in row || "extras" in payload) changed.extras = (label && payload.extras) || {};
  if ("sentence" in payload) {
    changed.sentence = label ? payload.sentence : null;
    const first = source === SWEEP && label !== row.label ? (row.first_label ?? row.label) : row.first_label;
    changed.first_label = label ? (first ?? null) : null;
  }
  return changed;
}

const MARKS = { locate: "sentence", evidence: "evidence" }; // kind -> the row's field in which its sentence goes

const RULES = {
  labels: { label: "Label", locate: "Place in the answer", evidence: "Evidence" },
  apply(rows, op) {
    const { key, sentence } = op.payload;
    const row = rows.get(key) ?? blank(key);
    const changed = op.kind === "label" ? given(row, op) : { ...row, version: row.version + 1, [MARKS[op.kind]]: sentence };
    return { [key]: changed };
  },
  putBack(rows, wanted) {
    const back = ([key, row]) => [key, { ...(row ?? blank(key)), version: (rows.get(key)?.version ?? 0) + 1 }];
    return Object.fromEntries(Object.entries(wanted).map(back));
  },
  version: (row) => row?.version ?? 0, // a pair that nobody touched is there, and has the version 0
  told: { open: "seen", sweep: "sweep" },
};

/** The state of this page. Events beside those of every store: `seen` {answer}, `sweep`. */
export class LabelStore extends RowStore {
  constructor(state, send) {
    super(state, send, RULES);
  }

  takeOver(state) {
    this.answers = state.answers;
    this.nuggets = state.nuggets ?? [];
    this.asksPairs = "pairs" in state;
    this.hasSides = state.sides ?? false;
    this.pairs = state.pairs ?? [];
    this.sweep = state.sweep ?? false;
  }

  aside({ kind, payload }) {
    if (kind === "open") this.answers.find((answer) => answer.id === payload.answer).seen = true;
    else if (kind === SWEEP) this.sweep = "begun";
    return ["open", SWEEP, "search"].includes(kind);
  }

  label(key) {
    return this.row(key)?.label ?? null;
  }
}

/** A label as two windows left it. There is nothing to keep of both: one of them stands. */
export class LabelVersions {
  #desk;

  /** @param {JudgingDesk} desk */
  constructor(desk) {
    this.#desk = desk;
  }

  same(mine, theirs) {
    const content = ({ label, reason, sentence = null, evidence = null, extras = {} }) =>
      JSON.stringify([label, reason, sentence, evidence, extras]);
    return content(mine) === content(theirs);
  }

  describe(side, row) {
    side.querySelector("[data-text]").textContent = this.#desk.work.textOf(row.key);
    const sentence = row.sentence ?? null;
    const parts = [this.#desk.work.name(row.key), row.reason ? `${wordOf(row.label)}: ${row.reason}` : wordOf(row.label, row.key)];
    if (sentence !== null) parts.push(`sentence ${sentence + 1}`);
    if (typeof row.evidence === "number") parts.push(`evidence in S${row.evidence + 1}`);
    side.querySelector("[data-state]").textContent = parts.join(" · ");
  }

  mine(conflict, key) {
    return this.#desk.store.row(key) ?? conflict.rows[key];
  }

  canBoth() {
    return false;
  }
}
