// A group of radios that is chosen from by pointer or by keys. With arrow keys a choice passed over for under 300 ms is
// none.

const PASSED_OVER_MS = 300;

let count = 0;

/**
 * Call `choose(value, source, byArrow)` with what is settled on in `box`. `byArrow`: the focus passes from radio to radio
 * and had better stay among them. While it is not settled, the box has `data-waiting`.
 */
export function choosing(box, choose) {
  let key = ""; // the one pressed last; none: the pointer came after it
  let waiting = 0;
  let source = "mouse";
  let byArrow = false;
  count += 1;
  for (const radio of box.querySelectorAll("input")) radio.name = `choice-${count}`;
  box.addEventListener("keydown", (event) => (key = event.key));
  box.addEventListener("pointerdown", () => (key = ""));
  const settle = () => {
    if (!waiting) return;
    clearTimeout(waiting);
    waiting = 0;
    delete box.dataset.waiting;
    choose(box.querySelector("input:checked")?.value ?? null, source, byArrow);
  };
  box.addEventListener("change", () => {
    clearTimeout(waiting);
    box.dataset.waiting = "";
    source = key ? "key" : "mouse";
    byArrow = key.startsWith("Arrow");
    waiting = setTimeout(settle, byArrow ? PASSED_OVER_MS : 0);
  });
  // An arrow moves the focus from radio to radio, which is not leaving.
  box.addEventListener("focusout", ({ relatedTarget }) => box.contains(relatedTarget) || settle());
}

/** Check the radio of a value, unless another is just being chosen. Returns whether it was. */
export function setChoice(box, value) {
  if (box.dataset.waiting !== undefined) return false;
  for (const radio of box.querySelectorAll("input")) radio.checked = radio.value === value;
  return true;
}
