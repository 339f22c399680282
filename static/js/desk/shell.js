// Everything around the two panes: the splitter, the switch of the narrow screen, guidelines and definitions, remarks,
// pause, leaving. Each act is a button first; keys press the same code.

import { actedOn } from "./acted-on.js";
import { Definitions } from "./definitions.js";
import { Drawer } from "./drawer.js";
import * as keepInView from "./keep-in-view.js";
import { define } from "./keys.js";
import { Panes } from "./panes.js";
import { Remarks } from "./remarks.js";
import { Splitter } from "./splitter.js";

export class Shell {
  #desk;
  #touched = null; // what of the panes had the focus last: a remark is about it

  /** @param {Desk} desk */
  constructor(desk) {
    this.#desk = desk;
    const main = document.getElementById("main");
    this.panes = new Panes(main);
    this.splitter = new Splitter(document.querySelector(".desk-split"), main);
    this.drawer = new Drawer({ url: desk.urls.guidelines, panes: this.panes });
    this.definitions = new Definitions();
    this.remarks = new Remarks(desk);
    main.addEventListener("focusin", ({ target }) => {
      this.#touched = target;
    });
    this.#wire();
    this.#follow();
    this.#foldAway();
    keepInView.setup();
  }

  /** What is remembered of the shell, with the rest of one's place. */
  place() {
    return { split: this.splitter.value, shown: this.panes.shown, scrolled: this.panes.scrolled };
  }

  restore({ split, shown, scrolled }) {
    if (typeof split === "number") this.splitter.set(split);
    this.panes.restore({ shown, scrolled });
  }

  #wire() {
    const acts = {
      flag: (from) => this.#remark("flag", from),
      comment: (from) => this.#remark("comment", from),
      reopen: (from) => this.#remark("reopen request", from),
      guidelines: (from) => this.drawer.toggle(from),
      define: (from) => this.definitions.show(from),
      pause: () => this.#desk.clock.toggle(),
    };
    document.addEventListener("click", ({ target }) => {
      const button = target.closest?.("button[data-act]");
      if (button && button.getAttribute("aria-disabled") !== "true") acts[button.dataset.act]?.(button);
    });
    document.addEventListener("desk:row-wanted-in-view", () => this.#bringIntoView());
    define({ id: "flag", run: ({ target }) => this.#remark("flag", target) });
    define({ id: "comment", run: ({ target }) => this.#remark("comment", target) });
    define({ id: "define", run: ({ target }) => this.definitions.show(target) });
    define({ id: "pause", run: () => this.#desk.clock.toggle() });
    define({ id: "pane", run: () => this.#otherPane() });
    define({ id: "save", run: () => this.#saveNow() });
  }

  #remark(kind, from) {
    const about = this.#touched?.isConnected ? this.#desk.work.nameOf(this.#touched) : "";
    this.remarks.open(kind, kind === "reopen request" ? "" : about, from);
  }

  #otherPane() {
    const covered = this.drawer.isOpen && !document.getElementById("guidelines").contains(document.activeElement);
    if (covered) document.getElementById("h-guidelines").focus();
    else this.panes.switchOver();
  }

  // A key about something out of view brings it there and does nothing else.
  #bringIntoView() {
    this.panes.show("rows");
    const place = actedOn();
    if (!place) return;
    const stop = place.querySelector("textarea") ?? place;
    stop.focus();
    stop.scrollIntoView({ block: "nearest" });
    const name = this.#desk.work.nameOf(place);
    this.#desk.announce(name ? `${name} was out of view: press the key again` : "Press the key again");
  }

  async #saveNow() {
    await this.#desk.save.flush();
    const { unsent } = this.#desk.save.state();
    this.#desk.announce(unsent ? `${unsent} not saved yet` : "Everything is saved");
  }

  // The button says whether the clock stands.
  #follow() {
    this.#desk.clock.addEventListener("state", ({ detail }) => {
      document.querySelector("[data-act=pause]")?.setAttribute("aria-pressed", String(detail.paused));
    });
  }

  // What folds out of the header lies over the panes, so it closes with Escape and when one goes on elsewhere.
  #foldAway() {
    const folds = /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll(".desk-fold"));
    for (const fold of folds) {
      fold.addEventListener("keydown", (event) => {
        if (event.key !== "Escape" || !fold.open) return;
        event.preventDefault();
        fold.open = false;
        fold.querySelector("summary").focus();
      });
      document.addEventListener("focusin", ({ target }) => {
        if (fold.open && !fold.contains(target) && !this.panes.isNarrow) fold.open = false;
      });
      document.addEventListener("pointerdown", ({ target }) => {
        if (fold.open && !fold.contains(target) && !this.panes.isNarrow) fold.open = false;
      });
    }
  }
}
