// What stands at the head of the list of nuggets: how many are in it, how many were taken out, how many are undecided.

import { make } from "../shared/make.js";
import { plural } from "../shared/text.js";

/** "12 undecided". */
export function undecided(count) {
  return `${count} undecided`;
}

function inList({ kept, limit, byHand, weights }) {
  const noun = (count) => (weights === null ? plural(count, "nugget") : plural(count, "criterion", "criteria"));
  if (limit === null) return byHand ? `${kept} ${noun(kept)}` : `${kept} kept`;
  return byHand ? `${kept} of ${limit} ${noun(limit)}` : `${kept} of ${limit} kept`;
}

function takenOut({ rejected, byHand }) {
  return `${rejected} ${byHand ? "deleted" : "rejected"}`;
}

const span = (text, className = "") => make("span", className ? { className } : {}, text);

/**
 * Show the counts. `list`: {kept, rejected, undecided, limit, byHand, weights}; a list without a limit has null. `weights`:
 * the sum of those above 0, null in a list without weights.
 */
export function drawCounts(list) {
  const over = list.limit === null ? 0 : list.kept - list.limit;
  const counts = [span(inList(list))];
  if (list.weights !== null) counts.push(span(`weights ${list.weights}`));
  if (over > 0) counts.push(span(`${over} over the limit`, "is-over"));
  if (list.rejected || !list.byHand) counts.push(span(takenOut(list)));
  if (!list.byHand) counts.push(span(undecided(list.undecided), list.undecided ? "is-undecided" : ""));
  const shown = document.getElementById("rows-counts");
  const text = counts.map((count) => count.textContent).join(" · ");
  if (shown.textContent !== text) shown.replaceChildren(...counts.flatMap((count, n) => (n ? [" · ", count] : [count])));
  const title = list.byHand ? "Deleted" : "Rejected";
  document.getElementById("h-nuggets").textContent = list.weights === null ? "Nuggets" : "Rubric";
  document.getElementById("rejected-title").textContent = `${title} (${list.rejected})`;
}
