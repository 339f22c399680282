// What sticks out of the page as it is drawn now, is cut off, or lies over something else: one line per problem.
// Things that may lie over others (what sticks, floats above or is a dialog) are compared only among themselves.

(shortened) => {
  const CONTROLS = "button, a.button, input, textarea, select, summary, label";
  const seen = { contentVisibilityAuto: true, visibilityProperty: true, opacityProperty: true };
  const problems = [];
  const lines = [];

  const called = (e) => `${e.tagName.toLowerCase()}.${e.className} "${e.textContent.trim().slice(0, 40)}"`;
  const isLayer = (e) => e.matches("dialog, [popover]") || ["sticky", "fixed", "absolute"].includes(getComputedStyle(e).position);
  const isClipped = (e) => e && (getComputedStyle(e).clipPath.startsWith("inset(50%") || isClipped(e.parentElement));
  const isShown = (e) => e.checkVisibility(seen) && !e.closest(".skip, noscript") && !isClipped(e);

  const overlap = (one, other) => Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);

  /** The layer of an element, and the window through which it is seen. */
  const frameOf = (element) => {
    const frame = { layer: null, left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity, cuts: [] };
    for (let e = element; e && e !== document.body; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (!frame.layer && isLayer(e)) frame.layer = e;
      if (e !== element && style.overflow !== "visible") {
        const box = e.getBoundingClientRect();
        const edges = { left: box.left, right: box.right, top: box.top, bottom: box.bottom };
        for (const side of ["left", "top"]) frame[side] = Math.max(frame[side], edges[side]);
        for (const side of ["right", "bottom"]) frame[side] = Math.min(frame[side], edges[side]);
      }
      if (["hidden", "clip"].includes(style.overflowX) && !e.closest(shortened)) frame.cuts.push(e.getBoundingClientRect());
    }
    return frame;
  };

  const add = (element, box, isText) => {
    if (box.width < 1 || box.height < 1) return;
    const frame = frameOf(element);
    if (isText && frame.cuts.some((cut) => box.left < cut.left - 2 || box.right > cut.right + 2 || box.top < cut.top - 4 || box.bottom > cut.bottom + 4)) {
      problems.push(`cut off: ${called(element)}`);
    }
    const control = isText ? element.closest("button, a.button, summary, .tag, .chip") : null;
    const around = control?.getBoundingClientRect();
    if (around && (box.left < around.left - 2 || box.right > around.right + 2 || box.top < around.top - 3 || box.bottom > around.bottom + 3)) {
      problems.push(`out of its frame: ${called(control)}`);
    }
    const [left, right] = [Math.max(box.left, frame.left), Math.min(box.right, frame.right)];
    const [top, bottom] = [Math.max(box.top, frame.top), Math.min(box.bottom, frame.bottom)];
    if (right - left > 2 && bottom - top > 2) lines.push({ element, isText, box, left, right, top, bottom, layer: frame.layer });
  };

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !isShown(element) || element.closest("script, style, option")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    if (element.closest(shortened)) continue;
    for (const box of range.getClientRects()) add(element, box, true);
  }
  for (const element of document.querySelectorAll(CONTROLS)) if (isShown(element)) add(element, element.getBoundingClientRect(), false);

  lines.sort((one, other) => one.top - other.top);
  lines.forEach((one, at) => {
    for (let n = at + 1; n < lines.length && lines[n].top < one.bottom; n += 1) {
      const other = lines[n];
      if (one.layer !== other.layer || one.element.contains(other.element) || other.element.contains(one.element)) continue;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = overlap(one, other);
      const text = one.isText && other.isText; // the boxes of letters are taller than the letters
      // Of a line that its window cuts, the whole counts: a sliver would be covered by the box of the line beside it.
      if (text && overlap(one.box, other.box) < 0.4 * Math.min(one.box.height, other.box.height)) continue;
      if (across > 3 && down > (text ? 0.4 * Math.min(one.bottom - one.top, other.bottom - other.top) : 3)) {
        problems.push(`overlap: ${called(one.element)} and ${called(other.element)}`);
      }
    }
  });

  for (const element of document.querySelectorAll("body *")) {
    if (element.matches("input, textarea") || !isShown(element)) continue;
    const scrolls = ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
    if (scrolls && element.scrollWidth > element.clientWidth + 1) problems.push(`scrolls sideways: ${called(element)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) {
    const wide = [...document.querySelectorAll("body *")].filter((e) => isShown(e) && e.getBoundingClientRect().right > innerWidth + 1);
    problems.push(`the page scrolls sideways: ${wide.slice(-2).map(called).join("; ")}`);
  }
  return [...new Set(problems)].slice(0, 12);
}
