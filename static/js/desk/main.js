// The desk at which nuggets are made: post-edited, or written by hand.

import { gettext, interpolate, ngettext } from "../gettext.js";
import * as nuggets from "./nuggets.js";
import * as passages from "./passages.js";
import { startDesk } from "./starting.js";
import { Store } from "./store.js";
import { NuggetVersions } from "./versions.js";

function setUp(desk) {
  desk.versions = new NuggetVersions(desk);
  desk.passages = passages.setup(desk);
  desk.nuggets = desk.work = nuggets.setup(desk);
}

/** The desk of this page, once it is ready. */
export const desk = startDesk({
  Store,
  setUp,
  parts: ["passages", "nuggets"],
  words: {
    readonly: gettext("This list is read-only here"),
    conflict: gettext("A nugget was changed in another window as well."),
    choose: gettext("Choose which text to keep."),
    submitted: ({ nuggets: count }) =>
      interpolate(ngettext("Submitted, %(count)s nugget", "Submitted, %(count)s nuggets", count), { count }),
  },
});
