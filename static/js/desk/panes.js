// Which pane one is in, and in one column which pane is shown. Each keeps its place: how far it was read, and what had
// the focus, so that going to and fro costs nothing.

const NARROW = matchMedia("(max-width: 56.25rem)"); // as in css/desk.css
const NAMES = ["passages", "rows"];

export class Panes {
  #panes = Object.fromEntries(NAMES.map((name) => [name, document.getElementById(name)]));
  #buttons = document.querySelectorAll(".desk-switch [data-pane]");
  #last = {}; // what had the focus in each pane
  #scrolled = { passages: 0, rows: 0 }; // of the page, in one column

  constructor(main) {
    this.main = main;
    for (const button of this.#buttons) button.addEventListener("click", () => this.show(button.dataset.pane));
    for (const name of NAMES) {
      this.#panes[name].addEventListener("focusin", ({ target }) => {
        this.#last[name] = target;
      });
      this.#measure(this.#panes[name]);
    }
    for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(".skip"))) {
      link.addEventListener("click", () => this.show(link.hash.slice(1)));
    }
    document.addEventListener("desk:pane-wanted", ({ detail }) => this.show(detail.pane));
    NARROW.addEventListener("change", () => this.#follow());
  }

  get isNarrow() {
    return NARROW.matches;
  }

  /** The pane that is shown, or where there are two, the one with the focus. */
  get shown() {
    if (this.isNarrow) return this.main.dataset.shown;
    return this.#panes.rows.contains(document.activeElement) ? "rows" : "passages";
  }

  get scrolled() {
    return this.isNarrow ? { ...this.#scrolled, [this.main.dataset.shown]: scrollY } : this.#scrolled;
  }

  /** Show a pane where only one is shown; it stands where it was left. Before focus goes into it. */
  show(name) {
    const before = this.main.dataset.shown;
    if (!NAMES.includes(name) || name === before) return;
    if (this.isNarrow) this.#scrolled[before] = scrollY;
    this.main.dataset.shown = name;
    for (const button of this.#buttons) button.setAttribute("aria-pressed", String(button.dataset.pane === name));
    if (this.isNarrow) scrollTo({ top: this.#scrolled[name], behavior: "instant" });
  }

  restore({ shown, scrolled }) {
    if (scrolled) Object.assign(this.#scrolled, scrolled);
    if (!NAMES.includes(shown)) return;
    this.show(shown);
    if (this.isNarrow) scrollTo({ top: this.#scrolled[shown], behavior: "instant" });
  }

  /** Go to the other pane: to what had the focus there, else to its row or passage. */
  switchOver() {
    const name = this.#panes.rows.contains(document.activeElement) ? "passages" : "rows";
    this.show(name);
    const pane = this.#panes[name];
    const last = this.#last[name];
    // A row that is not the current one any more has left the tab order.
    const stands = last?.isConnected && last !== pane && (name !== "rows" || last.tabIndex >= 0);
    const place = stands ? last : firstPlace(name, pane);
    (place ?? pane).focus();
  }

  // In one column the pane with the focus is the one to show.
  #follow() {
    const inRows = this.#panes.rows.contains(document.activeElement);
    const inPassages = this.#panes.passages.contains(document.activeElement);
    if (this.isNarrow && (inRows || inPassages)) this.show(inRows ? "rows" : "passages");
  }

  // What sticks to the top of a pane must never lie over what has the focus.
  #measure(pane) {
    const sizes = new ResizeObserver(() => {
      const head = [...pane.children].find((child) => getComputedStyle(child).position === "sticky");
      pane.style.setProperty("--pane-head", `${head ? head.offsetHeight : 0}px`);
    });
    sizes.observe(pane);
    for (const child of [...pane.children].slice(0, 3)) sizes.observe(child);
  }
}

function firstPlace(name, pane) {
  if (name === "rows") return pane.querySelector('[data-keys~="row"][tabindex="0"]') ?? pane.querySelector("textarea");
  return pane.querySelector("[tabindex='0']:is([data-sentence], [data-index])") ?? pane.querySelector(".passage-head, #answer-head");
}
