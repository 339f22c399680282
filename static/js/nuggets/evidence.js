// Between a nugget and its evidence: the sentences of the row in focus are marked, one key leads there and one back.

export class Evidence {
  #reading;
  #marked = [];
  #last = null; // the element in the right pane that had the focus last
  #from = null; // where the reader was before going to the evidence

  constructor(reading) {
    this.#reading = reading;
    document.addEventListener("focusin", ({ target }) => {
      if (target.closest("#rows")) this.#last = target;
    });
  }

  /** Mark the sentences of these pairs, and nothing else. They are scrolled to only where the reader asked for that. */
  show(pairs) {
    for (const element of this.#marked) element.classList.remove("evidence");
    this.#marked = pairs.map((pair) => this.#elementOf(pair)).filter(Boolean);
    for (const element of this.#marked) element.classList.add("evidence");
    const [first] = this.#marked;
    if (first?.checkVisibility() && "autoScroll" in document.body.dataset) this.#reading.reveal(first);
  }

  #elementOf([segment, sentence]) {
    if (sentence !== null && sentence !== undefined) return this.#reading.sentence(segment, sentence);
    return this.#reading.article(segment)?.querySelector(".passage-text") ?? null;
  }

  /** Move to a place in the passages; false where there is none. */
  goTo(pair) {
    const element = this.#reading.element(pair);
    if (!element) return false;
    showPane("passages");
    if (!this.#reading.root.contains(document.activeElement)) this.#from = this.#reading.place();
    this.#reading.focus(element, "center");
    return true;
  }

  /** Return to the nugget that the focus left, and the passages to where they were. */
  back() {
    if (this.#from) this.#reading.restore(this.#from);
    this.leave();
  }

  /** Move the focus to the nugget that had it last; the passages stay where they are. */
  leave() {
    this.#from = null;
    showPane("rows");
    const rows = document.getElementById("rows");
    const last = this.#last?.isConnected && this.#last.checkVisibility() ? this.#last : null;
    (this.row() ?? last ?? rows.querySelector("#nugget-rows > [tabindex='0'], textarea") ?? rows).focus();
  }

  /** The composer that links go to, if they go to one. */
  composer() {
    return document.querySelector("#composers .composer.is-target");
  }

  /** The row that had the focus last, or else the current one. A row may be drawn anew, so its name counts. */
  row() {
    if (this.composer()) return null;
    const last = this.#last?.closest("li.row");
    return (last && document.getElementById(last.id)) ?? document.querySelector("#rows li.row.is-current");
  }
}

// On a narrow screen only one of the two panes is there.
function showPane(pane) {
  document.dispatchEvent(new CustomEvent("desk:pane-wanted", { detail: { pane } }));
}
