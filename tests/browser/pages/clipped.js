// Selects whose chosen option, and fields whose placeholder, do not fit: one line per problem.

() => {
  const SPINNER = 18; // what Chromium keeps free in a number field
  const problems = [];
  const shown = (e) => e.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true });
  const named = (e) => `${e.tagName.toLowerCase()} ${e.name || e.id}`;

  /** The width that a select needs for the option it shows: that of a copy with this option alone. */
  const needed = (select) => {
    const copy = select.cloneNode(false);
    copy.append(new Option(select.selectedOptions[0]?.text ?? ""));
    copy.style.cssText = "position: absolute; inline-size: max-content; min-inline-size: 0; max-inline-size: none";
    copy.removeAttribute("id");
    select.after(copy);
    const { width } = copy.getBoundingClientRect();
    copy.remove();
    return width;
  };

  for (const select of document.querySelectorAll("select:not([multiple])")) {
    if (!shown(select)) continue;
    const { width } = select.getBoundingClientRect();
    if (needed(select) > width + 1) problems.push(`${named(select)} cuts off "${select.selectedOptions[0].text}"`);
  }

  const pen = document.createElement("canvas").getContext("2d");
  for (const field of document.querySelectorAll("input[placeholder], textarea[placeholder]")) {
    if (!shown(field) || !field.placeholder) continue;
    const style = getComputedStyle(field);
    pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const free = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const room = free - (field.type === "number" ? SPINNER : 0);
    const width = Math.max(...field.placeholder.split("\n").map((line) => pen.measureText(line).width));
    if (width > room + 1) problems.push(`${named(field)} cuts off "${field.placeholder}"`);
  }
  return problems;
}
