// The campaign's guidelines, in a drawer over the pane that is judged; the text to read stays in sight. What lies under
// the drawer takes no focus meanwhile.

const FAILED = "The guidelines could not be loaded. Close this and try again.";

export class Drawer {
  #element;
  #body;
  #from = null;
  #loaded = false;

  constructor({ url, panes }) {
    this.#element = document.getElementById("guidelines");
    this.#body = this.#element.querySelector("[data-guidelines]");
    this.url = url;
    this.panes = panes;
    this.#element.querySelector("[data-act=close-guidelines]").addEventListener("click", () => this.close());
    this.#element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      this.close();
    });
    addEventListener("resize", () => this.isOpen && this.#cover(true));
  }

  get isOpen() {
    return !this.#element.hidden;
  }

  toggle(button) {
    if (this.isOpen) this.close();
    else this.open(button);
  }

  async open(button) {
    this.#from = button ?? document.activeElement;
    this.#element.hidden = false;
    this.#cover(true);
    this.#mark(true);
    this.#element.querySelector("h2").focus();
    if (!this.#loaded) await this.#load();
  }

  close() {
    this.#element.hidden = true;
    this.#cover(false);
    this.#mark(false);
    (this.#from?.isConnected ? this.#from : document.querySelector("[data-act=guidelines]")).focus();
  }

  #mark(open) {
    for (const button of document.querySelectorAll("[data-act=guidelines]")) {
      button.setAttribute("aria-expanded", String(open));
    }
  }

  // Two panes: the rows are under the drawer. One column: everything is.
  #cover(covered) {
    const rows = document.getElementById("rows");
    rows.inert = covered;
    const rest = document.querySelectorAll(".skip, .desk-head, .desk-notices, .desk-switch, .desk-read, .desk-line, .desk-actions");
    for (const part of rest) part.inert = covered && this.panes.isNarrow;
  }

  async #load() {
    try {
      const response = await fetch(`${this.url}?part`, { redirect: "manual" });
      if (response.status !== 200) throw new Error(String(response.status));
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      this.#body.replaceChildren(...page.body.childNodes);
      this.#loaded = true;
    } catch {
      this.#body.textContent = FAILED;
    }
  }
}
