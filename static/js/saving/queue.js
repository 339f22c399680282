// What can be told about waiting operations without asking anybody: what they touch, what follows when one is given
// up, and how many fit into one request. Pure, so that it is easy to be sure of.

const MOST_OPS = 50;
const MOST_BYTES = 200_000;

const encoder = new TextEncoder();

/** Return how many bytes `value` has as JSON. */
export function bytes(value) {
  return encoder.encode(JSON.stringify(value)).length;
}

/** Return the keys of rows that `op` makes. */
export function made(op) {
  if (op.kind === "split") return op.payload.into.map((part) => part.key);
  return op.kind === "add" || op.kind === "merge" ? [op.payload.key] : [];
}

/** Return the keys of all rows that `op` changes or makes. */
export function touched(op) {
  return new Set([...Object.keys(op.base ?? {}), ...made(op), ...(op.touched ?? [])]);
}

const NOTED = new Set(["open", "search", "compose", "sweep"]); // what the page notes by itself

/** Return how many things a person did: each label once, though it was changed, and each other step once. */
export function actsIn(ops) {
  const done = ops.filter((op) => !NOTED.has(op.kind));
  return new Set(done.map((op) => (["label", "locate"].includes(op.kind) ? op.payload.key : op.step))).size;
}

/** Return `op` as the server takes it, without what the page alone needs. */
export function asSent({ op_id, step, kind, payload, base, source, client_at }) {
  return { op_id, step, kind, payload, base, source, client_at };
}

/** Return the first operations of `queue` that go into one request: in order, never none. */
export function batchOf(queue, { most = MOST_OPS, mostBytes = MOST_BYTES } = {}) {
  const batch = [];
  let size = 0;
  for (const op of queue.slice(0, most)) {
    size += bytes(op) + 1;
    if (batch.length && size > mostBytes) break;
    batch.push(op);
  }
  return batch;
}

/**
 * Give up the operations that `unwanted` picks, and with them those that make no sense without them. The versions
 * that later operations name go down by what was given up. Returns {kept, dropped}; `queue` stays as it is.
 */
export function without(queue, unwanted) {
  const lostKeys = new Set();
  const lostSteps = new Set();
  const lower = {};
  const kept = [];
  const dropped = [];
  for (const op of queue) {
    const hangs = [...touched(op)].some((key) => lostKeys.has(key)) || lostSteps.has(op.payload?.target);
    if (!hangs && !unwanted(op)) {
      kept.push(shifted(op, lower, -1));
      continue;
    }
    dropped.push(op);
    made(op).forEach((key) => lostKeys.add(key));
    lostSteps.add(op.step);
    for (const key of Object.keys(op.base ?? {})) lower[key] = (lower[key] ?? 0) + 1;
  }
  return { kept, dropped };
}

/** Return `queue` with the versions named for some rows raised by `higher` {key: number}. */
export function raised(queue, higher) {
  return queue.map((op) => shifted(op, higher, 1));
}

function shifted(op, by, sign) {
  const base = Object.entries(op.base ?? {});
  if (!base.some(([key]) => by[key])) return op;
  return { ...op, base: Object.fromEntries(base.map(([key, version]) => [key, version + sign * (by[key] ?? 0)])) };
}
