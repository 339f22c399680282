// The one state of what is worked on in this page: the rows, each under a key. Every act goes through `do`: it is shown
// at once, put on the undo stack, and handed to the save engine; the server's receipts set the rows to what was really
// written. What an act does to the rows is the rules' to say: those of nuggets below, those of labels in ../judge.

import { LABELS, apply, isListed, ordered, putBack } from "./rules.js";

const KEPT_STEPS = 50;

/**
 * `rules`: {labels: what the kinds that can be undone are called, apply(rows, op), putBack(rows, wanted),
 * version(row): the version that an operation on it names, undefined: none; told: events of kinds without rows}.
 */
export class RowStore extends EventTarget {
  #rows = new Map();
  #rules;
  #unsaved = new Map(); // key -> how many operations on it were not acknowledged yet
  #failed = new Map(); // key -> reason
  #send;

  /** `send(op)` takes an operation for the server. */
  constructor(state, send, rules) {
    super();
    this.#send = send;
    this.#rules = rules;
    this.load(state);
  }

  /** Take over a whole state as the server tells it. */
  load(state) {
    this.#rows = new Map(state.rows.map((row) => [row.key, row]));
    this.takeOver(state);
    this.undoStack = [...state.undo];
    this.redoStack = [...state.redo];
    this.seq = state.seq;
    this.stage = state.stage;
    this.version = state.version;
    this.readonly = state.readonly;
    this.known = new Set(state.known);
    this.#unsaved.clear();
    this.#failed.clear();
    this.tell("change", { keys: null, cause: "reload" });
    this.tell("marks", {});
    this.tell("stacks", {});
  }

  /**
   * Take over what a state has beside the rows.
   * @param {any} _state
   */
  takeOver(_state) {}

  /**
   * Do what concerns no row; returns whether that is all that an operation does.
   * @param {any} _op
   */
  aside(_op) {
    return false;
  }

  /** Every row by its key. */
  get all() {
    return this.#rows;
  }

  /**
   * Show an operation that waits in the outbox since before a reload. One that the state has in it already, because
   * only its receipt was lost, is not applied twice.
   */
  replay(op) {
    op.touched = this.known.has(op.op_id) ? [] : this.#show(op);
    this.#count(op, +1);
    this.#told(op);
  }

  row(key) {
    return this.#rows.get(key);
  }

  pending(key) {
    return (this.#unsaved.get(key) ?? 0) > 0;
  }

  failed(key) {
    return this.#failed.get(key) ?? null;
  }

  markFailed(op, reason) {
    for (const key of op.touched ?? []) this.#failed.set(key, reason);
    this.tell("change", { keys: op.touched ?? [], cause: "failed" });
  }

  /** Do one thing: show it, remember how to undo it, send it. Returns the operation. */
  do(kind, payload, { source = "mouse", step = crypto.randomUUID() } = {}) {
    if (this.readonly) throw new Error("This window may only read.");
    const op = {
      op_id: crypto.randomUUID(),
      step,
      kind,
      payload,
      base: {},
      source,
      client_at: new Date().toISOString(),
    };
    op.touched = this.#show(op);
    this.#count(op, +1);
    this.#told(op);
    this.#send(op);
    return op;
  }

  undo(source = "mouse") {
    const step = this.undoStack.at(-1);
    return step && this.do("undo", { target: step.step }, { source }) && step;
  }

  redo(source = "mouse") {
    const step = this.redoStack.at(-1);
    return step && this.do("redo", { target: step.step }, { source }) && step;
  }

  /** Take in what the server says became of an operation. */
  receive(op, receipt) {
    this.#count(op, -1);
    for (const key of op.touched ?? []) this.#failed.delete(key);
    if (receipt.seq) this.seq = Math.max(this.seq, receipt.seq);
    if (receipt.status === "applied") this.#settle(receipt.rows);
    this.tell("change", { keys: op.touched ?? [], cause: "receipt" });
  }

  /** Set the rows that no further operation waits for to what the server wrote. */
  #settle(rows) {
    for (const [key, row] of Object.entries(rows ?? {})) {
      if (this.pending(key)) continue;
      if (row) this.#rows.set(key, row);
      else this.#rows.delete(key);
    }
  }

