// How a row shows that it is not saved yet, or why it could not be.

import { put } from "../shared/text.js";

const TROUBLE = {
  slow: "no answer yet",
  network: "not connected",
  "signed-out": "signed out",
  conflict: "changed in another window",
  moved: "another window works here",
};

/** Draw the small clock of a row that waits, or what is wrong. */
export function drawUnsaved(item, { isPending, failed }) {
  item.querySelector(".row-saving").hidden = !isPending || Boolean(failed);
  item.querySelector(".row-failing").hidden = !failed;
  const why = failed && (/^server \d/.test(failed) ? "the server had trouble" : (TROUBLE[failed] ?? failed));
  put(item, ".row-failing-why", failed ? `not saved: ${why}` : "");
}
