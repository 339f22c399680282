// Meanings of the labels, one line each, beside the row whose key asks. The text stays until it is closed, with Escape or
// the button; nothing appears by hovering alone.

const LABELS = ".tag, legend, label, [aria-pressed]";

/** The terms that stand in `element` as labels, of those that there are `words` for. */
function termsIn(element, words) {
  const captions = [...element.querySelectorAll(LABELS)].map((label) => label.textContent.toLowerCase()).join(" | ");
  const isShown = (word) => new RegExp(`\\b${word.toLowerCase()}\\b`).test(captions);
  return new Set(words.filter(([, word]) => isShown(word)).map(([term]) => term));
}

export class Definitions {
  #panel = document.getElementById("definition");
  #lines = new Map();
  #from = null;

  constructor() {
    for (const line of document.querySelectorAll("#definitions [data-term]")) this.#lines.set(line.dataset.term, line);
    this.#panel.addEventListener("toggle", ({ newState }) => {
      if (newState === "closed" && this.#from?.isConnected) this.#from.focus();
    });
  }

  /** Explain `terms`, or the labels inside the row or passage that `from` is in; everything where there are none. */
  show(from, terms = this.#around(from)) {
    const known = [...this.#lines].filter(([term]) => terms.has(term));
    const lines = (known.length ? known : [...this.#lines]).map(([, line]) => line.cloneNode(true));
    this.#panel.querySelector("[data-definition]").replaceChildren(...lines);
    this.#from = from;
    this.#panel.showPopover();
    this.#place(from.getBoundingClientRect());
    this.#panel.querySelector("button").focus();
  }

  #around(from) {
    const words = [...this.#lines].map(([term, line]) => [term, line.querySelector("dt").textContent]);
    const item = from.closest("[data-keys~=row], [data-keys~=passage]");
    return item ? termsIn(item, words) : new Set();
  }

  // Below what asks, else above it; always inside the window.
  #place({ left, top, bottom }) {
    const { offsetWidth: width, offsetHeight: height } = this.#panel;
    const under = bottom + 8;
    const fits = under + height < innerHeight;
    const y = fits ? under : Math.max(8, top - height - 8);
    this.#panel.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 16))}px`;
    this.#panel.style.top = `${y}px`;
  }
}