  #told(op) {
    if (op.kind in this.#rules.told) this.tell(this.#rules.told[op.kind], op.payload);
    if (!op.touched.length) return;
    this.tell("change", { keys: op.touched, cause: "local" });
    this.tell("stacks", {});
    if (op.kind === "undo") this.tell("undone", this.redoStack.at(-1));
    else if (op.kind === "redo") this.tell("redone", this.undoStack.at(-1));
  }

  #show(op) {
    if (this.aside(op)) return [];
    const changes = this.#changes(op);
    const before = Object.fromEntries(Object.keys(changes).map((key) => [key, this.#rows.get(key) ?? null]));
    op.base = this.#base(before, op);
    for (const [key, row] of Object.entries(changes)) {
      if (row) this.#rows.set(key, row);
      else this.#rows.delete(key);
    }
    this.#remember(op, before, changes);
    return Object.keys(changes);
  }

  #changes(op) {
    if (op.kind === "undo") return this.#rules.putBack(this.#rows, newest(this.undoStack, op)?.before ?? {});
    if (op.kind === "redo") return this.#rules.putBack(this.#rows, newest(this.redoStack, op)?.after ?? {});
    return this.#rules.apply(this.#rows, op);
  }

  // The versions that the server must still have: those before any operation of this page that it has not seen are
  // known to it, because operations arrive in order.
  #base(before, op) {
    if (op.base && Object.keys(op.base).length) return op.base;
    return Object.fromEntries(
      Object.entries(before)
        .map(([key, row]) => [key, this.#rules.version(row)])
        .filter(([, version]) => version !== undefined),
    );
  }

  #remember(op, before, after) {
    if (op.kind === "undo") this.#undone(op, before, after);
    else if (op.kind === "redo" && newest(this.redoStack, op)) this.undoStack.push(this.redoStack.pop());
    else if (op.kind !== "redo") this.#grow(op, before, after);
    this.undoStack.splice(0, this.undoStack.length - KEPT_STEPS);
  }

  // A step that took a row away remembers which version the row had.
  #undone(op, before, after) {
    if (!newest(this.undoStack, op)) return;
    const step = this.undoStack.pop();
    for (const key of Object.keys(after)) {
      if (!after[key] && step.after[key]) step.after[key] = { ...step.after[key], version: before[key].version };
    }
    this.redoStack.push(step);
  }

  #grow(op, before, after) {
    this.redoStack.length = 0;
    const last = this.undoStack.at(-1);
    if (last?.step === op.step) {
      last.before = { ...before, ...last.before };
      last.after = { ...last.after, ...after };
    } else {
      this.undoStack.push({ step: op.step, label: this.#rules.labels[op.kind], before, after });
    }
  }

  #count(op, by) {
    for (const key of op.touched ?? []) this.#unsaved.set(key, Math.max(0, (this.#unsaved.get(key) ?? 0) + by));
  }

  /** Let the page know. */
  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** The list of nuggets in the making, with the marks of passages and what lies in open composers. */
export class Store extends RowStore {
  constructor(state, send) {
    super(state, send, {
      labels: LABELS,
      apply: (rows, { kind, payload }) => apply(rows, kind, payload),
      putBack,
      version: (row) => row?.version,
      told: { mark: "marks" },
    });
  }

  takeOver(state) {
    this.marks = new Map(Object.entries(state.marks));
    this.composer = { ...state.composer };
    this.limit = state.limit;
  }

  aside({ kind, payload }) {
    if (kind === "mark") this.#mark(payload);
    else if (kind === "compose") this.#compose(payload);
    return ["mark", "compose", "search"].includes(kind); // search words are only noted
  }

  rows() {
    return ordered(this.all);
  }

  /** The rows that are in the list or rejected, in order; what was merged or split is not among them. */
  visible() {
    return this.rows().filter((row) => row.decision !== "replaced");
  }

  listed() {
    return this.rows().filter(isListed);
  }

  undecided() {
    return this.rows().filter((row) => row.decision === "undecided");
  }

  #mark({ segment, mark }) {
    if (mark) this.marks.set(segment, mark);
    else this.marks.delete(segment);
  }

  #compose({ slot, draft }) {
    if (draft) this.composer[slot] = draft;
    else delete this.composer[slot];
  }
}

// The newest step, if it is the one that an undo or redo is about: after a takeover it may be another's.
function newest(stack, op) {
  const step = stack.at(-1);
  return step?.step === op.payload.target ? step : undefined;
}
