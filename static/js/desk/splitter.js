// The line between the panes: moved with arrow keys, Home, End and the pointer, put back with Enter or a double click.
// A click without dragging goes to the next of three widths, for those who cannot drag.

const SHARES = {
  passages: "% for the passages",
  answer: "% for the answer",
};
const USUAL = 57; // per cent, where the page names no other share
const STEP = 2;
const SLACK = 3; // pixels that a hand moves while it clicks

export class Splitter {
  #line;
  #panes;

  constructor(line, panes) {
    this.#line = line;
    this.#panes = panes;
    this.usual = Number(line.dataset.usual) || USUAL;
    this.widths = [this.usual - 17, this.usual, this.usual + 13];
    this.min = Number(line.getAttribute("aria-valuemin"));
    this.max = Number(line.getAttribute("aria-valuemax"));
    this.set(this.usual);
    line.addEventListener("keydown", (event) => this.#onKey(event));
    line.addEventListener("dblclick", () => this.set(this.usual));
    line.addEventListener("pointerdown", (event) => this.#drag(event));
  }

  /** The left pane's share of the width, in per cent. */
  get value() {
    return Number(this.#line.getAttribute("aria-valuenow"));
  }

  set(percent) {
    const share = Math.round(Math.min(this.max, Math.max(this.min, percent)) * 10) / 10;
    this.#line.setAttribute("aria-valuenow", String(share));
    this.#line.setAttribute("aria-valuetext", `${Math.round(share)} ${SHARES[this.#line.dataset.reads]}`);
    document.body.style.setProperty("--split", String(share));
  }

  #onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const towards = getComputedStyle(this.#panes).direction === "rtl" ? -1 : 1;
    const to = {
      ArrowLeft: this.value - STEP * towards,
      ArrowRight: this.value + STEP * towards,
      Home: this.min,
      End: this.max,
      Enter: this.usual,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.set(to);
  }

  #drag(event) {
    if (event.button !== 0) return;
    const { left, width, right } = this.#panes.getBoundingClientRect();
    const isRtl = getComputedStyle(this.#panes).direction === "rtl";
    const before = event.clientX;
    let isDragged = false;
    const follow = ({ clientX }) => {
      isDragged ||= Math.abs(clientX - before) > SLACK;
      if (isDragged) this.set(((isRtl ? right - clientX : clientX - left) / width) * 100);
    };
    const stop = () => {
      if (!isDragged) this.set(this.widths.find((step) => step > this.value) ?? this.widths[0]);
      this.#line.removeEventListener("pointermove", follow);
      document.body.toggleAttribute("data-dragging", false);
      this.#line.toggleAttribute("data-dragged", false);
    };
    this.#line.setPointerCapture(event.pointerId);
    document.body.toggleAttribute("data-dragging", true);
    this.#line.toggleAttribute("data-dragged", true);
    this.#line.addEventListener("pointermove", follow);
    this.#line.addEventListener("lostpointercapture", stop, { once: true });
  }
}
