// The desk at which nuggets are made: post-edited, or written by hand.

import { sayReadonly } from "../desk/reading-only.js";
import { startDesk } from "../desk/start.js";
import { Store } from "../desk/store.js";
import { NuggetVersions } from "../saving/versions.js";
import { plural } from "../shared/text.js";
import * as nuggets from "./nuggets.js";
import * as passages from "./passages.js";

/** @param {NuggetDesk} desk */
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
      return sayReadonly("This version is submitted: its list cannot be changed");
    },
    conflict: "A nugget was changed in another window as well.",
    noun: "change",
    choose: "Choose which text to keep.",
    submitted: ({ nuggets: count }) => `Submitted, ${count} ${plural(count, "nugget")}`,
  },
});
