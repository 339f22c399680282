// What an earlier visit left on this device: once the server has it, the desk says so.

import { plural } from "../shared/text.js";
import { actsIn } from "./queue.js";

/**
 * Say how many changes came from before, when none of them waits any more. The server may have had some already.
 * @param {Desk} desk
 */
export function tellWhatWasLeft({ save, store, announce }) {
  const left = new Set();
  let arrived = [];
  save.addEventListener("left", ({ detail }) => {
    for (const { op_id } of detail.ops) if (!store.known.has(op_id)) left.add(op_id);
  });
  save.addEventListener("receipt", ({ detail }) => left.has(detail.op.op_id) && arrived.push(detail.op));
  save.addEventListener("state", () => {
    if (save.pending().some(({ op_id }) => left.has(op_id))) return;
    const count = actsIn(arrived);
    arrived = [];
    if (count) announce(`${count} ${plural(count, "change from before was", "changes from before were")} sent and saved`, { keep: true });
  });
}
