// The list of nuggets as elements: their order, and how high what sticks above them is.

/** Put `wanted` into `list` in this order. The one that holds the focus is not moved: moving would take it away. */
export function arrange(list, wanted) {
  for (const item of [...list.children]) if (!wanted.includes(item)) item.remove();
  const fixed = wanted.findIndex((item) => item.parentNode === list && item.contains(document.activeElement));
  let mark = wanted[fixed] ?? null;
  for (const item of wanted.slice(0, Math.max(fixed, 0)).reverse()) {
    if (item.nextElementSibling !== mark || item.parentNode !== list) list.insertBefore(item, mark);
    mark = item;
  }
  let before = wanted[fixed] ?? null;
  for (const item of wanted.slice(fixed + 1)) {
    const next = before ? before.nextElementSibling : list.firstElementChild;
    if (next !== item) list.insertBefore(item, next);
    before = item;
  }
}

/** Let Tab reach a row and what is in it, or neither. */
export function setReach(item, isReached) {
  const reach = isReached ? 0 : -1;
  for (const part of [item, ...item.querySelectorAll("button, input")]) if (part.tabIndex !== reach) part.tabIndex = reach;
}

/** Keep the height of what sticks below the head: it hides what is scrolled there. */
export function measure(pane) {
  for (const [name, selector] of [["composer", ".composers"], ["problems", ".submit-problems"]]) {
    const part = pane.querySelector(selector);
    const say = () => {
      const sticks = getComputedStyle(part).position === "sticky";
      pane.style.setProperty(`--rows-${name}`, `${sticks ? part.offsetHeight : 0}px`);
    };
    new ResizeObserver(say).observe(part);
    say();
  }
}
