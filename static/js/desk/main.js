// The desk at which nuggets are made: post-edited, or written by hand.

import { gettext, interpolate, ngettext } from "../gettext.js";
import * as nuggets from "./nuggets.js";
import * as passages from "./passages.js";
import { sayReadonly } from "./reading-only.js";
import { startDesk } from "./starting.js";
import { Store } from "./store.js";
import { NuggetVersions } from "./versions.js";

function setUp(desk) {
  desk.versions = new NuggetVersions(desk);
  desk.passages = passages.setup(desk);
  desk.nuggets = desk.work = nuggets.setup(desk);
  desk.resume = () => desk.nuggets.focusFirst();
}

/** The desk of this page, once it is ready. */
export const desk = startDesk({
  Store,
  setUp,
  parts: ["passages", "nuggets"],
  words: {
    get readonly() {
      return sayReadonly(gettext("This version is submitted: its list cannot be changed"));
    },
    conflict: gettext("A nugget was changed in another window as well."),
    waiting: (count, durable) => {
      const here = ngettext(
        "%(count)s change waits on this device; keep working.",
        "%(count)s changes wait on this device; keep working.",
        count,
      );
      const inThisPage = ngettext(
        "%(count)s change waits in this page only; keep it open.",
        "%(count)s changes wait in this page only; keep it open.",
        count,
      );
      return interpolate(durable ? here : inThisPage, { count });
    },
    allSaved: (count, at) =>
      interpolate(ngettext("The change is saved %(at)s", "All %(count)s changes saved %(at)s", count), { count, at }),
    choose: gettext("Choose which text to keep."),
    submitted: ({ nuggets: count }) =>
      interpolate(ngettext("Submitted, %(count)s nugget", "Submitted, %(count)s nuggets", count), { count }),
  },
});
