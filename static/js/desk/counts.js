// What stands at the head of the list of nuggets: how many are in it, how many were taken out, how many are undecided.

import { gettext, interpolate, ngettext } from "../gettext.js";

const counted = (text, count) => interpolate(text, { count });

/** "12 undecided". */
export function undecided(count) {
  return counted(ngettext("%(count)s undecided", "%(count)s undecided", count), count);
}

function inList({ kept, limit, byHand }) {
  const one = ngettext("%(count)s nugget", "%(count)s nuggets", kept);
  if (limit === null) return counted(byHand ? one : ngettext("%(count)s kept", "%(count)s kept", kept), kept);
  const some = ngettext("%(count)s of %(limit)s nugget", "%(count)s of %(limit)s nuggets", limit);
  return interpolate(byHand ? some : gettext("%(count)s of %(limit)s kept"), { count: kept, limit });
}

function takenOut({ rejected, byHand }) {
  const deleted = ngettext("%(count)s deleted", "%(count)s deleted", rejected);
  return counted(byHand ? deleted : ngettext("%(count)s rejected", "%(count)s rejected", rejected), rejected);
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
  if (over > 0) counts.push(span(counted(ngettext("%(count)s over the limit", "%(count)s over the limit", over), over), "is-over"));
  if (list.rejected || !list.byHand) counts.push(span(takenOut(list)));
  if (!list.byHand) counts.push(span(undecided(list.undecided), list.undecided ? "is-undecided" : ""));
  const shown = document.getElementById("rows-counts");
  const text = counts.map((one) => one.textContent).join(" · ");
  if (shown.textContent !== text) shown.replaceChildren(...counts.flatMap((one, n) => (n ? [" · ", one] : [one])));
  const title = list.byHand ? gettext("Deleted (%(count)s)") : gettext("Rejected (%(count)s)");
  document.getElementById("rejected-title").textContent = counted(title, list.rejected);
}
