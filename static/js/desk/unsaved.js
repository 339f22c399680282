// How a row shows that it is not saved yet, or why it could not be.

import { gettext, interpolate } from "../gettext.js";

const TROUBLE = {
  slow: gettext("no answer yet"),
  network: gettext("not connected"),
  "signed-out": gettext("signed out"),
  conflict: gettext("changed in another window"),
  moved: gettext("another window works here"),
};

/** Draw the small clock of a row that waits, or what is wrong. */
export function drawUnsaved(item, { isPending, failed }) {
  item.querySelector(".row-saving").hidden = !isPending || Boolean(failed);
  item.querySelector(".row-failing").hidden = !failed;
  const why = failed && (/^server \d/.test(failed) ? gettext("the server had trouble") : (TROUBLE[failed] ?? failed));
  put(item, ".row-failing-why", failed ? interpolate(gettext("not saved: %(why)s"), { why }) : "");
}

/** Set a text where it differs. */
export function put(item, selector, text) {
  const element = item.querySelector(selector);
  if (element.textContent !== text) element.textContent = text;
}
