// What stands at the head of the list of nuggets: how many are in it, how many were taken out, how many are undecided.

import { plural } from "../shared/text.js";

/** "12 undecided". */
export function undecided(count) {
  return `${count} undecided`;
}

function inList({ kept, limit, byHand }) {
  if (limit === null) return byHand ? `${kept} ${plural(kept, "nugget")}` : `${kept} kept`;
  return byHand ? `${kept} of ${limit} ${plural(limit, "nugget")}` : `${kept} of ${limit} kept`;
}

function takenOut({ rejected, byHand }) {
  return `${rejected} ${byHand ? "deleted" : "rejected"}`;
}

function span(text, className = "") {
  const made = document.createElement("span");
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** Show the counts. `list`: {kept, rejected, undecided, limit, byHand}; a list without a limit has null. */
export function drawCounts(list) {
  const over = list.limit === null ? 0 : list.kept - list.limit;
  const counts = [span(inList(list))];
  if (over > 0) counts.push(span(`${over} over the limit`, "is-over"));
  if (list.rejected || !list.byHand) counts.push(span(takenOut(list)));
  if (!list.byHand) counts.push(span(undecided(list.undecided), list.undecided ? "is-undecided" : ""));
  const shown = document.getElementById("rows-counts");
  const text = counts.map((count) => count.textContent).join(" · ");
  if (shown.textContent !== text) shown.replaceChildren(...counts.flatMap((count, n) => (n ? [" · ", count] : [count])));
  const title = list.byHand ? "Deleted" : "Rejected";
  document.getElementById("rejected-title").textContent = `${title} (${list.rejected})`;
}
