// The theme switch of the user menu. The choice is a cookie, so that the server sends the next page right at once.

const root = document.documentElement;
const YEAR = 60 * 60 * 24 * 365;

/** Show `theme` ("light", "dark", or "auto" for the system's) on this page. */
function show(theme) {
  if (theme === "auto") {
    delete root.dataset.theme;
  } else {
    root.dataset.theme = theme;
  }
  const media = { auto: "(prefers-color-scheme: dark)", dark: "all", light: "not all" }[theme];
  const sources = /** @type {NodeListOf<HTMLSourceElement>} */ (document.querySelectorAll("source[data-dark]"));
  for (const source of sources) {
    source.media = media;
  }
}

const choice = document.querySelector("[data-theme-choice]");
if (choice) {
  choice.hidden = false;
  const current = /** @type {HTMLInputElement} */ (choice.querySelector(`[value="${root.dataset.theme ?? "auto"}"]`));
  current.checked = true;
  choice.addEventListener("change", (event) => {
    const { value } = /** @type {HTMLInputElement} */ (event.target);
    document.cookie = `theme=${value}; path=/; max-age=${YEAR}; samesite=lax`;
    show(value);
  });
}

// A menu closes with Escape and when the focus or a click goes elsewhere. The document listens, because htmx brings menus
// after the page has loaded.
const OPEN = "details.menu[open]";

/** @param {Event} event @returns {HTMLDetailsElement | null} */
function openMenuOf(event) {
  return /** @type {Element} */ (event.target).closest(OPEN);
}

document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" ? openMenuOf(event) : null;
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
document.addEventListener("focusout", (event) => {
  const menu = openMenuOf(event);
  const next = /** @type {Node | null} */ (event.relatedTarget);
  if (menu && next && !menu.contains(next)) menu.open = false;
});
document.addEventListener("click", (event) => {
  for (const menu of /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll(OPEN))) {
    if (!menu.contains(/** @type {Node} */ (event.target))) menu.open = false;
  }
});

// A menu that would leave the window at its right edge opens to the left. The event does not bubble.
document.addEventListener(
  "toggle",
  (event) => {
    const body = openMenuOf(event)?.querySelector(":scope > .menu-body");
    body?.classList.remove("is-at-the-end");
    body?.classList.toggle("is-at-the-end", body.getBoundingClientRect().right > root.clientWidth);
  },
  true,
);
