// What each operation does to the list in the making: the same effects as assessor/rules/nugget_ops.py, so that the page
// can show them before the server answers and while it cannot be reached. A test runs both on the same operations.

import { trimmed } from "../shared/text.js";

/** The rows of `rows` (a Map by key), in the order of the list. */
export function ordered(rows) {
  return [...rows.values()].sort((a, b) => a.position - b.position || (a.key < b.key ? -1 : 1));
}

/** Whether a row stands in the list: not rejected, and not replaced by others. */
export function isListed(row) {
  return row.decision === "kept" || row.decision === "undecided";
}

/** Whether a nugget is kept and neither vital nor okay yet; one with a weight need not be. */
export function lacksImportance(row) {
  return row.decision === "kept" && !row.importance && row.weight === null;
}

/** Whether some nugget of a list has a weight: then all need one. */
export function isRubric(rows) {
  return rows.some((row) => isListed(row) && row.weight !== null);
}

/** Whether a nugget still waits for a decision: whether to keep it, or whether it is vital or okay. */
export function isOpen(row) {
  return row.decision === "undecided" || lacksImportance(row);
}

/** Whether a kept proposal says something else than was proposed. */
export function isEdited(row) {
  return row.draft !== null && row.text !== row.draft;
}

const CLOSEST = 1e-9;

function nextPosition(rows, position) {
  const later = [...rows.values()].map((row) => row.position).filter((other) => other > position);
  return later.length ? Math.min(...later) : position + 2;
}

function placeAfter(rows, key) {
  const before = rows.get(key);
  return (before.position + nextPosition(rows, before.position)) / 2;
}

function firstPlace(rows) {
  return rows.size ? Math.min(...[...rows.values()].map((row) => row.position)) - 1 : 1;
}

function lastPlace(rows) {
  return rows.size ? Math.max(...[...rows.values()].map((row) => row.position)) + 1 : 1;
}

/** Number all rows anew where halving has left no room. `rows` does not hold `placed`. */
function spread(rows, placed) {
  if ([...rows.values()].every((row) => Math.abs(row.position - placed.position) > CLOSEST)) return [];
  const every = ordered(new Map([...rows, [placed.key, placed]]));
  return every.map((row, index) => ({ ...row, position: index + 1 }));
}

/** Whether two pairs of passage and sentence are one place. */
export function sameEvidence(a, b) {
  return a[0] === b[0] && a[1] === b[1];
}

function evidence(pairs) {
  return pairs.filter((pair, index) => pairs.findIndex((other) => sameEvidence(pair, other)) === index);
}

/** The number of the next new nugget: one above all, also above those merged, split or rejected. */
function nextNumber(rows) {
  return Math.max(0, ...[...rows.values()].map((row) => row.number)) + 1;
}

function made(part, making, parents, position, number, group) {
  return {
    key: part.key,
    version: 1,
    position,
    text: trimmed(part.text),
    importance: part.importance ?? 0,
    decision: "kept",
    making,
    parents,
    evidence: evidence(part.evidence ?? []),
    draft: null,
    number,
    draft_importance: 0,
    weight: part.weight ?? null,
    group,
  };
}

const EFFECTS = {
  decide(rows, { key, decision, importance = null }) {
    const row = rows.get(key);
    if (decision !== "undecided") return [{ ...row, decision, importance: importance ?? row.importance }];
    // An importance left behind would be kept unseen by the next decision.
    return [{ ...row, decision: row.making === "proposed" ? "undecided" : "kept", importance: row.draft_importance }];
  },
  importance(rows, { key, importance }) {
    return [{ ...rows.get(key), importance }];
  },
  weight(rows, { key, weight }) {
    return [{ ...rows.get(key), weight }];
  },
  edit(rows, { key, text }) {
    const row = rows.get(key);
    return [{ ...row, text: trimmed(text), decision: row.decision === "undecided" ? "kept" : row.decision }];
  },
  add(rows, payload) {
    const position = payload.after ? placeAfter(rows, payload.after) : lastPlace(rows);
    const row = made(payload, "added", [], position, nextNumber(rows), payload.after ? rows.get(payload.after).group : "");
    return [row, ...spread(rows, row)];
  },
  merge(rows, payload) {
    const parents = [...new Set(payload.from)].map((key) => rows.get(key));
    const first = parents.reduce((before, row) => (row.position < before.position ? row : before));
    const keys = parents.map((parent) => parent.key);
    const row = made(payload, "merged", keys, first.position, nextNumber(rows), first.group);
    return [row, ...parents.map((parent) => ({ ...parent, decision: "replaced" }))];
  },
  split(rows, { from, into }) {
    const parent = rows.get(from);
    const room = nextPosition(rows, parent.position) - parent.position;
    const number = nextNumber(rows);
    const parts = into.map((part, index) =>
      made(part, "split", [from], parent.position + (room * index) / into.length, number + index, parent.group),
    );
    return [...parts, { ...parent, decision: "replaced" }];
  },
  link(rows, { key, segment, sentence }) {
    const row = rows.get(key);
    return [{ ...row, evidence: evidence([...row.evidence, [segment, sentence]]) }];
  },
  unlink(rows, { key, segment, sentence }) {
    const row = rows.get(key);
    return [{ ...row, evidence: row.evidence.filter((pair) => !sameEvidence(pair, [segment, sentence])) }];
  },
  move(rows, { key, after }) {
    const others = new Map(rows);
    others.delete(key);
    const position = after ? placeAfter(others, after) : firstPlace(others);
    const row = { ...rows.get(key), position };
    return [row, ...spread(others, row)];
  },
};

/** The kinds that can be undone, and how the server calls them too. */
export const LABELS = {
  decide: "Decision",
  importance: "Importance",
  weight: "Weight",
  edit: "Wording",
  add: "New nugget",
  merge: "Merge",
  split: "Split",
  link: "Link",
  unlink: "Unlink",
  move: "Move",
  restore: "Restore",
};

/** The rows that an operation changes, by key, with their versions raised; a new row starts at 1. */
export function apply(rows, kind, payload) {
  const raised = (row) => ({ ...row, version: (rows.get(row.key)?.version ?? 0) + 1 });
  return Object.fromEntries(EFFECTS[kind](rows, payload).map((row) => [row.key, raised(row)]));
}

/**
 * The changes that set rows to what `wanted` says (null: not there), for undo and redo. A row that is made again goes on
 * above the version it had, so that no version ever means two texts.
 */
export function putBack(rows, wanted) {
  let free = nextNumber(rows);
  const taken = new Set([...rows.values()].map((row) => row.number));
  const aboveItsVersion = ([key, row]) => {
    if (!row) return [key, row];
    const there = rows.get(key);
    const number = there?.number ?? (taken.has(row.number) ? free++ : row.number);
    return [key, { ...row, version: (there ?? row).version + 1, number }];
  };
  return Object.fromEntries(Object.entries(wanted).map(aboveItsVersion));
}
