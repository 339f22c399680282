// Place of the selection bar: within reach of the selected words or of the sentence in focus, above them. Below words, if
// there is no room, but never below a sentence, where one reads on. While they are out of view it stays at the pane's foot.

const GAP = 6;

export class PlaceOfBar {
  #reading;
  #bar;

  constructor(reading, bar) {
    this.#reading = reading;
    this.#bar = bar;
  }

  /** Put the bar to `what`, a range or a sentence; null: to the foot of the pane. */
  put(what) {
    const words = what && !this.#bar.hidden ? boxOf(what) : null;
    const pane = words && this.#pane();
    const floats = Boolean(words) && words.bottom > pane.top && words.top < pane.bottom;
    const isSentence = what instanceof Element;
    this.#bar.classList.toggle("is-floating", floats);
    this.#bar.classList.toggle("is-at-sentence", floats && isSentence);
    if (!floats) return;
    const { width, height } = this.#bar.getBoundingClientRect();
    const above = words.top - GAP - height;
    const below = words.bottom + GAP;
    if (isSentence && above < pane.edge) {
      this.#bar.classList.remove("is-floating", "is-at-sentence");
      return;
    }
    const fits = isSentence || above >= pane.top || below + height > pane.bottom;
    const top = fits ? Math.max(above, isSentence ? pane.edge : pane.top) : below;
    const left = Math.max(pane.left, Math.min(words.left, pane.right - width));
    this.#bar.style.setProperty("--bar-top", `${Math.round(top)}px`);
    this.#bar.style.setProperty("--bar-left", `${Math.round(left)}px`);
  }

  // The visible part of the pane, below the tools that stick to its top.
  #pane() {
    const box = this.#reading.root.getBoundingClientRect();
    const tools = this.#reading.tools;
    const sticks = getComputedStyle(tools).position === "sticky";
    const head = sticks ? tools.getBoundingClientRect().bottom : 0;
    const foot = document.getElementById("actions").getBoundingClientRect().top;
    return {
      edge: Math.max(box.top, 0), // what sticks there may be covered by the bar of a sentence, which one reads on
      top: Math.max(box.top, head, 0),
      bottom: Math.min(box.bottom, foot, innerHeight),
      left: box.left + GAP,
      right: box.left + this.#reading.root.clientWidth - GAP,
    };
  }
}

function boxOf(what) {
  const boxes = [...what.getClientRects()].filter(({ width }) => width > 0);
  const all = boxes.length ? boxes : [what.getBoundingClientRect()];
  return {
    top: Math.min(...all.map((box) => box.top)),
    bottom: Math.max(...all.map((box) => box.bottom)),
    left: all[0].left,
  };
}
