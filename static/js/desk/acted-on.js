// What single keys act on, wherever the focus is: a form that is written in, the highlighted row, or the pair that is asked.

const PLACES = "#rows :is(.composer.is-target, .row.is-current, .pair)";
const PARTS = "#asked, #cited, .pair"; // a pair is read at its sentence and passage as well
const LEAST = 24; // pixels of it that are to be seen

/** The form, row or pair; null where there is none, or its pane is not the one shown. */
export function actedOn() {
  const places = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(PLACES)]);
  return places.find((place) => place.checkVisibility()) ?? null;
}

/** Whether it is in view. A pane without anything to act on counts: the key itself says so. */
export function isInView() {
  const pane = document.getElementById("rows");
  if (!pane?.checkVisibility()) return !pane;
  const place = actedOn();
  if (!place) return true;
  const frame = pane.getBoundingClientRect();
  const top = Math.max(frame.top, 0);
  const bottom = Math.min(frame.bottom, innerHeight);
  const parts = place.matches(".pair") ? [...document.querySelectorAll(PARTS)] : [place];
  return parts.some((part) => {
    const box = part.getBoundingClientRect();
    return Math.min(box.bottom, bottom) - Math.max(box.top, top) >= Math.min(box.height, LEAST);
  });
}
