// The campaign's menu: one group open at a time, closed by Escape or a click elsewhere; at the width of a telephone one
// button opens all groups as a list. Without script the groups are plain folds.

const menu = document.querySelector(".campaign-menu");
if (menu) {
  const button = /** @type {HTMLButtonElement} */ (menu.querySelector(".menu-button"));
  const groups = /** @type {HTMLDetailsElement[]} */ ([...menu.querySelectorAll("details")]);
  const narrow = matchMedia("(max-width: 48rem)");

  const close = () => {
    if (narrow.matches) return unfold(false);
    for (const group of groups) group.open = false;
  };
  const unfold = (isOpen) => {
    menu.classList.toggle("is-open", isOpen);
    button.setAttribute("aria-expanded", String(isOpen));
  };
  const fit = () => {
    // Folds of one name close each other, and a list shows them all.
    for (const group of groups) {
      group.name = narrow.matches ? "" : "menu";
      group.open = narrow.matches;
    }
    unfold(false);
  };
  fit();
  narrow.addEventListener("change", fit);

  button.addEventListener("click", () => unfold(button.getAttribute("aria-expanded") !== "true"));
  menu.addEventListener("keydown", (event) => {
    const { key, target } = /** @type {KeyboardEvent} */ (event);
    const group = /** @type {Element} */ (target).closest("details");
    if (key === "Escape") {
      close();
      (narrow.matches ? button : group?.querySelector("summary"))?.focus();
    }
    if ((key === "ArrowDown" || key === "ArrowUp") && group && !narrow.matches) {
      event.preventDefault();
      group.open = true;
      const links = /** @type {HTMLElement[]} */ ([...group.querySelectorAll("a")]);
      const step = key === "ArrowDown" ? 1 : -1;
      const place = links.indexOf(/** @type {HTMLElement} */ (target));
      links[place < 0 ? 0 : (place + step + links.length) % links.length].focus();
    }
  });
  document.addEventListener("click", ({ target }) => {
    if (!menu.contains(/** @type {Node} */ (target))) close();
  });
}

// A strip of tabs that scrolls shows the tab that one is on.
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
