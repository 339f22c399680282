// Search in one text: the answer, or the passage that is cited. The assessor's own words only; they are recorded, as is
// said.

import { TextOf, hitsIn } from "../desk/finding.js";
import { Searching, counted } from "../desk/searching.js";

export class Search extends Searching {
  #parts;

  /**
   * `root` holds the tools; `parts()` gives the elements that are searched.
   * @param {JudgingDesk} desk
   */
  constructor(desk, root, parts) {
    super(desk, root, root.querySelector("input[type=search]"), root.querySelector(".read-hits"));
    this.#parts = parts;
  }

  found(needle) {
    const text = new TextOf(this.#parts(), ".sentence-number, .citations");
    return hitsIn(text.folded, needle).map(([start, end]) => text.range(start, end));
  }

  reveal(range) {
    const work = /** @type {JudgingWork} */ (this.desk.work);
    const element = elementOf(range);
    work.uncover?.(element);
    element.scrollIntoView({ block: "nearest" });
    return `: ${element.textContent.trim()}`;
  }

  summary() {
    const isLoading = !this.#parts().length;
    return this.needle && !isLoading ? bySide(this.hits) || counted(this.hits) : "";
  }

  /** The element of the first hit, or of the current one; null without hits. */
  hitElement() {
    return this.hits.length ? elementOf(this.hits[Math.max(this.at, 0)]) : null;
  }

  /** End the search; return the place of the current hit. */
  leave() {
    const element = this.at >= 0 ? this.hitElement() : null;
    this.end();
    return element;
  }
}

/** "3 left, 5 right" where two answers stand side by side. */
function bySide(hits) {
  const sides = hits.map((hit) => elementOf(hit).closest("[data-side]")?.dataset.side);
  const [left, right] = ["left", "right"].map((side) => sides.filter((other) => other === side).length);
  return left + right ? `${left} left, ${right} right` : "";
}

function elementOf(range) {
  const parent = range.startContainer.parentElement;
  return parent.closest("[data-at], [data-words], p, h3") ?? parent;
}
