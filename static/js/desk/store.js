// The one state of the list in this page. Every act goes through `do`: it is shown at once, put on the undo stack,
// and handed to the save engine; the server's receipts set the rows to what was really written.

import { LABELS, apply, isListed, ordered, putBack } from "./rules.js";

const KEPT_STEPS = 50;

export class Store extends EventTarget {
  #rows = new Map();
  #unsaved = new Map(); // key -> how many operations on it were not acknowledged yet
  #failed = new Map(); // key -> reason
  #send;

  /** `send(op)` takes an operation for the server. */
  constructor(state, send) {
    super();
    this.#send = send;
    this.load(state);
  }

  /** Take over a whole state as the server tells it. */
  load(state) {
    this.#rows = new Map(state.rows.map((row) => [row.key, row]));
    this.marks = new Map(Object.entries(state.marks));
    this.composer = { ...state.composer };
    this.undoStack = [...state.undo];
    this.redoStack = [...state.redo];
    this.seq = state.seq;
    this.limit = state.limit;
    this.stage = state.stage;
    this.version = state.version;
    this.readonly = state.readonly;
    this.known = new Set(state.known);
    this.#unsaved.clear();
    this.#failed.clear();
    this.#tell("change", { keys: null, cause: "reload" });
    this.#tell("marks", {});
    this.#tell("stacks", {});
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

  rows() {
    return ordered(this.#rows);
  }

  row(key) {
    return this.#rows.get(key);
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

  pending(key) {
    return (this.#unsaved.get(key) ?? 0) > 0;
  }

  failed(key) {
    return this.#failed.get(key) ?? null;
  }

  markFailed(op, reason) {
    for (const key of op.touched ?? []) this.#failed.set(key, reason);
    this.#tell("change", { keys: op.touched ?? [], cause: "failed" });
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
    this.#tell("change", { keys: op.touched ?? [], cause: "receipt" });
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
    if (op.kind === "mark") this.#tell("marks", { segment: op.payload.segment });
    if (!op.touched.length) return;
    this.#tell("change", { keys: op.touched, cause: "local" });
    this.#tell("stacks", {});
  }

  #show(op) {
    if (op.kind === "mark") return this.#mark(op.payload);
    if (op.kind === "compose") return this.#compose(op.payload);
    if (op.kind === "search") return []; // only noted
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
    if (op.kind === "undo") return putBack(this.#rows, newest(this.undoStack, op)?.before ?? {});
    if (op.kind === "redo") return putBack(this.#rows, newest(this.redoStack, op)?.after ?? {});
    return apply(this.#rows, op.kind, op.payload);
  }

  // The versions that the server must still have: those before any operation of this page that it has not seen are
  // known to it, because operations arrive in order.
  #base(before, op) {
    if (op.base && Object.keys(op.base).length) return op.base;
    return Object.fromEntries(
      Object.entries(before)
        .filter(([, row]) => row)
        .map(([key, row]) => [key, row.version]),
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
    const newest = this.undoStack.at(-1);
    if (newest?.step === op.step) {
      newest.before = { ...before, ...newest.before };
      newest.after = { ...newest.after, ...after };
    } else {
      this.undoStack.push({ step: op.step, label: LABELS[op.kind], before, after });
    }
  }

  #mark({ segment, mark }) {
    if (mark) this.marks.set(segment, mark);
    else this.marks.delete(segment);
    return [];
  }

  #compose({ slot, draft }) {
    if (draft) this.composer[slot] = draft;
    else delete this.composer[slot];
    return [];
  }

  #count(op, by) {
    for (const key of op.touched ?? []) this.#unsaved.set(key, Math.max(0, (this.#unsaved.get(key) ?? 0) + by));
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

// The newest step, if it is the one that an undo or redo is about: after a takeover it may be another's.
function newest(stack, op) {
  const step = stack.at(-1);
  return step?.step === op.payload.target ? step : undefined;
}
